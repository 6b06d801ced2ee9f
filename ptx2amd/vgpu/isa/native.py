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

Sequences in WIDE are such halves as a whole: 64-bit operands are one register.


Operations on constants are done at translation, and what does not contribute to a result that is wanted is left out.
A row without a sequence is called as the interpreter calls it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from ptx2amd.vgpu.isa.vopc import FLOAT_RELATIONS, INTEGER_RELATIONS


def _f32(value: float) -> str:
    """The bits of a constant as #n."""
    return f"#{struct.unpack('<I', struct.pack('<f', value))[0]:#x}"


def _f64(value: float) -> str:
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


_CARRY_IN = "T = vpaddd A B; P = vpcmpud/1 T A; D = mov T; D{C} = vpsubd D #0xffffffff; Q = vpcmpud/1 D T; E = korw P Q"
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
    """f32 denormals become zeros, whatever MODE says."""
    return f"P = vptestmd {x} #0x7f800000; {to} = vpandd {x} #0x80000000; {to}{{P}} = mov {x}"


def _polynomial(to: str, x: str, coefficients: Sequence[float]) -> str:
    """Horner's rule, multiplication and addition rounded apart, as valu_math.h has it."""
    first, second, *rest = coefficients
    steps = [f"{to} = vmulpd {x} {_f64(first)}", f"{to} = vaddpd {to} {_f64(second)}"]
    for k in rest:
        steps += [f"{to} = vmulpd {to} {x}", f"{to} = vaddpd {to} {_f64(k)}"]
    return "; ".join(steps)


def _factorials(*numbers: int) -> list[float]:
    return [math.copysign(1 / math.factorial(abs(n)), n) for n in numbers]


_EXP = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; T = vminpd T {_f64(200)}; T = vmaxpd T {_f64(-200)}; "
    f"U = vaddpd T {_f64(0.5)}; U = vrndscalepd/9 U; T = vsubpd T U; T = vmulpd T {_f64(0.693147180559945309417)}; "
    f"{_polynomial('V', 'T', _factorials(*range(10, -1, -1)))}; "
    f"V = vscalefpd V U; V = vcvtpd2ps V; V = join V; {_flushed('D', 'V')}; Q = vcmpps/3 S S; D{{Q}} = vaddps S S"
)
_LOG = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; P = vcmppd/0x1e T #0; P{{P}} = vcmppd/0x11 T {_f64(math.inf)}; "
    f"U = movq {_f64(1)}; U{{P}} = movq T; T = vpsrlq/32 U; T = vpsubq T #0x3fe6a09e; T = vpsllq/32 T; "
    f"T = vpsravq T #52; X = vpsllq/52 T; X = vpsubq U X; T = vcvtqq2pd T; U = vsubpd X {_f64(1)}; "
    f"X = vaddpd X {_f64(1)}; U = vdivpd U X; X = vmulpd U U; "
    f"{_polynomial('V', 'X', [1 / n for n in range(19, 0, -2)])}; V = vmulpd V U; "
    f"V = vmulpd V {_f64(2.88539008177792681472)}; V = vaddpd V T; V = vcvtpd2ps V; V = join V; D = mov V; "
    f"P = vcmpps/0 S {_INF32}; D{{P}} = mov {_INF32}; P = vcmpps/0 S #0; D{{P}} = mov #0xff800000; "
    f"P = vcmpps/0x11 S #0; D{{P}} = mov {_NAN32}; P = vcmpps/3 S S; D{{P}} = vaddps S S"
)


_RCP = (
    f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; T = vdivpd {_f64(1)} T; V = vcvtpd2ps T; V = join V; "
    f"{_flushed('D', 'V')}"
)


def _sine(quarter: int) -> str:
    turn = f"U = vpaddq U #{quarter}; " if quarter else ""
    return (
        f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; U = vrndscalepd/9 T; T = vsubpd T U; U = vrndscalepd/9 T; "
        f"T = vsubpd T U; U = vmulpd T {_f64(4)}; U = vaddpd U {_f64(0.5)}; U = vrndscalepd/9 U; "
        f"X = vmulpd U {_f64(0.25)}; T = vsubpd T X; T = vmulpd T {_f64(6.28318530717958647692)}; X = vmulpd T T; "
        f"{_polynomial('V', 'X', [*_factorials(-11, 9, -7, 5, -3), 1])}; V = vmulpd V T; "
        f"{_polynomial('T', 'X', [*_factorials(12, -10, 8, -6, 4), -0.5, 1])}; U = vcvttpd2qq U; {turn}"
        f"P = vptestmq U #1; V{{P}} = movq T; P = vptestmq U #2; V{{P}} = vpxorq V #0x8000000000000000; "
        f"V = vcvtpd2ps V; V = join V; D = mov V; T = vsubps S S; P = vcmpps/4 T #0; D{{P}} = mov {_NAN32}"
    )


