"""Lark trees -> AST pieces. Names stay unresolved here (Name, Offset ...); the scope resolves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Token, Transformer, Tree, v_args
from lark.exceptions import VisitError

from ptx2amd.errors import PtxError
from ptx2amd.ptx import constants, grammar
from ptx2amd.ptx.ast import BranchTargets, Imm, Indexed, InitSym, Label, Loc, Proto, Var, elements
from ptx2amd.ptx.fragment import Block, Element, Head, Items, Memory, Name, Offset, Statement, Two
from ptx2amd.ptx.variables import MOST_ALIGNED, initialise, numbered, register_count, set_dimensions

TOO_DEEP = "nested too deeply"


def built(text: str, start: str, source: str = "<ptx>", line: int = 1, column: int = 1) -> Any:
    """Parse a fragment from a start rule and give its AST piece. Lines in it count from `line`."""
    tree = grammar.parse(text, start, source, line, column)
    try:
        result = Builder(line - 1).transform(tree)
    except RecursionError:
        raise PtxError(TOO_DEEP, source, line, column) from None
    except VisitError as error:
        if isinstance(error.orig_exc, RecursionError):
            raise PtxError(TOO_DEEP, source, line, column) from None
        if isinstance(error.orig_exc, PtxError):
            inner = error.orig_exc
            raise PtxError(inner.message, source, inner.line or line, inner.column or column) from None
        if isinstance(error.orig_exc, ValueError | ZeroDivisionError | OverflowError):
            raise PtxError(str(error.orig_exc), source, line, column) from None
        raise
    return result.children[0] if isinstance(result, Tree) and result.data == start else result


@v_args(inline=True)
class Builder(Transformer[Token, Any]):
    """One method per rule of grammar/ptx.lark that yields a value."""

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line  # of the fragment's first line, less 1

    def at(self, token: Token) -> int:
        return (token.line or 1) + self.line

    # --- constants ---

    def integer(self, token: Token) -> Imm:
        return constants.integer(token)

    def hex_float(self, token: Token) -> Imm:
        return constants.hex_float(token)

    def hex_double(self, token: Token) -> Imm:
        return constants.hex_double(token)

    def decimal(self, token: Token) -> Imm:
        return constants.decimal(token)

    def warp_size(self, _: Token) -> Imm:
        return constants.WARP_SIZE

    # --- operands ---

    def name(self, name: Token, component: Token | None) -> Name:
        return Name(str(name) + (str(component) if component else ""))

    def negated(self, _: Token, name: Token) -> Name:
        return Name(str(name), "!")

    def minus(self, name: Token, component: Token | None) -> Name:
        return Name(str(name) + (str(component) if component else ""), "-")

    def pair(self, first: Name | Items, second: Name) -> Two:
        return Two(first, second)

    def offset(self, name: Token, value: Imm) -> Offset:
        return Offset(str(name), _integer(value))

    def element(self, name: Token, index: Imm) -> Element:
        return Element(str(name), _integer(index))

    def indexed(self, name: Token, register: Token, number: Imm | None) -> Indexed:
        return Indexed(str(name), str(register), _integer(number) if number else 0)

    def vec(self, *items: Any) -> Items:
        return Items(items)

    def address(self, base: Any, *rest: Any) -> Memory:
        return Memory(base, rest)

    def arguments(self, *items: Any) -> Items:
        return Items(tuple(item for item in items if item is not None))

    # --- statements ---

    def guard(self, negated: Token | None, name: Token) -> tuple[str, bool]:
        return str(name), negated is not None

    def instruction(self, guard: tuple[str, bool] | None, opcode: Token, *operands: Any) -> Statement:
        given = tuple(operand for operand in operands if operand is not None)
        return Statement(guard, "".join(opcode.split()), given, self.at(opcode))

    def call(self, guard: tuple[str, bool] | None, opcode: Token, *parts: Any) -> Statement:
        given = tuple(Name(str(p)) if isinstance(p, Token) else p for p in parts if p is not None)
        return Statement(guard, "".join(opcode.split()), given, self.at(opcode), True)

    def label(self, name: Token) -> Label:
        return Label(str(name), self.at(name))

    def scope(self, *items: Any) -> Block:
        return Block(list(items))

    body = scope

    def branch_targets(self, name: Token, *targets: Token) -> BranchTargets:
        return BranchTargets(str(name), tuple(map(str, targets)), self.at(name))

    call_targets = branch_targets

    def named_prototype(self, name: Token, proto: Proto) -> Proto:
        proto.name = str(name)
        return proto

    def loc(self, file: Token, line: Token, column: Token, _: Any) -> Loc:
        return Loc(*(constants.integer(t).bits for t in (file, line, column)))

    def inlined(self, *_: Any) -> None:
        return None

    def pragma(self, *strings: Token) -> Tree[str]:
        return Tree("pragma", [s[1:-1] for s in strings])

    def file(self, number: Token, name: Token, *_: Any) -> tuple[int, str]:
        return constants.integer(number).bits, str(name)[1:-1]

    # --- declarations ---

    def linkage(self, token: Token) -> tuple[str, str]:
        return "linkage", token[1:]

    def space(self, token: Token) -> tuple[str, str]:
        return "space", token[1:]

    param_space = space

    def bank(self, _: Token) -> tuple[str, str]:
        raise ValueError("explicit constant banks are no longer part of PTX (since version 2.2)")

    def type(self, token: Token) -> tuple[str, str]:
        return "type", token[1:]

    def align(self, token: Token) -> tuple[str, int]:
        value = constants.integer(token).bits
        if value <= 0 or value & (value - 1):
            raise ValueError(f"alignment {value} is not a power of two")
        if value > MOST_ALIGNED:
            raise ValueError(f"alignment {value} is more than {MOST_ALIGNED}")
        return "align", value

    def vector(self, token: Token) -> tuple[str, int]:
        return "vec", int(token[2:])

    def attribute(self, *items: tuple[str, str]) -> tuple[str, dict[str, str]]:
        return "attrs", dict(items)

    def managed(self) -> tuple[str, str]:
        return "managed", ""

    def unified(self, high: Token, low: Token) -> tuple[str, str]:
        return "unified", f"{high},{low}"

    def pointer(self, *parts: tuple[str, Any]) -> tuple[str, dict[str, str]]:
        found = dict(parts)
        attrs = {"ptr": found.get("space", "")}
        return "attrs", attrs | ({"align": str(found["align"])} if "align" in found else {})

    def dimension_size(self, token: Token) -> int:
        return 32 if token.type == "WARP_SZ" else constants.integer(token).bits

    def dimension(self, size: int | None) -> tuple[str, int | None]:
        return "dimension", size

    def declarator(self, name: Token, *rest: Any) -> tuple[Token, list[int | None], Any]:
        *dimensions, initial = rest
        return name, [size for _, size in dimensions], initial

    def registers(self, name: Token, count: Token) -> tuple[Token, int]:
        return name, constants.integer(count).bits

    def variable(self, *parts: Any) -> list[Var]:
        common: dict[str, Any] = {}
        found: list[Var] = []
        for part in parts:
            if isinstance(part[0], Token):
                found += numbered(self._declared(part, common))
            elif part[0] == "attrs":
                common["attrs"] = common.get("attrs", {}) | part[1]
            else:
                common[part[0]] = part[1]
        return found

    def _declared(self, declarator: tuple[Any, ...], common: dict[str, Any]) -> Var:
        name = declarator[0]
        var = Var(name=str(name), line=self.at(name), **{**common, "attrs": dict(common.get("attrs", {}))})
        if len(declarator) == 2:
            var.regs = register_count(var.name, declarator[1])
            return var
        _, sizes, initial = declarator
        set_dimensions(var, sizes)
        if initial is not None:
            var.init = initialise(var, sizes, initial)
        return var

    def parameter(self, *parts: Any) -> Var:
        common: dict[str, Any] = {}
        sizes = []
        for part in parts:
            if isinstance(part, Token):
                name = part
            elif part[0] == "dimension":
                sizes.append(part[1])
            elif part[0] == "attrs":
                common["attrs"] = common.get("attrs", {}) | part[1]
            else:
                common[part[0]] = part[1]
        var = Var(name=str(name), line=self.at(name), **common)
        set_dimensions(var, sizes)
        return var

    def init_list(self, *items: Any) -> list[Any]:
        return [item for item in items if item is not None]

    def init_state(self, *items: Any) -> dict[str, str]:
        return dict(items)

    def state(self, name: Token, value: Token) -> tuple[str, str]:
        return str(name), str(value)

    def symbol_value(self, name: Token, offset: Imm | None) -> InitSym:
        return InitSym(str(name), _integer(offset) if offset else 0)

    def generic(self, _: Token, name: Token, offset: Imm | None) -> InitSym:
        return InitSym(str(name), _integer(offset) if offset else 0, True)

    def masked(self, mask: Token, value: InitSym) -> InitSym:
        return value._replace(mask=constants.integer(mask).bits)

    # --- functions ---

    def params(self, *items: Var | None) -> list[Var]:
        return [item for item in items if item is not None]

    entry_params = func_params = results = params

    def function_directive(self, first: Any, *numbers: Token | None) -> tuple[str, Any]:
        if isinstance(first, Tree):
            return "pragma", first.children
        return first[1:], tuple(constants.integer(n).bits for n in numbers if n is not None)

    def entry(self, name: Token, params: list[Var], *directives: tuple[str, Any]) -> Head:
        return self._head("entry", Proto(str(name), [], params), directives)

    def func(self, attribute: Any, *parts: Any) -> Head:
        if not isinstance(attribute, tuple):  # the optional attribute is not there
            parts = (attribute, *parts)
        results, name, params, *directives = parts
        return self._head("func", Proto(str(name), elements(results), elements(params)), directives)

    def _head(self, kind: str, proto: Proto, directives: Any) -> Head:
        numbers = {name: value for name, value in directives if name != "pragma"}
        proto.noreturn = "noreturn" in numbers
        return Head(kind, proto, "", numbers, [p for name, ps in directives if name == "pragma" for p in ps])

    def head(self, *parts: Any) -> Head:
        head: Head
        *linkage, head = parts
        return head._replace(linkage=linkage[0][1] if linkage else "")

    def prototype(self, results: list[Var], name: Token, params: list[Var], *directives: Any) -> Proto:
        noreturn = any(name == "noreturn" for name, _ in directives)
        return Proto(str(name), elements(results), elements(params), noreturn)


for _rule, _function in constants.OPERATORS.items():
    setattr(Builder, _rule, (lambda function: lambda self, children: _apply(function, children))(_function))


def _apply(function: Callable[..., Imm], children: list[Any]) -> Imm:
    return function(*(c for c in children if not (isinstance(c, Token) and c.type == "NOT")))


def _integer(imm: Imm) -> int:
    if imm.kind[0] == "f":
        raise ValueError("an integer is needed, not a floating-point constant")
    return imm.bits
