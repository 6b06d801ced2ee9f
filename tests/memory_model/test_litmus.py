"""The PTX litmus tests of Dat3M in the weak-memory mode of the software GPU, on a chip of each kind.

Protects: the translator's mapping of PTX's memory model (no outcome that PTX forbids is seen, what must end does), and
the mode (the weak outcomes of the classic tests are seen).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.memory_model import campaign, dat3m, kernels, litmus, results, stronger
from tests.memory_model.campaign import PLACES, Work
from tests.memory_model.dat3m import Case


def run(
    place: tuple[str, str], cases: list[Case], blocks: int, launches: int, seed: int
) -> dict[str, campaign.Outcome]:
    """The outcomes by path; fails where one must not be."""
    outcomes, report = campaign.run(Work(*place, tuple(case.test for case in cases), blocks, launches), seed)
    assert "weak: register" not in report
    wrong = [f"{case.path}: {outcome}" for case, outcome in zip(cases, outcomes, strict=True)
             if results.forbidden(case, outcome)]  # fmt: skip
    assert not wrong, f"seed {seed}: {wrong}"
    return {case.path: outcome for case, outcome in zip(cases, outcomes, strict=True)}


#: In the fast tier: chips with different caches.
BRIEF = (("gfx942", ""), ("gfx1100", ""))


def name_of(place: tuple[str, str]) -> str:
    return "-".join(filter(None, place))


@pytest.mark.parametrize(
    "place",
    [pytest.param(place, id=name_of(place), marks=[] if place in BRIEF else pytest.mark.slow) for place in PLACES],
)
def test_outcomes(place: tuple[str, str]) -> None:
    """Tests with published outcomes, briefly; the weak outcomes of the classic ones are seen."""
    cases = results.checked(dat3m.cases()[0])
    run(place, [case for case in cases if not case.proxies and case.ends is not False], 4, 4, 1)
    outcomes = run(place, [case for case in cases if Path(case.path).stem in results.CLASSIC], 24, 8, 1)
    assert [path for path, outcome in outcomes.items() if not outcome.found] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11, 15))
@pytest.mark.parametrize("place", PLACES, ids=name_of)
def test_outcomes_at_length(place: tuple[str, str], seed: int) -> None:
    run(place, results.checked(dat3m.cases()[0]), 24, 4, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", (21, 22))
@pytest.mark.parametrize("place", PLACES, ids=name_of)
def test_progress(place: tuple[str, str], seed: int) -> None:
    """Tests of forward progress: those that must end do."""
    run(place, [case for case in dat3m.cases()[0] if case.allowed is None and case.ends], 1, 1, seed)


def test_the_page() -> None:
    """The stored results have nothing forbidden, what is said to be ordered was not seen; the page shows them."""
    stored = json.loads(results.RESULTS.read_text())
    cases = results.ran(dat3m.cases()[0])
    assert set(stored) == {results.place_name(*place) for place in PLACES}
    for total in stored.values():
        assert [c.path for c in cases if results.forbidden(c, campaign.Outcome(*total[c.path]))] == []
    unseen = results.unseen(cases, stored)
    assert [c.name for c in cases if c.allowed and stronger.reason(c.name) and c.name not in unseen] == []
    assert results.PAGE.read_text() == results.page(stored)


TEXT = """PTX small
"a comment"
{ x=0; y=7; P0:r1=2; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, r1  | ld.weak r0, x  ;
 bne r1, 2, LC0 |                ;
 LC0:           |                ;
exists ((P1:r0 == 2 \\/ x != 2) /\\ ~(y = 7))
"""


def test_the_format() -> None:
    test = litmus.parse("small", TEXT)
    assert test.variables == {"x": 0, "y": 7} and [t.cta for t in test.threads] == [0, 1] and test.gpus == [0]
    assert test.threads[0].code == ["st.weak x, r1", "bne r1, 2, LC0", "LC0:"] and test.outputs == [("P1", "r0")]
    import numpy as np

    values = {"x": np.array([2, 2, 1]), "y": np.array([7, 8, 8]), "P1:r0": np.array([2, 2, 0])}
    assert litmus.holds(test, values).tolist() == [False, True, True]


@pytest.mark.parametrize("line", ["cold.weak r0, x", "jump r0"])
def test_what_is_not_ptx(line: str) -> None:
    with pytest.raises(litmus.NotPtx):
        kernels.kernel(litmus.parse("bad", TEXT.replace("ld.weak r0, x", line)), "k", 0)
