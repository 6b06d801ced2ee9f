"""Where in the CUDA source a line of PTX comes from, as its .loc directives say."""

from __future__ import annotations

import re

from ptx2amd.ptx.ast import Module
from ptx2amd.regex import regex

_LOC = regex(r"^\s*\.loc\s+(\d+)\s+(\d+)", re.M | re.A)


def origin(module: Module, line: int) -> str:
    """ "file:line" of the directive that applies to a line of a function's body, or ""."""
    for function in module.functions.values():
        behind = line - function.body_line
        if not function.text or behind < 0 or behind > function.text.count("\n"):
            continue
        above = "\n".join(function.text.split("\n", behind + 1)[: behind + 1])
        found = _LOC.findall(above)
        if found and found[-1][1] != "0":
            number, place = found[-1]
            index = function.files.get(int(number), int(number))
            return f"{module.files.get(index, '?')}:{place}"
    return ""
