"""Matrix products on CDNA's MFMA instructions, 16 x 16 results in waves of 64 lanes.

A PTX fragment's lane is (w, g, c): warp of the wave, row or column, word column (1, 3 and 2 bits, w highest). In
the sources of an instruction lane / 16 is c; the second operand's columns (lane % 16) are (w, g), so that A and the
accumulators only change from lane (w, g, c) to (c, w, g); one instruction for each eight rows of A serves both
warps. The first operand's rows are the columns of B of both warps: of the results a lane's registers are columns 2c
and 2c + 1 of the product with warp 0's B, and with warp 1's, of which the warp's own are taken."""

from __future__ import annotations

from collections.abc import Sequence

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix.matrix_unit import OCP, Instruction, Mods, Unit, widened
from ptx2amd.lower.warp.lanes import split
from ptx2amd.target import Target

F16 = Instruction("mfma.f32.16x16x16f16", 2, "<4 x half>", "f16")
F32 = Instruction("mfma.f32.16x16x4f32", 1, "float", "f32")
F64 = Instruction("mfma.f64.16x16x4f64", 1, "double", "f64")
XF32 = Instruction("mfma.f32.16x16x8.xf32", 2, "<2 x float>", "f32")
BF16 = Instruction("mfma.f32.16x16x16bf16.1k", 2, "<4 x i16>", "bf16")
BF16_SHORT = Instruction("mfma.f32.16x16x8bf16", 1, "<2 x i16>", "bf16")
I8 = Instruction("mfma.i32.16x16x32.i8", 2, "i64", "i8")
I8_SHORT = Instruction("mfma.i32.16x16x16i8", 1, "i32", "i8")


def instruction(target: Target, mods: Mods) -> Instruction | None:
    """The instruction for PTX's element types; None when there is none that is as exact."""
    a, b = mods["at"], mods["bt"]
    has = target.arch.matrix
    if a == "f64":
        return F64 if "f64" in has else None
    if "mfma" not in has or a == "b1":
        return None
    if a[0] in "us":
        return I8 if "i8_k32" in has else I8_SHORT if "i8_k16" in has else None
    if a == "tf32":
        return XF32 if "xf32" in has else F32
    if a in OCP and "ocp8" in has:  # operands in the instruction's order
        return Instruction(f"mfma.f32.16x16x32.{OCP[b]}.{OCP[a]}", 2, "i64", "fp8")
    if "flushes" in has and target.matrix != "fast":  # subnormal f16 and bf16
        return F32
    if a == "bf16":
        return BF16 if "bf16_1k" in has else BF16_SHORT
    return F16


