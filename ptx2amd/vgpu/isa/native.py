"""Vector instructions as sequences of AVX-512 instructions, for the translation to native code
(runtime/native/native.c).

A sequence does 16 lanes. `x = op y z` is one x86 instruction; its operands are

    A B C K, AH BH CH   sources: the row's operands by name, H the high dword of a 64-bit one
    O OH                what the destination held before
    D DH                the result (each is complete once it was last written)
    E                   a lane mask result: v_cmp's, a carry; sources that are lane masks are mask registers
    VCC                 the lanes' bits of VCC, which the row reads without naming it
    S T U V X Y         temporaries;  P Q R  temporary mask registers;  ODD  the mask register of odd lanes
    SLOW                a mask: these lanes get their results from the row's function in runtime/native/native_slow.c
    #n                  a constant in all lanes
    x = op y z          of vfmadd132 and vpternlogd: x is read too
    x{m} = ...          only the lanes in mask register m; the others keep what x was (mask results: 0)
    op/n                the instruction's immediate byte
    halves; ...; x = join x
                        what is between is done for 8 lanes at a time: 32-bit values from before are in the lower half
                        of their register, as instructions that widen want them; so is x at its end, constants
                        have 64 bits

A `wide` sequence is such a half as a whole: 64-bit operands are one register. Sequences stand in their rows (`x86=`);
here are the notation, its instructions, and the longer sequences.

Operations on constants are done at translation, and what does not contribute to a result that is wanted is left out.
A row without a sequence is called as the interpreter calls it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable

from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Sequence:
    """A vector instruction's native code. wide: 64-bit operands are in one register; half: it converts f16 in MODE's
    rounding mode; needs: the required state ("IEEE_OFF": MODE's bit, "INDEX_OFF": no register index)."""

    text: str
    wide: bool = False
    half: bool = False
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar instruction's native code: enum native_scalar_how; `wide`: of 64 bits; `inverted`: uses the complement
    of the second operand. For COMPARE and CHOOSE (which selects the first operand if a relation holds) these are the
    relation's number and whether it is unsigned."""

    how: str
    wide: int = 0
    inverted: int = 0


def wide(text: str, needs: str = "") -> Sequence:
    return Sequence(text, wide=True, needs=needs)


def half(text: str) -> Sequence:
    return Sequence(text, half=True)


def ieee_off(text: str) -> Sequence:
    return Sequence(text, needs="IEEE_OFF")


def f32(value: float) -> str:
    """The bits of a constant as #n."""
    return f"#{struct.unpack('<I', struct.pack('<f', value))[0]:#x}"


def f64(value: float) -> str:
    return f"#{struct.unpack('<Q', struct.pack('<d', value))[0]:#x}"


#: x86 instruction -> (opcode map, prefix 0-3: none 66 F3 F2, W, opcode, shape). Shapes: see enum x86_shape.
X86 = {
    "vpaddd": (1, 1, 0, 0xFE, "BINARY"), "vpsubd": (1, 1, 0, 0xFA, "BINARY"), "vpandd": (1, 1, 0, 0xDB, "BINARY"),
    "vpord": (1, 1, 0, 0xEB, "BINARY"), "vpxord": (1, 1, 0, 0xEF, "BINARY"), "vpmulld": (2, 1, 0, 0x40, "BINARY"),
    "vpmuludq": (1, 1, 1, 0xF4, "BINARY"), "vpmuldq": (2, 1, 1, 0x28, "BINARY"),
    "vpsllvd": (2, 1, 0, 0x47, "BINARY"), "vpsrlvd": (2, 1, 0, 0x45, "BINARY"), "vpsravd": (2, 1, 0, 0x46, "BINARY"),
    "vpminsd": (2, 1, 0, 0x39, "BINARY"), "vpmaxsd": (2, 1, 0, 0x3D, "BINARY"),
    "vpminud": (2, 1, 0, 0x3B, "BINARY"), "vpmaxud": (2, 1, 0, 0x3F, "BINARY"),
    "vaddps": (1, 0, 0, 0x58, "BINARY"), "vsubps": (1, 0, 0, 0x5C, "BINARY"), "vmulps": (1, 0, 0, 0x59, "BINARY"),
    "vrangeps": (3, 1, 0, 0x50, "BINARY_IMM"), "vpternlogd": (3, 1, 0, 0x25, "CHANGE_IMM"),
    "vfmadd132ps": (2, 1, 0, 0x98, "CHANGE"),
    "vpsrlq": (1, 1, 1, 0x73, "SHIFT2"), "vpsllq": (1, 1, 1, 0x73, "SHIFT6"),
    "vcvtdq2ps": (1, 0, 0, 0x5B, "UNARY"), "vcvtudq2ps": (1, 3, 0, 0x7A, "UNARY"),
    "vcvttps2dq": (1, 2, 0, 0x5B, "UNARY"), "vcvttps2udq": (1, 0, 0, 0x78, "UNARY"),
    "vrndscaleps": (3, 1, 0, 0x08, "UNARY_IMM"), "mov": (1, 1, 0, 0x6F, "UNARY"),
    "vpblendmd": (2, 1, 0, 0x64, "BINARY"),
    "vpcmpd": (3, 1, 0, 0x1F, "COMPARE"), "vpcmpud": (3, 1, 0, 0x1E, "COMPARE"), "vcmpps": (1, 0, 0, 0xC2, "COMPARE"),
    "vpmovd2m": (2, 2, 0, 0x39, "TO_MASK"), "korw": (1, 0, 0, 0x45, "MASKS"), "vptestmd": (2, 1, 0, 0x27, "TEST"),
    "vsqrtps": (1, 0, 0, 0x51, "UNARY"), "vplzcntd": (2, 1, 0, 0x44, "UNARY"),
    "movq": (1, 1, 1, 0x6F, "UNARY"), "vaddpd": (1, 1, 1, 0x58, "BINARY"), "vsubpd": (1, 1, 1, 0x5C, "BINARY"),
    "vmulpd": (1, 1, 1, 0x59, "BINARY"), "vdivpd": (1, 1, 1, 0x5E, "BINARY"), "vminpd": (1, 1, 1, 0x5D, "BINARY"),
    "vmaxpd": (1, 1, 1, 0x5F, "BINARY"), "vsqrtpd": (1, 1, 1, 0x51, "UNARY"),
    "vfmadd132pd": (2, 1, 1, 0x98, "CHANGE"), "vscalefpd": (2, 1, 1, 0x2C, "BINARY"),
    "vrndscalepd": (3, 1, 1, 0x09, "UNARY_IMM"), "vrangepd": (3, 1, 1, 0x50, "BINARY_IMM"),
    "vcmppd": (1, 1, 1, 0xC2, "COMPARE"), "vpcmpq": (3, 1, 1, 0x1F, "COMPARE"), "vpcmpuq": (3, 1, 1, 0x1E, "COMPARE"),
    "vptestmq": (2, 1, 1, 0x27, "TEST"), "vpandq": (1, 1, 1, 0xDB, "BINARY"), "vporq": (1, 1, 1, 0xEB, "BINARY"),
    "vpxorq": (1, 1, 1, 0xEF, "BINARY"), "vpaddq": (1, 1, 1, 0xD4, "BINARY"), "vpsubq": (1, 1, 1, 0xFB, "BINARY"),
    "vpsravq": (2, 1, 1, 0x46, "BINARY"), "vcvtqq2pd": (1, 2, 1, 0xE6, "UNARY"), "vcvttpd2qq": (1, 1, 1, 0x7A, "UNARY"),
    "vcvtps2pd": (1, 0, 0, 0x5A, "UNARY"), "vcvtdq2pd": (1, 2, 0, 0xE6, "UNARY"),
    "vcvtudq2pd": (1, 2, 0, 0x7A, "UNARY"), "vcvtpd2ps": (1, 1, 1, 0x5A, "UNARY"),
    "vcvttpd2dq": (1, 1, 1, 0xE6, "UNARY"),
    "vcvttpd2udq": (1, 0, 1, 0x78, "UNARY"), "vpmovzxdq": (2, 1, 0, 0x35, "UNARY"),
    "vpmovqd": (2, 2, 0, 0x35, "NARROW"), "vpmovdw": (2, 2, 0, 0x33, "NARROW"),
    "vcvtps2ph": (3, 1, 0, 0x1D, "NARROW_IMM"), "vcvtph2ps": (2, 1, 0, 0x13, "UNARY"),
    "vpmovzxwd": (2, 1, 0, 0x33, "UNARY"),
    "halves": (0, 0, 0, 0, "HALVES"), "join": (0, 0, 0, 0, "JOIN"),
}  # fmt: skip


SQRT_F32 = "P = vptestmd A #0x7f800000; S = vpandd A #0x80000000; S{P} = mov A; D = vsqrtps S"
CARRY_IN = "T = vpaddd A B; P = vpcmpud/1 T A; D = mov T; D{C} = vpsubd D #0xffffffff; Q = vpcmpud/1 D T; E = korw P Q"
_BORROW = (
    "T = vpsubd {0} {1}; P = vpcmpud/1 {0} {1}; D = mov T; D{{C}} = vpaddd D #0xffffffff; "
    "Q = vpcmpud/1 T D; E = korw P Q"
)
_WIDE = "S = {mul} A B; T = vpsrlq/32 A; U = vpsrlq/32 B; T = {mul} T U; S = vpsrlq/32 S; S{{ODD}} = mov T"
_MAD64 = (
    "X = vpmulld A B; {wide}; D = vpaddd X C; P = vpcmpud/1 D X; T = vpaddd S CH; DH = mov T; "
    "DH{{P}} = vpsubd DH #0xffffffff"
)
_SHIFT = "S = vpandd A #63; T = vpsubd #32 S; U = vpsubd S #32"
_INT24 = "S = vpsllvd A #8; S = vpsravd S #8; T = vpsllvd B #8; T = vpsravd T #8"

_NAN32, _INF32 = "#0x7fc00000", "#0x7f800000"


def _flushed(to: str, x: str) -> str:
    """f32 denormals become zeros, whatever MODE contains."""
    return f"P = vptestmd {x} #0x7f800000; {to} = vpandd {x} #0x80000000; {to}{{P}} = mov {x}"


def _polynomial(to: str, x: str, coefficients: Iterable[float]) -> str:
    """Horner's rule, with multiplication and addition rounded separately, as in valu_math.h."""
    first, second, *rest = coefficients
    steps = [f"{to} = vmulpd {x} {f64(first)}", f"{to} = vaddpd {to} {f64(second)}"]
    for k in rest:
        steps += [f"{to} = vmulpd {to} {x}", f"{to} = vaddpd {to} {f64(k)}"]
    return "; ".join(steps)


def _factorials(*numbers: int) -> list[float]:
    return [math.copysign(1 / math.factorial(abs(n)), n) for n in numbers]


EXP = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; T = vminpd T {f64(200)}; T = vmaxpd T {f64(-200)}; "
    f"U = vaddpd T {f64(0.5)}; U = vrndscalepd/9 U; T = vsubpd T U; T = vmulpd T {f64(0.693147180559945309417)}; "
    f"{_polynomial('V', 'T', _factorials(*range(10, -1, -1)))}; "
    f"V = vscalefpd V U; V = vcvtpd2ps V; V = join V; {_flushed('D', 'V')}; Q = vcmpps/3 S S; D{{Q}} = vaddps S S"
)
LOG = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; P = vcmppd/0x1e T #0; P{{P}} = vcmppd/0x11 T {f64(math.inf)}; "
    f"U = movq {f64(1)}; U{{P}} = movq T; T = vpsrlq/32 U; T = vpsubq T #0x3fe6a09e; T = vpsllq/32 T; "
    f"T = vpsravq T #52; X = vpsllq/52 T; X = vpsubq U X; T = vcvtqq2pd T; U = vsubpd X {f64(1)}; "
    f"X = vaddpd X {f64(1)}; U = vdivpd U X; X = vmulpd U U; "
    f"{_polynomial('V', 'X', [1 / n for n in range(19, 0, -2)])}; V = vmulpd V U; "
    f"V = vmulpd V {f64(2.88539008177792681472)}; V = vaddpd V T; V = vcvtpd2ps V; V = join V; D = mov V; "
    f"P = vcmpps/0 S {_INF32}; D{{P}} = mov {_INF32}; P = vcmpps/0 S #0; D{{P}} = mov #0xff800000; "
    f"P = vcmpps/0x11 S #0; D{{P}} = mov {_NAN32}; P = vcmpps/3 S S; D{{P}} = vaddps S S"
)


