"""SIMD video instructions: bytes or 16-bit lanes, each computed in 32 bits."""

from __future__ import annotations

from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.integer import binary, compare, field, sources
from ptx2amd.lower.registry import lowers
from ptx2amd.ptx.ast import Inst


def lane(fn: FunctionLowering, name: str, cmp: str, x: Val, y: Val) -> Val:
    """One lane's result, not yet cut to the lane's width."""
    match name:
        case "vadd" | "vsub":
            return binary(fn, name[1:], x, y)
        case "vmin" | "vmax":
            return fn.call(f"llvm.s{name[1:]}.i32", "i32", x, y)
        case "vabsdiff":
            difference = binary(fn, "sub", x, y)
            return fn.op("i32", f"call i32 @llvm.abs.i32({difference.t}, i1 false)")
        case "vavrg":  # rounded half up, away from zero for negative sums
            total = binary(fn, "add", x, y)
            positive = compare(fn, "sge", total, 0)
            return binary(fn, "ashr", binary(fn, "add", total, fn.resize(positive, 32)), 1)
    equality = cmp if cmp in ("eq", "ne") else f"s{cmp}"
    return fn.resize(compare(fn, equality, x, y), 32)


@lowers("video_lanes")
def video_lanes(fn: FunctionLowering, inst: Inst) -> None:
    """Lanes side by side, or with .add their sum plus c."""
    mods = inst.shape.mods
    name, lanes = inst.shape.form.mnemonic[:-1], int(inst.shape.form.mnemonic[-1])
    a, b, c = sources(fn, inst)
    if inst.shape.opcode == "vabsdiff4.u32.u32.u32.add":
        fn.put(inst, "d", fn.call("llvm.amdgcn.sad.u8", "i32", a, b, c))
        return
    bits = 32 // lanes
    result = c if mods.get("acc") else fn.const("i32", 0)
    for i in range(lanes):
        x = field(fn, a, i * bits, bits, mods["at"][0] == "s")
        y = field(fn, b, i * bits, bits, mods["bt"][0] == "s")
        v = lane(fn, name, mods.get("cmp", ""), x, y)
        if mods.get("sat"):
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if mods["t"] == "s32" else (0, (1 << bits) - 1)
            v = fn.call("llvm.smax.i32", "i32", v, fn.const("i32", low))
            v = fn.call("llvm.smin.i32", "i32", v, fn.const("i32", high))
        if mods.get("acc"):
            result = binary(fn, "add", result, v)
        else:
            v = binary(fn, "shl", binary(fn, "and", v, (1 << bits) - 1), i * bits)
            result = binary(fn, "or", result, v)
    fn.put(inst, "d", result)
