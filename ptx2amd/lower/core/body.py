"""The walk over a function body: blocks, guards, and the dispatch of instructions to their
lowerings (templates of the table's rows, or functions registered with @lowers)."""

from __future__ import annotations

from ptx2amd.errors import Unsupported
from ptx2amd.isa.effects import ATOMIC, JUMPS
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.lower.control import dispatch
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.names import Register, Storage, declare
from ptx2amd.lower.core.registry import Lowering, lowering
from ptx2amd.lower.core.value import LLVM_TYPE
from ptx2amd.middle.analyses.crossing import Crossing
from ptx2amd.middle.analyses.dispatch_loops import dispatch_loops
from ptx2amd.middle.analyses.loop_accesses import LoopAccesses
from ptx2amd.middle.body import Body
from ptx2amd.ptx.ast import Inst, Reg, Shape, Var, Vec

STRETCH = 1000  # lines of IR that LLVM may reorder: the time it takes grows with their square
Action = tuple[Lowering, bool]  # the lowering, whether it folds guards


def lower_body(fn: FunctionLowering, body: Body) -> None:
    """Lower a body into `fn.lines`; the allocas go to `fn.entry`."""
    fn.body = body
    _registers(fn, body)
    for item in body.declarations:
        entity = fn.names[item.name] if isinstance(item, Var) and item.space != "reg" else None
        if isinstance(entity, Storage):
            fn.declare(entity)
    accesses = body.analysis(LoopAccesses)
    found = dispatch.prepare(fn, body.analysis(dispatch_loops))
    for number, block in enumerate(body.blocks):
        if block.label is not None:
            dispatch.come_to(fn, number)
        if fn.is_kernel:
            fn.in_loop = number in accesses.loops
            fn.stores_in_loop = number in accesses.stores or (fn.in_loop and fn.plan.shared is not None)
        for op in block.ops:
            inst = op.inst
            fn.marks.append((len(fn.lines), inst.line))
            if op.does & ATOMIC or op.mods.get("sem", "weak") not in ("", "weak"):
                fn.strong.append(inst.line)
            if op.loc is not None:
                fn.origins.append((inst.line, op.loc.file, op.loc.line))
            instruction(fn, inst)
    if found and not fn.ended():
        fn.branch(dispatch.way(fn, fn.return_block))
    dispatch.finish(fn, found)


def _registers(fn: FunctionLowering, body: Body) -> None:
    """Declare the body's registers, with allocas for those whose values cross extended basic blocks."""
    crossing = body.analysis(Crossing)
    unset = crossing.registers if body.analysis(dispatch_loops) else crossing.unset  # dispatch blocks add paths
    for register in declare(body, fn.names):
        register.constant = crossing.constants.get(register.name)
        if register.name in crossing.registers and register.constant is None:
            ptx_type = crossing.registers[register.name]
            register.ty = LLVM_TYPE[ptx_type][0] if ptx_type else f"i{register.bits}"
            register.memory = f"%r{len(fn.entry)}"
            fn.entry.append(f"  {register.memory} = alloca {register.ty}, addrspace(5)")
            if register.name in unset:
                # A path may read it before any write: in PTX that is some value, in LLVM (without this) undefined
                # behaviour.
                fn.entry.append(f"  store {register.ty} zeroinitializer, ptr addrspace(5) {register.memory}")


def instruction(fn: FunctionLowering, inst: Inst) -> None:
    """Lower one instruction, with the guard as a branch around it."""
    shape = inst.shape
    action = fn.module.actions.get(id(shape))
    if action is None:
        action = fn.module.actions[id(shape)] = action_of(fn, inst)
    lower, folds = action
    if fn.ended():  # code that nothing jumps to
        fn.label(fn.block("dead"))
    if fn.blocks != fn.stretch[0]:
        fn.stretch = fn.blocks, len(fn.lines)
    elif len(fn.lines) - fn.stretch[1] > STRETCH:
        fn.stretch = fn.blocks, len(fn.lines)
        fn.do("call void @llvm.amdgcn.sched.barrier(i32 0)")
    try:
        guarded(fn, inst, lower, folds)
    except Unsupported as error:
        if error.line:
            raise
        raise Unsupported(error.reason, fn.name, inst.line, shape.opcode) from None


def guarded(fn: FunctionLowering, inst: Inst, lower: Lowering, folds: bool) -> None:
    """Run a lowering under the instruction's guard."""
    fn.split = False
    fn.loaded.clear()
    if inst.guard is None or folds:
        lower(fn, inst)
        if fn.split:
            fn.forget_loaded()
        return
    then, join = fn.block("then"), fn.block("join")
    cond = fn.guard(inst.guard)
    fn.loaded.clear()
    fn.branch(cond, *((join, then) if inst.guard.negated else (then, join)))
    fn.label(then)
    lower(fn, inst)
    fn.label(join)
    fn.forget_loaded()
    forget_written(fn, inst)


def forget_written(fn: FunctionLowering, inst: Inst) -> None:
    """After a guarded instruction, the values of its destinations are those in memory."""
    for name, operand in zip(inst.shape.names, inst.operands, strict=False):
        if name in DESTINATIONS:
            for item in operand.items if isinstance(operand, Vec) else fn.items(operand):
                entity = fn.names.get(item.name) if isinstance(item, Reg) else None
                if isinstance(entity, Register):
                    entity.values = {}


def action_of(fn: FunctionLowering, inst: Inst) -> Action:
    """How to lower instructions of this shape."""
    shape = inst.shape
    lower = shape.form.lower
    found = lowering(lower) if lower.isidentifier() else None
    if found is not None:
        return found, bool(shape.form.does & JUMPS)
    if shape.form.exact == "hint" and not lower:
        return lambda fn, inst: None, False
    if not lower or shape.form.exact.startswith("refused"):
        fn.refuse(inst, shape.form.exact.removeprefix("refused: ") or "not supported")
    if not lower.isidentifier():
        return template(shape), False
    raise AssertionError(f"{shape.form.syntax}: no lowering is registered as {lower!r}")


def template(shape: Shape) -> Lowering:
    """The lowering of a template row: one LLVM instruction over the sources; `{T}` is the type of d."""
    text = shape.form.lower
    sources = [(name, i, shape.types[i]) for i, name in enumerate(shape.names) if name not in DESTINATIONS]
    if "d" not in shape.names:
        return lambda fn, inst: fn.do(text.format(**{n: fn.value(inst.operands[i], t) for n, i, t in sources}))
    at = shape.names.index("d")
    result = shape.types[at]
    ty = LLVM_TYPE[result][0]

    op = text.removesuffix(" {a.t}, {b}")

    def lower(fn: FunctionLowering, inst: Inst) -> None:
        operands = inst.operands
        values = {name: fn.value(operands[i], t) for name, i, t in sources}
        if op != text:
            fn.assign(operands[at], fn.binary(op, values["a"], values["b"]), result)
        else:
            fn.assign(operands[at], fn.op(ty, text.format(T=ty, **values)), result)

    return lower
