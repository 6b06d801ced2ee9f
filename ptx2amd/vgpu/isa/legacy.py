"""Vector instructions of gfx900 to gfx90a that later chips lack. Opcodes: opcodes.tsv."""

from __future__ import annotations

from ptx2amd.vgpu.isa.mfma import mfma
from ptx2amd.vgpu.isa.op import Op

#: Multiply-add with a rounding between.
MAD = [
    Op("v_mac_f32", "VOP2", "d=:f32, a:f32, b:f32", "D = A * B + D;"),
    Op("v_madmk_f32", "VOP2", "d:f32, a:f32, k:f32, b:f32", "D = A * K + B;"),
    Op("v_madak_f32", "VOP2", "d:f32, a:f32, b:f32, k:f32", "D = A * B + K;"),
    Op("v_mad_mix_f32", "VOP3P", "d:f32, a:b32, b:b32, c:b32", "CALL(valu_mad_mix_all)"),
    Op("v_mad_mixlo_f16", "VOP3P", "d:b32, a:b32, b:b32, c:b32", "CALL(valu_mad_mixlo_all)"),
    Op("v_mad_mixhi_f16", "VOP3P", "d:b32, a:b32, b:b32, c:b32", "CALL(valu_mad_mixhi_all)"),
]

MFMA = [
    mfma(None, 32, 32, 8, 1, "i8", "i8", "i32", "v_mfma_i32_32x32x8i8"),
    mfma(None, 16, 16, 16, 1, "i8", "i8", "i32", "v_mfma_i32_16x16x16i8"),
    mfma(None, 32, 32, 2, 2, "bf16", "bf16", "f32", "v_mfma_f32_32x32x2bf16"),
    mfma(None, 16, 16, 2, 4, "bf16", "bf16", "f32", "v_mfma_f32_16x16x2bf16"),
    mfma(None, 4, 4, 2, 16, "bf16", "bf16", "f32", "v_mfma_f32_4x4x2bf16"),
    mfma(None, 32, 32, 4, 1, "bf16", "bf16", "f32", "v_mfma_f32_32x32x4bf16"),
    mfma(None, 16, 16, 8, 1, "bf16", "bf16", "f32", "v_mfma_f32_16x16x8bf16"),
]

OPS = [*MAD, *MFMA]
