"""PTX programs that run rows of the instruction table: one thread per set of operand values, one kernel for
many instructions. They serve the compile-everything tests and the comparison with tests/reference."""

from __future__ import annotations

import importlib
import itertools
import random
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ptx2amd.isa.form import Form
from ptx2amd.isa.operands import Slot, resolve, slots
from ptx2amd.isa.syntax import fields
from tests.lower.alu_inputs import MIXED, Inputs, bits, edges, split

FAMILIES = ("integer", "extended", "bits", "compare", "float", "half", "convert", "move", "video", "mixed")
SLOT = 16  # bytes of an operand or result


@dataclass(frozen=True)
class Case:
    """One opcode of a row. operands: (name, PTX type) in source order; `constants`: operands that must be
    constants in the source, with the value chosen."""

    form: Form
    opcode: str
    mods: tuple[tuple[str, str], ...]
    operands: tuple[tuple[str, str, int], ...]  # name, type, elements (1: no brace list)
    constants: tuple[tuple[str, int], ...] = ()

    @property
    def sources(self) -> list[tuple[str, str, int]]:
        return [o for o in self.operands if o[0] not in "depq" and o[0] not in dict(self.constants)]

    @property
    def destinations(self) -> list[tuple[str, str, int]]:
        return [o for o in self.operands if o[0] in "depq"]


def spellings(form: Form) -> Iterator[tuple[str, dict[str, str]]]:
    """Every opcode that a row describes, with its field values."""
    options = []
    for field in fields(form.syntax):
        choices = [(field.name, ".".join(choice)) for choice in field.choices]
        options.append(([(field.name, "")] if field.optional else []) + choices)
    for chosen in itertools.product(*options):
        words = [form.mnemonic, *(word for _, word in chosen if word)]
        yield ".".join(words), {name: word for name, word in chosen if name}


def _parts(slot: Slot, mods: dict[str, str]) -> list[tuple[str, str, int]]:
    if slot.kind == "pair":
        name, ptype = slot.name.split(":")
        assert slot.second is not None
        return [(name, resolve(ptype, mods), 1), (slot.second.name, resolve(slot.second.type, mods), 1)]
    size = slot.size or int(mods.get("vec", "v1")[1:] or 1)
    return [(slot.name, resolve(slot.type, mods), size if slot.kind == "vec" else 1)]


def cases(form: Form) -> Iterator[Case]:
    """The cases of a row, with optional operands present."""
    seed = random.Random(form.syntax)
    for opcode, mods in spellings(form):
        operands, constants = [], []
        for slot in slots(form.operands):
            if slot.kind == "sym":
                break  # addresses are not arithmetic
            if slot.when and not mods.get(slot.when):
                continue
            operands += _parts(slot, mods)
            if slot.kind == "imm":
                constants.append((slot.name, seed.randrange(256)))
        else:
            for parts in selected(form, seed):
                for minus in negations(form):
                    yield Case(form, opcode, (*mods.items(), *parts, *minus), tuple(operands), tuple(constants))


def negations(form: Form) -> list[list[tuple[str, str]]]:
    """Which sources of vmad are negated, as ("minus", "ab"): none, or either the product or c."""
    minus = any(slot.minus for slot in slots(form.operands))
    return [[], *([("minus", names)] for names in ("a", "b", "ab", "c"))] if minus else [[]]


def selected(form: Form, seed: random.Random) -> Iterator[list[tuple[str, str]]]:
    """The parts of registers that video instructions select, as ("asel", "b2"): none, and random ones. SIMD
    instructions: the lanes' numbers alone."""
    parts = [slot for slot in slots(form.operands) if slot.part]
    if not any(slot.destination for slot in parts):
        yield []
    if parts:
        lanes = form.mnemonic[-1]
        if lanes in "24":
            every, pool = ("10", "0123") if lanes == "2" else ("3210", "01234567")
            masks = ("0", "1", "10") if lanes == "2" else ("0", "31", "210", "3", "3210")
            yield [
                (f"{s.name}sel", seed.choice(masks) if s.destination else "".join(seed.choice(pool) for _ in every))
                for s in parts
            ]
        else:
            yield [(f"{s.name}sel", seed.choice(("b0", "b1", "b2", "b3", "h0", "h1"))) for s in parts]


