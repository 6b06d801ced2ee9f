"""The page of the compatibility suite (suite.py) and what it rests on."""

from __future__ import annotations

from ptx2amd.compat import manifest
from ptx2amd.compat.runner import RIGHT, Outcome
from tests.compat import suite


def test_the_page_is_up_to_date() -> None:
    outcomes = suite.stored()
    assert suite.RESULTS.with_suffix(".md").read_text() == suite.page(outcomes)
    assert suite.PICTURE.read_text() == suite.picture(outcomes)


def test_what_is_right_has_run_kernels() -> None:
    """A program that never reaches the GPU shows nothing."""
    idle = [f"{o.project}: {o.program}" for o in suite.stored() if o.verdict == RIGHT and not o.launches]
    assert not idle


def test_every_description_names_a_project_and_was_run() -> None:
    described = {one.name: one.scale for one in manifest.ours() if one.scale}
    assert set(described.values()) <= set(SCALE_FOLDERS)
    assert not set(described.values()) & set(suite.CLIENTS), "a project is counted once"
    ran = {(o.project, suite.chip(o)) for o in suite.stored()}
    assert {(name, chip) for name in described for chip in ("gfx942", "gfx1100")} <= ran


def test_each_project_was_tried_or_has_a_reason() -> None:
    untried = [name for names in suite.UNTRIED.values() for name in names.split()]
    assert len(untried) == len(set(untried)) and set(untried) <= set(SCALE_FOLDERS)
    assert set(SCALE_FOLDERS) - set(suite.ours(suite.stored())) <= set(untried)


def test_only_what_is_right_everywhere_is_green() -> None:
    """The page's counts, for a project with one failure and for one without."""
    names = [one.name for one in manifest.ours() if one.scale][:2]
    runs = [Outcome(name, program, "vgpu:gfx1030", RIGHT, launches=1) for name in names for program in "ab"]
    runs[0].verdict = "wrong"
    text = suite.page(runs)
    clients = sum("gfx1030" in row for row in suite.ours([]).values())  # all of them right
    assert f"{1 + clients} of {2 + clients} as gfx1030" in text and f"| {names[0]}: a | gfx1030 | wrong |" in text
    assert "1 / 2" in suite.picture(runs)


SCALE_FOLDERS = suite.SCALE["folders"]
