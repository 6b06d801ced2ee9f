"""Barriers and fences."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.memory.order import ORDERS, fence
from ptx2amd.lower.warp import named
from ptx2amd.lower.warp.named import barrier
from ptx2amd.ptx.ast import Inst, Var

TOTAL = Var("shared", "u32", "__ptx2amd_bar_red")


@lowers("bar_sync")
def bar_sync(fn: FunctionLowering, inst: Inst) -> None:
    if named.applies(fn, inst):
        named.meet(fn, inst)
    else:
        barrier(fn)


@lowers("bar_arrive")
def bar_arrive(fn: FunctionLowering, inst: Inst) -> None:
    named.meet(fn, inst, wait=False)


@lowers("bar_red")
def bar_red(fn: FunctionLowering, inst: Inst) -> None:
    """A vote of all participants: each warp adds its count of threads that say yes (`and`: that say no) to
    a word in shared memory, between barriers that keep one vote from the next."""
    op = inst.shape.mods["op"]
    vote = fn.src(inst, "c")
    if op == "and":
        vote = fn.op("i1", f"xor {vote.t}, true")
    if named.applies(fn, inst):
        count = named.vote(fn, inst, vote)
    else:
        total = fn.module.shared(TOTAL, "@__ptx2amd_bar_red")
        barrier(fn)
        fn.do(f"store i32 0, {total.t}")
        barrier(fn)
        named.add_votes(fn, total, vote)
        barrier(fn)
        count = fn.op("i32", f"load i32, {total.t}")
    if op == "popc":
        fn.put(inst, "d", count)
    else:
        fn.put(inst, "p", fn.op("i1", f"icmp {'eq' if op == 'and' else 'ne'} {count.t}, 0"))


@lowers("bar_warp_sync")
def bar_warp_sync(fn: FunctionLowering, inst: Inst) -> None:
    """Lanes of a warp execute in lockstep after reconvergence; only the ordering of memory remains to be done."""
    fence(fn, "acq_rel", "warp")
    fn.call("llvm.amdgcn.wave.barrier", "void")
    fence(fn, "acquire", "warp")


@lowers("cluster_arrive")
def cluster_arrive(fn: FunctionLowering, inst: Inst) -> None:
    """Clusters have one block. The wait is the barrier; the arrival only releases memory."""
    if inst.shape.mods["sem"] != "relaxed":
        fence(fn, "release", "cluster")


@lowers("cluster_wait")
def cluster_wait(fn: FunctionLowering, inst: Inst) -> None:
    barrier(fn)
    fence(fn, "acquire", "cluster")


@lowers("membar")
def membar(fn: FunctionLowering, inst: Inst) -> None:
    fence(fn, "seq_cst", inst.shape.mods["scope"])


@lowers("fence")
def fence_(fn: FunctionLowering, inst: Inst) -> None:
    fence(fn, ORDERS[inst.shape.mods["sem"] or "acq_rel"], inst.shape.mods["scope"])


@lowers("fence_proxy")
def fence_proxy(fn: FunctionLowering, inst: Inst) -> None:
    """All proxies access the same memory here: only the ordering within the block remains."""
    fence(fn, "acq_rel", "cta")
