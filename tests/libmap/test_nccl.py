"""libnccl over AMD's RCCL, on several software GPUs. Protects: collectives of every type and operation give numpy's
results, with ranks in one process, in threads, in processes and started by mpirun; errors are NCCL's."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ptx2amd import native
from tests import rocm
from tests.libmap import mpi, on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("arch", "gpus"), [("gfx90a", 2), ("gfx942", 4), ("gfx1100", 2)])
def test_calls(arch: str, gpus: int) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES["nccl"]), arch, "nccl", "libnccl.so.2", gpus)


@pytest.mark.parametrize("count", [2, 4])
def test_processes(count: int, tmp_path: Path) -> None:
    """Each has a software GPU, and finds the others by the unique id."""
    prefix = rocm.prefix("7.2", *PACKAGES["nccl"])
    python, program = Path(sys.executable).resolve(), Path(__file__).with_name("nccl_rank.py")
    paths = (native.DIRECTORY / "libcuda.so.1", on_rocm.LIBRARIES / "libnccl.so.2")

    def start(rank: int) -> subprocess.CompletedProcess[str]:
        words = (python, program, *paths, str(rank), str(count), tmp_path / "id")
        return on_rocm.run(prefix, "gfx90a", *words, gpus=count)

    with ThreadPoolExecutor(count) as pool:
        for done in pool.map(start, range(count)):
            assert done.returncode == 0, done.stderr[-2000:]
            *wrong, made, _ = done.stdout.splitlines()
            assert not wrong and int(made.split()[0]) > 10, wrong


def test_mpirun(tmp_path: Path) -> None:
    """Ranks that Open MPI starts, each with a software GPU."""
    prefix, count = rocm.prefix("7.2", *PACKAGES["nccl"]), 2
    try:
        ranks = mpi.fetch()
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        pytest.skip(f"Open MPI is not to be had: {error}")
    python, program = Path(sys.executable).resolve(), Path(__file__).with_name("nccl_rank.py")
    paths = (native.DIRECTORY / "libcuda.so.1", on_rocm.LIBRARIES / "libnccl.so.2")
    words = (python, program, *paths, "mpi", str(count), tmp_path / "id")
    done = on_rocm.run(prefix, "gfx90a", *words, gpus=count, ranks=ranks)
    assert done.returncode == 0, done.stderr[-2000:]
    checks = [int(line.split()[0]) for line in done.stdout.splitlines() if line.endswith(" checks")]
    assert len(checks) == count and min(checks) > 10, done.stdout
    assert not [line for line in done.stdout.splitlines() if "status" in line or "is not" in line], done.stdout
