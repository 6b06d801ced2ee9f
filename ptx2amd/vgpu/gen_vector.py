"""Vector instruction rows -> C handlers.

A row's semantics are C statements for one lane. They see

    A B C K       sources, as values of their types (f16 and bf16 as float, packed 16-bit element by element)
    A_ B_ C_      their bits: uint32_t (16-bit ones zero-extended), uint64_t; of masks 0 or ~0
    AL AH ...     the two elements of packed sources where the result is not packed
    D, E          results (D of a `d=` operand holds the old value, AL-like DL DH likewise); E: a lane's flag
    LANE EXEC     lane number, execution mask
    VC            the lane's bit of VCC, 0 or ~0
    IEEE NEAREST  MODE's IEEE bit; whether f16 and f64 round to nearest
    ONE ONE64     1.0 hidden from the optimiser: `x * ONE` quiets NaNs and flushes denormals as MODE says
    CLAMP         whether the instruction has the clamp bit (integers: saturate); makes a second handler
    SATURATE8     MODE's FP16_OVFL: fp8 conversions saturate
    OPSEL         inst->op_sel
    GFX9          the instruction is one of GFX9's

and the functions of runtime/valu/valu_math.h. isa/meaning.py says what else a row's meaning can be.

One handler serves all lanes of a wave (runtime/valu/valu.h explains rows). Modifiers are applied around it by
VG(valu_modified); its `struct valu_shape` is made here from the operand types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.meaning import Matrix, Prefix, SmallFloats
from ptx2amd.vgpu.isa.op import Op, Operand, generation_of
from ptx2amd.vgpu.isa.table import symbol
from ptx2amd.vgpu.unit import RUNTIME, Handlers, Unit

#: Handwritten parts, compiled for every width and level.
PARTS = ("valu_mode.c", "valu_modify.c", "valu_lane.c", "valu_mix.c", "valu_mfma.c", "valu_wmma.c",
         "valu_sparse.c", "valu_block_scaled.c", "valu_scaled.c")  # fmt: skip

#: Compiler flags of vector code: IEEE arithmetic as written, in the current rounding mode. (-frounding-math would keep
#: GCC from vectorising fma and sqrt; the rows leave nothing to fold, and the tests run all modes.)
FLAGS = (
    "-O2", "-ftree-vectorize", "-fvect-cost-model=unlimited", "-ffp-contract=off", "-fno-trapping-math",
    "-fno-math-errno", "-fno-strict-aliasing", "-fno-tree-loop-distribution",
    "-fno-tree-loop-distribute-patterns", "-mprefer-vector-width=512",
    "-Wno-unused-variable", "-Wno-sign-compare",
)  # fmt: skip

#: Rows per C file: small files keep memory use and compile time low.
ROWS_PER_FILE = 150

#: Operand type -> enum valu_type.
SHAPES = {
    "u16": "B16", "i16": "B16", "b16": "B16", "u8": "B16", "i8": "B16", "b8": "B16", "f16": "F16", "bf16": "BF16",
    "u24": "B32", "i24": "B32", "u32": "B32", "i32": "B32", "b32": "B32", "f32": "F32",
    "u64": "B64", "i64": "B64", "b64": "B64", "f64": "F64",
    "i16x2": "PK16", "u16x2": "PK16", "f16x2": "PKF16", "bf16x2": "PKF16", "f32x2": "PK32", "u32x2": "PK32",
    "b128": "B128", "mask": "MASK",
}  # fmt: skip

#: 32-bit register value `x` -> C value of the type.
_LOAD32 = {
    "u32": "x", "b32": "x", "i32": "(int32_t)x", "f32": "as_f32(x)", "u24": "(x << 8 >> 8)",
    "i24": "((int32_t)(x << 8) >> 8)", "u16": "(uint16_t)x", "b16": "(uint16_t)x", "i16": "(int16_t)x",
    "u8": "(uint8_t)x", "b8": "(uint8_t)x", "i8": "(int8_t)x", "bf16": "bf16_to_f32(x)",
}  # fmt: skip
_CTYPE = {
    "u32": "uint32_t", "b32": "uint32_t", "i32": "int32_t", "f32": "float", "u24": "uint32_t", "i24": "int32_t",
    "u16": "uint32_t", "b16": "uint32_t", "i16": "int32_t", "u8": "uint32_t", "b8": "uint32_t", "i8": "int32_t",
    "bf16": "float", "f16": "float", "u64": "uint64_t", "b64": "uint64_t", "i64": "int64_t", "f64": "double",
    "f16x2": "float", "bf16x2": "float", "i16x2": "int32_t", "u16x2": "uint32_t", "f32x2": "float", "u32x2": "uint32_t",
    "mask": "uint32_t",
}  # fmt: skip
_LOAD64 = {"u64": "x", "b64": "x", "i64": "(int64_t)x", "f64": "as_f64(x)"}
_PACKED16 = {"i16x2": "int16_t", "u16x2": "uint16_t"}
_PACKED = {"f16x2", "i16x2", "u16x2", "bf16x2"}
_PAIR = {"f32x2", "u32x2"}
_FLOAT64 = {"f64", "f16", "f16x2"}
_FLOATS = {*_FLOAT64, "f32", "bf16", "f32x2"}


class _Writer:
    """One handler's text."""

    def __init__(self, op: Op, name: str, clamp: bool) -> None:
        self.op, self.name, self.clamp, self.words = op, name, clamp, op.words()
        self.operands = op.parse_operands()
        self.sources = [o for o in self.operands if not o.is_destination]
        by_name = {o.name: o for o in self.operands}
        self.d: Operand | None = by_name.get("d")
        self.e: Operand | None = by_name.get("e")
        self.packed = self.d is not None and self.d.type in _PACKED
        self.pair = self.d is not None and self.d.type in _PAIR
        self.text: list[str] = []
        self.body: list[str] = []
        self.after: list[str] = []

    def line(self, text: str) -> None:
        self.text.append(f"  {text}")

    def uses(self, name: str) -> bool:
        return name in self.words

    def rows(self, var: str, k: int | None, o: Operand) -> None:
        """Rows of source k (None: the old destination) and the lane values derived from them."""
        up = var.upper()
        old = k is None
        if o.type == "mask":
            self.line(f"ROW uint32_t {var}[W]; mask_to_row({var}, mask_source(w, i, {k}));")
            self.body.append(f"uint32_t {up}_ = {var}[l], {up} = {up}_ & 1; (void){up}; (void){up}_;")
        elif o.bits == 64:
            self.rows64(var, up, k, o, old)
        else:
            if old:
                self.line(f"const uint32_t *{var} = vgpr(w, i->dst);")
            else:
                self.line(f"ROW uint32_t t{var}[W]; const uint32_t *{var} = row32(w, i, {k}, t{var});")
            self.values32(var, up, o)

    def rows64(self, var: str, up: str, k: int | None, o: Operand, old: bool) -> None:
        if old:
            self.line(f"const uint32_t *{var} = vgpr(w, i->dst), *{var}_hi = vgpr(w, i->dst + 1u);")
        else:
            self.line(f"ROW uint32_t t{var}[2 * W]; const uint32_t *{var}_hi;")
            self.line(f"const uint32_t *{var} = row64(w, i, {k}, t{var}, &{var}_hi);")
        if o.type in _PAIR:
            load = _LOAD32[o.type[:-2]]
            ctype = _CTYPE[o.type]
            self.body.append(
                f"{ctype} {up}L = {load.replace('x', f'{var}[l]')}, {up}H = {load.replace('x', f'{var}_hi[l]')};"
            )
            self.body.append(f"(void){up}L; (void){up}H;")
        else:
            self.body.append(f"uint64_t {up}_ = join({var}[l], {var}_hi[l]);")
            self.body.append(f"{_CTYPE[o.type]} {up} = {_LOAD64[o.type].replace('x', f'{up}_')}; (void){up};")

    def values32(self, var: str, up: str, o: Operand) -> None:
        typ = o.type
        if typ == "f16":
            self.line(f"ROW float {var}_f[W]; half_row(w, {var}_f, {var});")
            self.body.append(f"float {up} = {var}_f[l]; uint32_t {up}_ = (uint16_t){var}[l];")
        elif typ == "f16x2":
            self.line(f"ROW float {var}_f[2 * W]; half_row2(w, {var}_f, {var});")
            if self.packed:
                self.body.append(f"float {up} = {var}_f[l]; uint32_t {up}_ = ((const uint16_t *){var})[l];")
            else:
                self.body.append(
                    f"float {up}L = {var}_f[2 * l], {up}H = {var}_f[2 * l + 1]; uint32_t {up}_ = {var}[l];"
                )
        elif typ in _PACKED16:
            c = _PACKED16[typ]
            if self.packed:
                self.body.append(f"{c} {up} = ((const {c} *){var})[l];")
                return
            low, high = f"({c}){var}[l]", f"({c})({var}[l] >> 16)"
            self.body.append(f"int32_t {up}L = {low}, {up}H = {high}; uint32_t {up}_ = {var}[l];")
        elif typ == "bf16x2" and self.packed:
            self.body.append(f"float {up} = bf16_to_f32(((const uint16_t *){var})[l]);")
            return
        elif typ == "bf16x2":
            self.body.append(f"float {up}L = bf16_to_f32({var}[l]), {up}H = as_f32({var}[l] & 0xffff0000);")
            return
        else:
            value = _LOAD32[typ].replace("x", f"{var}[l]")
            self.body.append(f"uint32_t {up}_ = {var}[l]; {_CTYPE[typ]} {up} = {value};")
            self.body.append(f"(void){up};")
        self.body.append(f"(void){up}_;")

    def result(self) -> str:
        """Rows of the result, and the statement that stores a lane's D into them."""
        d = self.d
        if d is None:
            return ""
        if d.type == "mask":
            self.line("ROW uint32_t td[W];")
            if self.op.writes_exec:
                self.after.append("uint64_t bits = store_mask(w, i->op->generation ? S_EXEC : i->dst, td);")
                self.after.append("mask_write(w, S_EXEC, bits);")
            else:
                self.after.append("store_mask(w, i->dst, td);")
            return "td[l] = -(uint32_t)(D);"
        if d.bits == 64:
            self.line("ROW uint32_t td[2 * W]; uint32_t *r = result_rows(w, i, td), *r_hi = r + W;")
            self.after.append("result_done(w, i, r, td, 2);")
            if self.pair:
                f = "f32_bits" if d.type == "f32x2" else ""
                return f"r[l] = {f}(DL); r_hi[l] = {f}(DH);"
            f = "f64_bits" if d.type == "f64" else "(uint64_t)"
            return f"uint64_t d_bits = {f}(D); r[l] = (uint32_t)d_bits; r_hi[l] = (uint32_t)(d_bits >> 32);"
        if d.type == "f16":
            self.line("ROW uint32_t td[W]; ROW float rd[W];")
            self.after.append("half_pack(w, td, rd);")
            self.after.append(f"store16(w, i, td, {self.keeps()});")
            return "rd[l] = D;"
        if d.bits <= 16:
            self.line("ROW uint32_t td[W];")
            self.after.append(f"store16(w, i, td, {self.keeps()});")
            value = "f32_to_bf16(D)" if d.type == "bf16" else "(uint32_t)(D) & 0xffff"
            return f"td[l] = {value};"
        self.line("ROW uint32_t td[W]; uint32_t *r = result_rows(w, i, td);")
        if d.type == "f16x2":
            self.line("ROW float rd[2 * W];")
            self.after.append("half_pack2(w, r, rd);")
        self.after.append("result_done(w, i, r, td, 1);")
        if d.type == "f16x2":
            return "rd[l] = D;"
        if self.packed:
            return f"((uint16_t *)r)[l] = (uint16_t)({'f32_to_bf16(D)' if d.type == 'bf16x2' else '(D)'});"
        return "r[l] = f32_bits(D);" if d.type == "f32" else "r[l] = (uint32_t)(D);"

    def keeps(self) -> str:
        """Whether a 16-bit result leaves the register's high half unchanged on GFX9 too."""
        return "true" if self.op.keeps_high_half or (self.d is not None and self.d.read) else "false"

    def switches_mode(self) -> bool:
        """Whether the f64/f16 rounding and denormal modes apply."""
        d = self.d.type if self.d else ""
        return d in ("f16", "f16x2") or (d != "f32" and any(o.type in _FLOAT64 for o in self.sources))

    def write(self) -> str:
        sem = str(self.op.semantics)
        store = self.result()
        names = iter("abck")
        for k, o in enumerate(self.sources):
            self.rows(o.name if o.name in "abck" else next(names), k, o)
        if self.d and self.d.read:
            self.rows("d", None, self.d)
        elif self.d and self.d.type != "mask":
            c = _CTYPE[self.d.type]
            self.body.append(f"{c} DL, DH;" if self.pair else f"{c} D;")
        elif self.d:
            self.body.append("uint32_t D;")
        if self.e:
            self.line("ROW uint32_t te[W];")
            self.body.append("uint32_t E;")
            store += " te[l] = -(uint32_t)(E);"
            self.after.append("store_mask(w, i->dst2, te);")
        for name, value in (
            ("EXEC", "uint64_t EXEC = wave_exec(w)"),
            ("IEEE", "uint32_t IEEE = w->float_state[FLOAT_IEEE]"),
            ("NEAREST", "uint32_t NEAREST = w->float_state[FLOAT_NEAREST16]"),
            ("ONE", "float ONE = valu_one_f32"),
            ("ONE64", "double ONE64 = valu_one_f64"),
            ("SATURATE8", "uint32_t SATURATE8 = w->mode >> 23 & 1"),
            ("OPSEL", "uint32_t OPSEL = i->op_sel"),
            ("GFX9", "bool GFX9 = i->op->generation == 0"),
        ):
            if self.uses(name):
                self.line(f"const {value};")
        if self.uses("VC"):
            self.line("ROW uint32_t vcc[W]; mask_to_row(vcc, mask_read(w->s + S_VCC));")
            self.body.insert(0, "uint32_t VC = vcc[l];")
        if self.uses("LANE"):
            self.body.insert(0, "uint32_t LANE = (uint32_t)l;")
        if self.uses("CLAMP"):
            self.line(f"enum {{ CLAMP = {int(self.clamp)} }};")
        mode = self.switches_mode()
        if mode:
            self.text.insert(0, "  float64_begin(w);")
        loop = "LANES2" if self.packed else "LANES"
        if self.pair:
            sem = _both_halves(sem)
        self.line(f"{loop}(l) {{")
        for statement in [*self.body, sem, store]:
            self.line(f"  {statement}")
        self.line("}")
        if mode and self.d and self.d.type in ("f16", "f16x2"):
            self.after.append("float64_end(w);")
        elif mode:
            self.after.insert(0, "float64_end(w);")
        for statement in self.after:
            self.line(statement)
        return (
            f"const struct inst *VG({self.name})(struct wave *w, const struct inst *i) {{\n"
            + "\n".join(self.text)
            + "\n  return NEXT(i);\n}\n"
        )


