"""128-bit atomic operations, which the hardware does not have: they are done under one of eight locks in the heap's
header, chosen by the address. So are strong loads and stores of 128 bits, which would see or cause halves."""

from __future__ import annotations

from collections.abc import Callable

from ptx2amd.interface.environment import CELL_HEAP
from ptx2amd.interface.heap import HEAP
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.loops import Variable, when
from ptx2amd.lower.core.module_globals import LOCK_COUNT, LOCKS
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.order import ACQUIRES, RELEASES, SCOPES, fence
from ptx2amd.lower.runtime.runtime import env

WIDE = "i128"
VECTOR = "<4 x i32>"


def lock_of(fn: FunctionLowering, pointer: Val) -> Val:
    """The lock of an address."""
    heap = env(fn, CELL_HEAP)
    base = fn.op("i64", f"add {heap.t}, {HEAP['locks'].offset}")
    if fn.module.mode == "module":
        fn.module.shared_globals.locks = True
        none = fn.op("i1", f"icmp eq {heap.t}, 0")
        own = fn.op("i64", f"ptrtoint ptr addrspace(1) @{LOCKS} to i64")
        base = fn.op("i64", f"select {none.t}, {own.t}, {base.t}")
    low = fn.resize(fn.cast(pointer, f"i{32 if pointer.ty.endswith('(3)') else 64}"), 64)
    number = fn.op("i64", f"and {fn.op('i64', f'lshr {low.t}, 4').t}, {LOCK_COUNT - 1}")
    at = fn.op("i64", f"add {base.t}, {fn.op('i64', f'shl {number.t}, 2')}")
    return fn.cast(at, "ptr addrspace(1)")


def exchange(fn: FunctionLowering, pointer: Val, sem: str, scope: str, new: Callable[[Val], tuple[Val, Val]]) -> Val:
    """Reads 128 bits; `new` makes of them what is stored, and whether. Returns what was there. Lanes of a warp take
    turns: one that has the lock gives it back before it leaves the loop."""
    lock = lock_of(fn, pointer)
    if sem in RELEASES:
        fence(fn, "release", scope)
    wide = "sys" if scope == "sys" else "gpu"
    level = SCOPES[wide]
    before = Variable(fn, fn.const(WIDE, 0))
    head, inside, latch, out = (fn.block(f"wide.{name}") for name in ("try", "have", "next", "done"))
    fn.label(head)
    pair = fn.op("{ i32, i1 }", f"cmpxchg {lock.t}, i32 0, i32 1 {level}acquire monotonic, align 4")
    got = fn.op("i1", f"extractvalue {pair.t}, 1")
    fn.branch(got, inside, latch)
    fn.label(inside)
    old = fn.cast(fn.op(VECTOR, f"load volatile {VECTOR}, {pointer.t}, align 16"), WIDE)
    before.set(old)
    value, stores = new(old)
    with when(fn, stores):
        fn.do(f"store volatile {fn.cast(value, VECTOR).t}, {pointer.t}, align 16")
    fence(fn, "release", wide)
    fn.do(f"store atomic i32 0, {lock.t} {level}monotonic, align 4")
    fn.label(latch)
    fn.do("call void @llvm.amdgcn.wave.barrier()")  # or LLVM leads those that have the lock past the others
    fn.branch(got, out, head)
    fn.label(out)
    if sem in ACQUIRES:
        fence(fn, "acquire", scope)
    return before.get()


def swap(fn: FunctionLowering, pointer: Val, sem: str, scope: str, value: Val) -> Val:
    return exchange(fn, pointer, sem, scope, lambda _: (value, fn.const("i1", 1)))


def compare_and_swap(fn: FunctionLowering, pointer: Val, sem: str, scope: str, expected: Val, desired: Val) -> Val:
    return exchange(fn, pointer, sem, scope, lambda old: (desired, fn.op("i1", f"icmp eq {old.t}, {expected}")))


def load(fn: FunctionLowering, pointer: Val, sem: str, scope: str) -> Val:
    return exchange(fn, pointer, sem, scope, lambda old: (old, fn.const("i1", 0)))
