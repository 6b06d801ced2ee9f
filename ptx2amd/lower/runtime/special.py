"""Special registers: %tid, %laneid, %clock64 ... PTX manual: 10 Special Registers.

Threads fill waves in linear order (x fastest), in CUDA as on AMD GPUs; so a warp is 32 neighbouring
lanes in the native and paired mappings, and a lane's number in its warp is its number in the wave modulo 32.
In the padded mapping the hardware's workgroup is twice the block in x: threads are numbered without the
upper half of each wave."""

from __future__ import annotations

import re
from collections.abc import Callable

from ptx2amd.errors import Unsupported
from ptx2amd.interface.launch_words import LAUNCH_WORDS
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.window import DYNAMIC_LDS
from ptx2amd.plan.shared_memory import static_shared
from ptx2amd.ptx import reserved
from ptx2amd.ptx.ast import Sym

OnAxis = Callable[[FunctionLowering, int], Val]  # a position or a size in one of the three axes

# Offsets of hidden kernel arguments (code object v5): AMDGPU usage, "Code Object V5 Metadata"
BLOCK_COUNT, GROUP_SIZE, DYNAMIC_LDS_SIZE = 0, 12, 120
PACKET_LDS_SIZE = 28  # in the dispatch packet of HSA: static and dynamic
# Words that the launch appends to the parameters, before the hidden arguments
RECORDS, WORKSPACE, DYNAMIC_SHARED_SIZE = (field.offset - LAUNCH_WORDS.size for field in LAUNCH_WORDS.fields.values())
GRID_WORKSPACE = {"%envreg2": WORKSPACE, "%envreg1": WORKSPACE + 4}  # low and high half of an address
MAX_BLOCK = 1024
MOST_BLOCKS_YZ = 65535  # that launches check
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
    if name in GRID_WORKSPACE:
        if not fn.plan.launch_words:
            raise Unsupported(f"{name} (cooperative grids) in whole-module code objects; ptx2amd run has it", fn.name)
        return hidden(fn, "i32", GRID_WORKSPACE[name])
    if re.fullmatch(r"%(envreg|pm)\d+(_64)?", name):
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
    return name in _SPECIALS or name[1:-2] in VECTORS or re.fullmatch(r"%(envreg|pm)\d+(_64)?", name) is not None


# position in the grid


def hidden(fn: FunctionLowering, ty: str, offset: int, most: int = 0, alone: bool = False) -> Val:
    """A hidden kernel argument. most: what is known of it, if it is from 1 to that. alone: LLVM is not to see that the
    argument begins a dword, of which it would read all and mask the rest off."""
    known = f", !range !{{{ty} 1, {ty} {most + 1}}}" if most else ""
    base = fn.op("ptr addrspace(4)", "call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()")
    if alone:
        base = fn.op("ptr addrspace(1)", f"addrspacecast {base.t} to ptr addrspace(1)")
    at = fn.op(base.ty, f"getelementptr inbounds i8, {base.t}, i64 {offset}")
    align = 2 if alone or offset % 4 else 4
    return fn.op(ty, f"load {ty}, {at.t}, align {align}, !invariant.load !0, !noundef !0{known}")


def item(fn: FunctionLowering, axis: int) -> Val:
    """The hardware's place in the workgroup."""
    return fn.op("i32", f"call range(i32 0, {MAX_BLOCK}) i32 @llvm.amdgcn.workitem.id.{'xyz'[axis]}()")


def items(fn: FunctionLowering, axis: int) -> Val:
    """The hardware's size of the workgroup."""
    if fn.block_size is not None:
        return fn.const("i32", fn.block_size[axis] << (fn.target.padded and axis == 0))
    alone = axis == 0 and fn.target.arch.major >= 12  # which has scalar loads of 16 bits
    size = hidden(fn, "i16", GROUP_SIZE + 2 * axis, MAX_BLOCK, alone)
    return fn.op("i32", f"zext nneg {size.t} to i32")


def tid(fn: FunctionLowering, axis: int) -> Val:
    if not fn.target.padded:
        return item(fn, axis)
    flat = fn.block_size is not None and fn.block_size[1:] == (1, 1)
    if flat:
        return zero(fn) if axis else padded_thread(fn)
    if fn.thread:
        return fn.thread[axis]
    v = padded_thread(fn)
    for below in range(axis):
        v = fn.op("i32", f"udiv i32 {v}, {ntid(fn, below)}")
    return v if axis == 2 else fn.op("i32", f"urem i32 {v}, {ntid(fn, axis)}")


def ntid(fn: FunctionLowering, axis: int) -> Val:
    size = items(fn, axis)
    return fn.op("i32", f"lshr exact i32 {size}, 1") if fn.target.padded and axis == 0 else size


def padded_thread(fn: FunctionLowering) -> Val:
    """Padded mapping: the thread's linear number in its block (of an upper half: the number of another)."""
    place = linear(fn, item, items)
    warp = fn.op("i32", f"and i32 {fn.op('i32', f'lshr i32 {place}, 1')}, {MAX_BLOCK // 2 - 32}")
    return fn.op("i32", f"or disjoint i32 {warp}, {fn.op('i32', f'and i32 {place}, 31')}")