def all_cases(family: str) -> list[Case]:
    forms = importlib.import_module(f"ptx2amd.isa.{family}").FORMS
    ours = (form for form in forms if not form.exact.startswith("refused") and not form.syntax.startswith("cvt.rs"))
    return [case for form in ours for case in cases(form)]  # stochastic rounding has its own test


def with_constant(case: Case) -> Case | None:
    """The case with one of its sources a constant, or None where PTX has no constants of their types."""
    draw = random.Random(f"{case.opcode} {case.mods}")
    fixed = dict(case.constants)
    plain = [(name, t) for name, t, n in case.sources if n == 1 and re.fullmatch(r"[bus](8|16|32|64)|f32|f64", t)]
    mods = dict(case.mods)
    free = [(name, t) for name, t in plain if f"{name}sel" not in mods and name not in mods.get("minus", "")]
    if not free:
        return None
    name, ptype = draw.choice(free)
    return replace(case, constants=tuple({**fixed, name: draw.choice(edges(ptype))}.items()))


def constant_text(value: int, ptype: str) -> str:
    """A constant of that type with these bits."""
    return {"f32": f"0f{value:08x}", "f64": f"0d{value:016x}"}.get(ptype, str(value))


def register_class(ptype: str) -> str:
    """The register type of the same width as a PTX type."""
    if ptype in ("pred", "f32", "f64"):
        return ptype
    element, count = split(ptype.removeprefix("t"))
    return f"b{bits(element) * count}"


