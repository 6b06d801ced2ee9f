"""wmma: fragments are opaque in PTX, so they get the layout of mma (see matrix.py), tile by tile.

A fragment of A is a pile of tiles of 16 rows (8, where the matrix has no more), one of B a row of tiles of
8 columns; an accumulator has the tiles of A for each tile of B."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ptx2amd.lower.matrix import multiply, position
from ptx2amd.lower.memory import space_of
from ptx2amd.lower.registry import lowers
from ptx2amd.lower.value import Val

if TYPE_CHECKING:
    from ptx2amd.lower.function import FunctionLowering
    from ptx2amd.ptx.ast import Inst

BITS = {"f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "b1": 1}


class Word(NamedTuple):
    """A register of a fragment: its first element is at row `row` + g or c, column `column` + g or c
    (`across`: the lane's c, times `step` elements, runs along the columns)."""

    row: int
    column: int
    across: bool
    step: int


def bits_of(ptype: str) -> int:
    return BITS.get(ptype) or int(ptype[1:])


def sizes(shape: str) -> tuple[int, int, int]:
    m, n, k = (int(number) for number in re.findall(r"\d+", shape))
    return m, n, k


def words(part: str, shape: str, ptype: str) -> Iterator[Word]:
    """The registers of a fragment, in order."""
    m, n, k = sizes(shape)
    each = max(1, 32 // bits_of(ptype))  # elements a register
    if part == "a":
        tall = min(m, 16)
        for tile in range(0, m, tall):
            for first in range(0, k, 4 * each):
                for row in range(tile, tile + tall, 8):
                    yield Word(row, first, True, each)
    elif part == "b":
        for tile in range(0, n, 8):
            for first in range(0, k, 4 * each):
                yield Word(first, tile, False, each)
    else:
        tall = min(m, 16)
        for rows in range(0, m, tall):
            for tile in range(0, n, 8):
                for row in range(rows, rows + tall, 8):
                    for column in range(0, 2, each):
                        yield Word(row, tile + column, True, 2)


class Place:
    """Where the elements of a fragment lie in memory."""

    def __init__(self, fn: FunctionLowering, inst: Inst) -> None:
        mods = inst.shape.mods
        self.fn, self.part = fn, "c" if mods["part"] == "d" else mods["part"]
        self.shape, self.type, self.row_major = mods["shape"], mods["t"], mods["layout"] == "row"
        m, n, k = sizes(self.shape)
        lines, length = {"a": (m, k), "b": (k, n), "c": (m, n)}[self.part]
        self.base = fn.address(inst, "a", space_of(inst))
        default = length if self.row_major else lines
        self.stride = fn.resize(fn.src(inst, "b"), 64) if fn.has(inst, "b") else fn.const("i64", default)
        group, pair = position(fn)
        self.group, self.pair = fn.resize(group, 64), fn.resize(pair, 64)

    def pointer(self, word: Word, extra: int) -> Val:
        """The address of element `extra` of a register."""
        fn = self.fn
        along = fn.op("i64", f"mul {self.pair.t}, {word.step}")
        row = fn.op(
            "i64",
            f"add {(self.group if word.across else along).t}, {word.row + (0 if word.across else extra)}",
        )
        column = fn.op(
            "i64", f"add {(along if word.across else self.group).t}, {word.column + extra * word.across}"
        )
        line, inner = (row, column) if self.row_major else (column, row)
        index = fn.op("i64", f"add {fn.op('i64', f'mul {line.t}, {self.stride}').t}, {inner}")
        bits = bits_of(self.type)
        scale = f"mul {index.t}, {bits // 8}" if bits >= 8 else f"udiv {index.t}, {8 // bits}"
        return fn.op(self.base.ty, f"getelementptr i8, {self.base.t}, i64 {fn.op('i64', scale)}")

    def pieces(self, word: Word) -> Iterator[tuple[Val, int]]:
        """The register's elements in memory: (address, bits), in one piece where they lie side by side."""
        bits = bits_of(self.type)
        each = max(1, 32 // bits)
        if each == 1 or word.across == self.row_major:
            yield self.pointer(word, 0), max(bits, 32)
        else:
            for extra in range(each):
                yield self.pointer(word, extra), bits


@lowers("wmma_load")
def load(fn: FunctionLowering, inst: Inst) -> None:
    place = Place(fn, inst)
    found = []
    for word in words(place.part, place.shape, place.type):
        parts = [fn.op(f"i{n}", f"load i{n}, {at.t}, align {n // 8}") for at, n in place.pieces(word)]
        found.append(fn.pack(parts, "i32") if len(parts) > 1 else parts[0])
    registers = len(fn.items(inst.operands[inst.shape.names.index("d")]))
    found += [found[-1]] * (registers - len(found))  # some PTX fragments have registers to spare
    fn.put_vec(inst, "d", found)


@lowers("wmma_store")
def store(fn: FunctionLowering, inst: Inst) -> None:
    place = Place(fn, inst)
    for word, value in zip(words("c", place.shape, place.type), fn.vec(inst, "c"), strict=True):
        pieces = list(place.pieces(word))
        bits = pieces[0][1]
        whole = fn.cast(value, f"i{max(bits, 32)}")
        for i, (at, n) in enumerate(pieces):
            part = fn.op(whole.ty, f"lshr {whole.t}, {i * n}") if i else whole
            fn.do(f"store {fn.resize(part, n).t}, {at.t}, align {n // 8}")


@lowers("wmma")
def wmma(fn: FunctionLowering, inst: Inst) -> None:
    mods = {"at": "f16", "bt": "f16", **inst.shape.mods}
    m, n, k = sizes(mods["shape"])
    a, b, c = (fn.vec(inst, name) for name in "abc")
    deep = k * bits_of(mods["at"]) // 128 or 1  # registers of a row of A, or of a column of B
    if mods["at"] == "f64":
        deep = 1
    tall = min(m, 16) // 8
    each = 2 * tall // (2 if mods["ct"] == "f16" else 1)  # registers of a tile's accumulators
    found: list[Val] = []
    for row in range(m // (8 * tall)):
        for column in range(n // 8):
            tile = row * (n // 8) + column
            rows = a[row * tall * deep : (row + 1) * tall * deep]
            columns = b[column * deep : (column + 1) * deep]
            found += multiply(fn, rows, columns, c[tile * each : (tile + 1) * each], tall, mods)
    fn.put_vec(inst, "d", found)
