"""Vector instructions that came with gfx950 and GFX12. Opcodes: opcodes.tsv."""

from __future__ import annotations

from ptx2amd.vgpu.isa.mfma import mfma
from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.wmma import wmma12

#: Architectures whose 8-bit floats are OCP's.
OCP = ("gfx950", "gfx12")

#: On GFX12 these have a short form.
SHORT = [
    Op("v_add_f64", "VOP2", "d:f64, a:f64, b:f64", "D = A + B;"),
    Op("v_mul_f64", "VOP2", "d:f64, a:f64, b:f64", "D = A * B;"),
    Op("v_min_f64", "VOP2", "d:f64, a:f64, b:f64", "D = min_f64(A, B, IEEE, ONE64);"),
    Op("v_max_f64", "VOP2", "d:f64, a:f64, b:f64", "D = max_f64(A, B, IEEE, ONE64);"),
    Op("v_lshlrev_b64", "VOP2", "d:b64, a:b32, b:b64", "D = B << (A & 63);"),
]


def _extrema() -> list[Op]:
    """IEEE 754-2019 minimum and maximum: NaNs win."""
    rows = []
    for t, f in (("f32", "f32"), ("f16", "f32"), ("f64", "f64")):
        two, three = f"d:{t}, a:{t}, b:{t}", f"d:{t}, a:{t}, b:{t}, c:{t}"
        one = "ONE64" if t == "f64" else "ONE"
        for op in ("minimum", "maximum"):
            other = "maximum" if op == "minimum" else "minimum"
            rows.append(Op(f"v_{op}_{t}", "VOP3", two, f"D = {op}_{f}(A, B) * {one};"))
            if t == "f64":
                continue
            rows.append(Op(f"v_{op}3_{t}", "VOP3", three, f"D = {op}_{f}({op}_{f}(A, B), C) * {one};"))
            rows.append(Op(f"v_{op}{other}_{t}", "VOP3", three, f"D = {other}_{f}({op}_{f}(A, B), C) * {one};"))
    for op in ("minimum", "maximum"):
        packed = "d:f16x2, a:f16x2, b:f16x2"
        rows.append(Op(f"v_pk_{op}_f16", "VOP3P", packed, f"D = {op}_f32(A, B) * ONE;"))
        rows.append(Op(f"v_pk_{op}3_f16", "VOP3P", f"{packed}, c:f16x2", f"D = {op}_f32({op}_f32(A, B), C) * ONE;"))
    return rows


BITS = [
    Op("v_bitop3_b32", "VOP3", "d:b32, a:b32, b:b32, c:b32", "CALL(valu_bitop3_all)"),
    Op("v_bitop3_b16", "VOP3", "d:b16, a:b16, b:b16, c:b16", "CALL(valu_bitop3_b16_all)"),
    Op("v_ashr_pk_i8_i32", "VOP3", "d:b16, a:i32, b:i32, c:b32",
       "D = (uint32_t)(sat_i8(A >> (C & 31)) & 255) | (uint32_t)(sat_i8(B >> (C & 31)) & 255) << 8;"),
    Op("v_ashr_pk_u8_i32", "VOP3", "d:b16, a:i32, b:i32, c:b32",
       "D = sat_u8(A >> (C & 31)) | sat_u8(B >> (C & 31)) << 8;"),
    Op("v_prng_b32", "VOP1", "d:b32, a:b32", "D = A << 1 ^ (-(A >> 31) & 197);"),
    Op("v_permlane16_var_b32", "VOP3", "d=:b32, a!v:b32, b!v:b32", "CALL(valu_permlane16_var_all)"),
    Op("v_permlanex16_var_b32", "VOP3", "d=:b32, a!v:b32, b!v:b32", "CALL(valu_permlanex16_var_all)"),
]  # fmt: skip

CONVERSIONS = [
    Op("v_cvt_pk_bf16_f32", "VOP3", "d:b32, a:f32, b:f32", "D = f32_to_bf16(A) | f32_to_bf16(B) << 16;"),
    Op("v_cvt_pk_f16_f32", "VOP3", "d:b32, a:f32, b:f32",
       "D = (uint32_t)f32_to_half(A) | (uint32_t)f32_to_half(B) << 16;"),
    Op("v_cvt_sr_bf16_f32", "VOP3", "d=:b16, a:f32, b:b32", "D = stochastic_bf16(A, B);"),
    Op("v_cvt_sr_f16_f32", "VOP3", "d=:b16, a:f32, b:b32",
       "D = f32_to_small(&small_formats[SMALL_f16], A, 0, false, true, B);"),
    Op("v_dot2c_f32_bf16", "VOP2", "d=:f32, a:bf16x2, b:bf16x2", "D = (D + AL * BL) + AH * BH;"),
]  # fmt: skip


