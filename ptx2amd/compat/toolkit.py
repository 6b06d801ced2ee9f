"""Find nvcc and ptxas: on PATH, else in the PyPI wheels (`pip install ptx2amd[nvcc]`).

PTX2AMD_TOOLKIT=wheel takes the wheels even where a CUDA toolkit is installed; =path never takes them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

from ptx2amd import settings
from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Toolkit:
    """bin: the folder of nvcc and ptxas. flags: what nvcc needs besides (the wheels' layout is not
    the one that nvcc's profile expects)."""

    bin: Path
    flags: tuple[str, ...] = ()

    @property
    def nvcc(self) -> str:
        return str(self.bin / "nvcc")

    @property
    def home(self) -> Path:
        """The folder with `include`, as nvcc says: on PATH may be a script that calls it."""
        dry = subprocess.run(
            [self.nvcc, "-dryrun", "-x", "cu", "/dev/null"], capture_output=True, text=True, check=False
        )
        if top := re.search("^#\\$ TOP=(.+)$", dry.stderr, re.MULTILINE):
            return Path(top[1]).resolve()
        raise Ptx2amdError(f"{self.nvcc} -dryrun does not say where its toolkit is")

    @property
    def ptxas(self) -> str:
        return str(self.bin / "ptxas")


def find() -> Toolkit:
    """The CUDA compilers; raises Ptx2amdError, which says what to install, if there are none."""
    choice = settings.TOOLKIT.text()
    if choice != "wheel" and (nvcc := shutil.which("nvcc")):
        return Toolkit(Path(nvcc).parent)
    if choice != "path" and (toolkit := _wheel()):
        return toolkit
    raise Ptx2amdError("no nvcc found: install a CUDA toolkit, or `pip install ptx2amd[nvcc]`")


def _wheel() -> Toolkit | None:
    for root in sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/cu[0-9]*"), reverse=True):
        if (root / "bin" / "nvcc").exists():
            include = root / "include"
            return Toolkit(root / "bin", (f"-I{include}", f"-I{include / 'cccl'}", f"-L{root / 'lib'}"))
    return None
