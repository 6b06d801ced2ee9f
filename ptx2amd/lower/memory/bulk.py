"""Bulk copies, reductions and stores, carried out when they are issued by the thread that issues them; then the
bytes are counted off the mbarrier. Waits for bulk groups have nothing left to do."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.loops import each, when
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import LLVM_TYPE, Val
from ptx2amd.lower.memory import atomic
from ptx2amd.lower.memory.memory import COUNT, space_of, write
from ptx2amd.lower.memory.order import SCOPES, byte_size, vector
from ptx2amd.lower.scalar.integer import binary, compare
from ptx2amd.lower.warp.mbarrier import complete
from ptx2amd.ptx.ast import Imm, Inst
from ptx2amd.ptx.layout import bits_of

CHUNK = 16  # bytes that addresses and sizes of bulk copies are multiples of
WIDE = 4  # chunks that are on their way at once


def at(fn: FunctionLowering, base: Val, index: Val) -> Val:
    """`base` plus `index` bytes (an i32)."""
    return fn.op(base.ty, f"getelementptr i8, {base.t}, i32 {index}")


def move(fn: FunctionLowering, inst: Inst, to: Val, source: Val, size: Val) -> None:
    """Copy `size` bytes, a multiple of 16. With .relaxed each 16 bytes are one access."""
    volatile = "volatile " if inst.shape.mods.get("sem", "").startswith("relaxed") else ""
    kind = f"{volatile}<4 x i32>"
    most = fn.op("i32", f"and {size.t}, {-WIDE * CHUNK}")
    with each(fn, most, WIDE * CHUNK) as i:
        far, near = at(fn, source, i), at(fn, to, i)
        parts = [fn.op("<4 x i32>", f"load {kind}, {fn.displace(far, CHUNK * k).t}, align 16") for k in range(WIDE)]
        for k, part in enumerate(parts):
            fn.do(f"store {volatile}{part.t}, {fn.displace(near, CHUNK * k).t}, align 16")
    rest = fn.op("i32", f"sub {size.t}, {most}")
    source, to = at(fn, source, most), at(fn, to, most)
    with each(fn, rest, CHUNK) as i:
        part = fn.op("<4 x i32>", f"load {kind}, {at(fn, source, i).t}, align 16")
        fn.do(f"store {volatile}{part.t}, {at(fn, to, i).t}, align 16")


def move_masked(fn: FunctionLowering, to: Val, source: Val, size: Val, mask: Val) -> None:
    """Copy byte i of each 16 bytes where bit i of `mask` is set."""
    with each(fn, size) as i:
        bit = fn.op("i32", f"lshr {mask.t}, {fn.op('i32', f'and {i.t}, 15')}")
        with when(fn, fn.op("i1", f"trunc {bit.t} to i1")):
            byte = fn.op("i8", f"load i8, {at(fn, source, i).t}")
            fn.do(f"store {byte.t}, {at(fn, to, i).t}")


def own(fn: FunctionLowering, mask: Val) -> Val:
    """Whether a mask of the cluster's blocks names this one, which is alone."""
    return fn.op("i1", f"trunc {mask.t} to i1")


@lowers("bulk_load")
def bulk_load(fn: FunctionLowering, inst: Inst) -> None:
    """Global to shared memory, with the bytes counted off an mbarrier."""
    to, source, size = fn.address(inst, "a", "shared"), fn.address(inst, "b", "global"), fn.src(inst, "c")
    barrier = fn.address(inst, "m", "shared")
    mask = fn.src(inst, "g") if inst.shape.mods.get("multicast") else fn.const("i16", 1)
    with when(fn, own(fn, mask)):
        move(fn, inst, to, source, size)
        complete(fn, barrier, size)


@lowers("bulk_load_inner")
def bulk_load_inner(fn: FunctionLowering, inst: Inst) -> None:
    """As bulk_load, but up to 15 bytes at each end, which may lie outside of the tensor, are left out. They count."""
    to, source, size = fn.address(inst, "a", "shared"), fn.address(inst, "b", "global"), fn.src(inst, "c")
    left, right = fn.src(inst, "x"), fn.src(inst, "y")
    end = binary(fn, "sub", size, right)
    with each(fn, size) as i:
        inside = binary(fn, "and", compare(fn, "uge", i, left), compare(fn, "ult", i, end))
        with when(fn, inside):
            byte = fn.op("i8", f"load i8, {at(fn, source, i).t}")
            fn.do(f"store {byte.t}, {at(fn, to, i).t}")
    complete(fn, fn.address(inst, "m", "shared"), size)


@lowers("bulk_move")
def bulk_move(fn: FunctionLowering, inst: Inst) -> None:
    """Shared to shared memory."""
    to, source, size = fn.address(inst, "a", "shared"), fn.address(inst, "b", "shared"), fn.src(inst, "c")
    barrier = fn.address(inst, "m", "shared")
    move(fn, inst, to, source, size)
    complete(fn, barrier, size)


