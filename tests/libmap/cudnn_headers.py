"""NVIDIA's headers of cuDNN 9, from the smallest wheel that has them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests import rocm

WHEEL = "nvidia-cudnn-jit-cu12==9.27.0.42"


def include() -> Path:
    """Their folder; skips the test when they can't be had."""
    folder = rocm.CACHE / "cudnn-9.27"
    found = folder / "nvidia" / "cudnn_jit" / "include"
    if not (found / "cudnn.h").exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, WHEEL]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"{WHEEL} is not to be had: {done.stderr[-300:]}")
        wheel = next(folder.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".h")])
        wheel.unlink()
    return found
