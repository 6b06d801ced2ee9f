"""Registers whose values cross extended basic blocks.

A register whose every read follows a write in the same extended basic block (between two labels) is an SSA value. Only
the others get an alloca, which LLVM has to turn into SSA values: fewer of them mean less IR to parse and less
work. An initial value is such work too, for each of them over the whole function."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.liveness import live_entering, ones
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Register
from ptx2amd.ptx.ast import Imm
from ptx2amd.ptx.layout import bits_of


class Crossing:
    """By name, registers: those that cross, with the PTX type, of the register's size, of the first write to it ("" if
    there is none); constants: the 32-bit integer that a register's only write moves into it, so that it is that
    everywhere; unset: those that some path reads before it writes them."""

    def __init__(self, body: Body) -> None:
        self._body = body
        found: set[Register] = set()
        here: set[Register] = set()  # written in this extended block
        reads: list[set[Register]] = []  # of each block, before it writes them
        writes: list[set[Register]] = []  # of each block, on all paths through it
        for block in body.blocks:
            if block.label is not None:
                here = set()
            read: set[Register] = set()
            reads.append(read)
            written: set[Register] = set()
            writes.append(written)
            for op in block.ops:
                for register in op.reads:
                    if register not in written:
                        read.add(register)
                        if register not in here:
                            found.add(register)
                if op.inst.guard is None:
                    written.update(op.writes)
                else:
                    found.update(op.writes)
                here.update(op.writes)
        declared = body.registers
        crossing = [register for register in found if register.name in declared]
        self.registers = {r.name: self._type(r, bits_of(declared[r.name])) for r in crossing}
        self.constants = dict(self._constants())
        self.unset = {register.name for register in _live(body, crossing, reads, writes)}

    def _constants(self) -> Iterator[tuple[str, int]]:
        declared = self._body.registers
        for op in self._body.ops():
            if op.computes != "copy" or len(op.writes) != 1:
                continue
            [register], value = op.writes, op.inst.get("a")
            alone = register.only_write is op and bits_of(declared.get(register.name, "pred")) == 32
            if alone and isinstance(value, Imm) and value.kind in "su":
                yield register.name, value.bits & 0xFFFFFFFF

    def _type(self, register: Register, bits: int) -> str:
        for op in register.writes:
            shape = op.inst.shape
            for name, operand, ptx_type in zip(shape.names, op.inst.operands, shape.types, strict=False):
                fits = name in DESTINATIONS and ptx_type and bits_of(ptx_type) == bits
                if fits and register in self._body.within(operand):
                    return ptx_type
        return ""


def _live(
    body: Body, registers: list[Register], reads: list[set[Register]], writes: list[set[Register]]
) -> Iterator[Register]:
    """Those of `registers` that are live at the beginning of a body."""
    numbers = {register: number for number, register in enumerate(registers)}
    known = numbers.keys()
    read, written = ([{numbers[r] for r in known & block} for block in blocks] for blocks in (reads, writes))
    for first, live in live_entering(body, read, written):
        yield from (registers[first + bit] for bit in ones(live.get(0, 0)))


__all__ = ["Crossing"]
