// Open MPI: messages, derived types and collectives whose buffers are on the GPU, against what they are by definition.
#include <cstdio>
#include <vector>
#include <mpi.h>
extern "C" int MPIX_Query_cuda_support(void); // of mpi-ext.h, which needs an installation

enum { COUNT = 5000, ROWS = 61, COLUMNS = 47, TAKEN = 5 };
static int wrong;

static void check(const char *what, bool right) {
    printf("%s: %s\n", what, right ? "right" : "wrong");
    wrong += !right;
}

__global__ void fill(int *data, int count, int first) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        data[at] = first + 3 * at;
}

// An array on the GPU.
struct Array {
    int *data, count;
    explicit Array(int count, int first = -1) : count(count) {
        cudaMalloc(&data, sizeof(int) * count);
        fill<<<(count + 255) / 256, 256>>>(data, count, first);
        cudaDeviceSynchronize();
    }
    std::vector<int> host() const {
        std::vector<int> found(count);
        cudaMemcpy(found.data(), data, sizeof(int) * count, cudaMemcpyDeviceToHost);
        return found;
    }
};

// A message from this rank to itself.
static void sent(const void *from, int count, MPI_Datatype type, void *to, int received, MPI_Datatype as) {
    MPI_Request requests[2];
    MPI_Irecv(to, received, as, 0, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(from, count, type, 0, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check("CUDA is supported", MPIX_Query_cuda_support());

    const Array source(COUNT, 10), target(COUNT);
    const std::vector<int> values = source.host();
    std::vector<int> host(COUNT);
    sent(source.data, COUNT, MPI_INT, target.data, COUNT, MPI_INT);
    check("GPU to GPU", target.host() == values);
    sent(source.data, COUNT, MPI_INT, host.data(), COUNT, MPI_INT);
    check("GPU to CPU", host == values);
    const Array copy(COUNT);
    sent(host.data(), COUNT, MPI_INT, copy.data, COUNT, MPI_INT);
    check("CPU to GPU", copy.host() == values);

    // TAKEN columns of a matrix: as a strided type, sent as numbers, and packed.
    MPI_Datatype columns;
    MPI_Type_vector(ROWS, TAKEN, COLUMNS, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    std::vector<int> taken;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < TAKEN; column++)
            taken.push_back(values[row * COLUMNS + column]);
    const Array dense(ROWS * TAKEN), packed(ROWS * TAKEN);
    sent(source.data, 1, columns, dense.data, ROWS * TAKEN, MPI_INT);
    check("columns", dense.host() == taken);
    int position = 0;
    MPI_Pack(source.data, 1, columns, packed.data, sizeof(int) * ROWS * TAKEN, &position, MPI_COMM_WORLD);
    check("packed", packed.host() == taken && position == sizeof(int) * ROWS * TAKEN);
    const Array spread(ROWS * COLUMNS, 0);
    std::vector<int> expected = spread.host();
    for (int at = 0; at < ROWS * TAKEN; at++)
        expected[at / TAKEN * COLUMNS + at % TAKEN] = taken[at];
    position = 0;
    MPI_Unpack(packed.data, sizeof(int) * ROWS * TAKEN, &position, spread.data, 1, columns, MPI_COMM_WORLD);
    check("unpacked", spread.host() == expected);

    const Array sum(COUNT, 1), reduced(COUNT), gathered(COUNT);
    expected = sum.host();
    for (int at = 0; at < COUNT; at++)
        expected[at] += values[at];
    MPI_Reduce_local(source.data, sum.data, COUNT, MPI_INT, MPI_SUM);
    check("sums of two arrays", sum.host() == expected);
    MPI_Allreduce(source.data, reduced.data, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("sum over the ranks", reduced.host() == values);
    MPI_Allgather(source.data, COUNT, MPI_INT, gathered.data, COUNT, MPI_INT, MPI_COMM_WORLD);
    check("gathered", gathered.host() == values);

    MPI_Finalize();
    puts(wrong ? "wrong" : "right");
    return wrong != 0;
}