class Mfma(Unit):
    """MFMA. Sums are vectors of four registers: the pair of columns, times the two warps' B."""

    def __init__(self, fn: FunctionLowering, mods: Mods, tall: int, chosen: Instruction) -> None:
        super().__init__(fn, mods, tall)
        self.instruction = chosen
        self.scalar = {"f64": "double", "i8": "i32"}.get(chosen.element, "float")

    def moved(self, words: Sequence[Val], at: Val) -> list[Val]:
        fn = self.fn
        found = []
        for word in words:
            parts = [self.permute(at, self.enter(part)) for part in split(fn, word)]
            found.append(parts[0] if len(parts) == 1 else fn.pack(parts, "double"))
        return found

    def first(self, b: Sequence[Val]) -> list[Val]:
        # row of the operand: c, (low bit of the column, warp), which are the registers of the result; f64 has the
        # registers' bits above c
        if self.scalar == "double":
            at = self.lane_of((4, 2, 0), (0, 2, 3), (3, 1, 2), (2, 1, 5))
        else:
            at = self.lane_of((4, 2, 0), (1, 3, 2), (0, 1, 5))
        return widened(self.fn, self.moved(b, at), self.mods["bt"], self.instruction.element)

    def second(self, a: Sequence[Val]) -> list[list[Val]]:
        words = self.moved(a, self.inward())
        rows = [words[i :: self.tall] for i in range(self.tall)]
        return [widened(self.fn, row, self.mods["at"], self.instruction.element) for row in rows]

    def inward(self) -> Val:
        return self.lane_of((4, 2, 0), (0, 4, 2))

    def into(self, c: Sequence[Val]) -> list[Val]:
        own = self.moved([self.fn.cast(v, self.integer) for v in c], self.inward())
        return [self.vector([own[2 * i + p] for p in (0, 0, 1, 1)]) for i in range(self.tall)]

    @property
    def integer(self) -> str:
        return "i64" if self.scalar == "double" else "i32"

    def vector(self, parts: list[Val]) -> Val:
        fn, ty = self.fn, f"<4 x {self.scalar}>"
        result = Val(ty, "poison")
        for i, part in enumerate(parts):
            result = fn.op(ty, f"insertelement {result.t}, {fn.cast(part, self.scalar).t}, i32 {i}")
        return result

    def out(self, sums: Sequence[Val]) -> list[Val]:
        fn = self.fn
        upper = self.bit(3)  # w
        at = self.lane_of((2, 4, 0), (0, 2, 4))
        found = []
        for total in sums:
            for pair in (0, 2):
                low, high = (fn.op(self.scalar, f"extractelement {total.t}, i32 {pair + i}") for i in range(2))
                own = low if fn.target.padded else self.select(upper, high, low)
                words = [self.leave(self.permute(at, part)) for part in split(fn, own)]
                found.append(fn.pack(words, self.scalar) if len(words) > 1 else fn.cast(words[0], self.scalar))
        return found

    def product(self, a: list[Val], b: list[Val], sums: list[Val] | None) -> list[Val]:
        """4-bit integers are multiplied as bytes that are 16 times as large if signed. Unsigned bytes are
        multiplied as signed ones that are smaller by 128."""
        kinds = (self.mods["bt"], self.mods["at"])
        if kinds[0] in ("u4", "s4"):
            scale = self.fn.const("<4 x i32>", 4 * kinds.count("s4"))
            products = [self.fn.op(v.ty, f"ashr {v.t}, {scale}") for v in super().product(a, b, None)]
            return [self.plus(x, y) for x, y in zip(sums or self.zero(), products, strict=True)]
        if "u8" not in kinds:
            return super().product(a, b, sums)
        first = self.as_signed(self.first(b), kinds[0])
        rows = [self.as_signed(row, kinds[1]) for row in self.second(a)]
        ones = [self.fn.const("i32", 0x01010101)] * len(first)
        total = []
        for second, start in zip(rows, sums or self.zero(), strict=True):
            sides = self.zero()[0]  # the sums of the elements that meet 128s
            if kinds[1] == "u8":
                sides = self.chained(first, ones, sides)
            if kinds[0] == "u8":
                sides = self.chained(ones, second, sides)
            sides = self.fn.op(sides.ty, f"shl {sides.t}, {self.fn.const(sides.ty, 7)}")
            both = 128 * 128 * 16 * len(first) if kinds == ("u8", "u8") else 0
            sides = self.plus(sides, self.fn.const(sides.ty, both))
            total.append(self.plus(self.chained(first, second, start), sides))
        return total

    def as_signed(self, words: list[Val], kind: str) -> list[Val]:
        """Bytes less 128 where they are unsigned."""
        return [self.fn.op("i32", f"xor {w.t}, {-0x7F7F7F80}") for w in words] if kind == "u8" else words

    def plus(self, x: Val, y: Val) -> Val:
        return self.fn.op(x.ty, f"add {x.t}, {y}")

    def zero(self) -> list[Val]:
        return [Val(f"<4 x {self.scalar}>", "zeroinitializer")] * self.tall

    def run(self, first: Val, second: Val, sums: Val) -> Val:
        name = f"llvm.amdgcn.{self.instruction.name}"
        return self.fn.op(sums.ty, f"call {sums.ty} @{name}({first.t}, {second.t}, {sums.t}, i32 0, i32 0, i32 0)")