class Program:
    """One kernel: `k(inputs, outputs)`. Input array i holds a slot for each thread with operand
    inputs[i] = (type, position), output array j those of outputs[j] = (case, destination name, element)."""

    def __init__(self, name: str, batch: list[Case], flush: bool = False, data: Inputs = MIXED) -> None:
        self.name, self.batch, self.data = name, batch, data
        self.array = data.threads * SLOT  # bytes
        self.inputs: list[tuple[str, int]] = []
        self.outputs: list[tuple[Case, str, int]] = []
        self.registers: list[str] = []
        self.loads: list[str] = []
        self.body: list[str] = []
        for case in batch:
            self.statement(case)
        word = "add.ftz.f32" if flush else "add.f32"  # the majority decides the kernel's denormal mode
        self.padding = [f"{word} %pad, %pad, %pad;"] * (len(batch) + 1)

    def register(self, ptype: str, hint: str) -> str:
        name = f"%{hint}{len(self.registers)}"
        self.registers.append(f".reg .{register_class(ptype)} {name};")
        return name

    def input(self, ptype: str, position: int) -> str:
        """The register that holds this thread's value of an input array. (Of an 8-bit operand outside brace
        lists: the lower half of a 16-bit register.)"""
        key = (ptype, position)
        if key not in self.inputs:
            self.inputs.append(key)
        at = self.inputs.index(key)
        register = self.register(ptype, "in")
        offset = at * self.array
        if ptype == "pred":
            word = self.register("u32", "w")
            self.loads += [f"ld.global.u32 {word}, [%in+{offset}];", f"setp.ne.u32 {register}, {word}, 0;"]
        elif ptype == "b128":
            low, high = self.register("b64", "w"), self.register("b64", "w")
            self.loads += [
                f"ld.global.v2.b64 {{{low}, {high}}}, [%in+{offset}];",
                f"mov.b128 {register}, {{{low}, {high}}};",
            ]
        else:
            self.loads.append(f"ld.global.{register_class(ptype)} {register}, [%in+{offset}];")
        return register

    def statement(self, case: Case) -> None:
        constants = dict(case.constants)
        texts: dict[str, str] = {}
        results = []
        position = 0
        if "c" in case.opcode.split(".")[0][-1:] and case.form.mnemonic in ("addc", "subc", "madc"):
            a, b = self.input("u32", 6), self.input("u32", 7)
            self.body.append(f"add.cc.u32 {self.register('u32', 'x')}, {a}, {b};")
        for name, ptype, count in case.operands:
            if name in constants:
                texts[name] = constant_text(constants[name], ptype)
                continue
            registers = []
            if count == 1 and ptype in ("u8", "s8"):
                ptype = f"{ptype[0]}16"
            for element in range(count):
                if name in "depq":
                    register = self.register(ptype, name)
                    results.append((name, element, ptype, register))
                else:
                    register = self.input(ptype, position)
                    position += 1
                registers.append(register)
            texts[name] = "{" + ", ".join(registers) + "}" if count > 1 else registers[0]
            if part := dict(case.mods).get(f"{name}sel"):
                letter = {"2": "h", "4": "b"}.get(case.form.mnemonic[-1], "")
                texts[name] += f".{letter}{part}"
            if name in dict(case.mods).get("minus", ""):
                texts[name] = f"-{texts[name]}"
        names = [name for name, _, _ in case.operands]
        if "|" in case.form.operands:
            texts[names[0]] += "|" + texts.pop(names[1])
        self.body.append(f"{case.opcode} {', '.join(texts.values())};")
        for name, element, ptype, register in results:
            self.store(case, name, element, ptype, register)
        if ".cc" in case.opcode:
            register = self.register("u32", "cf")
            self.body.append(f"addc.u32 {register}, 0, 0;")
            self.store(case, "carry", 0, "u32", register)

    def store(self, case: Case, name: str, element: int, ptype: str, register: str) -> None:
        offset = len(self.outputs) * self.array
        self.outputs.append((case, name, element))
        if ptype == "pred":
            word = self.register("u32", "w")
            self.body.append(f"selp.u32 {word}, 1, 0, {register};")
            ptype, register = "u32", word
        if ptype == "b128":
            low, high = self.register("b64", "w"), self.register("b64", "w")
            self.body += [
                f"mov.b128 {{{low}, {high}}}, {register};",
                f"st.global.v2.b64 [%out+{offset}], {{{low}, {high}}};",
            ]
        else:
            self.body.append(f"st.global.{register_class(ptype)} [%out+{offset}], {register};")

    def text(self) -> str:
        return "\n".join(
            [
                f".visible .entry {self.name}(.param .u64 inputs, .param .u64 outputs)",
                "{",
                ".reg .b32 %thread, %block, %size; .reg .b64 %in, %out, %at; .reg .f32 %pad;",
                *self.registers,
                "mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %size, %ntid.x;",
                "mad.lo.u32 %thread, %block, %size, %thread;",
                f"mul.wide.u32 %at, %thread, {SLOT};",
                "ld.param.u64 %in, [inputs];",
                "ld.param.u64 %out, [outputs];",
                "add.u64 %in, %in, %at;",
                "add.u64 %out, %out, %at;",
                "mov.f32 %pad, 0f3F800000;",
                *self.padding,
                *self.loads,
                *self.body,
                "ret;",
                "}",
                "",
            ]
        )


HEAD = ".version 9.0\n.target sm_100\n.address_size 64\n"


def module(programs: list[Program]) -> str:
    return HEAD + "".join(program.text() for program in programs)


def programs(
    batch: list[Case], prefix: str, size: int = 60, flush: bool = False, data: Inputs = MIXED
) -> list[Program]:
    """Kernels of `size` cases each."""
    return [Program(f"{prefix}_{i // size}", batch[i : i + size], flush, data) for i in range(0, len(batch), size)]


def input_bytes(program: Program) -> bytes:
    """The contents of the input buffer."""
    return b"".join(
        struct.pack("<QQ", v & (1 << 64) - 1, v >> 64)
        for ptype, position in program.inputs
        for v in program.data.values(ptype, position)
    )
