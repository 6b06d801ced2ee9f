"""Matrix operations of a warp: on the chip's matrix instructions where they fit (matrix_chip.py), else in software,
where lanes read each other's fragments through shuffles.

All fragments of 8x8 words have one layout. With g = lane / 4 and c = lane % 4, a word of matrix A is row g,
word column c; of matrix B (stored by columns) column g, word c of it; an accumulator is row g, columns 2c and
2c + 1. Taller A come as pairs of registers (rows g and g + 8), longer rows as further ones (word column
c + 4)."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.outline import outlined
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val, width
from ptx2amd.lower.matrix import matrix_chip
from ptx2amd.lower.matrix.dot import accumulator, dot, finish
from ptx2amd.lower.memory.memory import space_of
from ptx2amd.lower.warp.lanes import read_lane, read_quad
from ptx2amd.ptx.ast import Inst

IN_PLACE = 32  # products in software of a function that are not calls: one is some 300 instructions


def position(fn: FunctionLowering) -> tuple[Val, Val]:
    """g and c of the lane."""
    lane = fn.special("%laneid")
    return fn.op("i32", f"lshr {lane.t}, 2"), fn.op("i32", f"and {lane.t}, 3")


def at(fn: FunctionLowering, row: Val, offset: Val) -> Val:
    return fn.op(row.ty, f"getelementptr i8, {row.t}, i32 {offset}")


def row_pointers(fn: FunctionLowering, inst: Inst) -> Val:
    """The address operand to exchange: lane 8i + r has that of row r of matrix i."""
    return fn.address(inst, "a", space_of(inst))


def row_of(fn: FunctionLowering, rows: Val, lane: Val) -> Val:
    """The row pointer that lane `lane` holds."""
    return fn.cast(read_lane(fn, fn.cast(rows, f"i{width(rows.ty)}"), lane), rows.ty)


@lowers("ldmatrix")
def ldmatrix(fn: FunctionLowering, inst: Inst) -> None:
    rows = row_pointers(fn, inst)
    g, c = position(fn)
    count = int(inst.shape.mods["num"][1:])
    parts = []
    for i in range(count):
        if not inst.shape.mods["trans"]:
            row = row_of(fn, rows, fn.op("i32", f"or {g.t}, {8 * i}"))
            word = at(fn, row, fn.op("i32", f"shl {c.t}, 2"))
            parts.append(fn.op("i32", f"load i32, {word.t}, align 4"))
            continue
        halves = []
        for k in range(2):  # rows 2c and 2c + 1, column g
            lane = fn.op("i32", f"or {fn.op('i32', f'shl {c.t}, 1').t}, {8 * i + k}")
            half = at(fn, row_of(fn, rows, lane), fn.op("i32", f"shl {g.t}, 1"))
            halves.append(fn.op("i16", f"load i16, {half.t}, align 2"))
        parts.append(fn.pack(halves, "i32"))
    fn.put_vec(inst, "d", parts)


@lowers("stmatrix")
def stmatrix(fn: FunctionLowering, inst: Inst) -> None:
    rows = row_pointers(fn, inst)
    g, c = position(fn)
    for i, value in enumerate(fn.vec(inst, "b")):
        if not inst.shape.mods["trans"]:
            row = row_of(fn, rows, fn.op("i32", f"or {g.t}, {8 * i}"))
            word = at(fn, row, fn.op("i32", f"shl {c.t}, 2"))
            fn.do(f"store {value.t}, {word.t}, align 4")
            continue
        for k in range(2):
            lane = fn.op("i32", f"or {fn.op('i32', f'shl {c.t}, 1').t}, {8 * i + k}")
            half = at(fn, row_of(fn, rows, lane), fn.op("i32", f"shl {g.t}, 1"))
            part = fn.op("i16", f"trunc {fn.op('i32', f'lshr {value.t}, {16 * k}').t} to i16")
            fn.do(f"store {part.t}, {half.t}, align 2")


@lowers("movmatrix")
def movmatrix(fn: FunctionLowering, inst: Inst) -> None:
    """Transpose: elements (2c, g) and (2c + 1, g) lie in word g / 2 of their rows, in half g % 2."""
    value = fn.src(inst, "a")
    g, c = position(fn)
    shift = fn.op("i32", f"shl {fn.op('i32', f'and {g.t}, 1').t}, 4")
    halves = []
    for k in range(2):
        row = fn.op("i32", f"or {fn.op('i32', f'shl {c.t}, 3').t}, {4 * k}")
        word = read_lane(fn, value, fn.op("i32", f"or {row.t}, {fn.op('i32', f'lshr {g.t}, 1')}"))
        halves.append(fn.op("i16", f"trunc {fn.op('i32', f'lshr {word.t}, {shift}').t} to i16"))
    fn.put(inst, "d", fn.pack(halves, "i32"))


@lowers("mma")
def mma(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    tall = int(mods["shape"][1:].split("n")[0]) // 8
    fn.put_vec(inst, "d", multiply(fn, fn.vec(inst, "a"), fn.vec(inst, "b"), fn.vec(inst, "c"), tall, mods))


def multiply(
    fn: FunctionLowering, a: list[Val], b: list[Val], c: list[Val], tall: int, mods: dict[str, str]
) -> list[Val]:
    """The product of A (8 `tall` rows) and B (8 columns), plus C. Word column by word column, all lanes of a
    row get its word of A, all lanes their two columns' words of B, and each adds the products to its
    accumulators."""
    found = matrix_chip.multiply(fn, a, b, c, tall, mods)
    if found is not None:
        return found
    fn.products += 1
    if fn.products <= IN_PLACE:
        return in_software(fn, a, b, c, tall, mods)

    def make(inner: FunctionLowering, values: list[Val]) -> list[Val]:
        first, second = values[: len(a)], values[len(a) : len(a) + len(b)]
        return in_software(inner, first, second, values[len(a) + len(b) :], tall, mods)

    name = ".".join(["product", str(tall), str(len(b)), *(f"{field}={value}" for field, value in mods.items())])
    return outlined(fn, name, [*a, *b, *c], make)


def in_software(
    fn: FunctionLowering, a: list[Val], b: list[Val], c: list[Val], tall: int, mods: dict[str, str]
) -> list[Val]:
    """The product, word by word."""
    start = accumulator(fn, c, mods)
    column = fn.op("i32", f"shl {position(fn)[1].t}, 3")
    sums = list(start)
    for part, word in enumerate(b):
        for k in range(4):
            words = [read_quad(fn, a[part * tall + r], k) for r in range(tall)]
            columns = [read_lane(fn, word, fn.op("i32", f"or {column.t}, {4 * n + k}")) for n in range(2)]
            for i in range(2 * tall):
                sums[i] = dot(fn, words[i // 2], columns[i % 2], sums[i], mods)
    return finish(fn, sums, start, mods)
