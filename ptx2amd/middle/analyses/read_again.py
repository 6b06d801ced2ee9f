"""Results that are read more than once."""

from __future__ import annotations

from collections import Counter

from ptx2amd.middle.body import Body


def read_again(body: Body) -> frozenset[int]:
    """The instructions, by their ids, whose result does not go into one operation alone."""
    reads = Counter(register for op in body.ops() for register in op.reads)
    return frozenset(id(op.inst) for op in body.ops() if any(reads[register] > 1 for register in op.writes))
