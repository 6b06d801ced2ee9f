"""What LLVM 22 does wrong without each work-around. A failure here says that LLVM no longer needs one: take it out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import test_apertures
import test_overflow
import test_products
import test_scalar_loads
import test_zeros

from ptx2amd.codegen import workarounds
from ptx2amd.hip import HipError

PROGRAMS: dict[str, Callable[[], None]] = {
    "apertures": lambda: test_apertures.test_generic_addresses_in_functions("gfx803"),
    "zeros": lambda: test_zeros.test_minus_zero_stays("gfx942"),
    "products": lambda: test_products.test_sign_of_zero("gfx942", ""),
    "overflow": lambda: test_overflow.test_sums_of_products("gfx942"),
    "scalar_loads": lambda: test_scalar_loads.test_loads_that_no_lane_asks_for("address 0", "gfx942"),
}


def test_each_has_a_program() -> None:
    assert PROGRAMS.keys() == {workaround.name for workaround in workarounds.ALL}


@pytest.mark.parametrize("name", PROGRAMS)
def test_llvm_still_needs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PROGRAMS[name]()
    monkeypatch.setattr(workarounds, "ALL", [w for w in workarounds.ALL if w.name != name])
    with pytest.raises((AssertionError, HipError)):
        PROGRAMS[name]()
