"""A wheel holds all that a program needs: it is built, unpacked away from the checkout, and runs a CUDA program."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cuda_samples import build
from tests import ROOT


@pytest.mark.slow
def test_a_program_runs_with_an_installed_wheel(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)], check=True)
    [wheel] = tmp_path.glob("ptx2amd-*.whl")
    assert "-py3-none-linux_" in wheel.name
    installed = tmp_path / "installed"
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", str(installed), str(wheel)], check=True)
    assert (installed / "ptx2amd" / "_native" / "grammar.json").exists(), "each process would make the parser anew"
    program = build.build("vector_add", tmp_path)
    with tempfile.TemporaryDirectory() as runtime:  # a service of its own; tmp_path is too long for its socket
        own = {"PTX2AMD_CACHE_DIR": str(tmp_path / "cache"), "PTX2AMD_RUNTIME_DIR": runtime}
        done = subprocess.run(
            [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu", "--", str(program)],
            env={**os.environ, **own, "PYTHONPATH": str(installed)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert (done.returncode, done.stdout.strip()) == (0, "PASS"), done.stderr
    maps = subprocess.run(
        [sys.executable, "-c", "import ptx2amd; print(ptx2amd.__file__)"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert Path(maps.stdout.strip()).is_relative_to(installed), "the checkout answered instead of the wheel"
