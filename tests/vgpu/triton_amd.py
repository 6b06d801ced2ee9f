"""Kernels that Triton's AMD backend compiles, on the software GPU against numpy: `triton_amd.py ARCH...`.

Runs in an environment that has Triton, with ptx2amd and cffi on the path; prints a line for each kernel. No GPU and no
part of ROCm is needed to compile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ptx2amd import hip

TYPES = {"float32": "fp32", "float16": "fp16", "float64": "fp64", "int32": "i32", "int64": "i64", "int16": "i16",
         "int8": "i8", "uint32": "u32", "uint8": "u8", "uint64": "u64"}  # fmt: skip


@dataclass
class Case:
    """constants: the kernel's last parameters. expected: of its last argument. tolerance: relative to the largest."""

    grid: int | tuple[int, ...]
    arguments: list[object]
    expected: np.ndarray
    constants: dict[str, object] = field(default_factory=dict)
    tolerance: float = 0.0
    warps: int = 4
    types: dict[int, str] = field(default_factory=dict)  # of arguments whose numpy type does not say it


CASES: list[tuple[Callable, Callable]] = []


def case(kernel: Callable) -> Callable:
    return lambda reference: CASES.append((kernel, reference))


def ints(rng, low, high, shape, typ=np.int32):
    return rng.integers(low, high, shape).astype(typ)


