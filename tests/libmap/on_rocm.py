"""Programs that use a library over ROCm's, run with AMD's library of a Debian release on the software GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ptx2amd import native
from tests import rocm

LIBRARIES = native.DIRECTORY / "libmap"


def run(prefix: rocm.Prefix, arch: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """A program, with the software GPU's HIP library and ours in front of the release's."""
    folders = (LIBRARIES, native.DIRECTORY / "hip", native.DIRECTORY)
    packages = os.pathsep.join(path for path in sys.path if path)
    changes = {"PYTHONPATH": packages, "PTX2AMD_DEVICE": f"vgpu:{arch}", "PTX2AMD_PYTHON": sys.executable}
    words, environment = prefix.command(*command, before=folders), {**os.environ, **changes}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=900)


def calls(prefix: rocm.Prefix, arch: str, program: Path, soname: str) -> tuple[list[str], int]:
    """What a program of calls (client.py) found wrong, and how many checks it made."""
    python = Path(sys.executable).resolve()
    done = run(prefix, arch, python, program, native.DIRECTORY / "libcuda.so.1", LIBRARIES / soname)
    assert done.returncode == 0, done.stderr[-2000:]
    *wrong, count = done.stdout.splitlines()
    return wrong, int(count.split()[0])
