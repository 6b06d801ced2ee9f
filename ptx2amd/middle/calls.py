"""The call graph of a module."""

from __future__ import annotations

from functools import cached_property

from ptx2amd.middle.summary import Summary, summarise
from ptx2amd.middle.transforms.inline import Matters
from ptx2amd.ptx.ast import Function, Module
from ptx2amd.ptx.handles import handles


class CallGraph:
    """Facts about a module's functions, each computed on first use."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.matters = Matters(module)
        self._summaries: dict[str, Summary] = {}

    @cached_property
    def handles(self) -> dict[str, int]:
        """The handles of functions whose address is taken, by name (ptx/handles.py)."""
        return handles(self.module)

    def summary(self, function: Function) -> Summary:
        """What calls and modes a function's body has (parsed and computed on first use)."""
        name = function.proto.name
        found = self._summaries.get(name)
        if found is None:
            found = self._summaries[name] = summarise(self.module, function)
        return found

    def reachable(self, function: Function) -> list[Function]:
        """`function` and the defined functions that it calls, names or may call through addresses,
        transitively."""
        seen = {function.proto.name: function}
        work = [function]
        while work:
            summary = self.summary(work.pop())
            for name in (*summary.functions, *(self.handles if summary.indirect else ())):
                callee = self.module.functions.get(self.module.aliases.get(name, name))
                if callee is not None and callee.proto.name not in seen and defined(callee):
                    seen[callee.proto.name] = callee
                    work.append(callee)
        return list(seen.values())

    def may_exit(self, function: Function) -> bool:
        """Whether a thread may end inside a call of `function`; the same for all that have their address taken,
        as calls through addresses must be alike."""
        if function.proto.name in self.handles:
            return self.indirect_may_exit
        return any(self.summary(f).exits for f in self.reachable(function))

    @cached_property
    def indirect_may_exit(self) -> bool:
        """Whether a function whose address is taken may end the thread."""
        taken = (self.module.functions[name] for name in self.handles)
        return any(self.summary(f).exits for function in taken for f in self.reachable(function))


def defined(function: Function) -> bool:
    """Whether a function has a body."""
    return bool(function.text) or function.scope is not None


__all__ = ["CallGraph", "defined"]
