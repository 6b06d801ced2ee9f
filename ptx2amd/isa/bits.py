"""Logic and shift instructions (PTX manual 9.7.8) and prmt (9.7.9)."""

from __future__ import annotations

from ptx2amd.isa.form import Form

BITS = "b16|b32|b64"

FORMS = [
    *(Form(f"{name}.{{t:pred|{BITS}}}", "d:t, a:t, b:t", f"{name} {{a.t}}, {{b}}") for name in ("and", "or", "xor")),
    Form(f"not.{{t:pred|{BITS}}}", "d:t, a:t", "xor {a.t}, -1"),
    Form(f"cnot.{{t:{BITS}}}", "d:t, a:t", "cnot"),
    Form("lop3.b32", "d:b32, a:b32, b:b32, c:b32, lut:imm", "lop3", since=(4, 3), sm=50),
    Form(
        "lop3.{bool:or|and}.b32",
        "d:b32|p:pred, a:b32, b:b32, c:b32, lut:imm, !with:pred",
        "lop3",
        since=(8, 2),
        sm=70,
    ),
    Form("shf.{dir:l|r}.{mode:clamp|wrap}.b32", "d:b32, a:b32, b:b32, c:u32", "shf", since=(3, 1), sm=32),
    Form(f"shl.{{t:{BITS}}}", "d:t, a:t, b:u32", "shl"),
    Form("shr.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64}", "d:t, a:t, b:u32", "shr"),
    Form("prmt.b32", "d:b32, a:b32, b:b32, c:b32", "prmt", since=(2, 0), sm=20),
    Form("prmt.b32.{mode:f4e|b4e|rc8|ecl|ecr|rc16}", "d:b32, a:b32, b:b32, c:b32", "prmt", since=(2, 0), sm=20),
]
