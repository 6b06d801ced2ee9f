"""Surveys which instructions each architecture has: `python -m ptx2amd.vgpu.isa.survey > opcodes.tsv`.

Every opcode of every format is written with a few choices of operands and given to LLVM's disassembler
(`llvm-mc`, version 22): the number belongs to the first mnemonic that comes back. Formats and their fields are
those of encoding.py. Needs LLVM's tools; users and tests read only the table.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict

from ptx2amd.vgpu.isa import encoding
from ptx2amd.vgpu.isa.names import GFX8_NAMES

#: Values tried for the operand fields; fields that a format lacks are ignored.
_FILLS: tuple[dict[str, int], ...] = (
    {"src0": 260, "src1": 6, "src1:9": 262, "src2": 264, "vdst": 2, "sdst": 4},
    {"src0": 260, "src1": 6, "src1:9": 262, "src2": 0, "vdst": 2, "sdst": 106},
    {"src0": 260, "src1": 6, "src1:9": 262, "src2": 0, "vdst": 2},
    {"src0": 260, "src1": 6, "src1:9": 0, "src2": 0, "vdst": 2},
    {"src0": 260, "src1": 0, "src1:9": 0, "src2": 0, "vdst": 2},
    {"src0": 260, "src1": 0, "src1:9": 6, "src2": 8, "vdst": 2},
    {"src0": 4, "src1": 6, "src1:9": 6, "src2": 8, "sdst": 2},
    {"src0": 4, "src1": 6, "src1:9": 6, "sdst": 2, "vdst": 2},
    {"src0": 4, "src1": 0, "sdst": 2},
    {"src0": 4}, {"sdst": 2}, {},
)  # fmt: skip
_MEMORY_FILLS: tuple[dict[str, int], ...] = (
    {"vdst": 2, "addr": 4, "data": 6, "data0": 6, "data1": 8, "vdata": 2, "vaddr": 4, "srsrc": 2, "sdata": 8,
     "sbase": 2},
    {"vdst": 2, "addr": 4, "data": 6, "data0": 6, "vdata": 2, "vaddr": 4, "srsrc": 2, "sdata": 8, "sbase": 2},
    {"addr": 4, "data": 6, "data0": 6}, {"vdst": 2, "addr": 4}, {"vdst": 2}, {"data0": 6}, {"sbase": 2}, {"addr": 4},
    {"addr": 4, "gds": 1}, {},
)  # fmt: skip
#: Extra bits of formats that select the plain variant (no scalar base, all of an op_sel_hi).
_EXTRA = {
    "gfx8": {"SMEM": {"imm": 1}},
    "gfx9": {"GLOBAL": {"saddr": 127}, "SCRATCH": {"saddr": 127}, "SMEM": {"imm": 1},
             "VOP3P": {"opsel_hi": 3, "opsel_hi2": 1}},
    "gfx10": {"GLOBAL": {"saddr": 125}, "SCRATCH": {"saddr": 125}, "SMEM": {"soffset": 125}, "FLAT": {"saddr": 125},
              "VOP3P": {"opsel_hi": 3, "opsel_hi2": 1}},
    "gfx11": {"GLOBAL": {"saddr": 124}, "SCRATCH": {"saddr": 124, "sve": 1}, "SMEM": {"soffset": 124},
              "FLAT": {"saddr": 124}, "VOP3P": {"opsel_hi": 3, "opsel_hi2": 1}},
    "gfx12": {"GLOBAL": {"saddr": 124}, "SCRATCH": {"saddr": 124, "sve": 1}, "SMEM": {"soffset": 124},
              "FLAT": {"saddr": 124}, "MUBUF": {"soffset": 124}, "VOP3P": {"opsel_hi": 3, "opsel_hi2": 1}},
}  # fmt: skip
_SKIP = ("VOPD", "VOPD3", "VINTERP", "LDSDIR", "MTBUF", "MIMG", "EXP")
_SHORT = ("VOP1", "VOP2", "VOPC")


def _encode(layout: encoding.Layout, values: dict[str, int]) -> list[int]:
    words = [layout.match] + [0] * (layout.dwords - 1)
    for name, value in values.items():
        if name in layout.fields:
            lo, n = layout.fields[name]
            words[lo // 32] |= (value & ((1 << n) - 1)) << lo % 32
    return words


def _tries(layout: encoding.Layout, generation: str, opcode: int) -> list[list[int]]:
    memory = layout.name in ("DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "SMEM")
    wide = layout.fields.get("src1", (0, 0))[1] == 9
    found = []
    extra = _EXTRA[generation.replace("gfx125", "gfx12")].get(layout.name, {})
    plain = [*_MEMORY_FILLS, {"sdata": 8}] if memory else [*_FILLS]  # the last: clocks have no address
    fills = [fill | extra for fill in plain] + plain
    for fill in fills:
        values = {k.removesuffix(":9"): v for k, v in fill.items() if k.endswith(":9") == (wide and k[:4] == "src1")}
        values["op"] = opcode
        words = _encode(layout, values)
        if layout.dwords == 1:
            words.append(0)  # a literal, if the instruction has one
        if words not in found:
            found.append(words)
        if generation == "gfx125" and layout.dwords == 1:
            found.append([*words, 0])  # a literal of two dwords
    return found


def _disassemble(arch: str, tries: list[list[int]]) -> list[str | None]:
    """The mnemonic of each attempt, None if there is no such instruction."""
    lines = ["[" + " ".join(f"{b:#04x}" for w in t for b in w.to_bytes(4, "little")) + "]" for t in tries]
    text = "\n".join(lines) + "\n"
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-disassemble", "-show-encoding"]
    if arch.startswith("gfx120"):
        command.append("-mattr=+real-true16")  # as on the chip; LLVM 22 omits it
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    known: dict[bytes, str] = {}
    for line in done.stdout.splitlines():
        m = re.match(r"\s+(\S+).*; encoding: \[([^]]*)\]", line)
        if m:
            known.setdefault(bytes(int(b, 16) for b in m[2].split(",")), m[1])
    result = []
    for t in tries:
        code = b"".join(w.to_bytes(4, "little") for w in t)
        result.append(known.get(code) or (known.get(code[:4]) if t[-1] == 0 else None))
    return result


def survey(arch: str, generation: str) -> dict[tuple[str, str], int]:
    """(format, mnemonic) -> opcode of one architecture."""
    keys, tries = [], []
    layouts = encoding.layouts(generation)
    for position, layout in enumerate(layouts):
        if layout.name in _SKIP:
            continue
        for opcode in range(1 << layout.fields["op"][1]):
            for t in _tries(layout, generation, opcode):
                if any(t[0] & other.mask == other.match for other in layouts[:position]):
                    continue
                keys.append((layout.name, opcode))
                tries.append(t)
    names: dict[tuple[str, int], str] = {}
    for key, name in zip(keys, _disassemble(arch, tries), strict=True):
        if name and key not in names:
            names[key] = re.sub(r"_(e32|e64)$", "", name)
    if generation == "gfx8":
        rows = {old: name for name, old in GFX8_NAMES.items()}
        unpacked = "_format_d16_xy"  # a register for each component, unlike on later chips
        names = {key: rows.get(name, name) for key, name in names.items() if unpacked not in name}
    bases = encoding.VOP3_BASE[generation]
    short = {(fmt, op): name for (fmt, op), name in names.items() if fmt in _SHORT}
    derived = {(bases[fmt] + op, name) for (fmt, op), name in short.items()}
    found: dict[tuple[str, str], int] = {}
    for (fmt, opcode), name in names.items():
        if fmt != "VOP3" or (opcode, name) not in derived:
            found.setdefault((fmt, name), opcode)
    return found


def main() -> None:
    table: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for arch, generation in encoding.DECODERS.items():
        for key, opcode in survey(arch, generation).items():
            table[key][arch] = opcode
    print("format\tmnemonic\t" + "\t".join(encoding.DECODERS))
    order = {name: k for k, name in enumerate(encoding.FORMATS)}
    for (fmt, name), opcodes in sorted(table.items(), key=lambda x: (order[x[0][0]], x[0][1])):
        print("\t".join([fmt, name, *(str(opcodes.get(a, "")) for a in encoding.DECODERS)]))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
