"""Matrix instructions of RDNA 3 and 4 (WMMA). Register counts are those of wave32; wave64 uses half for C and D (and on
GFX12 for A and B). GFX12 has other layouts: each element is in one lane only."""

from __future__ import annotations

from ptx2amd.vgpu.isa.fp8 import OCP_NAMES
from ptx2amd.vgpu.isa.meaning import Matrix
from ptx2amd.vgpu.isa.op import Op

_GFX11 = [("f32", "f16", "b256"), ("f32", "bf16", "b256"), ("f16", "f16", "b256"), ("bf16", "bf16", "b256"),
          ("i32", "iu8", "b128"), ("i32", "iu4", "b64")]  # fmt: skip
#: (D, elements of A and B, k)
_GFX12 = [("f32", "f16", 16), ("f32", "bf16", 16), ("f16", "f16", 16), ("bf16", "bf16", 16), ("i32", "iu8", 16),
          ("i32", "iu4", 16), ("i32", "iu4", 32)]  # fmt: skip


def _gfx12(d: str, a: str, b: str, k: int, suffix: str) -> Op:
    bits = {"f16": 16, "bf16": 16, "iu4": 4}.get(a, 8)
    source = {128: "b128", 64: "b64", 32: "b32"}[bits * k // 2]
    result = "b128" if d in ("f16", "bf16") else "b256"
    return Op(f"v_wmma_{d}_16x16x{k}_{suffix}", "VOP3P", f"d:{result}, a:{source}, b:{source}, c:{result}",
              Matrix("wmma12", 16, 16, k, 1, a, b, d), archs=("gfx1200",))  # fmt: skip


def ops() -> list[Op]:
    rows = [
        Op(f"v_wmma_{d}_16x16x16_{a}", "VOP3P", f"d:b256, a:{source}, b:{source}, c:b256",
           Matrix("wmma", 16, 16, 16, 1, a, a, d), archs=("gfx11",)) for d, a, source in _GFX11
    ]  # fmt: skip
    rows += [_gfx12(d, a, a, k, a) for d, a, k in _GFX12]
    return rows + [
        _gfx12("f32", OCP_NAMES[a], OCP_NAMES[b], 16, f"{a}_{b}") for a in OCP_NAMES for b in OCP_NAMES
    ]  # fmt: skip
