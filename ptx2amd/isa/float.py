"""f32 and f64 arithmetic (PTX manual 9.7.3). Results are exact but for NaN payloads, unless the row says
otherwise: PTX gives 0x7fffffff for every f32 NaN, AMD hardware the quieted input or 0x7fc00000."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import Form, family

row = family(
    "9.7.3",
    "testp copysign add sub mul fma mad div abs neg min max rcp rcp.approx.ftz.f64 sqrt rsqrt rsqrt.approx.ftz.f64"
    " sin cos lg2 ex2 tanh",
    does=NOTHING,
)

RND = "rn|rz|rm|rp"
NAN = "exact except NaN payload"
TWO, THREE = "d:{t}, a:{t}, b:{t}", "d:{t}, a:{t}, b:{t}, c:{t}"


def arithmetic(name: str, rnd: str, operands: str) -> list[Form]:
    """add, sub, mul, fma: every type, all roundings."""
    return [
        row(f"{name}.{rnd}.[ftz:ftz].[sat:sat].f32", operands.format(t="f32"), "float_arith", NAN),
        row(f"{name}.{rnd}.f64", operands.format(t="f64"), "float_arith", NAN, sm=13),
        row(
            f"{name}.{rnd}.[ftz:ftz].f32x2",
            operands.format(t="f32x2"),
            "float_arith_pair",
            NAN,
            since=(8, 6),
            sm=100,
        ),
    ]


def min_max(name: str) -> list[Form]:
    return [
        row(f"{name}.[ftz:ftz].f32", "d:f32, a:f32, b:f32", "float_minmax", NAN),
        row(
            f"{name}.[ftz:ftz].[nan:NaN].[xorsign:xorsign.abs].f32",
            "d:f32, a:f32, b:f32",
            "float_minmax",
            NAN,
            since=(7, 2),
            sm=86,
        ),
        row(
            f"{name}.[ftz:ftz].{{nan:NaN}}.f32",
            "d:f32, a:f32, b:f32",
            "float_minmax",
            NAN,
            since=(7, 0),
            sm=80,
        ),
        row(
            f"{name}.[ftz:ftz].[nan:NaN].[abs:abs].f32",
            "d:f32, a:f32, b:f32, c:f32",
            "float_minmax",
            NAN,
            since=(8, 8),
            sm=100,
        ),
        row(f"{name}.f64", "d:f64, a:f64, b:f64", "float_minmax", NAN, sm=13),
    ]


def rounded(name: str, operands: str) -> list[Form]:
    """div, rcp, sqrt: correctly rounded in every direction."""
    return [
        row(
            f"{name}.{{rnd:{RND}}}.[ftz:ftz].f32",
            operands.format(t="f32"),
            f"float_{name}",
            NAN,
            since=(1, 4),
            sm=20,
            computes="quotient",
        ),
        row(
            f"{name}.{{rnd:{RND}}}.f64",
            operands.format(t="f64"),
            f"float_{name}",
            NAN,
            since=(1, 4),
            sm=13,
            computes="quotient",
        ),
    ]


def approximate(name: str, bound: str, since: tuple[int, int] = (1, 4), sm: int = 0) -> Form:
    return row(
        f"{name}.approx.[ftz:ftz].f32",
        "d:f32, a:f32",
        f"{name}_approx",
        f"approx: {bound}",
        since=since,
        sm=sm,
    )


FORMS = [
    *arithmetic("add", f"[rnd:{RND}]", TWO),
    *arithmetic("sub", f"[rnd:{RND}]", TWO),
    *arithmetic("mul", f"[rnd:{RND}]", TWO),
    *arithmetic("fma", f"{{rnd:{RND}}}", THREE),
    *arithmetic("mad", f"{{rnd:{RND}}}", THREE)[:2],
    *min_max("min"),
    *min_max("max"),
    *rounded("div", "d:{t}, a:{t}, b:{t}"),
    *rounded("rcp", "d:{t}, a:{t}"),
    *rounded("sqrt", "d:{t}, a:{t}"),
    row(
        "div.approx.[ftz:ftz].f32",
        "d:f32, a:f32, b:f32",
        "div_approx",
        "approx: 2 ulp for |b| in 2^-126..2^126",
        since=(1, 4),
    ),
    row("div.full.[ftz:ftz].f32", "d:f32, a:f32, b:f32", "div_full", "approx: 2 ulp", since=(1, 4)),
    approximate("rcp", "1 ulp"),
    approximate("sqrt", "relative 2^-23"),
    approximate("rsqrt", "relative 2^-22.9"),
    approximate("sin", "absolute 2^-20.5 in [-2pi, 2pi]"),
    approximate("cos", "absolute 2^-20.5 in [-2pi, 2pi]"),
    approximate("lg2", "absolute 2^-22 in (0.5, 2), else relative 2^-22"),
    approximate("ex2", "relative 2^-22"),
    row("tanh.approx.f32", "d:f32, a:f32", "tanh_approx", "approx: relative 2^-11", since=(7, 0), sm=75),
    row("rcp.approx.ftz.f64", "d:f64, a:f64", "coarse_f64", "approx: relative 2^-20", since=(2, 1), sm=20),
    row("rsqrt.approx.ftz.f64", "d:f64, a:f64", "coarse_f64", "approx: relative 2^-20", since=(4, 0), sm=20),
    row("rsqrt.approx.f64", "d:f64, a:f64", "rsqrt_f64", "approx: relative 2^-22.9", since=(1, 4), sm=13),
    row("abs.[ftz:ftz].f32", "d:f32, a:f32", "float_sign"),
    row("neg.[ftz:ftz].f32", "d:f32, a:f32", "float_sign"),
    row("abs.f64", "d:f64, a:f64", "float_sign", sm=13),
    row("neg.f64", "d:f64, a:f64", "float_sign", sm=13),
    row(
        "copysign.{t:f32|f64}",
        "d:t, a:t, b:t",
        "call {a.ty} @llvm.copysign.{a.ty}({b.t}, {a.t})",
        since=(2, 0),
        sm=20,
    ),
    row(
        "testp.{op:finite|infinite|number|notanumber|normal|subnormal}.{t:f32|f64}",
        "p:pred, a:t",
        "testp",
        since=(2, 0),
        sm=20,
    ),
]
