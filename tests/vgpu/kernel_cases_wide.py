"""The rest of kernel_cases.py: kernels of numbers.hip, parallel.hip and linear.hip."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from tests.vgpu.kernel_cases import (
    Array,
    Case,
    Generator,
    bytes_of,
    case,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    integers,
    u8,
    u16,
    u32,
    u64,
)  # fmt: skip

# --- numbers.hip ---


def quotients(a: Array, b: Array) -> tuple[Array, Array]:
    """Toward zero, and the remainder, as C has them."""
    q = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    r = [x - y * z for x, y, z in zip(a.tolist(), b.tolist(), q, strict=True)]
    bits = 8 * a.dtype.itemsize
    wrap = np.dtype(f"u{bits // 8}")
    return (np.array([v % (1 << bits) for v in values], wrap).view(a.dtype) for values in (q, r))  # type: ignore[return-value]


@case
def division(rng: Generator) -> Case:
    a, b = integers(rng, 256, i64), integers(rng, 256, i64)
    b[(b == 0) | (b == -1)] = 3
    expected = dict(enumerate((*quotients(a, b), *quotients(a.view(u64), b.view(u64))), 2))
    return Case(2, 128, [a, b, *(np.zeros_like(x) for x in expected.values())], expected)


@case
def division_32(rng: Generator) -> Case:
    a, b = integers(rng, 256, i32), integers(rng, 256, i32)
    b[(b == 0) | (b == -1)] = 3
    expected = dict(enumerate((*quotients(a, b), *quotients(a.view(u32), b.view(u32))), 2))
    return Case(2, 128, [a, b, *(np.zeros_like(x) for x in expected.values())], expected)


@case
def small_division(rng: Generator) -> Case:
    a, b = integers(rng, 256, i16), integers(rng, 256, i16)
    b[b == 0] = 3
    odd = b | 1
    q, r = next(iter(quotients(a, b))), a.view(u16) % b.view(u16)
    q8, r8 = next(iter(quotients(a.astype(i8), odd.astype(i8)))), a.astype(u8) % odd.astype(u8)
    expected = {2: q, 3: r, 4: q8, 5: r8}
    return Case(2, 128, [a, b, *(np.zeros_like(x) for x in expected.values())], expected)


@case
def wide(rng: Generator) -> Case:
    a, b = integers(rng, 256, u64), integers(rng, 256, u64)
    x, y = ([int(v[k + 1]) << 64 | int(v[k]) for k in range(0, 256, 2)] for v in (a, b))

    def words(values: list[int]) -> Array:
        return np.array([v >> s & (1 << 64) - 1 for v in values for s in (0, 64)], u64)

    pairs = list(zip(x, y, strict=True))
    expected = {2: words([p + q for p, q in pairs]), 3: words([p * q for p, q in pairs])}
    return Case(2, 64, [a, b, np.zeros_like(a), np.zeros_like(a)], expected)


def reversed_bits(x: Array, bits: int) -> Array:
    return np.array([int(f"{int(v):0{bits}b}"[::-1], 2) for v in x], x.dtype)


def counts(x: Array, bits: int) -> list[list[int]]:
    """Ones, leading zeros, trailing zeros."""
    texts = [f"{int(v):0{bits}b}" for v in x]
    return [[t.count("1") for t in texts], [bits - len(t.lstrip("0")) for t in texts],
            [bits - len(t.rstrip("0")) for t in texts]]  # fmt: skip


@case
def bits(rng: Generator) -> Case:
    x = integers(rng, 128, u32)
    k, i = x & 31, np.arange(128)
    wide_x = x.astype(u64)
    rotated = (wide_x << k | wide_x >> (32 - k)).astype(u32)
    out = [*counts(x, 32), reversed_bits(x, 32), x.byteswap(), rotated, x >> (x & 15) & 0x3FF,
           ((x << 11).view(i32) >> 20).view(u32), (x & 0xFF00FF00) >> 8 | (x & 0x00FF00FF) << 8,
           x & x[i ^ 1] ^ ~x[i ^ 2]]  # fmt: skip
    return Case(2, 64, [x, np.zeros((10, 128), u32)], {1: np.array(out, u32)})


@case
def bits_64(rng: Generator) -> Case:
    x = integers(rng, 128, u64)
    k = x & 63
    ones, leading, trailing = counts(x, 64)
    packed = [p | q << 8 | r << 16 for p, q, r in zip(ones, leading, trailing, strict=True)]
    rotated = x << k | np.where(k == 0, 0, x >> (64 - k & 63))
    shifted = (x.view(i64) >> k.view(i64)).view(u64)
    out = [packed, reversed_bits(x, 64), rotated, shifted, x * x, x << k | x >> 63]
    return Case(2, 64, [x, np.zeros((6, 128), u64)], {1: np.array(out, u64)})


@case
def byte_swap(rng: Generator) -> Case:
    x = integers(rng, 128, u64)
    return Case(2, 64, [x, np.zeros_like(x)], {1: x.byteswap()})


@case
def saturating(rng: Generator) -> Case:
    a, b = integers(rng, 128, i32), integers(rng, 128, i32)
    x, y, ux, uy = a.astype(i64), b.astype(i64), a.view(u32).astype(i64), b.view(u32).astype(i64)
    signed, unsigned = np.iinfo(i32), np.iinfo(u32)
    out = [np.clip(x + y, signed.min, signed.max), np.clip(x - y, signed.min, signed.max),
           np.clip(ux + uy, 0, unsigned.max), np.clip(ux - uy, 0, unsigned.max), abs(x - y),
           np.clip(np.minimum(x, y), -100, 100)]  # fmt: skip
    return Case(2, 64, [a, b, np.zeros((6, 128), i32)], {2: np.array(out, i64).astype(i32)})


def floats(rng: Generator, n: int, typ: type) -> Array:
    """Of many sizes, whole ones and halves among them, a few infinite or NaN."""
    spread = 4 if typ is f16 else 30
    x = rng.standard_normal(n) * 2.0 ** rng.integers(-spread, spread, n)
    x = np.where(rng.random(n) < 0.3, rng.integers(-9, 9, n) / 2, x)
    return np.where(rng.random(n) < 0.05, rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0], n), x).astype(typ)


def fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c with one rounding, of finite numbers exactly."""
    from tests.reference.valu_floats import fma

    fmt = {f32: "f32", f64: "f64"}[a.dtype.type]
    return np.array([fma(x, y, z, fmt) for x, y, z in zip(a, b, c, strict=True)], a.dtype)


