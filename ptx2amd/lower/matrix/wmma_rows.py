"""wmma on the WMMA instructions of RDNA 3 and 4, which multiply 16 lines with 16 lines, in waves of 32 lanes.

lane % 16 is a line of the second operand, which the results keep: the operand of PTX with 16 or 32 lines *along* the
lanes; 32 lines are two instructions. Of the other operand a line of the results is a register and the lane's half. With
8 lines, a half of these registers is unused. On RDNA 3 each half of the wave has whole lines; on RDNA 4 one half has
the first elements, the other one the rest. Where fragments have no room for that, lanes get what they lack from each
other (`unfolded`)."""

from __future__ import annotations

from typing import NamedTuple

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix.fragment import ELEMENT, LANE, Layout, bits_of, sizes
from ptx2amd.lower.matrix.matrix_unit import Mods
from ptx2amd.lower.matrix.wave32 import RDNA3, RDNA4
from ptx2amd.lower.warp.lanes import mov_dpp
from ptx2amd.lower.warp.shuffle import ROW_XMASK, permlane
from ptx2amd.target.arch import Arch

SHAPES = frozenset(("m16n16k16", "m32n8k16", "m8n32k16"))
HALF = 16  # the bit of the lane's number that tells the halves of a wave
REGISTERS = 8  # of the results


class Rows(NamedTuple):
    """How a shape lies on an instruction's lines. halved: a lane has half a line (RDNA 4)."""

    shape: str
    halved: bool

    @property
    def along(self) -> str:
        """The operand whose lines run along the lanes."""
        return "a" if sizes(self.shape)[0] == 32 else "b"

    def lines(self, part: str) -> int:
        m, n, _ = sizes(self.shape)
        return {"a": m, "b": n}[part]

    @property
    def unused(self) -> int:
        """With 8 lines: the bit of the lane's number that is no part of the line."""
        return 4 if self.halved else 8

    def layout(self, part: str, kind: str) -> Layout:
        """Of a fragment."""
        if part == "c":
            along, other = self._results()
            return Layout(along, other) if self.along == "a" else Layout(other, along)
        line, deep = self._lines(self.lines(part), kind)
        return Layout(line, deep) if part == "a" else Layout(deep, line)

    def _results(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bits of both operands' lines, that along the lanes first."""
        wide = self.lines(self.along) == 32
        registers = ELEMENT[: 2 if wide else 3]
        other = (*registers, HALF) if self.halved else (HALF, *registers)
        return (*LANE[:4], *ELEMENT[2 : 2 + wide]), other

    def _lines(self, lines: int, kind: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bits of the line's number and of the place in it."""
        in_halves = (*ELEMENT[:3], HALF)
        if lines == 32:
            return ((*LANE[:4], ELEMENT[3]), in_halves) if self.halved else (LANE, ELEMENT[:4])
        if kind == "f16":  # its fragments have room for whole lines
            deep = in_halves if self.halved else ELEMENT[:4]
        elif lines == 8:
            deep = (*ELEMENT[:2], self.unused, HALF)
        else:
            deep = in_halves
        return tuple(bit for bit in LANE[:4] if lines == 16 or bit != self.unused), deep

    def missing(self, part: str, kind: str) -> list[int]:
        """The bits of the lane's number over which a fragment is to be unfolded for the instruction."""
        lines = self.lines(part)
        found = [self.unused] if lines == 8 and kind != "f16" else []
        if not self.halved and (lines == 32 or kind != "f16"):
            found.append(HALF)
        return found

    def multiply(self, fn: FunctionLowering, mods: Mods, a: list[Val], b: list[Val], c: list[Val]) -> list[Val]:
        """A B + C of fragments; c and the result as f32 or i32, an element each."""
        kind = mods["at"]
        sources = {part: self.operand(fn, part, kind, words) for part, words in (("a", a), ("b", b))}
        along, [other] = sources.pop(self.along), sources.popitem()[1]
        size = len(c) // len(along)
        found: list[Val] = []
        for i, lines in enumerate(along):
            found += product(fn, self.halved, kind, other, lines, c[i * size : (i + 1) * size])
        return found

    def operand(self, fn: FunctionLowering, part: str, kind: str, words: list[Val]) -> list[list[Val]]:
        """A fragment as instructions take it: the words of 16 (or 8) lines, or of 16 and 16."""
        key = "operand", self, part, kind, tuple(word.t for word in words)
        return fn.once(key, lambda: self._operand(fn, part, kind, words))

    def _operand(self, fn: FunctionLowering, part: str, kind: str, words: list[Val]) -> list[list[Val]]:
        words = [fn.cast(word, "i32") for word in words[: self.layout(part, kind).elements * bits_of(kind) // 32]]
        for bit in self.missing(part, kind):
            words = unfolded(fn, words, bit)
        if self.lines(part) < 32:
            return [words]
        half = len(words) // 2
        return [words[:half], words[half:]]


def native(arch: Arch, shape: str) -> Rows | None:
    """How a shape lies on the chip's instructions; None when they do not do its products."""
    known = {"wmma11", "wmma12"} & arch.matrix
    return Rows(shape, "wmma12" in known) if known and shape in SHAPES else None


def unfolded(fn: FunctionLowering, words: list[Val], bit: int) -> list[Val]:
    """Words of the lanes with a bit of the number clear, then those of the lanes with the bit set, in both."""
    own_bit = fn.op("i32", f"and {fn.special('%laneid').t}, {bit}")
    clear = fn.op("i1", f"icmp eq {own_bit.t}, 0")
    pairs = [(word, across(fn, word, bit)) for word in words]
    low = [fn.op("i32", f"select {clear.t}, {own.t}, {other.t}") for own, other in pairs]
    return low + [fn.op("i32", f"select {clear.t}, {other.t}, {own.t}") for own, other in pairs]


def across(fn: FunctionLowering, word: Val, bit: int) -> Val:
    """A word as the lane has it whose number differs in a bit."""
    if bit == HALF:
        return permlane(fn, "permlanex16", word, range(16))
    return mov_dpp(fn, word, ROW_XMASK | bit)


def product(
    fn: FunctionLowering, halved: bool, kind: str, first: list[Val], second: list[Val], c: list[Val]
) -> list[Val]:
    """One instruction's sums."""
    chosen = (RDNA4 if halved else RDNA3)[kind[1] if kind[0] in "us" else kind]
    scalar = c[0].ty
    ty = f"<{REGISTERS} x {scalar}>"
    total = Val(ty, "zeroinitializer")
    for i, value in enumerate(c):
        total = fn.op(ty, f"insertelement {total.t}, {value.t}, i32 {i}")
    x, y = (fn.cast(fn.pack(words, f"<{len(words)} x i32>"), chosen.source) for words in (first, second))
    operands = f"{x.t}, {y.t}, {total.t}"
    if scalar == "i32":
        sign = str(kind[0] == "s").lower()
        operands = f"i1 {sign}, {x.t}, i1 {sign}, {y.t}, {total.t}, i1 false"
    total = fn.op(ty, f"call {ty} @llvm.amdgcn.{chosen.name}({operands})")
    return [fn.op(scalar, f"extractelement {total.t}, i32 {i}") for i in range(len(c))]
