"""Kernels that run rows of the instruction table with the same in all lanes' registers, and with memory whose words all
differ, the lanes' own local memory too: which results differ between the lanes of a warp?"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from unittest import mock

from ptx2amd.codegen import llvm
from ptx2amd.isa.effects import BLOCK_BARRIER, MEMBERS, READS
from ptx2amd.isa.form import DESTINATIONS, Form
from ptx2amd.isa.operands import slots
from ptx2amd.middle.op import registers
from ptx2amd.middle.summary import body
from ptx2amd.ptx.ast import Inst
from ptx2amd.translate import parse
from tests.lower.device import Program, chunks
from tests.lower.warp_random import hurried
from tests.ptx import forms

LANES = 32
BATCH = 60  # statements of a kernel
SLOT = 16  # bytes of a result
WORDS = 2048  # of memory that is read
HEAD = ".version 9.4\n.target sm_90\n.address_size 64\n"
MODULE = f""".const .align 16 .b32 cvar[{WORDS}];
.shared .align 128 .b32 svar[{WORDS}];
.shared .align 8 .b64 barrier;
.global .align 128 .b32 gvar[{WORDS}];
"""
BITS = {"pred": 1, "b8": 8, "f16x2": 32}
FLOATS = {"f16": 0x3E00, "f16x2": 0x3E003E00, "f32": 0x3FC00000, "f64": 0x3FF8000000000000}
INTEGER = 16  # a value that most operands take: a shift, a stride, a count of bytes

# What is not run, and why. These results are declared to differ, or come from what has no lanes.
REASONS = {
    "refused": "nothing is lowered",
    "call": "what a function returns is taken to differ",
    "images": "texture and surface objects are made by the host; sources and memory as of loads",
    "warp groups": "operands are descriptors, of four warps; declared to differ",
}


def reason(form: Form) -> str:
    """Why a row is not run, one of REASONS, or ""."""
    if form.exact.startswith("refused"):
        return "refused"
    if form.mnemonic == "call":
        return "call"
    if form.memory in ("texture", "surface"):
        return "images"
    return "warp groups" if form.mnemonic == "wgmma" else ""


def has_result(form: Form) -> bool:
    """Whether a row has a destination that is not discarded."""
    parts = [part for slot in slots(form.operands) for part in (slot, slot.second) if part is not None]
    names = [part.name.partition(":")[0].strip("{}").partition("*")[0] for part in parts if part.type != "_"]
    return any(name in DESTINATIONS for name in names)


def statements(form: Form) -> list[str]:
    """Every choice of every field of a row that does more than compute, with and without optional operands; one
    statement of another."""
    chosen = list(forms.choices(form))
    if not form.does:
        return [forms.statement(form, chosen[0])]
    return list(dict.fromkeys(forms.statement(form, c, optional) for c in chosen for optional in (True, False)))


@dataclass
class Case:
    """A statement, the row that it is, and its results: names of operands, with their registers."""

    text: str
    inst: Inst
    results: list[tuple[str, str]]

    @property
    def form(self) -> Form:
        return self.inst.shape.form


def cases(texts: list[str]) -> list[Case]:
    """The statements as the front end reads them."""
    start = f"{HEAD}{MODULE}.entry k(.param .align 16 .b8 fpar[64])\n{{ {forms.DECLARATIONS}\nFIRST:\n"
    source = start + "\n".join(texts) + "\nLABEL: ret; }"
    module = parse(source, "effects.ptx")
    first = source[: source.index("FIRST:")].count("\n") + 2
    found = []
    for inst in body(module, module.functions["k"]).items:
        if isinstance(inst, Inst) and 0 <= inst.line - first < len(texts):
            made = [
                (name, register)
                for name, operand in zip(inst.shape.names, inst.operands, strict=True)
                if name in DESTINATIONS
                for register in registers(operand)
            ]
            found.append(Case(texts[inst.line - first], inst, made))
    assert len(found) == len(texts)
    return found


def run(texts: list[str], arch: str) -> dict[str, set[str]]:
    """For each statement, the names of the results that differ between lanes."""
    batches = chunks(cases(texts), BATCH)
    kernels = "".join(_kernel(f"k{n}", batch) for n, batch in enumerate(batches))
    with mock.patch.object(llvm, "optimised", hurried):
        program = Program(HEAD + MODULE + kernels, arch)
    found: dict[str, set[str]] = {}
    memory = struct.pack(f"<{WORDS}I", *range(WORDS))
    for n, batch in enumerate(batches):
        count = sum(len(case.results) for case in batch)
        outputs = program.run(f"k{n}", LANES, [LANES * SLOT * count, memory], [memory[:64]])
        lanes = [outputs[0][at : at + SLOT * count] for at in range(0, len(outputs[0]), SLOT * count)]
        at = 0
        for case in batch:
            found[case.text] = set()
            for name, _ in case.results:
                if len({lane[at : at + SLOT] for lane in lanes}) > 1:
                    found[case.text].add(name)
                at += SLOT
    return found


def _kernel(name: str, batch: list[Case]) -> str:
    size = SLOT * sum(len(case.results) for case in batch)
    lines = [
        f".entry {name}(.param .u64 out, .param .u64 in, .param .align 16 .b8 fpar[64]) {{",
        forms.DECLARATIONS.replace("lvar[64]", "lvar[256]"),
        ".reg .b32 %lane, %t, %bit; .reg .b64 %out, %in, %w; .reg .pred %p;",
        "ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %lane, %laneid;",
        f"mad.wide.u32 %out, %lane, {size}, %out;",
        # every lane's own memory, and the block's: all words differ
        *(f"mad.lo.u32 %t, %lane, 64, {n}; st.local.u32 [lvar+{4 * n}], %t;" for n in range(64)),
        "mov.u32 %t, %lane; mov.u64 %w, svar; mad.wide.u32 %w, %lane, 4, %w;",
        f"FILL: st.shared.u32 [%w], %t; add.u64 %w, %w, {4 * LANES}; add.u32 %t, %t, {LANES};"
        f" setp.lt.u32 %p, %t, {WORDS}; @%p bra FILL;",
        "setp.eq.u32 %p, %lane, 0; @%p mbarrier.init.shared.b64 [barrier], 100000; bar.sync 0;",
    ]
    at = 0
    for case in batch:
        lines += _sources(case)
        lines.append(case.text)
        for _, register in case.results:
            lines.append(_store(register, at))
            at += SLOT
    return "\n".join([*lines, "LABEL: ret; }"]) + "\n"


def _sources(case: Case) -> list[str]:
    """Values for the registers that a statement names, from memory at one address."""
    found = []
    addresses = set(re.findall(r"\[(\w+?_\d+)[\],]", case.text))
    for register in dict.fromkeys(re.findall(r"\b[a-z]\w*?_\d+\b", case.text)):
        ptype = register.rpartition("_")[0]
        if register in addresses:
            found.append(_address(case, register))
        elif ptype == "pred":
            found.append(f"ld.global.u32 %t, [%in]; setp.eq.u32 {register}, %t, 0;")
        else:
            found += _value(register, ptype, _wanted(case, register, ptype))
    return found


def _wanted(case: Case, register: str, ptype: str) -> int:
    does = case.form.does
    if does & MEMBERS and case.inst.get("m") is not None and register in set(registers(case.inst.get("m"))):
        return 0xFFFFFFFF
    if does & BLOCK_BARRIER:
        return LANES if register in set(registers(case.inst.get("b"))) else 1
    return FLOATS.get(ptype, INTEGER)


def _value(register: str, ptype: str, wanted: int) -> list[str]:
    """A value that LLVM does not know: what is in memory at one address, which is 0, and the number wanted."""
    if ptype == "b128":
        return [f"ld.global.b64 %w, [%in]; add.u64 %w, %w, {wanted}; mov.b128 {register}, {{%w, %w}};"]
    bits = BITS.get(ptype, int(re.sub(r"\D", "", ptype) or 0))
    if bits == 64:
        return [f"ld.global.u32 %t, [%in]; cvt.u64.u32 %w, %t; add.u64 %w, %w, {wanted}; mov.b64 {register}, %w;"]
    if bits == 32:
        return [f"ld.global.u32 %t, [%in]; add.u32 %t, %t, {wanted}; mov.b32 {register}, %t;"]
    # through memory, which takes any type
    return [f"mov.u32 %t, {wanted}; st.param.b32 [pvar], %t; ld.param.b{bits} {register}, [pvar];"]


def _address(case: Case, register: str) -> str:
    """An address in the space that a statement accesses. Generic ones are of local memory, but of atomics."""
    form = case.form
    named = case.inst.shape.mods.get("space", "").partition("::")[0]
    space = named or form.memory or ("local" if form.does == READS else "global")
    variable = "barrier" if form.mnemonic == "mbarrier" else f"{space[0]}var"
    generic = "" if named else f" cvta.{space}.u64 {register}, {register};"
    return f"mov.u64 {register}, {variable};{generic}"


def _store(register: str, at: int) -> str:
    ptype = register.rpartition("_")[0]
    if ptype == "pred":
        return f"selp.u32 %bit, 1, 0, {register}; st.global.u32 [%out+{at}], %bit;"
    bits = BITS.get(ptype, int(re.sub(r"\D", "", ptype) or 0))
    return f"st.global.b{bits} [%out+{at}], {register};"
