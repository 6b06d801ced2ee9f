"""Named barriers: for a part of the block, with arrivals that do not wait (PTX manual: barrier).

Each of the 16 barriers is a word in LDS: bits 0-5 count the warps that have come in this phase, the others
number the phases. The warp that completes a phase begins the next in the same compare-and-swap, so a
barrier can be used again at once, by other participants and with another count. Warps that wait poll the
phase. Barriers of the whole block remain the hardware's, except those with the number of a partial one.

A warp counts as one however many of its threads come, as in PTX.

Further words are barriers of the block's warp groups, which meet around their matrix products (wgmma)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ptx2amd.lower.lanes import ballot, leader
from ptx2amd.lower.order import fence
from ptx2amd.lower.value import Val
from ptx2amd.ptx.ast import Imm, Var

if TYPE_CHECKING:
    from ptx2amd.lower.function import FunctionLowering
    from ptx2amd.lower.module import ModuleLowering
    from ptx2amd.ptx.ast import Function, Inst

BARRIERS = 16
GROUPS, GROUP = 16, 128  # words for warp groups, of which a block has up to 8; threads of one
PHASE = 64  # the phases' unit in the word: above the count of warps
STATES = Var("shared", "u32", "__ptx2amd_barriers", count=BARRIERS)
VOTES = Var("shared", "u32", "__ptx2amd_barrier_votes", count=BARRIERS)
GROUP_STATES = Var("shared", "u32", "__ptx2amd_warp_groups", count=GROUPS)
ACCESS = 'syncscope("workgroup") monotonic'


def numbers(module: ModuleLowering, function: Function, block: tuple[int, int, int] | None) -> frozenset[int | None]:
    """The numbers of the barriers that a kernel uses (a function: that it uses itself) for a part of the
    block; None stands for a number that only a register knows."""
    users = module.reachable(function) if function.kind == "entry" else [function]
    whole = prod(block) if block else -1
    return frozenset(number for f in users for number, count in module.summary(f).parts if count != whole)


def applies(fn: FunctionLowering, inst: Inst) -> bool:
    """Whether a bar.sync or bar.red is one of the named barriers, rather than the hardware's."""
    which, count = inst.get("a"), inst.get("b")
    if isinstance(which, Imm) and which.bits >= BARRIERS:
        fn.refuse(inst, f"barrier {which.bits}: a block has {BARRIERS}")
    if isinstance(count, Imm) and count.bits % 32:
        fn.refuse(inst, f"{count.bits} threads at a barrier, which is no multiple of 32")
    if not fn.named_barriers:
        return False
    if not isinstance(which, Imm):
        return True
    if which.bits in fn.named_barriers or (None in fn.named_barriers and which.bits):
        return True
    return fn.has(inst, "b") and not _whole(fn, inst)


def _whole(fn: FunctionLowering, inst: Inst) -> bool:
    count = inst.get("b")
    return fn.block_size is not None and isinstance(count, Imm) and count.bits == prod(fn.block_size)


def number(fn: FunctionLowering, inst: Inst) -> Val:
    """The barrier's number."""
    which = inst.get("a")
    if isinstance(which, Imm) and which.bits >= BARRIERS:
        fn.refuse(inst, f"barrier {which.bits}: a block has {BARRIERS}")
    return fn.op("i32", f"and i32 {fn.src(inst, 'a')}, {BARRIERS - 1}")


def warps(fn: FunctionLowering, inst: Inst) -> Val:
    """How many warps take part: those of the thread count, else of the block."""
    if fn.has(inst, "b"):
        threads = fn.src(inst, "b")
    else:
        threads = fn.special("%ntid.x")
        for axis in "yz":
            threads = fn.op("i32", f"mul {threads.t}, {fn.special(f'%ntid.{axis}')}")
    return fn.op("i32", f"lshr i32 {fn.op('i32', f'add {threads.t}, 31')}, 5")


def words(fn: FunctionLowering, var: Var, index: Val) -> Val:
    """A word of one of the arrays in LDS."""
    base = fn.module.shared(var, f"@{var.name}")
    return fn.op(base.ty, f"getelementptr inbounds i32, {base.t}, {index.t}")