#: Row -> sequence.
SEQUENCES = {
    "v_mov_b32": "D = mov A",
    "v_mov_b64": "D = mov A; DH = mov AH",
    "v_not_b32": "D = vpxord A #0xffffffff",
    "v_add_nc_u32": "D = vpaddd A B",
    "v_add_nc_i32": "D = vpaddd A B",
    "v_sub_nc_u32": "D = vpsubd A B",
    "v_sub_nc_i32": "D = vpsubd A B",
    "v_subrev_nc_u32": "D = vpsubd B A",
    "v_add_co_u32": "D = vpaddd A B; E = vpcmpud/1 D A",
    "v_sub_co_u32": "D = vpsubd A B; E = vpcmpud/1 A B",
    "v_subrev_co_u32": "D = vpsubd B A; E = vpcmpud/1 B A",
    "v_add_co_ci_u32": _CARRY_IN,
    "v_sub_co_ci_u32": _BORROW.format("A", "B"),
    "v_subrev_co_ci_u32": _BORROW.format("B", "A"),
    "v_and_b32": "D = vpandd A B",
    "v_or_b32": "D = vpord A B",
    "v_xor_b32": "D = vpxord A B",
    "v_xnor_b32": "T = vpxord A B; D = vpxord T #0xffffffff",
    "v_lshlrev_b32": "S = vpandd A #31; D = vpsllvd B S",
    "v_lshrrev_b32": "S = vpandd A #31; D = vpsrlvd B S",
    "v_ashrrev_i32": "S = vpandd A #31; D = vpsravd B S",
    "v_lshlrev_b64": f"{_SHIFT}; V = vpsllvd BH S; T = vpsrlvd B T; U = vpsllvd B U; V = vpord V T; DH = vpord V U; "
    "D = vpsllvd B S",
    "v_lshrrev_b64": f"{_SHIFT}; V = vpsrlvd B S; T = vpsllvd BH T; U = vpsrlvd BH U; V = vpord V T; D = vpord V U; "
    "DH = vpsrlvd BH S",
    "v_ashrrev_i64": f"{_SHIFT}; V = vpsrlvd B S; T = vpsllvd BH T; V = vpord V T; U = vpsravd BH U; "
    "P = vpcmpud/6 S #31; D = mov V; D{P} = mov U; DH = vpsravd BH S",
    "v_lshl_add_u64": "S = vpandd B #7; T = vpsllvd A S; U = vpsllvd AH S; S = vpsubd #32 S; S = vpsrlvd A S; "
    "U = vpord U S; D = vpaddd T C; P = vpcmpud/1 D C; DH = vpaddd U CH; DH{P} = vpsubd DH #0xffffffff",
    "v_lshl_add_u32": "S = vpandd B #31; S = vpsllvd A S; D = vpaddd S C",
    "v_add_lshl_u32": "S = vpandd C #31; T = vpaddd A B; D = vpsllvd T S",
    "v_lshl_or_b32": "S = vpandd B #31; S = vpsllvd A S; D = vpord S C",
    "v_add3_u32": "T = vpaddd A B; D = vpaddd T C",
    "v_xad_u32": "T = vpxord A B; D = vpaddd T C",
    "v_and_or_b32": "T = vpandd A B; D = vpord T C",
    "v_or3_b32": "T = vpord A B; D = vpord T C",
    "v_xor3_b32": "T = vpxord A B; D = vpxord T C",
    "v_bfi_b32": "D = mov A; D = vpternlogd/0xca B C",
    "v_bfe_u32": "S = vpandd B #31; T = vpsrlvd A S; S = vpandd C #31; S = vpsllvd #1 S; S = vpaddd S #0xffffffff; "
    "D = vpandd T S",
    "v_bfe_i32": "S = vpandd B #31; T = vpsrlvd A S; S = vpandd C #31; U = vpsllvd #1 S; U = vpaddd U #0xffffffff; "
    "T = vpandd T U; S = vpsubd S #1; S = vpsllvd #1 S; T = vpxord T S; D = vpsubd T S",
    "v_alignbit_b32": "S = vpandd C #31; T = vpsrlvd B S; S = vpsubd #32 S; S = vpsllvd A S; D = vpord S T",
    "v_mul_lo_u32": "D = vpmulld A B",
    "v_mul_hi_u32": _WIDE.format(mul="vpmuludq") + "; D = mov S",
    "v_mul_hi_i32": _WIDE.format(mul="vpmuldq") + "; D = mov S",
    "v_mul_u32_u24": "S = vpandd A #0xffffff; T = vpandd B #0xffffff; D = vpmulld S T",
    "v_mul_i32_i24": f"{_INT24}; D = vpmulld S T",
    "v_mad_u32_u24": "S = vpandd A #0xffffff; T = vpandd B #0xffffff; S = vpmulld S T; D = vpaddd S C",
    "v_mad_i32_i24": f"{_INT24}; S = vpmulld S T; D = vpaddd S C",
    "v_mad_u64_u32": _MAD64.format(wide=_WIDE.format(mul="vpmuludq"))
    + "; P = vpcmpud/1 T S; Q = vpcmpud/1 DH T; E = korw P Q",
    "v_mad_i64_i32": _MAD64.format(wide=_WIDE.format(mul="vpmuldq"))
    + "; U = vpxord S DH; V = vpxord CH DH; U = vpandd U V; U = vpxord U DH; E = vpmovd2m U",
    "v_min_i32": "D = vpminsd A B",
    "v_max_i32": "D = vpmaxsd A B",
    "v_min_u32": "D = vpminud A B",
    "v_max_u32": "D = vpmaxud A B",
    "v_min3_i32": "T = vpminsd A B; D = vpminsd T C",
    "v_max3_i32": "T = vpmaxsd A B; D = vpmaxsd T C",
    "v_min3_u32": "T = vpminud A B; D = vpminud T C",
    "v_max3_u32": "T = vpmaxud A B; D = vpmaxud T C",
    "v_med3_i32": "T = vpminsd A B; U = vpmaxsd A B; U = vpminsd U C; D = vpmaxsd T U",
    "v_med3_u32": "T = vpminud A B; U = vpmaxud A B; U = vpminud U C; D = vpmaxud T U",
    "v_cndmask_b32": "D = mov A; D{C} = mov B",
    "v_add_f32": "D = vaddps A B",
    "v_sub_f32": "D = vsubps A B",
    "v_subrev_f32": "D = vsubps B A",
    "v_mul_f32": "D = vmulps A B",
    "v_fmac_f32": "D = mov A; D = vfmadd132ps O B",
    "v_fma_f32": "D = mov A; D = vfmadd132ps C B",
    "v_fmamk_f32": "D = mov A; D = vfmadd132ps B K",
    "v_fmaak_f32": "D = mov A; D = vfmadd132ps K B",
    "v_min_f32": f"S = vmulps A {_f32(1)}; T = vmulps B {_f32(1)}; D = vrangeps/4 T S",
    "v_max_f32": f"S = vmulps A {_f32(1)}; T = vmulps B {_f32(1)}; D = vrangeps/5 T S",
    "v_floor_f32": f"T = vrndscaleps/9 A; D = vmulps T {_f32(1)}",
    "v_ceil_f32": f"T = vrndscaleps/10 A; D = vmulps T {_f32(1)}",
    "v_trunc_f32": f"T = vrndscaleps/11 A; D = vmulps T {_f32(1)}",
    "v_rndne_f32": f"T = vrndscaleps/8 A; D = vmulps T {_f32(1)}",
    "v_cvt_f32_i32": "D = vcvtdq2ps A",
    "v_cvt_f32_u32": "D = vcvtudq2ps A",
    "v_cvt_i32_f32": f"D = vcvttps2dq A; P = vcmpps/0x1d A {_f32(2**31)}; D{{P}} = mov #0x7fffffff; "
    "Q = vcmpps/3 A A; D{Q} = mov #0",
    "v_cvt_u32_f32": "D = vcvttps2udq A; P = vcmpps/0x19 A #0; D{P} = mov #0",
    "v_max3_f32": f"S = vmulps A {_f32(1)}; T = vmulps B {_f32(1)}; T = vrangeps/5 T S; S = vmulps C {_f32(1)}; "
    "D = vrangeps/5 T S",
    "v_min3_f32": f"S = vmulps A {_f32(1)}; T = vmulps B {_f32(1)}; T = vrangeps/4 T S; S = vmulps C {_f32(1)}; "
    "D = vrangeps/4 T S",
    "v_maxmin_i32": "T = vpmaxsd A B; D = vpminsd T C",
    "v_minmax_i32": "T = vpminsd A B; D = vpmaxsd T C",
    "v_maxmin_u32": "T = vpmaxud A B; D = vpminud T C",
    "v_minmax_u32": "T = vpminud A B; D = vpmaxud T C",
    "v_fract_f32": f"T = vrndscaleps/9 A; D = vsubps A T; P = vcmpps/0x1d D {_f32(1)}; D{{P}} = mov #0x3f7fffff",
    "v_ldexp_f32": "S = vpminsd B #600; S = vpmaxsd S #0xfffffda8; halves; T = vcvtps2pd A; U = vcvtdq2pd S; "
    "T = vscalefpd T U; V = vcvtpd2ps T; V = join V; D = mov V",
    "v_exp_f32": _EXP,
    "v_log_f32": _LOG,
    "v_sin_f32": _sine(0),
    "v_cos_f32": _sine(1),
    "v_rcp_f32": _RCP,
    "v_rcp_iflag_f32": _RCP,
    "v_rsq_f32": f"{_flushed('S', 'A')}; halves; T = vcvtps2pd S; T = vsqrtpd T; T = vdivpd {_f64(1)} T; "
    "V = vcvtpd2ps T; V = join V; D = mov V",
    "v_sqrt_f32": f"{_flushed('S', 'A')}; D = vsqrtps S",
    "v_div_scale_f32": "D = mov A; E = vpcmpd/3 A A; S = vpsrlvd B #23; S = vpandd S #255; T = vpsrlvd C #23; "
    "T = vpandd T #255; U = vpsubd S #1; P = vpcmpud/6 U #251; U = vpsubd T #24; Q = vpcmpud/6 U #230; P = korw P Q; "
    "U = vpsubd T S; U = vpaddd U #125; Q = vpcmpud/6 U #220; SLOW = korw P Q",
    "v_div_fmas_f32": "D = mov A; D = vfmadd132ps C B; SLOW = korw VCC VCC",
    "v_div_fixup_f32": "S = vpandd B #0x7fffffff; T = vpandd C #0x7fffffff; U = vpsubd S #0x800000; "
    "P = vpcmpud/5 U #0x7f000000; U = vpsubd T #0x800000; Q = vpcmpud/5 U #0x7f000000; P = korw P Q; "
    "Q = vcmpps/3 A A; P = korw P Q; U = vpsubd T S; Q = vpcmpd/1 U #0xb5800000; SLOW = korw P Q; "
    f"X = vpxord B C; X = vpandd X #0x80000000; U = vpandd A #0x7fffffff; U = vpord U X; D = vmulps U {_f32(1)}",
    "v_cmp_class_f32": "S = vpsllvd A #1; T = mov #0x40; U = mov #0x20; P = vpcmpud/5 S #1; T{P} = mov #0x80; "
    "U{P} = mov #0x10; P = vpcmpud/5 S #0x01000000; T{P} = mov #0x100; U{P} = mov #8; P = vpcmpud/5 S #0xff000000; "
    "T{P} = mov #0x200; U{P} = mov #4; P = vpcmpd/1 A #0; T{P} = mov U; P = vpcmpud/6 S #0xff000000; T{P} = mov #1; "
    "P = vpcmpud/5 S #0xff800000; T{P} = mov #2; E = vptestmd T B",
    "v_clz_i32_u32": "D = vplzcntd A; P = vpcmpd/0 A #0; D{P} = mov #0xffffffff",
    "v_cls_i32": "S = vpsravd A #31; S = vpxord A S; D = vplzcntd S; P = vpcmpd/0 S #0; D{P} = mov #0xffffffff",
    "v_ctz_i32_b32": "S = vpsubd #0 A; S = vpandd S A; S = vplzcntd S; D = vpsubd #31 S; P = vpcmpd/0 A #0; "
    "D{P} = mov #0xffffffff",
    "v_bfm_b32": "S = vpandd A #31; T = vpsllvd #1 S; T = vpsubd T #1; S = vpandd B #31; D = vpsllvd T S",
    "v_cvt_pk_u16_u32": "S = vpminud A #65535; T = vpminud B #65535; T = vpsllvd T #16; D = vpord S T",
    **{
        f"v_cvt_f32_ubyte{k}": f"T = vpsrlvd A #{8 * k}; T = vpandd T #255; D = vcvtdq2ps T"
        for k in range(4)
    },
}  # fmt: skip

