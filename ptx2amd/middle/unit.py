"""The function that the passes work on."""

from __future__ import annotations

from functools import cached_property

from ptx2amd.middle.analyses.dispatch_loops import DispatchLoop
from ptx2amd.middle.analyses.locks import Lock
from ptx2amd.middle.body import Body
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.summary import body
from ptx2amd.middle.transforms.exchange import Exchange
from ptx2amd.ptx.ast import Function, Module, Scope
from ptx2amd.records import dataclass, field

_last: tuple[Scope, Body] | None = None


def written(module: Module, function: Function) -> Body:
    """A function as it was parsed. The last one is kept: what is found out about a kernel beside its code needs the
    same."""
    global _last
    last, scope = _last, body(module, function)
    if last is None or last[0] is not scope:
        last = _last = scope, Body(scope, function)
    return last[1]


@dataclass
class Unit:
    """body: the function as it is now. What passes find: inlined, the functions all of whose calls are inlined; locks,
    in the body before exchanges are merged; exchanges, merged ones; places: locks, with the labels at which their lanes
    reconverge; loops, which get a dispatch block. transformed: whether the result has to be lowered. decided: about a
    kernel, for printing."""

    calls: CallGraph
    function: Function
    inlined: set[str] = field(default_factory=set)
    locks: list[Lock] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    places: list[tuple[Lock, str]] = field(default_factory=list)
    transformed: bool = False
    loops: list[DispatchLoop] = field(default_factory=list)
    decided: dict[str, object] = field(default_factory=dict)
    _body: Body | None = None

    @cached_property
    def written(self) -> Body:
        """The function as it was parsed."""
        return written(self.calls.module, self.function)

    @property
    def body(self) -> Body:
        return self._body or self.written

    @body.setter
    def body(self, body: Body) -> None:
        self._body = body

    def transform(self, body: Body) -> None:
        """Replace the body by one that has to be lowered."""
        self.body, self.transformed = body, True
