"""Lanes of a warp in both warp mappings: who is active, votes, and reading another lane's registers.

native: a wave is a warp. paired: a wave of 64 lanes carries two warps, and each sees its own half. padded:
the lower half of a wave is a warp, and the other lanes are off."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val, width


def anchor(fn: FunctionLowering) -> None:
    """Keep LLVM from duplicating the current block: it does not duplicate convergent operations."""
    fn.do("call void @llvm.amdgcn.wave.barrier()")


def wave_lane(fn: FunctionLowering) -> Val:
    """The lane's number in its wave."""
    low = fn.op("i32", "call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)")
    if not fn.target.paired:
        return low
    return fn.op("i32", f"call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, {low.t})")


def half(fn: FunctionLowering) -> Val:
    """The number of the first lane of the thread's warp in its wave: 0, or 32."""
    return fn.op("i32", f"and {wave_lane(fn).t}, 32")


def ballot(fn: FunctionLowering, vote: Val) -> Val:
    """The mask of the warp's active lanes whose `vote` is true, as an i32."""
    if fn.target.wave_size == 32:
        return fn.call("llvm.amdgcn.ballot.i32", "i32", vote)
    both = ballot_of_wave(fn, vote)
    low = fn.op("i32", f"trunc {both.t} to i32")
    if not fn.target.paired:
        return low
    high = fn.op("i32", f"trunc {fn.op('i64', f'lshr {both.t}, 32').t} to i32")
    upper = fn.op("i1", f"icmp ne {half(fn).t}, 0")
    return fn.op("i32", f"select {upper.t}, {high.t}, {low.t}")


def ballot_of_wave(fn: FunctionLowering, vote: Val) -> Val:
    """The mask of the wave's active lanes whose `vote` is true, in waves of 64 lanes, as an i64."""
    return fn.call("llvm.amdgcn.ballot.i64", "i64", vote)


def active(fn: FunctionLowering) -> Val:
    """The mask of the warp's active lanes."""
    return ballot(fn, fn.const("i1", 1))


def leader(fn: FunctionLowering) -> Val:
    """Whether this is the lowest active lane of its warp."""
    return is_lane(fn, lowest(fn, active(fn)))


def lowest(fn: FunctionLowering, mask: Val) -> Val:
    """The lowest lane in a mask that is not empty."""
    return fn.op("i32", f"call range(i32 0, 32) i32 @llvm.cttz.i32({mask.t}, i1 true)")


def is_lane(fn: FunctionLowering, lane: Val) -> Val:
    """Whether this thread is lane `lane` of its warp."""
    return fn.op("i1", f"icmp eq {fn.special('%laneid').t}, {lane}")


def count_below(fn: FunctionLowering, mask: Val) -> Val:
    """How many lanes below the thread's own are in a mask of its warp."""
    if not fn.target.paired:
        return fn.op("i32", f"call i32 @llvm.amdgcn.mbcnt.lo({mask.t}, i32 0)")
    upper = fn.op("i1", f"icmp ne {half(fn).t}, 0")
    low = fn.op("i32", f"select {upper.t}, i32 0, {mask.t}")  # for the upper warp all lower lanes count as below
    low = fn.op("i32", f"call i32 @llvm.amdgcn.mbcnt.lo({low.t}, i32 0)")
    return fn.op("i32", f"call i32 @llvm.amdgcn.mbcnt.hi({mask.t}, {low.t})")


def read_lane(fn: FunctionLowering, value: Val, lane: Val) -> Val:
    """`value` as lane `lane` (0 to 31, any lane may ask for any) of the same warp has it. What an inactive
    lane has is undefined, in PTX and here. Values of more than 32 bits go word by word."""
    if fn.target.paired:
        lane = fn.op("i32", f"or disjoint {half(fn).t}, {lane}")
    at = fn.op("i32", f"shl {lane.t}, 2")
    bits = width(value.ty)
    if bits == 32:
        return fn.cast(_permute(fn, at, fn.cast(value, "i32")), value.ty)
    if bits < 32:
        word = _permute(fn, at, fn.resize(value, 32))
        return fn.cast(fn.resize(word, bits), value.ty)
    return fn.pack([_permute(fn, at, part) for part in split(fn, value)], value.ty)


def split(fn: FunctionLowering, value: Val) -> list[Val]:
    """The 32-bit words of a value, lowest first."""
    count = width(value.ty) // 32
    words = fn.cast(value, f"<{count} x i32>")
    return [fn.op("i32", f"extractelement {words.t}, i32 {i}") for i in range(count)]


def _permute(fn: FunctionLowering, at: Val, word: Val) -> Val:
    return fn.call("llvm.amdgcn.ds.bpermute", "i32", at, word)


def mov_dpp(fn: FunctionLowering, word: Val, control: int) -> Val:
    """A 32-bit value of the lane that a control of DPP names, for controls that have one for every lane; the
    instruction that uses the result can do the move. (LLVM copies the operand of mov.dpp first.)"""
    rest = f"i32 {control}, i32 15, i32 15, i1 true"
    return fn.op("i32", f"call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, {word.t}, {rest})")


def quad_permute(fn: FunctionLowering, word: Val, lanes: tuple[int, int, int, int]) -> Val:
    """A 32-bit value, lane i of each group of four reading lane `lanes[i]` of it."""
    control = sum(lane << 2 * i for i, lane in enumerate(lanes))
    return fn.cast(mov_dpp(fn, fn.cast(word, "i32"), control), word.ty)


def read_quad(fn: FunctionLowering, value: Val, lane: int) -> Val:
    """A 32- or 64-bit value as lane `lane` (0 to 3) of the thread's group of four has it."""
    parts = split(fn, value)
    return fn.pack([mov_dpp(fn, part, 0b01010101 * lane) for part in parts], value.ty)