@lowers("bulk_store")
def bulk_store(fn: FunctionLowering, inst: Inst) -> None:
    """Shared to global memory, perhaps some bytes of each 16 only."""
    to, source, size = fn.address(inst, "a", "global"), fn.address(inst, "b", "shared"), fn.src(inst, "c")
    if fn.has(inst, "k"):
        move_masked(fn, to, source, size, fn.resize(fn.src(inst, "k"), 32))
    else:
        move(fn, inst, to, source, size)


def reduce(fn: FunctionLowering, op: str, t: str, to: Val, value: Val, scope: str) -> None:
    """One relaxed atomic operation on an element of PTX type `t`."""
    name = atomic.operation(op, t)
    if name == "fadd":
        to = atomic.per_lane(fn, to)
    notes = atomic.notes(to, scope, name)
    fn.op(value.ty, f"atomicrmw {name} {to.t}, {value.t} {SCOPES[scope]}monotonic, align {byte_size(value.ty)}{notes}")


def reduce_all(fn: FunctionLowering, inst: Inst, to: Val, source: Val, size: Val, scope: str) -> None:
    """Element by element, each operation atomic. scope: the one without .relaxed."""
    scope = inst.shape.mods.get("sem", "").partition(".")[2] or scope
    op, t = inst.shape.mods["op"], inst.shape.mods["t"]
    ty = LLVM_TYPE[t][0]
    with each(fn, size, bits_of(t) // 8) as i:
        value = fn.op(ty, f"load {ty}, {at(fn, source, i).t}, align {bits_of(t) // 8}")
        reduce(fn, op, t, at(fn, to, i), value, scope)


@lowers("bulk_reduce")
def bulk_reduce(fn: FunctionLowering, inst: Inst) -> None:
    to, source, size = fn.address(inst, "a", "global"), fn.address(inst, "b", "shared"), fn.src(inst, "c")
    reduce_all(fn, inst, to, source, size, "gpu")


@lowers("bulk_reduce_shared")
def bulk_reduce_shared(fn: FunctionLowering, inst: Inst) -> None:
    to, source, size = fn.address(inst, "a", "shared"), fn.address(inst, "b", "shared"), fn.src(inst, "c")
    barrier = fn.address(inst, "m", "shared")
    reduce_all(fn, inst, to, source, size, "cta")
    complete(fn, barrier, size)


@lowers("st_async")
def st_async(fn: FunctionLowering, inst: Inst) -> None:
    """A store to shared memory, with its bytes counted off an mbarrier. Without a space addresses are generic."""
    mods = inst.shape.mods
    to, barrier, value = fn.address(inst, "a", space_of(inst)), fn.address(inst, "m", space_of(inst)), fn.vec(inst, "b")
    write(fn, to, vector(fn, value), {})
    complete(fn, barrier, fn.const("i32", COUNT[mods.get("vec", "")] * bits_of(mods["t"]) // 8))


@lowers("red_async")
def red_async(fn: FunctionLowering, inst: Inst) -> None:
    """An atomic operation on shared memory, with its bytes counted off an mbarrier."""
    op, t = inst.shape.mods["op"], inst.shape.mods["t"]
    to, barrier, value = fn.address(inst, "a", space_of(inst)), fn.address(inst, "m", space_of(inst)), fn.src(inst, "b")
    reduce(fn, op, t, to, value, "cta")
    complete(fn, barrier, fn.const("i32", bits_of(t) // 8))


@lowers("st_bulk")
def st_bulk(fn: FunctionLowering, inst: Inst) -> None:
    """Zeros to shared memory: a multiple of 8 bytes."""
    value = inst.get("c")
    if not isinstance(value, Imm) or value.bits:
        fn.refuse(inst, "the value must be 0")
    to, size = fn.address(inst, "a", space_of(inst)), fn.resize(fn.src(inst, "b"), 32)
    with each(fn, size, 8) as i:
        fn.do(f"store i64 0, {at(fn, to, i).t}, align 8")


# Requests to take over a block that has not started (clusterlaunchcontrol) fail: every block runs by itself. The
# answer is 16 bytes of zeros.


@lowers("try_cancel")
def try_cancel(fn: FunctionLowering, inst: Inst) -> None:
    to, barrier = fn.address(inst, "a", space_of(inst)), fn.address(inst, "m", space_of(inst))
    fn.do(f"store <4 x i32> zeroinitializer, {to.t}, align 16")
    complete(fn, barrier, fn.const("i32", CHUNK))


@lowers("is_cancelled")
def is_cancelled(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "p", fn.op("i1", f"trunc {fn.src(inst, 'a').t} to i1"))


@lowers("first_ctaid")
def first_ctaid(fn: FunctionLowering, inst: Inst) -> None:
    """Of a request that failed the answer names no block."""
    i = inst.shape.names.index("d")
    for item in fn.items(inst.operands[i]):
        fn.assign(item, fn.const("i32", 0), "b32")