def _both_halves(sem: str) -> str:
    """Statements of a pair of 32-bit elements: once for the low and once for the high registers."""
    low = re.sub(r"\b([ABCD])\b", r"\1L", sem)
    return low + " " + re.sub(r"\b([ABCD])\b", r"\1H", sem)


def shape_type(o: Operand | None) -> str:
    """enum valu_type of an operand."""
    if o is None:
        return "VALU_NONE"
    return "VALU_" + SHAPES.get(o.type, "B128")


def handler(op: Op) -> tuple[str, str, str]:
    """C text of a row's handlers, and the names of the plain one and of the one for modifiers ("" : none)."""
    name = f"op_{symbol(op)}"
    if isinstance(op.semantics, Matrix):
        return _matrix_handler(name, op.semantics), name, ""
    if isinstance(op.semantics, SmallFloats):
        return _small_floats_handler(name, op.semantics), name, ""
    call = op.call
    if call:
        text, plain = f"handler_decl VG({call.function});\n", call.function
    else:
        text, plain = _Writer(op, name, clamp=False).write(), name
    if call and call.modifies:
        return text, plain, ""
    saturated = "NULL"
    if not call and "CLAMP" in op.words():
        text += _Writer(op, f"{name}_sat", clamp=True).write()
        saturated = f"VG({name}_sat)"
    operands = op.parse_operands()
    sources = [o for o in operands if not o.is_destination][:3]
    d = next((o for o in operands if o.name == "d"), None)
    kinds = ", ".join(shape_type(o) for o in sources) or "VALU_NONE"
    text += (
        f"const struct inst *VG({name}_mod)(struct wave *w, const struct inst *i) {{\n"
        f"  static const struct valu_shape shape = {{VG({plain}), {saturated}, {{{kinds}}}, {shape_type(d)}, "
        f"{int(d is not None and d.read)}, {int(op.writes_exec)}, {int(op.format == 'VOP3P')}}};\n"
        f"  return VG(valu_modified)(w, i, &shape);\n}}\n"
    )
    return text, plain, f"{name}_mod"