def exact(typ: type, rng: Generator) -> tuple[list[Array], list[Array]]:
    a, b, c = (floats(rng, 256, typ) for _ in range(3))
    return [a, b, c], [a / b, np.sqrt(abs(a)), fused(a, b, c), np.floor(a) + np.trunc(b), np.rint(a) - np.ceil(c)]


@case
def f32_exact(rng: Generator) -> Case:
    (a, b, c), out = exact(f32, rng)
    out += [np.copysign(a, b), np.fmax(a, b) * f32(0.5) + np.fmin(b, c)]
    return Case(2, 128, [a, b, c, np.zeros((7, 256), f32)], {3: np.array(out)})


@case
def f64_exact(rng: Generator) -> Case:
    (a, b, c), out = exact(f64, rng)
    out += [np.fmax(a, b) + np.fmin(b, c), np.ldexp(a, np.arange(256) % 40 - 20)]
    return Case(2, 128, [a, b, c, np.zeros((7, 256))], {3: np.array(out)})


@case
def f16_exact(rng: Generator) -> Case:
    a, b = floats(rng, 256, f16), floats(rng, 256, f16)
    x, y = a.astype(f32), b.astype(f32)
    out = [a + b, a * b, (x / y).astype(f16), (x * 3 + y).astype(f16), np.where(a < b, a, b)]
    return Case(2, 128, [a, b, np.zeros((5, 256), f16)], {2: np.array(out)})


