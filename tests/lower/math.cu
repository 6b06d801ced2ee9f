// What nvcc makes of CUDA's arithmetic and math library: one column a function. Read by test_cuda_math.py.
extern "C" __global__ void floats(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = y[i], *p = out + i * 20;
  p[0] = expf(a), p[1] = logf(fabsf(a)), p[2] = sinf(a), p[3] = cosf(a), p[4] = tanf(a);
  p[5] = powf(fabsf(a), b), p[6] = tanhf(a), p[7] = erff(a), p[8] = cbrtf(a), p[9] = atan2f(a, b);
  p[10] = fmodf(a, b), p[11] = sqrtf(fabsf(a)), p[12] = a / b, p[13] = 1.f / a, p[14] = rsqrtf(fabsf(a));
  p[15] = exp2f(a), p[16] = log2f(fabsf(a)), p[17] = rintf(a), p[18] = roundf(a), p[19] = hypotf(a, b);
}

extern "C" __global__ void doubles(const double *x, const double *y, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = y[i], *p = out + i * 16;
  p[0] = exp(a), p[1] = log(fabs(a)), p[2] = sin(a), p[3] = cos(a), p[4] = tan(a), p[5] = pow(fabs(a), b);
  p[6] = tanh(a), p[7] = erf(a), p[8] = cbrt(a), p[9] = atan2(a, b), p[10] = fmod(a, b), p[11] = sqrt(fabs(a));
  p[12] = a / b, p[13] = 1.0 / a, p[14] = rsqrt(fabs(a)), p[15] = floor(a);
}

extern "C" __global__ void integers(const long long *x, const long long *y, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long a = x[i], b = y[i], *p = out + i * 10;
  unsigned long long u = a, v = b;
  p[0] = a / b, p[1] = a % b, p[2] = u / v, p[3] = u % v, p[4] = __mul64hi(a, b), p[5] = __umul64hi(u, v);
  p[6] = (int)a / ((int)b | 1), p[7] = (unsigned)a % ((unsigned)b | 1);
  p[8] = __popcll(a) + __clzll(a) + __ffsll(a);
  p[9] = ((unsigned __int128)u * v) / ((unsigned __int128)(v >> 3) + 1);
}
