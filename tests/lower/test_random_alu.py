"""Random straight-line programs of arithmetic rows, each instruction fed by results of others: what LLVM makes of
combinations is what the instructions compute one by one, as tests/reference has it."""

from __future__ import annotations

import random
import struct
from functools import cache

import pytest

from tests.lower import alu_check, alu_programs
from tests.lower.alu_inputs import edges, random_bits
from tests.lower.alu_programs import Case, register_class
from tests.lower.device import MAPPINGS, program

THREADS = 64
CLASSES = ("b16", "b32", "b64", "f32", "f64")
NAN = {"f32": ("0f3fc00000", 0x3FC00000), "f64": ("0d3ff8000000000000", 0x3FF8 << 48)}
EACH = 3  # registers of a class at the start


@cache
def pool() -> list[Case]:
    """Cases of scalars with one exact result: no carry flag, no flushing (whose borders the manual leaves open), no
    16-bit floats (their NaNs have any payload)."""
    found = []
    for family in ("integer", "bits", "compare", "float", "convert"):
        cases = [case for case in alu_programs.all_cases(family) if usable(case)]
        found.append(cases)
    return [case for cases in found for case in cases]


def usable(case: Case) -> bool:
    """Scalars of types that have a register class; fns has undefined results."""
    words, types = case.opcode.split("."), {t for _, t, _ in case.operands}
    scalar = all(n == 1 for _, _, n in case.operands) and types <= {
        *("pred", "f32", "f64"),
        *(f"{letter}{n}" for letter in "bus" for n in (16, 32, 64)),
    }
    exact = not case.form.exact.startswith("approx") and case.form.mnemonic != "fns"
    return scalar and exact and "ftz" not in words and "f16" not in words


Step = tuple[Case, dict[str, str]]  # operand name -> register


def generate(seed: int, length: int) -> list[Step]:
    draw = random.Random(seed)
    registers = {kind: [f"%{kind}_{n}" for n in range(EACH)] for kind in CLASSES}
    registers["pred"] = []
    families = [[c for c in pool() if c.form.mnemonic == m] for m in sorted({c.form.mnemonic for c in pool()})]
    steps: list[Step] = []
    while len(steps) < length:
        case = draw.choice(draw.choice(families))
        kinds = {name: register_class(t) for name, t, _ in case.operands}
        sources = [name for name, _, _ in case.sources]
        if any(not registers[kinds[name]] for name in sources):
            continue
        chosen = {name: draw.choice(registers[kinds[name]][-6:]) for name in sources}
        for name, _, _ in case.destinations:
            chosen[name] = f"%{kinds[name]}_{len(registers[kinds[name]])}"
            registers[kinds[name]].append(chosen[name])
        steps.append((case, chosen))
    return steps


def text(steps: list[Step]) -> tuple[str, list[tuple[str, str]]]:
    """The kernel, and the registers it stores: (name, class)."""
    named = {f"%{kind}_{n}": kind for kind in CLASSES for n in range(EACH)}
    body, outputs = [], []
    for case, chosen in steps:
        fixed = dict(case.constants)
        shown = {n: alu_programs.constant_text(fixed[n], t) if n in fixed else chosen[n] for n, t, _ in case.operands}
        names = [name for name, _, _ in case.operands]
        if "|" in case.form.operands:
            shown[names[0]] += "|" + shown.pop(names[1])
        body.append(f"{case.opcode} {', '.join(shown.values())};")
        for name, ptype, _ in case.destinations:
            kind = register_class(ptype)
            named[chosen[name]] = kind
            outputs.append((chosen[name], kind))
            if kind in NAN:  # one NaN for all
                body.append(f"testp.notanumber.{kind} %nan, {chosen[name]};")
                body.append(f"selp.{kind} {chosen[name]}, {NAN[kind][0]}, {chosen[name]}, %nan;")
    stores = []
    for at, (name, kind) in enumerate(outputs):
        if kind == "pred":
            stores.append(f"selp.b32 %word, 1, 0, {name}; st.global.b32 [%out+{8 * at}], %word;")
        else:
            stores.append(f"st.global.{kind} [%out+{8 * at}], {name};")
    loads = [
        f"ld.global.{kind} %{kind}_{n}, [%in+{8 * (EACH * i + n)}];"
        for i, kind in enumerate(CLASSES)
        for n in range(EACH)
    ]
    lines = [
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {",
        ".reg .b64 %in, %out, %at; .reg .b32 %t, %word; .reg .pred %nan;",
        *(f".reg .{kind} {name};" for name, kind in named.items()),
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;",
        f"mul.wide.u32 %at, %t, {8 * EACH * len(CLASSES)}; add.u64 %in, %in, %at;",
        f"mul.wide.u32 %at, %t, {8 * len(outputs)}; add.u64 %out, %out, %at;",
        *loads,
        *body,
        *stores,
        "ret; }\n",
    ]
    return "\n".join(lines), outputs


def interpret(steps: list[Step], given: dict[str, int]) -> dict[str, int]:
    values = dict(given)
    for case, chosen in steps:
        v = {name: values[chosen[name]] for name, _, _ in case.sources} | dict(case.constants)
        types = {name: t for name, t, _ in case.operands}
        result = alu_check.REFERENCE[case.form.mnemonic](alu_check.facts(case), v, types)
        for name, ptype, _ in case.destinations:
            kind, bits = register_class(ptype), result[name]
            if kind in NAN and (bits is None or _is_nan(bits, kind)):
                bits = NAN[kind][1]
            values[chosen[name]] = bits
    return values


def _is_nan(bits: int, kind: str) -> bool:
    infinity, top = (0x7F800000, 31) if kind == "f32" else (0x7FF << 52, 63)
    return bits & (1 << top) - 1 > infinity


SEEDS = [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 150))]


@pytest.mark.parametrize("seed", SEEDS)
def test_program(seed: int) -> None:
    steps = generate(seed, 40)
    source, outputs = text(steps)
    draw = random.Random(seed)
    given = []
    for _ in range(THREADS):
        row = {}
        for kind in CLASSES:
            for n in range(EACH):
                bits = draw.choice(edges(kind)) if draw.random() < 0.5 else random_bits(kind, draw)
                row[f"%{kind}_{n}"] = NAN[kind][1] if kind in NAN and _is_nan(bits, kind) else bits
        given.append(row)
    data = b"".join(struct.pack(f"<{len(row)}Q", *row.values()) for row in given)
    wanted = [interpret(steps, row) for row in given]
    for arch in MAPPINGS:
        _, out = program(source, arch).run("k", THREADS, [data, 8 * len(outputs) * THREADS])
        for thread in range(THREADS):
            for at, (name, kind) in enumerate(outputs):
                n = {"pred": 4}.get(kind, int(kind[1:] if kind[1:].isdigit() else 32) // 8)
                offset = 8 * (thread * len(outputs) + at)
                found = int.from_bytes(out[offset : offset + n], "little")
                assert found == wanted[thread][name], f"{arch}, thread {thread}: {name} in\n{source}"
