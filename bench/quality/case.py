"""A kernel of the benchmark: how it is launched, and what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: An array becomes a buffer; numpy scalars and ints are passed as they are, bytes as a structure.
Argument = np.ndarray | np.generic | int | bytes


@dataclass(frozen=True)
class Case:
    """A launch of the kernel `name`, whose argument number `result` then holds `expected`, exactly or with errors of up
    to `tolerance` times the largest element. few: the share of elements that may be wrong, where rounding decides a
    branch. wave_block: threads of a block of HIP on chips with 64-lane waves, for a kernel of which a wave does what a
    warp of CUDA does. lacking: the chips that HIP's source has no kernel for."""

    name: str
    grid: Sequence[int] | int
    block: Sequence[int] | int
    arguments: Sequence[Argument]
    result: int
    expected: Any
    tolerance: float = 0
    few: float = 0
    wave_block: int = 0
    lacking: tuple[str, ...] = ()

    def error(self, found: np.ndarray) -> str:
        """What is wrong with a result; "" if nothing is."""
        wanted, found = np.asarray(self.expected).ravel(), found.ravel()
        if self.tolerance:
            kind = np.complex128 if np.iscomplexobj(wanted) else float
            wrong = ~(np.abs(found.astype(kind) - wanted.astype(kind)) <= self.tolerance * np.abs(wanted).max())
        else:
            wrong = found != wanted
        return f"{wrong.sum()} of {wanted.size} elements are wrong" if wrong.mean() > self.few else ""
