// One mistake for each name on the command line. The line of the kernel that makes it ends in its name.
#include <cstdio>
#include <cstring>

__global__ void past_the_end(int *p, const int *q) {
  p[threadIdx.x + 7] = 1;                                    // past_the_end
}
__global__ void freed(int *p, const int *q) {
  p[threadIdx.x] = q[threadIdx.x];                           // freed
}
__global__ void unwritten_global(int *p, const int *q) {
  p[threadIdx.x] = q[threadIdx.x] + 1;                       // unwritten_global
}
__global__ void unwritten_shared(int *p, const int *q) {
  __shared__ int t[64];
  if (threadIdx.x < 32) t[threadIdx.x] = 5;
  __syncthreads();
  p[threadIdx.x % 64] = t[threadIdx.x] + 1;                  // unwritten_shared
}
__global__ void unwritten_local(int *p, const int *q) {
  int t[32];
  for (int k = 0; k < 32; k += 2) t[(k + q[0]) % 32] = k;
  p[threadIdx.x] = t[(threadIdx.x + q[0]) % 32] + 1;         // unwritten_local
}
__global__ void misaligned(int *p, const int *q) {
  const char *c = (const char *)q + 2;
  p[threadIdx.x] = *(const int *)(c + 4 * threadIdx.x);      // misaligned
}
__global__ void global_race(int *p, const int *q) {
  p[0] = blockIdx.x;                                         // global_race
}
__global__ void shared_race(int *p, const int *q) {
  __shared__ int t[64];
  t[threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = t[63 - threadIdx.x];                      // shared_race
}
__global__ void leak(int *p, const int *q) {}

int main(int argc, char **argv) {
  int *p, *q, *r;
  cudaMalloc(&p, 4 * 64);
  cudaMalloc(&q, 4 * 70);
  cudaMalloc(&r, 4000);
  const char *name = argv[1];
#define CASE(kernel) if (!strcmp(name, #kernel)) kernel<<<2, 64>>>(p, q)
  if (strcmp(name, "unwritten_global")) cudaMemset(q, 0, 4 * 70);
  if (strcmp(name, "unwritten_global")) cudaMemset(p, 0, 4 * 64);
  if (!strcmp(name, "freed")) cudaFree(q);
  CASE(past_the_end); CASE(freed); CASE(unwritten_global); CASE(unwritten_shared); CASE(unwritten_local);
  CASE(misaligned); CASE(global_race); CASE(shared_race); CASE(leak);
  cudaDeviceSynchronize();
  if (strcmp(name, "leak")) cudaFree(r);
  cudaFree(p);
  if (strcmp(name, "freed")) cudaFree(q);
}
