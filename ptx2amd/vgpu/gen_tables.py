"""Generates the decoder's tables (tables_<arch>.h), operand types and row numbers (ops.h)."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.target import chips
from ptx2amd.vgpu.isa import encoding
from ptx2amd.vgpu.isa.meaning import Branch, Matrix
from ptx2amd.vgpu.isa.op import GENERATIONS, TYPES, Op, Operand, generation_of
from ptx2amd.vgpu.isa.table import all_ops, symbol

#: VOPD opcode -> mnemonic of the row it performs (X and Y share the numbering; 16 and up are Y only).
VOPD = {
    0: "v_fmac_f32", 1: "v_fmaak_f32", 2: "v_fmamk_f32", 3: "v_mul_f32", 4: "v_add_f32", 5: "v_sub_f32",
    6: "v_subrev_f32", 7: "v_mul_dx9_zero_f32", 8: "v_mov_b32", 9: "v_cndmask_b32", 10: "v_max_f32",
    11: "v_min_f32", 12: "v_dot2acc_f32_f16", 13: "v_dot2acc_f32_bf16", 16: "v_add_nc_u32", 17: "v_lshlrev_b32",
    18: "v_and_b32",
}  # fmt: skip

#: Additional opcodes of gfx1250; from 32 on in VOPD3 only. 18 is a function of two operands, which VOPD3 encodes as a
#: third.
VOPD_GFX1250 = VOPD | {
    18: "v_bitop3_b32", 19: "v_fma_f32", 20: "v_sub_nc_u32", 21: "v_lshrrev_b32", 22: "v_ashrrev_i32", 23: "v_max_i32",
    24: "v_min_i32", 32: "v_fma_f64", 33: "v_add_f64", 34: "v_mul_f64", 35: "v_max_f64", 36: "v_min_f64",
}  # fmt: skip

_CLASSES = {
    "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "pk_f32": "PK_F32", "mask": "MASK",
}  # fmt: skip
_SHORT = ("VOP1", "VOP2", "VOPC")
_FORMATS = (*encoding.FORMATS, "VOP3P_MAI")


def _type_class(name: str) -> str:
    bits, kind = TYPES[name]
    if kind == "int":
        return "CLASS_INT16" if bits == 16 else "CLASS_INT64" if bits == 64 else "CLASS_INT"
    return f"CLASS_{_CLASSES[kind]}"


def common_header() -> str:
    """ops.h: enums used by all C files."""
    types = ["none", *TYPES]
    lines = [
        "/* Generated from ptx2amd/vgpu/isa. */",
        "#ifndef PTX2AMD_VGPU_OPS_H",
        "#define PTX2AMD_VGPU_OPS_H",
        "#include <stdint.h>",
        "enum operand_type { " + ", ".join(f"TYPE_{t}" for t in types) + " };",
        "enum inst_format { FORMAT_none, " + ", ".join(f"FORMAT_{f}" for f in _FORMATS) + " };",
        "enum type_class { CLASS_INT, CLASS_INT16, CLASS_INT64, CLASS_F16, CLASS_BF16, CLASS_F32, CLASS_F64,"
        " CLASS_PK_F32, CLASS_MASK };",
        f"enum {{ OP_COUNT = {len(all_ops())} }};",
        "/* Registers of an operand; 0: a lane mask, or none. */",
        "static inline unsigned operand_dwords(enum operand_type type) {",
        "  static const uint8_t dwords[] = {0, " + ", ".join(str((n + 31) // 32) for n, _ in TYPES.values()) + "};",
        "  return dwords[type];",
        "}",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _lookup(pos: dict[str, Operand], name: str) -> str:
    return f"TYPE_{pos[name].type}" if name in pos else "TYPE_none"


def _traits(op: Op) -> str:
    traits = []
    if op.branch:
        traits.append("TRAIT_BRANCH")
    if op.branch is Branch.RELATIVE:
        traits.append("TRAIT_RELATIVE")
    if op.format in ("DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG", "VSAMPLE", "SMEM"):
        traits.append("TRAIT_MEMORY")
    if op.format.startswith("V") and op.format != "VSAMPLE":
        traits.append("TRAIT_VALU")
    if op.format.startswith("S") and op.format != "SCRATCH":
        traits.append("TRAIT_SALU")
    return " | ".join(traits) or "0"


def _info(op: Op, index: int, arch: str) -> str:
    """The initialiser of a row's struct op_info."""
    operands = op.parse_operands()
    sources = [o for o in operands if not o.is_destination][:4]
    by_name = {o.name: o for o in operands}
    roles = {"a": "ROLE_A", "b": "ROLE_B", "c": "ROLE_C", "k": "ROLE_K"}
    fixed = accumulation = 0
    for k, o in enumerate(sources):
        fixed |= (o.fixed == "vcc") << k
        accumulation |= (o.only == "a") << k
    d, e = by_name.get("d"), by_name.get("e")
    if d:
        fixed |= ((d.fixed == "vcc") << 4) | ((d.fixed == "exec") << 6)
        accumulation |= (d.only == "a") << 4
    scalar_dst = bool(d and (d.type == "mask" or d.only == "s"))
    if e:
        fixed |= (e.fixed == "vcc") << 5
    types = ", ".join(f"TYPE_{o.type}" for o in sources)
    role_list = ", ".join(roles.get(o.name, "ROLE_A") for o in sources)
    return (
        f'{{.name = "{op.mnemonic(arch)}", .id = {index}, .format = FORMAT_{op.format},'
        f" .n_src = {len(sources)}, .src_type = {{{types or 0}}}, .src_role = {{{role_list or 0}}},"
        f" .dst_type = {_lookup(by_name, 'd')}, .dst2_type = {_lookup(by_name, 'e')}, .fixed = {fixed},"
        f" .accumulation = {accumulation}, .scalar_dst = {int(scalar_dst)},"
        f" .scaled = {int(isinstance(op.semantics, Matrix) and op.semantics.scaled)},"
        f" .bytes = {op.access.bytes if op.access else 0},"
        f" .traits = {_traits(op)},"
        f" .generation = {GENERATIONS.index(generation_of(arch))}, .image = {' | '.join(op.image) or 0}}}"
    )