def prepare(fn: FunctionLowering) -> None:
    """At the start of a kernel: all barriers in their first phase."""
    lane = fn.special("%laneid")
    used = (STATES, VOTES) if fn.named_barriers - {BARRIERS} else ()
    if BARRIERS in fn.named_barriers:
        used = (*used, GROUP_STATES)
    clear, ready = fn.block("barriers.clear"), fn.block("barriers.ready")
    fn.branch(fn.op("i1", f"icmp ult {lane.t}, {max(var.count for var in used)}"), clear, ready)
    fn.label(clear)
    for var in used:
        fn.do(f"store i32 0, {words(fn, var, lane).t}")
    fn.label(ready)
    barrier(fn)


def meet(
    fn: FunctionLowering, which: Val, expected: Val, wait: bool = True, clear: Val | None = None, states: Var = STATES
) -> None:
    """The warp comes to barrier `which` of `expected` warps, and waits for the others; the last to come
    first zeroes the word at `clear`. One lane acts for its warp."""
    state = words(fn, states, which)
    come, attempt, came, poll, sleep, join = (
        fn.block(f"bar.{name}") for name in ("come", "attempt", "came", "poll", "sleep", "join")
    )
    seen = fn.block("seen")
    fence(fn, "release", "cta")
    fn.branch(leader(fn), come, join)

    fn.label(come)
    first = fn.op("i32", f"load atomic i32, {state.t} {ACCESS}, align 4")
    fn.label(attempt)
    old = fn.op("i32", f"phi i32 [ {first}, %{come} ], [ %{seen}, %{attempt} ]")
    phase = fn.op("i32", f"and {old.t}, {-PHASE}")
    more = fn.op("i32", f"add {old.t}, 1")
    count = fn.op("i32", f"and {more.t}, {PHASE - 1}")
    last = fn.op("i1", f"icmp eq {count.t}, {expected}")
    following = fn.op("i32", f"add {phase.t}, {PHASE}")
    new = fn.op("i32", f"select {last.t}, {following.t}, {more.t}")
    if clear is not None:
        keep = fn.op("i32", f"select {last.t}, i32 0, i32 -1")
        fn.do(f"atomicrmw and {clear.t}, {keep.t} {ACCESS}")
    pair = fn.op("{ i32, i1 }", f"cmpxchg {state.t}, {old.t}, {new.t} {ACCESS} monotonic, align 4")
    fn.do(f"%{seen} = extractvalue {pair.t}, 0")
    fn.branch(fn.op("i1", f"extractvalue {pair.t}, 1"), came, attempt)

    fn.label(came)
    if wait:
        fn.branch(last, join, poll)
        fn.label(poll)
        now = fn.op("i32", f"load atomic volatile i32, {state.t} {ACCESS}, align 4")
        at = fn.op("i32", f"and {now.t}, {-PHASE}")
        fn.branch(fn.op("i1", f"icmp ne {at.t}, {phase}"), join, sleep)
        fn.label(sleep)
        fn.do("call void @llvm.amdgcn.s.sleep(i32 1)")
        fn.branch(poll)
    fn.label(join)
    if wait:
        fence(fn, "acquire", "cta")


def meet_group(fn: FunctionLowering) -> None:
    """The warps of a warp group meet."""
    if BARRIERS not in fn.named_barriers:  # the block is one
        barrier(fn)
        return
    group = fn.op("i32", f"lshr {fn.special('%warpid').t}, 2")
    meet(fn, group, fn.const("i32", GROUP // 32), states=GROUP_STATES)


def barrier(fn: FunctionLowering) -> None:
    """All threads of the block meet, and see each other's memory."""
    fence(fn, "release", "cta")
    fn.call("llvm.amdgcn.s.barrier", "void")
    fence(fn, "acquire", "cta")


def add_votes(fn: FunctionLowering, total: Val, yes: Val) -> None:
    """Add the number of the warp's threads that say yes to the word at `total`."""
    mask = ballot(fn, yes)
    one, join = fn.block("red.add"), fn.block("red.join")
    fn.branch(leader(fn), one, join)
    fn.label(one)
    count = fn.call("llvm.ctpop.i32", "i32", mask)
    fn.do(f"atomicrmw add {total.t}, {count.t} {ACCESS}")
    fn.label(join)


def vote(fn: FunctionLowering, which: Val, expected: Val, yes: Val) -> Val:
    """How many threads of the participants say yes. They meet twice: before the sum is read, and before its
    word can be used again."""
    total = words(fn, VOTES, which)
    add_votes(fn, total, yes)
    meet(fn, which, expected)
    count = fn.op("i32", f"load i32, {total.t}")
    meet(fn, which, expected, clear=total)
    return count
