"""Integer arithmetic and bit fields."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import width
from ptx2amd.lower.warp.lanes import count_below
from ptx2amd.ptx.ast import Inst


def sources(fn: FunctionLowering, inst: Inst, names: str = "abc") -> list[Val]:
    """The sources that are present, in order."""
    return [fn.src(inst, name) for name in names if fn.has(inst, name)]


def signed(inst: Inst) -> bool:
    return inst.shape.types[inst.shape.names.index("a")][0] == "s"


def binary(fn: FunctionLowering, op: str, a: Val, b: Val | int) -> Val:
    """`op a, b` in the type of a; b may be a number."""
    return fn.binary(op, a, b if isinstance(b, Val) else fn.const(a.ty, b))


def compare(fn: FunctionLowering, cond: str, a: Val, b: Val | int) -> Val:
    return fn.op("i1", f"icmp {cond} {a.t}, {b if isinstance(b, Val) else fn.const(a.ty, b)}")


def select(fn: FunctionLowering, cond: Val, yes: Val | int, no: Val | int) -> Val:
    """A conditional value; at most one of the two may be a number."""
    ty = yes.ty if isinstance(yes, Val) else no.ty  # type: ignore[union-attr]
    values = [v if isinstance(v, Val) else fn.const(ty, v) for v in (yes, no)]
    return fn.op(ty, f"select {cond.t}, {values[0].t}, {values[1].t}")


def at_most(fn: FunctionLowering, v: Val, limit: int) -> Val:
    return fn.call(f"llvm.umin.{v.ty}", v.ty, v, fn.const(v.ty, limit))


def is_inside(amount: Val, n: int) -> bool:
    """Whether an amount is known to be less than a width."""
    return amount.ref.isdigit() and int(amount.ref) < n


def shift_left(fn: FunctionLowering, a: Val, amount: Val) -> Val:
    """PTX shl: amounts of the width or more give 0."""
    n = width(a.ty)
    if is_inside(amount, n):
        return binary(fn, "shl", a, int(amount.ref))
    inside = compare(fn, "ult", amount, n)
    masked = fn.resize(binary(fn, "and", amount, n - 1), n)
    return select(fn, inside, binary(fn, "shl", a, masked), 0)


def shift_right(fn: FunctionLowering, a: Val, amount: Val, arithmetic: bool) -> Val:
    """PTX shr: amounts of the width or more give 0 or copies of the sign."""
    n = width(a.ty)
    if is_inside(amount, n):
        return binary(fn, "ashr" if arithmetic else "lshr", a, int(amount.ref))
    if arithmetic:
        return binary(fn, "ashr", a, fn.resize(at_most(fn, amount, n - 1), n))
    inside = compare(fn, "ult", amount, n)
    masked = fn.resize(binary(fn, "and", amount, n - 1), n)
    return select(fn, inside, binary(fn, "lshr", a, masked), 0)


def low_mask(fn: FunctionLowering, ty: str, length: Val) -> Val:
    """A value of `ty` whose lowest `length` bits are ones; all from the width on."""
    return binary(fn, "xor", shift_left(fn, fn.const(ty, -1), length), -1)


def wide_product(fn: FunctionLowering, a: Val, b: Val, is_signed: bool) -> Val:
    n = 2 * width(a.ty)
    return binary(fn, "mul", fn.resize(a, n, is_signed), fn.resize(b, n, is_signed))


def high_product(fn: FunctionLowering, a: Val, b: Val, is_signed: bool) -> Val:
    n = width(a.ty)
    return fn.resize(binary(fn, "lshr", wide_product(fn, a, b, is_signed), n), n)


def add_third(fn: FunctionLowering, inst: Inst, v: Val) -> Val:
    """The addition of mad, saturating where the instruction says so."""
    if not fn.has(inst, "c"):
        return v
    c = fn.src(inst, "c")
    if inst.shape.mods.get("sat"):
        return fn.call("llvm.sadd.sat.i32", "i32", v, c)
    return binary(fn, "add", v, c)


@lowers("mad_lo")
def mad_lo(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    fn.put(inst, "d", add_third(fn, inst, binary(fn, "mul", a, b)))


@lowers("mul_hi")
def mul_hi(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    fn.put(inst, "d", add_third(fn, inst, high_product(fn, a, b, signed(inst))))


@lowers("mul_wide")
def mul_wide(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    fn.put(inst, "d", add_third(fn, inst, wide_product(fn, a, b, signed(inst))))


@lowers("mul24")
def mul24(fn: FunctionLowering, inst: Inst) -> None:
    """Products of the low 24 bits: bits 0..31 (lo) or 16..47 (hi) of the 48."""
    shift = "ashr" if signed(inst) else "lshr"
    a, b = (binary(fn, shift, binary(fn, "shl", v, 8), 8) for v in sources(fn, inst, "ab"))
    product = wide_product(fn, a, b, signed(inst))
    if inst.shape.mods.get("part", "hi") == "hi":
        product = binary(fn, "lshr", product, 16)
    fn.put(inst, "d", add_third(fn, inst, fn.resize(product, 32)))


@lowers("sad")
def sad(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    less = compare(fn, "slt" if signed(inst) else "ult", a, b)
    distance = select(fn, less, binary(fn, "sub", b, a), binary(fn, "sub", a, b))
    fn.put(inst, "d", binary(fn, "add", distance, fn.src(inst, "c")))


def quotient(fn: FunctionLowering, a: Val, b: Val, op: str) -> Val:
    """udiv or urem, with the division by zero that LLVM must not see replaced by one by 1."""
    return binary(fn, op, a, fn.call(f"llvm.umax.{a.ty}", a.ty, b, fn.const(a.ty, 1)))


def magnitude(fn: FunctionLowering, a: Val) -> Val:
    """|a| as an unsigned number."""
    return fn.op(a.ty, f"call {a.ty} @llvm.abs.{a.ty}({a.t}, i1 false)")


@lowers("int_div")
def int_div(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    zero = compare(fn, "eq", b, 0)
    if signed(inst):  # through magnitudes: MIN / -1 wraps
        q = quotient(fn, magnitude(fn, a), magnitude(fn, b), "udiv")
        negative = compare(fn, "slt", binary(fn, "xor", a, b), 0)
        q = select(fn, negative, fn.op(q.ty, f"sub {q.ty} 0, {q}"), q)
    else:
        q = quotient(fn, a, b, "udiv")
    fn.put(inst, "d", select(fn, zero, -1, q))


@lowers("int_rem")
def int_rem(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    zero = compare(fn, "eq", b, 0)
    if signed(inst):  # the sign of the dividend
        r = quotient(fn, magnitude(fn, a), magnitude(fn, b), "urem")
        r = select(fn, compare(fn, "slt", a, 0), fn.op(r.ty, f"sub {r.ty} 0, {r}"), r)
    else:
        r = quotient(fn, a, b, "urem")
    fn.put(inst, "d", select(fn, zero, -1, r))


SUFFIX = {"<2 x i16>": "v2i16", "<4 x i8>": "v4i8"}  # of intrinsics on vectors


@lowers("int_minmax")
def int_minmax(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    kind = "s" if signed(inst) else "u"
    v = fn.call(f"llvm.{kind}{inst.shape.form.mnemonic}.{SUFFIX.get(a.ty, a.ty)}", a.ty, a, b)
    if inst.shape.mods.get("relu"):
        v = fn.call(f"llvm.smax.{SUFFIX.get(a.ty, a.ty)}", a.ty, v, fn.const(a.ty, 0))
    fn.put(inst, "d", v)


@lowers("int_saturated")
def int_saturated(fn: FunctionLowering, inst: Inst) -> None:
    """Sums and differences that stay at the type's limits."""
    a, b = sources(fn, inst, "ab")
    kind = "s" if signed(inst) else "u"
    fn.put(inst, "d", fn.call(f"llvm.{kind}{inst.shape.form.mnemonic}.sat.{SUFFIX.get(a.ty, a.ty)}", a.ty, a, b))


