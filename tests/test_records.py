"""Dataclasses of ours do what the standard library's do, except that frozen fields are left to the type checker."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from ptx2amd import records


def classes(library: Any) -> list[type]:
    dataclass, field = library.dataclass, library.field

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

    @dataclass(slots=True)
    class After:
        x: int
        y: Any = 0
        z: list[int] = field(default_factory=list, metadata={"about": 1})
        word: str = field(default="", kw_only=True)

        def __post_init__(self) -> None:
            self.word = self.word or str(self.x)

    return [Plain, Base, Derived, Frozen, Same, One, Shown, After]


def hashed(value: object) -> object:
    try:
        return hash(value)
    except TypeError:
        return "none"


OURS = classes(records)
PAIRS = list(zip(classes(dataclasses), OURS, strict=True))


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
            cls(x=1, y=2) == a,
            cls(1) == cls(1, cls(1).y),
            repr(records.replace(a)) == repr(a) if cls in OURS else True,
        ]
        found += [
            dataclasses.asdict(a),
            [(each.name, each.type, dict(each.metadata)) for each in dataclasses.fields(cls)],
            cls.__match_args__,
            getattr(cls, "__slots__", None),
        ]
        return (
            found
            if cls.__name__ == "Same"
            else [*found, hashed(a) == "none", hashed(a) == hashed(b), hashed(a) == hashed(c)]
        )

    assert seen(ours) == seen(theirs)


def test_classes_with_the_same_fields_are_not_equal() -> None:
    base, derived = classes(records)[1:3]
    assert base(1, 2) != derived(1, 2)


def test_an_object_that_contains_itself_is_shown() -> None:
    plain = classes(records)[0]
    loop = plain(1)
    loop.y = loop
    assert repr(loop).endswith("Plain(x=1, y=...)")


@records.dataclass(frozen=True, slots=True)
class Sent:
    x: int
    y: str = ""


def test_objects_cross_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, "a"))) == Sent(1, "a")


def test_wrong_arguments_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"Sent.__init__\(\) missing 1 required positional argument: 'x'"):
        Sent()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Sent(1, z=2)  # type: ignore[call-arg]


def test_fields_out_of_order_are_refused() -> None:
    @records.dataclass
    class Wrong:
        x: int = 0
        y: int  # type: ignore[misc]

    with pytest.raises(TypeError, match="a field without a default follows"):
        Wrong(1, 2)
