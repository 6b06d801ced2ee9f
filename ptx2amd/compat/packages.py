"""What projects need from PyPI: CUDA's headers and libraries that nvcc does not bring, and Python environments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ptx2amd.errors import Ptx2amdError


def options(packages: list[str], work: Path) -> list[str]:
    """nvcc's options to compile and link with packages, each installed into a folder of its own below `work`. Raises
    Ptx2amdError."""
    return [option for package in packages for option in _options(package, work / package)]


def _options(package: str, folder: Path) -> list[str]:
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), package]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Ptx2amdError(f"cannot install {package}: {done.stderr.strip().splitlines()[-1:]}")
    headers = [*folder.resolve().glob("nvidia/*/include/cccl"), *folder.resolve().glob("nvidia/*/include")]
    found = [f"-I{include}" for include in headers]
    for lib in libraries(folder):
        for file in lib.glob("lib*.so.*"):
            link = lib / f"{file.name.partition('.so.')[0]}.so"  # what -l looks for
            if not link.exists():
                link.symlink_to(file.name)
        found += [f"-L{lib}", f"-Xlinker=-rpath={lib}"]
    return found


def libraries(folder: Path) -> list[Path]:
    """The folders of the libraries of a package: what one library needs of another is looked for there, too."""
    return list(folder.resolve().glob("nvidia/*/lib"))


def interpreter(requirements: list[str], folder: Path) -> Path:
    """The Python of a virtual environment in `folder`, made at first use. Raises Ptx2amdError."""
    python = folder.absolute() / "bin" / "python"
    wanted = "\n".join(requirements) + "\n"
    made = folder / "requirements.txt"
    if made.exists() and made.read_text() == wanted:
        return python
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "-q", *requirements],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise Ptx2amdError(f"cannot install {' '.join(requirements)}: {lines[-1]}")
    made.write_text(wanted)
    return python
