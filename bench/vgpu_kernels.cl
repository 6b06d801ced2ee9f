/* The kernels of bench/vgpu.py, as CUDA (by nvcc) and as OpenCL C (by PoCL). */
#ifdef __OPENCL_VERSION__
#define KERNEL __kernel
#define GLOBAL __global
#define SHARED __local
#define TX ((int)get_local_id(0))
#define TY ((int)get_local_id(1))
#define BX ((int)get_group_id(0))
#define BY ((int)get_group_id(1))
#define BLOCK ((int)get_local_size(0))
#define BLOCKS ((int)get_num_groups(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define RSQRT rsqrt
#define SQRT sqrt
#define LOG log
#define FMA fma
#define COUNT(p) atomic_inc(p)
#define ADD(p, n) atomic_add(p, n)
#else
#define KERNEL extern "C" __global__
#define GLOBAL
#define SHARED __shared__
#define TX ((int)threadIdx.x)
#define TY ((int)threadIdx.y)
#define BX ((int)blockIdx.x)
#define BY ((int)blockIdx.y)
#define BLOCK ((int)blockDim.x)
#define BLOCKS ((int)gridDim.x)
#define BARRIER __syncthreads()
#define RSQRT rsqrtf
#define SQRT sqrtf
#define LOG logf
#define FMA fmaf
#define COUNT(p) atomicAdd(p, 1)
#define ADD(p, n) atomicAdd(p, n)
#endif
#define TILE 16

KERNEL void add(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, int n) {
  int i = BX * BLOCK + TX;
  if (i < n) c[i] = a[i] + b[i];
}

KERNEL void sgemm(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, int n) {
  SHARED float ta[TILE][TILE], tb[TILE][TILE];
  int row = BY * TILE + TY, column = BX * TILE + TX;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    ta[TY][TX] = a[row * n + k + TX];
    tb[TY][TX] = b[(k + TY) * n + column];
    BARRIER;
    for (int t = 0; t < TILE; t++) sum = FMA(ta[TY][t], tb[t][TX], sum);
    BARRIER;
  }
  c[row * n + column] = sum;
}

KERNEL void reduce(GLOBAL const float *a, GLOBAL float *out, int n) {
  SHARED float part[256];
  float sum = 0;
  for (int i = BX * BLOCK + TX; i < n; i += BLOCKS * BLOCK) sum += a[i];
  part[TX] = sum;
  BARRIER;
  for (int h = 128; h; h >>= 1) {
    if (TX < h) part[TX] += part[TX + h];
    BARRIER;
  }
  if (TX == 0) out[BX] = part[0];
}

KERNEL void nbody(GLOBAL const float *x, GLOBAL const float *y, GLOBAL float *force, int n) {
  int i = BX * BLOCK + TX;
  float px = x[i], py = y[i], f = 0;
  for (int j = 0; j < n; j++) {
    float dx = x[j] - px, dy = y[j] - py, r = RSQRT(FMA(dx, dx, FMA(dy, dy, 0.01f)));
    f = FMA(dx, r * r * r, f);
  }
  force[i] = f;
}

KERNEL void stencil(GLOBAL const float *in, GLOBAL float *out, int n) {
  int x = BX * BLOCK + TX, y = BY;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

KERNEL void histogram(GLOBAL const unsigned *data, GLOBAL int *bins, int n) {
  SHARED int part[256];
  part[TX] = 0;
  BARRIER;
  for (int i = BX * BLOCK + TX; i < n; i += BLOCKS * BLOCK) COUNT(&part[data[i] >> 24]);
  BARRIER;
  ADD(&bins[TX], part[TX]);
}

KERNEL void mandelbrot(GLOBAL int *out, int n) {
  int i = BX * BLOCK + TX, steps = 0;
  float cx = (float)(i % n) * (3.0f / n) - 2.0f, cy = (float)(i / n) * (2.0f / n) - 1.0f, x = 0, y = 0;
  while (steps < 64 && x * x + y * y < 4.0f) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    steps++;
  }
  out[i] = steps;
}

KERNEL void montecarlo(GLOBAL float *out, int rounds) {
  unsigned state = (unsigned)(BX * BLOCK + TX) * 2654435761u + 1u;
  float sum = 0;
  for (int k = 0; k < rounds; k++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    sum += SQRT(-2.0f * LOG((float)(state >> 8) * 0x1p-24f + 0x1p-25f));
  }
  out[BX * BLOCK + TX] = sum;
}

KERNEL void spmv(GLOBAL const int *columns, GLOBAL const float *values, GLOBAL const float *x, GLOBAL float *y, int n) {
  int row = BX * BLOCK + TX;
  float sum = 0;
  for (int k = 0; k < 8; k++) sum = FMA(values[k * n + row], x[columns[k * n + row]], sum);
  y[row] = sum;
}

KERNEL void transpose(GLOBAL const float *in, GLOBAL float *out, int n) {
  SHARED float tile[TILE][TILE + 1];
  int x = BX * TILE + TX, y = BY * TILE + TY;
  tile[TY][TX] = in[y * n + x];
  BARRIER;
  x = BY * TILE + TX, y = BX * TILE + TY;
  out[y * n + x] = tile[TX][TY];
}

/* Each block sorts 512 numbers by a bitonic network. */
KERNEL void sort(GLOBAL const unsigned *in, GLOBAL unsigned *out, int n) {
  SHARED unsigned keys[512];
  int first = BX * n;
  keys[TX] = in[first + TX];
  keys[TX + 256] = in[first + TX + 256];
  for (int size = 2; size <= n; size *= 2)
    for (int step = size / 2; step; step /= 2) {
      BARRIER;
      int low = 2 * TX - (TX & (step - 1)), high = low + step;
      unsigned a = keys[low], b = keys[high];
      if ((a > b) == ((low & size) == 0)) {
        keys[low] = b;
        keys[high] = a;
      }
    }
  BARRIER;
  out[first + TX] = keys[TX];
  out[first + TX + 256] = keys[TX + 256];
}
