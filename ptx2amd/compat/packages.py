"""CUDA's headers and libraries that nvcc does not bring, from PyPI."""

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
    found = [f"-I{include}" for include in folder.resolve().glob("nvidia/*/include")]
    for lib in folder.resolve().glob("nvidia/*/lib"):
        for file in lib.glob("lib*.so.*"):
            link = lib / f"{file.name.partition('.so.')[0]}.so"  # what -l looks for
            if not link.exists():
                link.symlink_to(file.name)
        found += [f"-L{lib}", f"-Xlinker=-rpath={lib}", "-Xlinker=--disable-new-dtags"]  # for what it needs, too
    return found