#: Relation -> vpcmp's and vcmpps's predicates.
_INTEGER = {"lt": 1, "eq": 0, "le": 2, "gt": 6, "ne": 4, "ge": 5}
_FLOAT = {
    "lt": 0x11, "eq": 0, "le": 0x12, "gt": 0x1E, "lg": 0x0C, "ge": 0x1D, "o": 7, "u": 3, "nge": 0x19, "nlg": 8,
    "ngt": 0x1A, "nle": 0x16, "neq": 4, "nlt": 0x15,
}  # fmt: skip
for _relation in INTEGER_RELATIONS:
    if _relation in _INTEGER:
        _n = _INTEGER[_relation]
        SEQUENCES[f"v_cmp_{_relation}_i32"] = f"E = vpcmpd/{_n} A B"
        SEQUENCES[f"v_cmp_{_relation}_u32"] = f"E = vpcmpud/{_n} A B"
for _relation in FLOAT_RELATIONS:
    if _relation in _FLOAT:
        SEQUENCES[f"v_cmp_{_relation}_f32"] = f"E = vcmpps/{_FLOAT[_relation]} A B"
for _sign, _compare in (("i", "vpcmpd"), ("u", "vpcmpud")):
    for _relation, _high, _low in (("lt", 1, 1), ("le", 1, 2), ("gt", 6, 6), ("ge", 6, 5)):
        SEQUENCES[f"v_cmp_{_relation}_{_sign}64"] = (
            f"P = {_compare}/{_high} AH BH; Q = vpcmpd/0 AH BH; Q{{Q}} = vpcmpud/{_low} A B; E = korw P Q"
        )
    SEQUENCES[f"v_cmp_eq_{_sign}64"] = "P = vpcmpd/0 AH BH; E{P} = vpcmpd/0 A B"
    SEQUENCES[f"v_cmp_ne_{_sign}64"] = "P = vpcmpd/4 AH BH; Q = vpcmpd/4 A B; E = korw P Q"

