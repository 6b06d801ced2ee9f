"""The module scanner: PTX text -> its top-level pieces with their places, without looking into bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptx2amd.errors import PtxError
from ptx2amd.regex import regex


class Piece(NamedTuple):
    """One top-level directive. kind: version, target, address_size, function, section, file, loc, pragma,
    alias, dwarf, variable. `body` is the function's "{...}" or "" for a declaration."""

    kind: str
    text: str
    line: int
    column: int
    body: str = ""
    body_line: int = 0
    body_column: int = 0


_COMMENT = regex(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.S)
_SPACE = regex(r"[ \t\r\n\f]*")
_START = regex(
    r"""(?P<version>\.version\b\s*(?:\d+\.\d+(?![\w.])|[^\n]*)) | (?P<target>\.target\b\s*\w+(?:\s*,\s*\w+)*)
    | (?P<address_size>\.address_size\b\s*[^\s]*)
    | (?P<function>(?:\.(?:extern|visible|weak|common)\s*)?\.(?:entry|func)\b)
    | (?P<section>\.section\b) | (?P<file>\.file\b[^\n]*) | (?P<loc>\.loc\b[^\n]*)
    | (?P<pragma>\.pragma\b[^;"]*(?:"[^"\n]*"[^;"]*)*;) | (?P<alias>\.alias\b[^;]*;) | (?P<dwarf>@@DWARF[^\n]*)
    | (?P<variable>\.\w[^;]*;)""",
    re.X | re.A,
)
_HEAD = regex(r'(?:[^;{".]|\.pragma\s*"[^"\n]*"\s*(?:,\s*"[^"\n]*"\s*)*;|\.)*(?=[;{])', re.A)
# What begins after a declared .func, which ptxas takes without ";".
_AFTER = regex(r"\.(?:extern|visible|weak|common|entry|func|global|const|shared|alias|section)\b", re.A)
_LIST = regex(r"\([^()]*\)")
_NEXT = (".entry", ".func")  # what no body holds
_STRAY = regex(r"\s*\}")
_BRACE = regex(r'"[^"\n]*"|[{}]')


def place(text: str, offset: int, line: int = 1, column: int = 1) -> tuple[int, int]:
    """Line and column of an offset in a fragment that starts at line:column."""
    newlines = text.count("\n", 0, offset)
    if not newlines:
        return line, column + offset
    return line + newlines, offset - text.rfind("\n", 0, offset)


def prepare(text: str) -> str:
    """The text without comments (places stay as they are), NULs at its end and carriage returns."""
    text = text.rstrip("\0")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "/*" in text:
        return _COMMENT.sub(_blank, text)
    return _without_line_comments(text)


def _without_line_comments(text: str) -> str:
    """The common case, at the speed of str.find."""
    kept: list[str] = []
    at = 0
    found = text.find("//")
    while found >= 0:
        begin, stop = text.rfind("\n", 0, found) + 1, text.find("\n", found)
        stop = len(text) if stop < 0 else stop
        if '"' in text[begin:found]:  # perhaps a string with slashes: the regular expression knows
            kept += text[at:begin], _COMMENT.sub(_blank, text[begin:stop])
        else:
            kept.append(text[at:found])
        at = stop
        found = text.find("//", stop)
    return "".join((*kept, text[at:])) if kept else text


def _blank(found: re.Match[str]) -> str:
    comment = found[0]
    if comment[0] == '"':
        return comment
    if comment[1] == "/":
        return ""
    return re.sub(r"[^\n]", " ", comment)


def pieces(text: str, source: str) -> Iterator[Piece]:
    """The top-level pieces of a prepared text, in order. Raises PtxError where none begins."""
    at, line, seen = 0, 1, 0
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return
        line += text.count("\n", seen, at)
        seen = at
        column = at - text.rfind("\n", 0, at)
        found = _START.match(text, at)
        if found is None:
            rest = re.match(r"[\w$%.]+|.", text[at:])
            word = rest[0] if rest else text[at]
            raise PtxError(f"found '{word}', expected a directive or the end", source, line, column)
        kind = str(found.lastgroup)
        if kind in ("function", "section"):
            piece, at = _block(text, at, kind, source, line, column)
            yield piece
        else:
            yield Piece(kind, found[0].rstrip(), line, column)
            at = found.end()


def _block(text: str, at: int, kind: str, source: str, line: int, column: int) -> tuple[Piece, int]:
    """A function or a debug section, from its first character to behind its end."""
    head = _HEAD.match(text, at)
    if head is None:
        stop = len(text.rstrip())
        raise PtxError("found the end, expected '{' or ';'", source, *place(text, stop))
    begin = _START.match(text, at)
    if kind == "function" and begin and begin[0].endswith("func"):
        outside = _LIST.sub(lambda found: " " * len(found[0]), head[0])
        if after := _AFTER.search(outside, begin.end() - at):
            return Piece(kind, head[0][: after.start()].rstrip(), line, column), at + after.start()
    if text[head.end()] == ";" and kind == "function":
        return Piece(kind, head[0].rstrip(), line, column), head.end() + 1
    end = _closing(text, head.end())
    following = min((f for f in (text.find(word, head.end(), end) for word in _NEXT) if f >= 0), default=-1)
    if kind == "function" and (following >= 0 or end < 0):  # braces do not pair: only this function is to fail
        end = _before(text, head.end(), following)
    elif kind == "function":
        while stray := _STRAY.match(text, end):
            end = stray.end()
    if end < 0:
        raise PtxError("found the end, expected '}'", source, *place(text, len(text.rstrip())))
    if kind == "section":
        return Piece(kind, text[at:end], line, column), end
    body_line, body_column = _at(text, at, head.end(), line)
    return Piece(kind, head[0].rstrip(), line, column, text[head.end() : end], body_line, body_column), end


def _at(text: str, at: int, offset: int, line: int) -> tuple[int, int]:
    """Line and column of `offset`, when `at` before it is in line `line`."""
    return line + text.count("\n", at, offset), offset - text.rfind("\n", 0, offset)


def _before(text: str, at: int, following: int) -> int:
    """Where a body without its closing brace ends: before the line of the directive that follows."""
    return len(text.rstrip()) if following < 0 else max(text.rfind("\n", at, following), at + 1)


def _closing(text: str, at: int) -> int:
    """Offset behind the brace that closes the one at `at`; -1 when none does."""
    depth, seen = 0, at
    while (end := text.find("}", seen)) >= 0:
        if '"' in text[seen:end]:
            return _closing_with_strings(text, at)
        depth += text.count("{", seen, end) - 1
        seen = end + 1
        if depth == 0:
            return seen
    return -1


def _closing_with_strings(text: str, at: int) -> int:
    """The same where braces may stand in strings."""
    depth = 0
    for found in _BRACE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return -1
