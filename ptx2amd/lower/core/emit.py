"""Emitter: LLVM IR text, line by line. It knows types and labels, nothing of PTX."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from ptx2amd.codegen.workarounds import avoided
from ptx2amd.lower.core.value import LLVM_TYPE, Val, width
from ptx2amd.ptx.ast import Imm

TERMINATORS = ("  br ", "  ret ", "  unreachable", "  switch ", "  ]")


def float_text(ty: str, value: float) -> str:
    """`value`, rounded to nearest, as LLVM writes constants of the floating-point type `ty`."""
    if ty == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    if ty == "bfloat":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return f"0xR{(bits + 0x7FFF + (bits >> 16 & 1)) >> 16:04X}"
    if ty == "float":  # LLVM writes floats as the double of the same value
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def float_of_text(text: str) -> float | None:
    """The number of a "float" or "double" constant as `float_text` writes it; None for anything else."""
    return struct.unpack(">d", bytes.fromhex(text[2:]))[0] if re.fullmatch("0x[0-9A-F]{16}", text) else None


class Binary(NamedTuple):
    """An instruction with two operands of one type."""

    op: str
    a: Val
    b: Val

    def by(self, op: str) -> int | None:
        """The constant operand b of an instruction `op`; None if this is another one, or b is no constant."""
        return int(self.b.ref) if self.op == op and self.b.ref.isdecimal() else None


class Emitter:
    """Collects instructions; see FunctionLowering for the interface that lowerings use."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.helpers: set[str] = set()
        self.unit: set[str] = set()  # values that are known to lie in [+0, 1]
        self.binaries: dict[str, Binary] = {}  # what `binary` has emitted, by the names of the results
        self.calls = False  # whether it calls functions of the module, or helpers
        self.blocks = 0  # blocks started so far
        self.split = False  # whether a block was started in the current instruction

    def op(self, ty: str, text: str) -> Val:
        """Emit an instruction whose result has type `ty`."""
        self.count += 1
        ref = f"%t{self.count}"
        self.lines.append(f"  {ref} = {text}")
        return Val(ty, ref)

    def binary(self, op: str, a: Val, b: Val) -> Val:
        """Emit an instruction with two operands of one type, which is its result's."""
        v = self.op(a.ty, f"{op} {a.t}, {b}")
        self.binaries[v.ref] = Binary(op, a, b)
        return v

    def do(self, text: str) -> None:
        """Emit an instruction without a result."""
        self.lines.append(f"  {text}")

    def call(self, function: str, ty: str, *args: Val) -> Val:
        """Call a function or intrinsic, named with or without the @."""
        text = f"call {ty} @{function.lstrip('@')}({', '.join(a.t for a in args)})"
        if ty == "void":
            self.do(text)
            return Val("void", "")
        return self.op(ty, text)

    def const(self, ty: str, value: int | float) -> Val:
        """A constant of an LLVM type (a PTX type name is taken too); vectors: the value in every lane."""
        ty = LLVM_TYPE[ty][0] if ty in LLVM_TYPE else ty
        if ty.startswith("<"):
            count, element = ty[1:-1].split(" x ")
            return Val(ty, "<" + ", ".join([self.const(element, value).t] * int(count)) + ">")
        if ty[0] == "i":
            bits = int(ty[1:])
            number = int(value) & ((1 << bits) - 1)
            return Val(ty, str(number) if bits > 1 else ("true" if number else "false"))
        return Val(ty, float_text(ty, float(value)))

    def bits(self, ty: str, bits: int) -> Val:
        """The constant of type `ty` with the given bit pattern (NaN payloads survive)."""
        n = width(ty)
        bits &= (1 << n) - 1
        if ty[0] == "i":
            return self.const(ty, bits)
        if ty == "half":
            return Val(ty, f"0xH{bits:04X}")
        if ty == "bfloat":
            return Val(ty, f"0xR{bits:04X}")
        if ty == "double":
            return Val(ty, f"0x{bits:016X}")
        if ty == "float" and bits & 0x7F800000 != 0x7F800000:
            return Val(ty, float_text(ty, struct.unpack("<f", struct.pack("<I", bits))[0]))
        return Val(ty, f"bitcast (i{n} {bits} to {ty})")

    def cast(self, v: Val, ty: str) -> Val:
        """`v` as type `ty` of the same width (bitcast; pointers go through integers)."""
        if v.ty == ty:
            return v
        if v.ty.startswith("ptr"):
            v = self.op(f"i{width(v.ty)}", f"ptrtoint {v.t} to i{width(v.ty)}")
            return self.cast(v, ty)
        if ty.startswith("ptr"):
            return self.op(ty, f"inttoptr {self.cast(v, f'i{width(v.ty)}').t} to {ty}")
        return self.op(ty, f"bitcast {v.t} to {ty}")

    def opaque(self, v: Val, register: str = "v") -> Val:
        """`v`, as a value of whose origin LLVM knows nothing, in a register of each lane ("v") or of the wave ("s")."""
        return self.op(v.ty, f'call {v.ty} asm "", "={register},0"({v.t})')

    def of_round(self, v: Val) -> Val:
        """`v` of this iteration of a loop, in a VGPR, for use after the loop: a lane that leaves keeps its value
        while others continue. LLVM keeps a uniform value in an SGPR, which the others overwrite, and folds a select
        back into it. Convergent, so that it stays in the loop."""
        return self.op(v.ty, f'call {v.ty} asm "", "=v,0"({v.t}) convergent') if avoided.applies("rounds") else v

    def resize(self, v: Val, bits: int, signed: bool = False) -> Val:
        """`v` as an integer of `bits` bits: truncated, or sign- or zero-extended."""
        have = width(v.ty)
        v = self.cast(v, f"i{have}")
        if have == bits:
            return v
        how = "trunc" if have > bits else "sext" if signed else "zext"
        return self.op(f"i{bits}", f"{how} {v.t} to i{bits}")

    def displace(self, pointer: Val, offset: int) -> Val:
        """`pointer` plus a constant number of bytes."""
        if not offset:
            return pointer
        return self.op(pointer.ty, f"getelementptr i8, {pointer.t}, i64 {offset}")

    def pack(self, parts: list[Val], ty: str) -> Val:
        """Integers side by side, the first lowest, as one value of type `ty`."""
        n = width(parts[0].ty)
        vector = Val(f"<{len(parts)} x i{n}>", "poison")
        for i, part in enumerate(parts):
            vector = self.op(vector.ty, f"insertelement {vector.t}, {part.t}, i32 {i}")
        return self.cast(vector, ty)

    def joined(self, low: Val, high: Val) -> Val:
        """Two i16 as an i32. By integer instructions, through which LLVM sees the parts, where `pack` has a vector of
        which it sees only the whole; it makes the vector from these where it needs one."""
        up = self.op("i32", f"shl {self.resize(high, 32).t}, 16")
        return self.op("i32", f"or disjoint {up.t}, {self.resize(low, 32)}")

    def immediate(self, imm: Imm, ty: str) -> Val:
        """A constant of PTX as a value of type `ty`."""
        if imm.kind in "su":
            return self.bits(ty, imm.bits)
        if imm.kind == "f32" and ty != "double":
            return self.bits(ty, imm.bits)
        if imm.kind == "f64" and width(ty) == 64:
            return self.bits(ty, imm.bits)
        if imm.kind == "f32":
            number = struct.unpack("<f", struct.pack("<I", imm.bits))[0]
        else:
            number = struct.unpack("<d", struct.pack("<Q", imm.bits))[0]
        if number != number or number in (float("inf"), float("-inf")):
            sign = "-" if imm.bits >> (31 if imm.kind == "f32" else 63) else ""
            bits = {"float": 0x7F800000, "double": 0x7FF << 52}.get(ty, 0x7F800000)
            quiet = {"double": 1 << 51}.get(ty, 1 << 22) if number != number else 0
            return self.bits(ty, bits | quiet | (1 << (width(ty) - 1) if sign else 0))
        if ty[0] == "i":  # an untyped 32-bit instruction with a double literal: rounded to f32
            return self.bits(ty, struct.unpack("<I", struct.pack("<f", number))[0])
        return self.const(ty, number)

    def block(self, hint: str = "b") -> str:
        """A fresh label name."""
        self.count += 1
        return f"{hint}.{self.count}"

    def label(self, name: str) -> None:
        """Start block `name`; an unterminated block before it falls through."""
        if not self.ended():
            self.lines.append(f"  br label %{name}")
        self.lines.append(f"{name}:")
        self.blocks += 1
        self.split = True

    def ended(self) -> bool:
        """Whether the current block already has its terminator."""
        return bool(self.lines) and self.lines[-1].startswith(TERMINATORS)

    def branch(self, *where: Val | str) -> None:
        """branch("l"), or branch(cond, "then", "else")."""
        if len(where) == 1:
            self.do(f"br label %{where[0]}")
        else:
            cond, then, other = where
            self.do(f"br i1 {cond}, label %{then}, label %{other}")

    def helper(self, name: str) -> str:
        """Ask for the IR function of ptx2amd/lower/runtime/helpers/<name>.ll to be linked in; returns "@name"."""
        self.helpers.add(name)
        self.calls = True
        return f"@{name}"
