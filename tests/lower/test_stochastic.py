"""Stochastic rounding against exact fractions: a number goes up where its distance from the neighbour below, in
units of the gap, and the random bits as a fraction make 1 or more."""

from __future__ import annotations

import random
import struct
from fractions import Fraction

import pytest

from tests.lower.device import EVERY, program

# exponent bits, mantissa bits, code of the largest number, of NaN; whether larger numbers have a code
FORMATS = {
    "f16": (5, 10, 0x7BFF, 0x7FFF, True),
    "bf16": (8, 7, 0x7F7F, 0x7FFF, True),
    "e4m3": (4, 3, 0x7E, 0x7F, False),
    "e5m2": (5, 2, 0x7B, 0x7F, False),
    "e2m3": (2, 3, 0x1F, 0x1F, False),
    "e3m2": (3, 2, 0x1F, 0x1F, False),
    "e2m1": (2, 1, 7, 7, False),
}


def value(code: int, name: str) -> Fraction:
    """Of a code without sign."""
    exponent_bits, mantissa, *_ = FORMATS[name]
    bias = (1 << exponent_bits - 1) - 1
    exponent, fraction = code >> mantissa, Fraction(code & (1 << mantissa) - 1, 1 << mantissa)
    return (fraction + 1) * Fraction(2) ** (exponent - bias) if exponent else fraction * Fraction(2) ** (1 - bias)


def rounded(bits: int, noise: Fraction, name: str, clamps: bool, relu: bool) -> int:
    exponent_bits, mantissa, largest, nan, beyond = FORMATS[name]
    sign, magnitude = bits >> 31, bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return nan
    if relu and sign:
        return 0
    sign <<= exponent_bits + mantissa
    if magnitude == 0x7F800000:
        return sign | (largest if clamps or not beyond else largest + 1)
    x = Fraction(struct.unpack("<f", struct.pack("<I", magnitude))[0])
    low, high = 0, largest + 1
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle, name) <= x else (low, middle)
    gap = value(low + 1, name) - value(low, name)
    code = low + ((x - value(low, name)) / gap + noise >= 1)
    return sign | min(code, largest if clamps or not beyond else largest + 1)


def noises(r: int, kind: str) -> list[Fraction]:
    """The random parts of the elements, the one in the lowest bits first."""
    if kind == "f16":
        return [Fraction(r & 0x1FFF, 1 << 13), Fraction(r >> 16 & 0x1FFF, 1 << 13)]
    low, high = r & 0xFFFF, r >> 16
    if kind == "bf16":
        return [Fraction(low, 1 << 16), Fraction(high, 1 << 16)]
    if kind == "e2m1":
        b = r.to_bytes(4, "little")
        low, high = b[2] << 8 | b[0], b[3] << 8 | b[1]
    parts = (low, int(f"{low:016b}"[::-1], 2), high, int(f"{high:016b}"[::-1], 2))
    return [Fraction(part, 1 << 16) for part in parts]


def inputs(count: int) -> list[tuple[list[int], int]]:
    """Four f32 each, as bits, and random bits: edges of all formats, and anything."""
    draw, edges = random.Random("rs"), [0, 1, 0x7F800000, 0x7F7FFFFF, 0x7FC00001, 0x7F800001, 0x007FFFFF, 0x00800000]
    for name, (*_, largest, _, _) in FORMATS.items():
        for code in (1, 2, largest - 1, largest, largest + 1):
            [bits] = struct.unpack("<I", struct.pack("<f", min(float(value(code, name)), 3e38)))
            edges += [bits - 1, bits, bits + 1]

    def one() -> int:
        sign = draw.getrandbits(1) << 31
        kind = draw.random()
        if kind < 0.4:
            return sign | draw.choice(edges)
        exponent = draw.randint(95, 150) if kind < 0.9 else draw.randint(0, 255)
        return sign | exponent << 23 | draw.getrandbits(23)

    return [([one() for _ in range(4)], draw.choice((0, 0xFFFFFFFF, draw.getrandbits(32)))) for _ in range(count)]


FORMS = [
    *((f"{relu}{sat}.{t}x2", t, 2) for t in ("f16", "bf16") for relu in ("", ".relu") for sat in ("", ".satfinite")),
    *((f"{relu}.satfinite.{t}x4", t, 4) for t in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1") for relu in ("", ".relu")),
]


@pytest.mark.parametrize("arch", EVERY)
def test_stochastic_rounding(arch: str) -> None:
    threads = 256
    lines = [
        ".version 8.8\n.target sm_103a\n.address_size 64",
        ".visible .entry k(.param .u64 in, .param .u64 out) {",
        ".reg .b64 %in, %out, %at; .reg .b32 %t, %r, %d; .reg .b16 %h; .reg .f32 %f<4>;",
        "mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 32; ld.param.u64 %in, [in]; add.u64 %in, %in, %at;",
        "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%in]; ld.global.u32 %r, [%in+16];",
        "mul.wide.u32 %at, %t, 4; ld.param.u64 %out, [out]; add.u64 %out, %out, %at;",
    ]
    for n, (form, kind, count) in enumerate(FORMS):
        source = "{%f0, %f1, %f2, %f3}" if count == 4 else "%f2, %f3"
        to = "%h" if kind == "e2m1" else "%d"
        lines.append(f"cvt.rs{form}.f32 {to}, {source}, %r;")
        lines += ["cvt.u32.u16 %d, %h;"] * (kind == "e2m1")
        lines.append(f"st.global.u32 [%out+{4 * threads * n}], %d;")
    given = inputs(threads)
    data = b"".join(struct.pack("<5I12x", *floats, r) for floats, r in given)
    text = "\n".join([*lines, "ret; }", ""])
    out = program(text, arch).run("k", threads, [data, 4 * threads * len(FORMS)])[1]
    for n, (form, kind, count) in enumerate(FORMS):
        spacing = {2: 16, 4: 4 if kind == "e2m1" else 8}[count]
        for t, (floats, r) in enumerate(given):
            [got] = struct.unpack_from("<I", out, 4 * (threads * n + t))
            parts = zip(floats[::-1][:count], noises(r, kind), strict=True)
            codes = [rounded(x, noise, kind, "satfinite" in form, "relu" in form) for x, noise in parts]
            want = sum(code << k * spacing for k, code in enumerate(codes))
            assert got == want, (form, [hex(x) for x in floats], hex(r), hex(got), hex(want))
