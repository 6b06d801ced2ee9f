"""The software GPU's weak-memory mode against its normal mode, on the kernels of bench.vgpu.

Times are CPU seconds of a process of its own for each mode, after one launch that is not counted; results are checked
in both. Goal: at most 50 times slower."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np

from bench.vgpu import Case, cases, ptx
from ptx2amd import hip
from ptx2amd.translate import translate

GOAL = 50
ARCHS = ("gfx942", "gfx1100")


def seconds(gpu: hip.Gpu, module: hip.Module, case: Case) -> float:
    """CPU time of one launch: the mean of as many as fit in half a second."""
    arguments = [gpu.buffer(v) if isinstance(v, np.ndarray) else v for v in case.arguments]
    kernel = module.kernel(case.name)

    def run() -> None:
        kernel.launch(case.grid, case.block, arguments)
        gpu.synchronize()

    run()
    if case.expected is not None:
        assert np.allclose(arguments[case.result].numpy(), case.expected, rtol=1e-3, atol=1e-3), case.name
    begin, count = time.process_time(), 0
    while (spent := time.process_time() - begin) < 0.5:
        run()
        count += 1
    return spent / count


def one_mode(arch: str) -> None:
    """Print the times of all kernels, in the mode that the environment says."""
    gpu = hip.open(f"vgpu:{arch}")
    module = gpu.load(translate(ptx(), "bench.ptx", [arch], mode="module")[0].code)
    print(json.dumps({case.name: seconds(gpu, module, case) for case in cases()}))


def times(arch: str, **mode: str) -> dict[str, float]:
    environment = {key: value for key, value in os.environ.items() if key != "PTX2AMD_WEAK"} | mode
    command = [sys.executable, "-m", "bench.weak", arch]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    for arch in ARCHS:
        normal, weak = times(arch), times(arch, PTX2AMD_WEAK="1")
        for name, spent in normal.items():
            print(f"{arch}: {name:10} {weak[name] / spent:6.1f} x the normal mode's time (goal {GOAL})", flush=True)


if __name__ == "__main__":
    one_mode(sys.argv[1])
