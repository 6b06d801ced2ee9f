"""SSA values in LLVM IR text, and the PTX type -> LLVM type table."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Val(NamedTuple):
    """An LLVM value: `ty` its type, `ref` how it is written. In f-strings `{v}` is the reference,
    `{v.t}` the reference with its type ("i32 %5")."""

    ty: str
    ref: str

    def __str__(self) -> str:
        return self.ref

    @property
    def t(self) -> str:
        return f"{self.ty} {self.ref}"


# PTX type -> (LLVM type that instructions compute in, bits)
LLVM_TYPE: dict[str, tuple[str, int]] = {
    "pred": ("i1", 1),
    **{f"{k}{n}": (f"i{n}", n) for k in "bsu" for n in (8, 16, 32, 64)},
    "b128": ("i128", 128),
    "f16": ("half", 16),
    "f16x2": ("<2 x half>", 32),
    "bf16": ("bfloat", 16),
    "bf16x2": ("<2 x bfloat>", 32),
    "f32": ("float", 32),
    "f32x2": ("<2 x float>", 64),
    "f64": ("double", 64),
    "tf32": ("i32", 32),
    "u16x2": ("<2 x i16>", 32),
    "s16x2": ("<2 x i16>", 32),
    "u8x4": ("<4 x i8>", 32),
    "s8x4": ("<4 x i8>", 32),
    **dict.fromkeys(("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2", "e2m1x4"), ("i16", 16)),
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), ("i32", 32)),
    "e2m1x2": ("i8", 8),
}


def bits_of(ptx_type: str) -> int:
    return LLVM_TYPE[ptx_type][1]


_SCALAR_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}


@cache
def width(ty: str) -> int:
    """Bits of an LLVM first-class type: "i32", "<2 x half>", "ptr addrspace(3)"."""
    if ty in _SCALAR_BITS:
        return _SCALAR_BITS[ty]
    if ty.startswith("ptr"):
        return 32 if ty.endswith(("(3)", "(5)")) else 64
    if match := re.fullmatch(r"<(\d+) x (.+)>", ty):
        return int(match[1]) * width(match[2])
    return int(ty[1:])
