"""Names of a body: operand text -> interned operand, by the declarations of the scope it stands in.

A Names is a dict from operand text to Operand with a twin `kinds` from the same text to the operand's kind,
so that a statement whose operands were seen before costs dict lookups only. Kinds (what the check judges by):
    "b32" "pred"       a register of that type
    "%32" "%pred"      a special register (ptx/special.py)
    "_"                the discarded destination
    "!pred" "-b32"     with a sign in front
    "#i8" "#i16" "#i32" "#i64" "#f32" "#f64"    a constant; integers by the width that holds them
    "&global" "&func" "&label" ...              a symbol; "&?" one not declared so far (a label, later)
    "&global[]"                                 an element of an array: its address, or in loads and stores itself
    "&global[%]"                                an element whose number is in a register (an Indexed)
    "u64+"                                      an integer register plus a constant (a Sum)
    "[b64]" "[&param]" "[#i32]"                 an address; "[&tex,...]" with further items
    "{b32,b32}" "b32|pred"                      a list (or a whole vector register), a pair
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ptx2amd.errors import Ptx2amdError, PtxError
from ptx2amd.ptx import plain
from ptx2amd.ptx.ast import Addr, BranchTargets, Imm, Indexed, Module, Operand, Pair, Proto, Reg, Sum, Sym, Var, Vec
from ptx2amd.ptx.by_grammar import build
from ptx2amd.ptx.constants import WARP_SIZE, literal
from ptx2amd.ptx.fragment import Element, Items, Memory, Name, Offset, Two
from ptx2amd.ptx.special import SPECIAL
from ptx2amd.ptx.variables import width
from ptx2amd.regex import regex


class BadOperand(Ptx2amdError):
    """A name that is not declared, or an invalid operand; `text` is the text to point at."""

    def __init__(self, message: str, text: str) -> None:
        self.message, self.text = message, text
        super().__init__(message)


class Unclosed(BadOperand):
    """An address of which a comma inside its brackets has cut off the rest."""


# Registers that may index arrays, and have constants added.
INDEX = tuple(f"{letter}{bits}" for letter in "bus" for bits in (16, 32, 64))

_NAME = regex(r"[A-Za-z_$%][\w$]*(?:\.\w+)?\Z", re.A)
_ADDRESS = regex(r"\[[ \t]*([A-Za-z_$%][\w$]*)[ \t]*(?:\+[ \t]*(-?(?:0|[1-9]\d*)))?[ \t]*\]\Z", re.A)
_LIST = regex(r"[{(]([^{}()\[\]|]*)[})]\Z")
_WORD = regex(r"[A-Za-z_$%][\w$]*", re.A)
_NUMBERED = regex(r"(.*?)(\d+)\Z")
_BULK = 1 << 16  # larger register ranges are entered one by one, on use


@lru_cache(maxsize=256)
def _grown(prefix: str) -> tuple[list[str], list[Reg]]:
    return [], []


def _numbered(prefix: str, count: int) -> tuple[list[str], list[Reg]]:
    """The names and registers `prefix0` to `prefix<count - 1>`, shared by all functions that have them."""
    names, registers = _grown(prefix)
    if len(names) < count:
        names += [f"{prefix}{n}" for n in range(len(names), count)]
        registers += [Reg(name) for name in names[len(registers) :]]
    return names[:count], registers[:count]


class Names(dict[str, Operand]):
    """The names of one scope. Looking up an operand text that is not there parses and interns it."""

    def __init__(self, module: Module, parent: Names | None = None) -> None:
        super().__init__()
        self.module, self.parent = module, parent
        self.kinds: dict[str, str] = {}
        self.registers: dict[str, str] = {}  # name -> kind
        self.ranges: dict[str, tuple[int, str]] = {}  # `%r<9>`: prefix -> (count, kind)
        self.prefixes: tuple[str, ...] = ()  # of the ranges
        self.symbols: dict[str, str] = {}  # name -> kind
        self.variables: dict[str, Var] = {}
        self.meant: dict[str, str] = {}  # variables that have other names for the rest of the translator
        self.signatures: dict[str, Proto | BranchTargets] = {}
        self.labels: set[str] = set()
        self.pending: set[str] = set()  # names used before any declaration

    def __missing__(self, text: str) -> Operand:
        if self.parent is not None and not self._concerns(text):
            operand, kind = self.parent[text], self.parent.kinds[text]
        else:
            operand, kind = self._read(text)
        self[text], self.kinds[text] = operand, kind
        return operand

    def _concerns(self, text: str) -> bool:
        """Whether the text holds a name that this scope declares, or may still declare."""
        assert self.parent is not None
        if text in self.parent.kinds and "&?" not in self.parent.kinds[text]:  # known there: only shadowed?
            return self._shadows and any(self._own(word) for word in _WORD.findall(text))
        return any(self._own(word) or self.kind_of(word) is None for word in _WORD.findall(text))

    @property
    def _shadows(self) -> bool:
        return bool(self.registers or self.ranges or self.symbols)

    # --- declarations ---

    def declare(self, var: Var, meant: str = "") -> None:
        """Enter a register, a register range or a variable (meant: its name for the rest of the translator). Raises
        BadOperand when the name is taken."""
        kind = f"&{var.space}" if var.space != "reg" else var.type + (f"*{var.vec}" if var.vec > 1 else "")
        if var.type in ("texref", "surfref", "samplerref") and var.space != "reg":
            kind = "&tex"
        if var.name == "WARP_SZ":
            raise BadOperand("'WARP_SZ' is a constant and cannot be declared", var.name)
        if var.name in ("_", "$", "%"):
            raise BadOperand(f"'{var.name}' is no name that can be declared", var.name)
        if var.space == "reg" and var.type in ("texref", "surfref", "samplerref"):
            raise BadOperand(f"'{var.name}': a texture, surface or sampler cannot be a register", var.name)
        if var.space == "reg" and var.count != -1:
            raise BadOperand(f"'{var.name}': registers have no arrays", var.name)
        if self._clash(var):
            raise BadOperand(f"'{var.name}' is declared twice in this scope", var.name)
        if var.space != "reg":
            self.symbols[var.name] = kind
            self.variables[var.name] = var
            if meant:
                self.meant[var.name] = meant
        elif var.regs:
            self.ranges[var.name] = (var.regs, kind)
            self.prefixes = tuple(self.ranges)
            if var.regs <= _BULK and self.parent is None and var.vec == 1:
                names, registers = _numbered(var.name, var.regs)
                self.update(zip(names, registers, strict=True))
                self.kinds.update(dict.fromkeys(names, kind))
        else:
            self.registers[var.name] = kind
        if self and (self.parent is not None or var.name in self.module.variables or var.name in self.module.functions):
            # operands read before mean something else from here on
            self.clear()
            self.kinds.clear()

    def _clash(self, var: Var) -> bool:
        if var.regs:
            taken = (*self.registers, *self.symbols)
            numbered = (_NUMBERED.match(name) for name in taken if name.startswith(var.name))
            return any(m and m[1] == var.name and int(m[2]) < var.regs for m in numbered) or var.name in self.ranges
        return self._own(var.name) is not None

    def declare_label(self, name: str) -> None:
        if self._own(name) is not None:
            raise BadOperand(f"label '{name}' is declared twice in this scope", name)
        self.symbols[name] = "&label"
        self.labels.add(name)

    def declare_symbol(self, name: str, kind: str, signature: Proto | BranchTargets | None = None) -> None:
        """Enter a label's like; `signature`: what calls through it look like."""
        if self._own(name) is not None:
            raise BadOperand(f"'{name}' is declared twice in this scope", name)
        self.symbols[name] = kind
        if signature is not None:
            self.signatures[name] = signature

    def signature(self, name: str) -> Proto | BranchTargets | None:
        """The .callprototype or .calltargets list of a name."""
        scope: Names | None = self
        while scope is not None:
            if name in scope.signatures:
                return scope.signatures[name]
            scope = scope.parent
        return None

    def _own(self, name: str) -> str | None:
        found = self.registers.get(name) or self.symbols.get(name)
        if found is None and name.startswith(self.prefixes):
            for prefix, (count, kind) in self.ranges.items():
                if name.startswith(prefix) and name[len(prefix) :].isdecimal() and int(name[len(prefix) :]) < count:
                    return kind
        return found

    def kind_of(self, name: str) -> str | None:
        """The kind of a plain name, from the innermost scope that knows it; None when none does."""
        scope: Names | None = self
        while scope is not None:
            kind = scope._own(name)
            if kind is not None:
                return kind
            scope = scope.parent
        var = self.module.variables.get(name)
        if var is not None:
            return "&tex" if var.type in ("texref", "surfref", "samplerref") else f"&{var.space}"
        function = self.module.functions.get(name)
        if function is not None:
            return f"&{function.kind}"
        if name in self.module.aliases:
            return "&func"
        return SPECIAL.get(name)

    def _meant(self, name: str) -> str:
        """The name of a symbol for the rest of the translator."""
        scope: Names | None = self
        while scope is not None and scope._own(name) is None:
            scope = scope.parent
        return scope.meant.get(name, name) if scope is not None else name

    def variable(self, name: str) -> Var | None:
        """The variable of a name."""
        scope: Names | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return self.module.variables.get(name)

    # --- operands ---

    def _read(self, text: str) -> tuple[Operand, str]:
        """An operand text: the usual forms by their first character, all others by the grammar."""
        first = text[:1]
        if first == "[":
            address = _ADDRESS.match(text)
            if address:
                name, offset = address.groups()
                base = self[name]
                return Addr(_base(base, name), int(offset or 0)), f"[{self.kinds[name]}]"
            if "]" not in text:
                raise Unclosed("expected ']'", text)
        elif first.isdecimal() or first == "-":
            value = literal(text)
            if value is not None:
                return value, _constant_kind(value)
        elif first in "{(":
            group = _LIST.match(text)
            if group:
                parts = [part.strip() for part in group[1].split(",")] if group[1].strip() else []
                items = tuple(map(self.__getitem__, parts))
                return Vec(items), "{" + ",".join(map(self.kinds.__getitem__, parts)) + "}"
        elif _NAME.match(text):
            return self.named(text)
        stripped = text.strip()
        if stripped != text:
            return self[stripped], self.kinds[stripped]
        if not stripped:
            raise BadOperand("an operand is missing", text)
        try:  # only calls have lists in parentheses: BodyParser sends other statements with them to the grammar
            raw = plain.operand(stripped) or build(stripped, "arguments" if first == "(" else "operand")
        except PtxError as error:  # the statement as a whole goes through the grammar then, with its place
            raise BadOperand(error.message, text) from None
        return self.bind(raw)

    def named(self, text: str) -> tuple[Operand, str]:
        """A name, perhaps with a component (`%tid.x`, `v.y`, `r.b0`)."""
        if text == "_":
            return Reg("_"), "_"
        if text == "WARP_SZ":
            return WARP_SIZE, "#i8"
        kind = self.kind_of(text)
        if kind is None and "." in text:
            base, component = text.split(".", 1)
            whole = self.kind_of(base)
            if whole is None:
                raise BadOperand(f"'{base}' is not declared", base)
            at = max("xyzw".find(component), "rgba".find(component))
            if "*" in whole and len(component) == 1 and 0 <= at < int(whole.split("*")[1]):
                text = f"{base}.{'xyzw'[at]}"
                kind = SPECIAL.get(text) or whole.split("*")[0]
            elif re.match(r"(b[0-7]{1,4}|h[0-3]{1,2})\Z", component) and whole[:1] in "bsu":
                return Reg(base, part=component), f"{whole}.{component[0]}"
            else:
                raise BadOperand(f"'{base}' has no component .{component}", text)
        if kind is None:
            if text[0] == "%":
                raise BadOperand(f"'{text}' is not declared", text)
            self.pending.add(text)
            return Sym(text), "&?"
        if kind[0] == "&":
            return Sym(self._meant(text)), kind
        if "*" in kind:  # a whole vector: `{v.x, v.y}`
            element, count = kind.split("*")
            parts = "xyzw"[: int(count)]
            return Vec(tuple(Reg(f"{text}.{c}") for c in parts)), "{" + ",".join(element for _ in parts) + "}"
        return Reg(text), kind

    def bind(self, raw: Any) -> tuple[Operand, str]:
        """A parsed operand (ptx/build.py) with its names resolved."""
        match raw:
            case Imm():
                return raw, _constant_kind(raw)
            case Name(text, ""):
                return self.named(text)
            case Name(text, "!"):
                operand, kind = self.named(text)
                if kind != "pred" or not isinstance(operand, Reg):
                    raise BadOperand(f"'!{text}': only a predicate can be negated", text)
                return Reg(text, True), "!pred"
            case Name(text, _):
                operand, kind = self.named(text)
                if kind[:1] not in "bsu" or not isinstance(operand, Reg):
                    raise BadOperand(f"'-{text}': only an integer register can be negated", text)
                return operand._replace(negated=True), f"-{kind}"
            case Offset(name, offset):
                kind = self.kind_of(name) or ""
                return (Sum(name, offset), f"{kind}+") if kind in INDEX else self._symbol(name, offset)
            case Element(name, number):
                symbol, kind = self._symbol(name, number * self.element_size(name))
                return symbol, f"{kind}[]"
            case Indexed(name, register):
                self.element_size(name)
                if self.kind_of(register) not in INDEX:
                    raise BadOperand(f"'{register}' is no integer register", register)
                return raw, f"{self._symbol(name, 0)[1]}[%]"
            case Two(first, second):
                (one, a), (two, b) = self.bind(first), self.bind(second)
                return Pair(one if isinstance(one, Vec) else _register(one), _register(two)), f"{a}|{b}"
            case Items(items):
                bound = [self.bind(item) for item in items]
                for operand, _ in bound:
                    if isinstance(operand, Sum):
                        raise BadOperand("a sum cannot be an element of a list", operand.register)
                return Vec(tuple(o for o, _ in bound)), "{" + ",".join(k for _, k in bound) + "}"
            case Memory(base, rest):
                return self._address(base, rest)
        raise BadOperand("this is no operand", str(raw))

    def element_size(self, name: str) -> int:
        """Bytes of an array's element. Raises BadOperand where the name is no array."""
        var = self.variable(name)
        if var is None or var.count == -1:
            raise BadOperand(f"'{name}' is not an array", name)
        return var.vec * width(var.type) // 8

    def _symbol(self, name: str, offset: int) -> tuple[Operand, str]:
        operand, kind = self.named(name)
        if not isinstance(operand, Sym):
            raise BadOperand(f"'{name}' is no symbol: an offset can only be added to one", name)
        return operand._replace(offset=offset), kind

    def _address(self, base: Any, rest: tuple[Any, ...]) -> tuple[Operand, str]:
        offset = 0
        if isinstance(base, Offset):
            base, offset = Name(base.name), base.offset
        operand, kind = self.bind(base)
        more = [self.bind(item) for item in rest]
        tail = "".join(f",{k}" for _, k in more)
        text = base.text if isinstance(base, Name) else ""
        return Addr(_base(operand, text), offset, tuple(o for o, _ in more)), f"[{kind}{tail}]"


def _base(operand: Operand, text: str) -> Reg | Sym | Imm:
    if isinstance(operand, Reg | Sym | Imm):
        return operand
    raise BadOperand("this is no address", text)


def _register(operand: Operand) -> Reg:
    if isinstance(operand, Reg):
        return operand
    raise BadOperand("a pair needs registers", getattr(operand, "name", "|"))


def _constant_kind(value: Imm) -> str:
    if value.kind[0] == "f":
        return "#" + value.kind
    for bits in (8, 16, 32):
        if -(1 << (bits - 1)) <= value.bits < 1 << bits:
            return f"#i{bits}"
    return "#i64"
