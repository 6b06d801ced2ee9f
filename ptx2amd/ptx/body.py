"""Function bodies: one regular expression reads all lines at once; lines that hold one whole instruction are
made from dictionaries (operand text -> operand, opcode and operand kinds -> shape); new statements and unusual
layouts are parsed by the grammar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from operator import length_hint
from typing import Any

from ptx2amd.errors import PtxError
from ptx2amd.isa.effects import CALLS
from ptx2amd.isa.match import MatchError
from ptx2amd.ptx import constants, plain, statics
from ptx2amd.ptx.ast import (
    Addr,
    BranchTargets,
    Function,
    Guard,
    Imm,
    Indexed,
    Inst,
    Label,
    Loc,
    Module,
    Operand,
    Pair,
    Proto,
    Scope,
    Shape,
    Sum,
    Sym,
    Var,
    Vec,
    flatten,
    whole,
)
from ptx2amd.ptx.by_grammar import build
from ptx2amd.ptx.calls import checked
from ptx2amd.ptx.check import Fix, flat_kinds, resolve
from ptx2amd.ptx.declare import alignment_problem, declarations
from ptx2amd.ptx.fragment import Statement
from ptx2amd.ptx.items import ITEMS, LOC, PRAGMA, STATEMENT, Newlines, split_operands
from ptx2amd.ptx.misplaced import Places
from ptx2amd.ptx.scope import BadOperand, Names, Unclosed

Key = tuple[str, tuple[str, ...]]
# What statements look like, for the whole process: (opcode, operand kinds) -> shape. Those in _FIXES need work
# on every statement and are in neither of the fast path's dictionaries.
_SHAPES: dict[Key, Shape] = {}
_FIXES: dict[Key, tuple[Shape, Fix]] = {}
_LAYOUTS: set[tuple[str, ...]] = set()  # layouts of operands that went through the grammar
DEEPEST = 200  # scopes in each other
_SPACES = (".reg", ".param", ".local", ".shared", ".global", ".const")


class BodyParser:
    """Parses one function's body: `run` gives its Scope or raises PtxError, `errors` gives all that is wrong."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module, self.function, self.text = module, function, function.text
        self.names = Names(module)
        self.scope = Scope([])
        self.outer: list[tuple[Names, Scope]] = []
        self.places = Places(function, module.source)
        self.line = 0  # of the item in hand
        self.statics = 0  # how many static variables came
        self.shared: Counter[str] = Counter()  # shared variables, by name

    def run(self) -> Scope:
        top = self.scope
        for error in self.errors():
            raise error
        return top

    def errors(self) -> Iterator[PtxError]:
        """What is wrong with the body, in order; after each error parsing goes on with the next item."""
        for var in (*whole(self.function.proto.results), *whole(self.function.proto.params)):
            try:
                if var.name != "_":
                    self.names.declare(var)
            except BadOperand as error:
                yield PtxError(error.message, self.module.source, var.line, 1)
        found = iter(ITEMS.findall(self.text, 1))  # behind the opening brace
        self.line = self.function.body_line
        closed: bool | None = None
        while closed is None:
            try:
                closed = self._read(found)
            except (BadOperand, MatchError, PtxError) as error:
                yield self.places.placed(error, length_hint(found))
        if not closed:
            yield self.places.error("found the end, expected '}'", len(self.text.rstrip()))
        yield from self._not_declared()

    def _read(self, found: Iterator[tuple[str, ...]]) -> bool:
        """Parse the remaining items, in order; whether the closing brace was the last. The names of the innermost scope
        are kept in locals until the scope changes."""
        shapes, lines_in, locs = _SHAPES, Newlines(), dict[str, Loc]()
        names, items = self.names, self.scope.items
        operand, kind, append = names.__getitem__, names.kinds.__getitem__, items.append
        guards: dict[str, Guard] = {}
        line = self.line
        try:
            for space, guard, opcode, simple, rest, other in found:
                line += lines_in[space]
                if opcode:
                    if rest:
                        if "(" in rest and opcode[:4] != "call":
                            self.line = line
                            guarded = f"{guard} " if guard else ""
                            self._parsed(build(f"{guarded}{opcode} {simple}{rest};", "item", line=line))
                            continue
                        parts = split_operands(simple + rest)
                    elif simple:
                        parts = simple.replace(", ", ",").split(",")
                    else:
                        parts = []
                    try:
                        operands = tuple(map(operand, parts))
                    except Unclosed:
                        parts = split_operands(simple + rest)
                        operands = tuple(map(operand, parts))
                    kinds = tuple(map(kind, parts))
                    shape = shapes.get((opcode, kinds))
                    if shape is None:
                        self.line = line
                        self._check_layout(opcode, kinds, parts)
                        shape, operands = self._shape(opcode, operands, kinds)
                    if guard:
                        if guard not in guards:
                            guards[guard] = self._guard(guard)
                        append(Inst(shape, operands, guards[guard], line))
                    else:
                        append(Inst(shape, operands, None, line))
                elif other == "{":
                    if len(self.outer) >= DEEPEST:
                        raise BadOperand(f"scopes are nested more than {DEEPEST} deep", "{")
                    inner = Scope([])
                    append(inner)
                    self.outer.append((names, self.scope))
                    names = Names(self.module, names)
                    self.names, self.scope = names, inner
                    items, guards = inner.items, {}
                    operand, kind, append = names.__getitem__, names.kinds.__getitem__, items.append
                elif other == "}":
                    if not self.outer:
                        if next(found, None) is not None:
                            raise BadOperand("expected the end of the function", "}")
                        return True
                    self._close()
                    names, items, guards = self.names, self.scope.items, {}
                    operand, kind, append = names.__getitem__, names.kinds.__getitem__, items.append
                elif other[-1:] == ":":
                    name = other[:-1].rstrip()
                    names.declare_label(name)
                    append(Label(name, line))
                elif other in locs:
                    append(locs[other])
                elif other:
                    loc = self._plain_loc(other, locs)
                    if loc is not None:
                        append(loc)
                        continue
                    self.line = line
                    self._item(other)
                    line += other.count("\n")
        except (BadOperand, MatchError, PtxError):
            self.line = line
            raise
        return False

    def _plain_loc(self, text: str, locs: dict[str, Loc]) -> Loc | None:
        """`.loc file line column`, perhaps inlined, remembered."""
        found = LOC.match(text)
        if found is None:
            return None
        locs[text] = loc = self._loc(Loc(int(found[1]), int(found[2]), int(found[3])))
        return loc

    def _loc(self, loc: Loc) -> Loc:
        """With the index that its file has in the linked module."""
        return loc._replace(file=self.function.files.get(loc.file, loc.file))

    # --- statements ---

    def _shape(
        self, opcode: str, operands: tuple[Any, ...], kinds: tuple[str, ...]
    ) -> tuple[Shape, tuple[Operand, ...]]:
        """Shape and final operands of a statement whose shape is not in the fast dictionary."""
        key = (opcode, kinds)
        known = _FIXES.get(key)
        if known is None:
            if any(kind.endswith(("[%]", "+")) for kind in kinds):
                return self._shape(opcode, *self._computed(opcode, operands, kinds))
            if any(kind.endswith("[]") for kind in kinds):
                return self._shape(opcode, *_elements(opcode, operands, kinds))
            shape, fix = resolve(opcode, operands, kinds)
            pairs = any(isinstance(operand, Pair) for operand in operands)
            if not pairs and not fix.constants and not shape.form.does & CALLS:
                _SHAPES[key] = shape
                return shape, operands
            known = _FIXES[key] = shape, fix
        shape, fix = known
        operands = flatten(operands)
        for index, ptype in fix.constants:
            value = constants_of(operands[index], ptype)
            operands = (*operands[:index], value, *operands[index + 1 :])
        if shape.form.does & CALLS:
            operands = checked(self.module, self.names, shape, operands, tuple(kind for _, kind in flat_kinds(kinds)))
        return shape, operands

    def _computed(
        self, opcode: str, operands: tuple[Operand, ...], kinds: tuple[str, ...]
    ) -> tuple[tuple[Operand, ...], tuple[str, ...]]:
        """Operands that inserted statements compute in a new register: elements of arrays with the index in a
        register, `a[r + 1]`, and sums, `r + 1`."""
        found: list[tuple[Operand, str]] = []
        for at, (operand, kind) in enumerate(zip(operands, kinds, strict=True)):
            if isinstance(operand, Indexed):
                address = self._element(operand)
                text = f"[{address}]" if opcode.split(".")[0] in ("ld", "ldu", "st") else address
            elif not isinstance(operand, Sum):
                found.append((operand, kind))
                continue
            elif at == 0:
                raise BadOperand("a sum is no destination", operand.register)
            else:
                text = self._new_register(kind[:-1])
                ptype = kind[:-1].replace("b", "u")
                self._put(
                    f"add.{ptype}", text, operand.register, str(constants.wrap(operand.number, int(ptype[1:]), False))
                )
            found.append((self.names[text], self.names.kinds[text]))
        return tuple(operand for operand, _ in found), tuple(kind for _, kind in found)

    def _element(self, operand: Indexed) -> str:
        """A register with the element's address. Numbers have 32 bits, as has their product with the element's size (as
        in ptxas)."""
        number, address = self._new_register("u32"), self._new_register("b64")
        size, given = self.names.element_size(operand.name), self.names.kind_of(operand.register) or ""
        narrow = f"mov.{given}" if given[1:] == "32" else f"cvt.u32.{given.replace('b', 'u')}"
        self._put(narrow, number, operand.register)
        self._put("mad.lo.u32", number, number, str(size), str(operand.number * size))
        self._put("cvt.u64.u32", address, number)
        base = self._new_register("b64")
        self._put("mov.u64", base, operand.name)
        self._put("add.u64", address, address, base)
        return address

    def _new_register(self, ptype: str) -> str:
        name = next(n for i in count() if self.names.kind_of(n := f"%index{i}") is None)
        var = Var(name=name, space="reg", type=ptype, line=self.line)
        self.names.declare(var)
        self.scope.items.append(var)
        return name

    def _put(self, opcode: str, *texts: str) -> None:
        """Insert a statement that is not in the source."""
        operands = tuple(map(self.names.__getitem__, texts))
        shape, operands = self._shape(opcode, operands, tuple(map(self.names.kinds.__getitem__, texts)))
        self.scope.items.append(Inst(shape, operands, None, self.line))

    def _guard(self, text: str) -> Guard:
        negated = "!" in text
        name = text.strip("@! \t\n")
        if self.names.kind_of(name) != "pred":
            known = self.names.kind_of(name) is not None
            raise BadOperand(f"'{name}' is not {'a predicate' if known else 'declared'}", name)
        return Guard(name, negated)

    def _parsed(self, statement: Statement) -> None:
        """Add a statement that the grammar has parsed."""
        bound = [self.names.bind(raw) for raw in statement.operands]
        shape, operands = self._shape(statement.opcode, tuple(o for o, _ in bound), tuple(k for _, k in bound))
        guard = None
        if statement.guard:
            guard = self._guard(("@!" if statement.guard[1] else "@") + statement.guard[0])
        self.scope.items.append(Inst(shape, operands, guard, self.line))

    def _check_layout(self, opcode: str, kinds: tuple[str, ...], parts: list[str], text: str = "") -> None:
        """Check a new layout of operands with the grammar. The statement's text may be rebuilt: only the layout
        counts."""
        if (opcode, kinds) in _FIXES:
            return
        call = opcode.split(".")[0] == "call"
        layout = ("call" if call else "", *(re.sub(r"[\w$%.]+", "x", part.strip()) for part in parts))
        if layout not in _LAYOUTS:
            if not plain.layout(call, layout[1:]):
                from ptx2amd.ptx import grammar

                grammar.parse(text or f"{opcode} {', '.join(parts)};", "item", self.module.source, self.line)
            _LAYOUTS.add(layout)

    # --- everything else ---

    def _item(self, text: str) -> None:
        """A directive, or a statement with an unusual layout."""
        statement = STATEMENT.match(text)
        if statement and not ("(" in text and statement["opcode"][:4] != "call"):
            opcode, parts = statement["opcode"], split_operands(statement["operands"] or "")
            operands = tuple(map(self.names.__getitem__, parts))
            kinds = tuple(map(self.names.kinds.__getitem__, parts))
            shape = _SHAPES.get((opcode, kinds))
            if shape is None:
                self._check_layout(opcode, kinds, parts, text)
                shape, operands = self._shape(opcode, operands, kinds)
            guard = self._guard(statement["guard"]) if statement["guard"] else None
            self.scope.items.append(Inst(shape, operands, guard, self.line))
        elif text.startswith(_SPACES):
            for var in declarations(text, self.module.source, self.line, 1):
                if var.space in statics.SPACES:
                    self._static(var)
                    continue
                self._check_local(var)
                new = self._new_name(var)
                self.names.declare(var, new)
                var.name = new
                self.scope.items.append(var)
        elif not PRAGMA.match(text):
            piece = build(text, "item", self.module.source, self.line)
            if isinstance(piece, Statement):
                self._parsed(piece)
            elif isinstance(piece, Proto):
                self.names.declare_symbol(piece.name, "&proto", piece)
                self.scope.items.append(piece)
            elif isinstance(piece, BranchTargets):
                self._targets(piece, text)
            elif isinstance(piece, Loc):
                self.scope.items.append(self._loc(piece))
            elif isinstance(piece, list):
                raise BadOperand("a variable needs a state space", text)

    def _new_name(self, var: Var) -> str:
        """Shared variables of one name in several scopes are several variables."""
        if var.space != "shared" or var.linkage == "extern":
            return var.name
        self.shared[var.name] += 1
        return var.name if self.shared[var.name] == 1 else f"{var.name}.{self.shared[var.name]}"

    def _static(self, var: Var) -> None:
        """A static variable, which belongs to the module."""
        if problem := statics.problem(var):
            raise BadOperand(f"'{var.name}' {problem}", var.name)
        known = self.function.statics[self.statics :]  # none behind a declaration that was wrong
        self.names.declare(var, known[0].name if known else "")
        self.statics += 1

    def _targets(self, piece: BranchTargets, text: str) -> None:
        self.scope.items.append(piece)
        branches = ".branchtargets" in text
        self.names.declare_symbol(piece.name, "&targets", None if branches else piece)
        if branches:
            self.names.pending.update(t for t in piece.targets if self.names.kind_of(t) is None)

    def _check_local(self, var: Var) -> None:
        if var.linkage == "extern" and var.space != "shared":
            return
        if var.count == 0 and not var.linkage and var.space != "param":
            raise BadOperand(f"'{var.name}' has no size", var.name)
        if problem := alignment_problem(var):
            raise BadOperand(f"'{var.name}' {problem}", var.name)

    def _close(self) -> None:
        names = self.names
        self.names, self.scope = self.outer.pop()
        for name in names.pending - names.labels:
            if self.names.kind_of(name) is None:
                self.names.pending.add(name)

    def _not_declared(self) -> Iterator[PtxError]:
        for name in sorted(self.names.pending - self.names.labels):
            found = re.search(rf"(?<![\w$%]){re.escape(name)}(?![\w$])(?!\s*:)", self.text, re.A)
            yield self.places.error(f"'{name}' is not declared", found.start() if found else 0)


def _elements(
    opcode: str, operands: tuple[Operand, ...], kinds: tuple[str, ...]
) -> tuple[tuple[Operand, ...], tuple[str, ...]]:
    """Elements of arrays, `a[3]`, as addresses: what loads and stores access, a symbol to other instructions."""
    access = opcode.split(".")[0] in ("ld", "ldu", "st")
    pairs = []
    for operand, kind in zip(operands, kinds, strict=True):
        if kind.endswith("[]"):
            assert isinstance(operand, Sym)
            kind = kind[:-2]
            if access:
                operand, kind = Addr(Sym(operand.name), operand.offset), f"[{kind}]"
        pairs.append((operand, kind))
    return tuple(operand for operand, _ in pairs), tuple(kind for _, kind in pairs)


def constants_of(operand: Operand, ptype: str) -> Operand:
    """A constant, or the constants in a list, as an operand of a type."""
    if isinstance(operand, Vec):
        return Vec(tuple(constants_of(item, ptype) for item in operand.items))
    return constants.as_type(operand, ptype) if isinstance(operand, Imm) else operand
