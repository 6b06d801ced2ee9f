"""First run of real programs: seconds to the end of each client's script, with empty caches and again with warm ones.

Clients are those of tests/clients/suites.py, each in an environment of its own. CPU seconds are those of all processes,
the translation service among them. Clients without an environment are left out, but those that FIRST_RUN_CLIENTS
names (separated by commas) get one: downloads of up to some GB."""

from __future__ import annotations

import ctypes
import os
import tempfile
import time

from bench.translate import cpu_seconds
from tests.clients import suites

CLIENTS = ("XGBoost", "CuPy", "llama.cpp", "Blender", "PyTorch", "Warp")
ARCH = "gfx942"
SUBREAPER = 36  # of prctl: orphans become children of this process, and their CPU time is counted


def timed(name: str) -> tuple[float, float]:
    """Wall and CPU seconds of a run. The service ends behind it."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    counts, printed = suites.run(name, ARCH)
    wall = time.perf_counter() - wall
    assert counts["passed"] and not counts["failed"], printed[-2000:]
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return wall, cpu_seconds() - cpu


def main() -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    print(f"{'client':12} {'cold, s':>8} {'CPU':>8} {'warm, s':>8} {'CPU':>8}")
    asked = os.environ.get("FIRST_RUN_CLIENTS", "")
    for name in asked.split(",") if asked else CLIENTS:
        if not asked and not (suites.VENVS / name.lower() / "ready").exists():
            print(f"{name:12} left out: FIRST_RUN_CLIENTS={name} makes its environment", flush=True)
            continue
        suites.python(name)
        with tempfile.TemporaryDirectory() as folder:
            caches = ("PTX2AMD_CACHE_DIR", "PTX2AMD_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME")
            os.environ |= {**dict.fromkeys(caches, folder), "PTX2AMD_SERVICE_IDLE": "1s"}
            cold, warm = timed(name), timed(name)
        print(f"{name:12} {cold[0]:8.1f} {cold[1]:8.1f} {warm[0]:8.1f} {warm[1]:8.1f}", flush=True)


if __name__ == "__main__":
    main()