RCP = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; T = vdivpd {f64(1)} T; V = vcvtpd2ps T; V = join V; "
    f"{_flushed('D', 'V')}"
)


def sine(quarter: int) -> str:
    turn = f"U = vpaddq U #{quarter}; " if quarter else ""
    return (
        f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; U = vrndscalepd/9 T; T = vsubpd T U; U = vrndscalepd/9 T; "
        f"T = vsubpd T U; U = vmulpd T {f64(4)}; U = vaddpd U {f64(0.5)}; U = vrndscalepd/9 U; "
        f"X = vmulpd U {f64(0.25)}; T = vsubpd T X; T = vmulpd T {f64(6.28318530717958647692)}; X = vmulpd T T; "
        f"{_polynomial('V', 'X', [*_factorials(-11, 9, -7, 5, -3), 1])}; V = vmulpd V T; "
        f"{_polynomial('T', 'X', [*_factorials(12, -10, 8, -6, 4), -0.5, 1])}; U = vcvttpd2qq U; {turn}"
        f"P = vptestmq U #1; V{{P}} = movq T; P = vptestmq U #2; V{{P}} = vpxorq V #0x8000000000000000; "
        f"V = vcvtpd2ps V; V = join V; D = mov V; T = vsubps S S; P = vcmpps/4 T #0; D{{P}} = mov {_NAN32}"
    )


