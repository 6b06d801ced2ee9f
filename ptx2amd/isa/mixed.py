"""f32 arithmetic with f16 or bf16 operands (PTX manual 9.7.5)."""

from __future__ import annotations

from ptx2amd.isa.form import Form

NAN = "exact except NaN payload"
RND = "rn|rz|rm|rp"
SHORT = "{a:f16|bf16}"

FORMS = [
    *(
        Form(f"{name}.[rnd:{RND}].[sat:sat].f32.{SHORT}", "d:f32, a:a, c:f32", "mixed_arith", NAN, (8, 6), 100)
        for name in ("add", "sub")
    ),
    Form(f"fma.{{rnd:{RND}}}.[sat:sat].f32.{SHORT}", "d:f32, a:a, b:a, c:f32", "mixed_arith", NAN, (8, 6), 100),
]
