"""Programs that use a library over ROCm's, run with AMD's library of a Debian release on the software GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptx2amd import native
from tests import rocm
from tests.libmap import mpi, page

LIBRARIES = native.DIRECTORY / "libmap"


#: RCCL's channels are for the bandwidth of real links, and cost memory.
FEW_CHANNELS = {"NCCL_MAX_NCHANNELS": "2"}
#: As `ptx2amd run --device kfd` sets them.
KFD = {
    "LD_PRELOAD": str(native.DIRECTORY / "libptx2amd_kfd.so"),
    "HSA_ENABLE_IPC_MODE_LEGACY": "1",
    "HSA_NO_SCRATCH_RECLAIM": "1",
}


def run(
    prefix: rocm.Prefix,
    arch: str,
    *command: str | Path,
    limit: float = 1800,
    gpus: int = 1,
    ranks: mpi.Mpi | None = None,
    settings: Mapping[str, str] | None = None,
    through: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """A program, with the software GPU's HIP library and ours in front of the release's; with `ranks`, started
    by mpirun once for each GPU of each node. arch: a chip, or kfd:CHIP, where the release's own HIP library has the
    software KFD. settings: further variables; through: the command that starts the program."""
    on_kfd = arch.startswith("kfd:")
    hip = () if on_kfd else (native.DIRECTORY / "hip",)
    folders = (LIBRARIES, *hip, native.DIRECTORY, *([ranks.libraries] if ranks else []))
    packages = os.pathsep.join(path for path in sys.path if path)
    device = arch if on_kfd else f"vgpu:{arch}"
    changes = {"PYTHONPATH": packages, "PTX2AMD_DEVICE": device, "PTX2AMD_PYTHON": sys.executable}
    changes |= for_miopen(prefix) | (KFD if on_kfd else {})
    changes |= {"PTX2AMD_VGPU_COUNT": str(gpus), **(FEW_CHANNELS if gpus > 1 else {}), **(settings or {})}
    words, environment = [*through, *prefix.command(*command, before=folders)], {**os.environ, **changes}
    if ranks:
        words, environment = (
            [*map(str, ranks.command(gpus * max(1, len(ranks.nodes)))), *words],
            {**environment, **ranks.environment},
        )
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=limit)


def for_miopen(prefix: rocm.Prefix) -> dict[str, str]:
    """MIOpen compiles kernels that include headers of HIP and rocRAND, and keeps them."""
    folder, kept = prefix.root.parent / "kernels", rocm.CACHE / "miopen"
    for name in ("hip", "rocrand"):
        folder.mkdir(exist_ok=True)
        if (prefix.include / name).exists() and not (folder / name).exists():
            (folder / name).symlink_to(prefix.include / name)
    return {"CPATH": str(folder), "MIOPEN_USER_DB_PATH": str(kept), "MIOPEN_CUSTOM_CACHE_DIR": str(kept)}


@dataclass(frozen=True)
class Calls:
    """What a program of calls (client.py) says: checks that were wrong, how many it made, functions that succeeded."""

    wrong: list[str]
    made: int
    worked: set[str]


def calls(prefix: rocm.Prefix, arch: str, name: str, soname: str, gpus: int = 1) -> Calls:
    """Run NAME_calls.py."""
    python, program = Path(sys.executable).resolve(), Path(__file__).with_name(f"{name}_calls.py")
    done = run(prefix, arch, python, program, native.DIRECTORY / "libcuda.so.1", LIBRARIES / soname, gpus=gpus)
    assert done.returncode == 0, done.stderr[-2000:]
    *wrong, count, worked = done.stdout.splitlines()
    return Calls(wrong, int(count.split()[0]), set(worked.split()))


def check(prefix: rocm.Prefix, arch: str, name: str, soname: str, gpus: int = 1) -> None:
    """All checks are right, and what the page calls tested has succeeded."""
    found = calls(prefix, arch, name, soname, gpus)
    assert not found.wrong, found.wrong
    assert found.made > 150 and not page.tested(name) - found.worked
