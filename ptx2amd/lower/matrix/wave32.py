"""Matrix products on the WMMA instructions of RDNA 3 and 4, 16 x 16 results in waves of 32 lanes; of the 16
columns a PTX product needs 8.

A PTX fragment's lane is (g, c1, c0): row or column, word column (3, 1 and 1 bits, g highest). In the second operand
lane % 16 is the row of A, (h, g), and lane / 16 is c1 on RDNA 4; on RDNA 3 a lane has the whole row, in both halves.
The results lie at lane (c0, h, g), in registers (c1, p) for column 2c + p; c0 and h come from and go to registers
of PTX's fragments, so values are exchanged in two steps, in which each lane gives what the one that reads it needs:
step t serves h = 0 with the word c0 = t, and h = 1 with the other."""

from __future__ import annotations

from collections.abc import Sequence

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix.matrix_unit import OCP, Instruction, Mods, Unit, widened
from ptx2amd.target import Target

RDNA3 = {
    "f16": Instruction("wmma.f32.16x16x16.f16.v8f32.v16f16", 8, "<16 x half>", "f16"),
    "bf16": Instruction("wmma.f32.16x16x16.bf16.v8f32.v16i16", 8, "<16 x i16>", "bf16"),
    "8": Instruction("wmma.i32.16x16x16.iu8.v8i32.v4i32", 4, "<4 x i32>", "iu8"),
    "4": Instruction("wmma.i32.16x16x16.iu4.v8i32.v2i32", 2, "<2 x i32>", "iu4"),
}
RDNA4 = {
    "f16": Instruction("wmma.f32.16x16x16.f16.v8f32.v8f16", 4, "<8 x half>", "f16"),
    "bf16": Instruction("wmma.f32.16x16x16.bf16.v8f32.v8i16", 4, "<8 x i16>", "bf16"),
    "8": Instruction("wmma.i32.16x16x16.iu8.v8i32.v2i32", 2, "<2 x i32>", "iu8"),
    "4": Instruction("wmma.i32.16x16x32.iu4.v8i32.v2i32", 2, "<2 x i32>", "iu4"),
}


def instruction(target: Target, mods: Mods) -> Instruction | None:
    """The instruction for PTX's element types; None when there is none."""
    a, b = mods["at"], mods["bt"]
    kind = a[1] if a[0] in "us" else a
    if "wmma12" in target.arch.matrix:
        if a in OCP:  # operands in the instruction's order
            return Instruction(f"wmma.f32.16x16x16.{OCP[b]}.{OCP[a]}.v8f32.v2i32", 2, "<2 x i32>", "fp8")
        return RDNA4.get(kind)
    if "wmma11" in target.arch.matrix:
        return RDNA3.get("f16" if a in OCP else kind)
    return None


