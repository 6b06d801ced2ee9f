"""LLVM IR functions of our own: <name>.ll defines @name. They may call each other and use f32 in any mode."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def helper_text(name: str) -> str:
    """The IR of one helper. Raises FileNotFoundError when there is none."""
    return files(__name__).joinpath(f"{name}.ll").read_text()


@cache
def helper_names() -> frozenset[str]:
    return frozenset(f.name[:-3] for f in files(__name__).iterdir() if f.name.endswith(".ll"))


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
