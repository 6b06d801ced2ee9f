"""Lowering functions by the name that a table row uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx2amd.lower.function import FunctionLowering
    from ptx2amd.ptx.ast import Inst

Lowering = Callable[["FunctionLowering", "Inst"], None]
LOWERINGS: dict[str, Lowering] = {}


def lowers(name: str) -> Callable[[Lowering], Lowering]:
    """Register a lowering under the name that rows of ptx2amd/isa give in `lower`."""

    def add(function: Lowering) -> Lowering:
        assert name not in LOWERINGS, f"lowering {name} registered twice"
        LOWERINGS[name] = function
        return function

    return add
