"""MUBUF instructions, cache control included. Their handlers are functions of runtime/vmem/vmem.h."""

from __future__ import annotations

from ptx2amd.vgpu.isa.flat import atomic_rows, memory_rows
from ptx2amd.vgpu.isa.meaning import Call, controls
from ptx2amd.vgpu.isa.op import Op

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
                typed = str(prefix == "tbuffer").lower()
                call = Call(f"buffer_{kind}_format", (str(n), f"FORMAT_{halves}", typed))
                rows.append(Op(f"{prefix}_{kind}_{d16}format_{f}", fmt, operands, call,
                               names={"gfx9": f"{prefix}_{kind}_format_{old}{f}"} if d16 else {}))  # fmt: skip
    return rows


#: Cache control: name, kind, names on other chips.
_CONTROLS: list[tuple[str, str, dict[str, str]]] = [
    ("wbl2", "WRITE_BACK", {}), ("inv", "SCOPE", {"gfx90a": "buffer_invl2"}), ("wbinvl1", "L0", {}),
    ("wbinvl1_vol", "L0", {}), ("gl0_inv", "L0", {}), ("gl1_inv", "MIDDLE", {}),
]  # fmt: skip


def ops() -> list[Op]:
    return [
        *memory_rows("buffer", "MUBUF"),
        *atomic_rows("buffer", "MUBUF"),
        *[row for kind in ("load", "store") for row in _formatted(kind)],
        *[Op(f"buffer_{name}", "MUBUF", "", Call("fence"), names=names, order=controls(which))
          for name, which, names in _CONTROLS],
    ]  # fmt: skip
