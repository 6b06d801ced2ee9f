"""Launching an empty kernel: what the shim adds to the HIP call beneath it (goal 100 ns)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ptx2amd import launch, native
from ptx2amd.translate import translate

PTX = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, code = Path(folder) / "launch", Path(folder) / "empty.hsaco"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source), "-ldl"], check=True)
        for arch in ("gfx942", "gfx1100"):
            code.write_bytes(translate(PTX, "empty.ptx", [arch], mode="module")[0].code)
            environment = {**os.environ, **launch.environment(f"vgpu:{arch}")}
            library = native.DIRECTORY / "libptx2amd_vgpu.so"
            done = subprocess.run(
                [str(program), str(code), str(library)], env=environment, check=True, capture_output=True, text=True
            )
            below, through = map(float, done.stdout.split())
            print(f"{arch}: HIP call {below:.0f} ns, through the shim {through:.0f} ns: {through - below:+.0f} ns")