def only_wave64(op: Op) -> bool:
    """GFX9 has no waves of 32 lanes: rows for GFX9 only need no handlers for that width."""
    return not op.call and all(op.opcode(arch) is None for arch in DECODERS if generation_of(arch) != "gfx9")


def _sameness(op: Op) -> tuple[object, ...]:
    """Rows that agree in this key have the same handlers: their text depends on nothing else."""
    return (op.operands.replace("@vcc", ""), op.semantics, op.keeps_high_half, op.format == "VOP3P", op.writes_exec,
            only_wave64(op))  # fmt: skip


def _absent(*names: str) -> str:
    return "".join(
        f"const struct inst *VG({name})(struct wave *w, const struct inst *i) {{\n"
        f'  return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, -1, 0, "%s in a wave of 32 lanes", i->op->name);\n}}\n'
        for name in names
        if name
    )


def _matrix_handler(name: str, x: Matrix) -> str:
    types = ", ".join(f"MATRIX_{t}" for t in (x.a, x.b, x.d))
    signature = "(struct wave *w, const struct inst *i, const struct matrix_shape *shape)"
    return (
        f"const struct inst *VG(valu_{x.kind}){signature};\n"
        f"const struct inst *VG({name})(struct wave *w, const struct inst *i) {{\n"
        f"  static const struct matrix_shape shape = {{{x.m}, {x.n}, {x.k}, {x.blocks}, {types}}};\n"
        f"  return VG(valu_{x.kind})(w, i, &shape);\n}}\n"
    )


