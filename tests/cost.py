"""What an algorithm costs, in a measure that a busy machine does not change."""

from __future__ import annotations

import cProfile
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
