"""Results of matrix products that further products add to."""

from __future__ import annotations

from typing import NamedTuple

from ptx2amd.lower.core.value import Val


class Tile(NamedTuple):
    """The sums of a product as the instruction left them, for a product that adds to them; `start`: accumulators
    that are not in them yet, in PTX's order."""

    sums: list[Val]
    start: list[Val]
