"""Run by test_clients.py under `ptx2amd run`: Triton kernels, compiled by Triton's own NVIDIA back end and passed on by
our ptxas, with numpy in the place of PyTorch."""

import cases
import numpy as np
import triton
import triton.language as tl
from triton_array import Array, start


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = tl.load(
            a + rows[:, None] * K + (k + inner)[None, :],
            mask=(rows[:, None] < M) & ((k + inner)[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + (k + inner)[:, None] * N + columns[None, :],
            mask=((k + inner)[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(mask, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(
        out + row * columns + at,
        centred * scale * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask),
        mask=mask,
    )


@triton.jit
def histogram_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def cumsum_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


rng = np.random.default_rng(1)


def add() -> None:
    x, y, out = (Array(rng.standard_normal(5003).astype("f4")) for _ in range(3))
    add_kernel[(5,)](x, y, out, 5003, BLOCK=1024)
    np.testing.assert_allclose(out.numpy(), x.host + y.host)


def softmax() -> None:
    x, out = Array(rng.standard_normal((37, 781)).astype("f4")), Array(np.zeros((37, 781), "f4"))
    softmax_kernel[(37,)](x, out, 781, BLOCK=1024)
    e = np.exp(x.host - x.host.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out.numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def matmul(kind: str, tolerance: float) -> None:
    a, b = (Array(rng.standard_normal(s).astype(kind)) for s in ((70, 96), (96, 50)))
    c = Array(np.zeros((70, 50), "f4"))
    matmul_kernel[(3, 2)](a, b, c, 70, 50, 96, BM=32, BN=32, BK=32)
    np.testing.assert_allclose(c.numpy(), a.host.astype("f8") @ b.host.astype("f8"), rtol=tolerance, atol=tolerance)


def layer_norm() -> None:
    x, w, b = (
        Array(rng.standard_normal((9, 300)).astype("f4")),
        *(Array(rng.standard_normal(300).astype("f4")) for _ in range(2)),
    )
    out = Array(np.zeros((9, 300), "f4"))
    layer_norm_kernel[(9,)](x, w, b, out, 300, 1e-5, BLOCK=512)
    h = x.host
    want = (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5) * w.host + b.host
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-4, atol=1e-5)


def histogram() -> None:
    x, out = Array(rng.integers(0, 64, 3000, dtype="i4")), Array(np.zeros(64, "i4"))
    histogram_kernel[(3,)](x, out, 3000, BLOCK=1024)
    np.testing.assert_array_equal(out.numpy(), np.bincount(x.host, minlength=64))


def cumsum() -> None:
    x, out = Array(rng.integers(0, 9, 1024, dtype="i4")), Array(np.zeros(1024, "i4"))
    cumsum_kernel[(1,)](x, out, BLOCK=1024)
    np.testing.assert_array_equal(out.numpy(), np.cumsum(x.host))


CASES = {
    "add": add, "softmax": softmax, "matmul-f16": lambda: matmul("f2", 1e-2), "matmul-f32": lambda: matmul("f4", 2e-2),
    "layer-norm": layer_norm, "histogram": histogram, "cumsum": cumsum,
}  # fmt: skip

start()
cases.run(CASES)
