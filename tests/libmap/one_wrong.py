"""Calls with one wrong argument: `python one_wrong.py LIBCUDA LIBRARY NAME FROM PATTERN` calls the functions of a
library that match a pattern, from a number on, with valid handles, and prints a line before and after each call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

if sys.path[0] == str(Path(__file__).parent):  # its neighbours have names of other packages
    sys.path.pop(0)

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Function, Parameter
from tests.libmap.client import Client

#: Memory that the host and the device can reach, for whatever a parameter points to; each has its own.
ROOM = 1 << 16
#: Where the rows of a matrix with one element begin, in parameters of this name; others point to zeros.
ROWS, ROW_POINTER = b"\0\0\0\0\1\0\0\0", re.compile(r"(Row|Col)(Ptr|Offsets)[A-D]?")
#: A value that no enumeration has, and a size that is none.
NO_SUCH, NEGATIVE = 99, -1
#: Functions that would change where messages go, or end the library.
WITHOUT = re.compile("Logger|Callback|Xerbla|Shutdown|cublasInit|Persistent|GetErrorString|GetLastErrorString")


def chosen(mapped: Mapped, pattern: str) -> list[Function]:
    rows = {row.symbol: row for row in mapped.rows if row.works and row.takes and not row.returns}
    return [row for name, row in sorted(rows.items()) if re.search(pattern, name) and not WITHOUT.search(name)]


def kind_of(parameter: Parameter) -> str:
    """The type, as tables of enumerations and handles have it."""
    return parameter.type.removeprefix("const ")


class Calls:
    def __init__(self, mapped: Mapped) -> None:
        self.client = Client(mapped)
        self.mapped, self.ffi = mapped, self.client.ffi
        self.ffi.cdef("int cuMemHostAlloc(void **, size_t, unsigned);")
        room = self.ffi.new("void **")
        most = max(len(row.takes) for row in mapped.rows)
        assert not self.client.cuda.cuMemHostAlloc(room, most * ROOM, 0)
        self.room = self.ffi.cast("char *", room[0])
        handles = "|".join(map(re.escape, mapped.api.types.handles))
        make = re.compile(rf"(?:out )?({handles}) \*\w+")
        self.makers = {
            found[1]: row.symbol
            for row in mapped.rows
            if row.works and "Create" in row.symbol and (found := make.fullmatch(row.parameters))
        }

    def made(self, kind: str) -> Any:
        """A valid object of a type; None: nothing makes it alone."""
        if not (maker := self.makers.get(kind)):
            return None
        place = self.ffi.new(f"{kind} *")
        return place[0] if not getattr(self.client.plain, maker)(place) else None

    def gone(self, kind: str) -> Any:
        """One that was destroyed."""
        made, name = self.made(kind), self.makers.get(kind, "").replace("Create", "Destroy")
        destroy = getattr(self.client.plain, name, None) if name else None
        return made if made is not None and destroy and not destroy(made) else None

    def good(self, at: int, kind: Any, parameter: Parameter) -> Any:
        if kind.kind == "pointer":
            made = self.made(kind_of(parameter))
            return self.ffi.cast(kind, self.room + at * ROOM) if made is None else made
        if kind.kind == "struct":
            return self.ffi.new(f"{kind.cname} *")[0]
        return b"\1" if kind.cname == "char" else 1.0 if kind.cname in ("float", "double") else 1

    def wrong(self, kind: Any, name: str) -> Iterator[tuple[str, Any]]:
        """What is wrong with each value, and the value. name: the type as the table has it."""
        if kind.kind == "pointer":
            yield "null", self.ffi.cast(kind, 0)
            if name in self.makers and (name.endswith("Handle_t") or name in self.mapped.api.found):
                # of others ROCm's library knows nothing either
                yield "no object", self.ffi.cast(kind, self.room)
                if (gone := self.gone(name)) is not None:
                    yield "destroyed", gone
        elif kind.kind == "primitive" and kind.cname not in ("float", "double", "char"):
            yield "negative", self.ffi.cast(kind, NEGATIVE)
            if name in self.mapped.api.types.enums:
                yield "no such value", self.ffi.cast(kind, NO_SUCH)

    def each(self, row: Function) -> Iterator[tuple[int, str, list[Any]]]:
        kinds = self.ffi.typeof(getattr(self.client.plain, row.symbol)).args
        for at, (kind, parameter) in enumerate(zip(kinds, row.takes, strict=True)):
            wrong = self.wrong(kind, kind_of(parameter))
            while True:  # valid objects first: a later one could be where the destroyed one was
                self.fill(row)
                given = [self.good(*one) for one in zip(range(len(kinds)), kinds, row.takes, strict=True)]
                if (found := next(wrong, None)) is None:
                    break
                given[at] = found[1]
                yield at, found[0], given

    def fill(self, row: Function) -> None:
        """What pointers point to."""
        for at, parameter in enumerate(row.takes):
            pattern = ROWS if ROW_POINTER.search(parameter.name) else bytes(len(ROWS))
            self.ffi.memmove(self.room + at * ROOM, pattern * (ROOM // len(ROWS)), ROOM)


def main() -> None:
    mapped: Mapped = import_module(f"ptx2amd.api.{sys.argv[3]}").MAPPED
    calls = Calls(mapped)
    for number, row in enumerate(chosen(mapped, sys.argv[5])):
        if number < int(sys.argv[4]):
            continue
        for at, what, arguments in calls.each(row):
            os.write(1, f"{number} {row.symbol} {at} {what}\n".encode())
            status = int(getattr(calls.client.plain, row.symbol)(*arguments))
            os.write(1, f"= {status}\n".encode())
    os.write(1, b"end\n")
    os._exit(0)  # what was destroyed wrongly is not destroyed again


if __name__ == "__main__":
    main()