#: Integers of 16 bits come extended to 32 bits, by zeros or their sign; of results only the low 16 bits count.
for _name, _text in {
    "and_b16": "D = vpandd A B", "or_b16": "D = vpord A B", "xor_b16": "D = vpxord A B",
    "not_b16": "D = vpxord A #0xffffffff", "mov_b16": "D = mov A", "cndmask_b16": "D = mov A; D{C} = mov B",
    "lshlrev_b16": "S = vpandd A #15; D = vpsllvd B S", "lshrrev_b16": "S = vpandd A #15; D = vpsrlvd B S",
    "ashrrev_i16": "S = vpandd A #15; D = vpsravd B S",
    "add_nc_u16": "D = vpaddd A B", "sub_nc_u16": "D = vpsubd A B", "add_nc_i16": "D = vpaddd A B",
    "sub_nc_i16": "D = vpsubd A B", "mul_lo_u16": "D = vpmulld A B", "mad_u16": "S = vpmulld A B; D = vpaddd S C",
    "max_u16": "D = vpmaxud A B", "min_u16": "D = vpminud A B", "max_i16": "D = vpmaxsd A B",
    "min_i16": "D = vpminsd A B",
}.items():  # fmt: skip
    SEQUENCES[f"v_{_name}"] = _text
for _relation in INTEGER_RELATIONS:
    if _relation in _INTEGER:
        SEQUENCES[f"v_cmp_{_relation}_i16"] = f"E = vpcmpd/{_INTEGER[_relation]} A B"
        SEQUENCES[f"v_cmp_{_relation}_u16"] = f"E = vpcmpud/{_INTEGER[_relation]} A B"
