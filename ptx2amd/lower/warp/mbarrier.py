"""Barrier objects in shared memory. The 64-bit object is ours to lay out:

bits 0-19 arrivals that the phase still waits for, 20-39 arrivals of each later phase, 40 the phase's parity,
41-63 bytes that the phase still waits for (signed). The state that an arrival returns is the object as it
was before."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.memory import space_of
from ptx2amd.lower.memory.order import fence
from ptx2amd.ptx.ast import Inst

COUNT = (1 << 20) - 1
EXPECTED, PARITY, BYTES = 20, 40, 41
ACCESS = 'syncscope("workgroup") monotonic'


@lowers("mbarrier_init")
def init(fn: FunctionLowering, inst: Inst) -> None:
    count = fn.resize(fn.src(inst, "b"), 64)
    both = fn.op("i64", f"mul i64 {count}, {1 << EXPECTED | 1}")
    at = fn.address(inst, "a", space_of(inst))
    fn.do(f"store atomic {both.t}, {at.t} {ACCESS}, align 8")


def change(fn: FunctionLowering, inst: Inst) -> Val:
    """What the operation adds to the object."""
    op = inst.shape.mods.get("op", "arrive")
    count = fn.resize(fn.src(inst, "b"), 64) if fn.has(inst, "b") else fn.const("i64", 1)
    if op in ("expect_tx", "complete_tx"):
        unit = (1 << BYTES) * (1 if op == "expect_tx" else -1)
        return fn.op("i64", f"mul i64 {count}, {unit}")
    unit = -1 - (1 << EXPECTED if op == "arrive_drop" else 0)
    if inst.shape.mods.get("tx"):
        expected = fn.op("i64", f"shl {count.t}, {BYTES}")
        return fn.op("i64", f"add {expected.t}, {unit}")
    return fn.op("i64", f"mul i64 {count}, {unit}")


@lowers("mbarrier_update")
def update(fn: FunctionLowering, inst: Inst) -> None:
    """Arrivals and transactions."""
    mods = inst.shape.mods
    at, delta = fn.address(inst, "a", space_of(inst)), change(fn, inst)
    sem, _, scope = mods.get("sem", "").partition(".")
    if sem != "relaxed" and mods.get("op") not in ("expect_tx", "complete_tx"):
        fence(fn, "release", scope or "cta")
    fn.put(inst, "d", advance(fn, at, delta))


def complete(fn: FunctionLowering, at: Val, size: Val) -> None:
    """The end of an asynchronous operation on `size` bytes (an i32): complete-tx, which releases them."""
    fence(fn, "release", "cta")
    advance(fn, at, fn.op("i64", f"mul i64 {fn.resize(size, 64)}, {-(1 << BYTES)}"))


def advance(fn: FunctionLowering, at: Val, delta: Val) -> Val:
    """Add `delta` to the object; the object before. When nothing is waited for any more, the next phase begins."""
    enter, loop, done = fn.block("mbarrier"), fn.block("mbarrier.try"), fn.block("mbarrier.done")
    fn.label(enter)
    first = fn.op("i64", f"load atomic i64, {at.t} {ACCESS}, align 8")
    seen = fn.block("seen")
    fn.branch(loop)
    fn.label(loop)
    phi = len(fn.lines)
    old = Val("i64", f"%{seen}")
    new = fn.op("i64", f"add {old.t}, {delta}")
    arrivals = fn.op("i64", f"and {new.t}, {COUNT}")
    transactions = fn.op("i64", f"lshr {new.t}, {BYTES}")
    left = fn.op("i64", f"or {arrivals.t}, {transactions}")
    complete = fn.op("i1", f"icmp eq {left.t}, 0")
    again = fn.op("i64", f"and {fn.op('i64', f'lshr {new.t}, {EXPECTED}').t}, {COUNT}")
    following = fn.op("i64", f"or {fn.op('i64', f'xor {new.t}, {1 << PARITY}').t}, {again}")
    value = fn.op("i64", f"select {complete.t}, {following.t}, {new.t}")
    pair = fn.op("{ i64, i1 }", f"cmpxchg {at.t}, {old.t}, {value.t} {ACCESS} monotonic, align 8")
    found = fn.op("i64", f"extractvalue {pair.t}, 0")
    fn.lines.insert(phi, f"  {old} = phi i64 [ {first}, %{enter} ], [ {found}, %{loop} ]")
    fn.branch(fn.op("i1", f"extractvalue {pair.t}, 1"), done, loop)
    fn.label(done)
    return old


@lowers("mbarrier_wait")
def wait(fn: FunctionLowering, inst: Inst) -> None:
    """Whether the phase of a state (or of a parity) is over. try_wait may wait, and need not."""
    mods = inst.shape.mods
    at, phase = fn.address(inst, "a", space_of(inst)), fn.resize(fn.src(inst, "b"), 64)
    now = fn.op("i64", f"load atomic i64, {at.t} {ACCESS}, align 8")
    if mods.get("parity"):
        phase = fn.op("i64", f"shl {phase.t}, {PARITY}")
    differ = fn.op("i64", f"and {fn.op('i64', f'xor {now.t}, {phase}').t}, {1 << PARITY}")
    over = fn.op("i1", f"icmp ne {differ.t}, 0")
    sem, _, scope = mods["sem"].partition(".")
    if sem != "relaxed":
        fence(fn, "acquire", scope or "cta")
    fn.put(inst, "p", over)


@lowers("mbarrier_pending")
def pending(fn: FunctionLowering, inst: Inst) -> None:
    count = fn.op("i64", f"and {fn.src(inst, 'a').t}, {COUNT}")
    fn.put(inst, "d", fn.resize(count, 32))
