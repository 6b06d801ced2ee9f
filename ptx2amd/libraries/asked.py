"""The CUDA libraries that a program or the files of an environment need, and which library will serve each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd import environment
from ptx2amd.libraries import SERVED, choice, rocm
from ptx2amd.libraries.choice import Choice
from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """One of CUDA's libraries: its soname, the files that need it (as paths in an environment), and the choice."""

    soname: str
    files: list[str]
    choice: Choice

    def as_json(self) -> dict[str, object]:
        one = self.choice
        by = one.library.beneath if one.path else "ptx2amd" if one.bound else "NVIDIA"
        return {
            "name": self.soname,
            "library": one.library.title,
            "by": by,
            "path": str(one.path) if one.path else None,
            "why": one.why,
            "asked_by": self.files,
        }


def _requests(path: Path) -> Iterator[tuple[str, str]]:
    """(soname, file that needs it). In a folder, each library also counts as needed by itself, because programs load
    libraries at run time too."""
    if path.is_file():
        yield from ((name, path.name) for name in rocm.needed(path))
        return
    for file in environment.libraries(path):
        inside = str(file.relative_to(path))
        yield file.name, inside
        yield from ((name, inside) for name in rocm.needed(file))


def asked(path: Path, mode: str, device: str) -> list[Asked]:
    """The libraries needed by a program or by a folder of libraries (a Python environment). mode and device: as for
    choice.choose."""
    files: dict[str, list[str]] = {}
    for name, file in _requests(path):
        if name in SERVED:
            files.setdefault(name, []).append(file)
    choices = {one.library: one for one in choice.choose(mode, device)} if files else {}
    return [Asked(name, files[name], choices[SERVED[name]]) for name in sorted(files)]