SUB_CO_CI_U32 = _BORROW.format("A", "B")
SUBREV_CO_CI_U32 = _BORROW.format("B", "A")
LSHLREV_B64 = (
    f"{_SHIFT}; V = vpsllvd BH S; T = vpsrlvd B T; U = vpsllvd B U; V = vpord V T; DH = vpord V U; D = vpsllvd B S"
)
LSHRREV_B64 = (
    f"{_SHIFT}; V = vpsrlvd B S; T = vpsllvd BH T; U = vpsrlvd BH U; V = vpord V T; D = vpord V U; DH = vpsrlvd BH S"
)
ASHRREV_I64 = (
    f"{_SHIFT}; V = vpsrlvd B S; T = vpsllvd BH T; V = vpord V T; U = vpsravd BH U; "
    "P = vpcmpud/6 S #31; D = mov V; D{P} = mov U; DH = vpsravd BH S"
)
MUL_HI_U32 = _WIDE.format(mul="vpmuludq") + "; D = mov S"
MUL_HI_I32 = _WIDE.format(mul="vpmuldq") + "; D = mov S"
MUL_I32_I24 = f"{_INT24}; D = vpmulld S T"
MAD_I32_I24 = f"{_INT24}; S = vpmulld S T; D = vpaddd S C"
MAD_U64_U32 = _MAD64.format(wide=_WIDE.format(mul="vpmuludq")) + "; P = vpcmpud/1 T S; Q = vpcmpud/1 DH T; E = korw P Q"
MAD_I64_I32 = (
    _MAD64.format(wide=_WIDE.format(mul="vpmuldq"))
    + "; U = vpxord S DH; V = vpxord CH DH; U = vpandd U V; U = vpxord U DH; E = vpmovd2m U"
)
CVT_I32_F32 = (
    f"D = vcvttps2dq A; P = vcmpps/0x1d A {f32(2**31)}; D{{P}} = mov #0x7fffffff; Q = vcmpps/3 A A; D{{Q}} = mov #0"
)
CVT_I32_F64 = (
    f"S = movq A; P = vcmppd/3 A A; S{{P}} = movq #0; S = vminpd S {f64(2**31 - 1)}; "
    f"S = vmaxpd S {f64(-(2**31))}; D = vcvttpd2dq S"
)
RSQ_F32 = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; T = vsqrtpd T; T = vdivpd {f64(1)} T; "
    "V = vcvtpd2ps T; V = join V; D = mov V"
)
DIV_SCALE_F32 = (
    "D = mov A; E = vpcmpd/3 A A; S = vpsrlvd B #23; S = vpandd S #255; T = vpsrlvd C #23; "
    "T = vpandd T #255; U = vpsubd S #1; P = vpcmpud/6 U #251; U = vpsubd T #24; Q = vpcmpud/6 U #230; P = korw P Q; "
    "U = vpsubd T S; U = vpaddd U #125; Q = vpcmpud/6 U #220; SLOW = korw P Q"
)
DIV_FIXUP_F32 = (
    "S = vpandd B #0x7fffffff; T = vpandd C #0x7fffffff; U = vpsubd S #0x800000; "
    "P = vpcmpud/5 U #0x7f000000; U = vpsubd T #0x800000; Q = vpcmpud/5 U #0x7f000000; P = korw P Q; "
    "Q = vcmpps/3 A A; P = korw P Q; U = vpsubd T S; Q = vpcmpd/1 U #0xb5800000; SLOW = korw P Q; "
    f"X = vpxord B C; X = vpandd X #0x80000000; U = vpandd A #0x7fffffff; U = vpord U X; D = vmulps U {f32(1)}"
)
DIV_FIXUP_F64 = (
    "S = vpandq B #0x7fffffffffffffff; T = vpandq C #0x7fffffffffffffff; "
    "U = vpsubq S #0x10000000000000; P = vpcmpuq/5 U #0x7fe0000000000000; U = vpsubq T #0x10000000000000; "
    "Q = vpcmpuq/5 U #0x7fe0000000000000; P = korw P Q; Q = vcmppd/3 A A; P = korw P Q; U = vpsubq T S; "
    f"Q = vpcmpq/1 U #{(-1074 << 52) & (1 << 64) - 1:#x}; SLOW = korw P Q; X = vpxorq B C; "
    f"X = vpandq X #0x8000000000000000; U = vpandq A #0x7fffffffffffffff; U = vporq U X; D = vmulpd U {f64(1)}"
)
CLASS_F32 = (
    "S = vpsllvd A #1; T = mov #0x40; U = mov #0x20; P = vpcmpud/5 S #1; T{P} = mov #0x80; "
    "U{P} = mov #0x10; P = vpcmpud/5 S #0x01000000; T{P} = mov #0x100; U{P} = mov #8; P = vpcmpud/5 S #0xff000000; "
    "T{P} = mov #0x200; U{P} = mov #4; P = vpcmpd/1 A #0; T{P} = mov U; P = vpcmpud/6 S #0xff000000; T{P} = mov #1; "
    "P = vpcmpud/5 S #0xff800000; T{P} = mov #2; E = vptestmd T B"
)
CLASS_F64 = (
    "S = vpsllq/1 A; T = movq #0x40; U = movq #0x20; P = vpcmpuq/5 S #1; T{P} = movq #0x80; "
    "U{P} = movq #0x10; P = vpcmpuq/5 S #0x20000000000000; T{P} = movq #0x100; U{P} = movq #8; "
    "P = vpcmpuq/5 S #0xffe0000000000000; T{P} = movq #0x200; U{P} = movq #4; P = vpcmpq/1 A #0; T{P} = movq U; "
    "P = vpcmpuq/6 S #0xffe0000000000000; T{P} = movq #1; P = vpcmpuq/5 S #0xfff0000000000000; T{P} = movq #2; "
    "U = vpmovzxdq B; E = vptestmq T U"
)
FRACT_F32 = f"T = vrndscaleps/9 A; D = vsubps A T; P = vcmpps/0x1d D {f32(1)}; D{{P}} = mov #0x3f7fffff"
FRACT_F64 = f"T = vrndscalepd/9 A; D = vsubpd A T; P = vcmppd/0x1d D {f64(1)}; D{{P}} = movq #0x3fefffffffffffff"