#: f16 is converted in MODE's one rounding mode; denormals count.
HALF = {
    "v_cvt_f32_f16": "S = vpmovdw A; D = vcvtph2ps S",
    "v_cvt_f16_f32": "S = vcvtps2ph/4 A; D = vpmovzxwd S",
}
SEQUENCES |= HALF

#: The f64 rows, in halves as a whole.
WIDE = {
    "v_add_f64": "D = vaddpd A B",
    "v_mul_f64": "D = vmulpd A B",
    "v_fma_f64": "D = movq A; D = vfmadd132pd C B",
    "v_fmac_f64": "D = movq A; D = vfmadd132pd O B",
    "v_min_f64": f"S = vmulpd A {_f64(1)}; T = vmulpd B {_f64(1)}; D = vrangepd/4 T S",
    "v_max_f64": f"S = vmulpd A {_f64(1)}; T = vmulpd B {_f64(1)}; D = vrangepd/5 T S",
    "v_rcp_f64": f"D = vdivpd {_f64(1)} A",
    "v_rsq_f64": f"T = vsqrtpd A; D = vdivpd {_f64(1)} T",
    "v_sqrt_f64": "D = vsqrtpd A",
    "v_floor_f64": f"T = vrndscalepd/9 A; D = vmulpd T {_f64(1)}",
    "v_ceil_f64": f"T = vrndscalepd/10 A; D = vmulpd T {_f64(1)}",
    "v_trunc_f64": f"T = vrndscalepd/11 A; D = vmulpd T {_f64(1)}",
    "v_rndne_f64": f"T = vrndscalepd/8 A; D = vmulpd T {_f64(1)}",
    "v_fract_f64": f"T = vrndscalepd/9 A; D = vsubpd A T; P = vcmppd/0x1d D {_f64(1)}; "
    "D{P} = movq #0x3fefffffffffffff",
    "v_ldexp_f64": f"T = vmulpd A {_f64(1)}; S = vcvtdq2pd B; D = vscalefpd T S",
    "v_cvt_f64_i32": "D = vcvtdq2pd A",
    "v_cvt_f64_u32": "D = vcvtudq2pd A",
    "v_cvt_f64_f32": "D = vcvtps2pd A",
    "v_cvt_f32_f64": "D = vcvtpd2ps A",
    "v_cvt_i32_f64": f"S = movq A; P = vcmppd/3 A A; S{{P}} = movq #0; S = vminpd S {_f64(2**31 - 1)}; "
    f"S = vmaxpd S {_f64(-(2**31))}; D = vcvttpd2dq S",
    "v_cvt_u32_f64": f"S = vmaxpd A #0; S = vminpd S {_f64(2**32 - 1)}; D = vcvttpd2udq S",
    "v_div_scale_f64": "D = movq A; E = vpcmpq/3 A A; S = vpsrlq/52 B; S = vpandq S #2047; T = vpsrlq/52 C; "
    "T = vpandq T #2047; U = vpsubq S #1; P = vpcmpuq/6 U #2043; Q = vpcmpuq/1 T #54; P = korw P Q; U = vpsubq T S; "
    "U = vpaddq U #1021; Q = vpcmpuq/6 U #1788; SLOW = korw P Q",
    "v_div_fmas_f64": "D = movq A; D = vfmadd132pd C B; SLOW = korw VCC VCC",
    "v_div_fixup_f64": "S = vpandq B #0x7fffffffffffffff; T = vpandq C #0x7fffffffffffffff; "
    "U = vpsubq S #0x10000000000000; P = vpcmpuq/5 U #0x7fe0000000000000; U = vpsubq T #0x10000000000000; "
    "Q = vpcmpuq/5 U #0x7fe0000000000000; P = korw P Q; Q = vcmppd/3 A A; P = korw P Q; U = vpsubq T S; "
    f"Q = vpcmpq/1 U #{(-1074 << 52) & (1 << 64) - 1:#x}; SLOW = korw P Q; X = vpxorq B C; "
    f"X = vpandq X #0x8000000000000000; U = vpandq A #0x7fffffffffffffff; U = vporq U X; D = vmulpd U {_f64(1)}",
    "v_cmp_class_f64": "S = vpsllq/1 A; T = movq #0x40; U = movq #0x20; P = vpcmpuq/5 S #1; T{P} = movq #0x80; "
    "U{P} = movq #0x10; P = vpcmpuq/5 S #0x20000000000000; T{P} = movq #0x100; U{P} = movq #8; "
    "P = vpcmpuq/5 S #0xffe0000000000000; T{P} = movq #0x200; U{P} = movq #4; P = vpcmpq/1 A #0; T{P} = movq U; "
    "P = vpcmpuq/6 S #0xffe0000000000000; T{P} = movq #1; P = vpcmpuq/5 S #0xfff0000000000000; T{P} = movq #2; "
    "U = vpmovzxdq B; E = vptestmq T U",
}
for _relation in FLOAT_RELATIONS:
    if _relation in _FLOAT:
        WIDE[f"v_cmp_{_relation}_f64"] = f"E = vcmppd/{_FLOAT[_relation]} A B"
