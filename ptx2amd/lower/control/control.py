"""Branches, the end of threads, and small control instructions."""

from __future__ import annotations

from ptx2amd.codegen.workarounds import avoided
from ptx2amd.errors import Unsupported
from ptx2amd.lower.control import dispatch
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.warp import lanes
from ptx2amd.ptx.ast import BranchTargets, Guard, Imm, Inst, Sym


def block_of(fn: FunctionLowering, inst: Inst, label: str) -> str:
    """The LLVM block of a PTX label."""
    assert fn.body is not None
    if label not in fn.body.labels:
        fn.refuse(inst, f"{label} is not a label of this function")
    return dispatch.way(fn, fn.body.labels[label])


def conditional(fn: FunctionLowering, inst: Inst, taken: str) -> None:
    """Jump to block `taken` where the guard holds (always without a guard); other lanes fall through."""
    if inst.guard is None:
        fn.branch(taken)
        return
    rest = fn.block("next")
    decide(fn, inst.guard, taken, rest)
    fn.label(rest)
    fn.split = False  # what the guard's read made dominates the fall-through


@lowers("bra")
def bra(fn: FunctionLowering, inst: Inst) -> None:
    target = inst.get("a")
    assert isinstance(target, Sym)
    conditional(fn, inst, block_of(fn, inst, target.name))


@lowers("brx_idx")
def brx_idx(fn: FunctionLowering, inst: Inst) -> None:
    label = inst.get("b")
    assert isinstance(label, Sym)
    targets = fn.names.get(label.name)
    if not isinstance(targets, BranchTargets):
        fn.refuse(inst, f"{label.name} is no .branchtargets list")
    index = fn.src(inst, "a")
    rest = None
    if inst.guard is not None:
        here, rest = fn.block("brx"), fn.block("next")
        decide(fn, inst.guard, here, rest)
        fn.label(here)
    nowhere = fn.block("nowhere")
    cases = " ".join(f"i32 {i}, label %{block_of(fn, inst, name)}" for i, name in enumerate(targets.targets))
    fn.do(f"switch i32 {index}, label %{nowhere} [ {cases} ]")
    fn.lines.append(f"{nowhere}:")  # the index is out of range: undefined in PTX
    fn.do("unreachable")
    if rest is not None:
        fn.label(rest)


def decide(fn: FunctionLowering, guard: Guard, taken: str, rest: str) -> None:
    """Branch to `taken` where the guard holds, else to `rest`."""
    fn.branch(fn.guard(guard), *((rest, taken) if guard.negated else (taken, rest)))


@lowers("ret")
def ret(fn: FunctionLowering, inst: Inst) -> None:
    conditional(fn, inst, dispatch.way(fn, fn.return_block))


@lowers("exit")
def exit_(fn: FunctionLowering, inst: Inst) -> None:
    conditional(fn, inst, dispatch.way(fn, fn.exit_block))


@lowers("anchor")
def anchor(fn: FunctionLowering, inst: Inst) -> None:
    """Keeps LLVM from duplicating a block where lanes reconverge (middle/transforms)."""
    lanes.anchor(fn)


@lowers("hidden")
def hidden(fn: FunctionLowering, inst: Inst) -> None:
    """The number of the lane whose turn it is, or of the path that a lane came by, opaque so that LLVM does not turn
    it into lane masks."""
    number = fn.src(inst, "a")
    fn.put(inst, "d", fn.opaque(number) if avoided.applies("masks") else number)


@lowers("spin_round")
def spin_round(fn: FunctionLowering, inst: Inst) -> None:
    """The next round; there are as many as a wave has lanes."""
    following = fn.op("i32", f"add {fn.src(inst, 'a').t}, 1")
    fn.put(inst, "d", fn.op("i32", f"and {following.t}, {fn.target.wave_size - 1}"))


@lowers("spin_patient")
def spin_patient(fn: FunctionLowering, inst: Inst) -> None:
    """Whether a lane that retries has to wait for its round."""
    tries = fn.op("i1", f"icmp ne {fn.src(inst, 'a').t}, 0")
    other = fn.op("i1", f"icmp ne {fn.src(inst, 'b').t}, {lanes.wave_lane(fn)}")
    fn.put(inst, "p", fn.op("i1", f"and {tries.t}, {other}"))


@lowers("trap")
def trap(fn: FunctionLowering, inst: Inst) -> None:
    fn.trap()
    if inst.guard is None:
        fn.do("unreachable")


@lowers("brkpt")
def brkpt(fn: FunctionLowering, inst: Inst) -> None:
    fn.do("call void @llvm.debugtrap()")


@lowers("nanosleep")
def nanosleep(fn: FunctionLowering, inst: Inst) -> None:
    """s_sleep waits about 64 cycles a unit, 127 at most; PTX allows any wait from 0 to twice the time."""
    duration = inst.get("a")
    units = max(1, min(127, duration.bits // 40)) if isinstance(duration, Imm) else 1
    fn.do(f"call void @llvm.amdgcn.s.sleep(i32 {units})")


@lowers("stacksave")
def stacksave(fn: FunctionLowering, inst: Inst) -> None:
    saved = fn.call("llvm.stacksave.p5", "ptr addrspace(5)")
    fn.put(inst, "d", fn.resize(saved, int(inst.shape.mods["t"][1:])))


@lowers("stackrestore")
def stackrestore(fn: FunctionLowering, inst: Inst) -> None:
    v = fn.src(inst, "a")
    fn.call("llvm.stackrestore.p5", "void", fn.op("ptr addrspace(5)", f"inttoptr {v.t} to ptr addrspace(5)"))


@lowers("alloca")
def alloca(fn: FunctionLowering, inst: Inst) -> None:
    align = inst.get("b")
    size = fn.resize(fn.src(inst, "a"), 32)
    alignment = align.bits if isinstance(align, Imm) else 8
    if alignment > 16:
        raise Unsupported("alignment above 16 bytes", fn.name, inst.line, inst.shape.opcode)
    shift = fn.target.wave_size.bit_length() - 1
    if fn.target.arch.flat_scratch and avoided.applies("stack_sizes"):
        rounded = fn.op("i32", f"add {size.t}, {(1 << shift) - 1}")
        part = fn.op("i32", f"lshr {rounded.t}, {shift}")
        size = fn.opaque(part)
    memory = fn.op("ptr addrspace(5)", f"alloca i8, {size.t}, align {alignment}, addrspace(5)")
    address = fn.op("i32", f"ptrtoint {memory.t} to i32")
    if not fn.target.arch.flat_scratch and avoided.applies("stack_addresses"):
        address = fn.op("i32", f"lshr {address.t}, {shift}")
    fn.put(inst, "d", fn.resize(address, int(inst.shape.mods["t"][1:])))
