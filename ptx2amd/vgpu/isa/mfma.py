"""Matrix instructions of CDNA (MFMA), and moves to and from the accumulation registers. Opcodes: GFX9.

The sparse forms (v_smfmac) and those of gfx950 are not here: see MISSING.
"""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op

BITS = {
    "f16": 16, "bf16": 16, "f32": 32, "xf32": 32, "f64": 64, "i8": 8, "fp8": 8, "bf8": 8, "e4m3": 8, "e5m2": 8,
    "i32": 32,
}  # fmt: skip
#: Dwords of a lane's registers -> operand type.
_DWORDS = {1: "b32", 2: "b64", 4: "b128", 8: "b256", 16: "b512", 32: "b1024"}


def mfma(
    opcode: int | None, m: int, n: int, k: int, blocks: int, a: str, b: str, d: str, name: str,
    archs: tuple[str, ...] = (),
) -> Op:  # fmt: skip
    """A row; operand sizes follow from the shape."""
    source = _DWORDS[max(1, m * k * blocks * BITS[a] // 32 // 64)]
    result = _DWORDS[m * n * blocks * BITS[d] // 32 // 64]
    if a == "f64":
        source = "f64"
    operands = f"d:{result}, a!v:{source}, b!v:{source}, c:{'f64' if result == 'b64' else result}"
    shape = f"MATRIX(mfma, {m}, {n}, {k}, {blocks}, {a}, {b}, {d})"
    return Op(name, "VOP3P_MAI", operands, shape, gfx9=opcode, archs=archs)


def _name(m: int, n: int, k: int, blocks: int, d: str, suffix: str) -> str:
    return f"v_mfma_{d}_{m}x{n}x{k}_" + (f"{blocks}b_" if blocks > 1 else "") + suffix


#: (opcode, m, n, k, blocks) per element type.
_SHAPES: dict[tuple[str, str], list[tuple[int, int, int, int, int]]] = {
    ("f32", "f32"): [(64, 32, 32, 1, 2), (65, 16, 16, 1, 4), (66, 4, 4, 1, 16), (68, 32, 32, 2, 1), (69, 16, 16, 4, 1)],
    ("xf32", "f32"): [(62, 16, 16, 8, 1), (63, 32, 32, 4, 1)],
    ("f16", "f32"): [
        (72, 32, 32, 4, 2),
        (73, 16, 16, 4, 4),
        (74, 4, 4, 4, 16),
        (76, 32, 32, 8, 1),
        (77, 16, 16, 16, 1),
    ],
    ("bf16", "f32"): [
        (93, 32, 32, 4, 2),
        (94, 16, 16, 4, 4),
        (95, 4, 4, 4, 16),
        (96, 32, 32, 8, 1),
        (97, 16, 16, 16, 1),
    ],
    ("i8", "i32"): [
        (80, 32, 32, 4, 2),
        (81, 16, 16, 4, 4),
        (82, 4, 4, 4, 16),
        (86, 32, 32, 16, 1),
        (87, 16, 16, 32, 1),
    ],
    ("f64", "f64"): [(110, 16, 16, 4, 1), (111, 4, 4, 4, 4)],
}


def _rows() -> list[Op]:
    rows = []
    for (a, d), shapes in _SHAPES.items():
        for opcode, m, n, k, blocks in shapes:
            rows.append(mfma(opcode, m, n, k, blocks, a, a, d, _name(m, n, k, blocks, d, a)))
    for base, m, k in ((112, 16, 32), (116, 32, 16)):
        for index, (a, b) in enumerate((("bf8", "bf8"), ("bf8", "fp8"), ("fp8", "bf8"), ("fp8", "fp8"))):
            name = _name(m, m, k, 1, "f32", f"{a}_{b}")
            rows.append(mfma(base + index, m, m, k, 1, a, b, "f32", name, ("gfx942",)))
    return rows


ACCUMULATION = [
    Op("v_accvgpr_read_b32", "VOP3P_MAI", "d!v:b32, a!a:b32", "D = A;", gfx9=88),
    Op("v_accvgpr_write_b32", "VOP3P_MAI", "d!a:b32, a:b32", "D = A;", gfx9=89),
]

OPS = [*ACCUMULATION, *_rows()]
