"""Reports of files with many images: in order, with all kernels judged in one round."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

import pytest

from ptx2amd import fatbin, inspection

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNELS = (["a"], [], ["b", "c", "d"], ["e"])  # of each image


def image(names: list[str]) -> fatbin.Image:
    text = HEAD + "".join(f".visible .entry {name}() {{ ret; }}\n" for name in names)
    [found] = fatbin.images_of(text.encode(), "file.ptx")
    return found


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many jobs each round had."""
    found: list[int] = []

    @contextlib.contextmanager
    def pool(*_: int) -> Iterator[Callable]:
        def run(function: Callable, jobs: Iterable) -> Iterator:
            todo = list(jobs)
            found.append(len(todo))
            return map(function, todo)

        yield run

    monkeypatch.setattr(inspection, "_Pool", pool)
    monkeypatch.setattr(inspection, "CHUNK", 1)  # each kernel is a job
    return found


def test_kernels_of_all_images_are_judged_at_once(rounds: list[int]) -> None:
    """An image with one kernel would else leave all cores but one idle."""
    images = [image(names) for names in KERNELS]
    seen = [([k.name for k in report.kernels], done) for report, done in inspection.reports(images, "gfx942")]
    assert seen == [
        (["a"], True),
        ([], True),
        (["b"], False),
        (["b", "c"], False),
        (["b", "c", "d"], True),
        (["e"], True),
    ]
    assert rounds == [len(KERNELS), 5]


def test_listing_judges_nothing(rounds: list[int]) -> None:
    reports = [report for report, done in inspection.reports([image(names) for names in KERNELS]) if done]
    assert [[k.name for k in report.kernels] for report in reports] == list(KERNELS)
    assert {k.runs for report in reports for k in report.kernels} == {None} and rounds == [len(KERNELS)]