def padded_threads(fn: FunctionLowering) -> None:
    """Padded mapping: compute %tid once, at a kernel's beginning. Most blocks have one row, in which a thread's number
    needs no division."""
    if fn.block_size is not None:
        return
    plain, divided, done = fn.block("row"), fn.block("rows"), fn.block("thread")
    thread = padded_thread(fn)
    rows = fn.op("i32", f"mul i32 {ntid(fn, 1)}, {ntid(fn, 2)}")
    fn.branch(fn.op("i1", f"icmp eq i32 {rows}, 1"), plain, divided)
    fn.label(divided)
    several = [tid(fn, axis) for axis in range(3)]
    fn.branch(done)
    fn.label(plain)
    fn.label(done)
    alone = (thread, zero(fn), zero(fn))
    pairs = zip(alone, several, strict=True)
    fn.thread = [fn.op("i32", f"phi i32 [ {one}, %{plain} ], [ {other}, %{divided} ]") for one, other in pairs]


def padding(fn: FunctionLowering) -> Val:
    """Padded mapping: whether the lane is no thread of the block: it is in an upper half, or beyond the
    last warp's threads."""
    upper = fn.op("i32", f"and i32 {linear(fn, item, items)}, 32")
    off = fn.op("i1", f"icmp ne i32 {upper}, 0")
    threads = ntid(fn, 0)
    for axis in (1, 2):
        threads = fn.op("i32", f"mul i32 {threads}, {ntid(fn, axis)}")
    beyond = fn.op("i1", f"icmp uge i32 {padded_thread(fn)}, {threads}")
    return fn.op("i1", f"or i1 {off}, {beyond}")


def most_blocks(fn: FunctionLowering, axis: int) -> int:
    """Of a launch's grid; 0: unknown."""
    return fn.plan.blocks and (MOST_BLOCKS_YZ if axis else fn.plan.blocks)


def ctaid(fn: FunctionLowering, axis: int) -> Val:
    most = most_blocks(fn, axis)
    known = f"range(i32 0, {most}) " if most else ""
    return fn.op("i32", f"call {known}i32 @llvm.amdgcn.workgroup.id.{'xyz'[axis]}()")


def nctaid(fn: FunctionLowering, axis: int) -> Val:
    return hidden(fn, "i32", BLOCK_COUNT + 4 * axis, most_blocks(fn, axis))


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
        "%reserved_smem_offset_cap": lambda fn: fn.const("i32", reserved.BYTES),
        "WARP_SZ": lambda fn: fn.const("i32", 32),
    }
)


def _reserved(offset: int) -> Callable[[FunctionLowering], Val]:
    return lambda fn: fn.value(Sym(reserved.NAME, offset), "u32")


_SPECIALS.update({f"{reserved.NAME}_offset_{which}": _reserved(at) for which, at in reserved.OFFSETS.items()})


def linear(fn: FunctionLowering, position: OnAxis, size: OnAxis) -> Val:
    """x + size.x * (y + size.y * z)"""
    x, y, z = (position(fn, axis) for axis in range(3))
    v = fn.op("i32", f"mul i32 {z}, {size(fn, 1)}")
    v = fn.op("i32", f"add i32 {v}, {y}")
    v = fn.op("i32", f"mul i32 {v}, {size(fn, 0)}")
    return fn.op("i32", f"add i32 {v}, {x}")


@register("%warpid")
def warpid(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"lshr i32 {linear(fn, item, items)}, {6 if fn.target.padded else 5}")


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
    if not fn.target.paired:
        return low
    lane = fn.op("i32", f"call range(i32 0, 64) i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 {low})")
    return fn.op("i32", f"and i32 {lane}, 31")


@register("%lanemask_eq")
def lanemask_eq(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"shl nuw i32 1, {laneid(fn)}")


@register("%lanemask_lt")
def lanemask_lt(fn: FunctionLowering) -> Val:
    below = fn.op("i32", f"add i32 {lanemask_eq(fn)}, -1")
    fn.below.add(below.ref)
    return below


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
    """What the dispatch packet has of LDS behind the static part. HIP 5 fills in no hidden argument with the size; that
    is for functions that are called, which have no packet, and is only there for kernels that use dynamic LDS."""
    if fn.plan.shared is not None:
        if not fn.plan.launch_words:
            why = "the size of dynamic shared memory where static one is beyond LDS, in whole-module code objects"
            raise Unsupported(f"{why}; ptx2amd run has it", fn.name)
        return hidden(fn, "i32", DYNAMIC_SHARED_SIZE)
    fn.module.uses_dynamic_lds = True
    if fn.is_kernel:
        packet = fn.op("ptr addrspace(4)", "call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()")
        at = fn.op(packet.ty, f"getelementptr inbounds i8, {packet.t}, i64 {PACKET_LDS_SIZE}")
        whole = fn.op("i32", f"load i32, {at.t}, align 4, !invariant.load !0, !noundef !0")
        return fn.op("i32", f"sub i32 {whole}, ptrtoint (ptr addrspace(3) @{DYNAMIC_LDS} to i32)")
    fn.do(f'call void asm sideeffect "", "s"(i32 ptrtoint (ptr addrspace(3) @{DYNAMIC_LDS} to i32))')
    return hidden(fn, "i32", DYNAMIC_LDS_SIZE)


@register("%total_smem_size")
def total_smem_size(fn: FunctionLowering) -> Val:
    """In units of 128 bytes, in which GPUs from compute capability 8.0 on allocate."""
    static = static_shared(fn.module.calls, fn.module.module.functions[fn.name])
    return fn.op("i32", f"and i32 {fn.op('i32', f'add i32 {dynamic_smem_size(fn)}, {static + 127}')}, -128")
