"""Dot products of two words of packed elements, for matrix operations in software."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.scalar import directed
from ptx2amd.lower.scalar.small import from_small

Mods = dict[str, str]
PACKED = {"f16": "<2 x half>", "bf16": "<2 x bfloat>"}


def accumulator(fn: FunctionLowering, c: list[Val], mods: Mods) -> list[Val]:
    """The accumulators as they are summed: f16 pairs as f32 each. Saturating sums are added at the end."""
    if mods["ct"] == "f16":
        pairs = [fn.cast(word, "<2 x half>") for word in c]
        halves = [fn.op("half", f"extractelement {pair.t}, i32 {i}") for pair in pairs for i in range(2)]
        return [fn.op("float", f"fpext {half.t} to float") for half in halves]
    return c


def finish(fn: FunctionLowering, sums: list[Val], start: list[Val], mods: Mods) -> list[Val]:
    """The sums as destination words."""
    if mods.get("sat"):  # the products of a row fit 32 bits: only this addition can overflow
        without = [fn.op("i32", f"sub {s.t}, {c}") for s, c in zip(sums, start, strict=True)]
        return [fn.call("llvm.sadd.sat.i32", "i32", c, w) for c, w in zip(start, without, strict=True)]
    if mods["dt"] == "f16":
        halves = [fn.cast(fn.op("half", f"fptrunc {s.t} to half"), "i16") for s in sums]
        return [fn.pack(halves[i : i + 2], "i32") for i in range(0, len(halves), 2)]
    return sums


def dot(fn: FunctionLowering, a: Val, b: Val, sum_: Val, mods: Mods) -> Val:
    """sum_ + a[0] b[0] + a[1] b[1] + ..., element by element in this order."""
    kind = mods["at"]
    if kind == "f64":
        rnd = mods.get("rnd") or "rn"
        return fma(fn, a, b, sum_) if rnd == "rn" else directed.rounded(fn, "fma", [a, b, sum_], rnd)
    if kind == "b1":
        word = fn.op("i32", f"{mods['op'].split('.')[0]} {a.t}, {b}")
        return fn.op("i32", f"add {sum_.t}, {fn.call('llvm.ctpop.i32', 'i32', word)}")
    if kind[0] in "us":
        for x, y in zip(integers(fn, a, kind), integers(fn, b, mods["bt"]), strict=True):
            sum_ = fn.op("i32", f"add {sum_.t}, {fn.op('i32', f'mul {x.t}, {y}')}")
        return sum_
    for x, y in zip(floats(fn, a, kind), floats(fn, b, mods["bt"]), strict=True):
        sum_ = fma(fn, x, y, sum_)
    return sum_


def fma(fn: FunctionLowering, a: Val, b: Val, c: Val) -> Val:
    return fn.call(f"llvm.fma.{'f64' if a.ty == 'double' else 'f32'}", a.ty, a, b, c)


def integers(fn: FunctionLowering, word: Val, kind: str) -> list[Val]:
    """The 4- or 8-bit elements of a word as i32."""
    bits, shift = int(kind[1:]), "ashr" if kind[0] == "s" else "lshr"
    tops = [fn.op("i32", f"shl {word.t}, {32 - bits - at}") for at in range(0, 32, bits)]
    return [fn.op("i32", f"{shift} {top.t}, {32 - bits}") for top in tops]


def floats(fn: FunctionLowering, word: Val, kind: str) -> list[Val]:
    """The elements of a word as f32."""
    if kind == "tf32":  # the low 13 bits of a tf32 do not count
        return [fn.cast(fn.op("i32", f"and {word.t}, -8192"), "float")]
    if kind in PACKED:
        pair = fn.cast(word, PACKED[kind])
        element = PACKED[kind].split()[-1][:-1]
        parts = [fn.op(element, f"extractelement {pair.t}, i32 {i}") for i in range(2)]
        return [fn.op("float", f"fpext {part.t} to float") for part in parts]
    return [eighth(fn, fn.op("i32", f"lshr {word.t}, {at}"), kind) for at in range(0, 32, 8)]


def shorter(fn: FunctionLowering, word: Val, kind: str) -> Val:
    """The same of elements of 6 bits, in the low end of the byte, and of 4, in its middle."""
    at, mask = (2, 15) if kind == "e2m1" else (0, 63)
    code = fn.op("i32", f"and {fn.op('i32', f'lshr {word.t}, {at}').t}, {mask}")
    return fn.op("float", f"fpext {from_small(fn, code, kind).t} to float")


def eighth(fn: FunctionLowering, word: Val, kind: str) -> Val:
    """The low byte, an e5m2 or e4m3, as f32. An e5m2 is the upper byte of an f16; an e4m3 shifted into the
    place of one is 2**-8 of its value, except for NaN."""
    if kind not in ("e4m3", "e5m2"):
        return shorter(fn, word, kind)
    byte = fn.op("i32", f"and {word.t}, 255")
    if kind == "e5m2":
        bits = fn.op("i16", f"trunc {fn.op('i32', f'shl {byte.t}, 8').t} to i16")
        return fn.op("float", f"fpext {fn.cast(bits, 'half').t} to float")
    magnitude = fn.op("i32", f"and {byte.t}, 127")
    sign = fn.op("i32", f"shl {fn.op('i32', f'and {byte.t}, 128').t}, 8")
    bits = fn.op("i32", f"or {fn.op('i32', f'shl {magnitude.t}, 7').t}, {sign}")
    half = fn.cast(fn.op("i16", f"trunc {bits.t} to i16"), "half")
    scaled = fn.op("float", f"fmul {fn.op('float', f'fpext {half.t} to float').t}, 2.560000e+02")
    nan = fn.op("i1", f"icmp eq {magnitude.t}, 127")
    return fn.op("float", f"select {nan.t}, float 0x7FF8000000000000, {scaled.t}")
