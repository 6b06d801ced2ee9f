"""PTX programs that run warp operations under divergence, and what tests/reference/warp.py says of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.reference import warp

HEAD = ".version 8.8\n.target sm_100a\n.address_size 64\n"
UNTOUCHED = 0xDEADBEEF
WORDS = 8  # u32 inputs of a thread
Lanes = dict[int, int]

# Which threads execute: PTX that leaves the answer in %p, and the same in Python
REGIONS: dict[str, tuple[str, Callable[[int], bool]]] = {
    "all": ("setp.eq.u32 %p, %tid0, %tid0;", lambda t: True),
    "odd": ("and.b32 %x, %tid0, 1; setp.ne.u32 %p, %x, 0;", lambda t: t % 2 == 1),
    "third": ("rem.u32 %x, %tid0, 3; setp.eq.u32 %p, %x, 1;", lambda t: t % 3 == 1),
    "second_warp": ("and.b32 %x, %tid0, 32; setp.ne.u32 %p, %x, 0;", lambda t: t & 32 != 0),
    "uneven": ("rem.u32 %x, %tid0, 37; setp.lt.u32 %p, %x, 11;", lambda t: t % 37 < 11),
    "one": ("rem.u32 %x, %tid0, 32; setp.eq.u32 %p, %x, 17;", lambda t: t % 32 == 17),
}
# Member masks: PTX that leaves the mask in %m (%am is the mask of active lanes), and the same in Python
MASKS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "full": ("mov.b32 %m, -1;", lambda lane, active: warp.U32),
    "active": ("mov.b32 %m, %am;", lambda lane, active: active),
    "parity": (
        "and.b32 %x, %lane, 1; shl.b32 %m, 0x55555555, %x; and.b32 %m, %m, %am;",
        lambda lane, active: active & (0x55555555 << (lane & 1)),
    ),
}


@dataclass(frozen=True)
class Case:
    """One instruction. `ptx` leaves results in %d0 and %d1; `model` says them from the lanes' inputs (lists
    of WORDS words) and member masks; None is undefined."""

    ptx: str
    model: Callable[[dict[int, list[int]], Lanes], list[dict[int, int | None]]]
    region: str = "all"
    mask: str = "active"


def word(inputs: dict[int, list[int]], index: int) -> Lanes:
    return {lane: words[index] for lane, words in inputs.items()}


def constant(inputs: dict[int, list[int]], value: int) -> Lanes:
    return dict.fromkeys(inputs, value)


CONTROLS = ((1, 31), (16, 31), (3, 0x1C1F), (5, 0x181F), (0, 0), (31, 0x0F03), (2, 7), (None, None), (None, 31))
WIDTHS = (32, 16, 8, 4, 2, 1)  # of the segments that CUDA's intrinsics make


def shuffles(every: bool = False) -> list[tuple[str, Callable]]:
    """All modes with constant and with per-lane operands, and segment widths; `every`: all distances in all
    widths."""
    found = []
    for mode in ("up", "down", "bfly", "idx"):
        controls = list(CONTROLS)
        if every:
            controls += [(b, (32 - width) << 8 | 31) for width in WIDTHS for b in range(32)]
        for b, c in controls:
            if mode == "up" and c is not None and (every or c == 31):
                c &= ~31
            breg, creg = "%i1" if b is None else str(b), "%i2" if c is None else str(c)

            def model(inputs, masks, mode=mode, b=b, c=c):
                bs = word(inputs, 1) if b is None else constant(inputs, b)
                cs = word(inputs, 2) if c is None else constant(inputs, c)
                return list(warp.shfl(mode, word(inputs, 0), bs, cs))

            found.append((f"shfl.sync.{mode}.b32 %d0|%q, %i0, {breg}, {creg}, %m; selp.b32 %d1, 1, 0, %q;", model))
    return found


def others() -> list[tuple[str, Callable]]:
    def low_bit(inputs, index):
        return {lane: value & 1 for lane, value in word(inputs, index).items()}

    def wide(inputs):
        return {lane: words[5] | words[6] << 32 for lane, words in inputs.items()}

    bit = "and.b32 %x, %i3, 1; setp.ne.u32 %q, %x, 0;"
    said = "selp.b32 %d0, 1, 0, %q;"
    found: list[tuple[str, Callable]] = [
        (f"{bit} vote.sync.ballot.b32 %d0, %q, %m;", lambda i, m: [warp.ballot(low_bit(i, 3), m)]),
        (
            f"{bit} vote.sync.ballot.b32 %d0, !%q, %m;",
            lambda i, m: [warp.ballot({k: 1 - v for k, v in low_bit(i, 3).items()}, m)],
        ),
        ("activemask.b32 %d0;", lambda i, m: [constant(i, warp.mask_of(i))]),
        ("match.any.sync.b32 %d0, %i4, %m;", lambda i, m: [warp.match_any(word(i, 4), m)]),
        ("match.any.sync.b64 %d0, %wide, %m;", lambda i, m: [warp.match_any(wide(i), m)]),
        (
            "match.all.sync.b32 %d0|%q, %i4, %m; selp.b32 %d1, 1, 0, %q;",
            lambda i, m: list(warp.match_all(word(i, 4), m)),
        ),
        (
            "match.all.sync.b64 %d0|%q, 7, %m; selp.b32 %d1, 1, 0, %q;",
            lambda i, m: list(warp.match_all(constant(i, 7), m)),
        ),
        ("elect.sync %d0|%q, %m; selp.b32 %d1, 1, 0, %q;", lambda i, m: list(warp.elect(word(i, 0), m))),
    ]
    for mode in ("all", "any", "uni"):
        for index in (3, 7):  # a random bit, and one that is the same everywhere but in a few threads
            test = f"and.b32 %x, %i{index}, 1; setp.ne.u32 %q, %x, 0;"
            found.append(
                (
                    f"{test} vote.sync.{mode}.pred %q, %q, %m; {said}",
                    lambda i, m, mode=mode, index=index: [warp.vote(mode, low_bit(i, index), m)],
                )
            )
    for op, ptype in warp._STEP:
        found.append(
            (
                f"redux.sync.{op}.{ptype} %d0, %i0, %m;",
                lambda i, m, op=op, ptype=ptype: [warp.redux(op, ptype, word(i, 0), m)],
            )
        )
    for op in ("min", "max"):
        for extra in ("", ".abs", ".NaN", ".abs.NaN"):
            found.append(
                (
                    f"mov.b32 %f, %i0; redux.sync.{op}{extra}.f32 %f, %f, %m; mov.b32 %d0, %f;",
                    lambda i, m, op=op, extra=extra: [
                        warp.redux_float(op, "abs" in extra, "NaN" in extra, word(i, 0), m)
                    ],
                )
            )
    return found


def cases(every: bool = False) -> list[Case]:
    """All operations in all divergence patterns with all member masks that the pattern allows."""
    found = [Case(ptx, model, region) for ptx, model in shuffles(every) for region in REGIONS]
    found += [
        Case(ptx, model, region, mask) for ptx, model in others() for region in REGIONS for mask in ("active", "parity")
    ]
    return found + [Case(ptx, model, "all", "full") for ptx, model in others()]


LEFT = 5  # where threads have exited, these have: those whose number modulo LEFT is 2


def kernel(name: str, batch: list[Case], exited: bool = False) -> str:
    """`name(in, out)`: thread t of block b reads WORDS words at in + 4 WORDS t, and writes for case i the
    words %d0, %d1 at out + 8 (t + threads (i + cases b)). exited: some threads leave at the start."""
    lines = [
        f".visible .entry {name}(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .pred %p, %q; .reg .b32 %x, %m, %am, %lane, %tid0, %d0, %d1, %n, %t;",
        f".reg .b32 %i<{WORDS}>; .reg .b64 %in, %out, %at, %wide, %step; .reg .f32 %f;",
        "mov.u32 %lane, %laneid; mov.u32 %n, %ntid.y; mov.u32 %x, %tid.z; mov.u32 %tid0, %tid.y;",
        "mad.lo.u32 %tid0, %x, %n, %tid0; mov.u32 %x, %ntid.x; mov.u32 %m, %tid.x; mad.lo.u32 %tid0, %tid0, %x, %m;",
        "mul.lo.u32 %n, %n, %x; mov.u32 %x, %ntid.z; mul.lo.u32 %n, %n, %x;",
        f"rem.u32 %x, %tid0, {LEFT}; setp.eq.u32 %p, %x, 2; @%p exit;" if exited else "",
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];",
        f"mul.wide.u32 %at, %tid0, {4 * WORDS}; add.u64 %in, %in, %at;",
        *(f"ld.global.u32 %i{i}, [%in+{4 * i}];" for i in range(WORDS)),
        "mov.b64 %wide, {%i5, %i6};",
        "mov.u32 %t, %ctaid.x;",
        f"mul.lo.u32 %t, %t, {len(batch)}; mad.lo.u32 %t, %t, %n, %tid0;",
        "mul.wide.u32 %at, %t, 8; add.u64 %out, %out, %at; mul.wide.u32 %step, %n, 8;",
    ]
    for i, case in enumerate(batch):
        lines += [
            f"mov.b32 %d0, {UNTOUCHED}; mov.b32 %d1, {UNTOUCHED};",
            REGIONS[case.region][0],
            f"@!%p bra skip{i};",
            "activemask.b32 %am;",
            MASKS[case.mask][0],
            case.ptx,
            f"skip{i}:",
            "st.global.v2.u32 [%out], {%d0, %d1};",
            "add.u64 %out, %out, %step;",
        ]
    return "\n".join([*lines, "ret;", "}", ""])


def inputs(threads: int) -> list[list[int]]:
    """WORDS words for each thread: random; shuffle distance; shuffle control; a bit; one of few values; the
    halves of one of few 64-bit values; a bit that is mostly one."""
    seed = random.Random(threads)
    special = (0x7FC00000, 0xFF800000, 0x80000000, 0)  # as f32: NaN, -inf, -0, 0
    controls = [31, 0, 0x1F, 0x1C1F, 0x181F, 0x1E1F, 0x0300, 0x1F1F]
    return [
        [
            seed.choice(special) if t % 11 == 7 else seed.randrange(1 << 32),
            seed.randrange(40),
            seed.choice(controls),
            seed.randrange(2),
            seed.choice((3, 5, 1 << 31)),
            seed.choice((1, 2)),
            seed.choice((0, 1 << 30)),
            int(t % 41 != 3),
        ]
        for t in range(threads)
    ]


def expected(case: Case, data: list[list[int]], exited: bool = False) -> list[tuple[int | None, int | None]]:
    """What each thread of a block writes; threads that have exited: zeros, which the memory holds before."""
    result: list[tuple[int | None, int | None]] = [(UNTOUCHED, UNTOUCHED)] * len(data)
    runs = REGIONS[case.region][1]
    gone = [exited and t % LEFT == 2 for t in range(len(data))]
    for first in range(0, len(data), 32):
        threads = range(first, min(first + 32, len(data)))
        lanes = {t - first: data[t] for t in threads if runs(t) and not gone[t]}
        active = warp.mask_of(lanes)
        masks = {lane: MASKS[case.mask][1](lane, active) for lane in lanes}
        results = case.model(lanes, masks) if lanes else []
        for lane in lanes:
            words = [r[lane] for r in results] + [UNTOUCHED] * (2 - len(results))
            result[first + lane] = (words[0], words[1])
    return [(0, 0) if gone[t] else words for t, words in enumerate(result)]
