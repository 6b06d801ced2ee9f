"""The files of an environment: of a folder such as that of a Python environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def files(folder: Path) -> Iterator[Path]:
    """All files below a folder, without those of a ptx2amd that is installed there: its libraries have the names of
    CUDA's, and its PTX is no program's."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_ptx2amd(Path(place, name)))
        yield from (Path(place, name) for name in sorted(names))


def libraries(folder: Path) -> list[Path]:
    """The shared libraries among them, as links too."""
    return [path for path in files(folder) if ".so" in path.name and path.is_file()]


def _is_ptx2amd(folder: Path) -> bool:
    return folder.name == "ptx2amd" and (folder / "_native").is_dir()