@case
def packed(rng: Generator) -> Case:
    a, b = floats(rng, 512, f16).reshape(256, 2), floats(rng, 512, f16).reshape(256, 2)
    s, other = integers(rng, (256, 2), i16), np.arange(256) ^ 1
    sout = [s * s[other] + s[:, ::-1], s << np.array([3, 5], i16), np.maximum(s, s[other])]
    expected = {2: np.array([a + b[:, ::-1], a * -b]), 4: np.array(sout)}
    return Case(2, 128, [a, b, np.zeros((2, 256, 2), f16), s, np.zeros((3, 256, 2), i16)], expected)


@case
def casts(rng: Generator) -> Case:
    f = ((rng.random(256) - 0.5) * 2.0 ** rng.integers(1, 32, 256)).astype(f32)
    d = (rng.random(256) - 0.5) * 2.0 ** rng.integers(1, 32, 256)
    q, u = integers(rng, 256, i64), integers(rng, 256, u64)
    out = np.array([f.astype(i32), abs(f).astype(u32).view(i32), d.astype(i32)])
    wide_out = np.array([(d * 2.0**30).astype(i64), f.astype(i64), (abs(d) * 2.0**32).astype(u64).view(i64)])
    expected = {4: out, 5: wide_out, 6: np.array([x.astype(f32) for x in (q, u, d)]),
                7: np.array([x.astype(f64) for x in (q, u, f)])}  # fmt: skip
    return Case(2, 128, [f, d, q, u, *(np.zeros_like(x) for x in expected.values())], expected)


@case
def bfloat(rng: Generator) -> Case:
    x = (rng.standard_normal(256) * 2.0 ** rng.integers(-30, 30, 256)).astype(f32)
    x[:3] = [np.inf, 0, 1.00390625]  # the last is a tie
    word = x.view(u32)
    out = (word + 0x7FFF + (word >> 16 & 1) >> 16).astype(u16)
    return Case(2, 128, [x, np.zeros_like(out), np.zeros_like(x)], {1: out, 2: (out.astype(u32) << 16).view(f32) * 2})


@case
def crc32(rng: Generator) -> Case:
    text = bytes_of(rng, 64, 40)
    out = np.array([zlib.crc32(row.tobytes()) for row in text], u32)
    return Case(1, 64, [text, np.zeros(64, u32), 40], {1: out})


@case
def sha256(rng: Generator) -> Case:
    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
    roots = []
    for p in primes:
        low, high = 0, 1 << 40
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**3 <= p << 96 else (low, middle)
        roots.append(low & 0xFFFFFFFF)
    messages = [rng.bytes(int(rng.integers(0, 56))) for _ in range(70)]
    padded = [(m + b"\x80").ljust(56, b"\0") + (8 * len(m)).to_bytes(8, "big") for m in messages]
    out = np.array([np.frombuffer(hashlib.sha256(m).digest(), ">u4") for m in messages]).astype(u32)
    data = np.frombuffer(b"".join(padded), u32)
    return Case(1, 70, [data, np.array(roots, u32), np.zeros_like(out)], {2: out})


@case
def random_walk(rng: Generator) -> Case:
    x = np.tile(np.arange(64, dtype=u32) * u32(747796405) + u32(1), (3, 1))
    carry = np.repeat(np.arange(1, 4, dtype=u32)[:, None], 64, 1)
    for _ in range(100):
        x ^= x << 13
        x ^= x >> 17
        x ^= x << 5
        t = x.astype(u64) * 4294957665 + carry
        x, carry = t.astype(u32), (t >> 32).astype(u32)
    return Case(3, 64, [np.zeros((3, 64), u32), 100], {0: x ^ carry})


# --- parallel.hip ---


