// BitNet's kernels on random data: each output is the sum of products that the CPU computes, rounded to bfloat16.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <vector>

extern "C" void bitlinear_int8xint2(int8_t *, int8_t *, __nv_bfloat16 *, __nv_bfloat16 *, __nv_bfloat16 *, int, int,
                                    int, cudaStream_t);

// Where the kernel reads the word with the 16 weights of row n from column k on.
static size_t word(int n, int k, int columns) {
    int y = n % 16, x = k / 16 % 8;
    size_t bytes = size_t(n / 16) * 16 * columns / 4 + size_t(k / 128) * 512;
    return bytes + (x >> 1) * 128 + (y >> 3) * 64 + (x & 1) * 32 + (y & 7) * 4;
}

static int wrong(int rows, int columns) {
    std::vector<int8_t> input(columns), weights(size_t(rows) * columns), packed(weights.size() / 4, 0);
    for (auto &value : input) value = rand() % 256 - 128;
    for (auto &value : weights) value = rand() % 3 - 1;
    for (int n = 0; n < rows; n++)
        for (int k = 0; k < columns; k += 16) {
            uint32_t bits = 0;
            for (int i = 0; i < 16; i++)
                bits |= uint32_t(weights[size_t(n) * columns + k + i] + 2) << (8 * (i % 4) + 2 * (i / 4));
            *(uint32_t *)&packed[word(n, k, columns)] = bits;
        }
    int8_t *in, *matrix;
    __nv_bfloat16 *out, *scales, one = __float2bfloat16(1.0f);
    cudaMalloc(&in, input.size());
    cudaMalloc(&matrix, packed.size());
    cudaMalloc(&out, rows * sizeof *out);
    cudaMalloc(&scales, 7 * sizeof *scales);
    for (int i = 0; i < 7; i++) cudaMemcpy(scales + i, &one, sizeof one, cudaMemcpyDefault);
    cudaMemcpy(in, input.data(), input.size(), cudaMemcpyDefault);
    cudaMemcpy(matrix, packed.data(), packed.size(), cudaMemcpyDefault);
    bitlinear_int8xint2(in, matrix, out, scales, scales + 1, 1, rows, columns, 0);
    std::vector<__nv_bfloat16> got(rows);
    if (cudaMemcpy(got.data(), out, rows * sizeof *out, cudaMemcpyDefault)) return rows;
    int found = 0;
    for (int n = 0; n < rows; n++) {
        int sum = 0;
        for (int k = 0; k < columns; k++) sum += input[k] * weights[size_t(n) * columns + k];
        found += __bfloat162float(got[n]) != __bfloat162float(__float2bfloat16(float(sum)));
    }
    printf("%d x %d: %d wrong\n", rows, columns, found);
    return found;
}

int main() {
    puts(wrong(2560, 2560) + wrong(3840, 2560) + wrong(2560, 6912) + wrong(3200, 3200) ? "wrong" : "right");
}
