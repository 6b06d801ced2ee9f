"""Scalar floating point, 64-bit arithmetic and barriers of gfx1151 and GFX12: SOP1, SOP2, SOPC, and VOP3 instructions
with scalar results.

Semantics as in sop.py; f32 and f16 operands are floats, A_ and B_ their bits.
"""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import MESSAGE
from ptx2amd.vgpu.isa.op import Op

_ONE = "valu_one_f32"
_IEEE = "w->float_state[FLOAT_IEEE]"
_COMMON = {
    "add": "A + B", "sub": "A - B", "mul": "A * B", "minimum": "minimum_f32(A, B)", "maximum": "maximum_f32(A, B)",
}  # fmt: skip
_ROUND = {"ceil": "__builtin_ceilf(A)", "floor": "__builtin_floorf(A)", "trunc": "__builtin_truncf(A)",
          "rndne": "rndne_f32(A)"}  # fmt: skip
_COMPARE = {
    "lt": "A < B", "eq": "A == B", "le": "A <= B", "gt": "A > B", "lg": "A < B || A > B", "ge": "A >= B",
    "o": "A == A && B == B", "u": "A != A || B != B", "nge": "!(A >= B)", "nlg": "!(A < B || A > B)",
    "ngt": "!(A > B)", "nle": "!(A <= B)", "neq": "A != B", "nlt": "!(A < B)",
}  # fmt: skip
_UNARY = {"exp": "exp2_f32(A)", "log": "log2_f32(A)", "rcp": "rcp_f32(A)", "rsq": "rsq_f32(A)", "sqrt": "sqrt_f32(A)"}


def _arithmetic() -> list[Op]:
    rows = []
    for t in ("f32", "f16"):
        two = f"d:{t}, a:{t}, b:{t}"
        rows += [Op(f"s_{n}_{t}", "SOP2", two, f"D = {e};", pure=True) for n, e in _COMMON.items()]
        bits = "A_, B_, " if t == "f16" else ""
        rows += [
            Op(f"s_{n}_{t}", "SOP2", two, f"D = {n}_{t}(A, B, {bits}{_IEEE}, {_ONE});",
               names={"gfx12": f"s_{n}_num_{t}"}) for n in ("min", "max")
        ]  # fmt: skip
        rows += [Op(f"s_{n}_{t}", "SOP1", f"d:{t}, a:{t}", f"D = {e} * {_ONE};", pure=True) for n, e in _ROUND.items()]
        rows += [Op(f"s_cmp_{n}_{t}", "SOPC", f"a:{t}, b:{t}", f"SCC = {e};", pure=True) for n, e in _COMPARE.items()]
        rows += [Op(f"v_s_{n}_{t}", "VOP3", f"d!s:{t}, a:{t}", f"D = {e};") for n, e in _UNARY.items()]
    return rows


def _conversions() -> list[Op]:
    return [
        Op("s_cvt_f32_i32", "SOP1", "d:f32, a:i32", "D = (float)A;", pure=True),
        Op("s_cvt_f32_u32", "SOP1", "d:f32, a:u32", "D = (float)A;", pure=True),
        Op("s_cvt_i32_f32", "SOP1", "d:i32, a:f32", "D = f32_to_i32(A);", pure=True),
        Op("s_cvt_u32_f32", "SOP1", "d:u32, a:f32", "D = f32_to_u32(A);", pure=True),
        Op("s_cvt_f16_f32", "SOP1", "d:f16, a:f32", "D = A;", pure=True),
        Op("s_cvt_f32_f16", "SOP1", "d:f32, a:f16", "D = A;", pure=True),
        Op("s_cvt_hi_f32_f16", "SOP1", "d:f32, a:b32", "D = half_value(w, A >> 16);"),
        Op("s_cvt_pk_rtz_f16_f32", "SOP2", "d:b32, a:f32, b:f32", "D = half_rtz(A) | half_rtz(B) << 16;", pure=True),
    ]


def _fused() -> list[Op]:
    return [
        Op("s_fmac_f32", "SOP2", "d=:f32, a:f32, b:f32", "D = fma_f32(A, B, D);", pure=True),
        Op("s_fmaak_f32", "SOP2", "d:f32, a:f32, b:f32, k:f32", "D = fma_f32(A, B, K);", pure=True),
        Op("s_fmamk_f32", "SOP2", "d:f32, a:f32, k:f32, b:f32", "D = fma_f32(A, K, B);", pure=True),
        Op("s_fmac_f16", "SOP2", "d=:f16, a:f16, b:f16", "D = fma_f16(A, B, D, w->float_state[FLOAT_NEAREST16]);"),
    ]


def _integer64() -> list[Op]:
    return [
        Op("s_add_nc_u64", "SOP2", "d:u64, a:u64, b:u64", "D = A + B;", pure=True),
        Op("s_sub_nc_u64", "SOP2", "d:u64, a:u64, b:u64", "D = A - B;", pure=True),
        Op("s_mul_u64", "SOP2", "d:u64, a:u64, b:u64", "D = A * B;", pure=True),
    ]


def _barriers() -> list[Op]:
    return [
        Op("s_barrier_signal", "SOP1", "a:i32", "if (A != -1) { return wave_other_barrier(w, i, A); } wave_signal(w);"),
        Op("s_barrier_signal_isfirst", "SOP1", "a:i32",
           "if (A != -1) { return wave_other_barrier(w, i, A); } SCC = wave_signal(w);"),
        Op("s_get_barrier_state", "SOP1", "d:b32, a:i32",
           "if (A != -1) { return wave_other_barrier(w, i, A); } D = wave_barrier_state(w);", order=MESSAGE),
        Op("s_barrier_init", "SOP1", "a:b32", ""),
        Op("s_barrier_join", "SOP1", "a:b32", ""),
        Op("s_alloc_vgpr", "SOP1", "a:b32", ""),
        Op("s_sleep_var", "SOP1", "a:b32", "return wave_yield(w, i);"),
    ]  # fmt: skip


def ops() -> list[Op]:
    return [*_arithmetic(), *_conversions(), *_fused(), *_integer64(), *_barriers()]
