"""Releases and acquires of system scope order a kernel's accesses for the host, and the host's for the kernel, in
memory of either grain. Protects: instructions of scope .sys; the grain of allocations in the weak-memory mode. The
mutants remove the instructions."""

from __future__ import annotations

import pytest

from tests.memory_model import with_host

CHIPS = ("gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250")


@pytest.mark.parametrize(
    "chip", [chip if chip == "gfx90a" else pytest.param(chip, marks=pytest.mark.slow) for chip in CHIPS]
)
@pytest.mark.parametrize("grain", with_host.GRAINS)
def test_messages(chip: str, grain: str) -> None:
    assert with_host.stale(chip, grain, with_host.code_for(chip), 1) == (0, 0)


def test_the_grain() -> None:
    """Fine-grained memory needs no write-back of L2, coarse-grained memory does."""
    code = with_host.code_for("gfx90a", r"^\s*buffer_wbl2.*\n")
    assert with_host.stale("gfx90a", "fine", code, 1) == (0, 0)
    assert with_host.stale("gfx90a", "coarse", code, 1)[0] > 0
