"""Registers whose values cross extended basic blocks.

A register whose every read follows a write in the same extended basic block (between two labels) is an SSA value. Only
the others get an alloca, which LLVM has to turn into SSA values: fewer of them mean less IR to parse and less
work."""

from __future__ import annotations

from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import registers
from ptx2amd.ptx.ast import Imm
from ptx2amd.ptx.layout import bits_of


class Crossing:
    """registers: those that cross; constants: the 32-bit integer that a register's only write moves into it, so that it
    is that everywhere. Special registers, and variables in .param space, are among them like others."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.registers: set[str] = set()
        here: set[str] = set()  # written in this extended block
        for block in body.blocks:
            if block.label is not None:
                here = set()
            for op in block.ops:
                self.registers.update(register for register in op.reads() if register not in here)
                writes = op.writes()
                if op.inst.guard is not None:
                    self.registers.update(writes)
                here.update(writes)
        self.constants = dict(self._constants())

    def _constants(self) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for register, writes in self._body.definitions.items():
            if len(writes) == 1 and writes[0].computes == "copy" and writes[0].inst.guard is None:
                value = writes[0].inst.get("a")
                bits = bits_of(self._body.registers.get(register, "pred"))
                if isinstance(value, Imm) and value.kind in "su" and bits == 32:
                    found.append((register, value.bits & 0xFFFFFFFF))
        return found

    def type(self, register: str) -> str:
        """The PTX type, of the register's size, of the first write to a register; "" if there is none."""
        bits = bits_of(self._body.registers[register])
        for op in self._body.definitions.get(register, ()):
            shape = op.inst.shape
            for name, operand, ptx_type in zip(shape.names, op.inst.operands, shape.types, strict=False):
                if name in DESTINATIONS and ptx_type and bits_of(ptx_type) == bits and register in registers(operand):
                    return ptx_type
        return ""


__all__ = ["Crossing"]
