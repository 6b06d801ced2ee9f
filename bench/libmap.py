"""A call of cublasSgemm over rocblas_sgemm beneath it (goals: +200 ns; 20 ms to load libcublas before its first call),
and of a function of cuDNN over MIOpen's.

On AMD's libraries of Debian's packages (tests/rocm.py fetches them) and the software GPU.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES


def measured(name: str, soname: str, packages: tuple[str, ...]) -> list[str]:
    """What the program prints, or nothing, and the reason was printed."""
    try:
        prefix = rocm.fetch("7.2", *packages)
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        print(f"not measured: Debian's {packages[0]} cannot be fetched: {error}")
        return []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        source = Path(__file__).with_name(f"{name}.c")
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source), "-ldl"], check=True)
        done = on_rocm.run(prefix, "gfx1100", program, on_rocm.LIBRARIES / soname)
    if done.returncode:
        print(f"not measured: the program ended with {done.returncode}: {done.stderr[-500:]}")
        return []
    return done.stdout.splitlines()


def compare(rounds: list[str], beneath: str, through: str) -> None:
    pairs = [(float(below), float(above)) for below, _, above in (line.partition("\t") for line in rounds)]
    below, above = (min(column) for column in zip(*pairs, strict=True))  # of rounds beside other load
    print(f"  {beneath:32} {below:8.1f} ns\n  {through:32} {above:8.1f} ns")
    print(f"  {'more':32} {above - below:+8.1f} ns, {above / below:.2f} times")


def main() -> None:
    if lines := measured("libmap", "libcublas.so.12", ("librocblas5",)):
        load, *rounds = lines
        compare(rounds, "rocblas_sgemm", "cublasSgemm")
        print(f"  {'libcublas loaded in':32} {float(load):8.2f} ms (goal: 20 ms)")
    if rounds := measured("libmap_dnn", "libcudnn.so.9", PACKAGES["cudnn"]):
        compare(rounds, "miopenGetReductionWorkspaceSize", "cudnnGetReductionWorkspaceSize")
