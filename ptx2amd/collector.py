"""Python's garbage collector in processes that translate."""

from __future__ import annotations

import gc

AFTER = 100_000  # new objects


def run_rarely() -> None:
    """To be called before the translator is imported. By default the collector runs after 700 new objects, through all
    of them again and again, while modules are imported and kernels lowered, which keep what they make: that is a sixth
    of the time until the first kernel is translated."""
    gc.set_threshold(AFTER)


__all__ = ["run_rarely"]
