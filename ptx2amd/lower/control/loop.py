"""A loop with a dispatch block (dispatch.py), as it is lowered."""

from __future__ import annotations

from ptx2amd.middle.analyses.dispatch_loops import DispatchLoop
from ptx2amd.records import dataclass, field


@dataclass(slots=True, eq=False)
class Loop:
    """leaves: blocks outside that the loop exits to, or ends of the function, with their numbers, if lanes wait in
    it."""

    name: str
    of: DispatchLoop
    leaves: dict[int | str, int] = field(default_factory=dict)

    @property
    def entries(self) -> tuple[int, ...]:
        return self.of.entries

    @property
    def members(self) -> frozenset[int]:
        return self.of.members

    @property
    def waits(self) -> bool:
        return self.of.waits

    def leave(self, block: int | str) -> int:
        """The number that leads to a block outside."""
        return self.leaves.setdefault(block, len(self.entries) + len(self.leaves))