@triton.jit
def add(x, y, n, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@case(add)
def _(rng):
    x, y = rng.random(1000, np.float32), rng.random(1000, np.float32)
    return Case(4, [x, y, 1000, np.zeros(1000, np.float32)], x + y, {"B": 256})


@triton.jit
def softmax(x, n, out, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@case(softmax)
def _(rng):
    x = rng.standard_normal((5, 300)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    return Case(5, [x, 300, np.zeros_like(x)], e / e.sum(1, keepdims=True), {"B": 512}, 2e-6)


@triton.jit
def layernorm(x, gain, n, out, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(i < n, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, axis=0) / n + 1e-5)
    tl.store(out + row * n + i, d * scale * tl.load(gain + i, mask=i < n), mask=i < n)


@case(layernorm)
def _(rng):
    x, gain = rng.standard_normal((5, 200)).astype(np.float32), rng.random(200, np.float32)
    want = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gain
    return Case(5, [x, gain, 200, np.zeros_like(x)], want, {"B": 256}, 2e-6)


@triton.jit
def matmul(a, b, n, k, out, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=ACC)
    for start in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (start + ks)[None, :])
        y = tl.load(b + (start + ks)[:, None] * n + columns[None, :])
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(out + rows[:, None] * n + columns[None, :], acc)


def product(typ, result, accumulator, m=64, n=64, k=128, blocks=(32, 32, 32), **options):
    def reference(rng):
        a, b = ints(rng, -4, 5, (m, k)).astype(typ), ints(rng, -4, 5, (k, n)).astype(typ)
        constants = dict(zip(("BM", "BN", "BK"), blocks, strict=True)) | {"ACC": accumulator}
        arguments = [a, b, n, k, np.zeros((m, n), result)]
        want = a.astype(result) @ b.astype(result)
        return Case((m // blocks[0], n // blocks[1]), arguments, want, constants, **options)

    CASES.append((matmul, reference))


product(np.float16, np.float32, tl.float32)
product(np.float16, np.float32, tl.float32, 128, 128, 64, (128, 128, 64), warps=8)
product(np.float16, np.float32, tl.float32, blocks=(16, 16, 16), warps=1)
product(np.float32, np.float32, tl.float32)
product(np.int8, np.int32, tl.int32)
product(np.float64, np.float64, tl.float64, blocks=(16, 16, 16))


@triton.jit
def matmul_small_floats(a, b, n, k, out, B: tl.constexpr, A: tl.constexpr):
    i, ks = tl.arange(0, B), tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, k, B):
        x = tl.load(a + i[:, None] * k + (start + ks)[None, :]).to(A, bitcast=True)
        y = tl.load(b + (start + ks)[:, None] * n + i[None, :]).to(A, bitcast=True)
        acc = tl.dot(x, y, acc)
    tl.store(out + i[:, None] * n + i[None, :], acc)


def small_product(typ, codes):
    """codes: bit patterns of small integers."""

    def reference(rng):
        a, b = ints(rng, 0, len(codes), (32, 64)), ints(rng, 0, len(codes), (64, 32))
        values, bits = np.array(list(codes), np.float32), np.array(list(codes.values()))
        wide = np.int16 if bits.max() > 255 else np.int8
        arguments = [bits[a].astype(wide), bits[b].astype(wide), 32, 64, np.zeros((32, 32), np.float32)]
        return Case(1, arguments, values[a] @ values[b], {"B": 32, "A": typ})

    CASES.append((matmul_small_floats, reference))


small_product(tl.bfloat16, {0: 0, 1: 0x3F80, 2: 0x4000, -3: 0xC040})
small_product(tl.float8e5, {0: 0, 1: 0x3C, 2: 0x40, -3: 0xC2})  # OCP
small_product(tl.float8e4nv, {0: 0, 1: 0x38, 2: 0x40, -3: 0xC4})
small_product(tl.float8e5b16, {0: 0, 1: 0x40, 2: 0x44, -3: 0xC6})  # FNUZ
small_product(tl.float8e4b8, {0: 0, 1: 0x40, 2: 0x48, -3: 0xCC})


@triton.jit
def attention(q, k, v, n, out, B: tl.constexpr, D: tl.constexpr):
    rows, d = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    own = tl.load(q + rows[:, None] * D + d[None, :])
    top = tl.full((B,), -float("inf"), tl.float32)
    weight = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * B, B):
        columns = start + tl.arange(0, B)
        keys = tl.load(k + columns[None, :] * D + d[:, None])
        s = tl.dot(own, keys) * 0.125
        s = tl.where(rows[:, None] >= columns[None, :], s, -float("inf"))
        now = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        keep = tl.exp(top - now)
        weight = weight * keep + tl.sum(p, 1)
        acc = acc * keep[:, None]
        acc = tl.dot(p.to(tl.float16), tl.load(v + columns[:, None] * D + d[None, :]), acc)
        top = now
    tl.store(out + rows[:, None] * D + d[None, :], acc / weight[:, None])


@case(attention)
def _(rng):
    q, k, v = (rng.standard_normal((128, 64)).astype(np.float16) for _ in range(3))
    s = np.where(np.tri(128, dtype=bool), q.astype(np.float64) @ k.astype(np.float64).T / 8, -np.inf)
    p = np.exp(s - s.max(1, keepdims=True))
    want = p / p.sum(1, keepdims=True) @ v
    return Case(4, [q, k, v, 128, np.zeros((128, 64), np.float32)], want, {"B": 32, "D": 64}, 2e-3)


@triton.jit
def reduce_all(x, out, N: tl.constexpr, M: tl.constexpr):
    v = tl.load(x + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :])
    i, j = tl.arange(0, N), tl.arange(0, M)
    tl.store(out + i, tl.sum(v, 1))
    tl.store(out + N + i, tl.max(v, 1))
    tl.store(out + 2 * N + i, tl.argmin(v, 1))
    tl.store(out + 3 * N + j, tl.min(v, 0))
    tl.store(out + 3 * N + M + j, tl.xor_sum(v, 0))
    tl.store(out + 3 * N + 2 * M, tl.sum(tl.sum(v, 0), 0))


@case(reduce_all)
def _(rng):
    x = ints(rng, -1000, 1000, (64, 32))
    parts = [x.sum(1), x.max(1), x.argmin(1), x.min(0), np.bitwise_xor.reduce(x, 0), [x.sum()]]
    want = np.concatenate(parts).astype(np.int32)
    return Case(1, [x, np.zeros_like(want)], want, {"N": 64, "M": 32})


@triton.jit
def scans(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.cumsum(v, 0))
    tl.store(out + N + i, tl.cumsum(v, 0, reverse=True))
    tl.store(out + 2 * N + i, tl.cumprod(v | 1, 0))


@case(scans)
def _(rng):
    x = ints(rng, -1000, 1000, 512)
    with np.errstate(all="ignore"):
        parts = [np.cumsum(x), np.cumsum(x[::-1])[::-1], np.cumprod(x | 1, dtype=np.int32)]
    want = np.concatenate(parts).astype(np.int32)
    return Case(1, [x, np.zeros_like(want)], want, {"N": 512})


@triton.jit
def histogram(x, out, N: tl.constexpr, BINS: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    tl.atomic_add(out + tl.arange(0, BINS), tl.histogram(v, BINS))


@case(histogram)
def _(rng):
    x = ints(rng, 0, 64, 2048)
    return Case(4, [x, np.zeros(64, np.int32)], np.bincount(x, minlength=64).astype(np.int32), {"N": 512, "BINS": 64})


@triton.jit
def sort(x, out, N: tl.constexpr, M: tl.constexpr):
    at = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), 1))


