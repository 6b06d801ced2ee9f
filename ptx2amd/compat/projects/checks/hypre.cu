// Poisson's equation on a cube, solved by hypre's conjugate gradients with algebraic multigrid as preconditioner, set up and
// run on the GPU: against the solution that the right side was made from, and against hypre on the CPU.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int SIDE = 10, POINTS = SIDE * SIDE * SIDE;
constexpr double TOLERANCE = 1e-10;
constexpr MPI_Comm WORLD = 0; // without MPI it is a number

static void need(bool fine, const char *what) {
    if (!fine) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

// What hypre calls, but has only with cuRAND and cuSPARSE: random numbers for choosing the points of coarse grids, and others
// that are not used here.
template <class Value>
static __global__ void scatter(int count, Value *numbers, unsigned long long first) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long mixed = (first + at + 1) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    if (at < count)
        numbers[at] = ((mixed >> 41) + 1) / Value(1 << 23);
}

extern "C" HYPRE_Int hypre_CurandUniform(HYPRE_Int count, HYPRE_Real *numbers, HYPRE_Int, unsigned long long, HYPRE_Int,
                                         unsigned long long) {
    static unsigned long long first;
    if (count)
        scatter<<<(count + 255) / 256, 256>>>(count, numbers, first);
    first += count;
    return cudaDeviceSynchronize();
}

extern "C" HYPRE_Int hypre_CurandUniformSingle(HYPRE_Int, float *, HYPRE_Int, unsigned long long, HYPRE_Int, unsigned long long) {
    need(false, "numbers of single precision");
    return 1;
}

extern "C" HYPRE_Int hypre_CSRMatrixILU0(void *) {
    need(false, "an incomplete factorization");
    return 1;
}

struct System {
    std::vector<int> rows, counts, columns;
    std::vector<double> values, known, right;
};

// The seven-point stencil, a solution, and the right side that belongs to it.
static System poisson() {
    System found;
    for (int i = 0; i < POINTS; ++i)
        found.known.push_back(std::sin(0.7 * i) + 0.001 * i);
    for (int i = 0; i < POINTS; ++i) {
        const int place[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE}, step[3] = {1, SIDE, SIDE * SIDE};
        const size_t begin = found.columns.size();
        auto add = [&](int column, double value) {
            found.columns.push_back(column);
            found.values.push_back(value);
        };
        for (int axis = 0; axis < 3; ++axis) {
            if (place[axis] > 0)
                add(i - step[axis], -1);
            if (place[axis] < SIDE - 1)
                add(i + step[axis], -1);
        }
        add(i, 6);
        double sum = 0;
        for (size_t k = begin; k < found.columns.size(); ++k)
            sum += found.values[k] * found.known[found.columns[k]];
        found.rows.push_back(i);
        found.counts.push_back(int(found.columns.size() - begin));
        found.right.push_back(sum);
    }
    return found;
}

// A copy where hypre works: it reads what it is given from there.
template <class Value>
class Copy {
  public:
    Copy(const std::vector<Value> &from, bool device) : from(from) {
        if (device) {
            need(cudaMalloc(&there, from.size() * sizeof(Value)) == cudaSuccess, "cudaMalloc");
            cudaMemcpy(there, from.data(), from.size() * sizeof(Value), cudaMemcpyHostToDevice);
        }
    }
    ~Copy() { cudaFree(there); }
    operator Value *() { return there ? there : from.data(); }
    std::vector<Value> back() {
        if (there)
            cudaMemcpy(from.data(), there, from.size() * sizeof(Value), cudaMemcpyDeviceToHost);
        return from;
    }

  private:
    std::vector<Value> from;
    Value *there = nullptr;
};

