"""wmma's fragments, whose layout PTX leaves open: where their elements lie, and the way to and from memory.

Rows and columns are powers of two, so each bit of an element's row and of its column is a bit of the lane's number, of
the element's number in the fragment, or the exclusive or of some of these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.memory import space_of
from ptx2amd.ptx.ast import Inst

BITS = {"f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "b1": 1}
LANE = tuple(1 << bit for bit in range(5))  # bits of the lane's number in its warp
ELEMENT = tuple(32 << bit for bit in range(8))  # bits of the element's number
LANES = 31


class Layout(NamedTuple):
    """Where the elements of a fragment lie. row, column: for each bit, the lowest first, the bits (of LANE and
    ELEMENT) that it is the exclusive or of; a bit of the element stands alone."""

    row: tuple[int, ...]
    column: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The elements that a lane has; further registers of the fragment repeat them."""
        return 1 << len({bit for bit in (*self.row, *self.column) if bit > LANES})


def bits_of(ptype: str) -> int:
    """The size of an element."""
    return BITS.get(ptype) or int(ptype[1:])


def sizes(shape: str) -> tuple[int, int, int]:
    """m, n and k of a shape."""
    m, n, k = (int(number) for number in re.findall(r"\d+", shape))
    return m, n, k


def log2(size: int) -> int:
    return size.bit_length() - 1


