"""f32 arithmetic with f16 or bf16 operands (PTX manual 9.7.5)."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import family

row = family("9.7.5", "add sub fma", does=NOTHING)

NAN = "exact except NaN payload"
RND = "rn|rz|rm|rp"
SHORT = "{a:f16|bf16}"

FORMS = [
    *(
        row(f"{name}.[rnd:{RND}].[sat:sat].f32.{SHORT}", "d:f32, a:a, c:f32", "mixed_arith", NAN, (8, 6), 100)
        for name in ("add", "sub")
    ),
    row(f"fma.{{rnd:{RND}}}.[sat:sat].f32.{SHORT}", "d:f32, a:a, b:a, c:f32", "mixed_arith", NAN, (8, 6), 100),
]
