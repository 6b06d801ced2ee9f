"""Products that are read more than once."""

from __future__ import annotations

from collections import Counter

from ptx2amd.middle.body import Body


def shared_products(body: Body) -> frozenset[int]:
    """The multiplications, by the ids of their instructions, whose product does not go into one operation alone. nvcc
    and ptxas round it once for all its readers; CUDA's own functions rely on that where they compute what a rounding
    has lost, such as the low half of a logarithm in powf."""
    reads = Counter(register for op in body.ops() for register in op.reads)
    return frozenset(
        id(op.inst)
        for op in body.ops()
        if op.inst.shape.form.mnemonic == "mul" and any(reads[register] > 1 for register in op.writes)
    )
