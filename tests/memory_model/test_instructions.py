"""Ordered accesses and fences of PTX as machine code. Protects: that a release writes back and waits before it, and an
acquire waits and invalidates behind it, as each generation's caches need, at every scope."""

from __future__ import annotations

import re

import pytest

from tests.memory_model import page
from tests.memory_model.rules import CHIPS, GENERATION, OPERATIONS, RULES, SCOPES, WAITS, instructions, text


def check(lines: list[str], at: int, chip: str, scope: str, order: str, kind: str) -> list[str]:
    """What is wrong. lines: from a store before the operation to a load behind it; at: of its access, -1: a fence."""
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
        if after(waits["lds"], 0) >= before:
            wrong.append("no wait for LDS before it")
    if "acquire" in order:
        place = at
        if kind != "fence" and (place := after(waits["loads"], at)) >= len(lines) - 1:
            wrong.append("no wait for its result")
        for name in rule.invalidate:
            if (place := after(f"^{name}$", place)) >= len(lines) - 1:
                wrong.append(f"no {name} behind it")
    if kind != "fence":
        bits = {"load": rule.load, "store": rule.store, "atomic": rule.atomic}[kind]
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


def test_the_page() -> None:
    assert page.PAGE.read_text() == page.page()
