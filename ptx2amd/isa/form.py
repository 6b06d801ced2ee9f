"""The row type of the PTX instruction table: one Form per instruction form.

A row's `syntax` is the opcode as the PTX manual prints it, with fields:
    .word              a modifier that must stand there
    .{name:a|b|c}      exactly one of the choices; its value is mods["name"]
    .[name:a|b|c]      one of the choices or nothing (mods["name"] is "")
A row's `operands` is a comma-separated list `name:type`, in source order:
    type               a PTX type (`u32`, `f16x2`, `pred`, `b64`), or the name of a field whose value
                       is one (`t`), or `2*t` (the type of twice the width, as in mul.wide)
    name?              the operand may be absent
    d|p                a destination pair as in setp and shfl: `d:t|p:pred?`
    {d}:t              a scalar or a vector of `vec` elements, brace list in the source
    [a]                an address: register, symbol or number, plus an offset
    name:label, name:sym, name:imm   a label, a symbol (function, variable), a constant
Destinations are named d, e, p, q, r(ead) stores have none; sources a, b, c, ...
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
