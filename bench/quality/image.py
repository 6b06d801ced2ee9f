"""Cases of image.cu."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bench.quality.case import Case

F32, U8 = np.float32, np.uint8


def windows(image: np.ndarray, border: int) -> np.ndarray:
    return sliding_window_view(np.pad(image, border, mode="edge"), (2 * border + 1,) * 2)


def resized(image: np.ndarray, w: int, h: int) -> np.ndarray:
    def places(n: int, to: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        at = np.maximum((np.arange(to) + 0.5) * n / to - 0.5, 0)
        low = at.astype(int)
        return low, np.minimum(low + 1, n - 1), at - low

    (y0, y1, ay), (x0, x1, ax) = places(image.shape[0], h), places(image.shape[1], w)
    ax, ay = ax[None, :, None], ay[:, None, None]
    top = image[y0][:, x0] * (1 - ax) + image[y0][:, x1] * ax
    bottom = image[y1][:, x0] * (1 - ax) + image[y1][:, x1] * ax
    return np.floor(top * (1 - ay) + bottom * ay + 0.5)


def nearest(start: np.ndarray, ray: np.ndarray, corners: np.ndarray) -> np.ndarray:
    o, d, t = (v[..., :3].astype(float) for v in (start, ray, corners))
    a, e, f = t[None, :, 0], t[None, :, 1] - t[None, :, 0], t[None, :, 2] - t[None, :, 0]
    p = np.cross(d[:, None], f)
    inverse = 1 / (e * p).sum(2)
    s = o[:, None] - a
    q = np.cross(s, e)
    u, v, at = (s * p).sum(2) * inverse, (d[:, None] * q).sum(2) * inverse, (f * q).sum(2) * inverse
    return np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (at > 0), at, 1e30).min(1)


def cases() -> list[Case]:
    rng = np.random.default_rng(6)
    gray = rng.integers(0, 256, (64, 96), dtype=U8)
    near = windows(gray.astype(int), 1)
    gx = (near * [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]).sum((2, 3))
    gy = (near * [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]).sum((2, 3))
    plane = rng.random((64, 96), dtype=F32)
    around = windows(plane.astype(float), 2)
    j, i = np.mgrid[-2:3, -2:3]
    weight = np.exp(-0.1 * (i**2 + j**2) - 5.0 * (around - plane[..., None, None]) ** 2)
    rows, weights = rng.random((32, 256), dtype=F32), rng.random(17, dtype=F32)
    blurred = sliding_window_view(np.pad(rows, ((0, 0), (8, 8)), mode="edge"), 17, 1).astype(float) @ weights
    colors = rng.integers(0, 256, (48, 64, 4), dtype=U8)
    rgb = rng.integers(0, 256, (4096, 3), dtype=U8)
    yuv = (rgb.astype(int) @ np.array([[66, 129, 25], [-38, -74, 112], [112, -94, -18]]).T + 128 >> 8) + [16, 128, 128]
    start, ray = rng.random((1024, 4), dtype=F32), rng.random((1024, 4), dtype=F32) - F32(0.5)
    corners = (2 * rng.random((48, 3, 4)) - 1).astype(F32)
    empty = np.zeros_like(gray)
    return [
        Case("sobel", (3, 8), (32, 8), [gray, empty, 96, 64], 1, np.minimum(abs(gx) + abs(gy), 255)),
        Case("bilateral", (3, 8), (32, 8), [plane, np.zeros_like(plane), 96, 64, F32(0.1), F32(5)], 1,
             (weight * around).sum((2, 3)) / weight.sum((2, 3)), 1e-5),
        Case("median", (3, 8), (32, 8), [gray, empty, 96, 64], 1, np.median(near, (2, 3))),
        Case("blur", (2, 32), 128, [rows, weights, np.zeros_like(rows), 256], 2, blurred, 1e-5),
        Case("resize", (3, 9), (32, 8), [colors, np.zeros((72, 96, 4), U8), 64, 48, 96, 72, F32(2 / 3), F32(2 / 3)], 1,
             resized(colors, 96, 72), 0.01),
        Case("yuv", 4, 256, [rgb, np.zeros((3, 4096), U8), 4096], 1, yuv.T),
        Case("triangles", 4, 256, [start, ray, corners, 48, np.zeros(1024, F32), 1024], 4, nearest(start, ray, corners),
             tolerance=1e-3, few=0.01),
    ]  # fmt: skip
