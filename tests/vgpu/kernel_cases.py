"""What the kernels of tests/vgpu/kernels do, in numpy: for each its launch, and what its arguments hold afterwards."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

Array = np.ndarray
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
f16, f32, f64 = np.float16, np.float32, np.float64


@dataclass
class Case:
    """grid, block: of the launch; one_wave: the block is one wave, however wide. arguments: arrays are buffers.
    expected: what the buffer of an argument holds then, equal, or within `tolerance` of the largest; `unordered`: in
    any order."""

    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: list[object]
    expected: dict[int, Array]
    shared: int = 0
    tolerance: float = 0.0
    unordered: set[int] = field(default_factory=set)
    one_wave: bool = False


CASES: dict[str, Callable[[Generator], Case]] = {}


def case(function: Callable[[Generator], Case]) -> Callable[[Generator], Case]:
    CASES[function.__name__] = function
    return function


def integers(rng: Generator, n: int | tuple[int, ...], typ: type) -> Array:
    """Random bits, sizes of all kinds, a few of them at the ends of the type."""
    info = np.iinfo(typ)
    x = rng.integers(info.min, info.max, n, typ, endpoint=True) >> rng.integers(0, info.bits, n).astype(typ)
    return np.where(rng.random(n) < 0.1, rng.choice(np.array([info.min, info.max, 0, 1], typ), n), x)


def bytes_of(rng: Generator, *shape: int, below: int = 256) -> Array:
    return rng.integers(0, below, shape, u8)


# --- basics.hip ---


@case
def vector_add(rng: Generator) -> Case:
    a, b = rng.random(1003, f32), rng.random(1003, f32)
    return Case(8, 128, [a, b, np.zeros(1053, f32), 1003], {2: np.append(a + b, np.zeros(50, f32))})


@case
def grid_stride(rng: Generator) -> Case:
    y, x = rng.integers(-999, 999, 5000) * 1.0, rng.integers(-999, 999, 5000) * 1.0
    return Case(3, 96, [y, x, f64(2.5), 5000], {0: 2.5 * x + y})


@case
def ids(rng: Generator) -> Case:
    b, z, y, x = np.meshgrid(*(np.arange(k) for k in (12, 3, 7, 5)), indexing="ij")
    out = (x | y << 8 | z << 16 | b << 24).astype(u32).ravel()
    return Case((3, 2, 2), (5, 7, 3), [np.zeros_like(out)], {0: out})


@case
def reverse(rng: Generator) -> Case:
    data, out = np.arange(4000, dtype=u32), np.zeros((100, 40), u32)
    for t in range(100):
        row = np.zeros(40, u32)
        row[(np.arange(40) * 7 + t) % 40] = data[t * 40 : t * 40 + 40]
        out[t] = row[(39 - np.arange(40)) % 40]
    return Case(1, 100, [data, 40], {0: out})


@case
def private_bytes(rng: Generator) -> Case:
    out = np.zeros((70, 8), u8)
    for t in range(70):
        row = np.zeros(64, u8)
        row[(np.arange(64) * 5 + 3) & 63] = (np.arange(64) * 3 + t) & 255
        out[t] = row[t % 7 + 3 : t % 7 + 11]
    return Case(1, 70, [np.zeros_like(out), 3], {0: out})


@case
def alloca_(rng: Generator) -> Case:
    out = np.zeros((3, 70), u32)
    for b in range(3):
        n = 9 + b
        for t in range(70):
            total = 0
            for k in range(n):
                total = total * 3 + (k * 5 + t) % n * t
            out[b, t] = total & 0xFFFFFFFF
    return Case(3, 70, [np.zeros_like(out), 9], {0: out})


@case
def by_value(rng: Generator) -> Case:
    data = np.arange(20, dtype=i32).tobytes() + f32(2.5).tobytes()
    return Case(1, 32, [np.zeros(32, f32), data], {0: (np.arange(32) % 20 * 2.5).astype(f32)})


@case
def many_arguments(rng: Generator) -> Case:
    mixed = struct.pack("<BxHId", 200, 60000, 1 << 30, -0.5)
    total = 250 + 1000 * 1.5 + 2.0**33 + 200 + 60000 + 2.0**30 - 0.5 - 100
    out = total + np.arange(40.0)
    return Case(1, 40, [np.zeros(40), 250, 1000, f32(1.5), 1 << 33, mixed, -100], {0: out})


@case
def vectors(rng: Generator) -> Case:
    x, x3 = (rng.integers(-99, 99, (128, k)).astype(f32) for k in (4, 3))
    y = x[:, ::-1] * 2 + x[np.arange(128) ^ 1]
    return Case(2, 64, [x, np.zeros_like(y), x3, np.zeros_like(x3)], {1: y, 3: x3[:, [2, 0, 1]] + 1})


@case
def unaligned(rng: Generator) -> Case:
    data, out = bytes_of(rng, 700), np.zeros(720, u8)
    for t in range(64):
        a, b, c = (int.from_bytes(data[at : at + k].tobytes(), "little")
                   for at, k in ((t * 9 + 1, 8), (t * 5 + 3, 4), (t * 3 + 1, 2)))  # fmt: skip
        out[t * 11 + 3 : t * 11 + 11] = np.frombuffer((((a * 3 + b) ^ c) % (1 << 64)).to_bytes(8, "little"), u8)
    return Case(1, 64, [data, np.zeros_like(out)], {1: out})


@case
def small_types(rng: Generator) -> Case:
    a, b, c, d = (integers(rng, 256, t) for t in (i8, u8, i16, u16))
    wa, wb, wc, wd = (x.astype(i64) for x in (a, b, c, d))
    out = (wa * 1000003 + wb * 1009 + wc * 31 + wd).astype(i32)
    expected = {4: out, 5: (wa - wb).astype(u8), 6: (wc * wd).astype(u16)}
    return Case(2, 128, [a, b, c, d, *(np.zeros_like(x) for x in expected.values())], expected)


@case
def stencil(rng: Generator) -> Case:
    x = rng.integers(-50, 50, (45, 70)).astype(f32)
    p = np.pad(x, 1)
    out = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x
    return Case((5, 6), (16, 8), [x, np.zeros_like(x), 70, 45], {1: out})


@case
def stencil_3d(rng: Generator) -> Case:
    x = rng.integers(-50, 50, (16, 16, 16)).astype(i32)
    p = np.pad(x, 1)
    out = sum(
        p[1 + dz : 17 + dz, 1 + dy : 17 + dy, 1 + dx : 17 + dx] * (dx * 9 + dy * 3 + dz)
        for dz in (-1, 0, 1) for dy in (-1, 0, 1) for dx in (-1, 0, 1)
    )  # fmt: skip
    return Case((4, 4, 4), (4, 4, 4), [x, np.zeros_like(x), 16], {1: np.asarray(out, i32)})


@case
def convolve(rng: Generator) -> Case:
    x = rng.integers(-99, 99, 300).astype(f32)
    out = np.convolve(x, np.array([1, -2, 3, -4, 5, -4, 3, -2, 1], f32), "same")
    return Case(5, 64, [x, np.zeros_like(x), 300], {1: out})


@case
def life(rng: Generator) -> Case:
    x = bytes_of(rng, 64, 64, below=2)
    s = sum(np.roll(x, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
    return Case((1, 64), 64, [x, np.zeros_like(x), 64], {1: ((s == 3) | (s == 2) & (x == 1)).astype(u8)})


@case
def mandelbrot(rng: Generator) -> Case:
    w, h = 96, 64
    cr, ci = np.meshgrid(np.arange(w) * 3.0 / w - 2, np.arange(h) * 2.0 / h - 1)
    r, i, n = np.zeros_like(cr), np.zeros_like(cr), np.zeros(cr.shape, u32)
    for _ in range(60):
        inside = r * r + i * i <= 4
        n += inside
        r, i = np.where(inside, r * r - i * i + cr, r), np.where(inside, 2 * r * i + ci, i)
    return Case((3, h), 32, [np.zeros_like(n), w, h], {0: n})


# --- control.hip ---


@case
def recursion(rng: Generator) -> Case:
    fib = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    return Case(1, 90, [np.zeros(90, u32)], {0: np.array([fib[t % 12] for t in range(90)], u32)})


@case
def pointers(rng: Generator) -> Case:
    out = np.array([[t + 1000 + t, t * (1000 + t), t ^ (1000 + t)][t % 3] for t in range(80)], u32)
    return Case(1, 80, [np.zeros(80, u32)], {0: out})


@case
def device_variables(rng: Generator) -> Case:
    out = [[t ^ 4, t + 4, t * 4][t % 3] + [3, 1, 4, 1][t & 3] for t in range(80)]
    return Case(1, 80, [np.zeros(80, u32)], {0: np.array(out, u32)})


@case
def collatz(rng: Generator) -> Case:
    def steps(x: int) -> int:
        n = 0
        while x > 1:
            x, n = (3 * x + 1 if x & 1 else x // 2), n + 1
        return n

    x = rng.integers(1, 1 << 20, 256, u32)
    return Case(2, 128, [x, np.zeros_like(x)], {1: np.array([steps(int(k)) for k in x], u32)})


@case
def select(rng: Generator) -> Case:
    x, t = np.array([0, 1, 2, 3, 4, 9], u32), np.arange(64, dtype=u32)
    return Case(6, 64, [x, np.zeros((6, 64), u32)], {1: np.stack([t, t * t, ~t, t << 3, t // 3, t * 0 + 77])})


@case
def interpreter(rng: Generator) -> Case:
    programs = [[0, 1, 2, 0, 3, 9, 9, 9], [0, 0, 3, 1, 4, 9, 9, 9], [1, 0, 4, 0, 3, 0, 2, 9]]
    x = rng.integers(-999, 999, 100).astype(i32)
    results = [lambda v: (v + 1) * v, lambda v: v * v - 11, lambda v: (16 - v) * v + v]
    out = np.array([results[t % 3](int(v)) for t, v in enumerate(x)], i32)
    return Case(1, 100, [np.array(programs, u8), x, np.zeros_like(x)], {2: out})


@case
def generic(rng: Generator) -> Case:
    out = np.array([[12 + t, 12 + t, 9 + t][t % 3] for t in range(64)], u32)
    return Case(1, 64, [np.zeros(64, u32)], {0: out})


@case
def rounds(rng: Generator) -> Case:
    return Case(12, 70, [np.zeros(1, u32), np.zeros(840, u32), 12], {1: np.full(840, 36, u32)})


@case
def early_exit(rng: Generator) -> Case:
    out = np.zeros(256, u32)
    out[:128] = sum(range(128))
    return Case(1, 256, [np.zeros(256, u32)], {0: out})


@case
def quicksort(rng: Generator) -> Case:
    x = rng.integers(-99, 99, (70, 24)).astype(i32)
    return Case(1, 70, [x, 24], {0: np.sort(x, axis=1)})


@case
def edit_distance(rng: Generator) -> Case:
    a, b = bytes_of(rng, 64, 20, below=4), bytes_of(rng, 64, 20, below=4)

    def distance(s: Array, t: Array) -> int:
        row = list(range(21))
        for i in range(20):
            corner, row[0] = row[0], i + 1
            for k in range(20):
                corner, row[k + 1] = row[k + 1], min(corner + int(s[i] != t[k]), row[k + 1] + 1, row[k] + 1)
        return row[20]

    out = np.array([distance(s, t) for s, t in zip(a, b, strict=True)], u32)
    return Case(1, 64, [a, b, np.zeros(64, u32), 20], {2: out})


@case
def clocks(rng: Generator) -> Case:
    return Case(1, 64, [np.zeros(64, u32), 2000], {0: np.full(64, 7, u32)})
