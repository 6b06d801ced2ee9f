"""Every executed row of the software GPU's tables is in a program whose values a test compares with a reference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: The files that compare values. Those of the HIP API reset devices, under the code objects that others keep.
CHOSEN = "(valu or scalar or memory or transposed or engine or image or typed) and not hip"


@pytest.mark.slow
def test_no_row_is_left_out() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "tests/vgpu", "--gpu-rows", "-m", "not slow"]
    done = subprocess.run([*command, "-k", CHOSEN], cwd=ROOT, capture_output=True, text=True, timeout=3600)
    assert not done.returncode, done.stdout[-4000:]
    assert "\n0 rows that no test executes" in done.stdout
