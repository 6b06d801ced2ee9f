"""Calls through the shim against the HIP calls beneath: goals +100 ns for a launch, 10 ns for context-local storage;
launches by 1 to 32 threads. On the software GPU's HIP library, and on AMD's above the software KFD.

With tracing on (PTX2AMD_TRACE) the second table says what that costs.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from bench import amd_hip
from ptx2amd import launch, native
from ptx2amd.translate import translate

PTX = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n"


Rows = list[tuple[str, float, float]]


def measure(command: list[str | Path], environment: dict[str, str]) -> tuple[Rows, Rows]:
    """(call, ns of the HIP call, ns through the shim); 0 where HIP has no such call. (threads, launches per second of
    theirs to HIP, and through the shim)."""
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    rows = [
        [(name, float(a), float(b)) for name, a, b in (line[-3:] for line in lines if len(line) == n)] for n in (3, 4)
    ]
    return rows[0], rows[1]


def report(title: str, command: list[str | Path], environment: dict[str, str], trace: Path) -> None:
    plain, threads = measure(command, environment)
    traced, _ = measure(command, {**environment, "PTX2AMD_TRACE": str(trace)})
    print(f"{title}: {'':24} {'HIP':>8} {'shim':>8} {'more':>8} {'traced':>8}  ns")
    for (name, below, through), (_, _, slow) in zip(plain, traced, strict=True):
        print(f"  {name:30} {below:8.1f} {through:8.1f} {through - below:+8.1f} {slow:8.1f}")
    print(f"{title}: launches per second, by threads with a stream each")
    for count, below, through in threads:
        print(f"  {count:>3} threads: HIP {below:9.0f}, shim {through:9.0f}: {through / below:.2f}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, code, trace = (Path(folder) / name for name in ("launch", "empty.hsaco", "trace"))
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-pthread", "-o", str(program), str(source), "-ldl"], check=True)
        for arch in ("gfx1100", "gfx942"):  # the last one's code is AMD's, too
            code.write_bytes(translate(PTX, "empty.ptx", [arch], mode="module")[0].code or b"")
            environment = {**os.environ, **launch.environment(f"vgpu:{arch}"), "LD_AUDIT": ""}
            report(arch, [program, code, native.DIRECTORY / "libptx2amd_vgpu.so"], environment, trace)
        environment = {**os.environ, **launch.environment("kfd:gfx942"), "LD_AUDIT": ""}
        for release, prefix, library in amd_hip.libraries("5.7", "7.2"):
            command: list[str | Path] = [*prefix.command(program, code, library, before=(native.DIRECTORY,))]
            report(f"AMD's HIP {release}", command, {**environment, "PTX2AMD_HIP_LIBRARY": str(library)}, trace)
