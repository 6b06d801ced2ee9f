"""Shuffles whose source lanes are known: found among what the vector ALU reads from other lanes by itself
(DPP), the permlane instructions and the fixed patterns of ds_swizzle, in the order of their cost.

A pattern is the source lane of each of the 32 lanes of a warp; both halves of a paired wave follow the same.
Each step that is taken reads the source lane itself, never a third lane on the way, which may be inactive.
DPP8 is not among them: LLVM 22 sinks it into branches, away from lanes that others read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.warp.lanes import half, mov_dpp
from ptx2amd.target.arch import Arch

Pattern = tuple[int, ...]
LANES = range(32)
IDENTITY: Pattern = tuple(LANES)

# DPP controls
ROW_SHL, ROW_SHR, ROW_ROR, ROW_SHARE, ROW_XMASK = 0x100, 0x110, 0x120, 0x150, 0x160
ROW_MIRROR, ROW_HALF_MIRROR = 0x140, 0x141
ROTATE = 0xC000  # of ds_swizzle


def pattern(mode: str, b: int, c: int) -> tuple[Pattern, int]:
    """The pattern of a PTX shuffle with constant operands, and the mask of the lanes whose predicate is true:
    the others read themselves (PTX manual: shfl)."""
    distance, clamp, segment = b & 31, c & 31, c >> 8 & 31
    sources, inside = [], 0
    for lane in LANES:
        first = lane & segment
        last = first | clamp & ~segment
        if mode == "up":
            source = lane - distance
            good = source >= last
        else:
            source = {
                "down": lane + distance,
                "bfly": lane ^ distance,
                "idx": first | distance & ~segment & 31,
            }[mode]
            good = source <= last
        sources.append(source if good else lane)
        inside |= good << lane
    return tuple(sources), inside


def shuffle(fn: FunctionLowering, word: Val, sources: Pattern) -> Val | None:
    """A 32-bit value, lane i of each warp reading lane sources[i]; None when only ds_bpermute can do it."""
    value = fn.cast(word, "i32")
    for method in METHODS:
        result = method(fn, value, sources)
        if result is not None:
            return fn.cast(result, word.ty)
    return None


def in_lanes(fn: FunctionLowering, mask: int) -> Val:
    """Whether the thread's lane of the warp is in a constant mask."""
    lane = fn.special("%laneid")
    if mask == 0xFFFFFFFF:
        return fn.const("i1", 1)
    if mask & mask + 1 == 0:  # the lowest lanes
        return fn.op("i1", f"icmp ult {lane.t}, {mask.bit_length()}")
    low = (mask & -mask).bit_length() - 1
    if mask and mask == 0xFFFFFFFF & -1 << low:  # the highest
        return fn.op("i1", f"icmp uge {lane.t}, {low}")
    return fn.op("i1", f"trunc {fn.op('i32', f'lshr i32 {mask}, {lane}').t} to i1")


# the methods: each returns None for patterns that are not its own


