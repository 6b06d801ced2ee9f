"""Condensed function bodies, with equivalent statements once, to check faster whether they are legal PTX.

Statements that differ in the numbers of registers alone, `add.s32 %r5, %r4, %r3;` and `add.s32 %r9, %r8, %r7;`, are
right or wrong together where the registers are of declared ranges, `.reg .b32 %r<10>`; and a statement that names
nothing but such registers is equally right in another function with the same ranges. Compilers write
some hundreds of different statements, in however many lines."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from ptx2amd.regex import regex

_RANGE = regex(r"\.reg\s+(\.\w+)\s+(%[A-Za-z_$][\w$]*)\s*<\s*(\d+)\s*>\s*;", re.A)
_STATEMENT = regex(r"\s*(?:@!?[\w$%#]+\s+)?[a-z][\w.:]*(?:\s(?:[^;{}]|\{[^;{}]*\})*)?;\s*\Z", re.A)
_REGISTERS_ONLY = regex(
    r"\s*(?:@!?%\w+#\s+)?[a-z][\w.]*"
    r"(?:\s+[\[{]?(?:%\w+#|-?\d\w*)(?:[\]}]?[,|+] *[\[{]?(?:%\w+#|-?\d\w*))*[\]}]?)?;\s*\Z",
    re.A,
)
_LOC = regex(r"\s*\.loc[ \t]+\d+[ \t]+\d+[ \t]+\d+\s*\Z", re.A)
_ENDS = (";", "{", "}", ":")


#: The register ranges of a body: (prefix, type), sorted.
Ranges = tuple[tuple[str, str], ...]


class Condenser:
    """Condenses the bodies of a module."""

    def __init__(self) -> None:
        self.known: dict[Ranges, set[str]] = {}  # ranges -> lines that name nothing else
        self.last: tuple[Ranges, set[str]] = (), set()

    def condensed(self, text: str) -> str:
        """The body `text` ("{...}") with an empty line for each statement or block that is known, or of which it has
        one like it in front; the rest stands where it stood."""
        if not text.startswith("{\n"):
            return text
        ranges = _ranges(text)
        plain = text
        for _, prefix, count in ranges:
            plain = _register(prefix, count).sub(f"{prefix}#", plain)
        key = tuple(sorted((prefix, ptype) for ptype, prefix, _ in ranges))
        self.last = key, set(self.known.get(key, ()))
        return _once(text.split("\n"), plain.split("\n"), self.last[1])

    def right(self) -> None:
        """Record that the body condensed last has no errors."""
        key, seen = self.last
        known = self.known.setdefault(key, set())
        known.update(line for line in seen - known if _REGISTERS_ONLY.match(line))


def _once(lines: list[str], like: list[str], seen: set[str]) -> str:
    """The lines of a body without those that are in `seen`, to which the others are added. like: the same lines, in
    which what is right or wrong together is the same."""
    ended = True  # whether the line in front is the end of a statement
    block_end = 1  # the line behind the block in hand
    for at, line in enumerate(like):
        if at < block_end:
            continue
        if ended and line in seen:
            lines[at] = ""
            continue
        stripped = line.strip()
        if ended and stripped[:1] == "{":
            block_end = _block_end(like, at)
            block = "\n".join(like[at:block_end])
            if block in seen:
                lines[at:block_end] = [""] * (block_end - at)
            seen.add(block)
        elif stripped[:4] == ".loc" and _LOC.match(line):
            lines[at] = ""
        elif ended and _STATEMENT.match(line):
            seen.add(line)
        elif stripped:
            ended = stripped.endswith(_ENDS)
    return "\n".join(lines)


def _ranges(text: str) -> list[tuple[str, str, int]]:
    """The register ranges that a body declares once: type, prefix, count; not those whose prefix ends in a digit."""
    found = _RANGE.findall(text)
    times = Counter(prefix for _, prefix, _ in found)
    return [(t, prefix, int(n)) for t, prefix, n in found if times[prefix] == 1 and not prefix[-1].isdigit()]


@lru_cache(maxsize=256)
def _register(prefix: str, count: int) -> re.Pattern[str]:
    """The registers `prefix0` to `prefix<count - 1>`, as compilers write them."""
    return re.compile(rf"{re.escape(prefix)}(?:{_below(count)})(?![\w$])", re.A)


def _below(count: int) -> str:
    """A regular expression for the decimal numbers below `count`, what matches most of them in front."""
    digits, length = str(count), len(str(count))
    ways = [(10 ** (length - 1), rf"[1-9]\d{{0,{length - 2}}}+|0")] if length > 1 else []
    for at, digit in enumerate(map(int, digits)):
        first, behind = int(at == 0 and length > 1), length - at - 1
        if digit > first:
            ways.append(((digit - first) * 10**behind, rf"{digits[:at]}[{first}-{digit - 1}]" + r"\d" * behind))
    return "|".join(way for _, way in sorted(ways, reverse=True)) or r"(?!)"


def _block_end(lines: list[str], at: int) -> int:
    """The line after the block that begins at line `at`, or after the last line."""
    depth = 0
    for end in range(at, len(lines)):
        depth += lines[end].count("{") - lines[end].count("}")
        if depth <= 0:
            return end + 1
    return len(lines)
