"""The references agree with ptxas's own folding of constants, wherever it folds: what an instruction does on NVIDIA's
chips, as far as it can be known without one. (No test of the lowering: of tests/reference.)"""

from __future__ import annotations

import random

import pytest

from tests.lower import alu_check, alu_programs
from tests.lower.alu_inputs import MIXED
from tests.lower.alu_programs import Case
from tests.lower.folding import PREFIX, computed, known, machine_code, other_constant

FAMILIES = {"integer": 1, "bits": 1, "compare": 7, "float": 1, "convert": 2}  # every n-th opcode
FOLDED = 400  # at least so many of all
NAN = {"f32": 0x7FFFFFFF, "f64": 0xFFF8 << 48}


def questions(case: Case, count: int) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Some operand values, with the one result that they have."""
    draw = random.Random(case.opcode)
    _, places = alu_check.arguments(case)
    rows = alu_check.expected(case, MIXED)
    found = []
    for thread in draw.sample(range(256), count):
        values = {name: MIXED.values(ptype, position)[thread] for name, ptype, position in places}
        results = {name: rows[thread][name] for name, _, _ in case.destinations}
        wide = case.form.mnemonic in ("bfe", "bfi") and case.opcode.endswith("64")
        if wide and max(values["c"], values.get("b" if case.form.mnemonic == "bfe" else "len", 0)) > 255:
            continue  # undefined: ptxas takes all bits of position and length, the manual's program the lowest 8
        types = {name: ptype for name, ptype, _ in case.destinations}
        plain = {name: NAN.get(types[name]) if r is None else r for name, r in results.items()}
        if all(isinstance(r, int) for r in plain.values()) and None not in results.values():
            found.append((values, {name: int(r) for name, r in plain.items() if r is not None}))
    return found


def scalar(case: Case) -> bool:
    """Of registers that kernels can be given, without a carry."""
    kinds = [alu_programs.register_class(t) if n == 1 and t and t[1:] != "8" else "" for _, t, n in case.operands]
    return all(kind in PREFIX for kind in kinds) and "sel" not in str(case.mods)


@pytest.mark.slow
def test_ptxas_folds_to_the_same() -> None:
    asked = []
    for family, step in FAMILIES.items():
        cases = [case for case in alu_programs.all_cases(family) if scalar(case) and case.form.since <= (9, 0)]
        for case in cases[::step]:
            asked += [(case, values, results) for values, results in questions(case, 6)]
    same, wrong = 0, []
    for start in range(0, len(asked), 200):
        part = asked[start : start + 200]
        codes = machine_code([computed(case, values) for case, values, _ in part])
        wanted = machine_code([known(case, results) for case, _, results in part])
        for (case, values, results), code, want in zip(part, codes, wanted, strict=True):
            same += code == want
            if code != want and other_constant(code, want):
                wrong.append(f"{case.opcode} {values}: not {results}")
    assert same > FOLDED
    assert wrong == [], "\n".join(wrong)
