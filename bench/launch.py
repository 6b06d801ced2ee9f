"""Calls through the shim against the HIP calls beneath: goals +100 ns for a launch, 10 ns for context-local storage;
launches by 1 to 32 threads.

With tracing on (PTX2AMD_TRACE) the second table says what that costs.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ptx2amd import launch, native
from ptx2amd.translate import translate

PTX = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n"


Rows = list[tuple[str, float, float]]


def measure(program: Path, code: Path, environment: dict[str, str]) -> tuple[Rows, Rows]:
    """(call, ns of the HIP call, ns through the shim); 0 where HIP has no such call. (threads, launches per second of
    theirs to HIP, and through the shim)."""
    command = [str(program), str(code), str(native.DIRECTORY / "libptx2amd_vgpu.so")]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    rows = [
        [(name, float(a), float(b)) for name, a, b in (line[-3:] for line in lines if len(line) == n)] for n in (3, 4)
    ]
    return rows[0], rows[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, code = Path(folder) / "launch", Path(folder) / "empty.hsaco"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-pthread", "-o", str(program), str(source), "-ldl"], check=True)
        for arch in ("gfx942", "gfx1100"):
            code.write_bytes(translate(PTX, "empty.ptx", [arch], mode="module")[0].code)
            environment = {**os.environ, **launch.environment(f"vgpu:{arch}"), "LD_AUDIT": ""}
            plain, threads = measure(program, code, environment)
            traced, _ = measure(program, code, {**environment, "PTX2AMD_TRACE": str(Path(folder) / "trace")})
            print(f"{arch}: {'':24} {'HIP':>8} {'shim':>8} {'more':>8} {'traced':>8}  ns")
            for (name, below, through), (_, _, slow) in zip(plain, traced, strict=True):
                print(f"  {name:30} {below:8.1f} {through:8.1f} {through - below:+8.1f} {slow:8.1f}")
            print(f"{arch}: launches per second, by threads with a stream each")
            for count, below, through in threads:
                print(f"  {count:>3} threads: HIP {below:9.0f}, shim {through:9.0f}: {through / below:.2f}")
