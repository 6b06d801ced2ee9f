"""The shared globals that kernels of a code object use."""

from __future__ import annotations

from ptx2amd.records import dataclass, field


@dataclass(slots=True)
class Shared:
    """What one part of a code object uses of it: the cells of the environment that it reads, the locks, variables by
    name."""

    cells: set[int] = field(default_factory=set)
    locks: bool = False
    variables: set[str] = field(default_factory=set)

    def copy(self) -> Shared:
        return Shared(set(self.cells), self.locks, set(self.variables))

    def add(self, other: Shared) -> None:
        self.cells |= other.cells
        self.locks |= other.locks
        self.variables |= other.variables
