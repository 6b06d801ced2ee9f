"""FunctionLowering, the interface for lowering functions: it reads operands as typed values, emits LLVM IR text, and
writes destinations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NoReturn, Protocol, TypeVar

from ptx2amd.errors import Unsupported
from ptx2amd.lower.control.loop import Loop
from ptx2amd.lower.core.kernel import KernelLowering
from ptx2amd.lower.core.names import Register, Storage
from ptx2amd.lower.core.registers import Registers
from ptx2amd.lower.core.shared_globals import Shared
from ptx2amd.lower.core.value import LLVM_TYPE, Val, width
from ptx2amd.lower.matrix.tile import Tile
from ptx2amd.lower.memory import window
from ptx2amd.lower.memory.data import Segment
from ptx2amd.middle.analyses.block_uniform import block_uniform
from ptx2amd.middle.body import Body
from ptx2amd.middle.calls import CallGraph
from ptx2amd.plan.kernel import KernelPlan
from ptx2amd.ptx.ast import Addr, Function, Guard, Imm, Inst, Module, Operand, Reg, Sym, Var, Vec
from ptx2amd.ptx.layout import align_of, size_of
from ptx2amd.target.target import Target

T = TypeVar("T")

# PTX state space -> LLVM address space of an address in it
SPACES = {"": 0, "global": 1, "shared": 3, "const": 4, "param": 4, "local": 5}


def quoted(name: str) -> str:
    """A global's name as LLVM writes it."""
    return f'@"{name}"'


def pointer_type(space: str) -> str:
    """The LLVM type of an address in a PTX state space (sub-qualifiers as in shared::cta ignored)."""
    n = SPACES[space.split("::")[0]]
    return f"ptr addrspace({n})" if n else "ptr"


class ModuleContext(Protocol):
    """What lowerings need from the code object that a function is lowered for (implemented by ModuleLowering)."""

    module: Module
    target: Target
    mode: str
    calls: CallGraph
    actions: dict[int, tuple[Callable[[FunctionLowering, Inst], None], bool]]
    globals: dict[str, str]
    outlined: dict[str, list[str]]
    helpers: set[str]
    shared_globals: Shared
    whole_waves: bool
    uses_dynamic_lds: bool

    @property
    def segment(self) -> Segment: ...

    def lower_call(self, fn: FunctionLowering, function: Function, /) -> str: ...

    def function_table(self, fn: FunctionLowering, /) -> Val: ...

    def symbol_address(self, fn: FunctionLowering, name: str, offset: int, /) -> Val: ...

    def shared(self, var: Var, name: str, /) -> Val: ...

    def special(self, fn: FunctionLowering, name: str, /) -> Val: ...

    def annotated(self, fn: FunctionLowering, function: Function, /) -> str: ...


