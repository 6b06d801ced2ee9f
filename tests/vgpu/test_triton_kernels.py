"""Kernels of Triton's AMD backend: a producer of code objects that is not ours, without a GPU.

Protects: matrix instructions with the layouts that a compiler expects, transposed loads, preloaded arguments, f16 in
halves of registers (its LLVM is newer than ours).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import cffi
import pytest

from tests import ROOT
from tests.clients import suites

HERE = Path(__file__).resolve().parent


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200"])
def test_triton(arch: str, tmp_path: Path) -> None:
    suites.VENVS.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(ROOT), str(Path(cffi.__file__).parent.parent)])
    environment = {**os.environ, "PYTHONPATH": path, "TRITON_CACHE_DIR": str(tmp_path), "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [str(suites.python("Triton")), str(HERE / "triton_amd.py"), arch]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "31 of 31 kernels agree with numpy" in done.stdout
