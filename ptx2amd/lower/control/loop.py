"""A loop with a dispatch block (dispatch.py)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Loop:
    """entries: labels; members: all labels in it; waits: whether lanes wait there for others; leaves: blocks
    outside that the loop exits to, with their numbers, if lanes wait in it."""

    name: str
    entries: list[str]
    members: set[str]
    waits: bool
    leaves: dict[str, int] = field(default_factory=dict)

    def leave(self, block: str) -> int:
        """The number that leads to a block outside."""
        return self.leaves.setdefault(block, len(self.entries) + len(self.leaves))
