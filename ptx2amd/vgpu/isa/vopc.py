"""VOPC: comparisons of lanes into a lane mask; v_cmpx also writes EXEC (only EXEC since GFX10).

Opcodes follow a grid: a base per type (GFX9, GFX11) plus the relation's number; v_cmpx lies 0x10 (GFX9) or
0x80 (GFX11) above v_cmp.
"""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op

#: Relation -> C expression of floats, in the order of opcodes. The N forms are true for unordered operands.
FLOAT_RELATIONS = {
    "f": "0", "lt": "A < B", "eq": "A == B", "le": "A <= B", "gt": "A > B", "lg": "A < B || A > B", "ge": "A >= B",
    "o": "A == A && B == B", "u": "A != A || B != B", "nge": "!(A >= B)", "nlg": "!(A < B || A > B)",
    "ngt": "!(A > B)", "nle": "!(A <= B)", "neq": "A != B", "nlt": "!(A < B)", "t": "1",
}  # fmt: skip
INTEGER_RELATIONS = {
    "f": "0", "lt": "A < B", "eq": "A == B", "le": "A <= B", "gt": "A > B", "ne": "A != B", "ge": "A >= B", "t": "1",
}  # fmt: skip

#: Type -> opcode of relation 0 on GFX9 and GFX11.
FLOAT_BASES = {"f16": (0x20, 0x00), "f32": (0x40, 0x10), "f64": (0x60, 0x20)}
INTEGER_BASES = {
    "i16": (0xA0, 0x30), "u16": (0xA8, 0x38), "i32": (0xC0, 0x40), "u32": (0xC8, 0x48), "i64": (0xE0, 0x50),
    "u64": (0xE8, 0x58),
}  # fmt: skip
CMPX = (0x10, 0x80)


def _pair(relation: str, typ: str, semantics: str, gfx9: int, gfx11: int | None) -> list[Op]:
    """v_cmp and v_cmpx."""
    operands = f"d@vcc:mask, a:{typ}, b:{typ}"
    names = {"gfx9": relation_name(relation, typ, "cmp", gfx9=True)}
    xnames = {"gfx9": relation_name(relation, typ, "cmpx", gfx9=True)}
    return [
        Op(f"v_cmp_{relation}_{typ}", "VOPC", operands, semantics, gfx9=gfx9, gfx11=gfx11, names=names),
        Op(f"v_cmpx_{relation}_{typ}", "VOPC", operands, semantics, gfx9=gfx9 + CMPX[0],
           gfx11=None if gfx11 is None else gfx11 + CMPX[1], names=xnames),
    ]  # fmt: skip


def relation_name(relation: str, typ: str, prefix: str, *, gfx9: bool) -> str:
    """GFX9 calls the always-true float relation `tru`."""
    if gfx9 and relation == "t" and typ in FLOAT_BASES:
        relation = "tru"
    return f"v_{prefix}_{relation}_{typ}"


def _compares() -> list[Op]:
    rows: list[Op] = []
    for typ, (gfx9, gfx11) in FLOAT_BASES.items():
        for n, (relation, expression) in enumerate(FLOAT_RELATIONS.items()):
            rows += _pair(relation, typ, f"D = {expression};", gfx9 + n, gfx11 + n)
    for typ, (gfx9, gfx11) in INTEGER_BASES.items():
        for n, (relation, expression) in enumerate(INTEGER_RELATIONS.items()):
            absent = typ.endswith("16") and relation in ("f", "t")
            rows += _pair(relation, typ, f"D = {expression};", gfx9 + n, None if absent else gfx11 + n)
    return rows


def _classes() -> list[Op]:
    """v_cmp_class: is the float of one of the classes whose bits are set in the second source?"""
    rows = []
    for typ, mask, bits, mantissa, gfx9, gfx11 in (
        ("f32", "b32", 32, 23, 0x10, 0x7E), ("f64", "b32", 64, 52, 0x12, 0x7F), ("f16", "b16", 16, 10, 0x14, 0x7D),
    ):  # fmt: skip
        operands = f"d@vcc:mask, a:{typ}, b:{mask}"
        semantics = f"D = (class_bits(A_, {bits}, {mantissa}) & B) != 0;"
        rows.append(Op(f"v_cmp_class_{typ}", "VOPC", operands, semantics, gfx9=gfx9, gfx11=gfx11))
        rows.append(Op(f"v_cmpx_class_{typ}", "VOPC", operands, semantics, gfx9=gfx9 + 1, gfx11=gfx11 + 0x80))
    return rows


OPS = [*_compares(), *_classes()]
