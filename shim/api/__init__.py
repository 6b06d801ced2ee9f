"""The driver API as data: one row per exported symbol, a file per area."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from shim.api.row import Row

__all__ = ["Row", "rows"]

_NOT_AREAS = {"row", "hip", "types", "absent", "contexts"}


def rows() -> list[Row]:
    """All rows of all areas, sorted by symbol."""
    areas = [m.name for m in iter_modules(__path__) if m.name not in _NOT_AREAS]
    found = [row for area in areas for row in import_module(f"{__name__}.{area}").ROWS]
    return sorted(found, key=lambda row: row.symbol)
