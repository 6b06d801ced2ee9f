"""Cases of dense.cu."""

from __future__ import annotations

import numpy as np

from bench.quality.case import Case

N = 1 << 14
F32, F16 = np.float32, np.float16


def cases() -> list[Case]:
    rng = np.random.default_rng(1)

    def floats(*shape: int) -> np.ndarray:
        return rng.random(shape, dtype=F32)

    def bytes_(*shape: int) -> np.ndarray:
        return rng.integers(-128, 128, shape, dtype=np.int8)

    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, F32)

    x, y = floats(N), floats(N)
    halves, others = x.astype(F16), y.astype(F16)
    pair = np.array([0.5, 1.5], F16)
    scale = np.tile(pair, N // 2)
    axpy = (scale.astype(float) * halves + others).astype(F16) + halves * (halves + scale)
    a, b, c = floats(64, 64), floats(64, 64), floats(64, 64)
    doubles = [m.astype(float) for m in (a, b, c)]
    wide, tall = floats(128, 128), floats(128, 128)
    half_a, half_b = a.astype(F16), b.astype(F16)
    half_product = half_a.astype(F32) @ half_b.astype(F32)
    ints, weights = bytes_(1024, 256), bytes_(256)
    left, right = bytes_(64, 128), bytes_(64, 128)
    matrix, vector = floats(128, 256, 2).view(np.complex64)[..., 0], floats(256, 2).view(np.complex64)[..., 0]
    plane = floats(128, 160)
    image, filters = floats(8, 34, 34), floats(4, 8, 3, 3)
    conv = sum(np.einsum("chw,kc->khw", image[:, i : i + 32, j : j + 32].astype(float), filters[:, :, i, j])
               for i in range(3) for j in range(3))  # fmt: skip
    maps, own = floats(8, 32, 32), floats(8, 3, 3)
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1))).astype(float)
    depthwise = sum(padded[:, i : i + 32, j : j + 32] * own[:, i, j, None, None] for i in range(3) for j in range(3))
    rows = floats(128, 256)
    return [
        Case("vadd", N // 256 + 1, 256, [x, y, zeros(N), N], 2, x + y),
        Case("saxpy", 16, 256, [y, x, F32(2.5), N], 0, 2.5 * x + y, 1e-6),
        Case("half2axpy", 8, 256, [others, halves, pair.tobytes(), N // 2], 0, axpy.astype(float), 2e-3),
        Case("sgemm16", (4, 4), (16, 16), [a, b, c, 64, F32(1.5), F32(0.5)], 2, 1.5 * (a @ b) + 0.5 * c, 1e-5),
        Case("dgemm16", (4, 4), (16, 16), [*doubles, 64, np.float64(1.5), np.float64(0.5)], 2,
             1.5 * (doubles[0] @ doubles[1]) + 0.5 * c, 1e-13),
        Case("sgemm64", (2, 2), 64, [wide, tall, zeros(128, 128), 128], 2, wide @ tall, 1e-5),
        Case("hgemm64", (1, 1), (16, 16), [half_a, half_b, zeros(64, 64), 64], 2, half_product, 1e-5),
        Case("cgemv", 16, 256, [matrix, vector, np.zeros(128, np.complex64), 256], 2, matrix @ vector, 1e-5),
        Case("gemv", 16, 256, [rows, x[:256], zeros(128), 64], 2, rows @ x[:256], 1e-5),
        Case("transpose", (5, 4), (32, 8), [plane, zeros(160, 128), 160, 128], 1, plane.T),
        Case("dot8", 4, 256, [ints, weights, np.zeros(1024, np.int32), 1024, 64], 2,
             ints.astype(np.int32) @ weights.astype(np.int32)),
        Case("igemm", (2, 2), (16, 16), [left, right, np.zeros((64, 64), np.int32), 64, 32], 2,
             left.astype(np.int32) @ right.astype(np.int32).T),
        Case("wmma", 4, 128, [half_a, half_b, zeros(64, 64), 64], 2, half_product, 1e-5,
             wave_block=256, lacking=("gfx1030",)),
        Case("conv3x3", (1, 4, 4), (32, 8), [image, filters, zeros(4, 32, 32), 34, 34, 8], 2, conv, 1e-5),
        Case("depthwise", (2, 2, 8), (16, 16), [maps, own, zeros(8, 32, 32), 32, 32], 2, depthwise, 1e-5),
    ]  # fmt: skip