class Wmma(Unit):
    """WMMA. The sums are a vector of eight registers, of which four are in use."""

    def __init__(self, fn: FunctionLowering, mods: Mods, tall: int, chosen: Instruction) -> None:
        super().__init__(fn, mods, tall)
        self.instruction = chosen
        self.halved = "wmma12" in fn.target.arch.matrix  # a lane has half a row
        self.scalar = "i32" if chosen.element.startswith("iu") else "float"

    def sources(self, *fields: tuple[int, int, int], parity: int | None = None) -> list[Val]:
        """Addresses of the lanes that have the words (c1, c0) of a row at `fields`, in order; on RDNA 4 those of
        the lane's c1. parity: the bit of the lane number that c0 is to differ from, for exchanges."""
        fn = self.fn
        found = []
        for c1 in (0,) if self.halved else (0, 1):
            for c0 in (0, 1):
                more = [*fields]
                if self.halved:
                    more.append((4, 1, 1))
                if parity is not None:
                    more.append((parity, 1, 0))
                base = self.lane_of(*more)
                found.append(fn.op("i32", f"xor {base.t}, {4 * (2 * c1 + c0)}"))
        return found

    def first(self, b: Sequence[Val]) -> list[Val]:
        # lane % 16 is the row of the result's registers: see `place`
        if self.halved:  # c0, -, c1, p
            column = ((0, 1, 2), (3, 1, 3), (1, 1, 4))
        else:  # -, c1, p, c0
            column = ((1, 1, 2), (0, 1, 3), (2, 1, 4))
        at = self.sources(*column)
        words = [self.permute(a, word) for word in b for a in at]
        return widened(self.fn, words, self.mods["bt"], self.instruction.element)

    def second(self, a: Sequence[Val]) -> list[list[Val]]:
        if self.tall == 1:
            at = self.sources((0, 3, 2))
            words = [self.permute(each, word) for word in a for each in at]
        else:
            words = self.exchanged(a)
        return [widened(self.fn, words, self.mods["at"], self.instruction.element)]

    def exchanged(self, a: Sequence[Val]) -> list[Val]:
        at = self.sources((0, 3, 2), parity=3)  # step t: c0 = t ^ h
        odd, lower = self.bit(0), self.bit(3)
        words = []
        for part in range(0, len(a), 2):
            top, bottom = a[part], a[part + 1]
            given = [self.select(odd, bottom, top), self.select(odd, top, bottom)]
            steps = [self.permute(each, given[i % 2]) for i, each in enumerate(at)]
            for i in range(0, len(steps), 2):
                words.append(self.select(lower, steps[i + 1], steps[i]))
                words.append(self.select(lower, steps[i], steps[i + 1]))
        return words

    def into(self, c: Sequence[Val]) -> list[Val]:
        """Lane (c0, h, g), register (c1, p) from lane (g, c1, c0), word (h, p); step t: c1 = t ^ h."""
        fn = self.fn
        words = [fn.cast(v, "i32") for v in c]
        high, lower = self.bit(1), self.bit(3)
        registers: list[Val] = [Val("i32", "poison")] * 4
        for p in range(2):
            top, bottom = words[p], words[2 + p] if self.tall == 2 else words[p]
            given = [self.select(high, bottom, top), self.select(high, top, bottom)]
            at = self.lane_of((0, 3, 2), (3, 1, 1), (4, 1, 0))
            if self.tall == 1:
                both = self.lane_of((0, 3, 2), (4, 1, 0))
                registers[p] = self.permute(both, top)
                registers[2 + p] = self.permute(fn.op("i32", f"or {both.t}, 8"), top)
                continue
            steps = [self.permute(fn.op("i32", f"xor {at.t}, {8 * t}"), given[t]) for t in range(2)]
            registers[p] = self.select(lower, steps[1], steps[0])
            registers[2 + p] = self.select(lower, steps[0], steps[1])
        return [self.vector(registers)]

    def vector(self, registers: list[Val]) -> Val:
        fn, ty = self.fn, f"<8 x {self.scalar}>"
        result = Val(ty, "zeroinitializer")
        for i, register in enumerate(registers):
            result = fn.op(ty, f"insertelement {result.t}, {fn.cast(register, self.scalar).t}, i32 {i}")
        return result

    def out(self, sums: Sequence[Val]) -> list[Val]:
        """Lane (g, c1, c0), word (h, p) from lane (c0, h, g), register (c1, p); step t: h = t ^ c1."""
        fn = self.fn
        registers = [fn.cast(fn.op(self.scalar, f"extractelement {sums[0].t}, i32 {i}"), "i32") for i in range(4)]
        lower, high = self.bit(3), self.bit(1)
        at = self.lane_of((2, 3, 0), (1, 1, 3), (0, 1, 4))
        found: list[Val] = []
        rows: list[list[Val]] = [[], []]
        for p in range(2):
            even = self.select(lower, registers[2 + p], registers[p])
            if self.tall == 1:  # both halves have the row: c1 is in the half h = c1
                rows[0].append(self.permute(at, even))
                continue
            odd = self.select(lower, registers[p], registers[2 + p])
            steps = [self.permute(fn.op("i32", f"xor {at.t}, {32 * t}"), v) for t, v in enumerate((even, odd))]
            rows[0].append(self.select(high, steps[1], steps[0]))
            rows[1].append(self.select(high, steps[0], steps[1]))
        for row in rows[: self.tall]:
            found += [fn.cast(v, self.scalar) for v in row]
        return found

    def zero(self) -> list[Val]:
        return [Val(f"<8 x {self.scalar}>", "zeroinitializer")]

    def run(self, first: Val, second: Val, sums: Val) -> Val:
        operands = f"{first.t}, {second.t}, {sums.t}"
        if self.scalar == "i32":
            signs = [str(self.mods[t][0] == "s").lower() for t in ("bt", "at")]
            operands = f"i1 {signs[0]}, {first.t}, i1 {signs[1]}, {second.t}, {sums.t}, i1 false"
        return self.fn.op(sums.ty, f"call {sums.ty} @llvm.amdgcn.{self.instruction.name}({operands})")
