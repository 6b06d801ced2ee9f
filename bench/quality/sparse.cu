// Sparse matrices and graphs.
#include "both.h"

KERNEL spmv(const int *rows, const int *cols, const float *values, const float *x, float *y, int n) {
  int r = index_x();
  if (r >= n) return;
  float s = 0;
  for (int k = rows[r]; k < rows[r + 1]; k++) s += values[k] * x[cols[k]];
  y[r] = s;
}

KERNEL spmv_warp(const int *rows, const int *cols, const float *values, const float *x, float *y, int n) {
  int r = index_x() / 32, lane = threadIdx.x % 32;
  if (r >= n) return;
  float s = 0;
  for (int k = rows[r] + lane; k < rows[r + 1]; k += 32) s += values[k] * x[cols[k]];
  s = warp_sum(s);
  if (lane == 0) y[r] = s;
}

// ELLPACK, column by column; an absent element has column -1.
KERNEL ell(const int *cols, const float *values, const float *x, float *y, int n, int width) {
  int r = index_x();
  if (r >= n) return;
  float s = 0;
  for (int k = 0; k < width; k++) {
    int c = cols[k * n + r];
    if (c >= 0) s += values[k * n + r] * x[c];
  }
  y[r] = s;
}

KERNEL coo(const int *rows, const int *cols, const float *values, const float *x, float *y, int count) {
  int k = index_x();
  if (k < count) atomicAdd(&y[rows[k]], values[k] * x[cols[k]]);
}

// A step of breadth-first search: who is reached from nodes of this depth.
KERNEL bfs(const int *starts, const int *edges, int *depth, int now, int *changed, int n) {
  int v = index_x();
  if (v >= n || depth[v] != now) return;
  for (int k = starts[v]; k < starts[v + 1]; k++) {
    int to = edges[k];
    if (depth[to] < 0) depth[to] = now + 1, *changed = 1;
  }
}

// Sums of runs of equal keys within a warp, whose last lane adds them to the result.
KERNEL segments(const int *keys, const float *values, float *sums, int n) {
  int i = index_x(), lane = threadIdx.x % 32;
  int key = i < n ? keys[i] : -1;
  float v = i < n ? values[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    float u = SHFL_UP(v, d);
    int k = SHFL_UP(key, d);
    if (lane >= d && k == key) v += u;
  }
  int next = SHFL_DOWN(key, 1);
  if (key >= 0 && (lane == 31 || next != key)) atomicAdd(&sums[key], v);
}