@lowers("clmad")
def clmad(fn: FunctionLowering, inst: Inst) -> None:
    """The carry-less product's lower or upper half, and c added so. The upper half is the lower one of the operands
    turned round, turned round, but for a place."""
    a, b, c = sources(fn, inst, "abc")
    if inst.shape.mods["part"] == "lo":
        product = fn.call(fn.helper("ptx2amd_clmul"), "i64", a, b)
    else:
        a, b = (fn.call("llvm.bitreverse.i64", "i64", v) for v in (a, b))
        low = fn.call(fn.helper("ptx2amd_clmul"), "i64", a, b)
        product = binary(fn, "lshr", fn.call("llvm.bitreverse.i64", "i64", low), 1)
    fn.put(inst, "d", binary(fn, "xor", product, c))


@lowers("popc")
def popc(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    mask = below_own_lane(fn, a)
    if mask is not None:
        fn.put(inst, "d", count_below(fn, mask))
        return
    fn.put(inst, "d", fn.resize(fn.call(f"llvm.ctpop.{a.ty}", a.ty, a), 32))


def below_own_lane(fn: FunctionLowering, v: Val) -> Val | None:
    """The x of v = x & %lanemask_lt; None if v is something else."""
    known = fn.binaries.get(v.ref)
    if known is None or known.op != "and":
        return None
    if known.a.ref in fn.below:
        return known.b
    return known.a if known.b.ref in fn.below else None


def leading_zeros(fn: FunctionLowering, a: Val) -> Val:
    """As an i32; the width for 0."""
    return fn.resize(fn.op(a.ty, f"call {a.ty} @llvm.ctlz.{a.ty}({a.t}, i1 false)"), 32)


@lowers("clz")
def clz(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", leading_zeros(fn, fn.src(inst, "a")))


@lowers("bfind")
def bfind(fn: FunctionLowering, inst: Inst) -> None:
    """The position of the highest bit that differs from the sign; all ones when there is none."""
    a = fn.src(inst, "a")
    n = width(a.ty)
    if signed(inst):
        a = binary(fn, "xor", a, binary(fn, "ashr", a, n - 1))
    shift = leading_zeros(fn, a)
    v = shift if inst.shape.mods["shiftamt"] else fn.op("i32", f"sub i32 {n - 1}, {shift}")
    fn.put(inst, "d", select(fn, compare(fn, "eq", a, 0), -1, v))


def nth_set(fn: FunctionLowering, mask: Val, n: Val) -> Val:
    """The position of the n-th (from 0) set bit of an i32, by halving; meaningless when there is none."""
    position = fn.const("i32", 0)
    for step in (16, 8, 4, 2, 1):
        low = binary(fn, "and", binary(fn, "lshr", mask, position), (1 << step) - 1)
        count = fn.call("llvm.ctpop.i32", "i32", low)
        above = compare(fn, "uge", n, count)
        n = select(fn, above, binary(fn, "sub", n, count), n)
        position = select(fn, above, binary(fn, "add", position, step), position)
    return position


@lowers("fns")
def fns(fn: FunctionLowering, inst: Inst) -> None:
    """The c-th set bit of a from position b on: upwards for c > 0, else downwards, in the mirrored mask."""
    mask, base, c = sources(fn, inst)
    down = compare(fn, "slt", c, 0)
    mirrored = fn.call("llvm.bitreverse.i32", "i32", mask)
    m = select(fn, down, mirrored, mask)
    b = select(fn, down, fn.op("i32", f"sub i32 31, {base}"), base)
    m = binary(fn, "and", m, shift_left(fn, fn.const("i32", -1), b))
    m = select(fn, compare(fn, "eq", c, 0), binary(fn, "and", m, shift_left(fn, fn.const("i32", 1), b)), m)
    n = fn.op("i32", f"sub i32 {magnitude(fn, c)}, 1")
    n = fn.call("llvm.smax.i32", "i32", n, fn.const("i32", 0))
    found = nth_set(fn, m, n)
    there = compare(fn, "ugt", fn.call("llvm.ctpop.i32", "i32", m), n)
    there = binary(fn, "and", there, compare(fn, "ult", base, 32))
    v = select(fn, down, fn.op("i32", f"sub i32 31, {found}"), found)
    fn.put(inst, "d", select(fn, there, v, -1))


def of_field(fn: FunctionLowering, v: Val, n: int) -> Val:
    """The position or length of a field in n bits. The manual takes the low 8 bits; NVIDIA's hardware does so for 32
    bits, and takes the whole operand for 64 (tests/hardware)."""
    return v if n == 64 else binary(fn, "and", v, 255)


@lowers("bfe")
def bfe(fn: FunctionLowering, inst: Inst) -> None:
    """Bits b .. b+c-1 of a; beyond the top: zeros or the sign."""
    a, at, length = sources(fn, inst)
    n = width(a.ty)
    at, length = (of_field(fn, v, n) for v in (at, length))
    if not signed(inst):
        fn.put(inst, "d", binary(fn, "and", shift_right(fn, a, at, False), low_mask(fn, a.ty, length)))
        return
    field = shift_right(fn, a, at, True)
    up = fn.op("i32", f"sub i32 {n}, {at_most(fn, length, n)}")
    up = fn.resize(binary(fn, "and", up, n - 1), n)  # length 0 is taken care of below
    field = binary(fn, "ashr", binary(fn, "shl", field, up), up)
    fn.put(inst, "d", select(fn, compare(fn, "eq", length, 0), 0, field))


@lowers("bfi")
def bfi(fn: FunctionLowering, inst: Inst) -> None:
    """b with its bits c .. c+len-1 taken from the low end of a."""
    a, b, at = sources(fn, inst)
    at, length = (of_field(fn, v, width(a.ty)) for v in (at, fn.src(inst, "len")))
    mask = shift_left(fn, low_mask(fn, a.ty, length), at)
    inserted = binary(fn, "and", shift_left(fn, a, at), mask)
    fn.put(inst, "d", binary(fn, "or", binary(fn, "and", b, binary(fn, "xor", mask, -1)), inserted))


@lowers("bmsk")
def bmsk(fn: FunctionLowering, inst: Inst) -> None:
    at, length = sources(fn, inst, "ab")
    if inst.shape.mods["mode"] == "wrap":
        at, length = (binary(fn, "and", v, 31) for v in (at, length))
    fn.put(inst, "d", shift_left(fn, low_mask(fn, "i32", length), at))


@lowers("szext")
def szext(fn: FunctionLowering, inst: Inst) -> None:
    """The low b bits of a, sign- or zero-extended."""
    a, length = sources(fn, inst, "ab")
    if inst.shape.mods["mode"] == "wrap":
        length = binary(fn, "and", length, 31)
    if not signed(inst):
        fn.put(inst, "d", binary(fn, "and", a, low_mask(fn, "i32", length)))
        return
    up = binary(fn, "and", fn.op("i32", f"sub i32 32, {at_most(fn, length, 32)}"), 31)
    v = binary(fn, "ashr", binary(fn, "shl", a, up), up)
    fn.put(inst, "d", select(fn, compare(fn, "eq", length, 0), 0, v))


def field(fn: FunctionLowering, v: Val, at: int, bits: int, is_signed: bool) -> Val:
    """Bits at .. at+bits-1 of an i32, extended."""
    up = 32 - bits
    return binary(fn, "ashr" if is_signed else "lshr", binary(fn, "shl", v, up - at), up)


def _dot4(fn: FunctionLowering, a_signed: bool, b_signed: bool, args: list[Val]) -> Val | None:
    """The chip's own product of four bytes; None where it has none for these signs."""
    arch = fn.target.arch
    a, b, total = (v.t for v in args)
    if not arch.dot:
        return None
    if not a_signed and not b_signed:
        return fn.op("i32", f"call i32 @llvm.amdgcn.udot4({a}, {b}, {total}, i1 false)")
    if arch.major >= 11:
        signs = f"i1 {a_signed}, {a}, i1 {b_signed}, {b}".lower()
        return fn.op("i32", f"call i32 @llvm.amdgcn.sudot4({signs}, {total}, i1 false)")
    if a_signed and b_signed:
        return fn.op("i32", f"call i32 @llvm.amdgcn.sdot4({a}, {b}, {total}, i1 false)")
    return None


@lowers("dot")
def dot(fn: FunctionLowering, inst: Inst) -> None:
    """dp4a: four byte products; dp2a: two 16-bit numbers of a times the low or high two bytes of b."""
    a, b, total = sources(fn, inst)
    mods = inst.shape.mods
    four = inst.shape.form.mnemonic == "dp4a"
    if four and (product := _dot4(fn, mods["at"][0] == "s", mods["bt"][0] == "s", [a, b, total])):
        fn.put(inst, "d", product)
        return
    bits, first = (8, 0) if four else (16, 16 if mods["part"] == "hi" else 0)
    for i in range(4 if four else 2):
        x = field(fn, a, i * bits, bits, mods["at"][0] == "s")
        y = field(fn, b, first + 8 * i, 8, mods["bt"][0] == "s")
        total = binary(fn, "add", total, binary(fn, "mul", x, y))
    fn.put(inst, "d", total)
