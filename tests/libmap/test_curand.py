"""libcurand over AMD's rocRAND. Protects: distributions have their moments, sequences that are defined are those,
generators of the host and of the device agree, errors are cuRAND's; a program gets it without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests import rocm
from tests.libmap import on_rocm

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_calls(arch: str) -> None:
    prefix = rocm.prefix("7.2", "librocrand1")
    on_rocm.check(prefix, arch, "curand", "libcurand.so.10")


@pytest.mark.parametrize(("chip", "answer"), [("gfx1100", "right"), ("gfx950", "no code for gfx950")])
def test_a_program_gets_rocrand_where_it_has_code_for_the_chip(chip: str, answer: str, tmp_path: Path) -> None:
    """rocRAND wants no newer C library than this system's, so that the program is started as it is."""
    prefix, program, folder = rocm.prefix("7.2", "librocrand1"), tmp_path / "program", tmp_path / "rocm" / "lib"
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    link = [f"-L{on_rocm.LIBRARIES}", "-l:libcurand.so.10"]
    command = [tools.nvcc, *tools.flags, "-arch=sm_80", "-o", program, HERE / "random_numbers.cu", *link]
    subprocess.run(command, check=True)
    folder.mkdir(parents=True)
    (folder / "librocrand.so.1").symlink_to(prefix.libraries / "librocrand.so.1")
    environment = {**os.environ, "ROCM_PATH": str(folder.parent)}
    run = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{chip}", "--", program]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300)
    assert answer in done.stdout + done.stderr, done
    assert (done.returncode == 0) == (answer == "right")  # there is no library of NVIDIA's to fall back to