SEQUENCES |= WIDE

#: v_cmpx: the same lane mask goes to EXEC (runtime/native/native.c knows where).
for _rows in (WIDE, SEQUENCES):
    _rows |= {name.replace("v_cmp_", "v_cmpx_"): text for name, text in _rows.items() if name.startswith("v_cmp_")}

#: Rows that the sequences hold for only without MODE's IEEE bit, or without GFX9's register index mode.
NEEDS_IEEE_OFF = ("v_min_f32", "v_max_f32", "v_min3_f32", "v_max3_f32", "v_min_f64", "v_max_f64")
NEEDS_INDEX_OFF = ("v_mov_b32",)

#: Scalar row -> (what it does: enum native_scalar_how, 64 bits, second operand complemented).
SCALAR: dict[str, tuple[str, int, int]] = {
    "s_mov_b32": ("MOVE", 0, 0), "s_mov_b64": ("MOVE", 1, 0), "s_movk_i32": ("MOVE_IMMEDIATE", 0, 0),
    "s_add_u32": ("ADD", 0, 0), "s_add_i32": ("ADD_SIGNED", 0, 0), "s_addc_u32": ("ADD_CARRY", 0, 0),
    "s_sub_u32": ("SUB", 0, 0), "s_sub_i32": ("SUB_SIGNED", 0, 0), "s_subb_u32": ("SUB_BORROW", 0, 0),
    "s_mul_i32": ("MULTIPLY", 0, 0), "s_mul_hi_u32": ("MULTIPLY_HIGH", 0, 0), "s_mul_hi_i32": ("MULTIPLY_HIGH", 0, 1),
    "s_not_b32": ("NOT", 0, 0), "s_not_b64": ("NOT", 1, 0), "s_abs_i32": ("ABSOLUTE", 0, 0),
    "s_min_i32": ("CHOOSE", 4, 0), "s_min_u32": ("CHOOSE", 4, 1), "s_max_i32": ("CHOOSE", 3, 0),
    "s_max_u32": ("CHOOSE", 3, 1), "s_ashr_i32": ("SHIFT_SIGNED", 0, 0), "s_ashr_i64": ("SHIFT_SIGNED", 1, 0),
}  # fmt: skip
for _bits in (32, 64):
    _wide = int(_bits == 64)
    for _name, _how, _inverted in (
        ("and", "AND", 0), ("or", "OR", 0), ("xor", "XOR", 0), ("and_not1", "AND", 1), ("or_not1", "OR", 1),
        ("lshl", "SHIFT_LEFT", 0), ("lshr", "SHIFT_RIGHT", 0), ("cselect", "SELECT", 0),
        ("and_saveexec", "SAVE_AND", 0), ("or_saveexec", "SAVE_OR", 0), ("xor_saveexec", "SAVE_XOR", 0),
        ("and_not1_saveexec", "SAVE_AND", 1), ("or_not1_saveexec", "SAVE_OR", 1),
    ):  # fmt: skip
        SCALAR[f"s_{_name}_b{_bits}"] = (_how, _wide, _inverted)
#: Of comparisons, and of CHOOSE, which takes the first operand where one holds, the second number is the relation, the
#: third whether it is unsigned.
for _relation_number, _relation in enumerate(("eq", "lg", "gt", "ge", "lt", "le")):
    for _type in ("i32", "u32"):
        SCALAR[f"s_cmp_{_relation}_{_type}"] = ("COMPARE", _relation_number, int(_type == "u32"))
