"""Conversions: between integers and floats, roundings, narrow floats."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from fractions import Fraction

from ptx2amd.selftest import floats
from ptx2amd.selftest.case import Comparison, case
from ptx2amd.selftest.gpu import Gpu
from ptx2amd.selftest.rows import Row, run_rows, signed


def bf16(value: float) -> int:
    """The bits of a bfloat16."""
    if math.isnan(value):
        return 0x7FFF
    return int(struct.unpack("<I", struct.pack("<f", floats.rounded(value, "bf16")))[0]) >> 16


def e4m3(value: float) -> int:
    """The bits of an e4m3, saturated; 448 is the largest."""
    if math.isnan(value):
        return 0x7F
    sign, size = (0x80 if math.copysign(1, value) < 0 else 0), abs(value)
    step = 2.0 ** (max(math.frexp(size)[1] - 1, -6) - 3) if math.isfinite(size) else 1.0
    size = min(448.0, round(size / step) * step) if math.isfinite(size) else 448.0
    exponent = max(math.frexp(size)[1] - 1, -6) if size else -6
    mantissa = int(size / 2.0 ** (exponent - 3))
    return sign | (mantissa if mantissa < 8 else (exponent + 7 << 3 | mantissa - 8))


CONVERSIONS = (
    *(Row(f"cvt.{mode}.s32.f32 {{d}}, {{a}};", "i:f", lambda a, m=mode: floats.integer(a, 32, True, m))
      for mode in ("rni", "rzi", "rmi", "rpi")),
    Row("cvt.rzi.u32.f32 {d}, {a};", "I:f", lambda a: floats.integer(a, 32, False)),
    Row("cvt.rzi.s32.f64 {d}, {a};", "i:d", lambda a: -(1 << 31) if math.isnan(a) else floats.integer(a, 32, True)),
    *(Row(f"cvt.{mode}.f32.f32 {{d}}, {{a}};", "f:f", lambda a, m=mode: floats.whole(a, m))
      for mode in ("rni", "rzi", "rmi", "rpi")),
    *(Row(f"cvt.{mode}.f32.s32 {{d}}, {{a}};", "f:i", lambda a, m=mode: floats.rounded(float(a), "f", m))
      for mode in ("rn", "rz", "rm", "rp")),
    Row("cvt.rn.f32.u64 {d}, {a};", "f:Q", lambda a: floats.rounded(Fraction(a))),
    Row("cvt.rn.f64.s64 {d}, {a};", "d:q", lambda a: float(a)),
    *(Row(f"cvt.{mode}.f32.f64 {{d}}, {{a}};", "f:d", lambda a, m=mode: floats.rounded(a, "f", m))
      for mode in ("rn", "rz", "rm", "rp")),
    Row("cvt.f64.f32 {d}, {a};", "d:f", lambda a: a),
    Row("cvt.rn.f16.f32 {d}, {a};", "e:f", lambda a: floats.rounded(a, "e")),
    Row("cvt.f32.f16 {d}, {a};", "f:e", lambda a: a),
    Row("cvt.rn.bf16.f32 {d}, {a};", "H:f", bf16),
    Row("cvt.sat.f32.f32 {d}, {a};", "f:f", lambda a: floats.least(floats.most(a, 0.0), 1.0)),
    Row("cvt.s32.s8 {d}, {a};", "i:I", lambda a: signed(a, 8)),
    Row("cvt.u32.u16 {d}, {a};", "I:H", lambda a: a),
    Row("cvt.s64.s32 {d}, {a};", "q:i", lambda a: a),
    Row("cvt.sat.s8.s32 {t}, {a}; cvt.s32.s8 {d}, {t};", "i:i", lambda a: max(-128, min(127, a))),
    Row("cvt.sat.u16.s32 {d}, {a};", "H:i", lambda a: max(0, min(65535, a))),
    Row("cvt.rn.satfinite.e4m3x2.f32 {d}, {a}, {b};", "H:ff", lambda a, b: e4m3(a) << 8 | e4m3(b)),
)  # fmt: skip


@case("conversions", "integers, floats, roundings")
def conversions(gpu: Gpu) -> Iterator[Comparison]:
    return run_rows(gpu, CONVERSIONS)
