"""The table of what vector instructions compute, lane by lane: result type, source types, function.

Independent of the rows: the mnemonics and the manuals' descriptions are all they share. Sources arrive as Python
integers (signed for i types) or numpy floats, lane masks as 0 or 1; results likewise. A function that returns a
pair gives the result and a carry or flag bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

f32, f64, f16 = np.float32, np.float64, np.float16
I32, U32 = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
Entry = tuple[str, str, Callable]
REFERENCE: dict[str, Entry] = {}
#: Instructions that approximate: units in the last place that we allow ourselves.
APPROXIMATE: dict[str, float] = {}


def add(name: str, d: str, sources: str, function: Callable, ulp: float = 0) -> None:
    for one in name.split():
        REFERENCE[one] = (d, sources, function)
        if ulp:
            APPROXIMATE[one] = ulp


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def isnan(value: object) -> bool:
    return math.isnan(float(value))  # type: ignore[arg-type]
