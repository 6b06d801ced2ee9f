"""Comparison and selection (PTX manual 9.7.6, 9.7.7)."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import Form, RowMaker, family

row = family("9.7.7", "set setp selp slct", does=NOTHING)
half = family("9.7.8", "set setp", does=NOTHING)

FLOAT = "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
# (comparisons, modifiers, types, since, sm)
KINDS = [
    ("eq|ne", "", "b16|b32|b64", (1, 0), 0),
    ("eq|ne|lt|le|gt|ge", "", "s16|s32|s64", (1, 0), 0),
    ("eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "", "u16|u32|u64", (1, 0), 0),
    (FLOAT, "[ftz:ftz].", "f32", (1, 0), 0),
    (FLOAT, "", "f64", (1, 0), 13),
]
HALVES = [("[ftz:ftz].", "f16", (4, 2), 53), ("", "bf16", (7, 8), 90)]
BOOL = ".{bool:and|or|xor}"
INTEGERS = "b16|b32|b64|u16|u32|u64|s16|s32|s64"


def setp(
    cmp: str, ftz: str, types: str, since: tuple[int, int], sm: int, to: str = "p:pred|q:pred?", row: RowMaker = row
) -> list[Form]:
    """setp with and without a predicate to combine with."""
    made = {"computes": "" if "f" in types else "compare", "discards": "p q" if "q:" in to else "p"}
    return [
        row(f"setp.{{cmp:{cmp}}}.{ftz}{{t:{types}}}", f"{to}, a:t, b:t", "setp", "exact", since, sm, **made),
        row(
            f"setp.{{cmp:{cmp}}}{BOOL}.{ftz}{{t:{types}}}",
            f"{to}, a:t, b:t, !c:pred",
            "setp",
            since=since,
            sm=sm,
            **made,
        ),
    ]


def set_(cmp: str, ftz: str, to: str, types: str, since: tuple[int, int], sm: int, row: RowMaker = row) -> list[Form]:
    return [
        row(f"set.{{cmp:{cmp}}}.{ftz}{{t:{to}}}.{{a:{types}}}", "d:t, a:a, b:a", "set", since=since, sm=sm),
        row(
            f"set.{{cmp:{cmp}}}{BOOL}.{ftz}{{t:{to}}}.{{a:{types}}}",
            "d:t, a:a, b:a, !c:pred",
            "set",
            since=since,
            sm=sm,
        ),
    ]


def halves(ftz: str, t: str, since: tuple[int, int], sm: int) -> list[Form]:
    """setp and set of f16 or bf16, scalars and pairs."""
    cmp, pair = f"{{cmp:{FLOAT}}}", f"{t}x2"
    return [
        *setp(FLOAT, ftz, t, since, sm, "p:pred", half),
        half(
            f"setp.{cmp}.{ftz}{{t:{pair}}}", "p:pred|q:pred, a:t, b:t", "setp_pair", "exact", since, sm, discards="p q"
        ),
        half(
            f"setp.{cmp}{BOOL}.{ftz}{{t:{pair}}}",
            "p:pred|q:pred, a:t, b:t, !c:pred",
            "setp_pair",
            since=since,
            sm=sm,
            discards="p q",
        ),
        *set_(FLOAT, ftz, f"u16|s16|u32|s32|{t}", t, since, sm, half),
        *set_(FLOAT, ftz, f"{pair}|u32|s32", pair, since, sm, half),
    ]


FORMS = [
    *(form for kind in KINDS for form in setp(*kind)),
    *(form for kind in HALVES for form in halves(*kind)),
    *(form for cmp, ftz, types, since, sm in KINDS for form in set_(cmp, ftz, "u32|s32|f32", types, since, sm)),
    *(
        form
        for to, since, sm in (("f16", (4, 2), 53), ("bf16", (7, 8), 90))
        for cmp, ftz, types, _, _ in KINDS
        for form in set_(cmp, ftz if to == "f16" else "", to, types, since, sm, half)
    ),
    *set_(FLOAT, "", "bf16", "f16", (7, 8), 90, half),
    row(f"selp.{{t:{INTEGERS}|f32|f64}}", "d:t, a:t, b:t, c:pred", "select {c.t}, {a.t}, {b.t}"),
    row(f"slct.{{t:{INTEGERS}|f32|f64}}.{{c:s32}}", "d:t, a:t, b:t, c:c", "slct"),
    row(f"slct.[ftz:ftz].{{t:{INTEGERS}|f32|f64}}.{{c:f32}}", "d:t, a:t, b:t, c:c", "slct"),
]
