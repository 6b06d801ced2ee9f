"""Products of matrices with elements of 4, 6 and 8 bits (kind::f8f6f4 and its like): as f16, which holds all of them
exactly; then the sums of a block of K are multiplied by the scales of its row of A and its column of B.

A register has four elements, each in a byte: 6 bits in its low end, an e2m1 in bits 2 to 5. Where both are e2m1
(kind::mxf4) it has eight. The scales of rows g and g + 8 are in two lanes of the quad, which the thread number says,
those of a column in one lane of its quad; the byte number says where in the register they begin."""

from __future__ import annotations

from collections.abc import Callable

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix import sparse
from ptx2amd.lower.matrix.dot import dot
from ptx2amd.lower.matrix.matrix import multiply, position
from ptx2amd.lower.matrix.matrix_unit import OCP, halves_of_bytes, spread
from ptx2amd.lower.warp.lanes import read_lane
from ptx2amd.ptx.ast import Inst

# element -> (shift to the right of its bits in the upper byte of a half, mask of all but the sign, f16 of the factor)
PLACES = {"e3m2": (0, 0x1F00, 0x6C00), "e2m3": (1, 0x0F80, 0x7400), "e2m1": (1, 0x0E00, 0x7400)}
HALVES = {"at": "f16", "bt": "f16"}


def halves(fn: FunctionLowering, word: Val, kind: str) -> list[Val]:
    """Four elements as two pairs of f16."""
    if kind in OCP:
        return halves_of_bytes(fn, word, kind)
    shift, mask, factor = PLACES[kind]
    found = []
    for pairs in spread(fn, word):
        sign = fn.op("i32", f"and {fn.op('i32', f'shl {pairs.t}, 2').t}, {-0x7FFF8000}")
        magnitude = fn.op("i32", f"and {fn.op('i32', f'lshr {pairs.t}, {shift}').t}, {mask << 16 | mask}")
        bits = fn.cast(fn.op("i32", f"or disjoint {magnitude.t}, {sign}"), "<2 x half>")
        found.append(fn.cast(fn.op("<2 x half>", f"fmul {bits.t}, splat (half 0xH{factor:04X})"), "i32"))
    return found


def words_of(fn: FunctionLowering, word: Val, kind: str, packed: bool) -> list[Val]:
    """A register as pairs of f16."""
    if not packed:
        return halves(fn, word, kind)
    low = fn.op("i32", f"and {fn.op('i32', f'shl {word.t}, 2').t}, {0x3C3C3C3C}")
    high = fn.op("i32", f"and {fn.op('i32', f'lshr {word.t}, 2').t}, {0x3C3C3C3C}")
    return [*halves(fn, low, kind), *halves(fn, high, kind)]


def product(
    fn: FunctionLowering, a: list[Val], b: list[Val], c: list[Val], mods: dict[str, str], packed: bool = False
) -> list[Val]:
    """A B + C, for registers of small elements."""
    rows = [[w for word in a[half::2] for w in words_of(fn, word, mods["at"], packed)] for half in range(2)]
    columns = [w for word in b for w in words_of(fn, word, mods["bt"], packed)]
    return multiply(fn, [w for pair in zip(*rows, strict=True) for w in pair], columns, c, 2, {**mods, **HALVES})


@lowers("mma_small")
def mma_small(fn: FunctionLowering, inst: Inst) -> None:
    a, b, c = (fn.vec(inst, name) for name in "abc")
    fn.put_vec(inst, "d", product(fn, a, b, c, inst.shape.mods))


