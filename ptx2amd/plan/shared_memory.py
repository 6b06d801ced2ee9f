"""Where a kernel's shared memory lies: in LDS, or, what does not fit, in the block's slot of an arena in
global memory.

A shared address is a number below 4 GiB. Those below the chip's LDS size are LDS addresses; those from
there on (the plan's `split`) are offsets into the slot."""

from __future__ import annotations

from collections.abc import Iterable

from ptx2amd.middle.calls import CallGraph
from ptx2amd.ptx.ast import Function, Var
from ptx2amd.ptx.layout import align_of, size_of
from ptx2amd.records import dataclass, replace
from ptx2amd.target.arch import Arch

SLOT_ALIGN = 1024  # swizzles of tensor copies repeat after as many bytes
JOINED = 16  # bytes of the widest access to LDS
OWN_LDS = 512  # bytes kept for what the lowering itself puts into LDS: the slot's address, barriers
LDS, SPILLED = "lds", "spilled"
VARIANTS = (LDS, SPILLED)


@dataclass(frozen=True, slots=True)
class Array:
    """A static shared variable: its LLVM name, bytes, alignment in bytes."""

    name: str
    size: int
    align: int


def raised(size: int, align: int) -> int:
    """The alignment of a shared variable of `size` bytes, of which PTX asks `align`: at least the widest access of LDS
    where the variable is as large, so that LLVM can join accesses to neighbouring elements."""
    return max(align, min(JOINED, 1 << size.bit_length() - 1)) if size else align


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """split: the first address of the slot; offsets: variables in the slot -> bytes from its start; dynamic:
    where the dynamic shared memory starts in the slot; mixed: whether there are variables in LDS too."""

    split: int
    offsets: dict[str, int]
    dynamic: int
    mixed: bool


@dataclass(frozen=True, slots=True)
class LdsObject:
    """The variables of a kernel as one object in LDS, so that any shared address is one into it: its bytes and
    alignment, and the variables' offsets by LLVM name. 0 bytes: the dynamic shared memory alone."""

    size: int
    align: int
    offsets: dict[str, int]


def one_object(arrays: Iterable[Array]) -> LdsObject | None:
    """The object of these variables; None where static and dynamic ones meet, or there are none."""
    aligned = [replace(a, align=raised(a.size, a.align)) for a in arrays]
    ordered = sorted(aligned, key=lambda a: (-a.align, a.name))
    if not ordered or len({a.size == 0 for a in ordered}) > 1:
        return None
    offsets = {a.name: packed(ordered[:i]) for i, a in enumerate(ordered)}
    at = {a.name: -(-offsets[a.name] // a.align) * a.align for a in ordered}
    return LdsObject(packed(ordered), ordered[0].align, at)


def plan(arrays: Iterable[Array], arch: Arch, variant: str = LDS) -> SharedPlan | None:
    """The plan of a kernel with these static variables; None when LDS holds all its shared memory.

    variant SPILLED: the dynamic shared memory is in the slot. Small variables stay in LDS while they fit."""
    aligned = (replace(a, align=raised(a.size, a.align)) for a in arrays)
    smallest = sorted(aligned, key=lambda a: (a.size, a.name))
    total = sum(a.size + a.align - 1 for a in smallest)
    if variant == LDS and packed(smallest) <= arch.lds:
        return None
    room = arch.lds - OWN_LDS
    kept: list[Array] = []
    if total <= room:
        kept = smallest
    else:
        for array in smallest:
            if packed([*kept, array]) > room:
                break
            kept.append(array)
    offsets, at = {}, 0
    for array in smallest[len(kept) :]:
        at = -(-at // array.align) * array.align
        offsets[array.name] = at
        at += array.size
    return SharedPlan(arch.lds, offsets, -(-at // SLOT_ALIGN) * SLOT_ALIGN, bool(kept))


def packed(arrays: Iterable[Array]) -> int:
    """Bytes that variables take together, those of the largest alignment first."""
    total = 0
    for array in sorted(arrays, key=lambda a: a.align, reverse=True):
        total = -(-total // array.align) * array.align + array.size
    return total


def bytes_of(variables: Iterable[Var]) -> int:
    """Bytes that variables take together."""
    return packed(Array(var.name, size_of(var), align_of(var)) for var in variables)


def shared_arrays(calls: CallGraph, function: Function) -> list[Array]:
    """The shared variables of a function and of all that it calls; the dynamic ones have no bytes."""
    reached = calls.reachable(function)
    used = {name for f in reached for name in calls.summary(f).functions}
    found = [(name, v) for name, v in calls.module.variables.items() if v.space == "shared" and name in used]
    found += [(f"{f.proto.name}.{v.name}", v) for f in reached for v in calls.summary(f).shared]
    return [Array(name, size_of(v), align_of(v)) for name, v in found]


def static_shared(calls: CallGraph, function: Function) -> int:
    """Bytes of static shared memory of a function and of all that it calls."""
    return packed(shared_arrays(calls, function))
