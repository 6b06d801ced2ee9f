"""Faults of LLVM 22 that the lowering, or an option of LLVM, avoids. The code that avoids one asks `applies(name)`, so
that a test can show what happens without it."""

from __future__ import annotations

from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Avoided:
    """name: the argument of `applies`; fault: what LLVM does wrong; instead: how and where the lowering avoids it."""

    name: str
    title: str
    fault: str
    instead: str


ALL = (
    Avoided(
        "carries",
        "carries of sums with a zero between them",
        "(x + y) + 0 + flag becomes one addition x + y + flag, which has a different carry.",
        "Operands of PTX's carry chains are opaque (lower/scalar/extended.py).",
    ),
    Avoided(
        "entries",
        "loops with several entries",
        "Under divergence, a loop-carried value is not updated on one of the paths around the loop.",
        "Such loops get a single entry, a dispatch block with an opaque selector (lower/control/dispatch.py).",
    ),
    Avoided(
        "masks",
        "lane masks that are live after a loop in which other lanes stay",
        "LLVM keeps a condition as a lane mask and loses lanes of it.",
        "Values that select a lane's turn or its predecessor are opaque (lower/control/control.py).",
    ),
    Avoided(
        "stack_sizes",
        "dynamic stack allocations: size",
        "With flat scratch, the requested bytes are allocated for all lanes of the wave together instead of per lane.",
        "The size is divided by the lanes of a wave and made opaque (lower/control/control.py).",
    ),
    Avoided(
        "stack_addresses",
        "dynamic stack allocations: address",
        "Without flat scratch, the address is an offset into the stack of the whole wave instead of a lane's.",
        "The address is divided by the lanes of a wave (lower/control/control.py).",
    ),
    Avoided(
        "pairs",
        "pairs of f32 or f16 carried by a loop with a dispatch block",
        "Halves of packed values are lost on gfx90a and later.",
        "SLP vectorisation is off in modules with such loops (codegen/llvm.py).",
    ),
    Avoided(
        "shared_ends",
        "a loop body's end merged with that of its peeled iteration",
        "This gives the loop a second entry; only a part of it remains a loop, and lanes do not reconverge there.",
        "The option -sink-common-insts=false (codegen/llvm.py).",
    ),
    Avoided(
        "rounds",
        "uniform values with which lanes leave a loop in different iterations",
        "If a loop and its outer loop are merged into one with two back edges, a vote's result that is live after the "
        "iteration stays in a scalar register, which later iterations of other lanes overwrite.",
        "Such values are copied to a vector register within the iteration (Emitter.of_round, lower/core/emit.py).",
    ),
    Avoided(
        "fences",
        "waits at fences in loops",
        "SIInsertWaitcnts removes a fence's wait when it first visits the block and sees no access in flight, although "
        "the loop's back edge may bring one. A barrier at the start of a loop body then does not wait for LDS stores "
        "at its end.",
        "Fences in loops are preceded by waits that LLVM does not remove (settle, lower/memory/order.py).",
    ),
    Avoided(
        "waits",
        "waits at releases on GFX9",
        "At scope `.cta` LLVM leaves accesses in flight although causality order makes them visible to other blocks; "
        "and it removes the wait after an L2 write-back if it knows of no other access in flight.",
        "Explicit waits follow releases, and acquires at scope `.cta` (lower/memory/order.py). Litmus tests in the "
        "weak-memory mode found both.",
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
