"""libnccl over AMD's RCCL, on several software GPUs. Protects: collectives of every type and operation give numpy's
results, with ranks in one process, in threads, in processes of one node or of two, and started by mpirun, on our HIP
library and on AMD's; errors are NCCL's."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from ptx2amd import native
from tests import rocm
from tests.libmap import mpi, nodes, on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow

PROGRAM = (
    Path(sys.executable).resolve(), Path(__file__).with_name("nccl_rank.py"), native.DIRECTORY / "libcuda.so.1",
    on_rocm.LIBRARIES / "libnccl.so.2",
)  # fmt: skip
PATIENCE = 600
CHECKS = 3 * 13 + 2  # of each rank; the first makes one more


@pytest.mark.parametrize(
    ("arch", "gpus"), [("gfx90a", 2), ("gfx942", 4), ("gfx1100", 2), ("kfd:gfx90a", 2), ("kfd:gfx1100", 2)]
)
def test_calls(arch: str, gpus: int) -> None:
    packages = (*PACKAGES["nccl"], "libamdhip64-7")
    on_rocm.check(rocm.prefix("7.2", *packages), arch, "nccl", "libnccl.so.2", gpus)


def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def ranks(arch: str, gpus: int, on: Sequence[nodes.Node | None], notes: Path) -> None:
    """On each of these nodes a process for each of its GPUs, started as torchrun does."""
    prefix, count, meet = rocm.prefix("7.2", *PACKAGES["nccl"], "libamdhip64-7"), gpus * len(on), str(port())

    def start(rank: int) -> subprocess.CompletedProcess[str]:
        node = on[rank // gpus]
        settings = {
            "RANK": str(rank), "LOCAL_RANK": str(rank % gpus), "WORLD_SIZE": str(count), "MASTER_PORT": meet,
            "MASTER_ADDR": on[0].address if on[0] else "127.0.0.1", "NCCL_DEBUG": "INFO",
            "NCCL_DEBUG_FILE": str(notes / f"rank{rank}"),
        }  # fmt: skip
        through = node.enter if node else ()
        return on_rocm.run(prefix, arch, *PROGRAM, gpus=gpus, settings=settings, through=through, limit=PATIENCE)

    with ThreadPoolExecutor(count) as pool:
        for done in pool.map(start, range(count)):
            assert done.returncode == 0, done.stderr[-2000:]
            *wrong, made, _ = done.stdout.splitlines()
            assert not wrong and int(made.split()[0]) >= CHECKS, wrong
    for rank in range(count):
        assert f"nRanks:{count}, nNodes:{len(on)}," in (notes / f"rank{rank}").read_text()


@pytest.mark.parametrize(("arch", "gpus"), [("gfx90a", 2), ("gfx90a", 4), ("kfd:gfx942", 2)])
def test_processes(arch: str, gpus: int, tmp_path: Path) -> None:
    """Each has a software GPU, and finds the others by the unique id."""
    ranks(arch, gpus, [None], tmp_path)


@pytest.fixture
def two_nodes() -> Iterator[list[nodes.Node]]:
    with ExitStack() as held:
        try:
            pair = held.enter_context(nodes.pair())
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"namespaces are not permitted: {error} {getattr(error, 'stderr', '')}")
        yield pair


@pytest.mark.parametrize(("arch", "gpus"), [("gfx942", 1), ("gfx90a", 2), ("kfd:gfx90a", 1)])
def test_two_nodes(arch: str, gpus: int, two_nodes: list[nodes.Node], tmp_path: Path) -> None:
    """RCCL connects GPUs of different nodes by the network."""
    ranks(arch, gpus, two_nodes, tmp_path)
    said = (tmp_path / "rank0").read_text()
    assert "via NET/Socket" in said and "Hostname     : node1" in said


def test_mpirun(tmp_path: Path) -> None:
    """Ranks that Open MPI starts, each with a software GPU."""
    by_mpirun("gfx90a", 2, (), tmp_path)


@pytest.mark.parametrize(("arch", "gpus"), [("gfx90a", 1), ("gfx942", 2), ("kfd:gfx90a", 1)])
def test_mpirun_on_two_nodes(arch: str, gpus: int, two_nodes: list[nodes.Node], tmp_path: Path) -> None:
    by_mpirun(arch, gpus, tuple(two_nodes), tmp_path)


def by_mpirun(arch: str, gpus: int, on: tuple[nodes.Node, ...], notes: Path) -> None:
    """A rank for each GPU of each node (none: here)."""
    prefix, count = rocm.prefix("7.2", *PACKAGES["nccl"], "libamdhip64-7"), gpus * max(1, len(on))
    try:
        started = mpi.fetch(on)
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        pytest.skip(f"Open MPI is not to be had: {error}")
    settings = {
        "MASTER_ADDR": on[0].address if on else "127.0.0.1", "MASTER_PORT": str(port()), "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_FILE": str(notes / "%h.%p"),
    }  # fmt: skip
    done = on_rocm.run(prefix, arch, *PROGRAM, gpus=gpus, ranks=started, settings=settings, limit=PATIENCE)
    assert done.returncode == 0, done.stderr[-2000:]
    checks = [int(line.split()[0]) for line in done.stdout.splitlines() if line.endswith(" checks")]
    assert len(checks) == count and min(checks) >= CHECKS, done.stdout
    assert not [line for line in done.stdout.splitlines() if "status" in line or "is not" in line], done.stdout
    texts = [path.read_text() for path in notes.iterdir()]
    assert len(texts) == count and all(f"nNodes:{max(1, len(on))}," in text for text in texts)
