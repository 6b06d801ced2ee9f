"""Tables of an API as C: declarations, and the generated files of a library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ptx2amd.api.spec import NOTE, Api, Function, Types


def write(outdir: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write the files into `outdir`, only those that changed, and return the C files among them."""
    outdir.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = outdir / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return [outdir / name for name in sorted(texts) if name.endswith(".c")]


def header(name: str, text: str, includes: Iterable[str] = ()) -> str:
    """A C header around declarations."""
    guard = name.upper().replace(".", "_")
    lines = "".join(f"#include {what}\n" for what in includes)
    return f"{NOTE}#ifndef {guard}\n#define {guard}\n{lines}{text}#endif\n"


def types_header(name: str, types: Types, beneath: str) -> str:
    """The types of an API in terms of the underlying library's types, which the given header declares."""
    return header(name, types.declarations(beneath=True), ("<stddef.h>", "<stdint.h>", beneath))


def pointers(
    library: str, status: str, rows: Iterable[tuple[str, Function, int]], includes: Iterable[str]
) -> dict[str, str]:
    """LIBRARY_table.h and .c: typed pointers to functions of a library that is loaded at run time, as (field, function,
    minimum version), and in the same order their names and versions."""
    table, upper = list(rows), library.upper()
    fields = "".join(f"  {function.returns or status} (*{field})({function.args});\n" for field, function, _ in table)
    declared = (
        f"struct {library}_table {{\n{fields}}};\nextern struct {library}_table {library};\n"
        f"enum {{ {upper}_FUNCTIONS = {len(table)} }};\n"
        f"extern const char *const {library}_names[{upper}_FUNCTIONS];\n"
        f"extern const short {library}_since[{upper}_FUNCTIONS]; /* 503: version 5.3; 0: any */\n"
    )
    names = "".join(f'  "{function.symbol}",\n' for _, function, _ in table)
    since = "".join(f"  {version},\n" for _, _, version in table)
    return {
        f"{library}_table.h": header(f"{library}_table.h", declared, includes),
        f"{library}_table.c": f'{NOTE}#include "{library}_table.h"\nstruct {library}_table {library};\n'
        f"const char *const {library}_names[{upper}_FUNCTIONS] = {{\n{names}}};\n"
        f"const short {library}_since[{upper}_FUNCTIONS] = {{\n{since}}};\n",
    }


def prototypes(api: Api, table: Iterable[Function], body: str = "") -> str:
    """Declarations of all exported symbols. `body`: the linker's name of the function that a symbol refers to inside
    the library."""
    lines = []
    for function in table:
        for symbol in function.exports:
            named = f' __asm__("{body.format(symbol)}")' if body else ""
            lines.append(f"{function.returns or api.status} {symbol}({function.args}){named};\n")
    return "".join(lines)
