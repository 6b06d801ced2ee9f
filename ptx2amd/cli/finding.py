"""A line of `ptx2amd doctor`."""

from __future__ import annotations

from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. level: "ok", "note" (works without it) or "missing" (does not)."""

    what: str
    level: str
    text: str
    remedy: str = ""
