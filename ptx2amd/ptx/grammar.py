"""The Lark side: grammar/ptx.lark loaded once, fragments parsed from any start rule, errors with places.

Import it where a fragment has to be parsed, not at a file's head: Lark and its tables take longer to load than a small
kernel to translate, and what compilers print (ptx/plain.py) does without."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import lark as generator
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.grammar import Rule
from lark.lexer import TerminalDef

from ptx2amd import prepared
from ptx2amd.errors import PtxError
from ptx2amd.ptx.scan import place

#: The parser's tables, which `python -m ptx2amd.native` makes: loading them takes a tenth of the time of making them.
TABLES = prepared.FOLDER / "grammar.json"

STARTS = (
    "module",
    "version",
    "target_line",
    "address_size",
    "directive",
    "head",
    "body",
    "item",
    "operand",
    "arguments",
    "declaration",
    "parameter",
    "initial",
    "section",
)


@cache
def lark() -> Lark:
    """The parser of grammar/ptx.lark (packaged as ptx2amd/ptx/ptx.lark): from its tables, or built from the grammar in
    half a second if the tables are missing or belong to another version of it."""
    text = _text()
    tables = prepared.read(TABLES, _numbered)
    if tables.get("grammar") != _digest(text):
        return _make(text)
    load: Callable[..., Lark] = Lark._load_from_dict
    return load(tables["data"], tables["memo"])  # as Lark's stand-alone parsers do


def write_tables(path: Path = TABLES) -> None:
    """Write the parser's tables, unless those there are of this grammar. They are JSON, so loading them executes
    nothing, and lie in the package, which only those can write who can also change the code."""
    text = _text()
    if path.exists() and _digest(text).encode() in path.read_bytes()[:200]:
        return
    data, memo = _make(text).memo_serialize([TerminalDef, Rule])
    prepared.write(path, {"grammar": _digest(text), "data": data, "memo": memo})


def _text() -> str:
    return files("ptx2amd.ptx").joinpath("ptx.lark").read_text(encoding="utf-8")


def _make(text: str) -> Lark:
    return Lark(text, parser="lalr", lexer="contextual", start=list(STARTS), maybe_placeholders=True)


def _digest(text: str) -> str:
    """Of all that the tables depend on."""
    return hashlib.blake2b(f"{generator.__version__} {STARTS} {text}".encode(), digest_size=16).hexdigest()


def _numbered(item: dict[str, Any]) -> dict[str | int, Any]:
    """Lark's tables have numbers as keys, which JSON does not."""
    return {int(key) if key.isdigit() else key: value for key, value in item.items()}


def parse(text: str, start: str, source: str = "<ptx>", line: int = 1, column: int = 1) -> Tree[Any]:
    """The tree of a fragment whose first character stands at line:column of `source`.

    Raises PtxError with place, what was found and what was expected."""
    try:
        result = lark().parse(text, start=start)
    except UnexpectedInput as error:
        raise _explain(error, text, source, line, column) from None
    return result if isinstance(result, Tree) else Tree(start, [result])


def _explain(error: UnexpectedInput, text: str, source: str, line: int, column: int) -> PtxError:
    offset = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    if isinstance(error, UnexpectedToken):
        expected = error.expected
        found = f"'{error.token}'" if error.token.type != "$END" else "the end"
        offset = offset if error.token.type != "$END" and offset >= 0 else len(text.rstrip())
    elif isinstance(error, UnexpectedCharacters):
        expected = set(error.allowed or ())
        found = f"'{_word(text, offset)}'"
    else:
        expected, found = set(), "the end"
    if (parser := getattr(error, "interactive_parser", None)) is not None:
        expected = parser.accepts() or expected  # LALR's merged states expect more than can follow
    wanted = ", ".join(sorted({_readable(name) for name in expected} - {""}))
    at = place(text, offset, line, column)
    return PtxError(f"found {found}, expected {wanted or 'something else'}", source, *at)


def _word(text: str, offset: int) -> str:
    """What stands at an offset, up to the next space or punctuation."""
    end = offset + 1
    while end < len(text) and (text[end].isalnum() or text[end] in "_$%"):
        end += 1
    return text[offset:end]


_NAMES = {
    "NAME": "a name",
    "LABEL": "a label",
    "OPCODE": "an instruction",
    "CALL": "",
    "INT": "an integer",
    "HEXFLOAT": "a floating-point constant",
    "HEXDOUBLE": "a floating-point constant",
    "DECIMAL": "a floating-point constant",
    "STRING": "a string",
    "TYPE": "a type",
    "VECTOR": "a vector size (.v2, .v4)",
    "DOTTED": "a section name",
    "LIMIT": "a performance directive",
    "FLAG": "a performance directive",
    "VERSION": "a version (MAJOR.MINOR)",
    "COMPONENT": "a component (.x, .b0 ...)",
    "CAST": "",
    "GENERIC": "generic(",
    "WARP_SZ": "",
    "DWARF": "",
    "COMMENT": "",
    "SPACE": "",
    "$END": "the end",
}


@cache
def _literals() -> dict[str, str]:
    return {t.name: t.pattern.value for t in lark().terminals if t.pattern.type == "str"}


def _readable(terminal: str) -> str:
    """A terminal in words for messages; "" for those that only clutter."""
    if terminal in _NAMES:
        return _NAMES[terminal]
    text = _literals().get(terminal)
    return f"'{text}'" if text else terminal


__all__ = ["STARTS", "Token", "Tree", "lark", "parse"]
