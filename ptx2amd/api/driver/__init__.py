"""The driver API as data: one row per exported symbol, one file per area; `libcuda` has everything else that the
generator needs."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ptx2amd.api.driver.row import Function

__all__ = ["Function", "functions"]

_NOT_AREAS = {"row", "types", "absent", "contexts", "libcuda", "page"}


@cache
def functions() -> tuple[Function, ...]:
    """All functions of all areas, sorted by symbol."""
    areas = [m.name for m in iter_modules(__path__) if m.name not in _NOT_AREAS]
    found = [row for area in areas for row in import_module(f"{__name__}.{area}").ROWS]
    return tuple(sorted(found, key=lambda row: row.symbol))
