"""CUDA's arithmetic and math functions as nvcc compiles them, on the software GPU, against Python and numpy:
f32 and f64 within the error that CUDA documents for each, integers exactly. Division, roots, carries and
table look-ups of real code go through here."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.compat import toolkit
from ptx2amd.translate import translate

N = 1024
COMMON: list[tuple[Callable, float, float]] = [  # function, allowed ulp in f32 and in f64
    (lambda a, b: np.exp(a), 2, 1),
    (lambda a, b: np.log(abs(a)), 1, 1),
    (lambda a, b: np.sin(a), 2, 2),
    (lambda a, b: np.cos(a), 2, 2),
    (lambda a, b: np.tan(a), 4, 2),
    (lambda a, b: abs(a) ** b, 4, 2),
    (lambda a, b: np.tanh(a), 2, 1),
    (lambda a, b: np.vectorize(math.erf)(a), 2, 2),
    (lambda a, b: np.cbrt(a), 1, 1),
    (np.arctan2, 3, 2),
    (np.fmod, 0, 0),
    (lambda a, b: np.sqrt(abs(a)), 0, 0),
    (lambda a, b: a / b, 0, 0),
    (lambda a, b: 1 / a, 0, 0),
    (lambda a, b: 1 / np.sqrt(abs(a)), 2, 1),
]
FLOATS = [
    *COMMON,
    (lambda a, b: np.exp2(a), 2, 0),
    (lambda a, b: np.log2(abs(a)), 1, 0),
    (lambda a, b: np.rint(a), 0, 0),
    (lambda a, b: np.trunc(a + np.copysign(0.5, a)), 0, 0),
    (np.hypot, 3, 0),
]
DOUBLES = [*COMMON, (lambda a, b: np.floor(a), 0, 0)]


@pytest.fixture(scope="module", params=["-ftz=false", "-ftz=true"])
def ptx(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    tools = toolkit.find()
    out = tmp_path_factory.mktemp("math") / "math.ptx"
    source = Path(__file__).with_name("math.cu")
    command = [tools.nvcc, *tools.flags, "-ptx", "-arch=sm_90", request.param, str(source), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return out.read_text()


def errors(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference, in units of the last place of the expected values, beyond their own rounding."""
    rounded = want.astype(got.dtype)
    return float(np.max(np.abs(got.astype(np.float64) - rounded) / np.spacing(np.abs(rounded))))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_cuda_math(ptx: str, arch: str) -> None:
    [result] = translate(ptx, "math.ptx", [arch], mode="module")
    assert result.ok, result.kernels
    gpu = hip.open(f"vgpu:{arch}")
    module = gpu.load(result.code)

    def run(kernel: str, a: np.ndarray, b: np.ndarray, columns: int) -> np.ndarray:
        out = gpu.buffer(N * columns * a.itemsize)
        module.kernel(kernel).launch(N // 128, 128, [gpu.buffer(a), gpu.buffer(b), out, N])
        gpu.synchronize()
        return out.numpy(a.dtype).reshape(N, columns)

    rng = np.random.default_rng(1)
    x = (rng.standard_normal(N) * np.exp2(rng.integers(-8, 5, N))).astype(np.float32)
    y = (rng.standard_normal(N) * 4).astype(np.float32)
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    for kernel, table, a, b, which in (
        ("floats", FLOATS, x, y, 1),
        ("doubles", DOUBLES, wide_x, wide_y, 2),
    ):
        got = run(kernel, a, b, len(table))
        for column, row in enumerate(table):
            error = errors(got[:, column], row[0](wide_x, wide_y))
            slack = kernel == "doubles" and row[which] > 0  # numpy's own error
            assert error <= row[which] + slack, (kernel, column, error)

    a, b = (rng.integers(-(2**63), 2**63 - 1, N) >> rng.integers(0, 62, N) for _ in "ab")
    b[b == 0] = 3
    got = run("integers", a, b, 10)
    for i in range(N):
        assert [int(v) for v in got[i]] == integers(int(a[i]), int(b[i])), (int(a[i]), int(b[i]))


def signed(n: int, bits: int = 64) -> int:
    n &= (1 << bits) - 1
    return n - (1 << bits) if n >> bits - 1 else n


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def integers(a: int, b: int) -> list[int]:
    """The columns of the kernel `integers`."""
    u, v = a % 2**64, b % 2**64
    return [
        signed(quotient(a, b)),
        a - quotient(a, b) * b,
        signed(u // v),
        signed(u % v),
        a * b >> 64,
        signed(u * v >> 64),
        signed(quotient(signed(a, 32), signed(b, 32) | 1), 32),
        u % 2**32 % (v % 2**32 | 1),
        u.bit_count() + 64 - u.bit_length() + (u & -u).bit_length(),
        signed(u * v // ((v >> 3) + 1)),
    ]
