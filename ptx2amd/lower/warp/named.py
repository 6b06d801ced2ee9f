"""Named barriers: for a part of the block, with arrivals that do not wait (PTX manual: barrier).

Each of the 16 barriers is a 64-bit word in LDS: bits 0-5 count the warps that have come in this phase, bits 6-31
number the phases, bits 32-63 are the warps that have come without waiting. The warp that completes a phase begins
the next in the same compare-and-swap, so a barrier can be used again at once, by other participants and with
another count. Warps that wait poll the phase. Barriers of the whole block remain the hardware's, except those with
the number of a partial one: of these, the warps that wait look for warps that have exited too.

A warp counts as one however many of its threads come, as in PTX.

Further words are barriers of the block's warp groups, which meet around their matrix products (wgmma)."""

from __future__ import annotations

from math import prod

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.order import SCOPES, fence
from ptx2amd.lower.warp.lanes import ballot, leader
from ptx2amd.ptx.ast import Function, Imm, Inst, Var

BARRIERS = 16
GROUPS, GROUP = 16, 128  # words for warp groups, of which a block has up to 8; threads of one
PHASE = 64  # the phases' unit in the word: above the count of warps
STATES = Var("shared", "u64", "__ptx2amd_barriers", count=BARRIERS)
VOTES = Var("shared", "u32", "__ptx2amd_barrier_votes", count=BARRIERS)
GROUP_STATES = Var("shared", "u64", "__ptx2amd_warp_groups", count=GROUPS)
EXITED = Var("shared", "u32", "__ptx2amd_barrier_exited")  # a mask of warps
LEAVE = "barriers.leave"
ACCESS = 'syncscope("workgroup") monotonic'


def applies(fn: FunctionLowering, inst: Inst) -> bool:
    """Whether a bar.sync or bar.red is one of the named barriers, rather than the hardware's."""
    which, count = inst.get("a"), inst.get("b")
    if isinstance(which, Imm) and which.bits >= BARRIERS:
        fn.refuse(inst, f"barrier {which.bits}: a block has {BARRIERS}")
    if isinstance(count, Imm) and count.bits % 32:
        fn.refuse(inst, f"{count.bits} threads at a barrier, which is no multiple of 32")
    if _counted(which.bits if isinstance(which, Imm) else None, fn.plan.partial_barriers):
        return True
    return bool(fn.plan.partial_barriers) and fn.has(inst, "b") and not _whole(fn, inst)


def _counted(which: int | None, parts: frozenset[int | None]) -> bool:
    """Whether a barrier may have the number of a partial one."""
    parts -= {BARRIERS}
    return bool(parts) and (which is None or which in parts or (None in parts and which != 0))


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
    return fn.op(base.ty, f"getelementptr inbounds i{var.type[1:]}, {base.t}, {index.t}")


def prepare(fn: FunctionLowering, function: Function) -> None:
    """At the start of a kernel: all barriers in their first phase, and no warp has exited."""
    users = fn.module.calls.reachable(function)
    if any(_counted(which, fn.plan.partial_barriers) for f in users for which in fn.module.calls.summary(f).wholes):
        fn.after_barriers, fn.return_block, fn.exit_block = fn.return_block, LEAVE, LEAVE
    lane = fn.special("%laneid")
    used = (STATES, VOTES) if fn.plan.partial_barriers - {BARRIERS} else ()
    if BARRIERS in fn.plan.partial_barriers:
        used = (*used, GROUP_STATES)
    clear, ready = fn.block("barriers.clear"), fn.block("barriers.ready")
    fn.branch(fn.op("i1", f"icmp ult {lane.t}, {max(var.count for var in used)}"), clear, ready)
    fn.label(clear)
    for var in used:
        fn.do(f"store i{var.type[1:]} 0, {words(fn, var, lane).t}")
    if fn.after_barriers:
        fn.do(f"store i32 0, {_exited(fn).t}")
    fn.label(ready)
    barrier(fn)


def leave(fn: FunctionLowering) -> None:
    """The exit of a kernel, at which the lanes of a warp reconverge."""
    if not fn.after_barriers:
        return
    fn.label(LEAVE)
    fence(fn, "release", "cta")
    mark = fn.block("barriers.mark")
    fn.branch(leader(fn), mark, fn.after_barriers)
    fn.label(mark)
    fn.do(f"atomicrmw or {_exited(fn).t}, {_own_bit(fn).t} {ACCESS}")
    fn.branch(fn.after_barriers)


def _exited(fn: FunctionLowering) -> Val:
    return fn.module.shared(EXITED, f"@{EXITED.name}")


def _own_bit(fn: FunctionLowering) -> Val:
    return fn.op("i32", f"shl i32 1, {fn.special('%warpid')}")


def meet(fn: FunctionLowering, inst: Inst, wait: bool = True) -> None:
    """The warp comes to the barrier of an instruction, and waits for the others."""
    state = words(fn, STATES, number(fn, inst))
    _meet(fn, state, warps(fn, inst), wait, whole=not fn.has(inst, "b"))


