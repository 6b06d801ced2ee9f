"""The function that the passes work on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from ptx2amd.middle.analyses.locks import Lock
from ptx2amd.middle.body import Body
from ptx2amd.middle.transforms.exchange import Exchange
from ptx2amd.middle.transforms.inline import flat
from ptx2amd.ptx.ast import Scope


@dataclass
class Unit:
    """scope: the statements of a function as they are now; `replace` changes them. parameters: see Body. What passes
    find: locks, in the body before exchanges are merged; exchanges, merged ones in the place of operations of
    `unmerged`; places: locks, with the labels at which their lanes reconverge."""

    scope: Scope
    parameters: Collection[str] | None = None
    locks: list[Lock] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    unmerged: Scope | None = None
    places: list[tuple[Lock, str]] = field(default_factory=list)
    changed: bool = False

    @cached_property
    def flat(self) -> Scope:
        """The statements without nested scopes."""
        return flat(self.scope)

    @cached_property
    def body(self) -> Body:
        """Their basic blocks, with analyses that are made when they are first asked for."""
        return Body(self.flat, self.parameters)

    def replace(self, scope: Scope) -> None:
        """Change the statements; what was known of the old ones is dropped."""
        self.scope = scope
        self.changed = True
        for name in ("flat", "body"):
            self.__dict__.pop(name, None)
