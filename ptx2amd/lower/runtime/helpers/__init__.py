"""LLVM IR functions of our own: <name>.ll defines @name. They may call each other and use f32 in any mode.

What they share with the driver has the names of `ptx2amd/interface`: `{layout.field}` is an offset, `{layout}` a size,
`{NAME}` a number."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ptx2amd.interface import arena, heap, launches, printf
from ptx2amd.interface.layout import layouts, numbers
from ptx2amd.regex import regex

FOLDER = Path(__file__).parent
_NAMED = regex(r"\{(\w+(?:\.\w+)?)\}")


@cache
def _numbers() -> dict[str, int]:
    """What helpers may name."""
    found: dict[str, int] = {}
    for module in (arena, heap, launches, printf):
        found |= numbers(module)
        for layout in layouts(module):
            found[layout.name] = layout.size
            found |= {f"{layout.name}.{field.name}": field.offset for field in layout.fields.values()}
    return found


@cache
def helper_text(name: str) -> str:
    """The IR of one helper. Raises FileNotFoundError when there is none, KeyError for a name that no layout has."""
    text = (FOLDER / f"{name}.ll").read_text()
    return _NAMED.sub(lambda found: str(_numbers()[found[1]]), text)


@cache
def helper_names() -> frozenset[str]:
    return frozenset(path.stem for path in FOLDER.glob("*.ll"))


def helper_texts(names: set[str]) -> list[str]:
    """The IR of helpers and of those that they use."""
    found: dict[str, str] = {}
    work = sorted(names)
    while work:
        name = work.pop()
        if name not in found:
            found[name] = helper_text(name)
            work += sorted(set(re.findall(r"@(\w+)", found[name])) & helper_names())
    return list(found.values())