class FunctionLowering(Registers):
    """Lowers one PTX function. Interface for the family files:

    fn.target              ptx2amd.target.Target: arch capabilities and the warp mapping
    fn.plan                what was decided about the kernel (ptx2amd.plan.kernel.KernelPlan)
    fn.f32_denormals       "ieee" or "flush": the mode in which the kernel's f32 instructions run
    fn.src(inst, "a")      the operand as a Val of its row type (float, i32, <2 x half>, i1 ...);
    fn.src(inst, "a", "b32")   ... read as another PTX type: a wider register is truncated
    fn.vec(inst, "a")      the elements of a brace list (or the one scalar) as a list of Vals
    fn.value(operand, "u32")   an operand (e.g. an element of a Vec) as a Val of a PTX type
    fn.has(inst, "c")      whether an optional operand is there
    fn.put(inst, "d", v)   write a destination (bitcast to the register's storage; wider registers
                           are zero- or sign-extended as the row's type says; `_` is dropped)
    fn.put_vec(inst, "d", vals)
    fn.address(inst, "a", space)   an Addr operand as a pointer Val in LLVM address space of `space`
                           ("global" 1, "shared" 3, "const" 4 or 1, "local" 5, "" = generic 0; "param":
                           4 for kernel parameters, 5 for those of functions and calls: see Val.ty)
    fn.symbol_address(name, offset, space)   the address of a variable as a pointer Val in `space`
    fn.carry(), fn.set_carry(v)   the carry flag as an i1
    fn.special("%tid.x")   a special register as a Val
    fn.op(ty, "add i32 1, 2")  emit an instruction with a result -> Val
    fn.do("store ...")     emit an instruction without a result
    fn.const(ty, n)        an integer or float constant; fn.bits(ty, n) one from its bit pattern
    fn.cast(v, ty)         bitcast (or ptrtoint, inttoptr) to a type of the same width
    fn.resize(v, bits, signed)  an integer truncated or extended
    fn.call("llvm.smax.i32", "i32", a, b)   call an intrinsic or helper -> Val (undeclared llvm.*
                           names are declared by LLVM's parser itself)
    fn.helper("name")      request the helper of lower/runtime/helpers/<name>.ll; returns "@name"
    fn.block("then")       a fresh label name; fn.label(name) starts that block; fn.branch("l") or
                           fn.branch(cond, "then", "else")
    fn.refuse(inst, reason)    raise Unsupported with kernel, line and opcode

    A lowering with blocks of its own must read its sources before the first fn.label and write its
    destinations after the last: values live in SSA form, so a put in one arm would not reach the end.
    Guards are handled outside: a lowering never sees them.
    """

    def __init__(self, name: str, target: Target, module: ModuleContext, kernel: KernelLowering | None = None) -> None:
        super().__init__()
        self._kernel = kernel
        self.name, self.target, self.module = name, target, module
        self.f32_denormals = kernel.plan.denormals if kernel is not None else "ieee"
        self.marks: list[tuple[int, int]] = []  # where in `lines` which PTX line begins
        self.strong: list[int] = []  # PTX lines of accesses that order threads
        self.apart: list[int] = []  # PTX lines of accesses that LLVM leaves alone (debug.accesses_apart)
        self.origins: list[tuple[int, int, int]] = []  # PTX line, and the file and line of its .loc
        self.here = 0  # the extended basic block that is lowered
        # Whether the current block may be executed repeatedly, and with stores to global memory in flight. Functions
        # may be inlined into loops.
        self.in_loop = self.stores_in_loop = True
        self.dispatches: dict[int, tuple[Loop, int]] = {}  # block -> loop whose entry it is, its number there
        self.within: dict[int, Loop] = {}  # block -> loop around it in which lanes wait for others
        self.edges: list[tuple[str, int, Loop, int]] = []  # blocks of jumps by dispatch blocks: from where, the number
        self.is_kernel = True
        self.body: Body | None = None
        self.products = 0  # matrix products in software so far
        self.directed = 0  # f64 operations rounded up, down or toward zero so far
        self.stretch = 0, 0  # the block, and the line in it, from which LLVM may reorder instructions
        self._made: dict[Hashable, Any] = {}  # what `once` has made
        self._made_in = -1  # and in which block
        self.tiles: dict[tuple[str, ...], tuple[int, Tile]] = {}  # results of matrix products: `blocks`, their sums
        self.thread: list[Val] = []  # %tid on its axes, where it was computed at the beginning
        self.slot: Val | None = None  # where shared address 0 would be in the block's slot: lower/memory/window.py
        self.below: set[str] = set()  # values that are %lanemask_lt
        self.after_barriers = ""  # the block after that in which a warp's exit is noted, where one is
        self.return_block = self.exit_block = "return"

    @property
    def kernel(self) -> KernelLowering:
        """The kernel: this function itself, or the one that it is lowered for."""
        assert self._kernel is not None
        return self._kernel

    @property
    def plan(self) -> KernelPlan:
        """What was decided about this kernel."""
        return self.kernel.plan

    @property
    def ptx(self) -> Module:
        """The module as it was parsed."""
        return self.module.module

    @property
    def block_size(self) -> tuple[int, int, int] | None:
        """The block's size from .reqntid, where known; other kernels may call a function too."""
        return self.plan.block if self.is_kernel or self.plan.owner else None

    # reading

    def src(self, inst: Inst, name: str, ptx_type: str = "") -> Val:
        """Operand `name` as a value of its row type, or of `ptx_type`."""
        i = inst.shape.names.index(name)
        return self.value(inst.operands[i], ptx_type or inst.shape.types[i])

    def has(self, inst: Inst, name: str) -> bool:
        """Whether the optional operand `name` is present."""
        return name in inst.shape.names

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value that `make` emits, reused within a block for the same key."""
        if self._made_in != self.blocks:
            self._made, self._made_in = {}, self.blocks
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def block_uniform(self, inst: Inst) -> bool:
        """Whether all warps of a block that have not ended are known to reach an instruction together."""
        return self.is_kernel and self.body is not None and id(inst) in self.body.analysis(block_uniform)

    def vec(self, inst: Inst, name: str, ptx_type: str = "") -> list[Val]:
        """The elements of a vector operand, or the one scalar, as values of the row type."""
        i = inst.shape.names.index(name)
        ptx_type = ptx_type or inst.shape.types[i]
        return [self.value(item, ptx_type) for item in self.items(inst.operands[i])]

    def items(self, operand: Operand) -> Sequence[Operand]:
        """The elements of a brace list; a scalar is a list of one."""
        return operand.items if isinstance(operand, Vec) else (operand,)

    def value(self, operand: Operand, ptx_type: str) -> Val:
        """One operand as a value of a PTX type."""
        ty = LLVM_TYPE[ptx_type][0]
        if isinstance(operand, Reg):
            v = self.register(operand.name, ty)
            return self.op("i1", f"xor i1 {v}, true") if operand.negated and ty == "i1" else v
        if isinstance(operand, Imm):
            return self.immediate(operand, ty)
        if isinstance(operand, Sym):
            place = window.window(self, operand.name)
            if place is not None:
                return self.cast(self.const(f"i{width(ty)}", place + operand.offset), ty)
            pointer = self.symbol_address(operand.name, operand.offset)
            n = width(pointer.ty)
            return self.cast(self.resize(self.op(f"i{n}", f"ptrtoint {pointer.t} to i{n}"), width(ty)), ty)
        if isinstance(operand, Vec) and len(operand.items) > 1:  # `mov.b64 d, {lo, hi}`
            n = width(ty) // len(operand.items)
            parts = [self.value(item, f"b{n}") for item in operand.items]
            return self.joined(*parts) if (n, len(parts), ty) == (16, 2, "i32") else self.pack(parts, ty)
        raise TypeError(f"operand {operand} has no value")

    # writing

    def put(self, inst: Inst, name: str, v: Val) -> None:
        """Write destination `name`; absent or `_` destinations are dropped."""
        names = inst.shape.names
        if name not in names:
            return
        i = names.index(name)
        operand = inst.operands[i]
        if isinstance(operand, Vec):
            parts = self.items(operand)
            n = width(v.ty) // len(parts)
            vector = self.cast(v, f"<{len(parts)} x i{n}>")
            for k, part in enumerate(parts):
                self.assign(part, self.op(f"i{n}", f"extractelement {vector.t}, i32 {k}"), f"b{n}")
            return
        self.assign(operand, v, inst.shape.types[i])

    def put_vec(self, inst: Inst, name: str, vals: Sequence[Val]) -> None:
        """Write the elements of a vector destination (or the one scalar)."""
        i = inst.shape.names.index(name)
        for item, v in zip(self.items(inst.operands[i]), vals, strict=True):
            self.assign(item, v, inst.shape.types[i])

    # addresses

    def address(self, inst: Inst, name: str, space: str) -> Val:
        """The address operand `name` as a pointer into `space`."""
        operand = inst.operands[inst.shape.names.index(name)]
        if isinstance(operand, Addr):
            return self.pointer(operand.base, operand.offset, space)
        return self.pointer(operand, 0, space)

    def pointer(self, base: Operand, offset: int, space: str) -> Val:
        """`base + offset` as a pointer into `space`."""
        if self.slot is not None and space.split("::")[0] == "shared":
            pointer = self._slot_pointer(base, offset)
            if pointer is not None:
                return pointer
        if isinstance(base, Sym):
            return self.symbol_address(base.name, base.offset + offset, space)
        ty = pointer_type("local" if space == "param" and not self.is_kernel else space)
        if isinstance(base, Imm):
            return self.op(ty, f"inttoptr i64 {(base.bits + offset) & (1 << 64) - 1} to {ty}")
        assert isinstance(base, Reg)
        entity = self.names.get(base.name)
        if isinstance(entity, Storage):
            return self.symbol_address(base.name, offset, space)
        n = entity.bits if isinstance(entity, Register) else 64
        v = self.register(base.name, f"i{n}")
        if ty == window.LDS:
            return self.displace(window.near(self, self.resize(v, 32)), offset)
        return self.displace(self.op(ty, f"inttoptr {v.t} to {ty}"), offset)

    def _slot_pointer(self, base: Operand, offset: int) -> Val | None:
        """`base + offset` as a pointer to shared memory, which lies in LDS or the slot; None for a variable, whose
        place is known."""
        if isinstance(base, Imm):
            return window.flat(self, self.const("i32", base.bits + offset))
        assert isinstance(base, Reg | Sym)
        entity = self.names.get(base.name)
        if not isinstance(base, Reg) or isinstance(entity, Storage):
            return None
        n = entity.bits if isinstance(entity, Register) else 64
        return window.flat(self, self.resize(self.value(base, f"b{n}"), 32), offset)

    def symbol_address(self, name: str, offset: int = 0, space: str | None = None) -> Val:
        """The address of a variable or function. Without `space`: in the variable's own space."""
        entity = self.names.get(name)
        place = window.window(self, name)
        if place is not None:
            assert self.slot is not None
            pointer = self.op(self.slot.ty, f"getelementptr i8, {self.slot.t}, i64 {place + offset}")
            return pointer if space != "" else self.op("ptr", f"addrspacecast {pointer.t} to ptr")
        if isinstance(entity, Storage) and entity.pointer is not None:
            pointer = self.displace(entity.pointer, offset)
        else:
            pointer = self.module.symbol_address(self, name, offset)
        if space is None or space == "param" or pointer.ty == pointer_type(space):
            return pointer
        ty = pointer_type(space)
        if {pointer.ty, ty} == {"ptr addrspace(3)", "ptr addrspace(5)"}:
            raise Unsupported(f"address of {name} used as {space}", self.name)
        return self.op(ty, f"addrspacecast {pointer.t} to {ty}")

    def declare(self, storage: Storage) -> None:
        """Allocate memory for a variable that a scope declares."""
        var = storage.var
        if var.space == "shared":
            if window.place(self, var, f"{self.name}.{var.name}") is None:
                key = f"{self.name}.{var.name}"
                storage.pointer = window.lds_variable(self.plan, key) or self.module.shared(var, quoted(key))
        else:  # local and param
            memory = f"%v{len(self.entry)}"
            storage.pointer = Val("ptr addrspace(5)", memory)
            ty = f"[{size_of(var)} x i8]" if var.count >= 0 or size_of(var) > 8 else f"i{8 * size_of(var)}"
            self.entry.append(f"  {memory} = alloca {ty}, align {max(4, align_of(var))}, addrspace(5)")

    # the rest

    def special(self, name: str) -> Val:
        """A special register, e.g. "%tid.x", as an i32 or i64 value."""
        return self.module.special(self, name)

    def guard(self, guard: Guard) -> Val:
        """The guard's register as an i1 (before `guard.negated`)."""
        return self.register(guard.reg, "i1")

    def trap(self) -> None:
        """End the launch with an error."""
        if self.target.arch.major == 11:
            self.call(self.helper("ptx2amd_trap"), "void")
        else:
            self.do("call void @llvm.trap()")

    def refuse(self, inst: Inst, reason: str) -> NoReturn:
        """Raise Unsupported with the kernel, line and opcode."""
        raise Unsupported(reason, self.name, inst.line, inst.shape.opcode)


__all__ = ["LLVM_TYPE", "FunctionLowering", "Val", "pointer_type"]
