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
    name:imm           a constant                        name:any    a register, constant or symbol
Any of them followed by `?` may be absent; followed by `?field` it stands there exactly when the optional field
of that name does. A `type` that names an absent field resolves to "".
Destinations are named d, e, p, q (registers only, `_` discards), one that is also read u; sources a, b, c, ...
Stores have none.

Register types are judged as ptxas judges them (ptx2amd/ptx/check.py): same width, and integer kinds mix
freely; instructions in RELAXED there (ld, st, cvt ...) take wider registers too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """One instruction form: what it is called, what it takes, how it is lowered.

    lower: LLVM IR for the destination, as a template over the operands ("add {a.t}, {b}"), or the
           name of a function registered with @lowers("name") in ptx2amd/lower/<family>.py, or
           "" when refused.
    exact: "exact" | "approx: <bound>" | "hint" (may be ignored) | "refused: <reason>".
    since: first PTX ISA version, sm: first target, both as the manual gives them.
    """

    syntax: str
    operands: str
    lower: str
    exact: str = "exact"
    since: tuple[int, int] = (1, 0)
    sm: int = 0
    see: str = ""  # the manual's section

    @property
    def mnemonic(self) -> str:
        """The base name: everything before the first dot."""
        return self.syntax.split(".", 1)[0]