def opcode_tables(arch: str) -> dict[str, dict[int, int]]:
    """Format -> opcode -> row number, VOP3 forms of the short formats included. ValueError on a clash."""
    tables: dict[str, dict[int, int]] = {}

    def add(fmt: str, opcode: int, index: int) -> None:
        table = tables.setdefault(fmt, {})
        if opcode in table:
            raise ValueError(f"{arch} {fmt} {opcode:#x}: {all_ops()[table[opcode]].name} and {all_ops()[index].name}")
        table[opcode] = index

    bases = encoding.VOP3_BASE[encoding.DECODERS[arch]]
    for index, op in enumerate(all_ops()):
        opcode = op.opcode(arch)
        if opcode is None:
            continue
        add("VOP3P" if op.format == "VOP3P_MAI" else op.format, opcode, index)
        if op.format in _SHORT and not any(o.name == "k" for o in op.parse_operands()):
            add("VOP3", bases[op.format] + opcode, index)
    return tables


def decoder_header(arch: str) -> str:
    """tables_<arch>.h for runtime/engine/decode.c."""
    layouts, chip = encoding.layouts(encoding.DECODERS[arch]), chips.tables()[arch]
    lines = [
        "/* Generated from ptx2amd/vgpu/isa. */",
        '#include "ops.h"',
        f"#define GENERATION_INDEX {GENERATIONS.index(generation_of(arch))}",
        f"#define DECODER_OWN_ACCUMULATORS {int(chip['accumulators'] == 'own')}",
        f"#define DECODER_UNIFIED_VGPRS {int(chip['accumulators'] == 'unified')}   /* ACC is where others have TFE */",
        f"#define DECODER_HAS_SVE {int(chip['flat_scratch'])}",
        f"#define DECODER_GFX125 {int(encoding.DECODERS[arch] == 'gfx125')}",
        "#define DECODE_HAS_LITERAL 0x8000",
    ]
    for name in encoding.FORMATS:
        layout = next((x for x in layouts if x.name == name), None)
        for f in encoding.FIELDS:
            lo, n = layout.fields.get(f, (0, 0)) if layout else (0, 0)
            value = f"bits(w, {lo}, {n})" if n else "0u"
            lines.append(f"#define F_{name}_{f}(w) ((void)(w), {value})")
    for name, text in encoding.EXTENSIONS.items():
        for f, (lo, n) in encoding.parse(name, text).fields.items():
            lines.append(f"#define F_{name}_{f}(w) bits(w, {lo}, {n})")
    lines.append(
        "static const uint8_t type_bits[] = {[TYPE_none] = 0, "
        + ", ".join(f"[TYPE_{t}] = {min(n, 255)}" for t, (n, _) in TYPES.items())
        + "};"
    )
    lines.append(
        "static const uint8_t type_class[] = {[TYPE_none] = CLASS_INT, "
        + ", ".join(f"[TYPE_{t}] = {_type_class(t)}" for t in TYPES)
        + "};"
    )
    lines.append(
        "static const uint8_t format_dwords[] = {[FORMAT_none] = 1, "
        + ", ".join(f"[FORMAT_{x.name}] = {x.dwords}" for x in layouts)
        + "};"
    )
    lines.append("static unsigned classify(uint32_t w) {")
    lines += [f"  if ((w & {x.mask:#010x}u) == {x.match:#010x}u) return FORMAT_{x.name};" for x in layouts]
    lines += ["  return FORMAT_none;", "}"]
    lines.append(f"static const struct op_info infos[{len(all_ops())}] = {{")
    lines += [
        f"  [{k}] = {_info(op, k, arch)}, /* {symbol(op)} */"
        for k, op in enumerate(all_ops())
        if op.opcode(arch) is not None
    ]
    lines.append("};")
    tables = opcode_tables(arch)
    for layout in layouts:
        if "op" not in layout.fields or layout.name in ("VOPD", "VOPD3"):
            continue
        entries = ", ".join(f"[{o:#x}] = &infos[{k}]" for o, k in sorted(tables.get(layout.name, {}).items()))
        size = 1 << (layout.fields["op"][1] + ("opm" in layout.fields))
        lines.append(f"static const struct op_info *const op_{layout.name}[{size}] = {{{entries or 0}}};")
    lines.append("static const struct op_info *find_op(unsigned format, const uint32_t *w) {")
    lines.append("  switch (format) {")
    lines += [
        f"  case FORMAT_{x.name}: return op_{x.name}[F_{x.name}_op(w)"
        + (f" | F_{x.name}_opm(w) << {x.fields['op'][1]}];" if "opm" in x.fields else "];")
        for x in layouts
        if "op" in x.fields and x.name not in ("VOPD", "VOPD3")
    ]
    lines += ["  default: return NULL;", "  }", "}"]
    lines.append(_vopd_table(arch))
    return "\n".join(lines) + "\n"


def _vopd_table(arch: str) -> str:
    if generation_of(arch) not in ("gfx11", "gfx12"):
        return ""
    rows: dict[str, int] = {}
    for formats in (("VOP3",), _SHORT):
        for k, op in enumerate(all_ops()):
            if op.opcode(arch) is not None and op.format in formats:
                rows[op.mnemonic(arch)] = k
                rows[op.name] = k
    names = VOPD_GFX1250 if "VOPD3" in encoding.LAYOUTS[encoding.DECODERS[arch]] else VOPD
    entries = ", ".join(f"[{n}] = &infos[{rows[name]}]" for n, name in names.items() if name in rows)
    return f"static const struct op_info *const vopd_table[64] = {{{entries or 0}}};"


def write(outdir: Path) -> None:
    """Writes ops.h and the decoders' tables into outdir."""
    (outdir / "ops.h").write_text(common_header())
    for arch in encoding.DECODERS:
        (outdir / f"tables_{arch}.h").write_text(decoder_header(arch))
