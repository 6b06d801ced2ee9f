"""Run by suites.py under `ptx2amd run`: Halide compiles pipelines to PTX; the GPU's results against numpy's."""

import cases
import halide as hl
import numpy as np

rng = np.random.default_rng(1)
TARGET = hl.get_host_target().with_feature(hl.TargetFeature.CUDA).with_feature(hl.TargetFeature.CUDACapability70)
X, Y, XI, YI = (hl.Var(name) for name in ("x", "y", "xi", "yi"))


def result(func: hl.Func, *size: int) -> np.ndarray:
    found = func.realize(list(size), TARGET)
    found.copy_to_host()
    return np.array(found)


def buffer(values: np.ndarray) -> hl.Buffer:
    """Halide's first dimension is numpy's last."""
    return hl.Buffer(np.ascontiguousarray(values))


def arithmetic() -> None:
    values = rng.uniform(0.1, 3, (40, 67)).astype(np.float32)
    source, func = buffer(values), hl.Func("arithmetic")
    func[X, Y] = hl.sqrt(source[X, Y]) * hl.sin(source[X, Y]) + hl.exp(-source[X, Y])
    func.gpu_tile(X, Y, XI, YI, 16, 4)
    np.testing.assert_allclose(
        result(func, *values.shape[::-1]).reshape(values.shape),
        np.sqrt(values) * np.sin(values) + np.exp(-values),
        rtol=2e-5,
        atol=1e-5,
    )


def blur() -> None:
    """Two stages, the first in shared memory."""
    values = rng.integers(0, 1000, (66, 98)).astype(np.int32)
    source, across, down = buffer(values), hl.Func("across"), hl.Func("down")
    across[X, Y] = source[X, Y] + source[X + 1, Y] + source[X + 2, Y]
    down[X, Y] = across[X, Y] + across[X, Y + 1] + across[X, Y + 2]
    down.gpu_tile(X, Y, XI, YI, 16, 8)
    across.compute_at(down, X).gpu_threads(X, Y)
    wanted = sum(values[j : j + 64, i : i + 96] for j in range(3) for i in range(3))
    np.testing.assert_array_equal(result(down, 96, 64).reshape(wanted.shape), wanted)


def product() -> None:
    """A sum in a loop of each thread."""
    a, b = (rng.standard_normal((48, 48)).astype(np.float32) for _ in range(2))
    left, right, func, k = buffer(a), buffer(b), hl.Func("product"), hl.RDom([(0, 48)])
    func[X, Y] = hl.f32(0)
    func[X, Y] += left[k, Y] * right[X, k]
    func.gpu_tile(X, Y, XI, YI, 8, 8)
    func.update().gpu_tile(X, Y, XI, YI, 8, 8)
    np.testing.assert_allclose(result(func, 48, 48).reshape(48, 48), a @ b, rtol=1e-4, atol=1e-4)


def histogram() -> None:
    """Atomic additions."""
    values = rng.integers(0, 32, 3000).astype(np.int32)
    source, func, r = buffer(values), hl.Func("histogram"), hl.RDom([(0, values.size)])
    func[X] = 0
    func[hl.clamp(source[r], 0, 31)] += 1
    func.gpu_tile(X, XI, 32)
    func.update().atomic().gpu_tile(r, hl.RVar("ri"), 64)
    np.testing.assert_array_equal(result(func, 32), np.bincount(values, minlength=32))


cases.run({"arithmetic": arithmetic, "blur": blur, "product": product, "histogram": histogram})
