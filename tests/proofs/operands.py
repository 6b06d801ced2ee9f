"""Types of LLVM, and its constants, as bits."""

from __future__ import annotations

import re
import struct

import z3

FLOATS = {"half": (5, 11), "bfloat": (8, 8), "float": (8, 24), "double": (11, 53)}  # bits of exponent and mantissa
SCALAR = r"(?:i\d+|half|bfloat|float|double)"


def size(ty: str) -> int:
    """Bits of a scalar type."""
    return sum(FLOATS[ty]) if ty in FLOATS else int(ty[1:])


def split(ty: str) -> tuple[str, int]:
    """The element of a vector type, and how many; a scalar is one."""
    found = re.fullmatch(r"<(\d+) x (\w+)>", ty)
    return (found[2], int(found[1])) if found else (ty, 1)


def sort(ty: str) -> z3.FPSortRef:
    return z3.FPSort(*FLOATS[ty])


def constant(ty: str, text: str) -> z3.BitVecRef:
    """A scalar constant as LLVM writes it: f32 ones as the digits of the same f64, f16 and bf16 with a letter."""
    if text in ("true", "false"):
        return z3.BitVecVal(int(text == "true"), 1)
    if text in ("poison", "undef"):
        return z3.FreshConst(z3.BitVecSort(size(ty)), "poison")
    if found := re.fullmatch(r"bitcast \(i\d+ (\d+) to \w+\)", text):
        return z3.BitVecVal(int(found[1]), size(ty))
    if ty not in FLOATS:
        return z3.BitVecVal(int(text), size(ty))
    if text[:3] in ("0xH", "0xR"):
        return z3.BitVecVal(int(text[3:], 16), 16)
    wide = struct.unpack("<d", int(text, 16).to_bytes(8, "little"))[0] if text.startswith("0x") else float(text)
    code = {"half": "e", "float": "f", "double": "d"}[ty]
    return z3.BitVecVal(int.from_bytes(struct.pack(f"<{code}", wide), "little"), size(ty))
