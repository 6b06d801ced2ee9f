"""Run by test_clients.py under `ptx2amd run`: DrJit's CUDA backend (its own PTX), checked against numpy.
Element-wise math, gathers and scatters, atomics, recorded loops and reductions."""

import cases
import drjit as dr
import numpy as np
from drjit.cuda import Array3f, Float, Float64, UInt, UInt64

n = 10007
x = np.linspace(-3, 3, n, dtype=np.float32)
X = Float(x)


def scatter_atomics() -> np.ndarray:
    target = dr.zeros(UInt, 64)
    dr.scatter_reduce(dr.ReduceOp.Add, target, UInt(1), dr.arange(UInt, n) % 64)
    return target.numpy()


def loop() -> np.ndarray:
    """Collatz steps: a symbolic loop whose trip count differs from lane to lane."""

    @dr.syntax
    def steps(value: UInt) -> UInt:
        count = UInt(0)
        while value > 1:
            value = dr.select(value % 2 == 0, value // 2, value * 3 + 1)
            count += 1
        return count

    return steps(dr.arange(UInt, 1000) + 1).numpy()


CASES = {
    "arithmetic": (
        lambda: (X * 2 + dr.sqrt(dr.abs(X)) / (X * X + 1)).numpy(),
        x * 2 + np.sqrt(np.abs(x)) / (x * x + 1),
    ),
    "transcendental": (
        lambda: (dr.sin(X) + dr.exp(X) + dr.log(dr.abs(X) + 1)).numpy(),
        np.sin(x) + np.exp(x) + np.log(np.abs(x) + 1),
    ),
    "select": (lambda: dr.select(X > 0.5, X, -X).numpy(), np.where(x > 0.5, x, -x)),
    "gather": (lambda: dr.gather(Float, X, (dr.arange(UInt, n) * 7) % n).numpy(), x[(np.arange(n) * 7) % n]),
    "scatter": (scatter_atomics, np.bincount(np.arange(n) % 64, minlength=64)),
    "loop": (loop, np.array([cases.collatz(k + 1) for k in range(1000)])),
    "sum": (lambda: dr.sum(X).numpy(), x.sum(dtype=np.float64)),
    "max": (lambda: dr.max(X).numpy(), x.max()),
    "prefix-sum": (
        lambda: dr.prefix_sum(UInt(np.arange(n, dtype=np.uint32))).numpy(),
        np.concatenate([[0], np.cumsum(np.arange(n))[:-1]]).astype(np.uint32),
    ),
    "int64": (
        lambda: (UInt64(np.arange(n, dtype=np.uint64)) * UInt64(0x123456789) >> UInt64(7)).numpy(),
        (np.arange(n, dtype=np.uint64) * np.uint64(0x123456789)) >> np.uint64(7),
    ),
    "double": (lambda: (Float64(x.astype(np.float64)) / 3).numpy(), x.astype(np.float64) / 3),
    "vector": (lambda: dr.norm(Array3f(X, X + 1, X + 2)).numpy(), np.sqrt(x**2 + (x + 1) ** 2 + (x + 2) ** 2)),
    "compress": (lambda: dr.compress(X > 0).numpy(), np.nonzero(x > 0)[0]),
}

cases.run({name: cases.agree(compute, want, 1e-5, 1e-5) for name, (compute, want) in CASES.items()})
