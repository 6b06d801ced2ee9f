"""Strongly connected components. Protects: loops are found whole, however deep the graph is."""

from __future__ import annotations

from ptx2amd.middle.components import components
from tests.middle.test_dispatch_loops import graph


def test_components() -> None:
    found = {frozenset(c) for c in components(graph("a:b b:cd c:a d:e e:d f:"))}
    assert found == {frozenset("abc"), frozenset("de"), frozenset("f")}


def test_deep_graphs_do_not_recurse() -> None:
    n = 20000
    chain = {i: [i + 1] for i in range(n)} | {n: [0]}
    assert len(components(chain)) == 1
