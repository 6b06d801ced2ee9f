"""Faults of LLVM 22 that the lowering, or an option of LLVM, avoids. The code that avoids one asks `applies(name)`, so
that a test can show what happens without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Avoided:
    """name: what `applies` is asked; fault: what LLVM does wrong; instead: what is done about it, and where."""

    name: str
    title: str
    fault: str
    instead: str


ALL = (
    Avoided(
        "carries",
        "carries of sums with a zero between them",
        "(x + y) + 0 + flag becomes one addition x + y + flag, whose carry is another.",
        "Operands of PTX's carry chains are opaque (lower/scalar/extended.py).",
    ),
    Avoided(
        "entries",
        "loops with several entries",
        "Under divergence, a value that a loop carries is not updated on one of the paths around.",
        "Such loops get one entry, a dispatch block, whose number is opaque (lower/control/dispatch.py).",
    ),
    Avoided(
        "masks",
        "masks that outlive a loop in which other lanes stay",
        "LLVM keeps a condition as a mask of lanes, and loses lanes of it.",
        "Numbers that say whose turn it is, or where a lane comes from, are opaque (lower/control/control.py).",
    ),
    Avoided(
        "stack_sizes",
        "stack memory of a size that is known at run time",
        "With flat scratch, a lane gets as many bytes as it asked for in all lanes' stacks together.",
        "The size is divided by the lanes of a wave, and opaque (lower/control/control.py).",
    ),
    Avoided(
        "stack_addresses",
        "addresses of stack memory of a size that is known at run time",
        "Without flat scratch, the address is that of the wave's stack, of all lanes together.",
        "The address is divided by the lanes of a wave (lower/control/control.py).",
    ),
    Avoided(
        "pairs",
        "pairs of f32 or f16 that go round a loop with a dispatch block",
        "Of packed values, halves are lost on gfx90a and later.",
        "SLP vectorisation is off in modules with such loops (codegen/llvm.py).",
    ),
    Avoided(
        "shared_ends",
        "ends of a loop's body shared with those of its peeled round",
        "This gives the loop a second entry; what is left of it as a loop is a part, in which lanes stay apart.",
        "The option -sink-common-insts=false (codegen/llvm.py).",
    ),
    Avoided(
        "rounds",
        "values of the wave that lanes take out of a loop at different rounds",
        "Where the loop and the loop around it become one with two back edges, a vote's result that outlives a round "
        "stays in the wave's register, which later rounds of other lanes change.",
        "Such values are copied to a register of each lane in the round (Emitter.of_round, lower/core/emit.py).",
    ),
    Avoided(
        "fences",
        "waits at fences in loops",
        "SIInsertWaitcnts removes the wait that a fence stands for when it first visits a block without an access in "
        "flight; that the loop's back edge brings one is found later. So a barrier at the start of a loop's body does "
        "not wait for stores to LDS at its end.",
        "Fences in loops are preceded by waits that LLVM leaves alone (settle, lower/memory/order.py).",
    ),
    Avoided(
        "waits",
        "waits at releases on GFX9",
        "At scope `.cta` accesses are left in flight, which causality order makes visible to other blocks; and the "
        "wait behind a write-back of L2 is removed where LLVM knows of no other access in flight.",
        "The wait is written out behind releases, and behind acquires at scope `.cta` (lower/memory/order.py). Litmus "
        "tests in the weak-memory mode found both.",
    ),
)

_OFF: set[str] = set()  # for tests


def applies(name: str) -> bool:
    """Whether to avoid a fault; KeyError for an unknown name."""
    if name not in _NAMES:
        raise KeyError(name)
    return name not in _OFF


def without(name: str) -> None:
    """Stop avoiding a fault in this process, before its first translation."""
    if applies(name):
        _OFF.add(name)


_NAMES = frozenset(row.name for row in ALL)
