"""Matrix instructions of CDNA (MFMA), and moves to and from the accumulation registers. Sparse ones: sparse.py."""

from __future__ import annotations

from ptx2amd.vgpu.isa.fp8 import OCP_NAMES
from ptx2amd.vgpu.isa.meaning import Matrix, Prefix
from ptx2amd.vgpu.isa.op import Op

BITS = {
    "f16": 16, "bf16": 16, "f32": 32, "xf32": 32, "f64": 64, "i8": 8, "fp8": 8, "bf8": 8, "e4m3": 8, "e5m2": 8,
    "i32": 32,
}  # fmt: skip
#: Dwords of a lane's registers -> operand type.
_DWORDS = {1: "b32", 2: "b64", 4: "b128", 8: "b256", 16: "b512", 32: "b1024"}


FLUSHING = ("gfx90a",)  # where products of f16 and of bf16 flush subnormal numbers
OTHERS = ("gfx908", "gfx942", "gfx950")


def _rows(m: int, n: int, k: int, blocks: int, a: str, d: str, name: str) -> list[Op]:
    """Rows of an instruction that all chips have, perhaps by another name."""
    if a not in ("f16", "bf16"):
        return [_row(m, n, k, blocks, a, a, d, name)]
    return [
        _row(m, n, k, blocks, a, a, d, name, OTHERS),
        _row(m, n, k, blocks, a, a, d, name, FLUSHING, "mfma_flushed"),
    ]


def _row(
    m: int, n: int, k: int, blocks: int, a: str, b: str, d: str, name: str,
    archs: tuple[str, ...] = (), kind: str = "mfma",
) -> Op:  # fmt: skip
    """A row; operand sizes follow from the shape."""
    source = _DWORDS[max(1, m * k * blocks * BITS[a] // 32 // 64)]
    result = _DWORDS[m * n * blocks * BITS[d] // 32 // 64]
    if a == "f64":
        source = "f64"
    operands = f"d:{result}, a!v:{source}, b!v:{source}, c:{'f64' if result == 'b64' else result}"
    return Op(name, "VOP3P_MAI", operands, Matrix(kind, m, n, k, blocks, a, b, d), archs=archs)


def _name(m: int, n: int, k: int, blocks: int, d: str, suffix: str) -> str:
    return f"v_mfma_{d}_{m}x{n}x{k}_" + (f"{blocks}b_" if blocks > 1 else "") + suffix


#: Element type -> (m, n, k, blocks).
_SHAPES: dict[tuple[str, str], list[tuple[int, int, int, int]]] = {
    ("f32", "f32"): [(32, 32, 1, 2), (16, 16, 1, 4), (4, 4, 1, 16), (32, 32, 2, 1), (16, 16, 4, 1)],
    ("xf32", "f32"): [(16, 16, 8, 1), (32, 32, 4, 1)],
    ("f16", "f32"): [(32, 32, 4, 2), (16, 16, 4, 4), (4, 4, 4, 16), (32, 32, 8, 1), (16, 16, 16, 1)],
    ("bf16", "f32"): [(32, 32, 4, 2), (16, 16, 4, 4), (4, 4, 4, 16), (32, 32, 8, 1), (16, 16, 16, 1)],
    ("i8", "i32"): [(32, 32, 4, 2), (16, 16, 4, 4), (4, 4, 4, 16), (32, 32, 16, 1), (16, 16, 32, 1)],
    ("f64", "f64"): [(16, 16, 4, 1), (4, 4, 4, 4)],
}
#: Rows of gfx908 and gfx90a that later chips lack, with the names used there.
_OLD = [
    (32, 32, 8, 1, "i8", "i32", "v_mfma_i32_32x32x8i8"),
    (16, 16, 16, 1, "i8", "i32", "v_mfma_i32_16x16x16i8"),
    (32, 32, 2, 2, "bf16", "f32", "v_mfma_f32_32x32x2bf16"),
    (16, 16, 2, 4, "bf16", "f32", "v_mfma_f32_16x16x2bf16"),
    (4, 4, 2, 16, "bf16", "f32", "v_mfma_f32_4x4x2bf16"),
    (32, 32, 4, 1, "bf16", "f32", "v_mfma_f32_32x32x4bf16"),
    (16, 16, 8, 1, "bf16", "f32", "v_mfma_f32_16x16x8bf16"),
]


def _fnuz() -> list[Op]:
    """gfx942's 8-bit floats."""
    rows = []
    for m, k in ((16, 32), (32, 16)):
        for a in ("bf8", "fp8"):
            for b in ("bf8", "fp8"):
                rows.append(_row(m, m, k, 1, a, b, "f32", _name(m, m, k, 1, "f32", f"{a}_{b}"), ("gfx942",)))
    return rows


def _gfx950() -> list[Op]:
    """Twice the k; 8-bit floats are OCP's."""
    rows = []
    for a in ("f16", "bf16"):
        rows.append(_row(16, 16, 32, 1, a, a, "f32", f"v_mfma_f32_16x16x32_{a}"))
        rows.append(_row(32, 32, 16, 1, a, a, "f32", f"v_mfma_f32_32x32x16_{a}"))
    rows.append(_row(16, 16, 64, 1, "i8", "i8", "i32", "v_mfma_i32_16x16x64_i8"))
    rows.append(_row(32, 32, 32, 1, "i8", "i8", "i32", "v_mfma_i32_32x32x32_i8"))
    for m, k in ((16, 32), (32, 16)):
        for a in OCP_NAMES:
            for b in OCP_NAMES:
                name = f"v_mfma_f32_{m}x{m}x{k}_{a}_{b}"
                rows.append(_row(m, m, k, 1, OCP_NAMES[a], OCP_NAMES[b], "f32", name, ("gfx950",)))
    # A and B: 4 to 8 registers, depending on CBSZ and BLGP. A preceding instruction supplies the scales.
    rows.append(Op("v_mfma_ld_scale_b32", "VOP3P_MAI", "a:b32, b:b32", Prefix()))
    for m, k, d in ((16, 128, "b128"), (32, 64, "b512")):
        shape = Matrix("mfma_small", m, m, k, 1, "f32", "f32", "f32", scaled=True)
        name = f"v_mfma_f32_{m}x{m}x{k}_f8f6f4"
        rows.append(Op(name, "VOP3P_MAI", f"d:{d}, a!v:b128, b!v:b128, c:{d}", shape))
    return rows


def ops() -> list[Op]:
    rows = [
        Op("v_accvgpr_read_b32", "VOP3P_MAI", "d!v:b32, a!a:b32", "D = A;"),
        Op("v_accvgpr_write_b32", "VOP3P_MAI", "d!a:b32, a:b32", "D = A;"),
    ]
    for (a, d), shapes in _SHAPES.items():
        for m, n, k, blocks in shapes:
            rows += _rows(m, n, k, blocks, a, d, _name(m, n, k, blocks, d, a))
    for m, n, k, blocks, a, d, name in _OLD:
        rows += _rows(m, n, k, blocks, a, d, name)
    return [*rows, *_fnuz(), *_gfx950()]
