"""What a program is told after one of its kernels has failed: which error that was, not that other kernels' code is
bad; and that they run after a reset.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import launch

DRIVER = Path(__file__).resolve().parents[1] / "bad_input" / "driver.py"
SCRIPT = """
FAILING = HEAD + b'''
.visible .entry wild() { .reg .b64 %at; mov.u64 %at, 64; st.global.u64 [%at], %at; ret; }
.visible .entry traps() { trap; ret; }
.visible .entry second() { ret; }
.visible .entry third() { ret; }
'''
def started():
    cu = Driver().start()
    return cu, cu.load(FAILING)

cu, module = started()
print(cu.launch(cu.function(module, "FIRST"), 1, 1, 0), cu.error("cuCtxSynchronize"))
for name in ("second", "third", "second"):
    print(name, cu.launch(cu.function(module, name), 1, 1, 0))
cu.cuDevicePrimaryCtxReset_v2(0)
cu, module = started()
print(cu.launch(cu.function(module, "second"), 1, 1, 0), cu.error("cuCtxSynchronize"))
still_works(cu)
"""


@pytest.mark.parametrize(
    ("first", "error"), [("wild", "CUDA_ERROR_ILLEGAL_ADDRESS"), ("traps", "CUDA_ERROR_LAUNCH_FAILED")]
)
def test_the_first_error_is_named(tmp_path: Path, first: str, error: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("FIRST", first))
    environment = {**os.environ, **launch.environment("vgpu:gfx942")}
    command = [sys.executable, str(DRIVER), str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        f"CUDA_SUCCESS {error}",
        f"second {error}",
        f"third {error}",
        f"second {error}",
        "CUDA_SUCCESS CUDA_SUCCESS",
        "still works",
    ], done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if "cannot run" in line or "does not load" in line]
    assert [line.partition(": ")[2] for line in told] == [
        f"kernel second and others cannot run on device 0: an earlier kernel failed there ({error})"
    ]
