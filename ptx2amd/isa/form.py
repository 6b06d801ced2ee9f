"""The row type of the PTX instruction table: one Form per instruction form.

A row's `syntax` is the opcode as the PTX manual prints it, with fields:
    .word              a modifier that must stand there (`.shared::cta` is one word)
    .{name:a|b|c}      exactly one of the choices; its value is mods["name"]
    .[name:a|b|c]      one of the choices or nothing (mods["name"] is "")
    .*                 at the end: any further modifiers (refused rows only, as `*` for the operands: any operands)
A choice may be several words: `.[sem:relaxed.gpu|acquire.gpu]`, `.{red:popc.u32|and.pred}`. Modifiers are
matched in the row's order first, then in any order (ptxas takes most of them in any order; two fields that
could take each other's words, as the two types of cvt, keep their order).

A row's `operands` is a comma-separated list in source order; each is
    name:type          a register, or (sources only) a register or a constant. `type` is
                         - a PTX type: `u32`, `f16x2`, `pred`, `b64`
                         - the name of a field whose value is one: `t`
                         - `2*t`, `t/2`, `t/4`: the same kind, of that multiple of the width (`2*u32` is
                           u64, `b64/2` is b32, `f16x2/2` is f16)
    name.:type         a register of which a part is selected (`%r1.b0`): sources may, destinations must
    !name:pred         a source predicate that may be negated, `!%p1`; -name:type an integer, `-%r1`
    a:t|b:pred?        a destination pair as in setp and shfl, `%r1|%p1`: two operands, names `a` and `b`;
                       `?` after the second: it may be absent (write `a:t|b:pred` where both must stand)
    {name}:type        a scalar, or a brace list of as many elements as the field `vec` says ("v2" 2, "" 1)
    {name*4}:type      a brace list of exactly 4; `{name*1}` a scalar or a list of one; `{name*?}` any length;
                       `{name*n/2}` one for each two columns of the field `shape`
    [name]             an address: register, symbol or number, plus a constant offset
    [name,*]           an address with further items, which are in Addr.rest: texture coordinates, tensor maps
    (name)             a parenthesised list: arguments and results of calls
    name:t+sym         a register of type t, or a symbol (cvta, mapa)
    name:_             the discarded destination `_` must stand there
    name:label         a label                           name:sym    a symbol (function, variable, parameter)
    name:targets       a list declared with .branchtargets
    name:proto         a .callprototype or .calltargets list
    name:imm           a constant                        name:any    a register, constant or symbol
Any of them followed by `?` may be absent; followed by `?field` it stands there exactly when the optional field
of that name does. A `type` that names an absent field resolves to "".
Destinations are named d, e, p, q (registers only, `_` discards), one that is also read u; sources a, b, c, ...
Stores have none.

Register types are judged as ptxas judges them (ptx2amd/ptx/check.py): same width, and integer kinds mix
freely; rows with WIDER in `takes` (ld, st, cvt ...) take wider registers too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptx2amd.isa.effects import LANE, NOTHING, SOURCES
from ptx2amd.records import dataclass, field

DESTINATIONS = frozenset(("d", "e", "p", "q", "u"))
READ_TOO = "u"  # a destination that is also a source


@dataclass(frozen=True, slots=True)
class Form:
    """One instruction form: what it is called, what it takes, what it does, how it is lowered.

    lower: LLVM IR for the destination, as a template over the operands ("add {a.t}, {b}"), or the
           name of a function registered with @lowers("name") in ptx2amd/lower/<family>.py, or
           "" when refused. No analysis reads it.
    exact: "exact" | "approx: <bound>" | "hint" (may be ignored) | "refused: <reason>".
    since: first PTX ISA version, sm: first target, both as the manual gives them.
    see:   the section of the manual, as PTX ISA 9.4 numbers them.
    does, computes, takes: see ptx2amd/isa/effects.py.
    result: how results may differ between the lanes of a warp: one for all, or "d:warp p:lane"; "": as the sources do
           if the instruction does nothing else, else each lane has its own.
    memory: the state space that it writes, or reads if it writes none, where no field `space` says it ("texture" and
           "surface" too); an absent field is generic addressing.
    discards: the operands for which `_` may stand; "d|" only if its pair's other one stands.
    name_words: how many of the syntax's first fields are part of the instruction's name and stand in their place.
    software: where it is a sequence of ours: on "all" chips, or on those whose matrix units have no "product" of these
              elements, or of those that they become, "f16".
    """

    syntax: str
    operands: str
    lower: str
    exact: str = "exact"
    since: tuple[int, int] = (1, 0)
    sm: int = 0
    see: str = ""
    does: int = field(kw_only=True)
    result: str = field(default="", kw_only=True)
    computes: str = field(default="", kw_only=True)
    memory: str = field(default="", kw_only=True)
    takes: int = field(default=0, kw_only=True)
    discards: str = field(default="", kw_only=True)
    name_words: int = field(default=0, kw_only=True)
    software: str = field(default="", kw_only=True)

    @property
    def mnemonic(self) -> str:
        """The base name: everything before the first dot."""
        return self.syntax.split(".", 1)[0]

    def uniformity(self, name: str) -> str:
        """How the result `name` may differ between the lanes of a warp: one of effects.RESULTS."""
        if ":" in self.result:
            return dict(part.split(":") for part in self.result.split()).get(name, LANE)
        return self.result or (LANE if self.does != NOTHING else SOURCES)


#: Fields of rows that are alike in them, and what makes a row of the others.
Fields = dict[str, Any]
RowMaker = Callable[..., Form]


def family(section: str, instructions: str, **common: object) -> RowMaker:
    """A constructor of rows for one section of the manual.

    instructions: their names in the order of its subsections, "a/b" for two of one, `-` for one that no row has;
    those that are not there are in the section itself. common: fields of all rows, unless one says otherwise."""
    sections = {name: f"{section}.{n}" for n, names in enumerate(instructions.split(), 1) for name in names.split("/")}

    def row(syntax: str, operands: str, lower: str, *rest: object, **fields: object) -> Form:
        if "see" not in fields:
            words = syntax.split(".", 4)
            names = (".".join(words[:count]) for count in (4, 3, 2, 1))
            fields["see"] = next((sections[name] for name in names if name in sections), section)
        return Form(syntax, operands, lower, *rest, **{**common, **fields})  # type: ignore[arg-type]

    return row
