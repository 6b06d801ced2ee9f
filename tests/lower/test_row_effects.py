"""What rows say of their results holds: run with the same in all lanes, only those differ between lanes that say so.
Protects the divergence analysis (ptx2amd/middle/analyses/divergence.py) against a row that claims to be uniform."""

from __future__ import annotations

import pytest

from ptx2amd.isa import table
from ptx2amd.isa.effects import LANE, READS
from tests.lower import effects_programs as programs
from tests.lower.device import ARCHS

FORMS = {name: table.family(name) for name in table.FAMILIES}
WITH_RESULTS = {
    name: found
    for name, rows in FORMS.items()
    if (found := [form for form in rows if programs.has_result(form) and not programs.reason(form)])
}


def may_differ(case: programs.Case, name: str) -> bool:
    """Whether a result is declared to differ: by its row, or as it comes from memory of the lane's own."""
    own = case.form.does & READS and (case.form.memory or case.inst.shape.mods.get("space", "")) in ("", "local")
    return bool(own) or case.form.uniformity(name) == LANE


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("family", WITH_RESULTS)
def test_results_that_differ_are_declared(family: str, arch: str) -> None:
    texts = [text for form in WITH_RESULTS[family] for text in programs.statements(form)]
    differing = programs.run(texts, arch)
    wrong = [
        f"{case.text} ({case.form.syntax}): {name}"
        for case in programs.cases(texts)
        for name in differing[case.text]
        if not may_differ(case, name)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_audit_sees_differences() -> None:
    """Results that do differ are found so: the test above can fail."""
    texts = {
        "elect.sync b32_0|pred_20, b32_1;": {"p"},
        "ld.local.u32 b32_0, [b64_9];": {"d"},
        "ld.u32 b32_0, [b64_9];": {"d"},
        "ld.global.u32 b32_0, [b64_9];": set(),
        "shfl.sync.up.b32 b32_0|pred_20, b32_1, 1, 0, u32_4;": {"p"},
        "atom.global.add.u32 u32_0, [b64_9], u32_1;": {"d"},
        "add.u32 u32_0, u32_1, u32_2;": set(),
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b64_9];": {"d"},
        "movmatrix.sync.aligned.m8n8.trans.b16 b32_0, b32_1;": {"d"},
    }
    assert programs.run(list(texts), "gfx1100") == texts


def test_every_row_with_a_result_is_run_or_listed() -> None:
    rows = [form for form in table.rows() if programs.has_result(form)]
    left = {form.syntax: programs.reason(form) for form in rows if programs.reason(form)}
    assert set(left.values()) <= programs.REASONS.keys()
    assert len(left) < 0.15 * len(rows), "\n".join(left)
    for form in rows:  # what is not run is declared to differ, or does as the loads
        if programs.reason(form) in ("call", "warp groups"):
            assert form.uniformity("d") == LANE
