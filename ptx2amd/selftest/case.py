"""A case of the self-test, and its findings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ptx2amd.records import dataclass, field
from ptx2amd.selftest.gpu import Gpu, Number, packed, unpacked

SHOWN = 4  # wrong values that the report lists per comparison


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison: the number of values, the number of wrong ones, and the first of these as (place, got,
    expected)."""

    what: str
    values: int
    wrong: int
    first: list[tuple[int, str, str]] = field(default_factory=list)


Body = Callable[[Gpu], Iterator[Comparison]]


@dataclass(frozen=True, slots=True)
class Case:
    """family, name: as in the report. body: a generator of comparisons, run in a child process. settings: environment
    variables of the child. waves: the wave width that the chip must have (0: any)."""

    family: str
    name: str
    body: Body
    settings: dict[str, str] = field(default_factory=dict)
    waves: int = 0

    @property
    def title(self) -> str:
        return f"{self.family}: {self.name}"


CASES: dict[str, Case] = {}


def case(family: str, name: str, settings: dict[str, str] | None = None, waves: int = 0) -> Callable[[Body], Body]:
    """Register a generator as the case "family: name"."""

    def register(body: Body) -> Body:
        made = Case(family, name, body, settings or {}, waves)
        if made.title in CASES:
            raise ValueError(f"two cases are called {made.title!r}")
        CASES[made.title] = made
        return body

    return register


def compare(what: str, code: str, got: Iterable[Number], expected: Iterable[Number], within: float = 0) -> Comparison:
    """code: the type, as a letter of struct. Values are compared bitwise, except that any NaN matches a NaN; with
    `within`, floats may differ from the expected value by that much (relative if it is above 1)."""
    values, wanted = list(got), unpacked(code, packed(code, expected))
    if len(values) != len(wanted):
        raise ValueError(f"{what}: {len(values)} values, {len(wanted)} expected")
    wrong = [n for n, (one, two) in enumerate(zip(values, wanted, strict=True)) if not _same(code, one, two, within)]
    first = [(n, _shown(code, values[n]), _shown(code, wanted[n])) for n in wrong[:SHOWN]]
    return Comparison(what, len(values), len(wrong), first)


def _same(code: str, got: Number, expected: Number, within: float) -> bool:
    if code not in "efd":
        return got == expected
    if math.isnan(expected):
        return math.isnan(got)
    if within and math.isfinite(got) and math.isfinite(expected):
        return abs(got - expected) <= within * max(1.0, abs(expected))
    return packed(code, [got]) == packed(code, [expected])


def _shown(code: str, value: Any) -> str:
    if code in "efd":
        return f"{value!r} (0x{packed(code, [value])[::-1].hex()})"
    return f"0x{packed(code, [value])[::-1].hex()}"
