"""cvt (PTX manual 9.7.9). Which combinations of types, roundings and modifiers exist is as ptxas has it."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING, SPECIALS, WIDER
from ptx2amd.isa.form import Form, family
from ptx2amd.isa.sections import DATA

row = family(*DATA, does=NOTHING, takes=WIDER | SPECIALS)

INTEGERS = "u8|u16|u32|u64|s8|s16|s32|s64"
NAN = "exact except NaN payload"
INT = "{rnd:rni|rzi|rmi|rpi}"  # to an integer
NEAR = "{rnd:rn|rz|rm|rp}"  # to a narrower float
ANY = "[rnd:rn|rz|rm|rp]"  # to a float with room for everything
WHOLE = "[rnd:rni|rzi|rmi|rpi]"
FTZ, SAT = "[ftz:ftz]", "[sat:sat]"
SHORT = "u16|u32|u64|s16|s32|s64"  # what bf16 converts from and to
BYTES, SHORTER = "e4m3x2|e5m2x2", "e2m3x2|e3m2x2"
UNARY, TWO, FROM_SMALL = "d:t, a:a", "d:t, a:a, b:a", "d:t, a:small"
RANDOM = "approx: which of the random bits e5m2, e2m3 and e3m2 take is not documented; here those of e4m3"
Since = tuple[int, int]
BF16: tuple[Since, int] = ((7, 8), 90)  # since, sm of most bf16 conversions
POWER: tuple[Since, int] = ((8, 6), 100)


def narrower(t: str) -> str:
    """The integer types with values that integer type `t` cannot hold: .sat is for them."""

    def limits(name: str) -> tuple[int, int]:
        n = int(name[1:])
        return (-(1 << n - 1), (1 << n - 1) - 1) if name[0] == "s" else (0, (1 << n) - 1)

    low, high = limits(t)
    return "|".join(a for a in INTEGERS.split("|") if limits(a)[0] < low or limits(a)[1] > high)


def from_float(
    modifiers: str, t: str, a: str, lower: str, since: Since = (1, 0), sm: int = 0, operands: str = UNARY
) -> Form:
    return row(f"cvt.{modifiers}.{{t:{t}}}.{{a:{a}}}", operands, lower, NAN, since, sm)


def to_one(t: str, a: str, sm: int) -> list[Form]:
    """The conversions of f32 to 16 bits with .relu and .satfinite, beside the plain ones."""
    near = "{rnd:rn|rz}"
    return [
        from_float(f"{near}.{{relu:relu}}.[satfinite:satfinite]", t, a, "cvt_float_float", (7, 0), sm),
        from_float(f"{near}.{{satfinite:satfinite}}", t, a, "cvt_float_float", (8, 1), sm),
    ]


def to_small(small: str, a: str, exact: str, since: Since, sm: int, b: str = "") -> Form:
    """The conversions to two floats of at most 8 bits: of two f32, or a pair of halves."""
    head = f"cvt.{{rnd:rn}}.satfinite.[relu:relu].{{small:{small}}}.{{a:{a}}}"
    return row(head, f"d:small, a:a{b}", "cvt_to_small", exact, since, sm, software="all")


FORMS = [
    row(f"cvt.{{t:{INTEGERS}}}.{{a:{INTEGERS}}}", UNARY, "cvt_int_int", computes="convert"),
    *(row(f"cvt.{{sat:sat}}.{{t:{t}}}.{{a:{narrower(t)}}}", UNARY, "cvt_int_int") for t in INTEGERS.split("|")),
    # integer <-> float
    row(f"cvt.{INT}.{FTZ}.{SAT}.{{t:{INTEGERS}}}.{{a:f32}}", UNARY, "cvt_float_int"),
    row(f"cvt.{INT}.{SAT}.{{t:{INTEGERS}}}.{{a:f16|f64}}", UNARY, "cvt_float_int"),
    row(f"cvt.{INT}.{{t:{SHORT}}}.{{a:bf16}}", UNARY, "cvt_float_int", "exact", *BF16),
    row(f"cvt.{NEAR}.{FTZ}.{SAT}.{{t:f32}}.{{a:{INTEGERS}}}", UNARY, "cvt_int_float"),
    row(f"cvt.{NEAR}.{SAT}.{{t:f16|f64}}.{{a:{INTEGERS}}}", UNARY, "cvt_int_float"),
    row(f"cvt.{NEAR}.{{t:bf16}}.{{a:{SHORT}}}", UNARY, "cvt_int_float", "exact", *BF16),
    # float <-> float of another size
    from_float(f"{NEAR}.{FTZ}.{SAT}", "f32", "f64", "cvt_float_float"),
    from_float(f"{FTZ}.{SAT}", "f64", "f32", "cvt_float_float"),
    from_float(f"{FTZ}.{SAT}", "f32", "f16", "cvt_float_float"),
    from_float(f"{NEAR}.{FTZ}.{SAT}", "f16", "f32", "cvt_float_float"),
    from_float(f"{NEAR}.{SAT}", "f16", "f64", "cvt_float_float"),
    from_float(SAT, "f64", "f16", "cvt_float_float"),
    *to_one("f16", "f32", 80),
    from_float("{rnd:rn|rz}", "bf16", "f32", "cvt_float_float", (7, 0), 80),
    *to_one("bf16", "f32", 80),
    from_float(f"{NEAR}.{FTZ}", "bf16", "f32", "cvt_float_float", *BF16),
    from_float(NEAR, "bf16", "f64", "cvt_float_float", *BF16),
    from_float(f"{ANY}.{FTZ}", "f32", "bf16", "cvt_float_float", *BF16),
    from_float(ANY, "f64", "bf16", "cvt_float_float", *BF16),
    from_float(ANY, "bf16", "f16", "cvt_float_float", *BF16),
    from_float(ANY, "f16", "bf16", "cvt_float_float", *BF16),
    # to an integral value of the same type, or a plain copy
    from_float(f"{WHOLE}.{FTZ}.{SAT}", "f32", "f32", "cvt_same"),
    from_float(f"{WHOLE}.{SAT}", "f64", "f64", "cvt_same"),
    from_float(f"{WHOLE}.{SAT}", "f16", "f16", "cvt_same"),
    from_float(WHOLE, "bf16", "bf16", "cvt_same", *BF16),
    # tf32
    from_float("{rnd:rna}", "tf32", "f32", "cvt_tf32", (7, 0), 80),
    from_float("{rnd:rna}.{satfinite:satfinite}", "tf32", "f32", "cvt_tf32", (8, 1), 80),
    from_float("{rnd:rn|rz}.[relu:relu]", "tf32", "f32", "cvt_tf32", (7, 8), 90),
    from_float("{rnd:rn|rz}.[relu:relu].{satfinite:satfinite}", "tf32", "f32", "cvt_tf32", (8, 6), 100),
    # two f32 to a pair: a becomes the high half
    from_float("{rnd:rn|rz}.[relu:relu]", "f16x2|bf16x2", "f32", "cvt_pair", (7, 0), 80, TWO),
    from_float("{rnd:rn|rz}.[relu:relu].{satfinite:satfinite}", "f16x2|bf16x2", "f32", "cvt_pair", (8, 1), 80, TWO),
    # two clamped integers, below them what c holds
    row("cvt.pack.sat.{t:u16|s16}.{a:s32}", "d:b32, a:a, b:a", "cvt_pack", "exact", (6, 5), 72),
    row("cvt.pack.sat.{t:u8|s8|u4|s4|u2|s2}.{a:s32}.b32", "d:b32, a:a, b:a, c:b32", "cvt_pack", "exact", (6, 5), 72),
    # powers of two, in pairs: the sign is ignored
    *(
        row(
            f"cvt.{{rnd:rz|rp}}.[satfinite:satfinite].{{small:ue8m0x2}}.{{a:{a}}}",
            f"d:small, a:a{b}",
            "cvt_to_power",
            "exact",
            *POWER,
        )
        for a, b in (("f32", ", b:a"), ("bf16x2", ""))
    ),
    row("cvt.rn.{t:bf16x2}.{small:ue8m0x2}", FROM_SMALL, "cvt_from_power", NAN, *POWER),
    # stochastic rounding
    row(
        "cvt.rs.[relu:relu].[satfinite:satfinite].{t:f16x2|bf16x2}.f32",
        "d:t, a:f32, b:f32, r:b32",
        "cvt_stochastic",
        NAN,
        (8, 7),
        100,
        software="all",
    ),
    *(
        row(
            f"cvt.rs.[relu:relu].satfinite.{{small:{small}}}.f32",
            "d:small, {a*4}:f32, r:b32",
            "cvt_stochastic_small",
            exact,
            (8, 7),
            100,
            software="all",
        )
        for small, exact in (("e4m3x4", NAN), ("e5m2x4|e2m3x4|e3m2x4", RANDOM), ("e2m1x4", "exact"))
    ),
    # floats of 4 and 6 bits, in pairs
    to_small(f"{SHORTER}|e2m1x2", "f32", "exact", *POWER, b=", b:a"),
    row(
        f"cvt.{{rnd:rn}}.[relu:relu].{{t:f16x2}}.{{small:{SHORTER}|e2m1x2}}",
        FROM_SMALL,
        "cvt_from_small",
        "exact",
        *POWER,
        software="all",
    ),
    # small floats and pairs of 16-bit ones, since PTX 9.1
    to_small(BYTES, "bf16x2", NAN, (9, 1), 100),
    to_small(f"{SHORTER}|e2m1x2", "f16x2|bf16x2", NAN, (9, 1), 100),
    row(
        "cvt.{rnd:rn}.[relu:relu].[satfinite:satfinite].[scale:scaled::n2::ue8m0].{t:bf16x2}"
        f".{{small:{BYTES}|{SHORTER}|e2m1x2}}",
        "d:t, a:small, s:ue8m0x2?scale",
        "cvt_from_small",
        NAN,
        (9, 2),
        100,
        software="all",
    ),
    # fixed-point numbers of 8 bits, in pairs
    *(
        row(
            f"cvt.{{rnd:rn|rz}}.satfinite.[relu:relu].[scale:scaled::n2::ue8m0].{{small:s2f6x2}}.{{a:{a}}}",
            f"d:small, a:a{b}, s:ue8m0x2?scale",
            "cvt_to_small",
            "exact",
            (9, 1),
            100,
            software="all",
        )
        for a, b in (("f32", ", b:a"), ("bf16x2", ""))
    ),
    row(
        "cvt.{rnd:rn}.[satfinite:satfinite].[relu:relu].[scale:scaled::n2::ue8m0].{t:bf16x2}.{small:s2f6x2}",
        "d:t, a:small, s:ue8m0x2?scale",
        "cvt_from_small",
        "exact",
        (9, 1),
        100,
        software="all",
    ),
    # 8-bit floats, in pairs
    to_small(BYTES, "f32", NAN, (8, 1), 89, b=", b:a"),
    to_small(BYTES, "f16x2", NAN, (8, 1), 89),
    row(
        f"cvt.{{rnd:rn}}.[relu:relu].{{t:f16x2}}.{{small:{BYTES}}}",
        FROM_SMALL,
        "cvt_from_small",
        NAN,
        (8, 1),
        89,
        software="all",
    ),
]
