"""A CUDA library on one of ROCm's, as C: rows become calls of ROCm's library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from ptx2amd.api import bodies, generate
from ptx2amd.api.spec import NOTE, Api, Function
from ptx2amd.libraries import Library
from ptx2amd.records import dataclass

#: Handwritten C: a folder for each library, and one for common code.
SOURCES = Path(__file__).resolve().parent.parent.parent / "libmap"


@dataclass(frozen=True)
class Beside:
    """A second ROCm library that only some functions need and handwritten C loads (libmap_open of libmap_PREFIX): its
    name, sonames (newest first), packages, and the functions that are called. `status`, `missing`: their return type
    and the value for a missing function, if they differ from those of the main library."""

    prefix: str
    name: str
    sonames: tuple[str, ...]
    packages: str
    functions: tuple[Function, ...]
    status: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Mapped:
    """`rows`: the functions of the library. The rest describes ROCm's library: `prefix` of its functions, their return
    type (`status`, and `missing`, its value for a function that an older release lacks), the mapping of its codes to
    CUDA's (`statuses`; any other becomes `otherwise`), the names of its types (`names`), and functions that are
    `called` with parameters that differ from the row's. `shares`: a folder of libmap with C that another library uses
    too. `beside`: further ROCm libraries that some functions need. `same_names`: ROCm's library has functions with the
    same names, and calls them. `opens`: the libraries that it opens, newest first, if not ROCm's."""

    library: Library
    api: Api
    rows: tuple[Function, ...]
    prefix: str
    status: str
    statuses: Mapping[str, str]
    otherwise: str
    missing: str
    names: Mapping[str, str]
    called: tuple[Function, ...]
    shares: str = ""
    beside: tuple[Beside, ...] = ()
    same_names: bool = False
    opens: tuple[str, ...] = ()

    @property
    def sources(self) -> list[Path]:
        """C by hand."""
        return sorted(path for folder in self.includes for path in folder.glob("*.c"))

    @property
    def includes(self) -> list[Path]:
        """The folders of that."""
        return [SOURCES / name for name in ("common", self.shares, self.library.name) if name]

    @cached_property
    def beneath(self) -> tuple[Function, ...]:
        """The functions of ROCm's library that are called, with their types."""
        derived = [self._beneath(row) for row in self.rows if row.call and "(" not in row.call]
        once = {row.symbol: row for row in (*derived, *self.called)}
        return tuple(row for _, row in sorted(once.items()))

    def _beneath(self, row: Function) -> Function:
        names = "|".join(map(re.escape, self.names))
        return Function(row.call, 0, re.sub(rf"\b({names})\b", lambda found: self.names[found[1]], row.args))

    def declarations(self) -> str:
        """All types and functions, for cffi."""
        return self.api.types.declarations() + generate.prototypes(self.api, self.rows)

    def texts(self) -> dict[str, str]:
        """The generated files: name -> text."""
        name, api = self.library.name, self.api
        tables = {self.prefix: (self.beneath, self.status)}
        tables |= {one.prefix: (one.functions, one.status or self.status) for one in self.beside}
        includes = (f'"{self.prefix}_types.h"',)
        visible, before = "#pragma GCC visibility push(default)\n", "#pragma GCC visibility pop\n"
        declared = api.types.declarations(beneath=True) + bodies.enumerations(api)
        declared += visible + generate.prototypes(api, self.rows) + before + self._results()
        return {
            f"{name}_api.h": generate.header(f"{name}_api.h", declared, (f'"{name}_base.h"',)),
            f"{name}_calls.c": bodies.forward(api, self.rows),
            f"{name}_refused.c": bodies.refused(api, self.rows),
            f"{name}_library.c": self._description(),
            **{
                file: text
                for prefix, (rows, status) in tables.items()
                for file, text in generate.pointers(prefix, status, _fields(prefix, rows), includes).items()
            },
        }

    def _results(self) -> str:
        cases = "".join(f"    case {theirs}: return {ours};\n" for theirs, ours in self.statuses.items())
        return (
            f"static inline {self.api.status} {self.library.name}_status({self.status} status) {{\n"
            f"  switch (status) {{\n{cases}    default: return {self.otherwise};\n  }}\n}}\n"
        )

    def _description(self) -> str:
        """The data that libmap/common needs."""
        about = self.library
        called = next(iter(about.sonames)).partition(".")[0]
        includes = "".join(
            f'#include "{prefix}_table.h"\n' for prefix in (self.prefix, *(b.prefix for b in self.beside))
        )
        return (
            f'{NOTE}#include "libmap.h"\n{includes}'
            + _missing(self.prefix, self.status, self.missing)
            + "".join(_missing(b.prefix, b.status or self.status, b.missing or self.missing) for b in self.beside)
            + _beneath(
                "libmap", called, self.prefix, about.beneath, about.packages, self.opens or about.rocm, self.same_names
            )
            + "".join(
                f"extern const struct libmap libmap_{one.prefix};\n"
                + _beneath(f"libmap_{one.prefix}", called, one.prefix, one.name, one.packages, one.sonames)
                for one in self.beside
            )
        )


def _fields(prefix: str, rows: Iterable[Function]) -> list[tuple[str, Function, int]]:
    """Rows of a table of pointers; the fields are names without the library's prefix."""
    return [(row.symbol.removeprefix(prefix).removeprefix("_"), row, 0) for row in rows]


def _missing(prefix: str, status: str, value: str) -> str:
    """Functions that replace those an older release lacks."""
    return f"static {status} {prefix}_missing(void) {{ return {value}; }}\n"


def _beneath(
    symbol: str, called: str, prefix: str, name: str, packages: str, sonames: Iterable[str], same: bool = False
) -> str:
    """The C description of the ROCm library with this name."""
    listed = "".join(f'"{soname}", ' for soname in sonames)
    return (
        f"static const char *const {prefix}_sonames[] = {{{listed}NULL}};\n"
        f'const struct libmap {symbol} = {{"{called}", "{name}", "{packages}", {prefix}_sonames,\n'
        f"  {prefix}_names, (void **)&{prefix}, {prefix.upper()}_FUNCTIONS, (void *){prefix}_missing, {int(same)}}};\n"
    )
