"""Sizes and alignments of PTX types, and variables."""

from __future__ import annotations

from ptx2amd.interface.texture import DESCRIPTOR
from ptx2amd.ptx.ast import Var

#: Bits of each type.
BITS: dict[str, int] = {
    "pred": 1,
    **{f"{kind}{bits}": bits for kind in "bsu" for bits in (8, 16, 32, 64)},
    **{"b128": 128, "f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64},
    **dict.fromkeys(("f16x2", "bf16x2", "u16x2", "s16x2", "u8x4", "s8x4", "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), 32),
    **dict.fromkeys(("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2", "e2m1x4"), 16),
    **{"f32x2": 64, "e2m1x2": 8},
}
HANDLES = dict.fromkeys(("texref", "surfref", "samplerref"), DESCRIPTOR.size)  # opaque types: a descriptor each


def bits_of(ptx_type: str) -> int:
    """Bits of a type."""
    return BITS[ptx_type]


def element_size(var: Var) -> int:
    """Bytes of one element (a vector counts as one)."""
    return HANDLES.get(var.type) or max(1, BITS[var.type] // 8) * var.vec


def size_of(var: Var) -> int:
    """Bytes of a variable; 0 for an unsized array without initialiser."""
    count = 1 if var.count < 0 else var.count
    if var.count == 0 and var.init:
        count = -(-len(var.init) // var.vec)
    return element_size(var) * count


def align_of(var: Var) -> int:
    """Alignment in bytes: as declared, else natural."""
    return var.align or element_size(var)
