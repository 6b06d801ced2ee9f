"""cublasSgemm over rocblas_sgemm beneath it: goals +200 ns for a call, 20 ms to load libcublas before its first call.

On AMD's rocBLAS of Debian's packages (tests/rocm.py fetches them) and the software GPU.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from tests import rocm
from tests.libmap import on_rocm


def main() -> None:
    try:
        prefix = rocm.fetch("7.2", "librocblas5")
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        print(f"not measured: Debian's librocblas5 cannot be fetched: {error}")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "libmap"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source), "-ldl"], check=True)
        done = on_rocm.run(prefix, "gfx1100", program, on_rocm.LIBRARIES / "libcublas.so.12")
    if done.returncode:
        print(f"not measured: the program ended with {done.returncode}: {done.stderr[-500:]}")
        return
    load, *rounds = done.stdout.splitlines()
    pairs = [(float(below), float(above)) for below, _, above in (line.partition("\t") for line in rounds)]
    below, above = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"  {'rocblas_sgemm':24} {below:8.1f} ns\n  {'cublasSgemm':24} {above:8.1f} ns")
    print(f"  {'more':24} {above - below:+8.1f} ns, {above / below:.2f} of rocBLAS's (goal: +200 ns)")
    print(f"  {'libcublas loaded in':24} {float(load):8.2f} ms (goal: 20 ms)")
