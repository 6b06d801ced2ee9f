"""What PTX says of operations across a warp, lane by lane, in plain Python: the reference of tests/lower.

A warp is a dict from the lanes that execute the instruction together to their operand: `{0: 5, 1: 7, ...}`.
Results are dicts of the same lanes. None stands for what PTX leaves undefined."""

from __future__ import annotations

from collections.abc import Callable, Iterable

U32 = (1 << 32) - 1
Lanes = dict[int, int]


def mask_of(lanes: Iterable[int]) -> int:
    return sum(1 << lane for lane in lanes)


def members(mask: int, active: Iterable[int]) -> list[int]:
    """The lanes of a member mask that take part, lowest first."""
    return sorted(lane for lane in active if mask >> lane & 1)


def shfl(mode: str, a: Lanes, b: Lanes, c: Lanes) -> tuple[dict[int, int | None], Lanes]:
    """shfl.{up,down,bfly,idx}: each lane's value and predicate (manual: "shfl", its pseudocode)."""
    values: dict[int, int | None] = {}
    inside: Lanes = {}
    for lane in a:
        bval, cval, segment = b[lane] & 31, c[lane] & 31, c[lane] >> 8 & 31
        highest = (lane & segment) | (cval & ~segment & 31)
        lowest = lane & segment
        if mode == "up":
            source = lane - bval
            good = source >= highest
        elif mode == "down":
            source = lane + bval
            good = source <= highest
        elif mode == "bfly":
            source = lane ^ bval
            good = source <= highest
        else:
            source = lowest | (bval & ~segment & 31)
            good = source <= highest
        inside[lane] = int(good)
        values[lane] = a.get(source if good else lane)
    return values, inside


def ballot(yes: Lanes, mask: Lanes) -> Lanes:
    return {lane: mask_of(other for other in members(mask[lane], yes) if yes[other]) for lane in yes}


def vote(mode: str, yes: Lanes, mask: Lanes) -> Lanes:
    """vote.{all,any,uni}."""
    result = {}
    for lane in yes:
        votes = [yes[other] for other in members(mask[lane], yes)]
        result[lane] = int({"all": all(votes), "any": any(votes), "uni": len(set(votes)) <= 1}[mode])
    return result


def match_any(a: Lanes, mask: Lanes) -> Lanes:
    return {lane: mask_of(o for o in members(mask[lane], a) if a[o] == a[lane]) for lane in a}


def match_all(a: Lanes, mask: Lanes) -> tuple[Lanes, Lanes]:
    """The mask (0 when the values differ) and the predicate."""
    same = {lane: len({a[other] for other in members(mask[lane], a)}) == 1 for lane in a}
    return (
        {lane: mask_of(members(mask[lane], a)) if same[lane] else 0 for lane in a},
        {lane: int(good) for lane, good in same.items()},
    )


def signed(v: int) -> int:
    return v - (1 << 32) if v >> 31 else v


_STEP: dict[tuple[str, str], Callable[[int, int], int]] = {
    ("add", "u32"): lambda x, y: x + y,
    ("add", "s32"): lambda x, y: x + y,
    ("min", "u32"): min,
    ("max", "u32"): max,
    ("min", "s32"): lambda x, y: min(x, y, key=signed),
    ("max", "s32"): lambda x, y: max(x, y, key=signed),
    ("and", "b32"): lambda x, y: x & y,
    ("or", "b32"): lambda x, y: x | y,
    ("xor", "b32"): lambda x, y: x ^ y,
}


def redux(op: str, ptype: str, a: Lanes, mask: Lanes) -> Lanes:
    result = {}
    for lane in a:
        first, *rest = members(mask[lane], a)
        total = a[first]
        for other in rest:
            total = _STEP[op, ptype](total, a[other])
        result[lane] = total & U32
    return result


def redux_float(op: str, magnitude: bool, nan: bool, a: Lanes, mask: Lanes) -> dict[int, int | None]:
    """redux.{min,max}.f32: without .NaN a NaN is as if absent; -0 is below +0. None: a NaN of any payload."""
    result: dict[int, int | None] = {}
    for lane in a:
        bits = [a[other] & (0x7FFFFFFF if magnitude else U32) for other in members(mask[lane], a)]
        numbers = [v for v in bits if v & 0x7FFFFFFF <= 0x7F800000]
        if not numbers or (nan and len(numbers) < len(bits)):
            result[lane] = None
        else:  # as integers the bits of floats sort like their magnitudes
            result[lane] = {"min": min, "max": max}[op](numbers, key=lambda v: v if v >> 31 == 0 else ~(v & 0x7FFFFFFF))
    return result


def elect(active: Lanes, mask: Lanes) -> tuple[Lanes, Lanes]:
    """The elected lane, and whether each is it."""
    leader = {lane: members(mask[lane], active)[0] for lane in active}
    return leader, {lane: int(leader[lane] == lane) for lane in active}
