"""Ordered accesses and fences of PTX as machine code. Protects: that a release writes back and waits before it, and an
acquire waits and invalidates behind it, as each generation's caches need, at every scope."""

from __future__ import annotations

import re

import pytest

from tests.memory_model import page
from tests.memory_model.others import ROWS, VOLATILE, Row
from tests.memory_model.rules import CHIPS, GENERATION, OPERATIONS, RULES, SCOPES, WAITS, instructions, text

#: What an access's result is waited for with.
RESULTS = {"load": ("loads",), "atomic": ("loads",), "lds": ("lds",), "flat load": ("loads", "lds")}


def check(
    lines: list[str], at: int, chip: str, scope: str, order: str, kind: str, behind: int | None = None
) -> list[str]:
    """What is wrong. lines: from a store before the operation to a load behind it; at: of its access, -1: a fence;
    behind: of its last instruction, where it has several."""
    rule, waits = RULES[chip][scope], WAITS[GENERATION[chip]]
    wrong = []

    def after(pattern: str, place: int) -> int:
        """The place of an instruction behind another one, or the end."""
        found = (i for i, line in enumerate(lines) if i > place and re.search(pattern, line))
        return next(found, len(lines))

    before = at if at >= 0 else len(lines) - 1
    if "release" in order:
        place = 0
        if rule.write_back and (place := after(f"^{rule.write_back}$", 0)) >= before:
            wrong.append(f"no {rule.write_back} before it")
        if after(waits["stores"], place) >= before:
            wrong.append("no wait for stores before it")
        if kind != "copied" and after(waits["lds"], 0) >= before:  # what is copied from LDS has come
            wrong.append("no wait for LDS before it")
    if "acquire" in order:
        place = first = at if behind is None else behind
        for what in RESULTS.get(kind, ()):
            place = max(place, after(waits[what], first))
            if place >= len(lines) - 1:
                wrong.append("no wait for its result")
        for name in rule.invalidate:
            if (place := after(f"^{name}$", place)) >= len(lines) - 1:
                wrong.append(f"no {name} behind it")
    access = kind.rpartition(" ")[2]
    bits = {"load": rule.load, "store": rule.store, "atomic": rule.atomic}.get(access, "")
    if kind.startswith("volatile"):
        bits = VOLATILE[chip][access]
        if not re.search(waits[f"{access}s"], lines[at + 1]):
            wrong.append("no wait right behind it")
    if bits and not lines[at].endswith(f" {bits}"):
        wrong.append(f"not {bits}: {lines[at]}")
    return wrong


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_orders(operation: str, scope: str, chip: str) -> None:
    order, kind = OPERATIONS[operation]
    lines, at = instructions(text(operation, scope), chip)
    assert (at < 0) == (kind == "fence"), lines
    assert check(lines, at, chip, scope, order, kind) == [], "\n".join(lines)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("operation", [name for name, (order, _) in OPERATIONS.items() if order])
def test_every_instruction_is_needed(operation: str, scope: str, chip: str) -> None:
    """Without any one of the write-backs and invalidations that the rule names, the check fails."""
    order, kind = OPERATIONS[operation]
    lines, at = instructions(text(operation, scope), chip)
    rule = RULES[chip][scope]
    names = [*(rule.invalidate if "acquire" in order else ()), *([rule.write_back] if "release" in order else ())]
    for name in filter(None, names):
        for place in (i for i, line in enumerate(lines) if line == name):
            rest = lines[:place] + lines[place + 1 :]
            assert check(rest, at - (place < at), chip, scope, order, kind), (name, lines)


def places(row: Row, chip: str) -> tuple[list[str], int, int]:
    """The instructions around an operation, and the first and last of its own; -1: a fence."""
    lines, _ = instructions(row.statement, chip)
    found = [i for i, line in enumerate(lines) if row.center and re.search(row.center, line)]
    assert bool(found) == bool(row.center), lines
    return (lines, found[0], found[-1]) if found else (lines, -1, -1)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", ROWS)
def test_other_orders(name: str, chip: str) -> None:
    """Barriers, mbarriers, copies, fences of proxies, and other accesses."""
    row = ROWS[name]
    lines, at, behind = places(row, chip)
    assert check(lines, at, chip, row.scope, row.order, row.kind, behind) == [], "\n".join(lines)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.order])
def test_others_need_their_waits(name: str, chip: str) -> None:
    """Without all waits, and without each invalidation that is there once, the check fails."""
    row = ROWS[name]
    lines, at, behind = places(row, chip)
    for pattern in ("^s_wait", *(f"^{name}$" for name in RULES[chip][row.scope].invalidate if "acquire" in row.order)):
        if pattern == "^s_wait" and row.order == "acquire" and row.kind not in RESULTS:
            continue  # a fence alone waits for loads that the caller has done
        gone = [i for i, line in enumerate(lines) if re.search(pattern, line)]
        rest = [line for i, line in enumerate(lines) if i not in gone]
        first, last = (place - sum(i < place for i in gone) for place in (at, behind))
        assert check(rest, first, chip, row.scope, row.order, row.kind, last), (pattern, lines)


def test_the_page() -> None:
    assert page.PAGE.read_text() == page.page()
