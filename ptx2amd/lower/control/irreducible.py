"""Loops with several entries. LLVM 22 miscompiles them when threads diverge (a loop-carried value is not
updated on one of the paths), so they get one entry here: a dispatch block that branches to the others."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

from ptx2amd.middle.components import components

Node = TypeVar("Node", bound=Hashable)
Graph = dict[Node, list[Node]]


def entries(graph: Graph[Node], start: Node, more: Collection[Node] = ()) -> list[tuple[list[Node], set[Node]]]:
    """The loops of a flow graph that have several entries: for each, the entries, and all its nodes. Outer loops come
    first; inner ones are those that remain once each outer loop is entered through one block only. more: nodes that
    are to be entries of the loops that they are in."""
    groups: list[tuple[list[Node], set[Node]]] = []
    work: list[tuple[Graph[Node], set[Node]]] = [(_reachable(graph, start), {start})]
    while work:
        part, heads = work.pop()  # heads: nodes that are entered from outside the part
        inside = [c for c in components(part) if len(c) > 1 or c[0] in part[c[0]]]
        for component in inside:
            members = set(component)
            entered = {t for n, targets in part.items() if n not in members for t in targets} | heads
            first = [node for node in component if node in entered or node in more]
            if len(first) > 1:
                groups.append((first, members))
            cut = set(first)
            work.append(({n: [t for t in part[n] if t in members and t not in cut] for n in component}, cut))
    return groups


def _reachable(graph: Graph[Node], start: Node) -> Graph[Node]:
    seen: dict[Node, None] = {start: None}
    work = [start]
    while work:
        for target in graph[work.pop()]:
            if target not in seen:
                seen[target] = None
                work.append(target)
    return {node: list(_unique(graph[node])) for node in seen}


def _unique(nodes: Iterable[Node]) -> Iterable[Node]:
    return dict.fromkeys(nodes)
