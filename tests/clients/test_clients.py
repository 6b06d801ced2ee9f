"""Programs that nobody here wrote, unmodified, from PyPI: tinygrad and DrJit generate their own PTX and need
nothing but libcuda. Each operation's result is compared with numpy's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CLIENTS = {"tinygrad_ops.py": {"DEV": "CUDA:PTX", "CACHELEVEL": "0"}, "drjit_ops.py": {}}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("script", CLIENTS)
def test_client(script: str, arch: str, tmp_path: Path) -> None:
    check(script, arch, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("script", CLIENTS)
def test_client_in_weak_memory(script: str, arch: str, tmp_path: Path) -> None:
    """Memory as weakly ordered as AMD's documents allow."""
    check(script, arch, tmp_path, "--weak=1")


def check(script: str, arch: str, home: Path, *options: str) -> None:
    environment = {**os.environ, **CLIENTS[script], "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    command = [
        sys.executable,
        "-m",
        "ptx2amd.cli",
        "run",
        "--device",
        f"vgpu:{arch}",
        *options,
        "--",
        sys.executable,
        str(HERE / script),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cases pass" in done.stdout and "ptx2amd weak: register" not in done.stderr