def nothing(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    return value if sources == IDENTITY else None


def by_dpp(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """One control does all. Of a lane whose source is outside its row the old value stays."""
    control = controls(fn.target.arch).get(sources)
    if control is None:
        return None
    if ROW_SHL < control < ROW_ROR:
        return dpp(fn, value, value, control)
    return mov_dpp(fn, value, control)


def by_row_shift(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """A shift within rows, of lanes that do not keep their own value."""
    own = sum(1 << lane for lane in LANES if sources[lane] == lane)
    moved = [lane for lane in LANES if not own >> lane & 1]
    for n in range(1, 16):
        for step, control in ((n, ROW_SHL + n), (-n, ROW_SHR + n)):
            if all(sources[lane] == lane + step and lane & 16 == sources[lane] & 16 for lane in moved):
                shifted = mov_dpp(fn, value, control)
                return fn.op("i32", f"select {in_lanes(fn, ~own & 0xFFFFFFFF).t}, {shifted.t}, {value.t}")
    return None


def by_permlane(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """Any order within rows of 16, or between the two rows of a warp."""
    if not fn.target.arch.permlane16:
        return None
    for name, flip in (("permlane16", 0), ("permlanex16", 16)):
        if sources == tuple(lane & 16 ^ flip | sources[lane & 15] & 15 for lane in LANES):
            return permlane(fn, name, value, [s & 15 for s in sources[:16]])
    return None


def by_crossing_rows(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """A shift over the whole warp: from the other row by permlanex16, from the own row by DPP."""
    if not fn.target.arch.permlane16:
        return None
    for up in (False, True):
        for n in range(1, 17):
            step = -n if up else n
            if sources == tuple(s if 0 <= (s := lane + step) < 32 else lane for lane in LANES):
                crossed = permlane(fn, "permlanex16", value, [lane + step & 15 for lane in range(16)])
                other = in_lanes(fn, 0xFFFF0000 if up else 0x0000FFFF)
                outside = fn.op("i32", f"select {other.t}, {crossed.t}, {value.t}")
                return outside if n == 16 else dpp(fn, outside, value, (ROW_SHR if up else ROW_SHL) + n)
    return None


def by_swapped_banks(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """Neighbouring groups of four lanes change places: two shifts, each for every other group."""
    if sources != tuple(lane ^ 4 for lane in LANES):
        return None
    even = dpp(fn, value, value, ROW_SHL + 4, banks=0b0101)
    return dpp(fn, even, value, ROW_SHR + 4, banks=0b1010)


def by_one_lane(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """All read the same lane: a scalar, one for each warp of the wave."""
    if any(source != sources[0] for source in sources):
        return None
    low = fn.op("i32", f"call i32 @llvm.amdgcn.readlane.i32({value.t}, i32 {sources[0]})")
    if not fn.target.paired:
        return low
    high = fn.op("i32", f"call i32 @llvm.amdgcn.readlane.i32({value.t}, i32 {32 + sources[0]})")
    return fn.op("i32", f"select {fn.op('i1', f'icmp ne {half(fn).t}, 0').t}, {high.t}, {low.t}")


def by_swizzle(fn: FunctionLowering, value: Val, sources: Pattern) -> Val | None:
    """The LDS unit's patterns: each bit of the lane's number kept, set, cleared or inverted; or a rotation,
    where lanes may keep their own value."""
    keep, ones, flip = sources[0] ^ sources[31], sources[0] & sources[31], sources[0] & ~sources[31]
    if sources == tuple((lane & keep | ones) ^ flip for lane in LANES):
        return swizzle(fn, value, flip << 10 | ones << 5 | keep)
    own = sum(1 << lane for lane in LANES if sources[lane] == lane)
    for n in range(1, 32):
        if all(own >> lane & 1 or sources[lane] == lane + n & 31 for lane in LANES):
            rotated = swizzle(fn, value, ROTATE | n << 5)
            moved = in_lanes(fn, ~own & 0xFFFFFFFF)
            return fn.op("i32", f"select {moved.t}, {rotated.t}, {value.t}")
    return None


METHODS: tuple[Callable[[FunctionLowering, Val, Pattern], Val | None], ...] = (
    nothing, by_dpp, by_one_lane, by_row_shift, by_permlane, by_crossing_rows, by_swapped_banks, by_swizzle
)  # fmt: skip


# instructions


@cache
def controls(arch: Arch) -> dict[Pattern, int]:
    """What one DPP control can do: the control of each pattern."""

    def row(source: Callable[[int], int]) -> Pattern:
        """`source` says for each lane of a row which one it reads; itself, if that is outside."""
        return tuple(lane & 16 | (s if 0 <= (s := source(lane & 15)) < 16 else lane & 15) for lane in LANES)

    found = {row(lambda n, c=c: n & 12 | c >> 2 * (n & 3) & 3): c for c in range(256)}  # type: ignore[misc]
    found[row(lambda n: 15 - n)] = ROW_MIRROR
    found[row(lambda n: n ^ 7)] = ROW_HALF_MIRROR
    for k in range(16):
        if arch.row_share:
            found.setdefault(row(lambda n, k=k: k), ROW_SHARE + k)  # type: ignore[misc]
        if arch.major >= 10:
            found.setdefault(row(lambda n, k=k: n ^ k), ROW_XMASK + k)  # type: ignore[misc]
        if k:
            found.setdefault(row(lambda n, k=k: n - k & 15), ROW_ROR + k)  # type: ignore[misc]
            found.setdefault(row(lambda n, k=k: n + k), ROW_SHL + k)  # type: ignore[misc]
            found.setdefault(row(lambda n, k=k: n - k), ROW_SHR + k)  # type: ignore[misc]
    return found


def dpp(fn: FunctionLowering, old: Val, value: Val, control: int, rows: int = 15, banks: int = 15) -> Val:
    """`value` from another lane; `old` in lanes that have no source or are not in the masks."""
    rest = f"i32 {control}, i32 {rows}, i32 {banks}, i1 false"
    return fn.op("i32", f"call i32 @llvm.amdgcn.update.dpp.i32({old.t}, {value.t}, {rest})")


def permlane(fn: FunctionLowering, name: str, value: Val, selects: Sequence[int]) -> Val:
    """permlane16: lane i of each row of 16 reads lane selects[i] of it; permlanex16: of the neighbour row."""
    low, high = (sum(s << 4 * i for i, s in enumerate(part)) for part in (selects[:8], selects[8:]))
    rest = f"i32 {low}, i32 {high}, i1 false, i1 true"
    return fn.op("i32", f"call i32 @llvm.amdgcn.{name}.i32(i32 poison, {value.t}, {rest})")


def swizzle(fn: FunctionLowering, value: Val, offset: int) -> Val:
    return fn.op("i32", f"call i32 @llvm.amdgcn.ds.swizzle({value.t}, i32 {offset})")
