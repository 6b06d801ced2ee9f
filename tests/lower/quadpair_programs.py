"""PTX programs for mma.m8n8k4 of f16, which is four products at once."""

from __future__ import annotations

from matrix_programs import LANE, Matrices, matrices_of, product_of
from reference import matrix

VARIANTS = [(a, b, t) for a in ("row", "col") for b in ("row", "col") for t in ("f16", "f32")]
SHAPE = (8, 8, 4)


def mods(ptype: str) -> dict[str, str]:
    return {"at": "f16", "bt": "f16", "ct": ptype, "dt": ptype}


def kernel() -> str:
    """`quadpair(in, out)`: variant i reads and writes at LANE (lane + 32 i): A, B (8 bytes each), then C."""
    lines = [
        ".visible .entry quadpair(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .b32 %t, %a<2>, %b<2>, %h<4>; .reg .f32 %f<8>; .reg .b64 %in, %out, %at;",
        "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];",
        f"mul.wide.u32 %at, %t, {LANE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;",
    ]
    for i, (a, b, ptype) in enumerate(VARIANTS):
        first = 32 * LANE * i
        registers = [f"%{'h' if ptype == 'f16' else 'f'}{k}" for k in range(4 if ptype == "f16" else 8)]
        kind = "b32" if ptype == "f16" else "f32"
        lines.append(f"ld.global.v2.u32 {{%a0, %a1}}, [%in+{first}]; ld.global.v2.u32 {{%b0, %b1}}, [%in+{first + 8}];")
        lines += [f"ld.global.{kind} {r}, [%in+{first + 16 + 4 * k}];" for k, r in enumerate(registers)]
        c = "{" + ", ".join(registers) + "}"
        lines.append(f"mma.sync.aligned.m8n8k4.{a}.{b}.{ptype}.f16.f16.{ptype} {c}, {{%a0, %a1}}, {{%b0, %b1}}, {c};")
        lines += [f"st.global.{kind} [%out+{first + 4 * k}], {r};" for k, r in enumerate(registers)]
    return "\n".join([*lines, "ret;", "}", ""])


def data(variant: tuple[str, str, str]) -> list[Matrices]:
    return [matrices_of(f"{variant} {n}", mods(variant[2]), SHAPE) for n in range(4)]


def _place(image: bytearray, operand: str, major: str, ptype: str, first: int, cells: list[dict]) -> None:
    size = 4 if operand == "c" and ptype == "f32" else 2
    for n, lane, i, row, column in matrix.quadpair(operand, major, ptype):
        at = LANE * lane + first + size * i
        image[at : at + size] = cells[n][row, column].to_bytes(size, "little")


def inputs(variant: tuple[str, str, str]) -> bytes:
    """The lanes' fragments of the four products."""
    a, b, ptype = variant
    image = bytearray(32 * LANE)
    found = data(variant)
    _place(image, "a", a, ptype, 0, [m.a for m in found])
    _place(image, "b", b, ptype, 8, [m.b for m in found])
    _place(image, "c", "", ptype, 16, [m.c for m in found])
    return bytes(image)


def expected(variant: tuple[str, str, str]) -> bytes:
    image = bytearray(32 * LANE)
    results = [product_of(mods(variant[2]), SHAPE, m) for m in data(variant)]
    _place(image, "c", "", variant[2], 0, results)
    return bytes(image)
