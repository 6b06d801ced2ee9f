"""Function bodies: one regular expression reads all lines at once; lines that hold one whole instruction are
made from dictionaries (operand text -> operand, opcode and operand kinds -> shape); what is new or laid out
otherwise takes the long way through the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ptx2amd.errors import PtxError
from ptx2amd.isa.match import MatchError
from ptx2amd.ptx import constants, grammar
from ptx2amd.ptx.ast import (
    BranchTargets,
    Function,
    Guard,
    Inst,
    Label,
    Loc,
    Module,
    Operand,
    Pair,
    Proto,
    Scope,
    Shape,
    Sym,
    Var,
    Vec,
    flatten,
)
from ptx2amd.ptx.build import Statement, build
from ptx2amd.ptx.check import Fix, resolve
from ptx2amd.ptx.declare import declarations
from ptx2amd.ptx.scope import BadOperand, Names

# One tuple a line: guard, opcode, operands up to a bracketed list, the rest; or any other line.
_LINES = re.compile(
    r"[ \t]*(?:(@!?[\w$%.]+)[ \t]+)?([a-z]\w*(?:\.[\w:]+)*)(?![ \t]*:)(?:[ \t]+([^;\n{(]*)([^;\n]*))?;[ \t]*\n"
    r"|([^\n]*)\n",
    re.A,
)
# The next item from any place: a scope's end or begin, a label, a directive, an instruction.
_ITEM = re.compile(
    r"""\s*(?:(?P<brace>[{}])
    | (?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)(?P<labelled>\s*\.(?:branchtargets|calltargets|callprototype)\b[^;]*;)?
    | (?P<loc>\.loc\b[^\n]*) | (?P<file>\.file\b[^\n]*) | (?P<pragma>\.pragma\b[^;"]*"[^"\n]*"[^;]*;)
    | (?P<directive>\.[^;]*;)
    | (?P<statement>(?P<guard>@[^A-Za-z_$%;]*[\w$%.]+\s+)?(?P<opcode>[a-z]\w*(?:\.[\w:]+)*)(?:\s+(?P<operands>[^;]*))?;)
    | (?P<other>[^\s;{}][^;{}]*;?)|$)""",
    re.A | re.X,
)
_PRAGMA = re.compile(r'\.pragma\s+"[^"\n]*"\s*;\Z', re.A)
_PART = re.compile(r"\s*((?:[^,{}()\[\]]|\{[^{}]*\}|\([^()]*\)|\[(?:[^\[\]{}]|\{[^{}]*\})*\])*?)\s*(?:,|\Z)", re.S)
_LABEL = re.compile(r"[ \t]*([A-Za-z_$%][\w$]*)[ \t]*:[ \t]*\Z", re.A)
_LOC = re.compile(
    r"[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*"
    r"(?:,[ \t]*function_name[ \t]+[\w$%]+(?:[ \t]*\+[ \t]*\d+)?[ \t]*,[ \t]*inlined_at[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]*)?\Z",
    re.A,
)

Key = tuple[str, tuple[str, ...]]
# What statements look like, for the whole process: (opcode, operand kinds) -> shape. Those in _FIXES need work
# on every statement and are in neither of the fast path's dictionaries.
_SHAPES: dict[Key, Shape] = {}
_FIXES: dict[Key, tuple[Shape, Fix]] = {}
_SKELETONS: set[tuple[str, ...]] = set()  # layouts of operands that went through the grammar


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


class BodyParser:
    """Parses one function's body; `run` gives its Scope or raises PtxError."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module, self.function, self.text = module, function, function.text
        self.first_line = function.body_line
        self.names = Names(module)
        self.scope = Scope([])
        self.outer: list[tuple[Names, Scope]] = []
        self.done = False
        self.starts: list[int] = []

    def run(self) -> Scope:
        for var in (*self.function.proto.results, *self.function.proto.params):
            if var.name != "_":
                self._guarded(self.names.declare, var)
        top = self.scope
        text = self.text if self.text.endswith("\n") else self.text + "\n"
        lines = enumerate(_LINES.findall(text), self.first_line)
        # The opening brace and what stands on its line.
        self._advance(lines, next(lines)[0], text.index("{") + 1, text)
        self._read_lines(lines, text)
        if not self.done:
            self._fail("the function's body is not closed: expected '}'", len(self.text.rstrip()))
        self._resolve_pending()
        return top

    def _read_lines(self, lines: Iterator[tuple[int, tuple[str, ...]]], text: str) -> None:
        """The fast path. Names of the innermost scope are kept in locals until the scope changes."""
        shapes = _SHAPES
        names, items = self.names, self.scope.items
        operand, kind, append = names.__getitem__, names.kinds.__getitem__, items.append
        guards: dict[str, Guard] = {}
        locs: dict[str, Loc] = {}
        line = self.first_line
        try:
            for line, (guard, opcode, simple, rest, other) in lines:
                if opcode:
                    if rest:
                        parts = split_operands(simple + rest)
                    elif simple:
                        parts = simple.replace(", ", ",").split(",")
                    else:
                        parts = []
                    operands = tuple(map(operand, parts))
                    kinds = tuple(map(kind, parts))
                    shape = shapes.get((opcode, kinds))
                    if shape is None:
                        if (opcode, kinds) not in _FIXES:
                            start = self._start(line)
                            self._check_layout(text[start : text.index("\n", start)], opcode, parts, start)
                        shape, operands = self._shape(opcode, operands, kinds)
                    if guard:
                        if guard not in guards:
                            guards[guard] = self._guard(guard)
                        append(Inst(shape, operands, guards[guard], line))
                    else:
                        append(Inst(shape, operands, None, line))
                elif other and not other.isspace():
                    loc = locs.get(other)
                    if loc is not None or (loc := self._plain_loc(other, locs)) is not None:
                        append(loc)
                        continue
                    label = _LABEL.match(other)
                    if label:
                        names.declare_label(label[1])
                        append(Label(label[1], line))
                        continue
                    self._advance(lines, line, self._start(line), text)
                    if self.done:
                        return
                    if self.names is not names:
                        names, items = self.names, self.scope.items
                        operand, kind, append = names.__getitem__, names.kinds.__getitem__, items.append
                        guards = {}
        except BadOperand as error:
            self._point(error.message, error.text, self._start(line))
        except MatchError as error:
            self._point_match(error, self._start(line))

    def _plain_loc(self, text: str, locs: dict[str, Loc]) -> Loc | None:
        """`.loc file line column` without more, remembered."""
        found = _LOC.match(text)
        if found is None:
            return None
        locs[text] = loc = Loc(int(found[1]), int(found[2]), int(found[3]))
        return loc

    # --- statements ---

    def _shape(self, opcode: str, operands: tuple, kinds: tuple[str, ...]) -> tuple[Shape, tuple[Operand, ...]]:
        """Shape and final operands of a statement whose shape is not in the fast dictionary."""
        key = (opcode, kinds)
        known = _FIXES.get(key)
        if known is None:
            shape, fix = resolve(opcode, operands, kinds)
            pairs = any(isinstance(operand, Pair) for operand in operands)
            if not pairs and not fix.constants and shape.form.mnemonic != "call":
                _SHAPES[key] = shape
                return shape, operands
            known = _FIXES[key] = shape, fix
        shape, fix = known
        operands = flatten(operands)
        for index, ptype in fix.constants:
            value = constants_of(operands[index], ptype)
            operands = (*operands[:index], value, *operands[index + 1 :])
        if shape.form.mnemonic == "call":
            self._check_call(shape, operands)
        return shape, operands

    def _check_call(self, shape: Shape, operands: tuple[Operand, ...]) -> None:
        """Results and arguments of a direct call against the callee's signature."""
        at = dict(zip(shape.names, operands, strict=True))
        callee = at["f"]
        if not isinstance(callee, Sym) or self.names.kind_of(callee.name) != "&func":
            return
        function = self.module.functions[self.module.aliases.get(callee.name, callee.name)]
        for name, wanted, what in (("d", function.proto.results, "result"), ("a", function.proto.params, "argument")):
            given = at.get(name, Vec(()))
            assert isinstance(given, Vec)
            if len(given.items) != len(wanted):
                count = f"{len(wanted)} {what}{'' if len(wanted) == 1 else 's'}"
                raise BadOperand(f"'{callee.name}' has {count}, the call has {len(given.items)}", callee.name)

    def _guard(self, text: str) -> Guard:
        negated = "!" in text
        name = text.strip("@! \t\n")
        if self.names.kind_of(name) != "pred":
            known = self.names.kind_of(name) is not None
            raise BadOperand(f"'{name}' is not {'a predicate' if known else 'declared'}", name)
        return Guard(name, negated)

    def _statement(self, opcode: str, guard: str | None, parts: list[str], line: int) -> None:
        operands = tuple(map(self.names.__getitem__, parts))
        kinds = tuple(map(self.names.kinds.__getitem__, parts))
        found = _SHAPES.get((opcode, kinds))
        if found is None:
            found, operands = self._shape(opcode, operands, kinds)
        self.scope.items.append(Inst(found, operands, self._guard(guard) if guard else None, line))

    def _parsed(self, statement: Statement) -> None:
        """A statement that came out of the grammar."""
        bound = [self.names.bind(raw) for raw in statement.operands]
        shape, operands = self._shape(statement.opcode, tuple(o for o, _ in bound), tuple(k for _, k in bound))
        guard = None
        if statement.guard:
            guard = self._guard(("@!" if statement.guard[1] else "@") + statement.guard[0])
        self.scope.items.append(Inst(shape, operands, guard, statement.line))

    # --- everything else ---

    def _advance(self, lines: Iterator[tuple[int, Any]], line: int, at: int, text: str) -> None:
        """Read items from offset `at` in line `line` until one ends where its line ends; move `lines` there."""
        end = at
        while not self.done:
            stop = text.find("\n", end)
            if not text[end:stop].strip():
                break
            found = _ITEM.match(text, end)
            assert found is not None
            begin = end + len(found[0]) - len(found[0].lstrip())
            try:
                self._item(found, begin, self._line_of(begin, line, at))
            except BadOperand as error:
                self._point(error.message, error.text, begin)
            except MatchError as error:
                self._point_match(error, begin)
            end = found.end()
        for _ in range(text.count("\n", at, end)):
            next(lines, None)

    def _line_of(self, begin: int, line: int, at: int) -> int:
        return line + self.text.count("\n", at, begin)

    def _item(self, found: re.Match[str], begin: int, line: int) -> None:
        kind = found.lastgroup
        items = self.scope.items
        if found["brace"] == "{":
            self.outer.append((self.names, self.scope))
            inner = Scope([])
            items.append(inner)
            self.names, self.scope = Names(self.module, self.names), inner
        elif found["brace"] == "}":
            self._close()
        elif found["label"] and found["labelled"]:
            self._labelled(found, begin, line)
        elif found["label"]:
            self.names.declare_label(found["label"])
            items.append(Label(found["label"], line))
        elif found["loc"]:
            items.append(build(found["loc"], "item", self.module.source, *self._place(begin)))
        elif (found["pragma"] and not _PRAGMA.match(found["pragma"])) or found["file"]:
            build(found[0].strip(), "item", self.module.source, *self._place(begin))
        elif found["pragma"]:
            pass  # advice to the optimiser: nothing that we use
        elif found["directive"]:
            for var in declarations(found["directive"], self.module.source, *self._place(begin)):
                self._check_local(var)
                self.names.declare(var)
                items.append(var)
        elif found["statement"]:
            parts = split_operands(found["operands"] or "")
            self._check_layout(found["statement"], found["opcode"], parts, begin)
            self._statement(found["opcode"], found["guard"], parts, line)
        else:
            del kind
            rest = self.text[begin:].split(";")[0] + ";"
            piece = build(rest, "item", self.module.source, *self._place(begin))
            if not isinstance(piece, Statement):
                self._fail("expected an instruction", begin)
            self._parsed(piece)

    def _check_layout(self, statement: str, opcode: str, parts: list[str], begin: int) -> None:
        """Send a statement whose layout of operands is new through the grammar."""
        layout = (
            "call" if opcode.split(".")[0] == "call" else "",
            *(re.sub(r"[\w$%.]+", "x", p) for p in parts),
        )
        if layout not in _SKELETONS:
            grammar.parse(statement, "item", self.module.source, *self._place(begin))
            _SKELETONS.add(layout)

    def _labelled(self, found: re.Match[str], begin: int, line: int) -> None:
        text = found[0].strip()
        piece = build(text, "item", self.module.source, *self._place(begin))
        self.scope.items.append(piece)
        if isinstance(piece, Proto):
            self.names.declare_symbol(piece.name, "&proto")
        elif isinstance(piece, BranchTargets):
            self.names.declare_symbol(piece.name, "&targets")
            if ".branchtargets" in text:
                for target in piece.targets:
                    if self.names.kind_of(target) is None:
                        self.names.pending.add(target)

    def _check_local(self, var: Var) -> None:
        if var.linkage == "extern" and var.space != "shared":
            return
        if var.count == 0 and not var.linkage and var.space != "param":
            raise BadOperand(f"'{var.name}' has no size", var.name)

    def _close(self) -> None:
        names, pending = self.names, self.names.pending
        unresolved = {name for name in pending if name not in names.labels}
        if not self.outer:
            self.done = True
            names.pending = unresolved
            return
        self.names, self.scope = self.outer.pop()
        for name in unresolved:
            if self.names.kind_of(name) is None:
                self.names.pending.add(name)

    def _resolve_pending(self) -> None:
        for name in sorted(self.names.pending):
            found = re.search(rf"(?<![\w$%]){re.escape(name)}(?![\w$])", self.text, re.A)
            self._fail(f"'{name}' is not declared", found.start() if found else 0)

    # --- places ---

    def _start(self, line: int) -> int:
        """Offset of a line of the file in the body's text."""
        if not self.starts:
            self.starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return self.starts[line - self.first_line]

    def _place(self, offset: int) -> tuple[int, int]:
        return grammar.place(self.text, offset, self.first_line, self.function.body_column)

    def _fail(self, message: str, offset: int) -> None:
        raise PtxError(message, self.module.source, *self._place(offset))

    def _point(self, message: str, text: str, begin: int) -> None:
        """Raise an error at the first whole occurrence of `text` from `begin` on."""
        end = self.text.find(";", begin) + 1
        try:
            grammar.parse(self.text[begin:end], "item", self.module.source, *self._place(begin))
        except PtxError as error:
            if error.line and not message.endswith("declared"):
                raise
        found = re.compile(rf"(?<![\w$%]){re.escape(text)}(?![\w$])", re.A).search(self.text, begin) if text else None
        self._fail(message, found.start() if found else begin + self._indent(begin))

    def _indent(self, begin: int) -> int:
        return len(self.text[begin:]) - len(self.text[begin:].lstrip())

    def _point_match(self, error: MatchError, begin: int) -> None:
        begin += self._indent(begin)
        statement = _ITEM.match(self.text, begin)
        if statement is None or not statement["statement"]:
            self._fail(error.message, begin)
            return
        at = statement.start("opcode")
        if error.operand >= 0:
            parts = split_operands(statement["operands"] or "")
            at = statement.start("operands")
            for part in parts[: error.operand + 1]:
                found = self.text.index(part, at)
                at = found + len(part)
            at -= len(parts[error.operand])
        self._fail(error.message, at)

    def _guarded(self, declare: Any, var: Var) -> None:
        try:
            declare(var)
        except BadOperand as error:
            raise PtxError(error.message, self.module.source, var.line, 1) from None


def constants_of(operand: Operand, ptype: str) -> Operand:
    """A constant, or the constants in a list, as an operand of a type."""
    if isinstance(operand, Vec):
        return Vec(tuple(constants_of(item, ptype) for item in operand.items))
    return constants.as_type(operand, ptype) if hasattr(operand, "bits") else operand
