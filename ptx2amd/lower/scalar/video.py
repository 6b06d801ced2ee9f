"""Video instructions: SIMD ones on bytes or 16-bit lanes, each computed in 32 bits, and scalar ones."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.integer import at_most, binary, compare, field, sources
from ptx2amd.ptx.ast import Inst, Reg


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


def part(inst: Inst, name: str) -> str:
    """What an operand selects: "b0", "h10", or "" for the whole register."""
    operand = inst.operands[inst.shape.names.index(name)]
    return operand.part if isinstance(operand, Reg) else ""


def clamp(fn: FunctionLowering, v: Val, bits: int, is_signed: bool) -> Val:
    """A signed value within the limits of an integer type."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    v = fn.call(f"llvm.smax.{v.ty}", v.ty, v, fn.const(v.ty, low))
    return fn.call(f"llvm.smin.{v.ty}", v.ty, v, fn.const(v.ty, high))


def lane_numbers(fn: FunctionLowering, inst: Inst, name: str, default: str) -> list[int]:
    """The lanes that a SIMD operand selects, lowest first."""
    lanes = int(inst.shape.form.mnemonic[-1])
    selected = part(inst, name) or default
    numbers = [int(c) for c in reversed(selected[1:])]
    if selected[0] != ("h" if lanes == 2 else "b") or (name != "d" and len(numbers) != lanes):
        fn.refuse(inst, f".{selected} is no selector of {lanes} lanes")
    return numbers


@lowers("video_lanes")
def video_lanes(fn: FunctionLowering, inst: Inst) -> None:
    """Lanes side by side (of c where the destination leaves them out), or with .add their sum plus c. The
    lanes of a and b are numbered through, a's first."""
    mods = inst.shape.mods
    name, lanes = inst.shape.form.mnemonic[:-1], int(inst.shape.form.mnemonic[-1])
    a, b, c = sources(fn, inst)
    if inst.shape.opcode == "vabsdiff4.u32.u32.u32.add" and not any(part(inst, n) for n in "dab"):
        fn.put(inst, "d", fn.call("llvm.amdgcn.sad.u8", "i32", a, b, c))
        return
    bits = 32 // lanes
    first, second, all_ = (("h10", "h32", "h10"), ("b3210", "b7654", "b3210"))[lanes == 4]
    mask = lane_numbers(fn, inst, "d", all_)
    of_a, of_b = lane_numbers(fn, inst, "a", first), lane_numbers(fn, inst, "b", second)
    result = c
    if not mods.get("acc"):
        kept = sum((1 << bits) - 1 << i * bits for i in range(lanes) if i not in mask)
        result = binary(fn, "and", c, kept) if kept else fn.const("i32", 0)
    for i in mask:
        x, y = (
            field(fn, (a, b)[n // lanes], n % lanes * bits, bits, mods[of][0] == "s")
            for n, of in ((of_a[i], "at"), (of_b[i], "bt"))
        )
        v = lane(fn, name, mods.get("cmp", ""), x, y)
        if mods.get("sat"):
            v = clamp(fn, v, bits, mods["t"] == "s32")
        if mods.get("acc"):
            result = binary(fn, "add", result, v)
        else:
            v = binary(fn, "shl", binary(fn, "and", v, (1 << bits) - 1), i * bits)
            result = binary(fn, "or", result, v)
    fn.put(inst, "d", result)


def place(fn: FunctionLowering, inst: Inst, name: str) -> tuple[int, int]:
    """Lowest bit and width of what a scalar operand selects."""
    selected = part(inst, name)
    if not selected:
        return 0, 32
    bits = 8 if selected[0] == "b" else 16
    number = int(selected[1:])
    if number * bits >= 32:
        fn.refuse(inst, f".{selected} is no part of a register")
    return number * bits, bits


def operand(fn: FunctionLowering, inst: Inst, name: str, ty: str) -> Val:
    """The selected part of a or b, as an integer of more than 33 bits."""
    is_signed = inst.shape.mods[f"{name}t"][0] == "s"
    v = field(fn, fn.src(inst, name), *place(fn, inst, name), is_signed)
    return fn.resize(v, int(ty[1:]), is_signed)


@lowers("video")
def video(fn: FunctionLowering, inst: Inst) -> None:
    """One exact result, saturated to what the destination selects, then combined with c or merged into it."""
    mods, name = inst.shape.mods, inst.shape.form.mnemonic
    shift = name in ("vshl", "vshr")
    ty = "i128" if shift else "i64"
    x, y = operand(fn, inst, "a", ty), operand(fn, inst, "b", ty)
    match name:
        case "vadd" | "vsub":
            v = binary(fn, name[1:], x, y)
        case "vmin" | "vmax":
            v = fn.call(f"llvm.s{name[1:]}.{ty}", ty, x, y)
        case "vabsdiff":
            v = fn.op(ty, f"call {ty} @llvm.abs.{ty}({binary(fn, 'sub', x, y).t}, i1 false)")
        case "vset":
            equality = mods["cmp"] if mods["cmp"] in ("eq", "ne") else f"s{mods['cmp']}"
            v = fn.resize(compare(fn, equality, x, y), 64)
        case _:
            y = binary(fn, "and", y, 31) if mods["mode"] == "wrap" else at_most(fn, y, 32)
            v = binary(fn, "shl" if name == "vshl" else "ashr", x, y)
    at, bits = place(fn, inst, "d")
    is_signed = mods.get("t", mods["at"]) == "s32"  # vset has no type of its own: NVIDIA's hardware takes a's
    if mods.get("sat"):
        v = clamp(fn, v, bits, is_signed)
    if acc := mods.get("acc"):
        c = fn.resize(fn.src(inst, "c"), int(ty[1:]), is_signed)
        v = binary(fn, "add", v, c) if acc == "add" else fn.call(f"llvm.s{acc}.{ty}", ty, v, c)
    v = fn.resize(v, 32)
    if bits < 32:
        mask = (1 << bits) - 1 << at
        others = binary(fn, "and", fn.src(inst, "c"), ~mask)
        v = binary(fn, "or", binary(fn, "and", binary(fn, "shl", v, at), mask), others)
    fn.put(inst, "d", v)


@lowers("vmad")
def vmad(fn: FunctionLowering, inst: Inst) -> None:
    """a * b + c (+ 1 with .po), shifted right, then cut or saturated to 32 bits. Either the product or c
    may be negated."""
    mods = inst.shape.mods
    minus = {name: getattr(inst.get(name), "negated", False) for name in "abc"}
    minus_product = minus["a"] != minus["b"]
    if minus_product and minus["c"]:
        fn.refuse(inst, "either the product or c can be negated")
    is_signed = "s32" in (mods["at"], mods["bt"]) or minus_product or minus["c"]
    v = binary(fn, "mul", operand(fn, inst, "a", "i128"), operand(fn, inst, "b", "i128"))
    c = fn.src(inst, "c")
    if minus_product:
        v = binary(fn, "sub", fn.const("i128", 0), v)
    if minus["c"]:  # as the manual has it: the bits are turned before they are extended
        c = binary(fn, "xor", c, -1)
    v = binary(fn, "add", v, fn.resize(c, 128, is_signed))
    if mods.get("po") or minus["c"]:
        v = binary(fn, "add", v, 1)
    if mods.get("scale"):
        v = binary(fn, "ashr", v, int(mods["scale"][3:]))
    if mods.get("sat"):
        v = clamp(fn, v, 32, is_signed)
    fn.put(inst, "d", fn.resize(v, 32))
