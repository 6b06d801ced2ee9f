"""Records that cross as text: the lines "key value ..." of a cache entry.

A record is a dataclass whose fields are rows:

    rows: int = row("the block's size in x must divide this; 0: any", 0)

The type says how a line looks and what it is in C:

| type | line | C |
| --- | --- | --- |
| `bool` | `key 0` or `key 1` | `bool` |
| `int` | `key 12` | `int`, not negative, unless `c` names another type |
| `str` | `key text...`, white space made single spaces; no line for "" | `const char *` into the text |
| `str` with `choices` | `key choice` | an enum |
| `frozenset[int]` | `key 0 3`, numbers below 32 | `uint32_t`, a bit each |
| `tuple[int, ...]` with `columns` | `key 1 2 3`; no line for () | an array |
| `list[str]` | a line each, the key in the singular | an array of `const char *`, and its count |
| `list[tuple]` with `columns` | a line each | an array of structs, and its count |
| `list[Record]` | a line each, a word for each row of it; the last one may be text | the same |
| `list[Record]` with `block` | `key word` for its first row, then its other rows' lines | the same |

A line that is missing leaves 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, get_args, get_origin, get_type_hints

from ptx2amd.records import MISSING, dataclass, field, fields, is_dataclass
from ptx2amd.regex import regex

READERS = ("driver", "people", "note")
_BLANK = regex(r"\s+")


@dataclass(frozen=True)
class Row:
    """A field of a record. type: as annotated; c: the C type of numbers; readers: words of READERS: the driver or
    people read it in an entry, or it is in a code object's note; source: which object has it under the same name."""

    name: str
    meaning: str
    type: Any
    c: str
    choices: tuple[str, ...]
    columns: tuple[str, ...]
    block: bool
    readers: tuple[str, ...]
    source: str

    @cached_property
    def is_list(self) -> bool:
        return get_origin(self.type) is list

    @cached_property
    def key(self) -> str:
        """With which its lines begin; a list has one for each element."""
        return self.name.removesuffix("s") if self.is_list else self.name

    @cached_property
    def element(self) -> Any:
        return get_args(self.type)[0] if self.is_list else self.type

    @cached_property
    def record(self) -> Any:
        """The record that an element is, or None."""
        return self.element if is_dataclass(self.element) else None

    @cached_property
    def in_entry(self) -> bool:
        return "driver" in self.readers or "people" in self.readers


def row(meaning: str, default: Any = MISSING, *, c: str = "int", choices: tuple[str, ...] = (), columns: str = "",
        block: bool = False, readers: str = "driver", source: str = "") -> Any:  # fmt: skip
    """A field of a record; `default` may be a function that makes one. columns: the names of a tuple's numbers."""
    unknown = set(readers.split()) - set(READERS)
    assert not unknown, unknown
    about = {"row": (meaning, c, choices, tuple(columns.split()), block, tuple(readers.split()), source)}
    if callable(default):
        return field(default_factory=default, metadata=about)
    return field(default=default, metadata=about)


_rows: dict[type, tuple[Row, ...]] = {}


def rows_of(record: type) -> tuple[Row, ...]:
    """The rows of a record in their order; fields that are no rows are left out."""
    if record not in _rows:
        types = get_type_hints(record)
        found = [(each.name, each.metadata["row"]) for each in fields(record) if "row" in each.metadata]
        _rows[record] = tuple(Row(name, about[0], types[name], *about[1:]) for name, about in found)
    return _rows[record]


def taken_from(source: str, holder: object, record: type) -> dict[str, Any]:
    """The values that `holder` has for a record: of its rows with that source."""
    return {row.name: getattr(holder, row.name) for row in rows_of(record) if row.source == source}


def entry_lines(record: Any) -> Iterator[str]:
    """The lines of a record, without line ends."""
    for each in rows_of(type(record)):
        if each.in_entry:
            yield from _lines(each, getattr(record, each.name))


def entry_text(record: Any) -> str:
    return "".join(f"{line}\n" for line in entry_lines(record))


def note(record: Any) -> dict[str, Any]:
    """What a code object's note has of a record, as JSON."""
    kept = {row.name: getattr(record, row.name) for row in rows_of(type(record)) if "note" in row.readers}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in kept.items()}


def _lines(row: Row, value: Any) -> Iterator[str]:
    if row.is_list and row.block:
        for record in value:
            first, *others = rows_of(type(record))
            yield f"{row.key} {_words(first, getattr(record, first.name))}"
            for each in others:
                yield from _lines(each, getattr(record, each.name))
    elif row.is_list:
        yield from (f"{row.key} {_words(row, item)}" for item in value)
    elif value not in ((), ""):
        yield f"{row.name} {_words(row, value)}"


def _words(row: Row, value: Any) -> str:
    if row.record:
        return " ".join(_words(each, getattr(value, each.name)) for each in rows_of(row.record))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return _BLANK.sub(" ", value.strip())
    if isinstance(value, tuple | frozenset):
        return " ".join(map(str, sorted(value) if isinstance(value, frozenset) else value))
    return str(value)
