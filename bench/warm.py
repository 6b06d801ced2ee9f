"""Whole-process time of a warm vectorAdd: translated before, no Python involved (goal 40 ms)."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from cuda_samples import build
from ptx2amd import launch

SAMPLES = Path(__file__).resolve().parents[1] / "cuda_samples"
RUNS = 15


def _median(command: list[str], environment: dict[str, str]) -> float:
    """Median wall time of a command in ms, after one run that warms the cache."""
    times = []
    for _ in range(RUNS + 1):
        begin = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times[1:])


def main() -> None:
    [program] = build.build_all(SAMPLES.parent / "build" / "samples", ["vector_add"]).values()
    for arch in ("gfx942", "gfx1100"):
        environment = {**os.environ, **launch.environment(f"vgpu:{arch}")}
        bare = _median([str(program)], environment)
        command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", "--", str(program)]
        wrapped = _median(command, dict(os.environ))
        print(f"{arch}: {bare:.1f} ms ({bare / 40:.2f} of the goal); started by ptx2amd run: {wrapped:.1f} ms")
    nothing = _median(["/bin/true"], dict(os.environ))
    print(f"an empty process: {nothing:.1f} ms")
