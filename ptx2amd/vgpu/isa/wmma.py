"""Matrix instructions of RDNA 3 and 4 (WMMA). Registers are those of wave32; wave64 uses half for C and D (and on
GFX12 for A and B). GFX12's have other layouts: each element is in one lane only."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op


def wmma(opcode: int, d: str, a: str, source: str) -> Op:
    """A 16x16x16 row; `source`: the registers of A and B."""
    operands = f"d:b256, a:{source}, b:{source}, c:b256"
    return Op(
        f"v_wmma_{d}_16x16x16_{a}", "VOP3P", operands, f"MATRIX(wmma, 16, 16, 16, 1, {a}, {a}, {d})", gfx11=opcode,
        archs=("gfx11",),
    )  # fmt: skip


OPS = [
    wmma(64, "f32", "f16", "b256"),
    wmma(65, "f32", "bf16", "b256"),
    wmma(66, "f16", "f16", "b256"),
    wmma(67, "bf16", "bf16", "b256"),
    wmma(68, "i32", "iu8", "b128"),
    wmma(69, "i32", "iu4", "b64"),
]


def wmma12() -> list[Op]:
    """GFX12's rows."""
    ocp = {"fp8": "e4m3", "bf8": "e5m2"}
    shapes = [("f32", "f16", "f16", 16, "f16"), ("f32", "bf16", "bf16", 16, "bf16"), ("f16", "f16", "f16", 16, "f16"),
              ("bf16", "bf16", "bf16", 16, "bf16"), ("i32", "iu8", "iu8", 16, "iu8"), ("i32", "iu4", "iu4", 16, "iu4"),
              ("i32", "iu4", "iu4", 32, "iu4")]  # fmt: skip
    shapes += [("f32", ocp[a], ocp[b], 16, f"{a}_{b}") for a in ocp for b in ocp]
    rows = []
    for d, a, b, k, suffix in shapes:
        bits = {"f16": 16, "bf16": 16, "iu4": 4}.get(a, 8)
        source = {128: "b128", 64: "b64", 32: "b32"}[bits * k // 2]
        result = "b128" if d in ("f16", "bf16") else "b256"
        operands = f"d:{result}, a:{source}, b:{source}, c:{result}"
        semantics = f"MATRIX(wmma12, 16, 16, {k}, 1, {a}, {b}, {d})"
        rows.append(Op(f"v_wmma_{d}_16x16x{k}_{suffix}", "VOP3P", operands, semantics, archs=("gfx1200",)))
    return rows
