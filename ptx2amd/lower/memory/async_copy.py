"""Asynchronous copies, carried out when they are issued: their waits have nothing left to do."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.memory import space_of
from ptx2amd.ptx.ast import Imm, Inst


@lowers("cp_async")
def cp_async(fn: FunctionLowering, inst: Inst) -> None:
    """Copies n bytes to shared memory; with a source size less than n the rest is zero, and nothing
    behind the source's end is read. A predicate instead of a size says whether to ignore the source."""
    size = inst.get("n")
    assert isinstance(size, Imm)
    n = size.bits
    if n not in ((16,) if inst.shape.mods["cop"] == "cg" else (4, 8, 16)):
        fn.refuse(inst, f"cannot copy {n} bytes")
    to, source = fn.address(inst, "a", space_of(inst)), fn.address(inst, "b", "global")
    ty = {4: "i32", 8: "<2 x i32>", 16: "<4 x i32>"}[n]
    take = inst.get("c")
    if take is None or (isinstance(take, Imm) and take.bits >= n):
        copy(fn, to, source, ty, n)
    elif inst.shape.types[inst.shape.names.index("c")] == "pred":
        copy_unless(fn, to, source, ty, n, fn.src(inst, "c"))
    else:
        copy_some(fn, to, source, ty, n, fn.src(inst, "c"))


def copy(fn: FunctionLowering, to: Val, source: Val, ty: str, n: int) -> None:
    value = fn.op(ty, f"load {ty}, {source.t}, align {n}")
    fn.do(f"store {value.t}, {to.t}, align {n}")


def copy_unless(fn: FunctionLowering, to: Val, source: Val, ty: str, n: int, ignore: Val) -> None:
    """Copy, or store zeros where `ignore` holds."""
    zero, whole, done = fn.block("cp.zero"), fn.block("cp.whole"), fn.block("cp.done")
    fn.branch(ignore, zero, whole)
    fn.label(zero)
    fn.do(f"store {ty} zeroinitializer, {to.t}, align {n}")
    fn.branch(done)
    fn.label(whole)
    copy(fn, to, source, ty, n)
    fn.label(done)


def copy_some(fn: FunctionLowering, to: Val, source: Val, ty: str, n: int, size: Val) -> None:
    """Copy `size` bytes and fill up with zeros: whole, or nothing (what programs do), or byte by byte."""
    whole, part, loop, done = (fn.block(f"cp.{name}") for name in ("whole", "part", "loop", "done"))
    fn.branch(fn.op("i1", f"icmp uge {size.t}, {n}"), whole, part)
    fn.label(whole)
    copy(fn, to, source, ty, n)
    fn.branch(done)
    fn.label(part)
    fn.do(f"store {ty} zeroinitializer, {to.t}, align {n}")
    fn.branch(fn.op("i1", f"icmp eq {size.t}, 0"), done, loop)
    fn.label(loop)
    index, following = fn.block("at"), fn.block("next")
    fn.do(f"%{index} = phi i32 [ 0, %{part} ], [ %{following}, %{loop} ]")
    at, into = (fn.op(p.ty, f"getelementptr i8, {p.t}, i32 %{index}") for p in (source, to))
    byte = fn.op("i8", f"load i8, {at.t}")
    fn.do(f"store {byte.t}, {into.t}")
    fn.do(f"%{following} = add i32 %{index}, 1")
    fn.branch(fn.op("i1", f"icmp eq i32 %{following}, {size}"), done, loop)
    fn.label(done)
