"""Generates the tables for the translation to native code (runtime/native/native.h) from isa/native.py."""

from __future__ import annotations

import re
from pathlib import Path

from ptx2amd.vgpu.gen_vector import FLAGS
from ptx2amd.vgpu.isa import native
from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import all_ops
from ptx2amd.vgpu.unit import RUNTIME, Unit

#: What sequences leave to C; only where there is native code, so for its level alone.
SLOW = RUNTIME / "native" / "native_slow.c"
_STATEMENT = re.compile(r"(\w+)(?:\{(\w+)\})? = (\w+)(?:/(\w+))? (\S+)(?: (\S+))?$")
_HALVES = "{X86_halves, VALUE_NONE, VALUE_NONE, VALUE_NONE, VALUE_NONE, 0, 0},"
_SHAPES = ("UNARY", "UNARY_IMM", "BINARY", "BINARY_IMM", "CHANGE", "CHANGE_IMM", "SHIFT2", "SHIFT6", "COMPARE",
           "TEST", "TO_MASK", "MASKS", "NARROW", "NARROW_IMM", "HALVES", "JOIN")  # fmt: skip
_RESULTS = ("D", "DH", "O", "OH")
_TEMPORARIES = "STUVXY"
_MASKS = ("E", "P", "Q", "R", "SLOW", "VCC")  # from VALUE_E on: mask registers
#: Scalar semantics with these words do more than compute D and SCC from A and B.
_IMPURE = re.compile(r"\bw\b|\breturn\b|EXEC|JUMP|BRANCH|PC_NEXT|MESSAGE|clock|WRITE_D|M0")


def _enums() -> str:
    values = ["NONE", "CONST", "A", "AH", "B", "BH", "C", "CH", *_RESULTS, *_TEMPORARIES, *_MASKS, "ODD"]
    return "\n".join(
        [
            "/* Generated from ptx2amd/vgpu/isa/native.py. */",
            "enum x86_shape { " + ", ".join(f"SHAPE_{s}" for s in _SHAPES) + " };",
            "enum x86_op { " + ", ".join(f"X86_{n}" for n in native.X86) + ", X86_COUNT };",
            "enum native_value { " + ", ".join(f"VALUE_{v}" for v in values) + ", VALUE_COUNT };",
            "",
        ]
    )


def _value(text: str, letters: dict[str, str]) -> tuple[str, int]:
    if text.startswith("#"):
        return "VALUE_CONST", int(text[1:], 0)
    name, high = (text[0], text[1:]) if text[0] in letters and text[1:] in ("", "H") else (text, "")
    return f"VALUE_{letters.get(name, name)}{high}", 0


def sequence(op: Op) -> list[str]:
    """C initialisers of a row's steps; ValueError where the notation is wrong."""
    sources = [o for o in op.parse_operands() if not o.is_destination]
    letters = {o.name.upper(): "ABC"[k] for k, o in enumerate(sources)}
    steps = []
    for text in native.SEQUENCES[op.name].split("; "):
        if text == "halves":
            steps.append(_HALVES)
            continue
        m = _STATEMENT.match(text)
        if not m or m[3] not in native.X86:
            raise ValueError(f"{op.name}: {text!r}")
        a, constant = _value(m[5], letters)
        b, other = _value(m[6], letters) if m[6] else ("VALUE_NONE", 0)
        mask = _value(m[2], letters)[0] if m[2] else "VALUE_NONE"
        steps.append(f"{{X86_{m[3]}, VALUE_{m[1]}, {a}, {b}, {mask}, {int(m[4] or '0', 0)}, {constant or other:#x}}},")
    return steps


def _flags(op: Op) -> str:
    flags = []
    if op.name in native.NEEDS_IEEE_OFF:
        flags.append("NATIVE_IEEE_OFF")
    if op.name in native.NEEDS_INDEX_OFF:
        flags.append("NATIVE_INDEX_OFF")
    if op.format in ("SOP1", "SOP2", "SOPC", "SOPK") and op.semantics and not _IMPURE.search(op.semantics):
        flags.append("NATIVE_PURE")
    if op.format in ("SOPP", "SOPK") and op.semantics == ";":
        flags.append("NATIVE_NOTHING")
    if op.name in native.WIDE:
        flags.append("NATIVE_WIDE")
    if op.name in native.HALF:
        flags.append("NATIVE_HALF")
    if "VCC" in native.SEQUENCES.get(op.name, ""):
        flags.append("NATIVE_READS_VCC")
    if "EXEC" in op.semantics or "cmpx" in op.name:
        flags.append("NATIVE_WRITES_EXEC")
    return " | ".join(flags) or "0"


