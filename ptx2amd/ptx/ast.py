"""The syntax tree that the PTX front end produces. Operands are interned: compare and share them, never change
them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ptx2amd.isa.form import DESTINATIONS, READ_TOO, Form
from ptx2amd.records import dataclass, field, replace

if TYPE_CHECKING:
    from ptx2amd.ptx.scan import Piece


class Reg(NamedTuple):
    """A register, a special register (`%tid.x`), or `_` (discarded destination)."""

    name: str
    negated: bool = False  # `!p`, and `-r` of vmad
    part: str = ""  # of a video instruction's operand: "b0" in `r.b0`


class Imm(NamedTuple):
    """A constant. `kind` is 's' (signed integer), 'u' (unsigned), 'f32' or 'f64'; `bits` the value,
    for floats the raw bits."""

    kind: str
    bits: int


class Sym(NamedTuple):
    """A variable, parameter, function or label, plus a byte offset."""

    name: str
    offset: int = 0


class Addr(NamedTuple):
    """`[base + offset]`; base is a Reg, a Sym or an Imm. `rest` are further items between the brackets:
    `[tex, sampler, {x, y}]`, `[map, {x, y}]`."""

    base: Reg | Sym | Imm
    offset: int = 0
    rest: tuple[Operand, ...] = ()


class Vec(NamedTuple):
    """`{a, b, c, d}`; also argument lists `(a, b)`."""

    items: tuple[Operand, ...]


class Pair(NamedTuple):
    """`d|p` or `{d, e}|p`, a destination pair as it stands in the source. Inst.operands has the two parts."""

    first: Reg | Vec
    second: Reg


class Indexed(NamedTuple):
    """`array[r + 3]`: the address of an element whose index is in a register. The parser replaces it in statements
    (ptx/body.py)."""

    name: str
    register: str
    number: int


class Sum(NamedTuple):
    """`r + 4`: a register plus a constant as a value. The parser replaces it in statements, too."""

    register: str
    number: int


Operand = Reg | Imm | Sym | Addr | Vec | Pair | Indexed | Sum


def flatten(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands with destination pairs split, as Shape.names counts them."""
    return tuple(part for operand in operands for part in (operand if isinstance(operand, Pair) else (operand,)))


class Guard(NamedTuple):
    """`@p` or `@!p`."""

    reg: str
    negated: bool


@dataclass(slots=True)
class Shape:
    """An opcode with a kind of operands, resolved once against the instruction table."""

    opcode: str  # as written, "ld.global.v4.u32"
    form: Form
    mods: dict[str, str]  # field name -> value; optional absent fields are ""
    names: tuple[str, ...]  # operand names of the form, as present here, in source order
    types: tuple[str, ...]  # PTX type of each, resolved ("u32"); "" for labels and addresses
    sources: tuple[int, ...] = ()  # the places of the operands that it reads, and of those that it writes
    results: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        places = list(enumerate(self.names))
        self.sources = tuple(place for place, name in places if name not in DESTINATIONS or name == READ_TOO)
        self.results = tuple(place for place, name in places if name in DESTINATIONS)


@dataclass(slots=True)
class Inst:
    shape: Shape
    operands: tuple[Operand, ...]
    guard: Guard | None
    line: int  # 1-based line in the PTX text

    def get(self, name: str) -> Operand | None:
        """The operand called `name` in the table's row, or None when absent."""
        names = self.shape.names
        return self.operands[names.index(name)] if name in names else None


@dataclass(slots=True)
class Label:
    name: str
    line: int
    role: str = ""  # of those that passes insert (middle/transforms/inserted.py)


@dataclass(slots=True)
class Var:
    """A variable of any state space, a parameter, or a register range.

    count: elements (product of the array dimensions; 0 = unsized, `extern .shared x[]`; -1 = scalar).
    init: list of ints (raw element bits) and InitSym, or None; elements behind its end are zero.
    regs: `%r<10>` declares n registers with prefix name.
    """

    space: str  # reg, param, local, shared, global, const, tex, surf, sampler
    type: str  # "b8", "f32", "texref" ...
    name: str
    count: int = -1
    align: int = 0  # 0 = natural
    vec: int = 1
    init: Sequence[int | InitSym] | None = None
    linkage: str = ""  # "", extern, visible, weak, common
    attrs: dict[str, str] = field(
        default_factory=dict
    )  # e.g. {"managed": ""}; ptr params: {"ptr": "global", "align": "8"}
    regs: int = 0
    line: int = 0


