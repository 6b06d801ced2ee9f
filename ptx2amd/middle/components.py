"""Strongly connected components of a graph: its loops, and what is in none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(graph: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """Strongly connected components (Tarjan's algorithm), each with the nodes in the order of their discovery."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    found: list[list[Node]] = []
    for root in graph:
        if root in index:
            continue
        work: list[tuple[Node, int]] = [(root, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            following = graph[node]
            while at < len(following):
                target = following[at]
                at += 1
                if target not in index:
                    work += [(node, at), (target, 0)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                if low[node] == index[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                    on_stack.difference_update(component)
                    found.append(component[::-1])
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return found


__all__ = ["components"]
