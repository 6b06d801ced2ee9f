"""Dataclasses of ours do what the standard library's do, except that frozen fields are left to the type checker."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from ptx2amd import records


def classes(dataclass: Callable[..., Any]) -> list[type]:
    @dataclass
    class Plain:
        x: int
        y: Any = 0

    @dataclass(slots=True)
    class Base:
        x: int
        y: Any = 0

    @dataclass(slots=True)
    class Derived(Base):
        z: list[int] = field(default_factory=list, repr=False)

    @dataclass(frozen=True, slots=True)
    class Frozen:
        x: int
        y: Any = field(default=0, hash=False)
        z: int = field(default=3, compare=False)

    @dataclass(slots=True, eq=False)
    class Same:
        x: int
        y: Any = 0

    @dataclass(frozen=True)
    class One:
        x: int
        y: int = field(default=0, compare=False)

    @dataclass(frozen=True)
    class Shown:
        x: int
        y: int = 0

        def __repr__(self) -> str:
            return f"<{self.x}>"

    return [Plain, Base, Derived, Frozen, Same, One, Shown]


def hashed(value: object) -> object:
    try:
        return hash(value)
    except TypeError:
        return "none"


PAIRS = list(zip(classes(dataclasses.dataclass), classes(records.dataclass), strict=True))


@pytest.mark.parametrize("theirs, ours", PAIRS, ids=[theirs.__name__ for theirs, _ in PAIRS])
def test_a_dataclass_is_as_the_standard_librarys(theirs: type, ours: type) -> None:
    def seen(cls: type) -> list[object]:
        a, b, c = cls(1, 2), cls(1, 2), cls(1, 5)
        found: list[object] = [
            repr(a),
            a == b,
            a == c,
            a != c,
            a == (1, 2),
            a == dataclasses.replace(a),
            a == copy.copy(a),
        ]
        found += [
            dataclasses.asdict(a),
            [each.name for each in dataclasses.fields(cls)],
            getattr(cls, "__slots__", None),
        ]
        return (
            found
            if cls.__name__ == "Same"
            else [*found, hashed(a) == "none", hashed(a) == hashed(b), hashed(a) == hashed(c)]
        )

    assert seen(ours) == seen(theirs)


def test_classes_with_the_same_fields_are_not_equal() -> None:
    base, derived = classes(records.dataclass)[1:3]
    assert base(1, 2) != derived(1, 2)


def test_an_object_that_contains_itself_is_shown() -> None:
    plain = classes(records.dataclass)[0]
    loop = plain(1)
    loop.y = loop
    assert repr(loop).endswith("Plain(x=1, y=...)")


@records.dataclass(frozen=True, slots=True)
class Sent:
    x: int
    y: str = ""


def test_objects_cross_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, "a"))) == Sent(1, "a")
