"""2-D and 3-D copies and fills whose numbers wrap around: CUDA_ERROR_INVALID_VALUE, and nothing is written.

Protects: a size that a program computed wrong ((n - 1) * 4 of no elements) never becomes a write outside of its memory
that answers CUDA_SUCCESS. Sizes of linear copies and allocations are in test_conformance.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ptx2amd import launch, native
from tests import ROOT


@pytest.mark.parametrize(("calls", "seed"), [(10_000, 1), pytest.param(300_000, 2, marks=pytest.mark.slow)])
def test_numbers_that_wrap(calls: int, seed: int) -> None:
    environment = {**os.environ, **launch.environment("vgpu:gfx942"), "LD_AUDIT": "", "PTX2AMD_TRACE": ""}
    library = native.DIRECTORY / "libcuda.so.1"
    command = [sys.executable, "-m", "tests.shim.copy_extremes", str(library), str(calls), str(seed)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    *wrong, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert wrong == []
    assert last["made"] > calls / 2