_MEMORY = re.compile(r"(?:return )?(global|ds|scratch|scalar)_(load|store|load2|store2)\((.*)\);?$")
_SCALAR_LOAD = re.compile(r"(?:return )?scalar_load\(w, i, (\d+)\);?$")
_KINDS = ("B32", "B64", "B96", "B128", "U8", "I8", "U16", "I16", "B8", "B16")


def _memory(op: Op) -> str:
    """Initialiser of struct native_memory; "" where the access is not translated."""
    m = _MEMORY.match(op.semantics)
    if not m or m[1] == "scalar":
        return ""
    arguments = [a.strip() for a in m[3].split(",")]
    if m[2] in ("load2", "store2"):
        bits = int(arguments[0])
        step = bits // 8 * (64 if arguments[1] == "true" else 1)
        return f"{{MEMORY_LDS, {int(m[2] == 'store2')}, MEMORY_B{bits}, {step}}}"
    kind = arguments[0].split("_", 1)[1]
    if kind not in _KINDS:
        return ""
    space = {"global": "MEMORY_GLOBAL", "ds": "MEMORY_LDS", "scratch": "MEMORY_SCRATCH"}[m[1]]
    return f"{{{space}, {int(m[2] == 'store')}, MEMORY_{kind}, 0}}"


def write(outdir: Path) -> list[Unit]:
    """Writes native_ops.h and native_table.c into outdir; returns the units of the translation."""
    (outdir / "native_ops.h").write_text(_enums())
    lines = ["/* Generated from ptx2amd/vgpu/isa. */", '#include "native.h"', '#include "ops.h"', ""]
    slow = {name: f"native_{name}" for name, text in native.SEQUENCES.items() if "SLOW" in text}
    lines += [f"native_slow_fn {function};" for function in slow.values()]
    lines.append("const struct x86_info x86_table[X86_COUNT] = {")
    for name, (where, prefix, wide, opcode, shape) in native.X86.items():
        lines.append(f"  [X86_{name}] = {{{where}, {prefix}, {wide}, {opcode:#x}, SHAPE_{shape}}},")
    lines.append("};")
    rows: list[str] = []
    steps: list[str] = []
    used: set[str] = set()
    for index, op in enumerate(all_ops()):
        first = len(steps)
        if op.name in native.SEQUENCES and op.semantics:
            steps += sequence(op)
            used.add(op.name)
        flags, memory, scalar = _flags(op), _memory(op), native.SCALAR.get(op.name)
        loaded = _SCALAR_LOAD.match(op.semantics)
        fields = [str(first), str(len(steps) - first), flags]
        fields += [f".scalar_dwords = {loaded[1]}"] if loaded else []
        fields += [f".memory = {memory}"] if memory else []
        fields += [f".scalar = {{SCALAR_{scalar[0]}, {scalar[1]}, {scalar[2]}}}"] if scalar and op.semantics else []
        fields += [f".slow = {slow[op.name]}"] if op.name in slow and op.semantics else []
        if fields[1:] != ["0", "0"]:
            rows.append(f"  [{index}] = {{{', '.join(fields)}}},   /* {op.name} */")
    if missing := set(native.SEQUENCES) - used:
        raise ValueError(f"sequences for no row: {', '.join(sorted(missing))}")
    lines += ["const struct native_step native_steps[] = {", *(f"  {s}" for s in steps), "};"]
    lines += ["const struct native_row native_rows[OP_COUNT] = {", *rows, "};"]
    path = outdir / "native_table.c"
    path.write_text("\n".join(lines) + "\n")
    return [Unit(path), Unit(SLOW, flags=("-DW=64", "-DLEVEL=v4", "-march=x86-64-v4", *FLAGS))]
