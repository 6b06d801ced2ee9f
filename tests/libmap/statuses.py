"""What functions of a library answer without a handle: `python -m tests.libmap.statuses NAME LIBRARY` prints, as JSON,
the status of each function for numbers that are 0, and for numbers that are -1; pointers are null. It runs on our
libraries, and on NVIDIA's, whose answers nvidia/statuses.json has. A call that crashes has none (null)."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import cffi

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Function

NUMBERS = (0, -1)
#: Functions that would change where later messages go.
WITHOUT = ("Logger", "Callback", "Xerbla")
#: Seconds for a call.
LIMIT = 10


def functions(mapped: Mapped) -> list[Function]:
    """Those that return a status and take anything."""
    found = {row.symbol: row for row in mapped.rows if row.takes and not row.returns}
    return [row for name, row in sorted(found.items()) if not any(word in name for word in WITHOUT)]


def given(ffi: cffi.FFI, kind: Any, number: int) -> Any:
    if kind.kind == "pointer":
        return ffi.cast(kind, 0)
    if kind.kind == "struct":
        return ffi.new(f"{kind.cname} *")[0]
    if kind.cname == "char":
        return bytes([number & 255])
    return float(number) if kind.cname in ("float", "double") else ffi.cast(kind, number)


def calls(ffi: cffi.FFI, library: Any, rows: list[Function], number: int, out: int) -> None:
    """Calls them in turn; `out`: a file that gets a line for each, which is empty at first."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    for row in rows:
        function = getattr(library, row.symbol, None)
        kinds = ffi.typeof(function).args if function else ()
        os.write(out, b"\n")
        if function:
            os.write(out, b"%d" % function(*(given(ffi, kind, number) for kind in kinds)))


def answers(ffi: cffi.FFI, library: Any, rows: list[Function], number: int) -> Iterator[int | None]:
    """In processes that may crash: one goes on where the last one ended."""
    while rows:
        source, target = os.pipe()
        if not (child := os.fork()):
            os.close(source)
            calls(ffi, library, rows, number, target)
            os._exit(0)
        os.close(target)
        with os.fdopen(source) as file:
            lines = file.read().split("\n")[1:]
        os.waitpid(child, 0)
        yield from (int(line) if line else None for line in lines)
        rows = rows[len(lines) :]


def main() -> None:
    mapped: Mapped = import_module(f"ptx2amd.api.{sys.argv[1]}").MAPPED
    ffi = cffi.FFI()
    ffi.cdef(mapped.declarations())
    library, rows = ffi.dlopen(sys.argv[2]), functions(mapped)
    found = {str(number): list(answers(ffi, library, rows, number)) for number in NUMBERS}
    json.dump({"functions": [row.symbol for row in rows], **found}, sys.stdout)


if __name__ == "__main__":
    main()
