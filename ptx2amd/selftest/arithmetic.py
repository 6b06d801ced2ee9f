"""Arithmetic: one row per instruction, in all types for which AMD's chips have separate units."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ptx2amd.selftest import floats
from ptx2amd.selftest.case import Comparison, case
from ptx2amd.selftest.gpu import Gpu
from ptx2amd.selftest.rows import Row, run_rows, signed

M32 = (1 << 32) - 1


def choose(condition: bool) -> int:
    return 7 if condition else 9


def bytes_of(value: int, count: int = 4) -> list[int]:
    return list(value.to_bytes(count, "little"))


def leading_zeros(value: int, bits: int) -> int:
    return bits - value.bit_length()


def find(value: int, bits: int, is_signed: bool) -> int:
    """bfind: the position of the highest bit that differs from the sign."""
    if is_signed and value < 0:
        value = ~value
    return value.bit_length() - 1 & M32


def field(value: int, start: int, length: int) -> int:
    start, length = start & 255, length & 255
    return value >> start & (1 << length) - 1 if start < 32 else 0


def permuted(a: int, b: int, selector: int) -> int:
    pool = bytes_of(a) + bytes_of(b)
    found = []
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = pool[nibble & 7]
        found.append((255 if byte >> 7 else 0) if nibble & 8 else byte)
    return int.from_bytes(bytes(found), "little")


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


INTEGERS = (
    Row("add.u32 {d}, {a}, {b};", "I:II", lambda a, b: a + b),
    Row("sub.s32 {d}, {a}, {b};", "i:ii", lambda a, b: a - b),
    Row("add.sat.s32 {d}, {a}, {b};", "i:ii", lambda a, b: max(-(1 << 31), min((1 << 31) - 1, a + b))),
    Row("add.cc.u32 {t}, {a}, {b}; addc.u32 {d}, {a}, 0;", "I:II", lambda a, b: a + (a + b >> 32)),
    Row("sub.cc.u32 {t}, {a}, {b}; subc.u32 {d}, {b}, 0;", "I:II", lambda a, b: b - (a < b)),
    Row("mul.lo.u32 {d}, {a}, {b};", "I:II", lambda a, b: a * b),
    Row("mul.hi.u32 {d}, {a}, {b};", "I:II", lambda a, b: a * b >> 32),
    Row("mul.hi.s32 {d}, {a}, {b};", "i:ii", lambda a, b: a * b >> 32),
    Row("mul24.lo.u32 {d}, {a}, {b};", "I:II", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    Row("mad.lo.s32 {d}, {a}, {b}, {c};", "i:iii", lambda a, b, c: a * b + c),
    Row("mul.wide.s32 {d}, {a}, {b};", "q:ii", lambda a, b: a * b),
    Row("mad.wide.u32 {d}, {a}, {b}, {c};", "Q:IIQ", lambda a, b, c: a * b + c),
    Row("or.b32 {t}, {b}, 1; div.u32 {d}, {a}, {t};", "I:II", lambda a, b: a // (b | 1)),
    Row("or.b32 {t}, {b}, 1; rem.u32 {d}, {a}, {t};", "I:II", lambda a, b: a % (b | 1)),
    Row("and.b32 {t}, {b}, 511; add.u32 {t}, {t}, 1; div.s32 {d}, {a}, {t};", "i:ii",
        lambda a, b: quotient(a, (b & 511) + 1)),
    Row("and.b32 {t}, {b}, 511; add.u32 {t}, {t}, 1; rem.s32 {d}, {a}, {t};", "i:ii",
        lambda a, b: a - quotient(a, (b & 511) + 1) * ((b & 511) + 1)),
    Row("sad.s32 {d}, {a}, {b}, {c};", "i:iii", lambda a, b, c: abs(a - b) + c),
    Row("min.s32 {d}, {a}, {b};", "i:ii", min),
    Row("max.u32 {d}, {a}, {b};", "I:II", max),
    Row("abs.s32 {d}, {a};", "i:i", abs),
    Row("neg.s32 {d}, {a};", "i:i", lambda a: -a),
    Row("dp4a.u32.u32 {d}, {a}, {b}, {c};", "I:III",
        lambda a, b, c: sum(x * y for x, y in zip(bytes_of(a), bytes_of(b), strict=True)) + c),
    Row("dp4a.s32.s32 {d}, {a}, {b}, {c};", "I:III",
        lambda a, b, c: sum(signed(x, 8) * signed(y, 8) for x, y in zip(bytes_of(a), bytes_of(b), strict=True)) + c),
    Row("mul.lo.u16 {d}, {a}, {b};", "H:HH", lambda a, b: a * b),
    Row("sub.s16 {d}, {a}, {b};", "h:hh", lambda a, b: a - b),
    Row("setp.lt.s32 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:ii", lambda a, b: choose(a < b)),
    Row("setp.ls.u32 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:II", lambda a, b: choose(a <= b)),
    Row("set.gt.s32.s32 {d}, {a}, {b};", "i:ii", lambda a, b: -(a > b)),
    Row("slct.u32.s32 {d}, {a}, {b}, {c};", "I:IIi", lambda a, b, c: a if c >= 0 else b),
)  # fmt: skip

BITS = (
    Row("and.b32 {d}, {a}, {b};", "I:II", lambda a, b: a & b),
    Row("xor.b32 {d}, {a}, {b};", "I:II", lambda a, b: a ^ b),
    Row("not.b32 {d}, {a};", "I:I", lambda a: ~a),
    Row("lop3.b32 {d}, {a}, {b}, {c}, 0x96;", "I:III", lambda a, b, c: a ^ b ^ c),
    Row("lop3.b32 {d}, {a}, {b}, {c}, 0xe8;", "I:III", lambda a, b, c: a & b | a & c | b & c),
    Row("shl.b32 {d}, {a}, {b};", "I:II", lambda a, b: a << b if b < 32 else 0),
    Row("shr.u32 {d}, {a}, {b};", "I:II", lambda a, b: a >> min(b, 32)),
    Row("shr.s32 {d}, {a}, {b};", "i:iI", lambda a, b: a >> min(b, 31)),
    Row("shf.l.wrap.b32 {d}, {a}, {b}, {c};", "I:III", lambda a, b, c: (b << 32 | a) << (c & 31) >> 32),
    Row("shf.r.clamp.b32 {d}, {a}, {b}, {c};", "I:III", lambda a, b, c: (b << 32 | a) >> min(c, 32)),
    Row("popc.b32 {d}, {a};", "I:I", lambda a: a.bit_count()),
    Row("clz.b32 {d}, {a};", "I:I", lambda a: leading_zeros(a, 32)),
    Row("bfind.u32 {d}, {a};", "I:I", lambda a: find(a, 32, False)),
    Row("bfind.s32 {d}, {a};", "I:i", lambda a: find(a, 32, True)),
    Row("brev.b32 {d}, {a};", "I:I", lambda a: int(f"{a:032b}"[::-1], 2)),
    Row("bfe.u32 {d}, {a}, {b}, {c};", "I:III", field),
    Row("bfe.s32 {d}, {a}, 5, 9;", "i:i", lambda a: signed(a >> 5, 9)),
    Row("bfi.b32 {d}, {a}, {b}, 5, 9;", "I:II", lambda a, b: b & ~(511 << 5) | (a & 511) << 5),
    Row("prmt.b32 {d}, {a}, {b}, {c};", "I:III", permuted),
    Row("shl.b64 {d}, {a}, {b};", "Q:QI", lambda a, b: a << b if b < 64 else 0),
    Row("popc.b64 {d}, {a};", "I:Q", lambda a: a.bit_count()),
    Row("clz.b64 {d}, {a};", "I:Q", lambda a: leading_zeros(a, 64)),
    Row("brev.b64 {d}, {a};", "Q:Q", lambda a: int(f"{a:064b}"[::-1], 2)),
)  # fmt: skip

WIDE = (
    Row("add.u64 {d}, {a}, {b};", "Q:QQ", lambda a, b: a + b),
    Row("sub.s64 {d}, {a}, {b};", "q:qq", lambda a, b: a - b),
    Row("mul.lo.u64 {d}, {a}, {b};", "Q:QQ", lambda a, b: a * b),
    Row("mul.hi.u64 {d}, {a}, {b};", "Q:QQ", lambda a, b: a * b >> 64),
    Row("mul.hi.s64 {d}, {a}, {b};", "q:qq", lambda a, b: a * b >> 64),
    Row("{{ .reg .b64 %w; or.b64 %w, {b}, 1; div.u64 {d}, {a}, %w; }}", "Q:QQ", lambda a, b: a // (b | 1)),
    Row("{{ .reg .b64 %w; or.b64 %w, {b}, 1; rem.u64 {d}, {a}, %w; }}", "Q:QQ", lambda a, b: a % (b | 1)),
    Row("min.s64 {d}, {a}, {b};", "q:qq", min),
    Row("max.u64 {d}, {a}, {b};", "Q:QQ", max),
    Row("abs.s64 {d}, {a};", "q:q", abs),
    Row("shr.s64 {d}, {a}, {b};", "q:qI", lambda a, b: a >> min(b, 63)),
    Row("setp.lt.s64 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:qq", lambda a, b: choose(a < b)),
)

SINGLE = (
    *(Row(f"add.{mode}.f32 {{d}}, {{a}}, {{b}};", "f:ff", lambda a, b, m=mode: floats.add(a, b, "f", m))
      for mode in ("rn", "rz", "rm", "rp")),
    *(Row(f"mul.{mode}.f32 {{d}}, {{a}}, {{b}};", "f:ff", lambda a, b, m=mode: floats.mul(a, b, "f", m))
      for mode in ("rn", "rz", "rm", "rp")),
    *(Row(f"fma.{mode}.f32 {{d}}, {{a}}, {{b}}, {{c}};", "f:fff", lambda a, b, c, m=mode: floats.fma(a, b, c, "f", m))
      for mode in ("rn", "rz", "rm", "rp")),
    Row("sub.f32 {d}, {a}, {b};", "f:ff", lambda a, b: floats.add(a, -b)),
    Row("div.rn.f32 {d}, {a}, {b};", "f:ff", floats.div),
    Row("sqrt.rn.f32 {d}, {a};", "f:f", floats.sqrt),
    Row("rcp.rn.f32 {d}, {a};", "f:f", lambda a: floats.div(1.0, a)),
    Row("min.f32 {d}, {a}, {b};", "f:ff", floats.least),
    Row("max.f32 {d}, {a}, {b};", "f:ff", floats.most),
    Row("abs.f32 {d}, {a};", "f:f", abs),
    Row("neg.f32 {d}, {a};", "f:f", lambda a: -a),
    Row("copysign.f32 {d}, {a}, {b};", "f:ff", lambda a, b: math.copysign(b, a)),
    Row("setp.lt.f32 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:ff", lambda a, b: choose(a < b)),
    Row("setp.neu.f32 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:ff", lambda a, b: choose(a != b)),
    Row("setp.nan.f32 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:ff",
        lambda a, b: choose(math.isnan(a) or math.isnan(b))),
    Row("testp.subnormal.f32 {p}, {a}; selp.u32 {d}, 7, 9, {p};", "I:f", lambda a: choose(0 < abs(a) < 2.0**-126)),
)  # fmt: skip


APPROXIMATE = (  # for arguments away from the limits; the manual's tolerance, and a little more
    Row("and.b32 {t}, {a}, 0xffff; cvt.rn.f32.u32 {d}, {t}; mul.f32 {d}, {d}, 0f3A800000; sin.approx.f32 {d}, {d};",
        "f:I", lambda a: floats.rounded(math.sin((a & 0xFFFF) / 1024)), 2.0**-17),
    Row("and.b32 {t}, {a}, 0xffff; cvt.rn.f32.u32 {d}, {t}; mul.f32 {d}, {d}, 0f3A800000; cos.approx.f32 {d}, {d};",
        "f:I", lambda a: floats.rounded(math.cos((a & 0xFFFF) / 1024)), 2.0**-17),
    Row("and.b32 {t}, {a}, 0xffff; cvt.rn.f32.u32 {d}, {t}; mul.f32 {d}, {d}, 0f3A800000; ex2.approx.f32 {d}, {d};",
        "f:I", lambda a: floats.rounded(2.0 ** ((a & 0xFFFF) / 1024)), 2.0**-21),
    Row("and.b32 {t}, {a}, 0xffff; add.u32 {t}, {t}, 1; cvt.rn.f32.u32 {d}, {t}; lg2.approx.f32 {d}, {d};",
        "f:I", lambda a: floats.rounded(math.log2((a & 0xFFFF) + 1)), 2.0**-21),
    Row("and.b32 {t}, {a}, 0xffff; add.u32 {t}, {t}, 1; cvt.rn.f32.u32 {d}, {t}; rsqrt.approx.f32 {d}, {d};",
        "f:I", lambda a: floats.rounded(((a & 0xFFFF) + 1) ** -0.5), 2.0**-22),
    Row("and.b32 {t}, {a}, 0xffff; cvt.rn.f32.u32 {d}, {t}; mul.f32 {d}, {d}, 0f3A000000; tanh.approx.f32 {d}, {d};",
        "f:I", lambda a: floats.rounded(math.tanh((a & 0xFFFF) / 2048)), 2.0**-10),
)  # fmt: skip

DOUBLE = (
    *(Row(f"add.{mode}.f64 {{d}}, {{a}}, {{b}};", "d:dd", lambda a, b, m=mode: floats.add(a, b, "d", m))
      for mode in ("rn", "rz", "rm", "rp")),
    *(Row(f"mul.{mode}.f64 {{d}}, {{a}}, {{b}};", "d:dd", lambda a, b, m=mode: floats.mul(a, b, "d", m))
      for mode in ("rn", "rz")),
    *(Row(f"fma.{mode}.f64 {{d}}, {{a}}, {{b}}, {{c}};", "d:ddd", lambda a, b, c, m=mode: floats.fma(a, b, c, "d", m))
      for mode in ("rn", "rp")),
    Row("div.rn.f64 {d}, {a}, {b};", "d:dd", lambda a, b: floats.div(a, b, "d")),
    Row("sqrt.rn.f64 {d}, {a};", "d:d", lambda a: floats.sqrt(a, "d")),
    Row("rcp.rn.f64 {d}, {a};", "d:d", lambda a: floats.div(1.0, a, "d")),
    Row("min.f64 {d}, {a}, {b};", "d:dd", floats.least),
    Row("max.f64 {d}, {a}, {b};", "d:dd", floats.most),
    Row("setp.gt.f64 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:dd", lambda a, b: choose(a > b)),
)  # fmt: skip

HALF = (
    Row("add.f16 {d}, {a}, {b};", "e:ee", lambda a, b: floats.add(a, b, "e")),
    Row("mul.f16 {d}, {a}, {b};", "e:ee", lambda a, b: floats.mul(a, b, "e")),
    Row("fma.rn.f16 {d}, {a}, {b}, {c};", "e:eee", lambda a, b, c: floats.fma(a, b, c, "e")),
    Row("min.f16 {d}, {a}, {b};", "e:ee", floats.least),
    Row("max.f16 {d}, {a}, {b};", "e:ee", floats.most),
    Row("abs.f16 {d}, {a};", "e:e", abs),
    Row("setp.lt.f16 {p}, {a}, {b}; selp.u32 {d}, 7, 9, {p};", "I:ee", lambda a, b: choose(a < b)),
    Row("mov.b32 {t}, {{{a}, {b}}}; mov.b32 {u}, {{{b}, {c}}}; fma.rn.f16x2 {t}, {t}, {u}, {u};"
        " mov.b32 {{_, {d}}}, {t};", "e:eee", lambda a, b, c: floats.fma(b, c, c, "e")),
)  # fmt: skip


@case("arithmetic", "32-bit integers")
def integers(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, INTEGERS)


@case("arithmetic", "bits")
def bits(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, BITS)


@case("arithmetic", "64-bit integers")
def wide(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, WIDE)


@case("arithmetic", "f32, four roundings, denormals")
def single(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, SINGLE)


@case("arithmetic", "f32 approximations")
def approximate(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, APPROXIMATE)


@case("arithmetic", "f64")
def double(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, DOUBLE)


@case("arithmetic", "f16")
def half(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, HALF)
