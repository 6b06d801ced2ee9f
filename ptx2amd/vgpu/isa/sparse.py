"""Sparse matrix instructions: SMFMAC (gfx942, gfx950) and SWMMAC (GFX12). D is also the addend, C the index
register."""

from __future__ import annotations

from ptx2amd.vgpu.isa.fp8 import OCP_NAMES
from ptx2amd.vgpu.isa.meaning import Matrix
from ptx2amd.vgpu.isa.mfma import BITS
from ptx2amd.vgpu.isa.op import Op

_DWORDS = {1: "b32", 2: "b64", 4: "b128", 8: "b256", 16: "b512"}
_EIGHT = [(a, b) for a in ("bf8", "fp8") for b in ("bf8", "fp8")]


def _smfmac(m: int, k: int, a: str, b: str, suffix: str, archs: tuple[str, ...]) -> Op:
    d = "i32" if a == "i8" else "f32"
    stored = m * k * BITS[a] // 2 // 32 // 64
    operands = f"d=:{_DWORDS[m * m // 64]}, a!v:{_DWORDS[stored]}, b!v:{_DWORDS[2 * stored]}, c!v:b32"
    shape = Matrix("smfmac", m, m, k, 1, a, b, d)
    return Op(f"v_smfmac_{d}_{m}x{m}x{k}_{suffix}", "VOP3P_MAI", operands, shape, archs=archs)


def _cdna() -> list[Op]:
    both, new = ("gfx942", "gfx950"), ("gfx950",)
    rows = []
    for m, k in ((16, 32), (32, 16)):
        for t in ("f16", "bf16"):
            rows += [_smfmac(m, k, t, t, t, both), _smfmac(m, 2 * k, t, t, t, new)]
        rows += [_smfmac(m, 2 * k, "i8", "i8", "i8", both), _smfmac(m, 4 * k, "i8", "i8", "i8", new)]
        for a, b in _EIGHT:  # gfx950's 8-bit floats are OCP's
            rows.append(_smfmac(m, 2 * k, a, b, f"{a}_{b}", ("gfx942",)))
            rows += [_smfmac(m, n * k, OCP_NAMES[a], OCP_NAMES[b], f"{a}_{b}", new) for n in (2, 4)]
    return rows


def _rdna() -> list[Op]:
    """Register counts are those of waves of 32 lanes."""
    shapes = [("f32", "f16", "f16", 32, "f16"), ("f32", "bf16", "bf16", 32, "bf16"), ("f16", "f16", "f16", 32, "f16"),
              ("bf16", "bf16", "bf16", 32, "bf16"), ("i32", "iu8", "iu8", 32, "iu8"), ("i32", "iu4", "iu4", 32, "iu4"),
              ("i32", "iu4", "iu4", 64, "iu4")]  # fmt: skip
    shapes += [("f32", OCP_NAMES[a], OCP_NAMES[b], 32, f"{a}_{b}") for a, b in _EIGHT]
    rows = []
    for d, a, b, k, suffix in shapes:
        bits = {"f16": 16, "bf16": 16, "iu4": 4}.get(a, 8)
        stored = bits * k // 4 // 32
        result = "b128" if d in ("f16", "bf16") else "b256"
        operands = f"d=:{result}, a!v:{_DWORDS[stored]}, b!v:{_DWORDS[2 * stored]}, c!v:b32"
        shape = Matrix("swmmac", 16, 16, k, 1, a, b, d)
        rows.append(Op(f"v_swmmac_{d}_16x16x{k}_{suffix}", "VOP3P", operands, shape, archs=("gfx1200",)))
    return rows


def ops() -> list[Op]:
    return [*_cdna(), *_rdna()]
