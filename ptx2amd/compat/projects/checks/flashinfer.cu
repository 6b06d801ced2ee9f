// Kernels of FlashInfer's headers on random data, against the same in double.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <flashinfer/activation.cuh>
#include <flashinfer/attention/cascade.cuh>
#include <flashinfer/norm.cuh>
#include <vector>

static int failures;

template <typename T> struct Buffer {
    T *values;
    explicit Buffer(size_t count) {
        cudaMallocManaged(&values, count * sizeof(T));
        for (size_t i = 0; i < count; i++) values[i] = T(rand() / float(RAND_MAX) * 4 - 2);
    }
    operator T *() { return values; }
    std::vector<double> copy(size_t count) { return {values, values + count}; }
};

static void check(const char *name, double got, double wanted, double tolerance) {
    if (std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted))) return;
    if (failures++ < 5) printf("%s: %g, not %g\n", name, got, wanted);
}

static void norms(uint32_t rows, uint32_t width) {
    Buffer<half> in(rows * width), weight(width), out(rows * width);
    if (flashinfer::norm::RMSNorm<half>(in, weight, out, rows, width, width, width)) failures++;
    Buffer<float> sum(rows * width), rest(rows * width), scale(width);
    auto a = sum.copy(rows * width), b = rest.copy(rows * width);
    if (flashinfer::norm::FusedAddRMSNorm<float>(sum, rest, scale, rows, width, width, width)) failures++;
    cudaDeviceSynchronize();
    for (uint32_t row = 0; row < rows; row++) {
        double squares = 0, added = 0;
        for (uint32_t i = row * width; i < (row + 1) * width; i++) {
            squares += double(in[i]) * double(in[i]);
            added += (a[i] + b[i]) * (a[i] + b[i]);
        }
        for (uint32_t i = row * width; i < (row + 1) * width; i++) {
            double one = double(in[i]) / std::sqrt(squares / width + 1e-5) * double(weight[i % width]);
            double two = (a[i] + b[i]) / std::sqrt(added / width + 1e-5) * scale[i % width];
            check("RMSNorm", out[i], one, 2e-3);
            check("FusedAddRMSNorm", sum[i], two, 1e-5);
            check("residual", rest[i], a[i] + b[i], 1e-6);
        }
    }
}

__device__ float silu(const float &x) { return x / (1 + expf(-x)); }

static void activation(int rows, int width) {
    Buffer<half> in(rows * width * 2), out(rows * width);
    flashinfer::activation::act_and_mul_kernel<half, silu><<<rows, 96>>>(out, in, width);
    cudaDeviceSynchronize();
    for (int i = 0; i < rows * width; i++) {
        int place = i / width * 2 * width + i % width;
        double x = in[place];
        check("silu", out[i], x / (1 + std::exp(-x)) * double(in[place + width]), 2e-3);
    }
}

// Two partial attentions with the logarithms (base 2) of their weights become one.
static void merge(uint32_t length, uint32_t heads, uint32_t width) {
    uint32_t states = length * heads;
    Buffer<float> va(states * width), vb(states * width), v(states * width), sa(states), sb(states), s(states);
    if (flashinfer::MergeState<float, float>(va, sa, vb, sb, v, s, length, heads, width)) failures++;
    cudaDeviceSynchronize();
    for (uint32_t i = 0; i < states; i++) {
        double a = std::exp2(sa[i]), b = std::exp2(sb[i]);
        check("weight", s[i], std::log2(a + b), 1e-5);
        for (uint32_t k = i * width; k < (i + 1) * width; k++)
            check("MergeState", v[k], (a * va[k] + b * vb[k]) / (a + b), 1e-5);
    }
}

int main() {
    norms(5, 256);
    norms(3, 1032);
    activation(4, 520);
    merge(6, 4, 128);
    printf("%d failures, %s\n", failures, cudaGetErrorString(cudaGetLastError()));
    puts(failures ? "wrong" : "right");
}
