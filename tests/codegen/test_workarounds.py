"""What LLVM 22 does wrong without each work-around. A failure here says that LLVM no longer needs one: take it out."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ptx2amd.codegen import workarounds
from ptx2amd.codegen.workarounds import avoided
from tests import ROOT

#: Tests that fail without the work-around.
TESTS = {
    "apertures": "codegen.test_apertures.test_generic_addresses_in_functions('gfx803')",
    "zeros": "codegen.test_zeros.test_minus_zero_stays('gfx942')",
    "products": "codegen.test_products.test_sign_of_zero('gfx942', '')",
    "overflow": "codegen.test_overflow.test_sums_of_products('gfx942')",
    "scalar_loads": "codegen.test_scalar_loads.test_loads_that_no_lane_asks_for("
    "'a null pointer for none, first', 'gfx942')",
    "copies": "codegen.test_copies.test_elements_of_vectors('gfx942', '')",
    "byte_parts": "codegen.test_byte_parts.test_an_offset_is_one_instruction('gfx942')",
    "lds_addresses": "codegen.test_lds_addresses.test_time_grows_with_the_number()",
    "carries": "lower.test_carry_chains.test_chain(58, 32, 'gfx942')",
    "entries": "lower.test_spin.test_every_thread_gets_its_turn('gfx942', 'first_try_peeled')",
    "masks": "lower.test_spin.test_every_thread_gets_its_turn('gfx942', 'gives_up')",
    "stack_sizes": "lower.test_alloca.test_a_stack_grows_by_what_is_asked_for('gfx942')",
    "pairs": "codegen.test_packed_loops.test_both_halves_go_round('gfx942')",
    "stack_addresses": "lower.test_alloca.test_stack_of_unknown_size('gfx900')",
    "rounds": "lower.test_warp_random.test_answers_of_rounds_outlive_the_rounds('gfx942')",
    "fences": "codegen.test_fences.test_stores_at_the_end_of_a_loop('gfx1100', 'shared')",
    "waits": "codegen.test_waits.test_a_release_waits_for_its_write_back('gfx942')",
    "shared_ends": "lower.test_warp_random.test_loops_keep_one_entry('gfx942')",
}
#: In a process of its own: a fault is the end of a device, and LLVM's options are set once.
RUN = """
import sys
from ptx2amd.codegen import workarounds
from ptx2amd.codegen.workarounds import avoided
from ptx2amd.hip import HipError
if {without!r} in {{row.name for row in avoided.ALL}}:
    avoided.without({without!r})
workarounds.ALL = [w for w in workarounds.ALL if w.name != {without!r}]
from tests.{package} import {module}
try:
    {module}.{call}
except (AssertionError, HipError):
    sys.exit(3)
"""


def fails(name: str, without: str) -> bool:
    package, module, call = TESTS[name].split(".", 2)
    text = RUN.format(package=package, module=module, call=call, without=without)
    environment = {**os.environ, "PTX2AMD_VGPU_DEADLOCK": "1"}
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return done.returncode == 3


@pytest.mark.slow  # the answers change with LLVM's version only
@pytest.mark.parametrize("name", TESTS)
def test_llvm_still_needs_it(name: str) -> None:
    assert fails(name, without=name)
    assert not fails(name, without="")


def test_each_has_a_program() -> None:
    assert {row.name for row in [*workarounds.ALL, *avoided.ALL]} == set(TESTS)
