"""Generates the tables for the translation to native code (runtime/native/native.h) from isa/native.py."""

from __future__ import annotations

import re
from pathlib import Path

from ptx2amd.vgpu.gen_vector import FLAGS
from ptx2amd.vgpu.isa import native, native_avx2
from ptx2amd.vgpu.isa.meaning import How
from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import all_ops
from ptx2amd.vgpu.unit import RUNTIME, Unit

#: Functions for the lanes that sequences leave to C; compiled for the lowest level with native code.
SLOW = RUNTIME / "native" / "native_slow.c"
#: Steps of a sequence: sets of them are numbers of 64 bits.
LONGEST = 64
_STATEMENT = re.compile(r"(\w+)(?:\{(\w+)\})? = (\w+)(?:/(\w+))? (\S+)(?: (\S+))?$")
_HALVES = "{X86_halves, VALUE_NONE, VALUE_NONE, VALUE_NONE, VALUE_NONE, 0, 0},"
_SHAPES = ("UNARY", "UNARY_IMM", "BINARY", "BINARY_IMM", "CHANGE", "CHANGE_IMM", "SHIFT2", "SHIFT6", "COMPARE",
           "TEST", "TO_MASK", "MASKS", "NARROW", "NARROW_IMM", "HALVES", "JOIN")  # fmt: skip
_RESULTS = ("D", "DH", "O", "OH")
_TEMPORARIES = "STUVXYWZN"
_MASKS = ("E", "P", "Q", "R", "SLOW", "VCC")  # from VALUE_E on: mask registers


def _instructions() -> dict[str, tuple[int, int, int, int, str]]:
    return {**native.X86, **native_avx2.OWN}


def _enums() -> str:
    values = ["NONE", "CONST", "A", "AH", "B", "BH", "C", "CH", *_RESULTS, *_TEMPORARIES, *_MASKS, "ODD"]
    return "\n".join(
        [
            "/* Generated from ptx2amd/vgpu/isa/native.py. */",
            "enum x86_shape { " + ", ".join(f"SHAPE_{s}" for s in _SHAPES) + " };",
            "enum x86_op { " + ", ".join(f"X86_{n}" for n in _instructions()) + ", X86_COUNT };",
            "enum native_value { " + ", ".join(f"VALUE_{v}" for v in values) + ", VALUE_COUNT };",
            "",
        ]
    )


def _value(text: str, letters: dict[str, str]) -> tuple[str, int]:
    if text.startswith("#"):
        return "VALUE_CONST", int(text[1:], 0)
    name, high = (text[0], text[1:]) if text[0] in letters and text[1:] in ("", "H") else (text, "")
    return f"VALUE_{letters.get(name, name)}{high}", 0


def sequence(op: Op, text: str) -> list[str]:
    """C initialisers of the steps of a row's sequence; ValueError for invalid notation."""
    sources = [o for o in op.parse_operands() if not o.is_destination]
    letters = {o.name.upper(): "ABC"[k] for k, o in enumerate(sources)}
    steps = []
    for statement in text.split("; ") if text else ():
        if statement == "halves":
            steps.append(_HALVES)
            continue
        m = _STATEMENT.match(statement)
        if not m or m[3] not in _instructions():
            raise ValueError(f"{op.name}: {statement!r}")
        a, constant = _value(m[5], letters)
        b, other = _value(m[6], letters) if m[6] else ("VALUE_NONE", 0)
        if a == b == "VALUE_CONST":
            raise ValueError(f"{op.name}: two constants: {statement!r}")
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


def _row(op: Op, sequences: list[tuple[int, int]]) -> str:
    """Initialiser of struct native_row, with sequences of steps (first, count); "" if the row has no native code."""
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
    steps = ", ".join(f"{{{first}, {count}}}" for first, count in sequences)
    return ", ".join([f"{{{steps}}}", flags, *more]) if op.sequence or flags != "0" or more else ""


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
    for name, (where, prefix, wide, opcode, shape) in _instructions().items():
        lines.append(f"  [X86_{name}] = {{{where}, {prefix}, {wide}, {opcode:#x}, SHAPE_{shape}}},")
    lines.append("};")
    rows: list[str] = []
    steps: list[str] = []
    for index, op in enumerate(ops):
        parts = []
        for text in (op.sequence.text if op.sequence else "", native_avx2.sequence(op.sequence)):
            found = sequence(op, text)
            if len(found) > LONGEST:
                raise ValueError(f"{op.name}: {len(found)} steps")
            parts.append((len(steps), len(found)))
            steps += found
        if row := _row(op, parts):
            rows.append(f"  [{index}] = {{{row}}},   /* {op.name} */")
    lines += ["const struct native_step native_steps[] = {", *(f"  {s}" for s in steps), "};"]
    lines += ["const struct native_row native_rows[OP_COUNT] = {", *rows, "};"]
    path = outdir / "native_table.c"
    path.write_text("\n".join(lines) + "\n")
    return [Unit(path), Unit(SLOW, flags=("-DW=64", "-DLEVEL=v3", "-march=x86-64-v3", *FLAGS))]
