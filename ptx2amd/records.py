"""Dataclasses that cost little when a module is imported: a twentieth of the standard library's.

That one compiles the text of up to seven methods for each class, and needs `inspect`. Here `__init__` alone is
compiled, when the first object is made, and once for all classes of a shape; the other methods are closures over the
fields' names. That nothing is assigned to the fields of a frozen class is left to the type checker. The standard
library's functions (`asdict` ...) accept these classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
else:
    MISSING = object()

    def field(*, default=MISSING, default_factory=MISSING, repr=True, hash=None, compare=True, metadata=None,
              kw_only=False):  # fmt: skip
        hashed = compare if hash is None else hash
        return Field(default, default_factory, repr, hashed, compare, metadata or {}, kw_only)

    def dataclass(cls=None, *, frozen=False, eq=True, slots=False, kw_only=False):
        """As `dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, slots=slots, kw_only=kw_only)
        own = _own(cls, kw_only)
        bases = filter(is_dataclass, reversed(cls.__mro__[1:]))
        every = list({each.name: each for each in (*(each for base in bases for each in fields(base)), *own)}.values())
        made = _slotted(cls, own) if slots else cls
        made.__dataclass_fields__ = _Fields(tuple(every))
        _add(made, "__init__", _init(made, every))
        _add(made, "__match_args__", tuple(each.name for each in every if not each.kw_only))
        _add(made, "__repr__", _repr(tuple(each.name for each in every if each.repr)))
        if eq:
            _add(made, "__eq__", _eq(_values([each.name for each in every if each.compare])))
            _add(made, "__hash__", _hash(_values([each.name for each in every if each.hash])) if frozen else None)
        return made

    def is_dataclass(cls):
        return isinstance(cls, type) and isinstance(vars(cls).get("__dataclass_fields__"), _Fields)

    def fields(made):
        cls = made if isinstance(made, type) else type(made)
        return next(vars(base)["__dataclass_fields__"].found for base in cls.__mro__ if is_dataclass(base))

    def replace(made, /, **changes):
        for each in fields(made):
            changes.setdefault(each.name, getattr(made, each.name))
        return type(made)(**changes)


class Field:
    """A field of a dataclass; `dataclasses.field` explains the arguments. hash: whether it is a part of the hash."""

    __slots__ = ("compare", "default", "default_factory", "hash", "kw_only", "metadata", "name", "repr", "type")

    def __init__(self, default: Any, factory: Any, repr: bool, hash: bool, compare: bool, about: Any, kw_only: bool):
        self.name, self.type, self.default, self.default_factory = "", "", default, factory
        self.repr, self.hash, self.compare, self.metadata, self.kw_only = repr, hash, compare, about, kw_only


class _Fields:
    """`__dataclass_fields__`, by which the standard library knows a dataclass: made when it asks."""

    def __init__(self, found: tuple[Any, ...]) -> None:
        self.found = found

    def __get__(self, made: object, cls: type) -> dict[str, Any]:
        import dataclasses

        rows = []
        for each in self.found:
            given = {"default": each.default, "default_factory": each.default_factory}
            given = {key: value for key, value in given.items() if value is not MISSING}
            about = {"repr": each.repr, "hash": each.hash, "compare": each.compare, "metadata": each.metadata}
            rows.append((each.name, each.type, dataclasses.field(**given, **about, kw_only=True)))
        known: dict[str, Any] = vars(dataclasses.make_dataclass(cls.__name__, rows))["__dataclass_fields__"]
        return known


def _own(cls: type, kw_only: bool) -> list[Any]:
    """The fields that a class itself declares."""
    found: list[Any] = []
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        value = vars(cls).get(name, MISSING)
        made = value if isinstance(value, Field) else field(default=value)
        made.name, made.type, made.kw_only = name, annotation, made.kw_only or kw_only
        if "ClassVar" in annotation or "InitVar" in annotation:
            raise TypeError(f"{cls.__qualname__}.{name}: these are for the standard library's dataclasses")
        if made.default is not MISSING:
            setattr(cls, name, made.default)
        elif value is not MISSING:
            delattr(cls, name)
        found.append(made)
    return found


def _slotted(cls: type, own: list[Any]) -> type:
    """The class with slots for its own fields."""
    names = {each.name for each in own}
    content = {key: value for key, value in vars(cls).items() if key not in {*names, "__dict__", "__weakref__"}}
    made = type(cls)(cls.__name__, cls.__bases__, {**content, "__slots__": tuple(each.name for each in own)})
    made.__qualname__ = cls.__qualname__
    return made


class _Made:
    """The default of a field that has a factory."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


@cache
def _template(made: tuple[bool, ...], post: bool) -> CodeType:
    """The code of an `__init__` with fields f0, f1 ...; made: whether each has a factory; post: whether the class has
    more to do."""
    lines = [f" self.f{i} = f{i}.make() if f{i}.__class__ is _Made else f{i}" if each else f" self.f{i} = f{i}"
             for i, each in enumerate(made)]  # fmt: skip
    arguments = "".join(f", f{i}" for i in range(len(made)))
    space: dict[str, Any] = {}
    exec(f"def __init__(self{arguments}):\n" + "\n".join([*lines, " self.__post_init__()" if post else " pass"]), space)
    code: CodeType = space["__init__"].__code__
    return code


def _init(cls: type, found: list[Any]) -> Callable[..., None]:
    """`__init__` of a class, in whose place the compiled one is put when the first object is made."""

    def __init__(self: object, /, *arguments: Any, **named: Any) -> None:
        made = _compiled(cls, found)
        cls.__init__ = made  # type: ignore[misc]
        made(self, *arguments, **named)

    return __init__


def _compiled(cls: type, found: list[Any]) -> FunctionType:
    """`__init__`, from the code for the shape of these fields."""
    taken = [each for each in found if not each.kw_only] + [each for each in found if each.kw_only]
    code = _template(tuple(each.default_factory is not MISSING for each in taken), hasattr(cls, "__post_init__"))
    names = {f"f{i}": each.name for i, each in enumerate(taken)}
    words = sum(each.kw_only for each in taken)
    code = code.replace(
        co_varnames=("self", *names.values()), co_names=tuple(names.get(name, name) for name in code.co_names),
        co_argcount=1 + len(taken) - words, co_kwonlyargcount=words, co_qualname=f"{cls.__qualname__}.__init__",
    )  # fmt: skip
    init = FunctionType(code, globals())
    optional = [_is_optional(each) for each in taken if not each.kw_only]
    if optional != sorted(optional):
        raise TypeError(f"{cls.__qualname__}: a field without a default follows one that has a default")
    init.__defaults__ = tuple(_default(each) for each in taken if not each.kw_only and _is_optional(each))
    init.__kwdefaults__ = {each.name: _default(each) for each in taken if each.kw_only and _is_optional(each)}
    return init


def _is_optional(each: Any) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def _default(each: Any) -> Any:
    return each.default if each.default is not MISSING else _Made(each.default_factory)


def _add(cls: type, name: str, method: Any) -> None:
    """Add a method that a class does not define itself."""
    if vars(cls).get(name) is None:
        setattr(cls, name, method)


def _values(names: list[str]) -> Callable[[object], Any]:
    """A function that takes the fields with these names out of an object."""
    return attrgetter(*names) if names else lambda _: ()


def _eq(values: Callable[[object], Any]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[object], Any]) -> Callable[[object], int]:
    return lambda self: hash(values(self))


def _repr(names: tuple[str, ...]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


__all__ = ["MISSING", "dataclass", "field", "fields", "is_dataclass", "replace"]
