"""Matrix instructions of RDNA 3 (WMMA). Opcodes: GFX11. Registers are those of wave32; wave64 uses half for C and D."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op


def wmma(opcode: int, d: str, a: str, source: str) -> Op:
    """A 16x16x16 row; `source`: the registers of A and B."""
    operands = f"d:b256, a:{source}, b:{source}, c:b256"
    return Op(
        f"v_wmma_{d}_16x16x16_{a}", "VOP3P", operands, f"MATRIX(wmma, 16, 16, 16, 1, {a}, {a}, {d})", gfx11=opcode
    )


OPS = [
    wmma(64, "f32", "f16", "b256"),
    wmma(65, "f32", "bf16", "b256"),
    wmma(66, "f16", "f16", "b256"),
    wmma(67, "bf16", "bf16", "b256"),
    wmma(68, "i32", "iu8", "b128"),
    wmma(69, "i32", "iu4", "b64"),
]
