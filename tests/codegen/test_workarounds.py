"""What LLVM 22 does wrong without each work-around. A failure here says that LLVM no longer needs one: take it out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ptx2amd.codegen import workarounds
from tests import ROOT

#: Tests that fail without the work-around.
TESTS = {
    "apertures": "test_apertures.test_generic_addresses_in_functions('gfx803')",
    "zeros": "test_zeros.test_minus_zero_stays('gfx942')",
    "products": "test_products.test_sign_of_zero('gfx942', '')",
    "overflow": "test_overflow.test_sums_of_products('gfx942')",
    "scalar_loads": "test_scalar_loads.test_loads_that_no_lane_asks_for('a null pointer for none, first', 'gfx942')",
}
#: In a process of its own: a fault is the end of a device.
RUN = """
import sys
from ptx2amd.codegen import workarounds
from ptx2amd.hip import HipError
from tests.codegen import {module}
workarounds.ALL = [w for w in workarounds.ALL if w.name != {without!r}]
try:
    {call}
except (AssertionError, HipError):
    sys.exit(3)
"""


def fails(name: str, without: str) -> bool:
    call = TESTS[name]
    text = RUN.format(module=call.split(".")[0], call=call, without=without)
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return done.returncode == 3


@pytest.mark.parametrize("name", [workaround.name for workaround in workarounds.ALL])
def test_llvm_still_needs_it(name: str) -> None:
    assert fails(name, without=name)
    assert not fails(name, without="")
