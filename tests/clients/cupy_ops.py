"""Run by test_clients.py under `ptx2amd run`: CuPy (NVRTC, cub and thrust kernels of the wheel), checked against
numpy. Prints one line per operation; the exit status is the number of failures."""

import cases
import cupy as cp
import numpy as np

rng = np.random.default_rng(1)
a = rng.standard_normal((60, 70)).astype(np.float32)
A = cp.asarray(a)
REVERSE = r"""
extern "C" __global__ void reverse(const float *x, float *y, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = s[255 - threadIdx.x] * __shfl_xor_sync(~0ull, 1.f, 1);
}
"""
MODULE = r"""
__constant__ float scale[2];
template <typename T> __global__ void axpb(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * (T)scale[0] + (T)scale[1];
}
"""


def raw_kernel() -> cp.ndarray:
    y = cp.zeros(2560, np.float32)
    cp.RawKernel(REVERSE, "reverse")((10,), (256,), (A.ravel(), y, np.int32(2560)))
    return y


def raw_module() -> cp.ndarray:
    module = cp.RawModule(code=MODULE, name_expressions=["axpb<double>"], options=("-std=c++17",))
    pointer = module.get_global("scale")
    cp.ndarray(2, np.float32, pointer)[:] = cp.asarray([3, 5], dtype=np.float32)
    x, y = A.ravel().astype(np.float64), cp.zeros(a.size)
    module.get_function("axpb<double>")((a.size // 128 + 1,), (128,), (x, y, np.int32(a.size)))
    return y


def elementwise_kernel() -> cp.ndarray:
    squared = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
    return squared(A, A[:1])


def reduction_kernel() -> cp.ndarray:
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "row_norm")
    return norm(A, axis=1)


@cp.fuse()
def fused(x: cp.ndarray, y: cp.ndarray) -> cp.ndarray:
    return cp.maximum(x * 2 + y, 0) - y


def streams() -> cp.ndarray:
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        result = A * 2
    stream.synchronize()
    return result


flat, order = a.ravel(), np.argsort(a.ravel(), kind="stable")
CASES = {
    "elementwise": (lambda: cp.exp(A) * 2 + A.T.copy().T, np.exp(a) * 2 + a),
    "broadcast": (lambda: A[:, None, :] - A[None, :5, :], a[:, None, :] - a[None, :5, :]),
    "where": (lambda: cp.where(A > 0, A, -A), np.abs(a)),
    "cast": (lambda: (A * 10).astype(np.int16), (a * 10).astype(np.int16)),
    "half": (lambda: A.astype(np.float16) + cp.float16(1), a.astype(np.float16) + np.float16(1), 2e-3),
    "complex": (lambda: cp.abs(A + 1j * A), np.abs(a + 1j * a)),
    "integers": (lambda: cp.arange(1000) // 7 % 5 ^ 3, np.arange(1000) // 7 % 5 ^ 3),
    "sum-axis": (lambda: A.sum(0), a.sum(0)),
    "sum-all": (lambda: A.sum(dtype=np.float64), a.sum(dtype=np.float64)),
    "max-argmax": (lambda: A.max(1) + A.argmax(1), a.max(1) + a.argmax(1)),
    "var": (lambda: A.var(axis=1), a.var(axis=1)),
    "sort": (lambda: cp.sort(A, axis=None), np.sort(a, axis=None)),
    "argsort": (lambda: cp.argsort(A.ravel()), order),
    "cumsum": (lambda: cp.cumsum(A.ravel().astype(np.float64)), np.cumsum(flat.astype(np.float64))),
    "bincount": (lambda: cp.bincount(cp.arange(1000) % 7), np.bincount(np.arange(1000) % 7)),
    "take": (lambda: A[cp.asarray([3, 1, 50])], a[[3, 1, 50]]),
    "mask": (lambda: A[A > 1], a[a > 1]),
    "unique": (lambda: cp.unique(cp.arange(500) % 13), np.arange(13)),
    "raw-kernel": (raw_kernel, flat[:2560].reshape(10, 256)[:, ::-1].ravel()),
    "raw-module": (raw_module, flat.astype(np.float64) * 3 + 5),
    "elementwise-kernel": (elementwise_kernel, (a - a[:1]) ** 2),
    "reduction-kernel": (reduction_kernel, np.sqrt((a * a).sum(1))),
    "fuse": (lambda: fused(A, A[:1]), np.maximum(a * 2 + a[:1], 0) - a[:1]),
    "streams": (streams, a * 2),
    "random": (lambda: abs(cp.random.default_rng(1).standard_normal(20000).std() - 1) < 0.03, np.True_),
}

cases.run({
    name: cases.agree(lambda compute=compute: cp.asnumpy(compute()), want, *tolerance)
    for name, (compute, want, *tolerance) in CASES.items()
})  # fmt: skip
