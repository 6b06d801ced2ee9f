"""Matrix products on the chip's matrix instructions, where shape and type fit: `multiply` of matrix.py asks here
first. What is common to CDNA (mfma.py) and RDNA (wave32.py): element types, and sums that go on from product to
product.

Both compute the transposed product: the instruction's first operand is PTX's B, whose columns become rows, and its
second operand is PTX's A. So a lane of the result has values of one row of D, in registers that run along its
columns, and only whole registers change lanes on the way from and to PTX's fragments.

Matrix instructions execute on all lanes of a wave, whatever EXEC is. On 64-lane waves, where the other warp may
be elsewhere, everything between the fragments is computed for the whole wave (`enter`, `leave`): each warp's results
depend on its own lanes alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.warp.whole import enter, leave

Mods = dict[str, str]
OCP = {"e4m3": "fp8", "e5m2": "bf8"}  # PTX's names of 8-bit floats -> the instructions'


class Instruction(NamedTuple):
    """A matrix instruction. name: of the intrinsic, after "llvm.amdgcn."; words: 32- or 64-bit words of a source
    that a lane holds; source: the LLVM type of such a source; element: what the words hold."""

    name: str
    words: int
    source: str
    element: str


class Unit(ABC):
    """One generation's matrix instructions. `tall`: how many registers of A, eight rows apart, there are for each
    word column."""

    def __init__(self, fn: FunctionLowering, mods: Mods, tall: int) -> None:
        self.fn, self.mods, self.tall = fn, mods, tall

    instruction: Instruction

    @abstractmethod
    def first(self, b: Sequence[Val]) -> list[Val]:
        """The words of the instruction's first operand, from PTX's B."""

    @abstractmethod
    def second(self, a: Sequence[Val]) -> list[list[Val]]:
        """The words of the second operand, from PTX's A; a list for each instruction that is needed."""

    @abstractmethod
    def into(self, c: Sequence[Val]) -> list[Val]:
        """Accumulators, as the instructions have them."""

    @abstractmethod
    def out(self, sums: Sequence[Val]) -> list[Val]:
        """The results, as PTX has them."""

    @abstractmethod
    def zero(self) -> list[Val]:
        """Accumulators of zero."""

    @abstractmethod
    def run(self, first: Val, second: Val, sums: Val) -> Val:
        """One matrix instruction."""

    def enter(self, v: Val) -> Val:
        """A 32-bit value of the active lanes, for a computation of the whole wave."""
        return enter(self.fn, v) if self.fn.target.wave_size == 64 else self.fn.cast(v, "i32")

    def leave(self, v: Val) -> Val:
        """A value of such a computation, in the active lanes."""
        return leave(self.fn, v) if self.fn.target.wave_size == 64 else v

    def permute(self, at: Val, v: Val) -> Val:
        """A 32-bit value of the lane at byte `at` of ds_bpermute."""
        return self.fn.call("llvm.amdgcn.ds.bpermute", "i32", at, self.fn.cast(v, "i32"))

    def lane(self) -> Val:
        """The lane's number in its wave, whether or not it has a thread."""
        fn = self.fn
        low = fn.op("i32", "call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)")
        if fn.target.wave_size == 32:
            return low
        return fn.op("i32", f"call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, {low.t})")

    def lane_of(self, *fields: tuple[int, int, int]) -> Val:
        """A byte address for `permute`: the lane made of fields (first bit in the own lane number, count of bits,
        first bit in the result)."""
        fn, lane = self.fn, self.lane()
        total = fn.const("i32", 0)
        for source, count, target in fields:
            move = target + 2 - source
            shifted = fn.op("i32", f"{'shl' if move > 0 else 'lshr'} {lane.t}, {abs(move)}")
            part = fn.op("i32", f"and {shifted.t}, {((1 << count) - 1) << target + 2}")
            total = fn.op("i32", f"or disjoint {total.t}, {part}")
        return total

    def bit(self, number: int) -> Val:
        """Whether a bit of the lane's number is set."""
        fn = self.fn
        return fn.op("i1", f"icmp ne i32 {fn.op('i32', f'and {self.lane().t}, {1 << number}')}, 0")

    def select(self, cond: Val, yes: Val, no: Val) -> Val:
        return self.fn.op(yes.ty, f"select {cond.t}, {yes.t}, {no.t}")

    # the product

    def product(self, a: list[Val], b: list[Val], sums: list[Val] | None) -> list[Val]:
        """The instructions' sums: `sums` (0 when None) plus the products of the fragments' elements."""
        first = self.first(b)
        rows = self.second(a)
        total = list(sums or self.zero())
        for i, second in enumerate(rows):
            total[i] = self.chained(first, second, total[i])
        return total

    def chained(self, first: list[Val], second: list[Val], total: Val) -> Val:
        size = self.instruction.words
        for at in range(0, len(first), size):
            x, y = (self.packed(words[at : at + size]) for words in (first, second))
            total = self.run(x, y, total)
        return total

    def packed(self, words: list[Val]) -> Val:
        """Words side by side, as a source; missing ones are 0."""
        fn, source = self.fn, self.instruction.source
        if words[0].ty == "double":
            return words[0]
        words = [*words, *[fn.const("i32", 0)] * (self.instruction.words - len(words))]
        return fn.cast(fn.pack([fn.cast(w, "i32") for w in words], f"<{len(words)} x i32>"), source)


