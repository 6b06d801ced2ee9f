"""Run by suites.py under `ptx2amd run`: NVIDIA Warp's kernels and built-in algorithms against numpy."""

import cases
import numpy as np
import warp as wp

wp.init()
device = "cuda:0"
rng = np.random.default_rng(1)
points = rng.standard_normal((3000, 3)).astype(np.float32)


@wp.kernel
def lengths(x: wp.array(dtype=wp.vec3), y: wp.array(dtype=float), s: wp.array(dtype=float)):
    i = wp.tid()
    v = x[i]
    y[i] = wp.length(v) * wp.sin(v[0]) + wp.float(i % 7)
    wp.atomic_add(s, i % 4, v[1])


@wp.kernel
def rotate(x: wp.array(dtype=wp.vec3), q: wp.quat, y: wp.array(dtype=wp.vec3)):
    y[wp.tid()] = wp.quat_rotate(q, x[wp.tid()])


@wp.kernel
def multiply(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)  # noqa: UP018 (Warp: a variable, not a constant)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


def launched() -> tuple:
    x = wp.array(points, dtype=wp.vec3, device=device, requires_grad=True)
    y = wp.zeros(3000, device=device, requires_grad=True)
    s = wp.zeros(4, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(lengths, 3000, [x, y, s], device=device)
    return x, y, s, tape


def elementwise() -> None:
    _, y, _, _ = launched()
    want = np.linalg.norm(points, axis=1) * np.sin(points[:, 0]) + np.arange(3000) % 7
    np.testing.assert_allclose(y.numpy(), want, atol=1e-4)


def atomics() -> None:
    _, _, s, _ = launched()
    np.testing.assert_allclose(s.numpy(), [points[k::4, 1].sum() for k in range(4)], atol=1e-2)


def gradient() -> None:
    x, y, _, tape = launched()
    tape.backward(grads={y: wp.ones(3000, device=device)})
    want = points[:, 1] / np.linalg.norm(points, axis=1) * np.sin(points[:, 0])
    np.testing.assert_allclose(x.grad.numpy()[:, 1], want, atol=1e-3)


def quaternions() -> None:
    x, y = wp.array(points, dtype=wp.vec3, device=device), wp.zeros(3000, dtype=wp.vec3, device=device)
    wp.launch(rotate, 3000, [x, wp.quat(0.0, 0.0, 0.70710678, 0.70710678), y], device=device)
    np.testing.assert_allclose(y.numpy(), np.stack([-points[:, 1], points[:, 0], points[:, 2]], 1), atol=1e-5)


def matmul() -> None:
    a, b = rng.standard_normal((40, 30)).astype(np.float32), rng.standard_normal((30, 20)).astype(np.float32)
    c = wp.zeros((40, 20), device=device)
    wp.launch(multiply, (40, 20), [wp.array(a, device=device), wp.array(b, device=device), c], device=device)
    np.testing.assert_allclose(c.numpy(), a @ b, atol=1e-4)


def radix_sort() -> None:
    keys = np.r_[rng.permutation(2000), np.zeros(2000)].astype(np.int32)
    k, v = wp.array(keys, device=device), wp.array(np.arange(4000, dtype=np.int32), device=device)
    wp.utils.radix_sort_pairs(k, v, 2000)
    np.testing.assert_array_equal(k.numpy()[:2000], np.arange(2000))
    np.testing.assert_array_equal(keys[v.numpy()[:2000]], np.arange(2000))


def scan() -> None:
    x, y = wp.array(np.arange(3000, dtype=np.int32), device=device), wp.zeros(3000, dtype=int, device=device)
    wp.utils.array_scan(x, y, inclusive=True)
    np.testing.assert_array_equal(y.numpy(), np.cumsum(np.arange(3000)))


def graph() -> None:
    x = wp.array(points, dtype=wp.vec3, device=device)
    y, s = wp.zeros(3000, device=device), wp.zeros(4, device=device)
    with wp.ScopedCapture(device=device) as capture:
        wp.launch(lengths, 3000, [x, y, s], device=device)
    for _ in range(3):
        wp.capture_launch(capture.graph)
    np.testing.assert_allclose(s.numpy(), [3 * points[k::4, 1].sum() for k in range(4)], atol=1e-2)


CASES = (elementwise, atomics, gradient, quaternions, matmul, radix_sort, scan, graph)
cases.run({case.__name__: case for case in CASES})
