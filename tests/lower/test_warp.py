"""Shuffles, votes, match, redux, elect and activemask do what PTX says: in all warp mappings, under divergence,
with partial member masks, in blocks of all shapes, after threads have exited. See docs/support/warp.md."""

from __future__ import annotations

import pytest
import warp_matrix
import warp_programs
from device import MAPPINGS


@pytest.mark.parametrize("exited", [False, True])
@pytest.mark.parametrize("shape", [(33,), (64,), (8, 4, 3)])
@pytest.mark.parametrize("arch", MAPPINGS)
def test_results(arch: str, shape: tuple[int, ...], exited: bool) -> None:
    assert not warp_matrix.run(arch, shape, exited)


@pytest.mark.slow
@pytest.mark.parametrize("exited", [False, True])
@pytest.mark.parametrize("shape", warp_matrix.SHAPES)
@pytest.mark.parametrize("arch", warp_matrix.MAPPINGS)
def test_the_whole_matrix(arch: str, shape: tuple[int, ...], exited: bool) -> None:
    if warp_matrix.allowed(arch, shape):
        assert not warp_matrix.run(arch, shape, exited, every=True)


def test_the_page_is_the_matrix() -> None:
    """docs/support/warp.md has all cells, and no failures."""
    assert warp_matrix.PAGE.read_text() == warp_matrix.page()


def test_the_reference_leaves_little_undefined() -> None:
    """Shuffles from inactive lanes are undefined; the comparison must not become empty by that."""
    data = warp_programs.inputs(64)
    words = [word for case in warp_programs.cases() for pair in warp_programs.expected(case, data) for word in pair]
    assert words.count(None) < len(words) / 20