# element types


def widened(fn: FunctionLowering, words: Sequence[Val], kind: str, element: str) -> list[Val]:
    """Words of `kind` as words of the instruction's element type, in the same order for all kinds of a size.
    4-bit integers come out as bytes, times 16 if signed (see SCALE)."""
    if kind in OCP and element in ("f16", "f32"):
        words = [half for word in words for half in halves_of_bytes(fn, word, kind)]
        kind = "f16"
    if kind == "tf32":
        return [fn.op("i32", f"and {fn.cast(w, 'i32').t}, -8192") for w in words]
    if element == "f32" and kind == "bf16":
        return [fn.op("i32", t) for w in words for t in (f"shl {w.t}, 16", f"and {w.t}, -65536")]
    if element == "f32":
        return [_to_f32(fn, w, i) for w in words for i in range(2)]
    if kind in ("u4", "s4") and element == "i8":
        return [nibble for word in words for nibble in _nibbles(fn, word, kind)]
    return list(words)


def _to_f32(fn: FunctionLowering, word: Val, i: int) -> Val:
    pair = fn.cast(word, "<2 x half>")
    part = fn.op("half", f"extractelement {pair.t}, i32 {i}")
    return fn.cast(fn.op("float", f"fpext {part.t} to float"), "i32")


def _nibbles(fn: FunctionLowering, word: Val, kind: str) -> list[Val]:
    if kind == "u4":
        return [fn.op("i32", f"and {v.t}, 252645135") for v in (word, fn.op("i32", f"lshr {word.t}, 4"))]
    return [fn.op("i32", f"and {v.t}, -252645136") for v in (fn.op("i32", f"shl {word.t}, 4"), word)]


def halves_of_bytes(fn: FunctionLowering, word: Val, kind: str) -> list[Val]:
    """Four 8-bit floats as two pairs of f16, exactly. An e5m2 is the upper byte of an f16; an e4m3 in the place of
    one is 2**-8 of its value, and its NaN is not one of f16."""
    return [_e4m3(fn, pairs) if kind == "e4m3" else pairs for pairs in spread(fn, word)]


def spread(fn: FunctionLowering, word: Val) -> list[Val]:
    """Four bytes as the upper bytes of four halves, in two words."""
    zero = fn.const("i32", 0)
    return [
        fn.call("llvm.amdgcn.perm", "i32", word, zero, fn.const("i32", order)) for order in (0x05000400, 0x07000600)
    ]


def _e4m3(fn: FunctionLowering, pairs: Val) -> Val:
    """Two e4m3 in the upper bytes of 16 bits each, as two f16."""
    sign = fn.op("i32", f"and {pairs.t}, {-2147450880}")
    magnitude = fn.op("i32", f"and {fn.op('i32', f'lshr {pairs.t}, 1').t}, {0x3F803F80}")
    bits = fn.cast(fn.op("i32", f"or disjoint {magnitude.t}, {sign}"), "<2 x half>")
    scaled = fn.op("<2 x half>", f"fmul {bits.t}, splat (half 0xH5C00)")
    nan = fn.op("<2 x i1>", f"icmp eq <2 x i16> {fn.cast(magnitude, '<2 x i16>')}, splat (i16 {0x3F80})")
    return fn.cast(fn.op("<2 x half>", f"select {nan.t}, <2 x half> splat (half 0xH7E00), {scaled.t}"), "i32")