def default(part: str, shape: str, ptype: str) -> Layout:
    """The layout of mma's fragments (see matrix.py), tile by tile: a fragment of A is a pile of tiles of 16 rows (8,
    where the matrix has no more), one of B a row of tiles of 8 columns; an accumulator has the tiles of A for each
    tile of B."""
    m, n, k = sizes(shape)
    each = log2(max(1, 32 // bits_of(ptype)))  # elements of a register
    free = iter(ELEMENT)
    within = [next(free) for _ in range(1 if part == "c" else each)]
    group, pair = LANE[2:], LANE[:2]
    if part == "c":
        column = [*within, *pair]
        halves = [next(free)] if m >= 16 else []
        column += [next(free) for _ in range(log2(n) - 3)]
        return Layout((*group, *halves, *(next(free) for _ in range(log2(m) - 4))), tuple(column))
    deep = [*within, *pair]
    line = [*group, next(free)] if part == "a" and m >= 16 else [*group]
    deep += [next(free) for _ in range(log2(k) - len(deep))]
    line += [next(free) for _ in range(log2(m if part == "a" else n) - len(line))]
    return Layout(tuple(line), tuple(deep)) if part == "a" else Layout(tuple(deep), tuple(line))


class Place:
    """Where the elements of a fragment lie in memory. `inner` runs along the lines of the matrix, `line` across."""

    def __init__(self, fn: FunctionLowering, inst: Inst, layout: Layout) -> None:
        mods = inst.shape.mods
        part, row_major = "c" if mods["part"] == "d" else mods["part"], mods["layout"] == "row"
        m, n, k = sizes(mods["shape"])
        lines, length = {"a": (m, k), "b": (k, n), "c": (m, n)}[part]
        self.fn, self.bits, self.elements = fn, bits_of(mods["t"]), layout.elements
        self.line, self.inner = layout if row_major else (layout.column, layout.row)
        default = length if row_major else lines
        stride = fn.src(inst, "b") if fn.has(inst, "b") else fn.const("i64", default)
        self.stride = fn.once(("stride", stride.t, self.bits), lambda: self.scaled(fn.resize(stride, 64)))
        own = fn.once(("lines", self.line, self.inner, self.stride.t, self.bits), self._own)
        base = fn.address(inst, "a", space_of(inst))
        self.rows = {0: self.moved(base, own)}

    def _own(self) -> Val:
        """The bytes from the first element of the matrix to the lane's."""
        fn = self.fn
        own = fn.op("i64", f"mul {fn.resize(self.of_lane(self.line), 64).t}, {self.stride}")
        own = fn.op("i64", f"add {own.t}, {self.scaled(fn.resize(self.of_lane(self.inner), 64))}")
        return fn.op("i64", f"freeze {own.t}")  # keeps InstCombine from adding both parts to each address by themselves

    def scaled(self, count: Val) -> Val:
        """The bytes of so many elements."""
        scale = f"mul {count.t}, {self.bits // 8}" if self.bits >= 8 else f"udiv {count.t}, {8 // self.bits}"
        return self.fn.op("i64", scale)

    def of_lane(self, coordinate: tuple[int, ...]) -> Val:
        """The lane's part of a coordinate."""
        return self.fn.once(("coordinate", coordinate), lambda: self._of_lane(coordinate))

    def _of_lane(self, coordinate: tuple[int, ...]) -> Val:
        fn, lane = self.fn, self.fn.special("%laneid")
        total = fn.const("i32", 0)
        for target, mask in enumerate(coordinate):
            for source in (bit for bit in range(5) if mask >> bit & 1):
                move = target - source
                part = fn.op("i32", f"{'shl' if move > 0 else 'lshr'} {lane.t}, {abs(move)}") if move else lane
                part = fn.op("i32", f"and {part.t}, {1 << target}")
                total = fn.op("i32", f"xor {total.t}, {part}")
        return total

    def moved(self, base: Val, offset: Val) -> Val:
        return self.fn.op(base.ty, f"getelementptr i8, {base.t}, {offset.t}")

    def pointer(self, element: int) -> Val:
        """The address of an element."""
        line, inner = (_of_element(coordinate, element) for coordinate in (self.line, self.inner))
        if line not in self.rows:
            self.rows[line] = self.moved(self.rows[0], self._across(line))
        if not inner:
            return self.rows[line]
        return self.moved(self.rows[line], self.fn.const("i64", inner * self.bits // 8))

    def _across(self, lines: int) -> Val:
        """The bytes of so many lines."""
        key = "across", self.stride.t, lines
        return self.fn.once(key, lambda: self.fn.op("i64", f"mul {self.stride.t}, {lines}"))

    @property
    def side_by_side(self) -> int:
        """How many elements of a lane follow each other in memory, as in the fragment; at most 16 bytes of them."""
        count = 1
        for i, mask in enumerate(self.inner):
            if mask != ELEMENT[i] or count * self.bits >= 128:
                break
            count *= 2
        return min(count, self.elements)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """The elements as memory has them: the first of each piece, and how many. A piece is words, or less than
        one. (A line begins at a multiple of the fragment's size.)"""
        size = self.side_by_side
        for first in range(0, self.elements, size):
            yield first, size


def _of_element(coordinate: tuple[int, ...], element: int) -> int:
    """The part of a coordinate that the element's number makes."""
    return sum(1 << target for target, mask in enumerate(coordinate) if element << 5 & mask)


def load(fn: FunctionLowering, inst: Inst, layout: Layout) -> None:
    """wmma.load of a fragment with a layout."""
    place = Place(fn, inst, layout)
    found: list[Val] = []
    parts: list[Val] = []
    for first, count in place.pieces():
        bits = count * place.bits
        at = place.pointer(first)
        words = max(1, bits // max(place.bits, 32))
        whole = f"i{bits // words}"
        ty = whole if words == 1 else f"<{words} x {whole}>"
        value = fn.op(ty, f"load {ty}, {at.t}, align {bits // 8}")
        if words > 1:
            found += [fn.op(whole, f"extractelement {value.t}, i32 {i}") for i in range(words)]
        elif bits >= 32:
            found.append(value)
        else:
            parts.append(value)
            if len(parts) * bits == 32:
                found.append(fn.pack(parts, "i32"))
                parts = []
    registers = len(fn.items(inst.operands[inst.shape.names.index("d")]))
    fn.put_vec(inst, "d", [found[i % len(found)] for i in range(registers)])


def store(fn: FunctionLowering, inst: Inst, layout: Layout) -> None:
    """wmma.store of a fragment with a layout."""
    place = Place(fn, inst, layout)
    unit = max(place.bits, 32)
    words = [fn.cast(value, f"i{unit}") for value in fn.vec(inst, "c")]
    for first, count in place.pieces():
        bits, at = count * place.bits, place.pointer(first)
        if bits > unit:
            start = first * place.bits // unit
            value = fn.pack(words[start : start + bits // unit], f"<{bits // unit} x i{unit}>")
        else:
            word = words[first * place.bits // unit]
            offset = first * place.bits % unit
            shifted = fn.op(word.ty, f"lshr {word.t}, {offset}") if offset else word
            value = fn.resize(shifted, bits)
        fn.do(f"store {value.t}, {at.t}, align {bits // 8}")
