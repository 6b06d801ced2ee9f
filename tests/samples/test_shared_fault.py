"""Blocks that end in a fault never give back their slots of shared memory: a reset of the context does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.compat import toolkit

HERE = Path(__file__).resolve().parent
TURN = ["cudaSuccess 0", "cudaErrorLaunchFailure 0", "cudaErrorIllegalAddress 0"]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_all_slots_are_there_after_a_fault(arch: str, tmp_path: Path) -> None:
    tools, program = toolkit.find(), tmp_path / "shared_fault"
    subprocess.run([tools.nvcc, *tools.flags, "-o", str(program), str(HERE / "shared_fault.cu")], check=True)
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", "--", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == 2 * TURN, done.stderr
