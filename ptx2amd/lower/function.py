"""FunctionLowering: what a lowering function works with. It reads operands as typed values, emits
LLVM IR text, and writes destinations. (The skeleton; see docs/architecture.md, "Lowering".)"""

from __future__ import annotations

from ptx2amd.errors import Unsupported
from ptx2amd.lower.value import LLVM_TYPE, Val
from ptx2amd.ptx.ast import Inst


class FunctionLowering:
    """Lowers one PTX function. Interface for the family files:

    fn.target              ptx2amd.target.Target: arch capabilities and the warp mapping
    fn.src(inst, "a")      the operand as a Val of its row type (float, i32, <2 x half>, i1 ...);
    fn.src(inst, "a", "b32")   ... read as another PTX type of the same width
    fn.vec(inst, "a")      the elements of a brace list (or the one scalar) as a list of Vals
    fn.has(inst, "c")      whether an optional operand is there
    fn.put(inst, "d", v)   write a destination (bitcast to the register's storage; wider registers
                           are zero- or sign-extended as the row's type says; `_` is dropped)
    fn.put_vec(inst, "d", vals)
    fn.address(inst, "a", space)   an Addr operand as a pointer Val in LLVM address space of `space`
                           ("global" 1, "shared" 3, "const" 4 or 1, "local" 5, "param", "" = generic 0)
    fn.op(ty, "add i32 1, 2")  emit an instruction with a result -> Val
    fn.do("store ...")     emit an instruction without a result
    fn.const(ty, n)        an integer or float constant
    fn.call("llvm.smax.i32", "i32", a, b)   call an intrinsic or helper -> Val (undeclared llvm.*
                           names are declared by LLVM's parser itself)
    fn.helper("name")      request the helper of lower/helpers/*.ll; returns "@name"
    fn.block("then")       a fresh label name; fn.label(name) starts that block; fn.branch(...)
    fn.refuse(inst, reason)    raise Unsupported with kernel, line and opcode
    """

    def __init__(self, name: str, target) -> None:
        self.name, self.target = name, target
        self.lines: list[str] = []
        self.count = 0

    def op(self, ty: str, text: str) -> Val:
        self.count += 1
        ref = f"%t{self.count}"
        self.lines.append(f"  {ref} = {text}")
        return Val(ty, ref)

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def call(self, function: str, ty: str, *args: Val) -> Val:
        text = f"call {ty} @{function}({', '.join(a.t for a in args)})"
        if ty == "void":
            self.do(text)
            return Val("void", "")
        return self.op(ty, text)

    def refuse(self, inst: Inst, reason: str) -> None:
        raise Unsupported(reason, self.name, inst.line, inst.shape.opcode)


__all__ = ["LLVM_TYPE", "FunctionLowering", "Val"]