def rounded32(mode: int) -> Sequence:
    """To an integer: vrndscale's mode."""
    return Sequence(f"T = vrndscaleps/{mode} A; D = vmulps T {f32(1)}")


def rounded64(mode: int) -> Sequence:
    return wide(f"T = vrndscalepd/{mode} A; D = vmulpd T {f64(1)}")


_QUIET = f"S = vmulps A {f32(1)}; T = vmulps B {f32(1)}"
_QUIET64 = f"S = vmulpd A {f64(1)}; T = vmulpd B {f64(1)}"
MIN_F32, MAX_F32 = (ieee_off(f"{_QUIET}; D = vrangeps/{n} T S") for n in (4, 5))
MIN_F64, MAX_F64 = (wide(f"{_QUIET64}; D = vrangepd/{n} T S", needs="IEEE_OFF") for n in (4, 5))


def _integer_extrema(low: str, high: str) -> dict[str, str | Sequence]:
    return {
        "min3": f"T = {low} A B; D = {low} T C",
        "max3": f"T = {high} A B; D = {high} T C",
        "med3": f"T = {low} A B; U = {high} A B; U = {low} U C; D = {high} T U",
        "maxmin": f"T = {high} A B; D = {low} T C",
        "minmax": f"T = {low} A B; D = {high} T C",
    }


