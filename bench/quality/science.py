"""Cases of science.cu."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bench.quality.case import Case

F32, I32, U32 = np.float32, np.int32, np.uint32


def jacobi(plane: np.ndarray) -> np.ndarray:
    tiles = plane.astype(float).reshape(4, 16, 4, 16).swapaxes(1, 2).copy()
    for _ in range(4):
        near = tiles[..., 1:-1, :-2] + tiles[..., 1:-1, 2:] + tiles[..., :-2, 1:-1] + tiles[..., 2:, 1:-1]
        tiles[..., 1:-1, 1:-1] = 0.25 * near
    return tiles.swapaxes(1, 2).reshape(64, 64)


def lennard_jones(p: np.ndarray, near: np.ndarray, box: float, cut2: float) -> np.ndarray:
    d = p[None, :, :3] - p[np.maximum(near, 0), :3]
    d = d.astype(float) - box * np.rint(d / box)
    d2 = (d**2).sum(2)
    used = (near >= 0) & (d2 < cut2)
    r2 = np.where(used, 1 / np.where(used, d2, 1), 0)
    force = 24 * r2 * r2**3 * (2 * r2**3 - 1)
    return np.concatenate([(force[..., None] * d).sum(0), (4 * r2**3 * (r2**3 - 1)).sum(0)[:, None]], 1)


def black_scholes(s: np.ndarray, x: np.ndarray, t: np.ndarray, r: float, v: float) -> np.ndarray:
    def normal(d: np.ndarray) -> np.ndarray:
        k = 1 / (1 + 0.2316419 * abs(d))
        series = np.polyval([1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153, 0], k)
        tail = 0.39894228 * np.exp(-0.5 * d * d) * series
        return np.where(d > 0, 1 - tail, tail)

    d1 = (np.log(s.astype(float) / x) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    return s * normal(d1) - x * np.exp(-r * t) * normal(d1 - v * np.sqrt(t))


def philox_hits(threads: int, rounds: int, seed: int) -> np.ndarray:
    i, j = np.meshgrid(np.arange(threads, dtype=np.uint64), np.arange(rounds, dtype=np.uint64), indexing="ij")
    c, low = [i, j, 0 * i, 0 * i], np.uint64(0xFFFFFFFF)
    k0, k1 = seed, 0
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [b >> np.uint64(32) ^ c[1] ^ np.uint64(k0), b & low, a >> np.uint64(32) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    x = [(v >> np.uint64(8)).astype(float) / 2**24 for v in c]
    return ((x[0] ** 2 + x[1] ** 2 < 1).astype(int) + (x[2] ** 2 + x[3] ** 2 < 1)).sum(1)


def transform_pass(v: np.ndarray, radix: int, p: int) -> np.ndarray:
    n = v.size
    i = np.arange(n // radix)
    k = i & (p - 1)
    turned = [v[i + j * n // radix] * np.exp(-2j * np.pi * j * k / (p * radix)) for j in range(radix)]
    out = np.zeros(n, complex)
    for m, part in enumerate(np.fft.fft(np.array(turned), axis=0)):
        out[(i - k) * radix + k + m * p] = part
    return out


def escapes(w: int, h: int, limit: int) -> np.ndarray:
    i = np.arange(w * h)
    c = -2 + 3 * (i % w) / w + 1j * (-1.5 + 3 * (i // w) / h)
    z, count = np.zeros_like(c), np.zeros(w * h, I32)
    for _ in range(limit):
        inside = abs(z) < 2
        count += inside
        z = np.where(inside, z * z + c, z)
    return count


def collided(f: np.ndarray, omega: float) -> np.ndarray:
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])[:, None, None]
    f = np.array([np.roll(part, (dy, dx), (0, 1)) for part, dx, dy in zip(f.astype(float), cx, cy, strict=True)])
    rho = f.sum(0)
    ux, uy = np.tensordot(cx, f, 1) / rho, np.tensordot(cy, f, 1) / rho
    cu = 3 * (cx[:, None, None] * ux + cy[:, None, None] * uy)
    return f + omega * (w * rho * (1 + cu + 0.5 * cu**2 - 1.5 * (ux**2 + uy**2)) - f)


def cases() -> list[Case]:
    rng = np.random.default_rng(5)

    def floats(*shape: int) -> np.ndarray:
        return rng.random(shape, dtype=F32)

    def like(a: np.ndarray) -> np.ndarray:
        return np.zeros_like(a)

    plane = floats(64, 128)
    square = plane[:, :64].copy()
    smooth = like(plane).astype(float)
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
    smooth[1:-1, 1:-1] = (sliding_window_view(plane, (3, 3)) * kernel).sum((2, 3))
    box = floats(16, 32, 64)
    seven = like(box).astype(float)
    inner = (slice(1, -1),) * 3
    near = sum(np.roll(box.astype(float), by, axis) for axis in range(3) for by in (1, -1))
    seven[inner] = (F32(0.4) * box + F32(0.1) * near)[inner]
    line, before = rng.random(4096), rng.random(4096)
    moved = np.zeros(4096)
    mid = slice(8, -8)
    spread = sum((np.roll(line, k) + np.roll(line, -k)) / k**2 for k in range(1, 9))
    moved[mid] = (2 * line - before + 0.1 * (spread - 2 * line))[mid]
    bodies = floats(512, 4)
    d = bodies[None, :, :3].astype(float) - bodies[:, None, :3]
    pull = ((d**2).sum(2) + 1e-3) ** -1.5 * bodies[None, :, 3]
    forces = np.concatenate([(d * pull[..., None]).sum(1), np.zeros((512, 1))], 1)
    atoms = (
        np.stack(np.meshgrid(*3 * [np.arange(8)], indexing="ij"), -1).reshape(-1, 3) * 1.2 + 0.1 * floats(512, 3)
    ).astype(F32)
    atoms = np.concatenate([atoms, np.zeros((512, 1), F32)], 1)
    apart = atoms[None, :, :3] - atoms[:, None, :3]
    apart -= 9.6 * np.rint(apart / 9.6)
    close = ((apart**2).sum(2) < 2.8**2) & ~np.eye(512, dtype=bool)
    most = int(close.sum(1).max())
    lists = np.full((most, 512), -1, I32)
    for i in range(512):
        found = np.flatnonzero(close[i])
        lists[: found.size, i] = found
    s, x, t = 10 + 20 * floats(4096), 10 + 20 * floats(4096), 0.2 + floats(4096)
    r, v = F32(0.02), F32(0.3)
    uniform = (0.001 + 0.998 * floats(16, 1024, 2)).astype(F32)
    normal = np.sqrt(-2 * np.log(uniform[..., 0].astype(float))) * np.cos(2 * np.pi * uniform[..., 1])
    paths = 100 * np.exp((0.001 + 0.05 * normal).cumsum(0))
    signal = (rng.standard_normal(4096) + 1j * rng.standard_normal(4096)).astype(np.complex64)
    turns = np.exp(-2j * np.pi * np.arange(4096) / 4096).astype(np.complex64)
    lattice = 0.1 + 0.01 * floats(9, 32, 64)
    a, b, c, rhs = floats(32, 512), 4 + floats(32, 512), floats(32, 512), floats(32, 512)
    systems = np.zeros((512, 32, 32))
    for k in range(32):
        systems[:, k, k] = b[k]
        if k:
            systems[:, k, k - 1], systems[:, k - 1, k] = a[k], c[k - 1]
    solved = np.linalg.solve(systems, rhs.T[..., None])[..., 0].T
    return [
        Case("stencil2d", (4, 8), (32, 8), [plane, like(plane), 128, 64], 1, smooth, 1e-6),
        Case("stencil3d", (2, 4), (32, 8), [box, like(box), 64, 32, 16, F32(0.4), F32(0.1)], 1, seven, 1e-6),
        Case("jacobi", (4, 4), (16, 16), [square, like(square), 64], 1, jacobi(square), 1e-6),
        Case("wave8", 16, 256, [line, before, np.zeros(4096), 4096, np.float64(0.1)], 2, moved, 1e-12),
        Case("nbody", 4, 128, [bodies, like(bodies), 512], 1, forces, 2e-4),
        Case("lennard_jones", 4, 128, [atoms, lists, like(atoms), 512, most, F32(9.6), F32(6.25)], 2,
             lennard_jones(atoms, lists, 9.6, 6.25), 1e-3),
        Case("blackscholes", 16, 256, [s, x, t, like(s), like(s), r, v, 4096], 3,
             black_scholes(s, x, t, float(r), float(v)), 1e-5),
        Case("montecarlo", 4, 256, [np.zeros(1024, U32), 8, 12345], 0, philox_hits(1024, 8, 12345), few=0.01),
        Case("asian", 4, 256, [uniform, np.zeros(1024, F32), 1024, 16, *map(F32, (100, 0.001, 0.05))], 1, paths.mean(0),
             1e-5),
        Case("fft4", 4, 256, [signal, like(signal), turns, 4096, 16], 1, transform_pass(signal, 4, 16), 1e-5),
        Case("fft8", 4, 128, [signal, like(signal), turns, 4096, 8], 1, transform_pass(signal, 8, 8), 1e-5),
        Case("fft256", 16, 64, [signal, like(signal), turns[::16].copy()], 1, np.fft.fft(signal.reshape(16, 256)),
             1e-5),
        Case("mandelbrot", 16, 256, [np.zeros(4096, I32), 64, 64, 64], 0, escapes(64, 64, 64), few=0.02),
        Case("lbm", (2, 4), (32, 8), [lattice, like(lattice), 64, 32, F32(1.2)], 1, collided(lattice, 1.2), 1e-5),
        Case("thomas", 4, 128, [a, b, c, rhs, like(rhs), 32, 512], 3, solved, 1e-5),
    ]  # fmt: skip