static HYPRE_ParVector vector(HYPRE_IJVector &holder, Copy<int> &rows, double *values) {
    HYPRE_ParVector found;
    HYPRE_IJVectorCreate(WORLD, 0, POINTS - 1, &holder);
    HYPRE_IJVectorSetObjectType(holder, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(holder);
    HYPRE_IJVectorSetValues(holder, POINTS, rows, values);
    HYPRE_IJVectorAssemble(holder);
    HYPRE_IJVectorGetObject(holder, (void **)&found);
    return found;
}

static std::vector<double> solved(const System &system, bool device) {
    HYPRE_SetMemoryLocation(device ? HYPRE_MEMORY_DEVICE : HYPRE_MEMORY_HOST);
    HYPRE_SetExecutionPolicy(device ? HYPRE_EXEC_DEVICE : HYPRE_EXEC_HOST);
    Copy<int> rows(system.rows, device), counts(system.counts, device), columns(system.columns, device);
    Copy<double> values(system.values, device), right(system.right, device), guess(std::vector<double>(POINTS), device);

    HYPRE_IJMatrix holder;
    HYPRE_ParCSRMatrix matrix;
    HYPRE_IJMatrixCreate(WORLD, 0, POINTS - 1, 0, POINTS - 1, &holder);
    HYPRE_IJMatrixSetObjectType(holder, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(holder);
    HYPRE_IJMatrixSetValues(holder, POINTS, counts, rows, columns, values);
    HYPRE_IJMatrixAssemble(holder);
    HYPRE_IJMatrixGetObject(holder, (void **)&matrix);
    HYPRE_IJVector right_holder, solution_holder;
    HYPRE_ParVector b = vector(right_holder, rows, right), x = vector(solution_holder, rows, guess);

    HYPRE_Solver solver, multigrid;
    HYPRE_BoomerAMGCreate(&multigrid);
    HYPRE_BoomerAMGSetCoarsenType(multigrid, 8); // PMIS
    HYPRE_BoomerAMGSetInterpType(multigrid, 6);  // extended
    HYPRE_BoomerAMGSetRelaxType(multigrid, 18);  // Jacobi with l1 scaling
    HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
    HYPRE_BoomerAMGSetTol(multigrid, 0);
    HYPRE_ParCSRPCGCreate(WORLD, &solver);
    HYPRE_PCGSetTol(solver, TOLERANCE);
    HYPRE_PCGSetMaxIter(solver, 40);
    HYPRE_PCGSetTwoNorm(solver, 1);
    HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, multigrid);
    HYPRE_ParCSRPCGSetup(solver, matrix, b, x);
    HYPRE_ParCSRPCGSolve(solver, matrix, b, x);

    int steps;
    HYPRE_PCGGetNumIterations(solver, &steps);
    printf("%s: %d iterations\n", device ? "GPU" : "CPU", steps);
    need(!HYPRE_GetError(), "an error of hypre");
    need(steps > 1 && steps < 20, "the number of iterations");
    Copy<double> found(std::vector<double>(POINTS), device);
    HYPRE_IJVectorGetValues(solution_holder, POINTS, rows, found);
    const std::vector<double> result = found.back();
    HYPRE_ParCSRPCGDestroy(solver);
    HYPRE_BoomerAMGDestroy(multigrid);
    HYPRE_IJMatrixDestroy(holder);
    HYPRE_IJVectorDestroy(right_holder);
    HYPRE_IJVectorDestroy(solution_holder);
    return result;
}

static double distance(const std::vector<double> &a, const std::vector<double> &b) {
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::isfinite(a[i]) ? std::fabs(a[i] - b[i]) : INFINITY);
    return most;
}

int main() {
    HYPRE_Initialize();
    const System system = poisson();
    const std::vector<double> gpu = solved(system, true), cpu = solved(system, false);
    const double error = distance(gpu, system.known), between = distance(gpu, cpu);
    printf("error %.1e, GPU and CPU differ by %.1e\n", error, between);
    need(error < 1e-7 && between < 1e-7, "the solution");
    HYPRE_Finalize();
    printf("right\n");
}
