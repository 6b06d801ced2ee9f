"""Operations across the lanes of a warp. Under divergence each acts on the lanes that reach it together."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.warp.lanes import active, ballot, half, is_lane, lowest, read_lane
from ptx2amd.lower.warp.shuffle import LANES, in_lanes, pattern, shuffle
from ptx2amd.ptx.ast import Inst


def members(fn: FunctionLowering, inst: Inst) -> Val:
    """The member mask; instructions without one mean all active lanes."""
    return fn.src(inst, "m") if fn.has(inst, "m") else fn.const("i32", -1)


@lowers("shfl")
def shfl(fn: FunctionLowering, inst: Inst) -> None:
    value, b, c = fn.src(inst, "a"), fn.src(inst, "b"), fn.src(inst, "c")
    read = inside = None
    if b.ref.isdigit() and c.ref.isdigit():
        sources, mask = pattern(inst.shape.mods["mode"], int(b.ref), int(c.ref))
        read, inside = shuffle(fn, value, sources), in_lanes(fn, mask)
    if read is None or inside is None:
        source, inside = shuffle_source(fn, inst)
        read = read_lane(fn, value, source)
    fn.put(inst, "d", read)
    fn.put(inst, "p", inside)


def shuffle_source(fn: FunctionLowering, inst: Inst) -> tuple[Val, Val]:
    """The lane that a shuffle reads, and whether it is inside the segment (else it is the lane's own).
    Operand c packs the clamp value (bits 0-4) and the segment mask (bits 8-12)."""
    mode = inst.shape.mods["mode"]
    lane = fn.special("%laneid")
    b = fn.op("i32", f"and {fn.src(inst, 'b').t}, 31")
    c = fn.src(inst, "c")
    segment = fn.op("i32", f"and {fn.op('i32', f'lshr {c.t}, 8').t}, 31")
    outside = fn.op("i32", f"xor {segment.t}, 31")
    first = fn.op("i32", f"and {lane.t}, {segment}")
    last = fn.op("i32", f"or {first.t}, {fn.op('i32', f'and {c.t}, {outside}')}")
    if mode == "up":
        source = fn.op("i32", f"sub {lane.t}, {b}")
        inside = fn.op("i1", f"icmp sge {source.t}, {last}")
    else:
        if mode == "down":
            source = fn.op("i32", f"add {lane.t}, {b}")
        elif mode == "bfly":
            source = fn.op("i32", f"xor {lane.t}, {b}")
        else:
            source = fn.op("i32", f"or {first.t}, {fn.op('i32', f'and {b.t}, {outside}')}")
        inside = fn.op("i1", f"icmp sle {source.t}, {last}")
    return fn.op("i32", f"select {inside.t}, {source.t}, {lane.t}"), inside


@lowers("vote")
def vote(fn: FunctionLowering, inst: Inst) -> None:
    """all: no member says no; any: some member says yes; uni: one of the two holds. Threads that have
    exited are no members."""
    mode, mask, yes = inst.shape.mods["mode"], members(fn, inst), fn.src(inst, "a")
    if mode == "ballot":
        fn.put(inst, "d", fn.op("i32", f"and {ballot(fn, yes).t}, {mask}"))
    elif mode == "any":
        fn.put(inst, "p", fn.op("i1", f"icmp ne {votes(fn, yes, mask).t}, 0"))
    elif mode == "all":
        fn.put(inst, "p", none(fn, negate(fn, yes), mask))
    else:
        either = fn.op("i1", f"or {none(fn, negate(fn, yes), mask).t}, {none(fn, yes, mask)}")
        fn.put(inst, "p", either)


def votes(fn: FunctionLowering, yes: Val, mask: Val) -> Val:
    return fn.op("i32", f"and {ballot(fn, yes).t}, {mask}")


def none(fn: FunctionLowering, yes: Val, mask: Val) -> Val:
    """Whether no member's vote is `yes`."""
    return fn.op("i1", f"icmp eq {votes(fn, yes, mask).t}, 0")


def negate(fn: FunctionLowering, v: Val) -> Val:
    return fn.op("i1", f"xor {v.t}, true")


@lowers("match_any")
def match_any(fn: FunctionLowering, inst: Inst) -> None:
    """Round by round, the value of the first waiting lane (of the wave) is compared with all: the lanes
    that have it are each other's answer, and leave. Waves that carry two warps look at both at once."""
    value, mask = fn.src(inst, "a"), members(fn, inst)
    before, loop, found = fn.block("match.before"), fn.block("match"), fn.block("match.found")
    fn.label(before)
    fn.branch(loop)
    fn.label(loop)
    first = fn.call(f"llvm.amdgcn.readfirstlane.{value.ty}", value.ty, value)
    same = fn.op("i1", f"icmp eq {value.t}, {first}")
    equal = ballot(fn, same)
    answer = fn.of_round(equal)
    fn.branch(same, found, loop)
    fn.label(found)
    fn.put(inst, "d", fn.op("i32", f"and {answer.t}, {mask}"))


@lowers("match_all")
def match_all(fn: FunctionLowering, inst: Inst) -> None:
    value = fn.src(inst, "a")
    mask = fn.op("i32", f"and {members(fn, inst).t}, {active(fn)}")
    first = read_lane(fn, value, lowest(fn, mask))
    differs = fn.op("i1", f"icmp ne {value.t}, {first}")
    same = none(fn, differs, mask)
    fn.put(inst, "d", fn.op("i32", f"select {same.t}, {mask.t}, i32 0"))
    fn.put(inst, "p", same)


REDUCE = {
    ("add", "u32"): "add i32 {}, {}",
    ("add", "s32"): "add i32 {}, {}",
    ("and", "b32"): "and i32 {}, {}",
    ("or", "b32"): "or i32 {}, {}",
    ("xor", "b32"): "xor i32 {}, {}",
    ("min", "u32"): "call i32 @llvm.umin.i32(i32 {}, i32 {})",
    ("max", "u32"): "call i32 @llvm.umax.i32(i32 {}, i32 {})",
    ("min", "s32"): "call i32 @llvm.smin.i32(i32 {}, i32 {})",
    ("max", "s32"): "call i32 @llvm.smax.i32(i32 {}, i32 {})",
    ("min", "f32"): "call float @llvm.minimumnum.f32(float {}, float {})",
    ("max", "f32"): "call float @llvm.maximumnum.f32(float {}, float {})",
    ("min.NaN", "f32"): "call float @llvm.minimum.f32(float {}, float {})",
    ("max.NaN", "f32"): "call float @llvm.maximum.f32(float {}, float {})",
}


@lowers("redux")
def redux(fn: FunctionLowering, inst: Inst) -> None:
    """A warp in full takes five butterfly steps; else the wave goes through the members of one mask of one warp after
    the other, whose lanes leave together."""
    mods = inst.shape.mods
    key = mods["op"] + (".NaN" if mods.get("nan") else "")
    step = REDUCE[key, mods["t"]]
    value, mask = fn.src(inst, "a"), members(fn, inst)
    if mods.get("abs"):
        value = fn.call("llvm.fabs.f32", "float", value)
    mask = fn.op("i32", f"and {mask.t}, {active(fn)}")
    full, some, loop, total, done = (fn.block(f"redux.{name}") for name in ("full", "some", "loop", "total", "done"))
    fn.branch(fn.op("i1", f"icmp eq {mask.t}, -1"), full, some)

    fn.label(full)
    all_ = value
    for distance in (1, 2, 4, 8, 16):
        other = shuffle(fn, all_, tuple(lane ^ distance for lane in LANES))
        all_ = fn.op(value.ty, step.format(all_, other))
    fn.branch(done)

    fn.label(some)
    first = fn.call("llvm.amdgcn.readfirstlane.i32", "i32", mask)
    mine = fn.op("i1", f"icmp eq {mask.t}, {first}")
    base = fn.const("i32", 0)
    if fn.target.paired:
        own = half(fn)
        base = fn.call("llvm.amdgcn.readfirstlane.i32", "i32", own)
        mine = fn.op("i1", f"and {mine.t}, {fn.op('i1', f'icmp eq {own.t}, {base}')}")
    start = read_member(fn, value, first, base)
    rest = without_lowest(fn, first)
    fn.branch(fn.op("i1", f"icmp eq {rest.t}, 0"), total, loop)
    fn.label(loop)
    more, sum_ = Val("i32", f"%{fn.block('todo')}"), Val(value.ty, f"%{fn.block('sum')}")
    at = len(fn.lines)
    new = fn.op(value.ty, step.format(sum_, read_member(fn, value, more, base)))
    left = without_lowest(fn, more)
    fn.lines[at:at] = [
        f"  {more} = phi i32 [ {rest}, %{some} ], [ {left}, %{loop} ]",
        f"  {sum_} = phi {value.ty} [ {start}, %{some} ], [ {new}, %{loop} ]",
    ]
    fn.branch(fn.op("i1", f"icmp eq {left.t}, 0"), total, loop)
    fn.label(total)
    found = fn.op(value.ty, f"phi {value.ty} [ {start}, %{some} ], [ {new}, %{loop} ]")
    answer = fn.of_round(found)
    fn.branch(mine, done, some)

    fn.label(done)
    arms = f"[ {all_}, %{full} ], [ {answer}, %{total} ]"
    fn.put(inst, "d", fn.op(value.ty, f"phi {value.ty} {arms}"))


def read_member(fn: FunctionLowering, value: Val, mask: Val, base: Val) -> Val:
    """`value` of the lowest lane in a mask of the warp whose first lane is `base`; all three are the wave's."""
    lane = fn.op("i32", f"add {lowest(fn, mask).t}, {base}")
    word = fn.call("llvm.amdgcn.readlane.i32", "i32", fn.cast(value, "i32"), lane)
    return fn.cast(word, value.ty)


def without_lowest(fn: FunctionLowering, mask: Val) -> Val:
    return fn.op("i32", f"and {mask.t}, {fn.op('i32', f'add {mask.t}, -1')}")


@lowers("activemask")
def activemask(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", active(fn))


@lowers("elect")
def elect(fn: FunctionLowering, inst: Inst) -> None:
    """The lowest active member is elected."""
    chosen = lowest(fn, fn.op("i32", f"and {members(fn, inst).t}, {active(fn)}"))
    fn.put(inst, "d", chosen)
    fn.put(inst, "p", is_lane(fn, chosen))
