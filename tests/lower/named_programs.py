"""Random schedules of named barriers: a block's units (groups of warps that act alike) meet in changing sets,
some only arriving, and read what the others wrote before. Beside each program, what its threads write."""

from __future__ import annotations

import random
from dataclasses import dataclass

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Meeting:
    """Barrier `number` for the units `members`; those in `arriving` do not wait. kind: "sync", "popc", "and",
    "or" (a vote, in which all wait), or "block" (bar.sync 0 of everyone). indirect: number and thread count
    come from registers that LLVM does not know."""

    kind: str
    number: int
    members: tuple[int, ...]
    arriving: frozenset[int]
    indirect: bool


def schedule(seed: int, units: int, length: int = 14) -> list[Meeting]:
    """A legal schedule: units come to a barrier's next use only after they have waited for its last."""
    rng = random.Random(seed)
    free: dict[int, frozenset[int]] = {}  # barrier -> units that may come to it next (absent: all)
    everyone = tuple(range(units))
    meetings: list[Meeting] = []
    while len(meetings) < length:
        number = rng.choice((1, 2, 3, 7, 15))
        allowed = sorted(free.get(number, frozenset(everyone)))
        if len(allowed) < 2 or rng.random() < 0.05:
            meetings.append(Meeting("block", 0, everyone, frozenset(), False))
            free.clear()
            continue
        members = tuple(sorted(rng.sample(allowed, rng.randrange(2, len(allowed) + 1))))
        kind = rng.choice(("sync", "sync", "sync", "popc", "and", "or"))
        arriving: frozenset[int] = frozenset()
        if kind == "sync":
            arriving = frozenset(rng.sample(members, rng.randrange(len(members))))
        meetings.append(Meeting(kind, number, members, arriving, rng.random() < 0.3))
        free[number] = frozenset(members) - arriving
    return meetings


def bits(units) -> int:
    return sum(1 << unit for unit in units)


def partner(meeting: Meeting, unit: int) -> int:
    """The unit whose words a waiting unit reads."""
    members = meeting.members
    return members[(members.index(unit) + 1) % len(members)]


def kernel(name: str, meetings: list[Meeting], unit: int) -> str:
    """`name(out, zero)`: thread t writes one word at out + 4 t. unit: threads of a unit. The block has at most
    256 threads."""
    lines = [
        f".visible .entry {name}(.param .u64 out, .param .u32 zero)",
        "{",
        f".shared .align 4 .b8 sh[{4 * 256 * len(meetings)}];",
        ".reg .pred %in, %p, %q; .reg .b64 %out; .reg .b32 %t, %u, %x, %y, %w, %own, %zero, %id, %n, %from;",
        "mov.u32 %t, %tid.x; ld.param.u64 %out, [out]; ld.param.u32 %zero, [zero];",
        f"mad.wide.u32 %out, %t, 4, %out; div.u32 %u, %t, {unit};",
        "mov.u32 %own, sh; mad.lo.u32 %own, %t, 4, %own; mul.lo.u32 %w, %t, 0x9E3779B1;",
    ]
    for i, meeting in enumerate(meetings):
        threads = unit * len(meeting.members)
        bar, aligned = (("bar", ""), ("barrier", ""), ("barrier", ".aligned"), ("barrier.cta", ".aligned"))[i % 4]
        number, count = str(meeting.number), str(threads)
        if meeting.indirect:
            lines.append(f"add.u32 %id, %zero, {meeting.number}; add.u32 %n, %zero, {threads};")
            number, count = "%id", "%n"
        lines += [
            f"shr.u32 %x, {bits(meeting.members)}, %u; and.b32 %x, %x, 1; setp.eq.u32 %p, %x, 0; @%p bra skip{i};",
            f"mad.lo.u32 %w, %w, 5, {i}; st.shared.u32 [%own+{1024 * i}], %w;",
        ]
        if meeting.kind == "block":
            lines.append("bar.sync 0;")
        elif meeting.kind == "sync":
            lines += [
                f"shr.u32 %x, {bits(meeting.arriving)}, %u; and.b32 %x, %x, 1; setp.ne.u32 %p, %x, 0;",
                f"@!%p bra wait{i}; {bar}.arrive{aligned} {number}, {count}; bra skip{i}; wait{i}:",
                f"{bar}.sync{aligned} {number}, {count};",
            ]
        else:
            lines.append(f"shr.u32 %x, %w, {i % 20 + 3}; and.b32 %x, %x, 15; setp.ne.u32 %q, %x, 0;")
            if meeting.kind == "popc":
                lines.append(f"{bar}.red.popc{aligned}.u32 %x, {number}, {count}, %q;")
            else:
                lines.append(
                    f"{bar}.red.{meeting.kind}{aligned}.pred %p, {number}, {count}, %q; selp.u32 %x, 1, 0, %p;"
                )
            lines.append("add.u32 %w, %w, %x;")
        lines.append("mov.u32 %from, 0;")
        for member in meeting.members:
            lines.append(f"setp.eq.u32 %p, %u, {member};")
            lines.append(f"@%p mov.u32 %from, {partner(meeting, member)};")
        lines += [
            f"sub.u32 %x, %from, %u; mul.lo.u32 %x, %x, {4 * unit}; add.u32 %x, %x, %own;",
            f"ld.shared.u32 %y, [%x+{1024 * i}]; xor.b32 %w, %w, %y;",
            f"skip{i}:",
        ]
    return "\n".join([*lines, "st.global.u32 [%out], %w;", "ret;", "}", ""])


def expected(meetings: list[Meeting], unit: int, threads: int) -> list[int]:
    """The words that the threads of a block of whole units write."""
    w = [t * 0x9E3779B1 & MASK for t in range(threads)]
    for i, meeting in enumerate(meetings):
        present = [t for t in range(threads) if t // unit in meeting.members]
        for t in present:
            w[t] = (w[t] * 5 + i) & MASK
        wrote = list(w)
        votes = [wrote[t] >> (i % 20 + 3) & 15 != 0 for t in present]
        result = {"popc": sum(votes), "and": int(all(votes)), "or": int(any(votes))}.get(meeting.kind, 0)
        for t in present:
            if t // unit not in meeting.arriving:
                other = partner(meeting, t // unit) * unit + t % unit
                w[t] = ((wrote[t] + result) & MASK) ^ wrote[other]
    return w