def _meet(fn: FunctionLowering, state: Val, expected: Val, wait: bool = True, whole: bool = False) -> None:
    """The warp comes to the barrier with the word `state`, of `expected` warps or (`whole`) those of them that are
    still there. One lane acts for its warp."""
    come, attempt, came, join = (fn.block(f"bar.{name}") for name in ("come", "attempt", "came", "join"))
    seen = fn.block("seen")
    fence(fn, "release", "cta")
    fn.branch(leader(fn), come, join)

    fn.label(come)
    first = fn.op("i64", f"load atomic i64, {state.t} {ACCESS}, align 8")
    fn.label(attempt)
    old = fn.op("i64", f"phi i64 [ {first}, %{come} ], [ %{seen}, %{attempt} ]")
    phase, following = _phases(fn, old)
    more = fn.op("i64", f"add {old.t}, 1")
    if not wait:
        bit = fn.op("i64", f"zext {_own_bit(fn).t} to i64")
        more = fn.op("i64", f"or {more.t}, {fn.op('i64', f'shl {bit.t}, 32')}")
    last = _complete(fn, more, expected, whole)
    new = fn.op("i64", f"select {last.t}, {following.t}, {more.t}")
    pair = fn.op("{ i64, i1 }", f"cmpxchg {state.t}, {old.t}, {new.t} {ACCESS} monotonic, align 8")
    fn.do(f"%{seen} = extractvalue {pair.t}, 0")
    fn.branch(fn.op("i1", f"extractvalue {pair.t}, 1"), came, attempt)

    fn.label(came)
    if not wait:
        fn.label(join)
        return
    poll, same, sleep = (fn.block(f"bar.{name}") for name in ("poll", "same", "sleep"))
    fn.branch(last, join, poll)
    fn.label(poll)
    now = fn.op("i64", f"load atomic volatile i64, {state.t} {ACCESS}, align 8")
    fn.branch(fn.op("i1", f"icmp ne {_phases(fn, now)[0].t}, {phase}"), join, same)
    fn.label(same)
    if whole:
        left = fn.block("bar.left")
        fn.branch(_complete(fn, now, expected, whole), left, sleep)
        fn.label(left)
        fn.op("{ i64, i1 }", f"cmpxchg {state.t}, {now.t}, {following.t} {ACCESS} monotonic, align 8")
        fn.branch(poll)
    fn.label(sleep)
    fn.do("call void @llvm.amdgcn.s.sleep(i32 1)")
    fn.branch(poll)
    fn.label(join)
    fence(fn, "acquire", "cta")


def _phases(fn: FunctionLowering, state: Val) -> tuple[Val, Val]:
    """The phase of a barrier's word, and the word with which the following phase begins."""
    phase = fn.op("i32", f"and {fn.op('i32', f'trunc {state.t} to i32').t}, {-PHASE}")
    return phase, fn.op("i64", f"zext {fn.op('i32', f'add {phase.t}, {PHASE}').t} to i64")


def _complete(fn: FunctionLowering, state: Val, expected: Val, whole: bool) -> Val:
    """Whether all participants have come. Of the whole block, those that have exited since they came without
    waiting are counted once."""
    count = fn.op("i32", f"and {fn.op('i32', f'trunc {state.t} to i32').t}, {PHASE - 1}")
    if not whole:
        return fn.op("i1", f"icmp eq {count.t}, {expected}")
    came = fn.op("i32", f"trunc {fn.op('i64', f'lshr {state.t}, 32').t} to i32")
    gone = fn.op("i32", f"load atomic volatile i32, {_exited(fn).t} {ACCESS}, align 4")
    gone = fn.op("i32", f"and {gone.t}, {fn.op('i32', f'xor {came.t}, -1')}")
    count = fn.op("i32", f"add {count.t}, {fn.call('llvm.ctpop.i32', 'i32', gone)}")
    return fn.op("i1", f"icmp uge {count.t}, {expected}")


def meet_group(fn: FunctionLowering) -> None:
    """The warps of a warp group meet."""
    if BARRIERS not in fn.plan.partial_barriers:  # the block is one
        barrier(fn)
        return
    group = fn.op("i32", f"lshr {fn.special('%warpid').t}, 2")
    _meet(fn, words(fn, GROUP_STATES, group), fn.const("i32", GROUP // 32))


def barrier(fn: FunctionLowering) -> None:
    """All threads of the block meet, and see each other's memory."""
    fence(fn, "release", "cta")
    fn.call("llvm.amdgcn.s.barrier", "void")
    fn.do(f"fence {SCOPES['cta']}acquire")  # the release has waited for all that `fence` would wait for


def add_votes(fn: FunctionLowering, total: Val, yes: Val) -> None:
    """Add the number of the warp's threads that say yes to the word at `total`."""
    mask = ballot(fn, yes)
    one, join = fn.block("red.add"), fn.block("red.join")
    fn.branch(leader(fn), one, join)
    fn.label(one)
    count = fn.call("llvm.ctpop.i32", "i32", mask)
    fn.do(f"atomicrmw add {total.t}, {count.t} {ACCESS}")
    fn.label(join)


def vote(fn: FunctionLowering, inst: Inst, yes: Val) -> Val:
    """How many threads of the participants say yes. They meet before the sum is read, before its word is cleared, and
    before that can be used again."""
    total = words(fn, VOTES, number(fn, inst))
    add_votes(fn, total, yes)
    meet(fn, inst)
    count = fn.op("i32", f"load i32, {total.t}")
    meet(fn, inst)
    fn.do(f"store i32 0, {total.t}")
    meet(fn, inst)
    return count
