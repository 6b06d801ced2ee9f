"""Generates the handlers of scalar instructions from the rows' semantics (isa/sop*.py, smem.py)."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.vgpu.isa.op import Op, Operand
from ptx2amd.vgpu.isa.table import scalar_ops, symbol
from ptx2amd.vgpu.unit import Handlers, Unit

_C_TYPE = {
    "u32": "uint32_t", "b32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "b64": "uint64_t", "i64": "int64_t",
    "f32": "float", "f16": "float", "b16": "uint32_t",
}  # fmt: skip
#: Conversion of floats from and to the bits in a register.
_FROM_BITS = {"f32": "as_f32({})", "f16": "half_value(w, {})"}
_TO_BITS = {"f32": "f32_bits({})", "f16": "half_bits(w, {})"}


def _write(d: Operand) -> str:
    if d.bits == 64:
        return "write64(w, i->dst, (uint64_t)D);"
    return f"w->s[i->dst] = {_TO_BITS.get(d.type, '(uint32_t){}').format('D')};"


def _source(o: Operand, k: int, modified: bool) -> str:
    """Declarations of a source's value A and, for floats, its bits A_."""
    up = o.name.upper()
    if o.type not in _FROM_BITS:
        return f"const {_C_TYPE[o.type]} {up} = ({_C_TYPE[o.type]})source_u{max(o.bits, 32)}(w, i, {k});"
    bits = f"source_u32(w, i, {k})"
    if modified:
        bits = f"modified_bits(i, {k}, {bits}, {o.bits})"
    value = _FROM_BITS[o.type].format(f"{up}_")
    return f"const uint32_t {up}_ = {bits}; const float {up} = {value}; (void){up}_;"


def handler(op: Op) -> str:
    """The C function of one scalar row."""
    text, words, assigned = str(op.semantics), op.words(), op.assigned()
    operands = op.parse_operands()
    d = next((o for o in operands if o.name == "d"), None)
    sources = [o for o in operands if not o.is_destination]
    body = []
    if op.format != "SMEM":
        for k, o in enumerate(sources):
            if o.name.upper() in words:
                body.append(_source(o, k, op.format == "VOP3"))
    if "D" in words and d:
        ctype = _C_TYPE[d.type]
        old = f"read{max(d.bits, 32)}(w, i->dst)" if d.read else "0"
        old = _FROM_BITS.get(d.type, f"({ctype}){{}}").format(old)
        body.append(f"{ctype} D = {old};")
    if any(o.type == "f16" for o in operands):
        body.insert(0, "float64_begin(w);")
    width = next((o.bits for o in sources if o.name == "a"), 64)
    if "EXEC" in words:
        body.append(f"uint{width}_t EXEC = read{width}(w, S_EXEC);")
    if "SCC" in words:
        body.append("uint32_t SCC = w->s[S_SCC];")
    if "IMM" in words:
        body.append("const int32_t IMM = i->imm;")
    if "M0" in words:
        body.append("const uint32_t M0 = w->s[S_M0];")
    statement = text.replace("WRITE_D;", _write(d) if d else "")
    body.append(statement)
    if op.format == "VOP3" and d:
        body.append("D = finished(i, D);")
    if "EXEC" in assigned:
        body.append("w->s[S_EXEC] = (uint32_t)EXEC;")
        if width == 64:
            body.append("w->s[S_EXEC + 1] = (uint32_t)(EXEC >> 32);")
    if "D" in words and d and "WRITE_D" not in words:
        body.append(_write(d))
    if any(o.type == "f16" for o in operands):
        body.append("float64_end(w);")
    if "SCC" in assigned:
        body.append("w->s[S_SCC] = SCC;")
    if not text.rstrip().endswith("return NEXT(i);"):
        body.append("return NEXT(i);")
    inner = "\n  ".join(body)
    return (
        f"/* {op.name}: {op.operands} */\n"
        f"const struct inst *VG(op_{symbol(op)})(struct wave *w, const struct inst *i) {{\n  (void)w;\n  {inner}\n}}\n"
    )


def write(outdir: Path) -> Handlers:
    """Writes scalar_handlers.c into outdir; returns the unit and the handlers' names."""
    rows = [op for op in scalar_ops() if op.semantics]
    path = outdir / "scalar_handlers.c"
    path.write_text('/* Generated from ptx2amd/vgpu/isa. */\n#include "scalar.h"\n\n' + "\n".join(map(handler, rows)))
    unit = Unit(path, "width", ("-fno-strict-aliasing", "-fno-math-errno", "-ffp-contract=off"))
    return Handlers([unit], {symbol(op): (f"op_{symbol(op)}", "") for op in rows})