@case(sort)
def _(rng):
    x = ints(rng, -9999, 9999, (8, 64))
    return Case(1, [x, np.zeros_like(x)], np.sort(x, 1), {"N": 8, "M": 64})


@triton.jit
def shapes(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + i[None, :])
    tl.store(out + i[:, None] * N + i[None, :], tl.trans(v))
    tl.store(out + N * N + tl.arange(0, N * N), tl.flip(tl.reshape(v, (N * N,)), 0))
    even, odd = tl.split(tl.reshape(v, (N, N // 2, 2)))
    tl.store(out + 2 * N * N + tl.arange(0, N)[:, None] * N + i[None, :], tl.reshape(tl.join(odd, even), (N, N)))


@case(shapes)
def _(rng):
    x = ints(rng, -9999, 9999, (32, 32))
    pairs = x.reshape(32, 16, 2)[..., ::-1].reshape(32, 32)
    want = np.stack([x.T, x.ravel()[::-1].reshape(32, 32), pairs])
    return Case(1, [x, np.zeros_like(want)], want, {"N": 32})


@triton.jit
def atomics(x, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    one = i * 0
    tl.atomic_add(out + one, v)
    tl.atomic_max(out + one + 1, v)
    tl.atomic_min(out + one + 2, v)
    tl.atomic_or(out + one + 3, v)
    tl.atomic_and(out + one + 4, v)
    tl.atomic_xor(out + one + 5, v)
    tl.atomic_cas(out + 6, 0, 77)
    tl.atomic_xchg(out + 7, 5)


@case(atomics)
def _(rng):
    x = ints(rng, 9, 9999, 1024)  # Triton 3.9 takes signed maxima and minima within a wave of gfx9 for unsigned ones
    folds = [np.bitwise_or, np.bitwise_and, np.bitwise_xor]
    before = np.array([0, 0, 99999, 0, -1, 0, 0, 0], np.int32)
    want = [x.sum(), x.max(), x.min(), *(f.reduce(x, initial=b) for f, b in zip(folds, (0, -1, 0), strict=True)), 77, 5]
    return Case(8, [x, before], np.array(want, np.int32), {"N": 128})


@triton.jit
def float_atomics(x, y, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.atomic_add(out + i % 4, tl.load(x + i))
    tl.atomic_add(y + i % 4, tl.load(x + i).to(tl.float64))


@case(float_atomics)
def _(rng):
    x = ints(rng, -99, 99, 1024).astype(np.float32)
    return Case(8, [x, np.zeros(4), np.zeros(4, np.float32)], x.reshape(-1, 4).sum(0), {"N": 128})


@triton.jit
def wide_integers(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a // b)
    tl.store(out + N + i, a % b)
    tl.store(out + 2 * N + i, a * b)
    tl.store(out + 3 * N + i, (a >> 3) ^ (b << 5))
    tl.store(out + 4 * N + i, tl.umulhi(a.to(tl.uint64), b.to(tl.uint64)).to(tl.int64))


@case(wide_integers)
def _(rng):
    x, y = ints(rng, 1, 1 << 62, 128, np.int64), ints(rng, 1, 1 << 40, 128, np.int64)
    high = [int(a) * int(b) >> 64 for a, b in zip(x, y, strict=True)]
    with np.errstate(all="ignore"):
        want = np.array([x // y, x % y, x * y, (x >> 3) ^ (y << 5), high], np.int64)
    return Case(1, [x, y, np.zeros_like(want)], want, {"N": 128})


@triton.jit
def bytes_and_halves(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, (a * 3 + b.to(tl.int8)).to(tl.int8))
    tl.store(out + N + i, tl.where(a > 0, a, -a))


@case(bytes_and_halves)
def _(rng):
    x, y = ints(rng, -128, 128, 256, np.int8), ints(rng, -9999, 9999, 256, np.int16)
    with np.errstate(all="ignore"):
        want = np.array([x * np.int8(3) + y.astype(np.int8), np.where(x > 0, x, -x)], np.int8)
    return Case(1, [x, y, np.zeros_like(want)], want, {"N": 256})


@triton.jit
def functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp2(v))
    tl.store(out + N + i, tl.log2(tl.abs(v) + 0.5))
    tl.store(out + 2 * N + i, tl.sin(v))
    tl.store(out + 3 * N + i, tl.sqrt_rn(tl.abs(v)))
    tl.store(out + 4 * N + i, tl.erf(v))
    tl.store(out + 5 * N + i, tl.div_rn(v, v + 10))
    tl.store(out + 6 * N + i, tl.floor(v) + tl.ceil(v))
    tl.store(out + 7 * N + i, tl.fma(v, v, 1.0))


@case(functions)
def _(rng):
    import math

    x = rng.standard_normal(256).astype(np.float32)
    erf = np.array([math.erf(float(v)) for v in x])
    parts = [np.exp2(x), np.log2(abs(x) + 0.5), np.sin(x), np.sqrt(abs(x)), erf, x / (x + 10), np.floor(x) + np.ceil(x),
             x * x + 1]  # fmt: skip
    return Case(1, [x, np.zeros((8, 256), np.float32)], np.array(parts, np.float32), {"N": 256}, 1e-6)


@triton.jit
def doubles(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, v / (v * v + 2.0) + tl.sqrt(tl.abs(v)))
    tl.store(out + N + i, tl.sum(v, 0) + v)


@case(doubles)
def _(rng):
    x = ints(rng, -99, 99, 128).astype(np.float64)
    want = np.array([x / (x * x + 2) + np.sqrt(abs(x)), x.sum() + x])
    return Case(1, [x, np.zeros_like(want)], want, {"N": 128}, 1e-15)


@triton.jit
def collatz(x, out, N: tl.constexpr):
    n = tl.load(x + tl.program_id(0)).to(tl.int64)
    steps = 0
    while n > 1:
        n = tl.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    tl.store(out + tl.program_id(0), steps)


@case(collatz)
def _(rng):
    x = np.arange(1, 41, dtype=np.int32)

    def steps(n):
        count = 0
        while n > 1:
            n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
        return count

    return Case(40, [x, np.zeros_like(x)], np.array([steps(int(n)) for n in x], np.int32), {"N": 1})


@triton.jit(noinline=True)
def twice(v):
    return v * 2 + 1


@triton.jit
def calls(x, out, N: tl.constexpr):
    tl.store(out + tl.program_id(0), twice(twice(tl.load(x + tl.program_id(0)))))


@case(calls)
def _(rng):
    x = ints(rng, -9999, 9999, 40)
    return Case(40, [x, np.zeros_like(x)], x * 4 + 3, {"N": 1})


@triton.jit
def gather(x, index, out, N: tl.constexpr, M: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, M)
    at = i[:, None] * M + j[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 1))


@case(gather)
def _(rng):
    x, index = ints(rng, -9999, 9999, (16, 32)), ints(rng, 0, 32, (16, 32))
    return Case(1, [x, index, np.zeros_like(x)], np.take_along_axis(x, index, 1), {"N": 16, "M": 32})


@triton.jit
def random(out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.randint(42, i).to(tl.int32, bitcast=True))


@case(random)
def _(rng):
    def philox(counter):
        c, key = [counter, 0, 0, 0], [42, 0]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ key[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ key[1], a & 0xFFFFFFFF]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        return c[0]

    want = np.array([philox(i) for i in range(256)], np.uint32).view(np.int32)
    return Case(1, [np.zeros(256, np.int32)], want, {"N": 256})


@triton.jit
def last_block(x, counter, parts, out, N: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(parts + pid, tl.sum(tl.load(x + pid * N + tl.arange(0, N)), 0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1) == tl.num_programs(0) - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, 16), volatile=True), 0))


@case(last_block)
def _(rng):
    x = ints(rng, -9999, 9999, 16 * 64)
    arguments = [x, np.zeros(1, np.int32), np.zeros(16, np.int32), np.zeros(1, np.int32)]
    return Case(16, arguments, np.array([x.sum()], np.int32), {"N": 64})


def run(kernel: Callable, case: Case, gpu: hip.Gpu) -> str:
    """What is wrong, "" if nothing is."""
    names, signature = kernel.arg_names, {}
    for k, (name, value) in enumerate(zip(names, case.arguments, strict=False)):
        typ = f"*{TYPES[value.dtype.name]}" if isinstance(value, np.ndarray) else "i32"
        signature[name] = case.types.get(k, typ)
    signature |= dict.fromkeys(case.constants, "constexpr")
    source = ASTSource(fn=kernel, signature=signature, constexprs=case.constants)
    code = triton.compile(source, target=GPUTarget("hip", gpu.arch, gpu.wave), options={"num_warps": case.warps})
    buffers = [gpu.buffer(a) if isinstance(a, np.ndarray) else a for a in case.arguments]
    entry = gpu.load(code.asm["hsaco"]).kernel(code.metadata.name)
    entry.launch(case.grid, case.warps * gpu.wave, [*buffers, 0, 0], shared=code.metadata.shared)
    gpu.synchronize()
    last = case.arguments[-1]
    got = buffers[-1].numpy(last.dtype).reshape(last.shape)
    want = case.expected.astype(last.dtype)
    if case.tolerance:
        worst = np.abs(got - want).max() / np.abs(want).max()
        return "" if worst <= case.tolerance else f"off by {worst:.3g} of the largest"
    wrong = got != want
    return f"{wrong.sum()} of {want.size} differ: {got[wrong][0]}, not {want[wrong][0]}" if wrong.any() else ""


def main() -> int:
    passed = failed = 0
    for arch in sys.argv[1:]:
        gpu = hip.open(f"vgpu:{arch}")
        for kernel, reference in CASES:
            case = reference(np.random.default_rng(3))
            name = " ".join([kernel.__name__, *map(str, case.constants.values())])
            try:
                wrong = run(kernel, case, gpu)
            except hip.HipError as error:
                wrong = str(error)
                gpu.reset()
            except Exception as error:
                if "unsupported" not in str(error).lower() and "not supported" not in str(error).lower():
                    wrong = f"{type(error).__name__}: {str(error)[:300]}"
                else:
                    print(f"skip {arch} {name}: {str(error).splitlines()[0][:150]}", flush=True)
                    continue
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {arch} {name}{': ' + wrong if wrong else ''}", flush=True)
    print(f"{passed} of {passed + failed} kernels agree with numpy")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
