"""wmma on CDNA's MFMA instructions of 4 x 4 results, sixteen in a wave: one for each four lanes.

Such an instruction keeps to the lanes of a warp: a quad of lanes multiplies four lines of one operand, a lane each,
with four lines of the other, which `cbsz` and `abid` take from another quad. So fragments need no exchange of lanes on
the way, and two warps of a wave do their products at once.

Of the shape's two sizes one, m or n, runs along the lanes (32, or 16 in both halves of a warp): the operand with it has
whole lines in its lane. What a quad gives to others are four lines of the other operand, four elements of each: a
*piece*. A quad makes two results (`tile`); with 16 lines along the lanes, each half of the warp has tiles of its own.
Where a fragment has no room for whole lines in both halves, each half has a half of them, and gets the other from the
lane 16 further; it multiplies its own half first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix import flushed
from ptx2amd.lower.matrix.fragment import ELEMENT, LANE, Layout, bits_of, log2, sizes
from ptx2amd.lower.matrix.matrix_unit import Mods, widened
from ptx2amd.lower.warp.whole import enter, leave
from ptx2amd.target import Target
from ptx2amd.target.arch import Arch

SHAPES = frozenset(("m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8"))
OTHER_HALF = 0x401F  # ds_swizzle: the lane 16 further
TILES = 2  # results of a quad
LESS_128 = -0x7F7F7F80  # with exclusive or: 128 less than four unsigned bytes, as signed ones; four times -128


class Instruction(NamedTuple):
    """name: of the intrinsic, after "llvm.amdgcn."; words: 32-bit words of a source; source: its LLVM type; element:
    what the words hold."""

    name: str
    words: int
    source: str
    element: str


F16 = Instruction("mfma.f32.4x4x4f16", 2, "<4 x half>", "f16")
BF16 = Instruction("mfma.f32.4x4x4bf16.1k", 2, "<4 x i16>", "bf16")
BF16_SHORT = Instruction("mfma.f32.4x4x2bf16", 1, "<2 x i16>", "bf16")
F32 = Instruction("mfma.f32.4x4x1f32", 1, "float", "f32")
I8 = Instruction("mfma.i32.4x4x4i8", 1, "i32", "i8")


def instruction(arch: Arch, kind: str) -> Instruction:
    """The instruction for an element type of PTX; that of f16 and bf16 may flush subnormal numbers (`flushes`)."""
    if kind == "tf32":
        return F32
    bf16 = BF16 if "bf16_1k" in arch.matrix else BF16_SHORT
    return {"f16": F16, "bf16": bf16, "s8": I8, "u8": I8}[kind]


class Quads(NamedTuple):
    """How a shape lies on quads."""

    shape: str

    @property
    def along(self) -> str:
        """The operand whose lines run along the lanes."""
        return "b" if sizes(self.shape)[1] == 32 else "a"

    @property
    def lanes(self) -> int:
        """How many of its lines there are: 16 or 32."""
        return max(sizes(self.shape)[:2])

    @property
    def depth(self) -> int:
        return sizes(self.shape)[2]

    def halved(self, kind: str) -> bool:
        """Whether a lane has a half of a line: fragments of f16 have room for a whole one."""
        return self.lanes == 16 and kind != "f16"

    def layout(self, part: str, kind: str) -> Layout:
        """Of a fragment."""
        line, deep = self._lines(part, kind)
        if part == "c":
            return Layout(line, deep) if self.along == "a" else Layout(deep, line)
        return Layout(line, deep) if part == "a" else Layout(deep, line)

    def _lines(self, part: str, kind: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bits of the line's number and of the place in it; of accumulators, of the lines of both operands."""
        own, half = LANE[: log2(self.lanes)], LANE[log2(self.lanes) :]
        if part == "c":
            return own, (*ELEMENT[:3], *half)
        if part == self.along:
            depth = log2(self.depth)
            return own, (*ELEMENT[: depth - 1], half[0]) if self.halved(kind) else ELEMENT[:depth]
        tile, *steps = self._piece()
        if self.halved(kind):
            steps[-1] |= half[0]
        return (*LANE[:2], tile, *half), (*ELEMENT[:2], *steps)

    def _piece(self) -> list[int]:
        """The bits of a piece's number, as bits of the lane and the element: the tile, and steps along the line."""
        count = 1 + log2(self.depth) - 2
        quads = LANE[2 : log2(self.lanes)]
        return [*ELEMENT[2 : 2 + count - len(quads)], *quads][:count]

    def piece(self, tile: int, step: int) -> tuple[int, int]:
        """The quad that has a piece, and the first of its elements there."""
        number = 2 * step + tile
        bits = sum(mask for i, mask in enumerate(self._piece()) if number >> i & 1)
        return (bits & 31) >> 2, bits >> 5

    def multiply(
        self, fn: FunctionLowering, mods: Mods, a: list[Val], b: list[Val], c: list[Val], whole: bool
    ) -> list[Val]:
        """A B + C of fragments; c and the result as f32 or i32, an element each. whole: the other warp of the wave
        may be elsewhere."""
        kind = mods["at"]
        chosen = instruction(fn.target.arch, kind)
        parts = {
            part: [fn.cast(word, "i32") for word in words[: self.layout(part, kind).elements * bits_of(kind) // 32]]
            for part, words in (("a", a), ("b", b))
        }
        own, given = parts.pop(self.along), *parts.values()

        def made(by: Instruction, start: list[Val]) -> list[Val]:
            return self._product(Product(fn, by, kind, log2(self.lanes // 4), whole), own, given, start)

        if not flushes(fn.target, kind):
            return made(chosen, c)
        zeros = [fn.const("float", 0.0)] * len(c)
        return flushed.product(fn, kind, own + given, c, lambda: made(chosen, zeros), lambda: made(F32, c))

    def _product(self, product: Product, own: list[Val], given: list[Val], c: list[Val]) -> list[Val]:
        kind = product.kind
        own_words = product.sources(own, self.halved(kind))
        given_words = product.sources(given)
        per = len(own_words) // (self.depth // 4)  # sources of four elements
        steps = [
            [
                (own_words[per * step + i], given_words[per * first // 4 + i], quad)
                for step in range(self.depth // 4)
                for quad, first in [self.piece(tile, step)]
                for i in range(per)
            ]
            for tile in range(TILES)
        ]
        found: list[Val] = []
        for tile, pairs in enumerate(steps):
            found += product.sum(pairs, c[4 * tile : 4 * tile + 4])
        return found


def flushes(target: Target, kind: str) -> bool:
    """Whether the instruction for a type flushes subnormal numbers, and may not."""
    return kind in ("f16", "bf16") and "flushes" in target.arch.matrix and target.matrix != "fast"


def native(arch: Arch, shape: str) -> Quads | None:
    """How a shape lies on the chip's instructions; None when they do not do its products."""
    return Quads(shape) if "mfma" in arch.matrix and shape in SHAPES else None


class Product:
    """Sums of instructions. shared: log2 of the quads that share what one of them gives."""

    def __init__(self, fn: FunctionLowering, chosen: Instruction, kind: str, shared: int, whole: bool) -> None:
        self.fn, self.chosen, self.kind, self.shared, self.whole = fn, chosen, kind, shared, whole
        self.ty = "<4 x i32>" if chosen.element == "i8" else "<4 x float>"

    def sources(self, words: list[Val], halved: bool = False) -> list[Val]:
        """A fragment's words as sources of instructions, in their order; with those of the other half of the warp."""
        key = "sources", self.kind, self.whole, halved, tuple(word.t for word in words)
        return self.fn.once(key, lambda: self._sources(words, halved))

    def _sources(self, words: list[Val], halved: bool) -> list[Val]:
        fn, chosen = self.fn, self.chosen
        if halved:
            other = [fn.call("llvm.amdgcn.ds.swizzle", "i32", word, fn.const("i32", OTHER_HALF)) for word in words]
            words = words + other
        words = widened(fn, words, self.kind, chosen.element)
        if self.kind == "u8":  # less 128 each: see `sum`
            words = [fn.op("i32", f"xor {word.t}, {LESS_128}") for word in words]
        words = [enter(fn, word) if self.whole else fn.cast(word, "i32") for word in words]
        if chosen.words == 1:
            return [fn.cast(word, chosen.source) for word in words]
        pairs = zip(words[::2], words[1::2], strict=True)
        return [fn.pack([*pair], chosen.source) for pair in pairs]

    def sum(self, pairs: list[tuple[Val, Val, int]], start: list[Val]) -> list[Val]:
        """`start` plus the products of pairs (own, given, the quad that gives)."""
        fn, scalar = self.fn, self.ty[5:-1]
        total = Val(self.ty, "poison")
        for i, value in enumerate(start):
            value = fn.cast(enter(fn, value), scalar) if self.whole else value
            total = fn.op(self.ty, f"insertelement {total.t}, {value.t}, i32 {i}")
        if self.kind == "u8":
            for sides in self.sides(pairs):
                total = fn.op(self.ty, f"sub {total.t}, {sides}")
        for own, given, quad in pairs:
            total = self.run(given, own, quad, total)
        parts = [fn.op(scalar, f"extractelement {total.t}, i32 {i}") for i in range(4)]
        return [fn.cast(leave(fn, fn.cast(part, "i32")), scalar) for part in parts] if self.whole else parts

    def sides(self, pairs: list[tuple[Val, Val, int]]) -> Iterator[Val]:
        """What products of unsigned bytes lack if 128 less is multiplied, negated. With x = 128 + x', and so for y,
        x y = x' y' + 128 x' + 128 y' + 128 128; and -128 is a byte, 128 is not."""
        most = self.fn.const("i32", LESS_128)
        of_own = [(own, most, 0) for own, _, _ in pairs]
        of_given = [(most, given, quad) for _, given, quad in pairs]
        for side, start in ((of_own, -128 * 128 * 4 * len(pairs)), (of_given, 0)):
            key = "sides", self.whole, tuple((own.t, given.t, quad) for own, given, quad in side)
            yield self.fn.once(key, partial(self._chain, side, start))

    def _chain(self, pairs: list[tuple[Val, Val, int]], start: int) -> Val:
        total = self.fn.const(self.ty, start)
        for own, given, quad in pairs:
            total = self.run(given, own, quad, total)
        return total

    def run(self, given: Val, own: Val, quad: int, total: Val) -> Val:
        name = f"llvm.amdgcn.{self.chosen.name}"
        flags = f"i32 {self.shared}, i32 {quad}, i32 0"
        return self.fn.op(self.ty, f"call {self.ty} @{name}({given.t}, {own.t}, {total.t}, {flags})")
