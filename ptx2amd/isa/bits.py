"""Logic and shift instructions (PTX manual 9.7.8) and prmt (9.7.9)."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import family
from ptx2amd.isa.sections import DATA

permute = family(*DATA, does=NOTHING)
row = family("9.7.9", "and or xor not cnot lop3 shf shl shr", does=NOTHING)

BITS = "b16|b32|b64"

FORMS = [
    *(
        row(f"{name}.{{t:pred|{BITS}}}", "d:t, a:t, b:t", f"{name} {{a.t}}, {{b}}", computes=name)
        for name in ("and", "xor")
    ),
    row(f"or.{{t:pred|{BITS}}}", "d:t, a:t, b:t", "or", computes="or"),
    row(f"not.{{t:pred|{BITS}}}", "d:t, a:t", "xor {a.t}, -1", computes="not"),
    row(f"cnot.{{t:{BITS}}}", "d:t, a:t", "cnot"),
    row("lop3.b32", "d:b32, a:b32, b:b32, c:b32, lut:imm", "lop3", since=(4, 3), sm=50, discards="d"),
    row(
        "lop3.{bool:or|and}.b32",
        "d:b32|p:pred, a:b32, b:b32, c:b32, lut:imm, !with:pred",
        "lop3",
        since=(8, 2),
        sm=70,
        discards="d",
    ),
    row("shf.{dir:l|r}.{mode:clamp|wrap}.b32", "d:b32, a:b32, b:b32, c:u32", "shf", since=(3, 1), sm=32, name_words=1),
    row(f"shl.{{t:{BITS}}}", "d:t, a:t, b:u32", "shl", computes="shl"),
    row("shr.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64}", "d:t, a:t, b:u32", "shr", computes="shr"),
    permute("prmt.b32", "d:b32, a:b32, b:b32, c:b32", "prmt", since=(2, 0), sm=20),
    permute("prmt.b32.{mode:f4e|b4e|rc8|ecl|ecr|rc16}", "d:b32, a:b32, b:b32, c:b32", "prmt", since=(2, 0), sm=20),
]
