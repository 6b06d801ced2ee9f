"""Logic, shifts, and byte permutation."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import width
from ptx2amd.lower.scalar.integer import at_most, binary, compare, shift_left, shift_right, sources
from ptx2amd.ptx.ast import Imm, Inst


@lowers("cnot")
def cnot(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    fn.put(inst, "d", fn.resize(compare(fn, "eq", a, 0), width(a.ty)))


def truth_table(fn: FunctionLowering, table: int, inputs: list[Val]) -> Val:
    """The bitwise function of the inputs whose value at (a, b, ...) is bit 4a+2b+... of `table`."""
    ty = "i32"
    if not inputs:
        return fn.const(ty, -(table & 1))
    first, rest = inputs[0], inputs[1:]
    n = 1 << len(rest)
    ones = (1 << n) - 1
    low, high = table & ones, table >> n  # the function where the first input is 0, where it is 1
    if low == high:
        return truth_table(fn, low, rest)
    if low == 0:
        return binary(fn, "and", truth_table(fn, high, rest), first)
    if high == ones:
        return binary(fn, "or", truth_table(fn, low, rest), first)
    if high == 0:
        return binary(fn, "and", truth_table(fn, low, rest), binary(fn, "xor", first, -1))
    if low == ones:
        return binary(fn, "or", truth_table(fn, high, rest), binary(fn, "xor", first, -1))
    if low == high ^ ones:
        return binary(fn, "xor", truth_table(fn, low, rest), first)
    difference = binary(fn, "and", truth_table(fn, low ^ high, rest), first)
    return binary(fn, "xor", truth_table(fn, low, rest), difference)


@lowers("lop3")
def lop3(fn: FunctionLowering, inst: Inst) -> None:
    """The table is indexed by bits of a, b, c; with a predicate, `result != 0` is combined with it."""
    lut = inst.operands[inst.shape.names.index("lut")]
    assert isinstance(lut, Imm)
    v = truth_table(fn, lut.bits & 255, sources(fn, inst))
    if fn.has(inst, "with"):
        other = fn.src(inst, "with")
        fn.put(inst, "p", binary(fn, inst.shape.mods["bool"], compare(fn, "ne", v, 0), other))
    fn.put(inst, "d", v)


@lowers("shf")
def shf(fn: FunctionLowering, inst: Inst) -> None:
    """Funnel shift of b:a. l: the high word of a left shift, r: the low word of a right shift."""
    a, b, amount = sources(fn, inst)
    left = inst.shape.mods["dir"] == "l"
    if inst.shape.mods["mode"] == "wrap":
        fn.put(inst, "d", fn.call(f"llvm.fsh{'l' if left else 'r'}.i32", "i32", b, a, amount))
        return
    both = binary(fn, "or", binary(fn, "shl", fn.resize(b, 64), 32), fn.resize(a, 64))
    count = fn.resize(at_most(fn, amount, 32), 64)
    v = binary(fn, "lshr", binary(fn, "shl", both, count), 32) if left else binary(fn, "lshr", both, count)
    fn.put(inst, "d", fn.resize(v, 32))


@lowers("or")
def or_(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst)
    fn.put(inst, "d", rotated_product(fn, a, b) or rotated_product(fn, b, a) or binary(fn, "or", a, b))


def rotated_product(fn: FunctionLowering, low: Val, high: Val) -> Val | None:
    """x * c rotated by n, which nvcc makes x * c >> 32 - n | x * (c << n) of: a product less."""
    shift, left = fn.binaries.get(low.ref), fn.binaries.get(high.ref)
    right = fn.binaries.get(shift.a.ref) if shift else None
    if not shift or not left or not right or right.a != left.a or left.a.ty != "i32":
        return None
    shifted, factor, rotated = shift.by("lshr"), right.by("mul"), left.by("mul")
    if not shifted or factor is None or rotated is None:
        return None
    product, n = shift.a, 32 - shifted
    if not 0 < n < 32 or (factor << n) % (1 << 32) != rotated:
        return None
    return fn.call("llvm.fshl.i32", "i32", product, product, fn.const("i32", n))


@lowers("shl")
def shl(fn: FunctionLowering, inst: Inst) -> None:
    a, amount = sources(fn, inst, "ab")
    if a.ty == "i16":
        a32 = shift_left(fn, fn.resize(a, 32), amount)
        fn.put(inst, "d", fn.resize(a32, 16))
    else:
        fn.put(inst, "d", shift_left(fn, a, amount))


@lowers("shr")
def shr(fn: FunctionLowering, inst: Inst) -> None:
    a, amount = sources(fn, inst, "ab")
    is_signed = inst.shape.mods["t"][0] == "s"
    n = width(a.ty)
    v = shift_right(fn, fn.resize(a, max(n, 32), is_signed), amount, is_signed)
    fn.put(inst, "d", fn.resize(v, n))


# The modes of prmt: the byte selectors (as in the mode without a name) for c & 3 = 0, 1, 2, 3.
PERMUTE_MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def spread_nibbles(fn: FunctionLowering, v: Val) -> Val:
    """0x0000abcd -> 0x0a0b0c0d; the upper half is dropped."""
    v = binary(fn, "and", v, 0xFFFF)
    v = binary(fn, "and", binary(fn, "or", v, binary(fn, "shl", v, 8)), 0x00FF00FF)
    return binary(fn, "and", binary(fn, "or", v, binary(fn, "shl", v, 4)), 0x0F0F0F0F)


@lowers("prmt")
def prmt(fn: FunctionLowering, inst: Inst) -> None:
    """Each nibble of c picks a byte of b:a; its bit 3 asks for eight copies of that byte's sign instead."""
    a, b, c = sources(fn, inst)
    mode = inst.shape.mods.get("mode")
    constant: int | None = None
    if mode:
        table = fn.const("i64", sum(s << 16 * i for i, s in enumerate(PERMUTE_MODES[mode])))
        at = binary(fn, "shl", fn.resize(binary(fn, "and", c, 3), 64), 4)
        c = fn.resize(binary(fn, "lshr", table, at), 32)
    else:
        operand = inst.operands[inst.shape.names.index("c")]
        constant = operand.bits & 0xFFFF if isinstance(operand, Imm) else None
    if constant is not None:
        selectors = fn.const("i32", sum((constant >> 4 * i & 7) << 8 * i for i in range(4)))
        copies = fn.const("i32", sum(255 << 8 * i for i in range(4) if constant >> 4 * i & 8))
    else:
        spread = spread_nibbles(fn, c)
        selectors = binary(fn, "and", spread, 0x07070707)
        copies = binary(fn, "mul", binary(fn, "lshr", binary(fn, "and", spread, 0x08080808), 3), 255)
    v = fn.call("llvm.amdgcn.perm", "i32", b, a, selectors)
    if not mode and copies.ref != "0":
        signs = binary(fn, "lshr", binary(fn, "and", v, 0x80808080), 7)
        signs = binary(fn, "and", binary(fn, "mul", signs, 255), copies)
        v = binary(fn, "or", binary(fn, "and", v, binary(fn, "xor", copies, -1)), signs)
    fn.put(inst, "d", v)
