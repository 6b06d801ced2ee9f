"""Lowering functions by the name that a table row uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from ptx2amd.lower.core.function import FunctionLowering
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


@cache
def load() -> dict[str, Lowering]:
    """All lowerings: imports the files of ptx2amd/lower, which register theirs."""
    import ptx2amd.lower

    for module in walk_packages(ptx2amd.lower.__path__, "ptx2amd.lower."):
        import_module(module.name)
    return LOWERINGS
