"""LLVM IR text, taken apart: instructions with the PTX line of each."""

from __future__ import annotations

import re

from ptx2amd.explain.assembly import Located

FUNCTION = re.compile(r'define [^@]*@("[^"]+"|[\w.$-]+)\(')
PLACE = re.compile(r"!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")
DEBUG = re.compile(r", !dbg !(\d+)")
OTHER_METADATA = re.compile(r",? ![\w.]+ !\d+")


def instructions(text: str) -> list[Located]:
    """The instructions of functions that have places, without their metadata."""
    lines = {int(number): int(line) for number, line in PLACE.findall(text)}
    found: list[Located] = []
    function = ""
    for row in text.splitlines():
        if start := FUNCTION.match(row):
            function = start[1].strip('"')
        elif row == "}":
            function = ""
        elif function and (place := DEBUG.search(row)):
            shown = OTHER_METADATA.sub("", DEBUG.sub("", row)).strip()
            found.append(Located(function, lines.get(int(place[1]), 0), shown))
    return found
