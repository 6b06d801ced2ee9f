"""MUBUF instructions, cache control included. Semantics name a function of runtime/vmem.h and its arguments."""

from __future__ import annotations

from ptx2amd.vgpu.isa.flat import atomic_rows, memory_rows
from ptx2amd.vgpu.isa.op import Op

_FENCE = "fence()"
_FORMATS = ("x", "xy", "xyz", "xyzw")

OPS = [
    *memory_rows("buffer", "MUBUF"),
    *atomic_rows("buffer", "MUBUF"),
    *[Op(f"buffer_{kind}_format_{f}", "MUBUF", "d:b128, a:b64" if kind == "load" else "a:b64, b:b128", "",
         gfx9=base + k, gfx11=base + k)
      for kind, base in (("load", 0), ("store", 4)) for k, f in enumerate(_FORMATS)],
    Op("buffer_wbl2", "MUBUF", "", _FENCE, gfx9=0x28),
    Op("buffer_inv", "MUBUF", "", _FENCE, gfx9=0x29, names={"gfx90a": "buffer_invl2"}),
    Op("buffer_wbinvl1", "MUBUF", "", _FENCE, gfx9=0x3E),
    Op("buffer_wbinvl1_vol", "MUBUF", "", _FENCE, gfx9=0x3F),
    Op("buffer_gl0_inv", "MUBUF", "", _FENCE, gfx11=0x2B),
    Op("buffer_gl1_inv", "MUBUF", "", _FENCE, gfx11=0x2C),
]  # fmt: skip
