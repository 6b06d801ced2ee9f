"""Shared memory beyond LDS: the block's slot of the arena in global memory (ptx2amd/interface/arena.py).

The block's first thread takes a slot when the block starts, and its last thread to end returns it. Free
slots are in a ring of tickets: a block that starts when none is free waits for its turn."""

from __future__ import annotations

from ptx2amd.interface.arena import ARENA, SLOT_BYTES
from ptx2amd.interface.environment import CELL_ARENA
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.order import fence
from ptx2amd.lower.runtime import special
from ptx2amd.lower.runtime.runtime import env

CELL = "@__ptx2amd_slot"  # in LDS: the slot's address (u64), threads left (u32), the slot's ticket (u32)
CELL_TEXT = f"{CELL} = internal addrspace(3) global [16 x i8] poison, align 16"
LEFT, TICKET = 8, 12
GLOBAL = "ptr addrspace(1)"
AGENT = 'syncscope("agent") monotonic'


def enter(fn: FunctionLowering) -> None:
    """At the start of a function: find the slot; a kernel takes it first."""
    plan = fn.plan.shared
    if plan is None:
        return
    fn.module.globals.setdefault(CELL, CELL_TEXT)
    if fn.is_kernel:
        _take(fn)
        fn.return_block = fn.exit_block = "leave"
    where = fn.op("i64", f"load i64, ptr addrspace(3) {CELL}, align 16")
    where = fn.call("llvm.amdgcn.readfirstlane.i64", "i64", where)
    slot = fn.op(GLOBAL, f"inttoptr {where.t} to {GLOBAL}")
    fn.slot = fn.op(GLOBAL, f"getelementptr i8, {slot.t}, i64 {-plan.split}")


def _take(fn: FunctionLowering) -> None:
    first, look, poll, sleep, have, ready = (
        fn.block(f"slot.{name}") for name in ("first", "look", "poll", "sleep", "have", "ready")
    )
    thread = special.linear(fn, special.tid, special.ntid)
    fn.branch(fn.op("i1", f"icmp eq {thread.t}, 0"), first, ready)
    fn.label(first)
    arena = _arena(fn)
    ring = _ring(fn, arena, "taken")
    fn.label(look)
    seen = fn.op("i32", f"load atomic i32, {ring.t} {AGENT}, align 4")
    fn.branch(fn.op("i1", f"icmp eq {seen.t}, 0"), sleep, poll)
    fn.label(sleep)
    fn.do("call void @llvm.amdgcn.s.sleep(i32 2)")
    fn.branch(look)
    fn.label(poll)
    ticket = fn.op("i32", f"atomicrmw xchg {ring.t}, i32 0 {AGENT}, align 4")
    fn.branch(fn.op("i1", f"icmp eq {ticket.t}, 0"), sleep, have)
    fn.label(have)
    fence(fn, "acquire", "gpu")
    start = fn.op("i64", f"load i64, {fn.displace(arena, ARENA['first'].offset).t}, align 8")
    number = fn.op("i64", f"zext {fn.op('i32', f'sub {ticket.t}, 1').t} to i64")
    offset = fn.op("i64", f"add {start.t}, {fn.op('i64', f'mul {number.t}, {SLOT_BYTES}')}")
    base = fn.op("i64", f"ptrtoint {arena.t} to i64")
    fn.do(f"store i64 {fn.op('i64', f'add {base.t}, {offset}')}, ptr addrspace(3) {CELL}, align 16")
    threads = special.ntid(fn, 0)
    for axis in (1, 2):
        threads = fn.op("i32", f"mul {threads.t}, {special.ntid(fn, axis)}")
    fn.do(f"store {threads.t}, {_cell(fn, LEFT).t}, align 4")
    fn.do(f"store {ticket.t}, {_cell(fn, TICKET).t}, align 4")
    fn.label(ready)
    fence(fn, "release", "cta")
    fn.call("llvm.amdgcn.s.barrier", "void")
    fence(fn, "acquire", "gpu")


def leave(fn: FunctionLowering) -> None:
    """The exit of a kernel, which each of its threads passes once."""
    if fn.slot is None or not fn.is_kernel:
        return
    last, attempt, sleep = (fn.block(f"slot.{name}") for name in ("last", "give", "wait"))
    fn.label("leave")
    fence(fn, "release", "cta")  # all waves' stores are in the slot before another block gets it
    left = fn.op("i32", f'atomicrmw sub {_cell(fn, LEFT).t}, i32 1 syncscope("workgroup") monotonic, align 4')
    fn.branch(fn.op("i1", f"icmp eq {left.t}, 1"), last, "return")
    fn.label(last)
    fence(fn, "acquire", "cta")
    ticket = fn.op("i32", f"load i32, {_cell(fn, TICKET).t}, align 4")
    fence(fn, "release", "gpu")
    ring = _ring(fn, _arena(fn), "given")
    fn.label(attempt)
    pair = fn.op("{ i32, i1 }", f"cmpxchg {ring.t}, i32 0, {ticket.t} {AGENT} monotonic, align 4")
    fn.branch(fn.op("i1", f"extractvalue {pair.t}, 1"), "return", sleep)
    fn.label(sleep)  # who took from this place in the ring has its ticket, but has not yet cleared it
    fn.do("call void @llvm.amdgcn.s.sleep(i32 2)")
    fn.branch(attempt)


def _arena(fn: FunctionLowering) -> Val:
    return fn.op(GLOBAL, f"inttoptr {env(fn, CELL_ARENA).t} to {GLOBAL}")


def _ring(fn: FunctionLowering, arena: Val, counter: str) -> Val:
    """The next place in the ring by one of its counters."""
    turn = fn.op("i32", f"atomicrmw add {fn.displace(arena, ARENA[counter].offset).t}, i32 1 {AGENT}, align 4")
    mask = fn.op("i32", f"load i32, {fn.displace(arena, ARENA['mask'].offset).t}, align 4")
    ring = fn.displace(arena, ARENA["ring"].offset)
    return fn.op(GLOBAL, f"getelementptr i32, {ring.t}, i32 {fn.op('i32', f'and {turn.t}, {mask}')}")


def _cell(fn: FunctionLowering, offset: int) -> Val:
    return fn.displace(Val("ptr addrspace(3)", CELL), offset)
