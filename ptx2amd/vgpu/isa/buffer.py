"""MUBUF instructions, cache control included. Semantics name a function of runtime/vmem/vmem.h and its arguments."""

from __future__ import annotations

from ptx2amd.vgpu.isa.flat import atomic_rows, memory_rows
from ptx2amd.vgpu.isa.op import Op

_FENCE = "fence()"
_FORMATS = ("x", "xy", "xyz", "xyzw")


def _formatted(kind: str) -> list[Op]:
    """Loads or stores of elements in a format: the descriptor's, or (tbuffer) the instruction's."""
    rows = []
    for n, f in enumerate(_FORMATS, 1):
        for d16, old, halves in (("", "", "DWORDS"), ("d16_", "d16_", "HALVES"), ("d16_hi_", "d16_hi_", "HIGH_HALF")):
            if halves == "HIGH_HALF" and n > 1:
                continue
            t = f"b{32 * (n if not d16 else (n + 1) // 2)}"
            operands = f"d:{t}, a:b64" if kind == "load" else f"a:b64, b:{t}"
            for prefix, fmt in (("buffer", "MUBUF"), ("tbuffer", "MTBUF"), ("tbuffer", "MUBUF")):
                if prefix == "tbuffer" and halves == "HIGH_HALF":
                    continue
                call = f"buffer_{kind}_format({n}, FORMAT_{halves}, {str(prefix == 'tbuffer').lower()})"
                rows.append(Op(f"{prefix}_{kind}_{d16}format_{f}", fmt, operands, call,
                               names={"gfx9": f"{prefix}_{kind}_format_{old}{f}"} if d16 else {}))  # fmt: skip
    return rows


OPS = [
    *memory_rows("buffer", "MUBUF"),
    *atomic_rows("buffer", "MUBUF"),
    *[row for kind in ("load", "store") for row in _formatted(kind)],
    Op("buffer_wbl2", "MUBUF", "", _FENCE, gfx9=0x28),
    Op("buffer_inv", "MUBUF", "", _FENCE, gfx9=0x29, names={"gfx90a": "buffer_invl2"}),
    Op("buffer_wbinvl1", "MUBUF", "", _FENCE, gfx9=0x3E),
    Op("buffer_wbinvl1_vol", "MUBUF", "", _FENCE, gfx9=0x3F),
    Op("buffer_gl0_inv", "MUBUF", "", _FENCE, gfx11=0x2B),
    Op("buffer_gl1_inv", "MUBUF", "", _FENCE, gfx11=0x2C),
]  # fmt: skip
