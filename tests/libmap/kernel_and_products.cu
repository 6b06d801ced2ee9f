// A kernel of the program between two products, in one stream; then the three from a captured graph.
#include <cstdio>
#include <vector>

typedef struct cublasContext *cublasHandle_t;  // cublas_v2.h, which the compiler's wheels do not have
extern "C" {
int cublasCreate_v2(cublasHandle_t *);
int cublasDestroy_v2(cublasHandle_t);
int cublasSetStream_v2(cublasHandle_t, cudaStream_t);
int cublasSetWorkspace_v2(cublasHandle_t, void *, size_t);
int cublasSaxpy_v2(cublasHandle_t, int, const float *, const float *, int, float *, int);
int cublasSgemm_v2(cublasHandle_t, int, int, int, int, int, const float *, const float *, int, const float *, int,
                   const float *, float *, int);
int cublasDdot_v2(cublasHandle_t, int, const double *, int, const double *, int, double *);
}

#define OK(call) \
  if (int status = (int)(call)) { printf("%s: %d\n", #call, status); return 1; }

enum { N = 48 };

__global__ void square(float *c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * N) c[i] = c[i] * c[i];
}

static int work(cublasHandle_t handle, cudaStream_t stream, const float *a, float *b, float *c) {
  float one = 1, zero = 0, two = 2;
  OK(cublasSgemm_v2(handle, 0, 1, N, N, N, &one, a, N, a, N, &zero, c, N));  // c = a a'
  square<<<(N * N + 63) / 64, 64, 0, stream>>>(c);
  OK(cublasSaxpy_v2(handle, N * N, &two, c, 1, b, 1));  // b += 2 c
  return 0;
}

int main() {
  std::vector<float> a(N * N), b(N * N);
  for (int i = 0; i < N * N; i++) a[i] = (float)(i * 7 % 11) / 11;
  float *on_a, *on_b, *on_c;
  void *workspace;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cublasHandle_t handle;
  OK(cudaMalloc(&on_a, N * N * 4));
  OK(cudaMalloc(&on_b, N * N * 4));
  OK(cudaMalloc(&on_c, N * N * 4));
  OK(cudaMalloc(&workspace, 1 << 22));
  OK(cudaMemcpy(on_a, a.data(), N * N * 4, cudaMemcpyHostToDevice));
  OK(cudaMemset(on_b, 0, N * N * 4));
  OK(cudaStreamCreate(&stream));
  OK(cublasCreate_v2(&handle));
  OK(cublasSetStream_v2(handle, stream));
  OK(cublasSetWorkspace_v2(handle, workspace, 1 << 22));
  if (work(handle, stream, on_a, on_b, on_c)) return 1;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  if (work(handle, stream, on_a, on_b, on_c)) return 1;
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(b.data(), on_b, N * N * 4, cudaMemcpyDeviceToHost));
  for (int column = 0; column < N; column++)
    for (int row = 0; row < N; row++) {
      double product = 0;
      for (int k = 0; k < N; k++) product += (double)a[row + k * N] * a[column + k * N];
      double expected = 3 * 2 * product * product, found = b[row + column * N];
      if (found < expected * 0.9999 || found > expected * 1.0001) {
        printf("at %d, %d: %g, not %g\n", row, column, found, expected);
        return 1;
      }
    }
  double host[3] = {1, 2, 3}, dot = 0, *on_host;
  OK(cudaMalloc(&on_host, sizeof host));
  OK(cudaMemcpy(on_host, host, sizeof host, cudaMemcpyHostToDevice));
  OK(cublasDdot_v2(handle, 3, on_host, 1, on_host, 1, &dot));
  OK(cublasDestroy_v2(handle));
  printf("%g\n", dot);
  return dot != 14;
}
