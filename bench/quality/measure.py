"""Runs the kernels on the software GPU and counts what they execute. As a program, the child process that does it:
the software GPU writes its counters when a process ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.quality import cost
from bench.quality.case import Case
from ptx2amd import hip
from ptx2amd.errors import Ptx2amdError
from ptx2amd.report import counters


@dataclass(frozen=True)
class Counts:
    """Of one kernel. classes: executed instructions; conflicts: cycles that banks of LDS add; lines: of 128 bytes, per
    access of a wave to global memory; waves: resident ones, of `most`. wrong: what is wrong with the result."""

    classes: Counter[str]
    cycles: int
    conflicts: int
    lines: float
    vgprs: int
    waves: int
    most: int
    scratch: int
    wrong: str

    @property
    def executed(self) -> int:
        return self.classes.total()


def counts(kernel: counters.Kernel, wrong: str) -> Counts:
    opcodes, arch, wave = list(kernel["opcodes"].items()), kernel["arch"], kernel["wave"]
    conflicts = kernel["lds_conflicts"]
    return Counts(
        cost.by_class(opcodes),
        cost.weighted(opcodes, arch, wave, conflicts),
        conflicts,
        kernel["transactions"] / max(1, kernel["requests"]),
        kernel["vgprs"],
        kernel["resident"],
        kernel["most"],
        kernel["scratch"],
        wrong,
    )


def measured(arch: str, codes: Mapping[str, Path], waves: bool) -> dict[str, Counts]:
    """What kernels execute. codes: kernel -> file of its code object; waves: it is HIP's code, for the chip's waves."""
    with tempfile.TemporaryDirectory() as folder:
        job = json.dumps({"arch": arch, "waves": waves, "codes": {name: str(path) for name, path in codes.items()}})
        environment = {**os.environ, "PTX2AMD_PROFILE": f"{folder}/profile"}
        command = [sys.executable, "-m", __name__]
        done = subprocess.run(command, input=job, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Ptx2amdError(f"{arch}: {done.stderr}")
        wrong = json.loads(done.stdout.splitlines()[-1])
        found = counters.collect(Path(folder, "profile"))
    return {kernel["name"]: counts(kernel, wrong[kernel["name"]]) for kernel in found}


def run(gpu: hip.Gpu, case: Case, code: Path, waves: bool) -> str:
    """What is wrong with the result of a kernel."""
    arguments = [gpu.buffer(a.copy()) if isinstance(a, np.ndarray) else a for a in case.arguments]
    block = case.wave_block if waves and case.wave_block and gpu.wave == 64 else case.block
    gpu.load(code).kernel(case.name).launch(case.grid, block, arguments)
    gpu.synchronize()
    return case.error(arguments[case.result].numpy())


def main(cases: Iterable[Case]) -> None:
    job = json.load(sys.stdin)
    gpu = hip.open(f"vgpu:{job['arch']}")
    wanted = [case for case in cases if case.name in job["codes"]]
    print(json.dumps({case.name: run(gpu, case, Path(job["codes"][case.name]), job["waves"]) for case in wanted}))


if __name__ == "__main__":
    from bench.quality import all_cases

    main(all_cases())
