"""Structured control flow inside lowerings: loops, conditions and variables that SROA makes values again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val


@contextmanager
def each(fn: FunctionLowering, count: Val, step: int = 1) -> Iterator[Val]:
    """`with each(fn, n, s) as i:` runs the body for i = 0, s, 2s ... below n (unsigned i32)."""
    before, head, body, latch, done = (fn.block(f"each.{name}") for name in ("in", "head", "body", "next", "done"))
    index, following = Val("i32", f"%{fn.block('i')}"), f"%{fn.block('j')}"
    fn.label(before)
    fn.label(head)
    fn.do(f"{index} = phi i32 [ 0, %{before} ], [ {following}, %{latch} ]")
    fn.branch(fn.op("i1", f"icmp ult {index.t}, {count}"), body, done)
    fn.label(body)
    yield index
    fn.label(latch)
    fn.do(f"{following} = add i32 {index}, {step}")
    fn.branch(head)
    fn.label(done)


@contextmanager
def when(fn: FunctionLowering, condition: Val) -> Iterator[None]:
    """`with when(fn, condition):` emits the body for lanes where `condition` holds."""
    then, done = fn.block("then"), fn.block("done")
    fn.branch(condition, then, done)
    fn.label(then)
    yield
    fn.label(done)


class Variable:
    """A value that several blocks of a lowering assign: `get`, `set`."""

    def __init__(self, fn: FunctionLowering, first: Val) -> None:
        self.fn, self.ty = fn, first.ty
        self.memory = f"%{fn.block('var')}"
        fn.entry.append(f"  {self.memory} = alloca {first.ty}, addrspace(5)")
        self.set(first)

    def get(self) -> Val:
        return self.fn.op(self.ty, f"load {self.ty}, ptr addrspace(5) {self.memory}")

    def set(self, v: Val) -> None:
        self.fn.do(f"store {v.t}, ptr addrspace(5) {self.memory}")


def stop(fn: FunctionLowering) -> None:
    """End the launch with an error, at once, by an invalid access. LLVM's trap does not return, and under divergence
    LLVM puts it after the code of the wave's other lanes, which may wait for this one."""
    fn.do("store volatile i32 0, ptr addrspace(1) null, align 4")


def trap_unless(fn: FunctionLowering, condition: Val) -> None:
    """End the launch with an error where `condition` does not hold."""
    with when(fn, fn.op("i1", f"xor {condition.t}, true")):
        stop(fn)
