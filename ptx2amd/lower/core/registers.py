"""Registers of PTX while a function is lowered: their values, in SSA form within an extended basic block, in memory
between them."""

from __future__ import annotations

from ptx2amd.lower.core.names import Entity, Register
from ptx2amd.lower.core.value import Val, width
from ptx2amd.lower.memory import window
from ptx2amd.ptx.ast import Operand, Reg


class Registers(window.Windowed):
    """names: what names of the body stand for; block_id: the number of the extended basic block that is lowered; entry:
    the entry block, with allocas; loaded: values made by reads of the current instruction."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, Entity] = {}
        self.block_id = 0
        self.entry: list[str] = []
        self.loaded: list[tuple[Register, str, Val]] = []

    def special(self, name: str) -> Val:
        """A special register, e.g. "%tid.x", as an i32 or i64 value."""
        raise NotImplementedError

    def register(self, name: str, ty: str) -> Val:
        """The value of a register, or a special one, as LLVM type `ty`."""
        entity = self.names.get(name)
        if not isinstance(entity, Register):
            v = self.special(name)
            have, want = width(v.ty), width(ty)
            return self.cast(v if have == want else self.resize(v, want), ty)
        if entity.block != self.block_id:
            entity.block, entity.values = self.block_id, {}
        values = entity.values
        if ty in values:
            return values[ty]
        if values:
            v = next(iter(values.values()))
        elif entity.constant is not None:
            v = self.const("i32", entity.constant)
        else:
            if not entity.memory:
                return Val(ty, "false" if ty == "i1" else "zeroinitializer")  # never written
            v = values[entity.ty] = self.op(entity.ty, f"load {entity.ty}, ptr addrspace(5) {entity.memory}")
            self.loaded.append((entity, v.ty, v))
        n = width(ty)
        if v.ty == ty:
            return v
        v = self.cast(v, ty) if n == entity.bits else self.cast(self.resize(v, n), ty)
        if n == entity.bits:
            values[ty] = v
            self.loaded.append((entity, ty, v))
        return v

    def forget_loaded(self) -> None:
        """Forget the values that the current instruction's reads made: they may stand in a block that
        does not dominate what follows."""
        for register, ty, v in self.loaded:
            if register.values.get(ty) is v:
                del register.values[ty]

    # the carry flag CC.CF of add.cc, addc, sub.cc, mad.cc ...

    def carry(self) -> Val:
        """The carry flag as an i1."""
        return self.register(self._carry_register().name, "i1")

    def set_carry(self, v: Val) -> None:
        """Write the carry flag."""
        self.assign(Reg(self._carry_register().name), v, "pred")

    def _carry_register(self) -> Register:
        register = self.names.get("%CC.CF")
        if register is None:
            register = self.names["%CC.CF"] = Register("%CC.CF", 1, "i1", "%CC")
            self.entry.append("  %CC = alloca i1, addrspace(5)")
            self.entry.append("  store i1 false, ptr addrspace(5) %CC")
        assert isinstance(register, Register)
        return register

    def assign(self, operand: Operand, v: Val, ptx_type: str) -> None:
        """Write a register operand; a narrower value is extended as `ptx_type` says."""
        assert isinstance(operand, Reg), f"{operand} is no destination"
        if operand.name == "_":
            return
        register = self.names[operand.name]
        assert isinstance(register, Register)
        n = width(v.ty)
        if n != register.bits:
            if n > register.bits:
                raise AssertionError(f"{n}-bit value for {register.bits}-bit register {operand.name}")
            v = self.resize(v, register.bits, ptx_type[:1] == "s")
        if v.ty.startswith("ptr"):
            v = self.cast(v, f"i{n}")
        register.block, register.values = self.block_id, {v.ty: v}
        if register.memory:
            stored = self.cast(v, register.ty)
            register.values[register.ty] = stored
            self.do(f"store {stored.t}, ptr addrspace(5) {register.memory}")