@lowers("mma_scaled")
def mma_scaled(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    a, b = fn.vec(inst, "a"), fn.vec(inst, "b")
    lower = fn.op("i1", f"icmp ult i32 {position(fn)[1]}, 2")

    def block(i: int, count: int, zero: list[Val]) -> list[Val]:
        part = [slice(None)] * 2
        if count > 1:
            at = i * 2 // count
            part = [slice(2 * at, 2 * at + 2), slice(at, at + 1)]
        left, right = a[part[0]], b[part[1]]
        if count == 4:  # the first 16 of a register's 32 K are in lanes 0 and 1 of each quad
            left, right = ([masked(fn, w, lower, i % 2) for w in words] for words in (left, right))
        return product(fn, left, right, zero, mods, is_packed(mods))

    fn.put_vec(inst, "d", sum_of_blocks(fn, inst, block))


@lowers("mma_sparse_scaled")
def mma_sparse_scaled(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    a, b = fn.vec(inst, "a"), fn.vec(inst, "b")

    def term(left: Val, right: Val, total: Val) -> Val:
        pairs = (words_of(fn, word, mods[kind], is_packed(mods)) for word, kind in ((left, "at"), (right, "bt")))
        for x, y in zip(*pairs, strict=True):
            total = dot(fn, x, y, total, HALVES)
        return total

    def block(i: int, count: int, zero: list[Val]) -> list[Val]:
        steps = range(i * 8 // count, (i + 1) * 8 // count)
        return sparse.added(fn, inst, a, b, zero, steps, term)

    fn.put_vec(inst, "d", sum_of_blocks(fn, inst, block))


def is_packed(mods: dict[str, str]) -> bool:
    """Whether a register has eight elements."""
    return mods["kind"] != "kind::mxf8f6f4"


def sum_of_blocks(fn: FunctionLowering, inst: Inst, block: Callable[[int, int, list[Val]], list[Val]]) -> list[Val]:
    """C and the scaled products of all blocks of K. block: its number, how many there are, zeros -> its products."""
    mods, sums = inst.shape.mods, fn.vec(inst, "c")
    count = int(mods["size"][-2]) if mods["size"] else 2 if is_packed(mods) else 1
    rows, columns = scales_of_rows(fn, inst), scales_of_columns(fn, inst)
    zero = [fn.const("float", 0)] * 4
    for i in range(count):
        sums = [
            fn.op("float", f"fadd {total.t}, {scaled(fn, v, mods['st'], rows[k // 2], columns[k % 2], i)}")
            for k, (total, v) in enumerate(zip(sums, block(i, count, zero), strict=True))
        ]
    return sums


def masked(fn: FunctionLowering, word: Val, lower: Val, upper: int) -> Val:
    """A word in the lower or the upper two lanes of each quad, 0 in the others."""
    pair = ("i32 0", word.t) if upper else (word.t, "i32 0")
    return fn.op("i32", f"select {lower.t}, {', '.join(pair)}")


def scales_of_rows(fn: FunctionLowering, inst: Inst) -> list[Val]:
    """The scales of rows g and g + 8 of A, the first in the low byte."""
    byte, thread = (fn.resize(v, 32) for v in fn.vec(inst, "x"))
    first = fn.op("i32", f"shl {position(fn)[0].t}, 2")
    first = fn.op("i32", f"or {first.t}, {fn.op('i32', f'shl {thread.t}, 1')}")
    lanes = [fn.op("i32", f"or {first.t}, {row}") for row in range(2)]
    return _from(fn, fn.vec(inst, "s")[0], lanes, byte)


def scales_of_columns(fn: FunctionLowering, inst: Inst) -> list[Val]:
    """The scales of columns 2c and 2c + 1 of B."""
    byte, thread = (fn.resize(v, 32) for v in fn.vec(inst, "y"))
    first = fn.op("i32", f"or {fn.op('i32', f'shl {position(fn)[1].t}, 3').t}, {thread}")
    lanes = [fn.op("i32", f"or {first.t}, {4 * column}") for column in range(2)]
    return _from(fn, fn.vec(inst, "t")[0], lanes, byte)


def _from(fn: FunctionLowering, word: Val, lanes: list[Val], byte: Val) -> list[Val]:
    shift = fn.op("i32", f"shl {byte.t}, 3")
    return [fn.op("i32", f"lshr {read_lane(fn, word, lane).t}, {shift}") for lane in lanes]


def scaled(fn: FunctionLowering, total: Val, kind: str, row: Val, column: Val, at: int) -> Val:
    """A sum times the scales at byte `at` of two words."""
    left, right = (fn.op("i32", f"and {fn.op('i32', f'lshr {v.t}, {8 * at}').t}, 255") for v in (row, column))
    if kind == "ue4m3":
        words = fn.op("i32", f"or {left.t}, {fn.op('i32', f'shl {right.t}, 8')}")
        pair = fn.cast(halves_of_bytes(fn, fn.op("i32", f"and {words.t}, {0x7F7F}"), "e4m3")[0], "<2 x half>")
        for i in range(2):
            factor = fn.op("half", f"extractelement {pair.t}, i32 {i}")
            total = fn.op("float", f"fmul {total.t}, {fn.op('float', f'fpext {factor.t} to float')}")
        return total
    power = fn.op("i32", f"sub {fn.op('i32', f'add {left.t}, {right}').t}, 254")
    result = fn.call("llvm.ldexp.f32.i32", "float", total, power)
    most = fn.call("llvm.umax.i32", "i32", left, right)
    nan = fn.op("i1", f"icmp eq {most.t}, 255")
    return fn.op("float", f"select {nan.t}, float 0x7FF8000000000000, {result.t}")
