"""Special registers: %tid, %laneid, %clock64 ... PTX manual: 10 Special Registers.

Threads fill waves in linear order (x fastest), in CUDA as on AMD GPUs; so a warp is 32 neighbouring
lanes in both warp mappings, and a lane's number in its warp is its number in the wave modulo 32."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ptx2amd.errors import Unsupported
from ptx2amd.lower.value import Val

if TYPE_CHECKING:
    from ptx2amd.lower.function import FunctionLowering

# Offsets of hidden kernel arguments (code object v5): AMDGPU usage, "Code Object V5 Metadata"
BLOCK_COUNT, GROUP_SIZE, DYNAMIC_LDS_SIZE = 0, 12, 120
MAX_BLOCK = 1024
DYNAMIC_LDS = "__ptx2amd_dynamic_lds"
SM_COUNT = 128  # what %nsmid says; %smid spreads the blocks over as many

_AXES = {"x": 0, "y": 1, "z": 2}
_SPECIALS: dict[str, Callable[[FunctionLowering], Val]] = {}


def special(fn: FunctionLowering, name: str) -> Val:
    """The value of a special register. Raises Unsupported for one that does not exist."""
    if match := re.fullmatch(r"%(\w+)\.([xyz])", name):
        reader = VECTORS.get(match[1])
        if reader is not None:
            return reader(fn, _AXES[match[2]])
    if name.endswith(".w") and name[1:-2] in VECTORS:
        return fn.const("i32", 0)
    reader1 = _SPECIALS.get(name)
    if reader1 is not None:
        return reader1(fn)
    if re.fullmatch(r"%(envreg|pm|reserved_smem_offset_)\d+(_64)?", name):
        return fn.const("i64" if name.endswith("_64") else "i32", 0)
    raise Unsupported(f"unknown special register {name}", fn.name)


def register(*names: str) -> Callable[[Callable[[FunctionLowering], Val]], Callable[[FunctionLowering], Val]]:
    def add(reader: Callable[[FunctionLowering], Val]) -> Callable[[FunctionLowering], Val]:
        for name in names:
            _SPECIALS[name] = reader
        return reader

    return add


def is_special(name: str) -> bool:
    """Whether PTX has a special register of this name."""
    return (
        name in _SPECIALS
        or name[1:-2] in VECTORS
        or re.fullmatch(r"%(envreg|pm|reserved_smem_offset_)\d+(_64)?", name) is not None
    )


# position in the grid


def hidden(fn: FunctionLowering, ty: str, offset: int) -> Val:
    """A hidden kernel argument."""
    base = fn.op("ptr addrspace(4)", "call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()")
    at = fn.op(base.ty, f"getelementptr inbounds i8, {base.t}, i64 {offset}")
    return fn.op(ty, f"load {ty}, {at.t}, align {2 if ty == 'i16' else 4}, !invariant.load !0, !noundef !0")


def tid(fn: FunctionLowering, axis: int) -> Val:
    return fn.op("i32", f"call range(i32 0, {MAX_BLOCK}) i32 @llvm.amdgcn.workitem.id.{'xyz'[axis]}()")


def ntid(fn: FunctionLowering, axis: int) -> Val:
    if fn.block_size is not None:
        return fn.const("i32", fn.block_size[axis])
    return fn.op("i32", f"zext nneg {hidden(fn, 'i16', GROUP_SIZE + 2 * axis).t} to i32")


def ctaid(fn: FunctionLowering, axis: int) -> Val:
    return fn.call(f"llvm.amdgcn.workgroup.id.{'xyz'[axis]}", "i32")


def nctaid(fn: FunctionLowering, axis: int) -> Val:
    return hidden(fn, "i32", BLOCK_COUNT + 4 * axis)


def zero(fn: FunctionLowering, axis: int = 0) -> Val:
    return fn.const("i32", 0)


def one(fn: FunctionLowering, axis: int = 0) -> Val:
    return fn.const("i32", 1)


# A grid without clusters is a grid of clusters of one block.
VECTORS: dict[str, Callable[[FunctionLowering, int], Val]] = {
    "tid": tid,
    "ntid": ntid,
    "ctaid": ctaid,
    "nctaid": nctaid,
    "clusterid": ctaid,
    "nclusterid": nctaid,
    "cluster_ctaid": zero,
    "cluster_nctaid": one,
}
_SPECIALS.update(
    {
        "%cluster_ctarank": zero,
        "%cluster_nctarank": one,
        "%current_graph_exec": lambda fn: fn.const("i64", 0),
        "%is_explicit_cluster": lambda fn: fn.const("i1", 0),
        "%gridid": lambda fn: fn.const("i64", 1),
        "%nsmid": lambda fn: fn.const("i32", SM_COUNT),
        "%aggr_smem_size": lambda fn: special(fn, "%total_smem_size"),
        "%reserved_smem_offset_begin": zero,
        "%reserved_smem_offset_end": zero,
        "%reserved_smem_offset_cap": zero,
        "%reserved_smem_offset_size": zero,
        "WARP_SZ": lambda fn: fn.const("i32", 32),
    }
)


def linear(fn: FunctionLowering, position: Callable, size: Callable) -> Val:
    """x + size.x * (y + size.y * z)"""
    x, y, z = (position(fn, axis) for axis in range(3))
    v = fn.op("i32", f"mul i32 {z}, {size(fn, 1)}")
    v = fn.op("i32", f"add i32 {v}, {y}")
    v = fn.op("i32", f"mul i32 {v}, {size(fn, 0)}")
    return fn.op("i32", f"add i32 {v}, {x}")


@register("%warpid")
def warpid(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"lshr i32 {linear(fn, tid, ntid)}, 5")


@register("%nwarpid")
def nwarpid(fn: FunctionLowering) -> Val:
    return fn.const("i32", MAX_BLOCK // 32)


@register("%smid")
def smid(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"urem i32 {linear(fn, ctaid, nctaid)}, {SM_COUNT}")


# position in the warp


@register("%laneid")
def laneid(fn: FunctionLowering) -> Val:
    low = fn.op("i32", "call range(i32 0, 33) i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)")
    if fn.target.wave_size == 32:
        return low
    lane = fn.op("i32", f"call range(i32 0, 64) i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 {low})")
    return fn.op("i32", f"and i32 {lane}, 31")


@register("%lanemask_eq")
def lanemask_eq(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"shl nuw i32 1, {laneid(fn)}")


@register("%lanemask_lt")
def lanemask_lt(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"add i32 {lanemask_eq(fn)}, -1")


@register("%lanemask_le")
def lanemask_le(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"lshr i32 -1, {fn.op('i32', f'sub i32 31, {laneid(fn)}')}")


@register("%lanemask_ge")
def lanemask_ge(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"shl i32 -1, {laneid(fn)}")


@register("%lanemask_gt")
def lanemask_gt(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"shl i32 -2, {laneid(fn)}")


# time


@register("%clock64")
def clock64(fn: FunctionLowering) -> Val:
    """The shader clock; where that has 20 bits only (gfx11), the constant-rate clock scaled to its order."""
    if fn.target.arch.cycle_counter_bits >= 64:
        return fn.call("llvm.readcyclecounter", "i64")
    return fn.op("i64", f"shl i64 {fn.call('llvm.readsteadycounter', 'i64')}, 4")


@register("%clock")
def clock(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"trunc {clock64(fn).t} to i32")


@register("%clock_hi")
def clock_hi(fn: FunctionLowering) -> Val:
    return high(fn, clock64(fn))


@register("%globaltimer")
def globaltimer(fn: FunctionLowering) -> Val:
    """Nanoseconds: the constant-rate clock ticks at 100 MHz."""
    return fn.op("i64", f"mul i64 {fn.call('llvm.readsteadycounter', 'i64')}, 10")


@register("%globaltimer_lo")
def globaltimer_lo(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"trunc {globaltimer(fn).t} to i32")


@register("%globaltimer_hi")
def globaltimer_hi(fn: FunctionLowering) -> Val:
    return high(fn, globaltimer(fn))


def high(fn: FunctionLowering, v: Val) -> Val:
    return fn.op("i32", f"trunc {fn.op('i64', f'lshr {v.t}, 32').t} to i32")


# shared memory


@register("%dynamic_smem_size")
def dynamic_smem_size(fn: FunctionLowering) -> Val:
    """The hidden argument is only filled in for kernels that use dynamic LDS, so this one does."""
    fn.module.uses_dynamic_lds = True
    fn.do(f'call void asm sideeffect "", "s"(i32 ptrtoint (ptr addrspace(3) @{DYNAMIC_LDS} to i32))')
    return hidden(fn, "i32", DYNAMIC_LDS_SIZE)


@register("%total_smem_size")
def total_smem_size(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"add i32 {dynamic_smem_size(fn)}, {fn.module.static_shared(fn)}")
