"""Which of CUDA's libraries a program, or all files of an environment, ask for, and whose they will be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptx2amd.libraries import SERVED, choice, rocm
from ptx2amd.libraries.choice import Choice


@dataclass(frozen=True, slots=True)
class Asked:
    """One of CUDA's libraries: its soname, the files that ask for it (as paths in an environment), and the choice."""

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
    """(soname, file that asks for it). In a folder, libraries that lie there count as asked for by themselves: programs
    also open them at run time."""
    if path.is_file():
        yield from ((name, path.name) for name in rocm.needed(path))
        return
    for file in sorted(path.rglob("*.so*")):
        if file.is_file():
            inside = str(file.relative_to(path))
            yield file.name, inside
            yield from ((name, inside) for name in rocm.needed(file))


def asked(path: Path, mode: str, device: str) -> list[Asked]:
    """Of a program or of a folder of libraries (an environment of Python). mode and device: as for choice.choose."""
    files: dict[str, list[str]] = {}
    for name, file in _requests(path):
        if name in SERVED:
            files.setdefault(name, []).append(file)
    choices = {one.library: one for one in choice.choose(mode, device)} if files else {}
    return [Asked(name, files[name], choices[SERVED[name]]) for name in sorted(files)]