_THIRD = f"S = vmulps C {f32(1)}"
#: Type -> minimum, maximum and median of three.
EXTREMA: dict[str, dict[str, str | Sequence]] = {
    "f32": {
        "min3": ieee_off(f"{_QUIET}; T = vrangeps/4 T S; {_THIRD}; D = vrangeps/4 T S"),
        "max3": ieee_off(f"{_QUIET}; T = vrangeps/5 T S; {_THIRD}; D = vrangeps/5 T S"),
    },
    "i32": _integer_extrema("vpminsd", "vpmaxsd"),
    "u32": _integer_extrema("vpminud", "vpmaxud"),
    "f16": {},
    "i16": {},
    "u16": {},
}

#: Relation -> vpcmp's and vcmpps's predicates.
INTEGER_PREDICATES = {"lt": 1, "eq": 0, "le": 2, "gt": 6, "ne": 4, "ge": 5}
FLOAT_PREDICATES = {
    "lt": 0x11, "eq": 0, "le": 0x12, "gt": 0x1E, "lg": 0x0C, "ge": 0x1D, "o": 7, "u": 3, "nge": 0x19, "nlg": 8,
    "ngt": 0x1A, "nle": 0x16, "neq": 4, "nlt": 0x15,
}  # fmt: skip
_DWORDS = {"lt": (1, 1), "le": (1, 2), "gt": (6, 6), "ge": (6, 5)}


def comparison(relation: str, typ: str) -> str | Sequence:
    """For v_cmp and v_cmpx; "" if there is none. 16-bit integers are extended to 32 bits."""
    if typ in ("f32", "f64"):
        if relation not in FLOAT_PREDICATES:
            return ""
        n = FLOAT_PREDICATES[relation]
        return f"E = vcmpps/{n} A B" if typ == "f32" else wide(f"E = vcmppd/{n} A B")
    if relation not in INTEGER_PREDICATES or typ == "f16":
        return ""
    compare = "vpcmpd" if typ[0] == "i" else "vpcmpud"
    if not typ.endswith("64"):
        return f"E = {compare}/{INTEGER_PREDICATES[relation]} A B"
    if relation == "eq":
        return "P = vpcmpd/0 AH BH; E{P} = vpcmpd/0 A B"
    if relation == "ne":
        return "P = vpcmpd/4 AH BH; Q = vpcmpd/4 A B; E = korw P Q"
    high, low = _DWORDS[relation]
    return f"P = {compare}/{high} AH BH; Q = vpcmpd/0 AH BH; Q{{Q}} = vpcmpud/{low} A B; E = korw P Q"
