"""PTX text -> Module; the bodies of its functions on demand. See docs/internals/overview.md, stages 2 to 4."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ptx2amd.errors import PtxError
from ptx2amd.ptx import declare, plain
from ptx2amd.ptx.ast import Function, Module, Proto, Scope, Var, Whole, elements
from ptx2amd.ptx.body import BodyParser
from ptx2amd.ptx.by_grammar import build
from ptx2amd.ptx.declare import declarations, parameters
from ptx2amd.ptx.flat import flat
from ptx2amd.ptx.fragment import Head
from ptx2amd.ptx.legacy import modern
from ptx2amd.ptx.outline import Outline, part
from ptx2amd.ptx.reserved import reserve
from ptx2amd.ptx.scan import Piece, pieces, place, prepare
from ptx2amd.ptx.statics import hoist
from ptx2amd.regex import regex

if TYPE_CHECKING:
    from lark import Tree

_HEAD = regex(
    r"(?:\.(?P<linkage>extern|visible|weak)\s*)?\.(?P<kind>entry|func)\s*"
    r"(?P<results>\([^()]*\)\s*)?(?P<name>[A-Za-z_$%][\w$]*)\s*(?P<params>\([^()]*\))?\s*(?P<directives>[^()]*)\Z",
    re.A,
)
LAST_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8}  # later versions may be newer than this table
_DIRECTIVES = regex(
    r"\.(?:(noreturn)\b|(maxnreg|maxntid|reqntid|minnctapersm)\s+(\d+(?:\s*,\s*\d+)*))(?![\w.$])\s*", re.A
)
_SECTION = regex(
    r"\.section\s+\.[\w$.]+\s*\{\s*(?:[A-Za-z_$][\w$]*\s*:\s*"
    r"|\.b(?:8|16|32|64)\s+(?:-?\d+|[.A-Za-z_$][\w$.]*(?:\+\d+|-[A-Za-z_$][\w$]*)?)"
    r"(?:\s*,\s*(?:-?\d+|[.A-Za-z_$][\w$.]*(?:\+\d+|-[A-Za-z_$][\w$]*)?))*\s*)*\}\Z",
    re.A,
)
_FILE = regex(r'\.file\s+(\d+)\s+"([^"\n]*)"(?:\s*,\s*\d+\s*,\s*\d+)?\Z', re.A)
_LOC = regex(r"\.loc\s+\d+\s+\d+\s+\d+\Z", re.A)


def parse_module(text: str, source: str = "<ptx>") -> Module:
    """Read a module: header, variables, function heads. Bodies are left as text for parse_body.

    text: a whole PTX module; may begin with blank lines and end with NULs. source: its name in messages.
    Raises PtxError (file:line:column, what was found, what was expected)."""
    module = Module((0, 0), "", (), {}, {}, {}, {}, source)
    with collector_off():
        prepared = prepare(text)
        text = modern(prepared, source)
        found = list(pieces(text, source))
        _Reader(module).read(found, text)
    module.pieces = found if text == prepared else []
    return module


def parse_part(text: str, source: str, outline: Outline, kernel: str) -> Module | None:
    """The part of a module that a kernel needs, by the outline of the module; None where there is no such kernel."""
    with collector_off():
        found = part(text, outline, source, kernel)
    return None if found is None else parse_pieces(found, source, outline.whole)


def parse_pieces(found: list[Piece], source: str, whole: Whole | None) -> Module:
    """The module of pieces that an outline has led to. whole: what it has to agree on with others."""
    module = Module((0, 0), "", (), {}, {}, {}, {}, source, whole=whole)
    with collector_off():
        _Reader(module).read(found, "")
    return module


def parse_body(module: Module, function: Function) -> Scope:
    """The statements of a function defined in `module`, checked against the instruction table, without nested scopes;
    also kept in function.scope. Raises PtxError; other functions of the module are not affected."""
    if function.scope is None:
        if not function.text:
            raise PtxError(f"function '{function.proto.name}' has no body", module.source, function.line, 1)
        with collector_off():
            function.scope = flat(BodyParser(module, function).run())
    return function.scope


@contextmanager
def collector_off() -> Iterator[None]:
    """No garbage collection meanwhile: parsing only allocates, and makes no cycles; collecting costs more
    than half of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Reader:
    def __init__(self, module: Module) -> None:
        self.module, self.source = module, module.source
        self.aliases: list[tuple[Piece, str, str]] = []

    def read(self, found: list[Piece], text: str) -> None:
        """The pieces of a module; the text is there to tell where it ends."""
        body = self._header(found, text)
        for piece in body:
            getattr(self, "_" + piece.kind)(piece)
        for piece, alias, target in self.aliases:
            if alias in self.module.functions and self.module.functions[alias].text:
                self._fail(piece, f"'{alias}' is defined, and cannot be an alias")
            for name in (alias, target):
                if name not in self.module.functions or self.module.functions[name].kind != "func":
                    self._fail(piece, f"'{name}' is not declared as a function")
            if not declare.same_signature(*(self.module.functions[name].proto for name in (alias, target))):
                self._fail(piece, f"'{alias}' and '{target}' have different parameters")
            self.module.aliases[alias] = target

    def _fail(self, piece: Piece, message: str) -> None:
        raise PtxError(message, self.source, piece.line, piece.column)

    def _grammar(self, piece: Piece, start: str) -> Tree[Any]:
        from ptx2amd.ptx import grammar

        return grammar.parse(piece.text, start, self.source, piece.line, piece.column)

    def _version_of(self, piece: Piece) -> tuple[int, int]:
        major, minor = str(self._grammar(piece, "version").children[0]).split(".")
        return int(major[:9]), int(minor[:9])

    def _header(self, found: list[Piece], text: str) -> list[Piece]:
        """`.version`, `.target`s, `.address_size`; returns the pieces behind them."""
        if not found or found[0].kind != "version":
            line, column = (found[0].line, found[0].column) if found else place(text, len(text.rstrip()))
            raise PtxError("a module begins with .version", self.source, line, column)
        major, minor = plain.version(found[0].text) or self._version_of(found[0])
        if minor > LAST_MINOR.get(major, -1 if major < 9 else minor):
            self._fail(found[0], f"there is no PTX version {major}.{minor}")
        self.module.version = (major, minor)
        at = 1
        options: list[str] = []
        while at < len(found) and found[at].kind == "target":
            names = plain.targets(found[at].text) or list(map(str, self._grammar(found[at], "target_line").children))
            options += [name for name in names if not name.startswith(("sm_", "compute_"))]
            self.module.target = next((n for n in names if n.startswith(("sm_", "compute_"))), self.module.target)
            at += 1
        if not self.module.target:
            self._fail(found[min(at, len(found) - 1)], "expected .target sm_NN after .version")
        self.module.target_options = tuple(options)
        if at < len(found) and found[at].kind == "address_size":
            size = plain.address_size(found[at].text) or str(self._grammar(found[at], "address_size").children[0])
            if size == "32":
                self._fail(found[at], "32-bit addresses are not supported: compile for 64 bits (nvcc -m64)")
            if size != "64":
                self._fail(found[at], f"address size {size}, expected 64")
            at += 1
        return found[at:]

    def _version(self, piece: Piece) -> None:
        self._fail(piece, f"'{piece.text.split()[0]}' may only stand at the beginning of a module")

    _target = _address_size = _version

    def _section(self, piece: Piece) -> None:
        if not _SECTION.match(piece.text):
            self._grammar(piece, "section")

    def _file(self, piece: Piece) -> None:
        found = _FILE.match(piece.text)
        number, name = (
            (int(found[1]), found[2])
            if found
            else build(piece.text, "directive", self.source, piece.line, piece.column)
        )
        self.module.files[number] = name

    def _loc(self, piece: Piece) -> None:
        if not _LOC.match(piece.text):
            self._grammar(piece, "directive")

    def _pragma(self, piece: Piece) -> None:
        self._grammar(piece, "directive")

    def _dwarf(self, piece: Piece) -> None:
        pass

    def _alias(self, piece: Piece) -> None:
        alias, target = self._grammar(piece, "directive").children
        self.aliases.append((piece, str(alias), str(target)))

    def _variable(self, piece: Piece) -> None:
        for var in declarations(piece.text, self.source, piece.line, piece.column):
            self._check_variable(piece, var)
            known = self.module.variables.get(var.name)
            if known is not None and (known.linkage, var.linkage) == ("extern", ""):
                self._fail(piece, f"'{var.name}' was declared as .extern, and is not .visible here")
            if var.name in self.module.functions or (known is not None and not _redeclares(var, known)):
                self._fail(piece, f"'{var.name}' is declared twice")
            if known is None or known.linkage == "extern":
                self.module.variables[var.name] = var

    def _check_variable(self, piece: Piece, var: Var) -> None:
        problem = declare.variable_problem(var, self.module.target_options)
        if problem:
            self._fail(piece, f"'{var.name}' {problem}")

    def _function(self, piece: Piece) -> None:
        head = self._head(piece)
        name = head.proto.name
        if head.linkage == "common":
            self._fail(piece, f"'{name}' is .common, which only .global variables can be")
        for problem in declare.function_problems(head.kind, head.proto, head.directives, bool(piece.body)):
            self._fail(piece, problem)
        function = Function(head.kind, head.proto, head.linkage, head.directives, head.pragmas, piece.line, piece.body)
        function.body_line, function.body_column = piece.body_line, piece.body_column
        known = self.module.functions.get(name)
        if name in self.module.variables or (known is not None and known.text):
            self._fail(piece, f"'{name}' is declared twice")
        if known is not None:
            self._check_redeclared(piece, known, function)
            function.linkage = known.linkage
        if known is None or piece.body:
            self.module.functions[name] = function
            hoist(self.module, function)
            reserve(self.module, function)

    def _check_redeclared(self, piece: Piece, known: Function, function: Function) -> None:
        name = function.proto.name
        if known.kind != function.kind:
            self._fail(piece, f"'{name}' was declared as .{known.kind}")
        if function.text and known.linkage == "extern":
            self._fail(piece, f"'{name}' was declared as .extern, defined elsewhere")
        if function.linkage != known.linkage and (function.linkage or known.linkage == "extern"):
            self._fail(piece, f"'{name}' was declared {f'as .{known.linkage}' if known.linkage else 'without linkage'}")
        if function.kind == "func" and not declare.same_signature(known.proto, function.proto):
            self._fail(piece, f"'{name}' was declared with other parameters")

    def _head(self, piece: Piece) -> Head:
        found = _HEAD.match(piece.text)
        directives = self._directives(found["directives"]) if found else None
        if not found or directives is None or (found["kind"] == "entry" and found["results"]):
            return self._parsed_head(piece)
        try:
            results = self._params(piece, found, "results")
            params = self._params(piece, found, "params")
        except PtxError:  # laid out otherwise, or an error, whose place the grammar knows
            return self._parsed_head(piece)
        proto = Proto(found["name"], elements(results), elements(params), "noreturn" in directives)
        return Head(found["kind"], proto, found["linkage"] or "", directives, [])

    def _parsed_head(self, piece: Piece) -> Head:
        head: Head = build(piece.text, "head", self.source, piece.line, piece.column)
        return head

    def _params(self, piece: Piece, found: re.Match[str], group: str) -> list[Var]:
        text = found[group]
        if text is None:
            return []
        start = found.start(group) + 1
        line, column = place(piece.text, start, piece.line, piece.column)
        return parameters(text.rstrip()[1:-1], self.source, line, column)

    def _directives(self, text: str) -> dict[str, tuple[int, ...]] | None:
        directives: dict[str, tuple[int, ...]] = {}
        at = 0
        while at < len(text):
            found = _DIRECTIVES.match(text, at)
            if not found:
                return None
            directives[found[1] or found[2]] = tuple(int(n) for n in (found[3] or "").split(",") if n)
            at = found.end()
        return directives


def _redeclares(var: Var, known: Var) -> bool:
    """Whether a second declaration agrees with the first: one of them is .extern."""
    return var.type == known.type and var.space == known.space and "extern" in (var.linkage, known.linkage)
