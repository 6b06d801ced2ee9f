"""Finding loops with several entries in flow graphs whose answer is known."""

from __future__ import annotations

from ptx2amd.middle.analyses.dispatch_loops import entries


def graph(text: str) -> dict[str, list[str]]:
    """ "a:bc b:a" -> edges a->b, a->c, b->a."""
    found = {part[0]: list(part[2:]) for part in text.split()}
    return {node: found.get(node, []) for node in dict.fromkeys("".join(found) + "".join(map("".join, found.values())))}


def test_reducible_graphs_have_none() -> None:
    for text in ("a:b b:c c:", "a:b b:bc", "a:b b:c c:bd d:", "a:b b:c c:d d:cbe e:", "a:bc b:d c:d d:ae e:"):
        assert entries(graph(text), "a") == [], text


def test_two_entries() -> None:
    assert [sorted(group) for group, _ in entries(graph("a:bc b:c c:bd d:"), "a")] == [["b", "c"]]


def test_three_entries_by_a_switch() -> None:
    assert [sorted(group) for group, _ in entries(graph("a:bcd b:c c:d d:be e:"), "a")] == [["b", "c", "d"]]


def test_inner_loop_with_several_entries_in_an_outer_one() -> None:
    assert [sorted(group) for group, _ in entries(graph("a:b b:cd c:d d:ce e:bf f:"), "a")] == [["c", "d"]]


def test_unreachable_code_does_not_count() -> None:
    assert entries(graph("a:b b:c c:b x:c"), "a") == []


def test_the_entry_block_itself_may_be_an_entry() -> None:
    assert [sorted(group) for group, _ in entries(graph("a:bc b:c c:b"), "a")] == [["b", "c"]]
