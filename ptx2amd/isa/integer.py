"""Integer arithmetic (PTX manual 9.7.1). What the manual leaves to the machine is as on
NVIDIA's: quotient and remainder by zero are all ones, the least number divided by -1 is itself, the remainder 0."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import Form, family

row = family(
    "9.7.1",
    "add sub mul mad clmad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk"
    " dp4a dp2a",
    does=NOTHING,
)

INT = "u16|u32|u64|s16|s32|s64"
SIGNED = "s16|s32|s64"
UNSIGNED = "u16|u32|u64"
WIDE = "u16|u32|s16|s32"
PAIRS = "u16x2|s16x2"
FOURS = "u8x4|s8x4"


def packed(syntax: str, lower: str, operands: str = "d:t, a:t, b:t") -> Form:
    """A row for packed integers of PTX 9.2."""
    return row(syntax, operands, lower, since=(9, 2), sm=120)


FORMS = [
    row(f"add.{{t:{INT}}}", "d:t, a:t, b:t", "add {a.t}, {b}", computes="add"),
    row("add.sat.s32", "d:s32, a:s32, b:s32", "call i32 @llvm.sadd.sat.i32({a.t}, {b.t})"),
    row(f"add.{{t:{PAIRS}}}", "d:t, a:t, b:t", "add {a.t}, {b}", since=(8, 0), sm=90),
    packed(f"add.{{t:{FOURS}}}", "add {a.t}, {b}"),
    packed(f"add.{{sat:sat}}.{{t:u32|{PAIRS}|{FOURS}}}", "int_saturated"),
    row(f"sub.{{t:{INT}}}", "d:t, a:t, b:t", "sub {a.t}, {b}", computes="sub"),
    row("sub.sat.s32", "d:s32, a:s32, b:s32", "call i32 @llvm.ssub.sat.i32({a.t}, {b.t})"),
    packed(f"sub.{{t:{FOURS}}}", "sub {a.t}, {b}"),
    packed(f"sub.{{sat:sat}}.{{t:{FOURS}}}", "int_saturated"),
    row(f"mul.lo.{{t:{INT}}}", "d:t, a:t, b:t", "mul {a.t}, {b}", computes="mul", name_words=1),
    row(f"mul.hi.{{t:{INT}}}", "d:t, a:t, b:t", "mul_hi", name_words=1),
    row(f"mul.wide.{{t:{WIDE}}}", "d:2*t, a:t, b:t", "mul_wide", computes="mul", name_words=1),
    row(f"mad.lo.{{t:{INT}}}", "d:t, a:t, b:t, c:t", "mad_lo", computes="mad", name_words=1),
    row(f"mad.hi.{{t:{INT}}}", "d:t, a:t, b:t, c:t", "mul_hi", name_words=1),
    row("mad.hi.{sat:sat}.s32", "d:s32, a:s32, b:s32, c:s32", "mul_hi", name_words=1),
    row(f"mad.wide.{{t:{WIDE}}}", "d:2*t, a:t, b:t, c:2*t", "mul_wide", computes="mad", name_words=1),
    row("mul24.{part:lo|hi}.{t:u32|s32}", "d:t, a:t, b:t", "mul24", name_words=1),
    row("mad24.{part:lo|hi}.{t:u32|s32}", "d:t, a:t, b:t, c:t", "mul24", name_words=1),
    row("mad24.hi.{sat:sat}.s32", "d:s32, a:s32, b:s32, c:s32", "mul24", name_words=1),
    row(f"sad.{{t:{INT}}}", "d:t, a:t, b:t, c:t", "sad"),
    row(f"div.{{t:{INT}}}", "d:t, a:t, b:t", "int_div", computes="div"),
    row(f"rem.{{t:{INT}}}", "d:t, a:t, b:t", "int_rem", computes="rem"),
    row(f"abs.{{t:{SIGNED}}}", "d:t, a:t", "call {a.ty} @llvm.abs.{a.ty}({a.t}, i1 false)"),
    row(f"neg.{{t:{SIGNED}}}", "d:t, a:t", "sub {a.ty} 0, {a}", computes="neg"),
    packed("neg.{t:s8x4}", "sub {a.ty} zeroinitializer, {a}", "d:t, a:t"),
    *(
        form
        for name in ("min", "max")
        for form in (
            row(
                f"{name}.{{t:{SIGNED}}}",
                "d:t, a:t, b:t",
                f"call {{a.ty}} @llvm.s{name}.{{a.ty}}({{a.t}}, {{b.t}})",
            ),
            row(
                f"{name}.{{t:{UNSIGNED}}}",
                "d:t, a:t, b:t",
                f"call {{a.ty}} @llvm.u{name}.{{a.ty}}({{a.t}}, {{b.t}})",
            ),
            row(f"{name}.[relu:relu].{{t:s32|s16x2}}", "d:t, a:t, b:t", "int_minmax", since=(8, 0), sm=90),
            row(f"{name}.{{t:u16x2}}", "d:t, a:t, b:t", "int_minmax", since=(8, 0), sm=90),
            packed(f"{name}.[relu:relu].{{t:s8x4}}", "int_minmax"),
            packed(f"{name}.{{t:u8x4}}", "int_minmax"),
        )
    ),
    row("clmad.{part:lo|hi}.u64", "d:u64, a:u64, b:u64, c:u64", "clmad", since=(9, 3), sm=80, name_words=1),
    row("popc.{t:b32|b64}", "d:u32, a:t", "popc", since=(2, 0), sm=20),
    row("clz.{t:b32|b64}", "d:u32, a:t", "clz", since=(2, 0), sm=20),
    row("bfind.[shiftamt:shiftamt].{t:u32|u64|s32|s64}", "d:u32, a:t", "bfind", since=(2, 0), sm=20),
    row("fns.b32", "d:b32, a:b32, b:b32, c:s32", "fns", since=(6, 0), sm=30),
    row("brev.{t:b32|b64}", "d:t, a:t", "call {a.ty} @llvm.bitreverse.{a.ty}({a.t})", since=(2, 0), sm=20),
    row("bfe.{t:u32|u64|s32|s64}", "d:t, a:t, b:u32, c:u32", "bfe", since=(2, 0), sm=20),
    row("bfi.{t:b32|b64}", "d:t, a:t, b:t, c:u32, len:u32", "bfi", since=(2, 0), sm=20),
    row("bmsk.{mode:clamp|wrap}.b32", "d:b32, a:b32, b:b32", "bmsk", since=(7, 6), sm=70),
    row("szext.{mode:clamp|wrap}.{t:u32|s32}", "d:t, a:t, b:u32", "szext", since=(7, 6), sm=70),
    row("dp4a.{at:u32|s32}.{bt:u32|s32}", "d:u32, a:at, b:bt, c:u32", "dot", since=(5, 0), sm=61),
    row(
        "dp2a.{part:lo|hi}.{at:u32|s32}.{bt:u32|s32}",
        "d:u32, a:at, b:bt, c:u32",
        "dot",
        since=(5, 0),
        sm=61,
        name_words=1,
    ),
]
