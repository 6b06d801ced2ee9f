"""Loops that are entered through a dispatch block (lower/control/dispatch.py): those with several entries (irreducible
flow), which LLVM 22 miscompiles where lanes diverge, and those in which lanes wait for others.

A block without a label is entered from the block before it only, so loops are found among extended basic blocks: the
blocks between two labels, named by the number of the first."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

from ptx2amd.middle.body import Body
from ptx2amd.middle.components import components
from ptx2amd.middle.transforms.inserted import WAITING
from ptx2amd.records import dataclass

Node = TypeVar("Node", bound=Hashable)
Edges = dict[Node, list[Node]]


@dataclass(frozen=True, slots=True)
class DispatchLoop:
    """entries and members: extended basic blocks; waits: whether lanes wait there for others."""

    entries: tuple[int, ...]
    members: frozenset[int]
    waits: bool


def dispatch_loops(body: Body) -> list[DispatchLoop]:
    """The loops of a body that get a dispatch block, outer ones first."""
    roles = {number: block.label.role for number, block in enumerate(body.blocks) if block.label is not None}
    waiting = {number for number, role in roles.items() if role == WAITING}
    found = entries(_extended(body), 0, {number for number, role in roles.items() if role})
    return [DispatchLoop(tuple(first), frozenset(inside), not waiting.isdisjoint(first)) for first, inside in found]


def _extended(body: Body) -> Edges[int]:
    """The extended basic blocks and their successors."""
    graph: Edges[int] = {}
    reached = body.reach(0)
    for number, block in enumerate(body.blocks):
        if block.label is not None or not number:
            here = graph[number] = []
        if number in reached:
            here += [successor for successor in block.successors if body.blocks[successor].label is not None]
    return graph


def entries(graph: Edges[Node], start: Node, more: Collection[Node] = ()) -> list[tuple[list[Node], set[Node]]]:
    """The loops of a flow graph that have several entries: for each, the entries, and all its nodes. Outer loops come
    first; inner ones are those that remain once each outer loop is entered through one block only. more: nodes that
    are to be entries of the loops that they are in."""
    groups: list[tuple[list[Node], set[Node]]] = []
    work: list[tuple[Edges[Node], set[Node]]] = [(_reachable(graph, start), {start})]
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


def _reachable(graph: Edges[Node], start: Node) -> Edges[Node]:
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


__all__ = ["DispatchLoop", "dispatch_loops", "entries"]
