"""Generates the tables for the translation to native code (runtime/native/native.h) from isa/native.py."""

from __future__ import annotations

import re
from pathlib import Path

from ptx2amd.vgpu.gen_vector import FLAGS
from ptx2amd.vgpu.isa import native
from ptx2amd.vgpu.isa.meaning import How
from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import all_ops
from ptx2amd.vgpu.unit import RUNTIME, Unit

#: Functions for the lanes that sequences leave to C; compiled only for the level with native code.
SLOW = RUNTIME / "native" / "native_slow.c"
_STATEMENT = re.compile(r"(\w+)(?:\{(\w+)\})? = (\w+)(?:/(\w+))? (\S+)(?: (\S+))?$")
_HALVES = "{X86_halves, VALUE_NONE, VALUE_NONE, VALUE_NONE, VALUE_NONE, 0, 0},"
_SHAPES = ("UNARY", "UNARY_IMM", "BINARY", "BINARY_IMM", "CHANGE", "CHANGE_IMM", "SHIFT2", "SHIFT6", "COMPARE",
           "TEST", "TO_MASK", "MASKS", "NARROW", "NARROW_IMM", "HALVES", "JOIN")  # fmt: skip
_RESULTS = ("D", "DH", "O", "OH")
_TEMPORARIES = "STUVXY"
_MASKS = ("E", "P", "Q", "R", "SLOW", "VCC")  # from VALUE_E on: mask registers


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
    """C initialisers of a row's steps; ValueError for invalid notation."""
    found = op.sequence
    sources = [o for o in op.parse_operands() if not o.is_destination]
    letters = {o.name.upper(): "ABC"[k] for k, o in enumerate(sources)}
    steps = []
    for text in found.text.split("; ") if found else ():
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
    found = op.sequence or native.Sequence("")
    flags = {
        f"NATIVE_{found.needs}": bool(found.needs),
        "NATIVE_PURE": op.pure,
        "NATIVE_NOTHING": op.format in ("SOPP", "SOPK") and op.nothing,
        "NATIVE_WIDE": found.wide,
        "NATIVE_HALF": found.half,
        "NATIVE_READS_VCC": "VCC" in found.text,
        "NATIVE_WRITES_EXEC": op.writes_exec,
    }
    return " | ".join(flag for flag, holds in flags.items() if holds) or "0"


_SPACES = {"GLOBAL": "MEMORY_GLOBAL", "LDS": "MEMORY_LDS", "LDS2": "MEMORY_LDS", "SCRATCH": "MEMORY_SCRATCH"}


def _memory(op: Op) -> str:
    """Initialiser of struct native_memory; "" if the access is not translated."""
    access = op.access
    if not access or not access.kind or access.space not in _SPACES:
        return ""
    store = int(How.WRITES in access.how)
    return f"{{{_SPACES[access.space]}, {store}, MEMORY_{access.kind}, {access.step}}}"


def _row(op: Op, first: int, count: int) -> str:
    """Initialiser of struct native_row, with `count` steps from `first` on; "" if the row has no native code."""
    flags, memory, access = _flags(op), _memory(op), op.access
    more = []
    if access and access.space == "SCALAR":
        more.append(f".scalar_dwords = {access.bytes // 4}")
    if memory:
        more.append(f".memory = {memory}")
    if op.scalar:
        more.append(f".scalar = {{SCALAR_{op.scalar.how}, {op.scalar.wide}, {op.scalar.inverted}}}")
    if slow := _slow(op):
        more.append(f".slow = {slow}")
    return ", ".join([str(first), str(count), flags, *more]) if count or flags != "0" or more else ""


def _slow(op: Op) -> str:
    """The function of native_slow.c that computes the lanes which the row's sequence leaves out."""
    return f"native_{op.name}" if op.sequence and "SLOW" in op.sequence.text else ""


def write(outdir: Path) -> list[Unit]:
    """Writes native_ops.h and native_table.c into outdir; returns the units of the translation."""
    (outdir / "native_ops.h").write_text(_enums())
    lines = ["/* Generated from ptx2amd/vgpu/isa. */", '#include "native.h"', '#include "ops.h"', ""]
    ops = all_ops()
    lines += [f"native_slow_fn {name};" for name in dict.fromkeys(filter(None, map(_slow, ops)))]
    lines.append("const struct x86_info x86_table[X86_COUNT] = {")
    for name, (where, prefix, wide, opcode, shape) in native.X86.items():
        lines.append(f"  [X86_{name}] = {{{where}, {prefix}, {wide}, {opcode:#x}, SHAPE_{shape}}},")
    lines.append("};")
    rows: list[str] = []
    steps: list[str] = []
    for index, op in enumerate(ops):
        found = sequence(op)
        if text := _row(op, len(steps), len(found)):
            rows.append(f"  [{index}] = {{{text}}},   /* {op.name} */")
        steps += found
    lines += ["const struct native_step native_steps[] = {", *(f"  {s}" for s in steps), "};"]
    lines += ["const struct native_row native_rows[OP_COUNT] = {", *rows, "};"]
    path = outdir / "native_table.c"
    path.write_text("\n".join(lines) + "\n")
    return [Unit(path), Unit(SLOW, flags=("-DW=64", "-DLEVEL=v4", "-march=x86-64-v4", *FLAGS))]
