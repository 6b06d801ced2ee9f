"""VOPC: comparisons of lanes into a lane mask; v_cmpx also writes EXEC (only EXEC since GFX10)."""

from __future__ import annotations

from ptx2amd.vgpu.isa import native
from ptx2amd.vgpu.isa.op import Op

#: Relation -> C expression of floats; the N forms are true for unordered operands.
FLOAT_RELATIONS = {
    "f": "0", "lt": "A < B", "eq": "A == B", "le": "A <= B", "gt": "A > B", "lg": "A < B || A > B", "ge": "A >= B",
    "o": "A == A && B == B", "u": "A != A || B != B", "nge": "!(A >= B)", "nlg": "!(A < B || A > B)",
    "ngt": "!(A > B)", "nle": "!(A <= B)", "neq": "A != B", "nlt": "!(A < B)", "t": "1",
}  # fmt: skip
INTEGER_RELATIONS = {
    "f": "0", "lt": "A < B", "eq": "A == B", "le": "A <= B", "gt": "A > B", "ne": "A != B", "ge": "A >= B", "t": "1",
}  # fmt: skip

FLOATS = ("f16", "f32", "f64")
INTEGERS = ("i16", "u16", "i32", "u32", "i64", "u64")


def relation_name(relation: str, typ: str, prefix: str, *, gfx9: bool) -> str:
    """GFX9 calls the always-true float relation `tru`."""
    if gfx9 and relation == "t" and typ in FLOATS:
        relation = "tru"
    return f"v_{prefix}_{relation}_{typ}"


def _pair(relation: str, typ: str, semantics: str) -> list[Op]:
    """v_cmp and v_cmpx."""
    return [
        Op(relation_name(relation, typ, prefix, gfx9=False), "VOPC", f"d@vcc:mask, a:{typ}, b:{typ}", semantics,
           names={"gfx9": relation_name(relation, typ, prefix, gfx9=True)}, x86=native.comparison(relation, typ),
           writes_exec=prefix == "cmpx") for prefix in ("cmp", "cmpx")
    ]  # fmt: skip


def _classes() -> list[Op]:
    """v_cmp_class: is the float of one of the classes whose bits are set in the second source?"""
    rows = []
    for typ, mask, bits, mantissa, x86 in (
        ("f32", "b32", 32, 23, native.CLASS_F32), ("f64", "b32", 64, 52, native.wide(native.CLASS_F64)),
        ("f16", "b16", 16, 10, ""),
    ):  # fmt: skip
        operands = f"d@vcc:mask, a:{typ}, b:{mask}"
        semantics = f"D = (class_bits(A_, {bits}, {mantissa}) & B) != 0;"
        rows.append(Op(f"v_cmp_class_{typ}", "VOPC", operands, semantics, x86=x86))
        rows.append(Op(f"v_cmpx_class_{typ}", "VOPC", operands, semantics, x86=x86, writes_exec=True))
    return rows


def ops() -> list[Op]:
    rows: list[Op] = []
    for types, relations in ((FLOATS, FLOAT_RELATIONS), (INTEGERS, INTEGER_RELATIONS)):
        for typ in types:
            for relation, expression in relations.items():
                rows += _pair(relation, typ, f"D = {expression};")
    return rows + _classes()
