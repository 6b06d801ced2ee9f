"""The items of a function's body as text: statements, labels, directives and braces, and a statement's operands."""

from __future__ import annotations

import re

from ptx2amd.regex import regex

# All items of a body, one tuple each: space in front, guard, opcode, operands up to a bracketed list, the rest of
# the operands; or, last, an item of another kind: brace, label, directive, statement that spans lines.
ITEMS = regex(
    r"(\s*)(?:(?:(@!?[\w$%.]+)[ \t]+)?([a-z]\w*(?:\.[\w:]+)*)(?![ \t]*[:.])(?:[ \t]+([^;\n{(]*)([^;\n]*))?;"
    r"|([{}]|\.loc\b[^\n]*|\.file\b[^\n]*|\.pragma\b[^;\"]*\"[^\"\n]*\"[^;]*;"
    r"|[A-Za-z_$%][\w$]*\s*:(?!:)(?:\s*\.(?:branchtargets|calltargets|callprototype)\b[^;]*;)?"
    r"|\.[^;]*;|[^\s;{}](?:[^;{}]|\{[^;{}]*\})*;?|;))",
    re.A,
)
STATEMENT = regex(
    r"(?P<guard>@[^A-Za-z_$%;]*[\w$%.]+\s+)?(?P<opcode>[a-z]\w*(?:\.[\w:]+)*)(?!\s*[:.])"
    r"(?:\s+(?P<operands>[^;]*))?;\Z",
    re.A,
)
PRAGMA = regex(r'\.pragma\s+"[^"\n]*"\s*;\Z', re.A)
_PART = regex(r"\s*((?:[^,{}()\[\]]|\{[^{}]*\}|\([^()]*\)|\[(?:[^\[\]{}]|\{[^{}]*\})*\])*?)\s*(?:,|\Z)", re.S)
LOC = regex(
    r"\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*"
    r"(?:,[ \t]*function_name[ \t]+[\w$%]+(?:[ \t]*\+[ \t]*\d+)?[ \t]*,"
    r"[ \t]*inlined_at[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]*)?\Z",
    re.A,
)


class Newlines(dict[str, int]):
    """Lines that a run of white space holds."""

    def __missing__(self, space: str) -> int:
        self[space] = count = space.count("\n")
        return count


def split_operands(text: str) -> list[str]:
    """The operand texts of a statement: split at commas outside brackets."""
    if not text.strip():
        return []
    parts, at = [], 0
    while True:
        found = _PART.match(text, at)
        if found is None:  # nested brackets of constant expressions
            return _split_nested(text)
        parts.append(found[1])
        if found.end() == len(text) and text[-1:] != ",":
            return parts
        at = found.end()
        if at == len(text):
            return [*parts, ""]


def _split_nested(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


__all__ = ["ITEMS", "LOC", "PRAGMA", "STATEMENT", "Newlines", "split_operands"]
