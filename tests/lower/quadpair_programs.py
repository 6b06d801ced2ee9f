"""PTX programs for mma.m8n8k4 of f16, which is four products at once."""

from __future__ import annotations

from tests.lower.matrix_programs import LANE, Matrices, matrices_of, product_of
from tests.reference import matrix

# layouts of A and B, types of C and D
VARIANTS = [
    (a, b, t) for a in ("row", "col") for b in ("row", "col") for t in (("f16", "f16"), ("f32", "f32"), ("f16", "f32"))
]
Variant = tuple[str, str, tuple[str, str]]
SHAPE = (8, 8, 4)


def mods(types: tuple[str, str]) -> dict[str, str]:
    return {"at": "f16", "bt": "f16", "ct": types[0], "dt": types[1]}


def kernel() -> str:
    """`quadpair(in, out)`: variant i reads and writes at LANE (lane + 32 i): A, B (8 bytes each), then C."""
    lines = [
        ".visible .entry quadpair(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .b32 %t, %a<2>, %b<2>, %h<4>; .reg .f32 %f<8>; .reg .b64 %in, %out, %at;",
        "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];",
        f"mul.wide.u32 %at, %t, {LANE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;",
    ]
    for i, (a, b, types) in enumerate(VARIANTS):
        first = 32 * LANE * i
        c, d = ([f"%{'h' if t == 'f16' else 'f'}{k}" for k in range(4 if t == "f16" else 8)] for t in types)
        kinds = ["b32" if t == "f16" else "f32" for t in types]
        lines.append(f"ld.global.v2.u32 {{%a0, %a1}}, [%in+{first}]; ld.global.v2.u32 {{%b0, %b1}}, [%in+{first + 8}];")
        lines += [f"ld.global.{kinds[0]} {r}, [%in+{first + 16 + 4 * k}];" for k, r in enumerate(c)]
        opcode = f"mma.sync.aligned.m8n8k4.{a}.{b}.{types[1]}.f16.f16.{types[0]}"
        lines.append(f"{opcode} {{{', '.join(d)}}}, {{%a0, %a1}}, {{%b0, %b1}}, {{{', '.join(c)}}};")
        lines += [f"st.global.{kinds[1]} [%out+{first + 4 * k}], {r};" for k, r in enumerate(d)]
    return "\n".join([*lines, "ret;", "}", ""])


def data(variant: Variant) -> list[Matrices]:
    return [matrices_of(f"{variant} {n}", mods(variant[2]), SHAPE) for n in range(4)]


def _place(image: bytearray, operand: str, major: str, ptype: str, first: int, cells: list[dict]) -> None:
    size = 4 if operand == "c" and ptype == "f32" else 2
    for n, lane, i, row, column in matrix.quadpair(operand, major, ptype):
        at = LANE * lane + first + size * i
        image[at : at + size] = cells[n][row, column].to_bytes(size, "little")


def inputs(variant: Variant) -> bytes:
    """The lanes' fragments of the four products."""
    a, b, types = variant
    image = bytearray(32 * LANE)
    found = data(variant)
    _place(image, "a", a, "f16", 0, [m.a for m in found])
    _place(image, "b", b, "f16", 8, [m.b for m in found])
    _place(image, "c", "", types[0], 16, [m.c for m in found])
    return bytes(image)


def expected(variant: Variant) -> bytes:
    image = bytearray(32 * LANE)
    results = [product_of(mods(variant[2]), SHAPE, m) for m in data(variant)]
    _place(image, "c", "", variant[2][1], 0, results)
    return bytes(image)
