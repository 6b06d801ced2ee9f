"""NVIDIA's nccl-tests, unmodified, on libnccl over RCCL and software GPUs.

`python -m tests.libmap.nccl_tests FOLDER COMMIT [START ...]` runs the programs of FOLDER (built by nccl-tests' Makefile
from a checkout of COMMIT with MPI=1, with code in PTX; START: only with ranks that are started so) and writes
nccl_tests.json, of which the page of libraries counts. A run is right if it ends with 0 and says that no value was
out of bounds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests import rocm
from tests.libmap import mpi, on_rocm
from tests.libmap.packages import PACKAGES

RECORD = Path(__file__).with_name("nccl_tests.json")
CHIP, ROCM, LONGEST = "gfx90a", "7.2", 300
PROGRAMS = ("all_reduce", "all_gather", "broadcast", "reduce_scatter", "sendrecv")
#: How ranks are started.
STARTS = {"one thread": "-t 1 -g {}", "threads": "-t {} -g 1", "processes of mpirun": "-t 1 -g 1"}
#: Few sizes and rounds, every check.
LENGTHS = "-b 8 -e 32K -f 64 -w 0 -n 1 -c 1"


def outcome(prefix: rocm.Prefix, program: Path, start: str, gpus: int) -> str:
    words = [*start.format(gpus).split(), *LENGTHS.split()]
    ranks = mpi.fetch() if start == STARTS["processes of mpirun"] else None
    try:
        done = on_rocm.run(prefix, CHIP, program, *words, limit=LONGEST, gpus=gpus, ranks=ranks)
    except subprocess.TimeoutExpired:
        return f"failed: not finished in {LONGEST} s"
    if done.returncode == 0 and "Out of bounds values : 0 OK" in done.stdout:
        return "right"
    said = (done.stdout + done.stderr).strip().splitlines() or ["?"]
    return f"failed: {done.returncode}: {said[-1][:100]}"


def main() -> None:
    folder, commit = Path(sys.argv[1]).resolve(), sys.argv[2]
    prefix, outcomes = rocm.fetch(ROCM, *PACKAGES["nccl"]), {}
    wanted = sys.argv[3:] or list(STARTS)
    if RECORD.exists() and json.loads(RECORD.read_text())["commit"] == commit:
        outcomes = json.loads(RECORD.read_text())["outcomes"]
    for gpus in (2, 4):
        for how, start in ((how, STARTS[how]) for how in wanted):
            for name in PROGRAMS:
                what = f"{name}, {gpus} GPUs, {how}"
                outcomes[what] = outcome(prefix, folder / f"{name}_perf", start, gpus)
                print(f"{what}: {outcomes[what]}", flush=True)
                about = {"commit": commit, "chip": CHIP, "rocm": ROCM, "outcomes": outcomes}
                RECORD.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
