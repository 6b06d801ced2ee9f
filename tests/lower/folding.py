"""What ptxas computes when it folds constants: a kernel whose operands are constants and one that stores a known result
have the same machine code where ptxas folds the instruction to that result."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ptx2amd.binary.elf import Elf
from tests import oracle
from tests.lower.alu_programs import Case, constant_text, register_class

SM = "sm_100a"
HEAD = f".version 9.0\n.target {SM}\n.address_size 64\n"
PREFIX = {"pred": "p", "b16": "h", "b32": "r", "b64": "d", "f32": "f", "f64": "e"}
REGISTERS = (
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>;"
    ".reg .b64 %out;"
)
INSTRUCTION = 16  # bytes, of which 4 to 7 hold a constant


def machine_code(bodies: Sequence[str]) -> list[bytes]:
    """The machine code of kernels with these bodies."""
    kernels = "".join(
        f".visible .entry k{n}(.param .u64 out) {{ {REGISTERS} ld.param.u64 %out, [out]; {body} ret; }}\n"
        for n, body in enumerate(bodies)
    )
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "m.ptx", Path(folder) / "m.cubin"
        source.write_text(HEAD + kernels)
        subprocess.run([oracle.ptxas(), f"-arch={SM}", "-O3", str(source), "-o", str(result)], check=True)
        found = {section.name: section.data for section in Elf(result.read_bytes()).sections}
    return [found[f".text.k{n}"] for n in range(len(bodies))]


def register(ptype: str, number: int) -> str:
    return f"%{PREFIX[register_class(ptype)]}{number}"


def fixed(ptype: str, number: int, bits: int) -> str:
    """A register with a known value."""
    kind = register_class(ptype)
    if kind == "pred":
        return f"setp.eq.u32 %p{number}, {bits}, 1;"
    return f"mov.{kind} {register(ptype, number)}, {constant_text(bits, kind)};"


def stored(ptype: str, number: int, slot: int) -> str:
    kind = register_class(ptype)
    if kind == "pred":
        return f"selp.u32 %r8, 1, 0, %p{number}; st.global.u32 [%out+{16 * slot}], %r8;"
    return f"st.global.{kind} [%out+{16 * slot}], {register(ptype, number)};"


def computed(case: Case, values: dict[str, int]) -> str:
    """A kernel's body: the instruction on constants."""
    before, after, texts = [], [], []
    for number, (name, ptype, _) in enumerate(case.operands):
        if name in dict(case.constants):
            texts.append(constant_text(dict(case.constants)[name], ptype))
            continue
        texts.append(register(ptype, number))
        if name in "depq":
            after.append(stored(ptype, number, len(after)))
        else:
            before.append(fixed(ptype, number, values[name]))
    if "|" in case.form.operands:
        texts[:2] = ["|".join(texts[:2])]
    return " ".join([*before, f"{case.opcode} {', '.join(texts)};", *after])


def known(case: Case, results: dict[str, int]) -> str:
    """A kernel's body: the results themselves."""
    lines = []
    for slot, (name, ptype, _) in enumerate(case.destinations):
        kind = "b32" if ptype == "pred" else ptype
        lines += [fixed(kind, 7, results[name]), stored(kind, 7, slot)]
    return " ".join(lines)


def other_constant(code: bytes, wanted: bytes) -> bool:
    """Whether two kernels differ in nothing but the constants of their instructions."""
    return len(code) == len(wanted) and all(
        a[:4] == b[:4] and a[8:] == b[8:]
        for a, b in ((code[i : i + INSTRUCTION], wanted[i : i + INSTRUCTION]) for i in range(0, len(code), INSTRUCTION))
    )
