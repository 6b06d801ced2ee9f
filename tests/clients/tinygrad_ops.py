"""Run by test_clients.py under `ptx2amd run` with DEV=CUDA:PTX: tinygrad's own PTX generator, checked
against numpy. Prints one line per operation; the exit status is the number of failures."""

import cases
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes

rng = np.random.default_rng(1)
a, b = rng.standard_normal((64, 96)).astype(np.float32), rng.standard_normal((64, 96)).astype(np.float32)
m, n = rng.standard_normal((96, 80)).astype(np.float32), rng.standard_normal((64, 80)).astype(np.float32)
integers = rng.integers(-100, 100, (33, 65), dtype=np.int32)
A, B, M, I = Tensor(a), Tensor(b), Tensor(m), Tensor(integers)  # noqa: E741


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@TinyJit
def jitted(x: Tensor) -> Tensor:
    return ((x * 2 + 1).relu().sum(axis=0) + x.max()).realize()


def run_jit() -> np.ndarray:
    for k in range(4):  # the third call on runs as a CUDA graph
        result = jitted(Tensor(a + k).realize()).numpy()
    return result


CASES = {
    "add": (lambda: (A + B).numpy(), a + b),
    "mul-sub-div": (lambda: ((A * B - A) / (B.abs() + 1)).numpy(), (a * b - a) / (np.abs(b) + 1)),
    "where": (lambda: (A > B).where(A, B * 2).numpy(), np.where(a > b, a, b * 2)),
    "exp-log-sin-sqrt": (
        lambda: (A.exp() + (A.abs() + 1).log() + A.sin() + A.abs().sqrt()).numpy(),
        np.exp(a) + np.log(np.abs(a) + 1) + np.sin(a) + np.sqrt(np.abs(a)),
    ),
    "sum-all": (lambda: A.sum().numpy(), a.sum(dtype=np.float64)),
    "sum-axis": (lambda: A.sum(axis=1).numpy(), a.sum(axis=1)),
    "max-axis": (lambda: A.max(axis=0).numpy(), a.max(axis=0)),
    "mean-var": (lambda: A.var(axis=1).numpy(), a.var(axis=1, ddof=1)),
    "matmul": (lambda: (A @ M).numpy(), a @ m),
    "matmul-bias-relu": (lambda: ((A @ M) + Tensor(n)).relu().numpy(), np.maximum(a @ m + n, 0)),
    "softmax": (lambda: A.softmax().numpy(), softmax(a)),
    "argmax": (lambda: A.argmax(axis=1).numpy(), a.argmax(axis=1)),
    "cumsum": (lambda: A.cumsum(axis=1).numpy(), a.cumsum(axis=1)),
    "int-ops": (lambda: ((I * 7 + 3) // 5 ^ (I & 15)).numpy(), (integers * 7 + 3) // 5 ^ (integers & 15)),
    "int-sum": (lambda: I.sum().numpy(), integers.sum()),
    "half": (
        lambda: (A.cast(dtypes.half) + B.cast(dtypes.half)).float().numpy(),
        a.astype(np.float16) + b.astype(np.float16),
        1e-3,
    ),
    "double": (lambda: (A.cast(dtypes.double) * B.cast(dtypes.double)).sum().numpy(), (a.astype(np.float64) * b).sum()),
    "conv2d": (
        lambda: Tensor(a.reshape(1, 4, 16, 96)).conv2d(Tensor(a.reshape(-1)[:72].reshape(2, 4, 3, 3))).numpy(),
        None,
    ),
    "gather": (lambda: A[Tensor([3, 1, 60])].numpy(), a[[3, 1, 60]]),
    "sort": (lambda: A[0].sort()[0].numpy(), np.sort(a[0])),
    "jit-graph": (run_jit, (np.maximum((a + 3) * 2 + 1, 0).sum(axis=0) + (a + 3).max())),
}


def conv2d() -> np.ndarray:
    x, w = a.reshape(4, 16, 96), a.reshape(-1)[:72].reshape(2, 4, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.einsum("chwij,ocij->ohw", windows, w)[None]


cases.run({
    name: cases.agree(compute, conv2d() if want is None else want, *(tolerance or [2e-4]), atol=2e-4)
    for name, (compute, want, *tolerance) in CASES.items()
})  # fmt: skip
