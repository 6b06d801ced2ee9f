"""Floating-point instructions in pairs, one fed by the other's result: LLVM makes one instruction of many such pairs (a
product rounded to f16, a negated operand, a clamped sum), which has to compute what the two do, .ftz and not, at the
edges of all types."""

from __future__ import annotations

import random
from functools import cache

import pytest

from ptx2amd import hip
from ptx2amd.isa.float import FORMS
from ptx2amd.translate import translate
from tests.lower import alu_check, alu_programs
from tests.lower.alu_inputs import MIXED
from tests.lower.alu_programs import Case, Program, register_class
from tests.reference.floats import Either
from tests.reference.numbers import bits_of

FLOATS = {"f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2"}
BITS = ("mov", "selp", "slct", "copysign")  # what they do with a NaN's bits shows
COUNT = 40  # pairs of a kernel


@cache
def pool() -> list[Case]:
    """Cases whose operands are scalars or pairs, with one exact result."""
    return [
        case
        for family in ("float", "half", "mixed", "convert", "compare")
        for case in alu_programs.all_cases(family)
        if not case.form.exact.startswith("approx") and not case.constants and case.form.mnemonic not in BITS
        if len(case.destinations) == 1 and "oob" not in case.opcode
        if all(n == 1 and ptype not in ("u8", "s8") for _, ptype, n in case.operands)
    ]


@cache
def takers() -> dict[str, list[tuple[Case, str]]]:
    """Type -> the cases, and which source of theirs, that take a value of it."""
    found: dict[str, list[tuple[Case, str]]] = {ptype: [] for ptype in FLOATS}
    for case in pool():
        for name, ptype, _ in case.sources:
            if ptype in FLOATS and "xorsign" not in case.opcode:  # of NaN too
                found[ptype].append((case, name))
    return found


def drawn(draw: random.Random) -> tuple[Case, Case, str]:
    """A pair; each mnemonic is as likely as any other."""
    givers = [case for case in pool() if case.destinations[0][1] in FLOATS]
    mnemonic = draw.choice(sorted({case.form.mnemonic for case in givers}))
    first = draw.choice([case for case in givers if case.form.mnemonic == mnemonic])
    fed = takers()[first.destinations[0][1]]
    mnemonic = draw.choice(sorted({case.form.mnemonic for case, _ in fed}))
    second, name = draw.choice([(case, name) for case, name in fed if case.form.mnemonic == mnemonic])
    return first, second, name


class Pairs(Program):
    """A kernel of pairs: (first, second, the second's source that is the first's result)."""

    def __init__(self, pairs: list[tuple[Case, Case, str]], flush: bool) -> None:
        super().__init__("k", [], flush, MIXED)
        word = "add.ftz.f32" if flush else "add.f32"
        self.padding = [f"{word} %pad, %pad, %pad;"] * (4 * len(pairs))
        for first, second, name in pairs:
            middle = self.emit(first, {})
            last = self.emit(second, {name: middle})
            (result, ptype, _) = second.destinations[0]
            self.store(second, result, 0, ptype, last)

    def emit(self, case: Case, given: dict[str, str]) -> str:
        texts, result = [], ""
        for position, (name, ptype, _) in enumerate(case.operands):
            if name in "depq":
                texts.append(result := self.register(ptype, name))
            else:
                texts.append(given.get(name) or self.input(ptype, position))
        self.body.append(f"{case.opcode} {', '.join(texts)};")
        return result


def computed(case: Case, row: dict[str, int]) -> object:
    types = {name: ptype for name, ptype, _ in case.operands}
    return alu_check.REFERENCE[case.form.mnemonic](alu_check.facts(case), row, types)[case.destinations[0][0]]


def bits(value: object, ptype: str) -> int | None:
    """The bits of a result that is fed on; None where the manual leaves them open."""
    if isinstance(value, tuple) and not isinstance(value, Either):
        low, high, n = value
        parts = [bits(part, ptype.removesuffix("x2")) for part in (low, high)]
        return None if None in parts else parts[0] | parts[1] << n
    if value is None:
        return (1 << bits_of(ptype) - 1) - 1
    return value if isinstance(value, int) else None


def operands(case: Case, thread: int) -> dict[str, int]:
    return {
        name: MIXED.values(ptype, position)[thread]
        for position, (name, ptype, _) in enumerate(case.operands)
        if name not in "depq"
    }


def wrong(pairs: list[tuple[Case, Case, str]], arch: str, flush: bool) -> list[str]:
    program = Pairs(pairs, flush)
    [result] = translate(alu_programs.module([program]), "pairs.ptx", [arch])
    assert result.ok, result.kernels
    gpu = hip.open(f"vgpu:{arch}")
    out = gpu.buffer(len(program.outputs) * program.array)
    gpu.load(result.code).kernel("k").launch(1, MIXED.threads, [gpu.buffer(alu_programs.input_bytes(program)), out])
    gpu.synchronize()
    data, found = out.bytes(), []
    for index, (first, second, name) in enumerate(pairs):
        middle, last = first.destinations[0][1], second.destinations[0][1]
        size = 4 if last == "pred" else int(register_class(last).strip("bf")) // 8
        for thread in range(MIXED.threads):
            given = operands(first, thread)
            between = bits(computed(first, given), middle)
            if between is None:
                continue
            want = computed(second, {**operands(second, thread), name: between})
            at = index * program.array + 16 * thread
            got = int.from_bytes(data[at : at + size], "little")
            if got != want and not alu_check.agrees(got, want, last):
                rows = [(first, given), (second, {**operands(second, thread), name: between})]
                shown = [f"{case.opcode} " + str({k: hex(v) for k, v in row.items()}) for case, row in rows]
                found.append(f"{arch} {flush}: {shown[0]}, {shown[1]} by {name}: {got:#x}, not {want}")
                break
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 60))])
def test_pairs(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [drawn(draw) for _ in range(COUNT)]
    found = [text for arch in ("gfx942", "gfx1100") for flush in (False, True) for text in wrong(pairs, arch, flush)]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("arch", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.slow)])
def test_rounded_to_f16(arch: str) -> None:
    """Each f32 operation that rounds to nearest, and the rounding of its result to f16."""
    [cvt] = [case for case in pool() if case.opcode == "cvt.rn.f16.f32"]
    firsts = [case for case in pool() if case.form in FORMS and case.destinations[0][1] == "f32"]
    pairs = [(case, cvt, "a") for case in firsts if not {"rz", "rm", "rp"} & {*case.opcode.split(".")}]
    assert len(pairs) > 20
    found = [text for flush in (False, True) for text in wrong(pairs, arch, flush)]
    assert found == [], "\n".join(found)