@case
def reduce(rng: Generator) -> Case:
    x = integers(rng, 3000, i32)
    out = [x[np.arange(3000) // 256 % 4 == b].sum(dtype=i32) for b in range(4)]
    return Case(4, 256, [x, np.zeros(4, i32), 3000], {1: np.array(out)})


@case
def reduce_last_block(rng: Generator) -> Case:
    x = integers(rng, 3000, u32)
    arguments = [x, np.zeros(7, u32), np.zeros(1, u32), np.zeros(1, u32), 3000]
    return Case(7, 96, arguments, {2: np.array([7], u32), 3: np.array([x.sum(dtype=u32)])})


@case
def wave_sums(rng: Generator) -> Case:
    x = rng.integers(-999, 999, 256).astype(i32)
    out = np.repeat(x.reshape(8, 32).sum(axis=1), 32).astype(i32)
    return Case(2, 128, [x, np.zeros_like(x)], {1: out})


@case
def swizzles(rng: Generator) -> Case:
    x, t = integers(rng, 64, i32), np.arange(64)
    out = [x[t ^ 1], x[t ^ 3], np.where(t % 16, x[t - 1], -1), x[t ^ 15]]
    return Case(1, 64, [x, np.zeros((4, 64), i32)], {1: np.array(out)})


@case
def compact(rng: Generator) -> Case:
    x = rng.integers(0, 1 << 32, 512, u32)
    kept = x[x % 3 == 0]
    out = np.append(kept, np.zeros(512 - len(kept), u32))
    expected = {1: out, 2: np.array([len(kept)], u32)}
    return Case(4, 128, [x, np.zeros(512, u32), np.zeros(1, u32)], expected, unordered={1})


@case
def scan(rng: Generator) -> Case:
    x = integers(rng, 500, u32)
    return Case(1, 512, [x, np.zeros_like(x), 500], {1: np.cumsum(x, dtype=u32)})


@case
def histogram(rng: Generator) -> Case:
    x = rng.integers(0, 1 << 20, 5000, u32)
    return Case(8, 96, [x, np.zeros(64, u32), 5000], {1: np.bincount(x & 63, minlength=64).astype(u32)})


@case
def bitonic_sort(rng: Generator) -> Case:
    x = integers(rng, (3, 256), u32)
    return Case(3, 256, [x], {0: np.sort(x, axis=1)})


@case
def radix_sort(rng: Generator) -> Case:
    x = integers(rng, 200, u32)
    return Case(1, 200, [x, 200], {0: np.sort(x)}, shared=2400)


@case
def transpose(rng: Generator) -> Case:
    x = rng.random((37, 50), f32)
    return Case((4, 3), (16, 16), [x, np.zeros((50, 37), f32), 50, 37], {1: x.T.copy()})


@case
def dynamic_lds(rng: Generator) -> Case:
    x = integers(rng, 5000, u16)
    return Case(1, 256, [x, np.zeros_like(x), 5000], {1: x[::-1].copy()}, shared=10000)


@case
def atomics(rng: Generator) -> Case:
    i = np.arange(640, dtype=u64)
    low = (i ^ 0x155).astype(u32)
    w0 = np.array([0, 0, ~0, 0, ~0, 0, 0], i64).astype(u32)
    products = (i * 2654435761).astype(u32)
    w = [i.sum(), 0xFFFFFFFF, 0xFFF00000, np.bitwise_xor.reduce(products), low.min(), low.max(), (i % 7).sum()]
    high = i << 33 ^ 0x15500000000
    q0 = np.array([0, 0, 0, (1 << 64) - 1, 0, 0, 0], u64)
    mixed = np.bitwise_xor.reduce(i * 0x9E3779B97F4A7C15)
    q = [(i << 30).sum(), (1 << 64) - 1, mixed, high.min(), high.max(), 12345, 640]
    f, d = [(i & 15).sum(), 639 * 0.25], [i.sum() * 0.5, 5.0 - 639]
    s = [-300, 339, -int(i.sum())]
    arguments = [w0, q0, np.zeros(2, f32), np.zeros(2), np.zeros(3, i32), np.zeros(640, u64)]
    types = (u32, u64, f32, f64, i32, u64)
    expected = {k: np.array(v, t) for k, (v, t) in enumerate(zip((w, q, f, d, s, i), types, strict=True))}
    return Case(5, 128, arguments, expected, unordered={5})


@case
def lds_atomics(rng: Generator) -> Case:
    i = np.arange(96, dtype=u64)
    near, sums = i ^ 0x55, int(i.sum())
    products = np.bitwise_xor.reduce((i * 2654435761).astype(u32))
    out = [sums, near.max(), near.min(), products, 0xFFFFFFFF, 77, 0, sums, 0, 95 << 8]
    return Case(2, 96, [np.zeros(10, u32), np.zeros(1, f32)], {0: np.array(out, u32), 1: np.array([144], f32)})


# --- linear.hip ---


def product(rng: Generator, typ: type, result: type) -> Case:
    a, b = (rng.integers(-8, 8, (64, 64)).astype(typ) for _ in range(2))
    return Case((4, 4), (16, 16), [a, b, np.zeros((64, 64), result), 64], {2: a.astype(result) @ b.astype(result)})


@case
def matmul_f32(rng: Generator) -> Case:
    return product(rng, f32, f32)


@case
def matmul_f64(rng: Generator) -> Case:
    return product(rng, f64, f64)


@case
def matmul_f16(rng: Generator) -> Case:
    return product(rng, f16, f32)


@case
def matmul_i8(rng: Generator) -> Case:
    return product(rng, i8, i32)


@case
def matmul_units(rng: Generator) -> Case:
    a, b = (rng.integers(-8, 8, (48, 48)).astype(f16) for _ in range(2))
    out = a.astype(f32) @ b.astype(f32).T
    return Case((3, 3), 1, [a, b, np.zeros_like(out), 48], {2: out}, one_wave=True)


@case
def softmax(rng: Generator) -> Case:
    x = rng.standard_normal((6, 300)).astype(f32) * 3
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return Case(6, 128, [x, np.zeros_like(x), 300], {1: e / e.sum(axis=1, keepdims=True)}, tolerance=2e-6)


@case
def layernorm(rng: Generator) -> Case:
    x, gain = rng.standard_normal((6, 300)).astype(f32), rng.random(300, f32)
    out = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gain
    return Case(6, 64, [x, gain, np.zeros_like(x), 300], {2: out}, tolerance=2e-6)


@case
def attention(rng: Generator) -> Case:
    q, k, v = (rng.standard_normal((64, 32)).astype(f32) for _ in range(3))
    scores = np.where(np.tri(64, dtype=bool), q.astype(f64) @ k.T / np.sqrt(32), -np.inf)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    out = p / p.sum(axis=1, keepdims=True) @ v
    return Case(2, 32, [q, k, v, np.zeros_like(q), 64], {3: out.astype(f32)}, tolerance=3e-6)


@case
def spmv(rng: Generator) -> Case:
    dense = np.where(rng.random((200, 200)) < 0.05, rng.integers(-9, 9, (200, 200)), 0) * 1.0
    rows = np.append(0, np.cumsum((dense != 0).sum(axis=1))).astype(u32)
    columns, values, x = np.nonzero(dense)[1].astype(u32), dense[dense != 0], rng.integers(-9, 9, 200) * 1.0
    return Case(4, 64, [rows, columns, values, x, np.zeros(200), 200], {4: dense @ x})


@case
def bodies(rng: Generator) -> Case:
    p = rng.random((128, 3), f32)
    d = (p[None] - p[:, None]).astype(f64)
    r2 = (d * d).sum(axis=2) + 0.01
    force = (d * (r2**-1.5)[..., None]).sum(axis=1)
    return Case(2, 64, [p, np.zeros_like(p), 128], {1: force.astype(f32)}, tolerance=5e-6)


@case
def fourier(rng: Generator) -> Case:
    x = rng.standard_normal((4, 128, 2)).astype(f32)
    out = np.fft.fft(x[..., 0] + 1j * x[..., 1])
    roots = np.exp(-2j * np.pi * np.arange(64) / 128)
    pairs = np.stack([roots.real, roots.imag], 1).astype(f32)
    return Case(4, 128, [x, pairs], {0: np.stack([out.real, out.imag], 2).astype(f32)}, tolerance=1e-6)


@case
def inverses(rng: Generator) -> Case:
    m = rng.integers(-9, 9, (64, 4, 4)) + 20.0 * np.eye(4)
    return Case(1, 64, [m, np.zeros_like(m)], {1: np.linalg.inv(m)}, tolerance=1e-13)
