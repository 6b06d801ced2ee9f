"""Shared addresses of a kernel with shared memory beyond LDS: below the plan's `split` they are LDS
addresses, from there on they lie in the block's slot of the arena (`fn.slot` is where address 0 would be)."""

from __future__ import annotations

from ptx2amd.interface.arena import SLOT_BYTES
from ptx2amd.lower.core.emit import Emitter
from ptx2amd.lower.core.names import Entity, Storage
from ptx2amd.lower.core.value import Val
from ptx2amd.plan.kernel import KernelPlan
from ptx2amd.ptx.ast import Module, Var
from ptx2amd.ptx.layout import size_of

GLOBAL, LDS = "ptr addrspace(1)", "ptr addrspace(3)"
DYNAMIC_LDS = "__ptx2amd_dynamic_lds"  # where the dynamic shared memory begins


class Windowed(Emitter):
    """What addresses of shared memory are made from. name: of the function; slot: where shared address 0 would be in
    the block's slot; ptx: the module."""

    name: str
    names: dict[str, Entity]
    slot: Val | None = None

    @property
    def plan(self) -> KernelPlan:
        """What was decided about the kernel."""
        raise NotImplementedError

    @property
    def ptx(self) -> Module:
        """The module as it was parsed."""
        raise NotImplementedError


def window(fn: Windowed, name: str) -> int | None:
    """The shared address of a variable that lies in the slot; None for all others."""
    plan = fn.plan.shared
    if plan is None:
        return None
    entity = fn.names.get(name)
    if isinstance(entity, Storage):
        var, key = entity.var, f"{fn.name}.{name}"
    elif entity is None:
        found = fn.ptx.variables.get(fn.ptx.aliases.get(name, name))
        if found is None:
            return None
        var, key = found, found.name
    else:
        return None
    return place(fn, var, key)


def place(fn: Windowed, var: Var, key: str) -> int | None:
    """The same for a variable and its key in the plan."""
    plan = fn.plan.shared
    if plan is None or var.space != "shared":
        return None
    if size_of(var) == 0 or var.linkage == "extern":
        return plan.split + plan.dynamic
    return plan.split + plan.offsets[key] if key in plan.offsets else None


def near(fn: Windowed, address: Val) -> Val:
    """The LDS pointer for a shared address (an i32). Where the kernel's shared memory is one object, it points into
    that object, so that LLVM sees the common base of accesses and can join neighbouring ones."""
    plan = fn.plan.lds
    if plan is None:
        return fn.op(LDS, f"inttoptr {address.t} to {LDS}")
    name = lds_object(fn.plan)
    start = fn.op("i32", f"ptrtoint {LDS} {name} to i32")
    inside = fn.op("i32", f"sub {address.t}, {start}")
    return fn.op(LDS, f"getelementptr i8, {LDS} {name}, {inside.t}")


def lds_object(plan: KernelPlan) -> str:
    """The name of the object that the kernel's shared memory is."""
    assert plan.lds is not None
    return f'@"{plan.name}.shared"' if plan.lds.size else f"@{DYNAMIC_LDS}"


def lds_variable(plan: KernelPlan, key: str) -> Val | None:
    """A static variable, by its key in the plan, as a part of that object; None where it is an object of its own."""
    if plan.lds is None or key not in plan.lds.offsets or not plan.lds.size:
        return None
    return Val(LDS, f"getelementptr (i8, {LDS} {lds_object(plan)}, i32 {plan.lds.offsets[key]})")


def flat(fn: Windowed, address: Val, offset: int = 0) -> Val:
    """The pointer for a shared address (an i32) plus a constant: a global one, or, where some variables lie
    in LDS, a generic one."""
    plan, slot = fn.plan.shared, fn.slot
    assert plan is not None and slot is not None
    if plan.mixed and offset:
        address, offset = fn.op("i32", f"add {address.t}, {offset}"), 0
    wide = fn.op("i64", f"zext {address.t} to i64")
    far = fn.displace(fn.op(GLOBAL, f"getelementptr i8, {slot.t}, {wide.t}"), offset)
    if not plan.mixed:
        return far
    far = fn.op("ptr", f"addrspacecast {far.t} to ptr")
    near = fn.op("ptr addrspace(3)", f"inttoptr {address.t} to ptr addrspace(3)")
    near = fn.op("ptr", f"addrspacecast {near.t} to ptr")
    beyond = fn.op("i1", f"icmp uge {address.t}, {plan.split}")
    return fn.op("ptr", f"select {beyond.t}, {far.t}, {near.t}")


def inside(fn: Windowed, generic: Val) -> Val:
    """Whether a generic address (an i64) is in the block's slot."""
    plan = fn.plan.shared
    assert plan is not None
    past = fn.op("i64", f"sub {_distance(fn, generic).t}, {plan.split}")
    return fn.op("i1", f"icmp ult {past.t}, {SLOT_BYTES}")


def address(fn: Windowed, generic: Val) -> Val:
    """The shared address (an i32) of a generic address (an i64) into shared memory."""
    plan = fn.plan.shared
    assert plan is not None
    far = fn.op("i32", f"trunc {_distance(fn, generic).t} to i32")
    if not plan.mixed:
        return far
    near = fn.op("i32", f"trunc {generic.t} to i32")  # of an LDS address the low half
    return fn.op("i32", f"select {inside(fn, generic).t}, {far.t}, {near.t}")


def _distance(fn: Windowed, generic: Val) -> Val:
    assert fn.slot is not None
    return fn.op("i64", f"sub {generic.t}, {fn.cast(fn.slot, 'i64')}")