def elements(variables: list[Var]) -> list[Var]:
    """Parameters or results with registers in place of vector registers: `v` of two elements is `v.x` and `v.y`."""
    found: list[Var] = []
    for var in variables:
        if var.space != "reg" or var.vec == 1:
            found.append(var)
            continue
        letters = "xyzw"[: var.vec]
        found += [replace(var, name=f"{var.name}.{c}", vec=1, attrs={"vector": letters}) for c in letters]
    return found


def whole(variables: list[Var]) -> Iterator[Var]:
    """The inverse of `elements`: the parameters as the source declares them."""
    for var in variables:
        letters = var.attrs.get("vector", "")
        if not letters:
            yield var
        elif var.name.endswith(".x"):
            yield replace(var, name=var.name[:-2], vec=len(letters), attrs={})


class InitSym(NamedTuple):
    """An initialiser element that holds an address: `sym+offset`, `generic(sym)`, `mask(sym)`."""

    name: str
    offset: int = 0
    generic: bool = False
    mask: int = 0  # 0xFF00 ... as in `0xFF(sym)`; 0 = whole


@dataclass(slots=True)
class Proto:
    """A signature: of a function, or of `.callprototype`. Vector registers are taken apart (see `elements`)."""

    name: str
    results: list[Var]
    params: list[Var]
    noreturn: bool = False


@dataclass(slots=True)
class Scope:
    """`{ ... }`: declarations and statements in order; nested scopes are items too."""

    items: list[Item]


class BranchTargets(NamedTuple):
    """`name: .branchtargets a, b;` or `.calltargets`."""

    name: str
    targets: tuple[str, ...]
    line: int


class Loc(NamedTuple):
    """`.loc file line column`: the CUDA source position of what follows."""

    file: int
    line: int
    column: int


Item = Inst | Label | Var | Proto | Scope | BranchTargets | Loc


@dataclass(slots=True)
class Function:
    """An .entry or .func. `body` is None for a declaration; `parse_body` fills it on first use."""

    kind: str  # "entry" | "func"
    proto: Proto
    linkage: str
    directives: dict[str, tuple[int, ...]]  # maxntid, reqntid, minnctapersm, maxnreg, ...
    pragmas: list[str]
    line: int
    text: str  # the body's source without comments, "{...}", or ""
    scope: Scope | None = None
    body_line: int = 0  # where the body's text begins
    body_column: int = 0
    target: str = ""  # of the module that it was linked from
    files: dict[int, int] = field(default_factory=dict)  # .file indices of that module that the linked one has changed
    statics: list[Var] = field(default_factory=list)  # the module's variables that the body declares (ptx/statics.py)


@dataclass(frozen=True, slots=True)
class Whole:
    """Facts that all parts of a module have to agree on. handles: of functions whose address is taken; offsets: of
    variables in the data segment; problems: why a variable's initial value cannot be computed; facts: offsets of
    facts about kernels; registers: the most that .maxnreg of any kernel allows."""

    handles: dict[str, int] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    facts: dict[str, int] = field(default_factory=dict)
    registers: int = 0


@dataclass(slots=True)
class Module:
    version: tuple[int, int]
    target: str  # "sm_80", "sm_90a"
    target_options: tuple[str, ...]  # texmode_unified, debug, ...
    variables: dict[str, Var]
    functions: dict[str, Function]  # definitions and declarations
    files: dict[int, str]  # .file index -> name
    aliases: dict[str, str]
    source: str  # file name for messages
    linked: bool = False  # made of several: what one declares may be defined otherwise in another
    pieces: list[Piece] = field(default_factory=list)  # of its text; none where opcodes changed (ptx/legacy.py)
    whole: Whole | None = None  # of a part that was read alone: what it has to agree on with others
