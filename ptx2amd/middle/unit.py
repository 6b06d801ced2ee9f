"""The function that the passes work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ptx2amd.middle.analyses.dispatch_loops import DispatchLoop
from ptx2amd.middle.analyses.locks import Lock
from ptx2amd.middle.body import Body
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.summary import body
from ptx2amd.middle.transforms.exchange import Exchange
from ptx2amd.ptx.ast import Function, Scope


@dataclass
class Unit:
    """scope: the function's statements as they are now; `replace` changes them. What passes find: inlined, the
    functions all of whose calls are inlined; locks, in the body before exchanges are merged; exchanges, merged ones
    in the place of operations of `unmerged`; places: locks, with the labels at which their lanes reconverge; loops,
    which get a dispatch block. decided: about a kernel, for printing."""

    calls: CallGraph
    function: Function
    inlined: set[str] = field(default_factory=set)
    locks: list[Lock] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    unmerged: Scope | None = None
    places: list[tuple[Lock, str]] = field(default_factory=list)
    transformed: bool = False
    loops: list[DispatchLoop] = field(default_factory=list)
    decided: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scope = self.written

    @property
    def written(self) -> Scope:
        """The statements as they were parsed."""
        return body(self.calls.module, self.function)

    @property
    def parameters(self) -> list[str] | None:
        """See Body."""
        function = self.function
        return [var.name for var in function.proto.params] if function.kind == "entry" else None

    @cached_property
    def body(self) -> Body:
        """Their basic blocks, with analyses computed on first use."""
        return Body(self.scope, self.parameters)

    def replace(self, scope: Scope) -> None:
        """Change the statements, and drop the analyses of the old ones."""
        if scope is not self.scope:
            self.scope = scope
            self.__dict__.pop("body", None)

    def transform(self, scope: Scope) -> None:
        """The same by a pass whose result has to be lowered."""
        self.replace(scope)
        self.transformed = True
