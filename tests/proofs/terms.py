"""Products and quotients as terms, which are the hard part for a solver: as what they are, or as functions of which it
knows nothing but that the same operands give the same result. What holds of such functions holds of products too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import z3

_abstract = False


@contextmanager
def abstract() -> Iterator[None]:
    """Within it, products and quotients are unknown functions."""
    global _abstract
    _abstract = True
    try:
        yield
    finally:
        _abstract = False


def _function(name: str, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    sort = z3.BitVecSort(a.size())
    return z3.Function(f"{name}{a.size()}", sort, sort, sort)(a, b)


def product(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    return _function("product", a, b) if _abstract else a * b


def quotient(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    """Of unsigned numbers."""
    return _function("quotient", a, b) if _abstract else z3.UDiv(a, b)


def remainder(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    """Of unsigned numbers."""
    return _function("remainder", a, b) if _abstract else z3.URem(a, b)
