"""Bugs seeded into the machine code of the litmus tests are caught. Protects: that the weak-memory mode and the litmus
tests find what they are for; mutants.py lists the bugs that nothing can show here, with the reason."""

from __future__ import annotations

import pytest

from tests.memory_model.mutants import MUTANTS, Mutant, caught

#: For the fast tier, one of each sort.
BRIEF = {
    ("gfx90a", "no buffer_wbinvl1_vol"), ("gfx942", "no buffer_wbl2"), ("gfx1100", "no buffer_gl1_inv"),
    ("gfx1201", "global_inv for a workgroup"),
}  # fmt: skip


def mark(mutant: Mutant) -> object:
    slow = [] if (mutant.chip, mutant.name) in BRIEF else [pytest.mark.slow]
    return pytest.param(mutant, id=f"{mutant.chip}: {mutant.name}", marks=slow)


@pytest.mark.parametrize("mutant", [mark(mutant) for mutant in MUTANTS])
def test_seeded_bug(mutant: Mutant) -> None:
    """Three seeds at most; one that cannot be caught is not."""
    assert any(caught(mutant, seed) for seed in (1, 2, 3)) != bool(mutant.survives)


def test_how_many() -> None:
    """At least 40 that are caught; the page lists all."""
    assert len({(mutant.chip, mutant.name) for mutant in MUTANTS}) == len(MUTANTS)
    assert sum(not mutant.survives for mutant in MUTANTS) >= 40
