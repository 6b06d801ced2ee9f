"""Atomic operations and reductions on memory."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import LLVM_TYPE, Val
from ptx2amd.lower.memory import wide
from ptx2amd.lower.memory.memory import space_of
from ptx2amd.lower.memory.order import ACQUIRES, ORDERS, SCOPES, byte_size, complete, released
from ptx2amd.ptx.ast import Inst

SIGNED = {"add": "add", "min": "min", "max": "max"}
UNSIGNED = {"min": "umin", "max": "umax", "inc": "uinc_wrap", "dec": "udec_wrap", "exch": "xchg"}
FLOAT = {"add": "fadd", "min": "fmin", "max": "fmax"}


def operation(op: str, ptx_type: str) -> str:
    """The atomicrmw operation of a PTX operation on a PTX type."""
    if "f" in ptx_type:
        return FLOAT[op]
    return SIGNED.get(op, op) if ptx_type[0] == "s" else UNSIGNED.get(op, op)


def notes(pointer: Val, scope: str, op: str) -> str:
    """What LLVM has to know to choose the hardware's own atomic instructions. System scope may mean
    memory of the host, where only part of them works: there LLVM stays careful."""
    text = "" if scope == "sys" else ", !amdgpu.no.fine.grained.memory !{}, !amdgpu.no.remote.memory !{}"
    if op.startswith("f"):
        text += ", !amdgpu.ignore.denormal.mode !{}"
    return text + (", !noalias.addrspace !{i32 5, i32 6}" if pointer.ty == "ptr" else "")


def scope_of(inst: Inst) -> str:
    """The scope of an atomic operation. Shared memory is the block's own: no other block sees it."""
    mods = inst.shape.mods
    if space_of(inst) == "shared" and (mods["sem"] or "relaxed") == "relaxed":
        return "cta"
    return mods["scope"] or "gpu"


def per_lane(fn: FunctionLowering, pointer: Val) -> Val:
    """The same pointer, made to look divergent to LLVM: for a uniform one it would sum the lanes' values first, and
    floating-point sums would be rounded otherwise than in PTX."""
    return fn.opaque(pointer)


@lowers("atom")
def atom(fn: FunctionLowering, inst: Inst) -> None:
    """atom and red on scalars, and on vectors, which are atomic element by element."""
    mods = inst.shape.mods
    scope = scope_of(inst)
    op = operation(mods["op"], mods["t"])
    pointer, values = fn.address(inst, "a", space_of(inst)), fn.vec(inst, "b")
    if mods["t"] == "b128":
        fn.put(inst, "d", wide.swap(fn, pointer, mods["sem"], mods["scope"] or "gpu", values[0]))
        return
    if op == "fadd":
        pointer = per_lane(fn, pointer)
    size = byte_size(values[0].ty)
    order = f"{SCOPES[scope]}{ORDERS[released(fn, mods['sem'] or 'relaxed', scope)]}"
    old = []
    for i, value in enumerate(values):
        at = fn.displace(pointer, i * size)
        text = f"atomicrmw {op} {at.t}, {value.t} {order}, align {size}{notes(at, scope, op)}"
        old.append(fn.op(value.ty, text))
    if mods["sem"] in ACQUIRES and scope == "cta":
        complete(fn, scope)
    if fn.has(inst, "d"):
        fn.put_vec(inst, "d", old)


@lowers("atom_cas")
def atom_cas(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    scope, sem = scope_of(inst), mods["sem"] or "relaxed"
    failure = {"acquire": "acquire", "acq_rel": "acquire"}.get(sem, "monotonic")
    pointer = fn.address(inst, "a", space_of(inst))
    expected, desired = fn.src(inst, "b"), fn.src(inst, "c")
    ty = LLVM_TYPE[mods["t"]][0]
    if ty == wide.WIDE:
        old = wide.compare_and_swap(fn, pointer, sem, mods["scope"] or "gpu", expected, desired)
        fn.put(inst, "d", old)
        return
    order = ORDERS[released(fn, sem, scope)]
    pair = fn.op(
        f"{{ {ty}, i1 }}",
        f"cmpxchg {pointer.t}, {expected.t}, {desired.t} {SCOPES[scope]}{order} {failure}, "
        f"align {byte_size(ty)}{notes(pointer, scope, 'cmpxchg')}",
    )
    if sem in ACQUIRES and scope == "cta":
        complete(fn, scope)
    fn.put(inst, "d", fn.op(ty, f"extractvalue {pair.t}, 0"))
