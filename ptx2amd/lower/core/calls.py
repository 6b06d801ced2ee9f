"""Calls: PTX functions as LLVM functions, and indirect calls.

A function in which a thread may `exit` returns an i1 beside its result that says so; the caller then exits in turn."""

from __future__ import annotations

from ptx2amd.lower.control import dispatch
from ptx2amd.lower.core.arguments import Signature, array, pass_argument, place, signature, take_result
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.names import Register
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.runtime.function_at import function_at
from ptx2amd.lower.runtime.launches import device_runtime_call
from ptx2amd.lower.runtime.runtime import runtime_call
from ptx2amd.ptx.ast import BranchTargets, Inst, Operand, Proto, Reg, Sym, Vec
from ptx2amd.ptx.layout import align_of


@lowers("call")
def call(fn: FunctionLowering, inst: Inst) -> None:
    callee = inst.get("f")
    results, arguments = (_items(inst.get(name)) for name in "da")
    if isinstance(callee, Sym) and not isinstance(fn.names.get(callee.name), Register):
        name = fn.module.module.aliases.get(callee.name, callee.name)
        function = fn.module.module.functions.get(name)
        if function is None:
            fn.refuse(inst, f"{name} is not declared")
        if not function.text and function.scope is None:
            if not any(call(fn, inst, name, results, arguments) for call in (runtime_call, device_runtime_call)):
                fn.refuse(inst, f"{name} has no definition in this module")
            return
        target = fn.module.lower_call(fn, function)
        how = signature(function.proto, fn.module.calls.may_exit(function))
    else:
        assert callee is not None
        proto = _prototype(fn, inst)
        handle = fn.value(Reg(callee.name) if isinstance(callee, Sym) else callee, "b64")
        target = str(function_at(fn, handle))
        how = signature(proto, fn.module.calls.indirect_may_exit)
    _emit(fn, inst, target, how, results, arguments)


def _items(operand: Operand | None) -> tuple[Operand, ...]:
    return () if operand is None else operand.items if isinstance(operand, Vec) else (operand,)


def _prototype(fn: FunctionLowering, inst: Inst) -> Proto:
    label = inst.get("b")
    entity = fn.names.get(label.name) if isinstance(label, Sym) else None
    if isinstance(entity, BranchTargets):  # .calltargets: all of one prototype
        return fn.module.module.functions[entity.targets[0]].proto
    if not isinstance(entity, Proto):
        fn.refuse(inst, "an indirect call without a prototype")
    return entity


def _emit(
    fn: FunctionLowering,
    inst: Inst,
    target: str,
    how: Signature,
    results: tuple[Operand, ...],
    arguments: tuple[Operand, ...],
) -> None:
    fn.calls = True
    if len(arguments) != len(how.params):
        fn.refuse(inst, f"{len(arguments)} arguments for {len(how.params)} parameters")
    passed = []
    if how.sret is not None:
        result = place(fn, inst, results[0])
        passed.append(f"ptr addrspace(5) sret({array(how.sret)}) align {align_of(how.sret)} {result}")
    for param, argument in zip(how.params, arguments, strict=True):
        passed.append(pass_argument(fn, inst, param, argument))
    text = f"call {how.result} {target}({', '.join(passed)})" + ("" if target[0] == "@" else " convergent")
    if how.result == "void":
        fn.do(text)
        return
    v = fn.op(how.result, text)
    types = (*(["i1"] if how.exits else []), *how.values)
    parts = [v] if len(types) == 1 else [fn.op(ty, f"extractvalue {v.t}, {at}") for at, ty in enumerate(types)]
    exited = parts.pop(0) if how.exits else None
    for operand, part in zip(results, parts, strict=False):
        take_result(fn, inst, operand, part)
    if exited is not None:
        rest = fn.block("back")
        fn.branch(exited, dispatch.way(fn, fn.exit_block), rest)
        fn.label(rest)
