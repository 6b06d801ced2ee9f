"""f16, bf16 and their pairs (PTX manual 9.7.4). bf16 is computed in f32 and rounded once more: exact."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import Form, family

row = family("9.7.4", "add sub mul fma neg abs min max tanh ex2", does=NOTHING)

NAN = "exact except NaN payload"
TWO, THREE = "d:t, a:t, b:t", "d:t, a:t, b:t, c:t"
F16, BF16 = "{t:f16|f16x2}", "{t:bf16|bf16x2}"


def arithmetic(name: str, since: tuple[int, int]) -> list[Form]:
    return [
        row(f"{name}.[rnd:rn].[ftz:ftz].[sat:sat].{F16}", TWO, "half_arith", NAN, since=since, sm=53),
        row(f"{name}.[rnd:rn].{BF16}", TWO, "bfloat_arith", NAN, since=(7, 8), sm=90),
    ]


def min_max(name: str) -> list[Form]:
    return [
        row(
            f"{name}.[ftz:ftz].[nan:NaN].[xorsign:xorsign.abs].{F16}",
            TWO,
            "half_minmax",
            NAN,
            since=(7, 2),
            sm=86,
        ),
        row(f"{name}.[ftz:ftz].[nan:NaN].{F16}", TWO, "half_minmax", NAN, since=(7, 0), sm=80),
        row(f"{name}.[nan:NaN].[xorsign:xorsign.abs].{BF16}", TWO, "half_minmax", NAN, since=(7, 2), sm=86),
        row(f"{name}.[nan:NaN].{BF16}", TWO, "half_minmax", NAN, since=(7, 0), sm=80),
    ]


FORMS = [
    *arithmetic("add", (4, 2)),
    *arithmetic("sub", (4, 2)),
    *arithmetic("mul", (4, 2)),
    row(f"fma.{{rnd:rn}}.[ftz:ftz].[sat:sat].{F16}", THREE, "half_arith", NAN, since=(4, 2), sm=53),
    row(f"fma.{{rnd:rn}}.[ftz:ftz].[relu:relu].{F16}", THREE, "half_arith", NAN, since=(7, 0), sm=80),
    row(f"fma.{{rnd:rn}}.[relu:relu].{BF16}", THREE, "bfloat_arith", NAN, since=(7, 0), sm=80),
    *(row(f"fma.{{rnd:rn}}.oob.[relu:relu].{t}", THREE, "half_fma_oob", NAN, (8, 1), 90) for t in (F16, BF16)),
    row(f"neg.[ftz:ftz].{F16}", "d:t, a:t", "half_sign", since=(6, 0), sm=53),
    row(f"abs.[ftz:ftz].{F16}", "d:t, a:t", "half_sign", since=(6, 5), sm=53),
    row(f"neg.{BF16}", "d:t, a:t", "half_sign", since=(7, 0), sm=80),
    row(f"abs.{BF16}", "d:t, a:t", "half_sign", since=(7, 0), sm=80),
    *min_max("min"),
    *min_max("max"),
    row(f"tanh.approx.{F16}", "d:t, a:t", "half_tanh", "approx: absolute 2^-10.987", since=(7, 0), sm=75),
    row(f"tanh.approx.{BF16}", "d:t, a:t", "half_tanh", "approx: absolute 2^-8", since=(7, 8), sm=90),
    row(f"ex2.approx.{F16}", "d:t, a:t", "half_ex2", "approx: relative 2^-9.9", since=(7, 0), sm=75),
    row(f"ex2.approx.ftz.{BF16}", "d:t, a:t", "half_ex2", "approx: relative 2^-7", since=(7, 8), sm=90),
]
