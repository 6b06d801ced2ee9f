"""SSA values in LLVM IR text, and the PTX type -> LLVM type table."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from ptx2amd.ptx.layout import bits_of


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


_TYPES: dict[str, str] = {
    "pred": "i1",
    **{f"{k}{n}": f"i{n}" for k in "bsu" for n in (8, 16, 32, 64)},
    "b128": "i128",
    "f16": "half",
    "f16x2": "<2 x half>",
    "bf16": "bfloat",
    "bf16x2": "<2 x bfloat>",
    "f32": "float",
    "f32x2": "<2 x float>",
    "f64": "double",
    "tf32": "i32",
    "u16x2": "<2 x i16>",
    "s16x2": "<2 x i16>",
    "u8x4": "<4 x i8>",
    "s8x4": "<4 x i8>",
    **dict.fromkeys(("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2", "e2m1x4"), "i16"),
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "i32"),
    "e2m1x2": "i8",
}
# PTX type -> (LLVM type that instructions compute in, bits)
LLVM_TYPE: dict[str, tuple[str, int]] = {name: (ty, bits_of(name)) for name, ty in _TYPES.items()}

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