def _small_floats_handler(name: str, x: SmallFloats) -> str:
    return (
        f"const struct inst *VG({name})(struct wave *w, const struct inst *i) {{\n"
        f"  static const struct scaled_shape shape = "
        f"{{SMALL_{x.small}, WIDE_{x.wide}, {x.count}, {x.sources}, {str(x.stochastic).lower()}}};\n"
        f"  return VG(valu_{x.kind})(w, i, &shape);\n}}\n"
    )


def write(outdir: Path, ops: Sequence[Op]) -> Handlers:
    """Write the handlers of the rows as C files into `outdir`."""
    outdir.mkdir(parents=True, exist_ok=True)
    result = Handlers()
    done: dict[tuple[object, ...], Op] = {}
    with_handlers = [op for op in ops if op.semantics and op.semantics != Prefix()]
    for op in with_handlers:
        done.setdefault(_sameness(op), op)
    rows = list(done.values())
    for start in range(0, len(rows), ROWS_PER_FILE):
        parts = [
            '#include "valu_matrix.h"\n#include "valu_scaled.h"\n'
            "typedef const struct inst *handler_decl(struct wave *, const struct inst *);\n"
        ]
        for op in rows[start : start + ROWS_PER_FILE]:
            text, plain, modified = handler(op)
            if only_wave64(op):
                text = f"#if W == 64\n{text}#else\n{_absent(plain, modified)}#endif\n"
            parts.append(f"/* {op.name}: {op.operands} */\n{text}")
            result.names[symbol(op)] = (plain, modified)
        path = outdir / f"vector_{start // ROWS_PER_FILE}.c"
        path.write_text("\n".join(parts))
        result.units.append(Unit(path, "build", FLAGS))
    for op in with_handlers:
        result.names[symbol(op)] = result.names[symbol(done[_sameness(op)])]
    result.units += [Unit(RUNTIME / "valu" / part, "build", FLAGS) for part in PARTS]
    result.units += [Unit(RUNTIME / "valu" / name) for name in ("valu_tables.c", "valu_probe.c")]
    result.names["vopd"] = ("valu_vopd", "")
    return result
