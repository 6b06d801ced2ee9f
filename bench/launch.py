"""Calls through the shim against the HIP calls beneath: goals +100 ns for a launch, 10 ns for context-local storage.

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


def measure(program: Path, code: Path, environment: dict[str, str]) -> list[tuple[str, float, float]]:
    """(call, ns of the HIP call, ns through the shim); 0 where HIP has no such call."""
    command = [str(program), str(code), str(native.DIRECTORY / "libptx2amd_vgpu.so")]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return [(name, float(below), float(through)) for name, below, through in rows]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, code = Path(folder) / "launch", Path(folder) / "empty.hsaco"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source), "-ldl"], check=True)
        for arch in ("gfx942", "gfx1100"):
            code.write_bytes(translate(PTX, "empty.ptx", [arch], mode="module")[0].code)
            environment = {**os.environ, **launch.environment(f"vgpu:{arch}"), "LD_AUDIT": ""}
            plain = measure(program, code, environment)
            traced = measure(program, code, {**environment, "PTX2AMD_TRACE": str(Path(folder) / "trace")})
            print(f"{arch}: {'':24} {'HIP':>8} {'shim':>8} {'more':>8} {'traced':>8}  ns")
            for (name, below, through), (_, _, slow) in zip(plain, traced, strict=True):
                print(f"  {name:30} {below:8.1f} {through:8.1f} {through - below:+8.1f} {slow:8.1f}")