def _fp8() -> list[Op]:
    rows = []
    for name, ocp in (("fp8", "e4m3"), ("bf8", "e5m2")):
        rows += [
            Op(f"v_cvt_f32_{name}", "VOP1", "d:f32, a:b32",
               f"D = {ocp}_to_f32(A >> ((OPSEL & 1) << 4 | (OPSEL & 2) << 2));", archs=OCP),
            Op(f"v_cvt_pk_f32_{name}", "VOP1", "d:b64, a:b32", "uint32_t s = A >> (OPSEL & 1) * 16; "
               f"D = join(f32_bits({ocp}_to_f32(s)), f32_bits({ocp}_to_f32(s >> 8)));", archs=OCP),
            Op(f"v_cvt_pk_{name}_f32", "VOP3", "d:b16, a:f32, b:f32",
               f"D = f32_to_{ocp}(A, SATURATE8) | f32_to_{ocp}(B, SATURATE8) << 8;", archs=OCP),
            Op(f"v_cvt_sr_{name}_f32", "VOP3", "d=:b32, a:f32, b:b32", "uint32_t s = OPSEL >> 2 << 3; "
               f"D = (D & ~(255u << s)) | f32_to_{ocp}(add_noise(A, B), SATURATE8) << s;", archs=OCP),
        ]  # fmt: skip
    for a in ("fp8", "bf8"):
        for b in ("fp8", "bf8"):
            x, y = ("e4m3" if t == "fp8" else "e5m2" for t in (a, b))
            terms = " + ".join(f"{x}_to_f32(A >> {8 * k}) * {y}_to_f32(B >> {8 * k})" for k in range(4))
            rows.append(Op(f"v_dot4_f32_{a}_{b}", "VOP3P", "d:f32, a:b32, b:b32, c:f32", f"D = C + {terms};"))
    return rows


def _mfma() -> list[Op]:
    """gfx950: twice the k; its 8-bit floats are OCP's."""
    rows = []
    for a in ("f16", "bf16"):
        rows.append(mfma(None, 16, 16, 32, 1, a, a, "f32", f"v_mfma_f32_16x16x32_{a}"))
        rows.append(mfma(None, 32, 32, 16, 1, a, a, "f32", f"v_mfma_f32_32x32x16_{a}"))
    rows.append(mfma(None, 16, 16, 64, 1, "i8", "i8", "i32", "v_mfma_i32_16x16x64_i8"))
    rows.append(mfma(None, 32, 32, 32, 1, "i8", "i8", "i32", "v_mfma_i32_32x32x32_i8"))
    ocp = {"fp8": "e4m3", "bf8": "e5m2"}
    for m, k in ((16, 32), (32, 16)):
        for a in ocp:
            for b in ocp:
                rows.append(mfma(None, m, m, k, 1, ocp[a], ocp[b], "f32", f"v_mfma_f32_{m}x{m}x{k}_{a}_{b}", OCP))
    # A and B: 4 registers at least, up to 8 by CBSZ and BLGP. The scales come in an instruction before it.
    rows.append(Op("v_mfma_ld_scale_b32", "VOP3P_MAI", "a:b32, b:b32", "PREFIX()"))
    for opcode, m, k, d in ((45, 16, 128, "b128"), (46, 32, 64, "b512")):
        shape = f"MATRIX(mfma_small, {m}, {m}, {k}, 1, f32, f32, f32)"
        operands = f"d:{d}, a!v:b128, b!v:b128, c:{d}"
        rows.append(Op(f"v_mfma_f32_{m}x{m}x{k}_f8f6f4", "VOP3P_MAI", operands, shape, gfx9=opcode, archs=("gfx950",)))
    return rows


OPS = [*SHORT, *_extrema(), *BITS, *CONVERSIONS, *_fp8(), *_mfma(), *wmma12()]
