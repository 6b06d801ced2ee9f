"""The PTX that programs would load: of files, and of all files of an environment."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ptx2amd import fatbin
from ptx2amd.binary import ContainerError
from ptx2amd.fatbin import Image
from ptx2amd.fatbin.container import preferred
from ptx2amd.modules import linked_images
from ptx2amd.service import entry

SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")  # one of which an ELF file with CUDA code has
SUFFIXES = (".ptx", ".fatbin")
CAPABILITIES = (80, 130)  # that the driver reports: to programs, and to NVIDIA's libraries with PTX for newer chips


def files_of(folder: Path) -> Iterator[Path]:
    """The files of a folder, such as an environment of Python, that may hold PTX."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if may_hold_ptx(path := Path(place, name)))


def may_hold_ptx(path: Path) -> bool:
    """Whether a file is PTX or a fatbin by its name, or an ELF file with CUDA code. Links do not count."""
    if path.is_symlink() or not path.is_file():
        return False
    if path.suffix in SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return any(content.find(name) >= 0 for name in SECTIONS)
    except OSError:  # not ours to read
        return False


def images_of(files: Iterable[Path], problems: list[str]) -> list[Image]:
    """The PTX images of files, each once. Files that cannot be read are added to the problems."""
    found: dict[str, Image] = {}
    for file in files:
        try:
            images = [image for image in linked_images(fatbin.images(file)) if image.kind == "ptx"]
        except (ContainerError, OSError) as error:
            problems.append(f"{file}: {error}")
            continue
        found |= {module_id(image): image for image in _loaded(images)}
    return list(found.values())


def module_id(image: Image) -> str:
    """The module's name in keys of the cache."""
    return entry.module_id(image.data() if image.encoding == "none" else image.stored)


def _loaded(images: Iterable[Image]) -> Iterator[Image]:
    """Of the PTX of each fatbin, what a program would get."""
    fatbins: dict[str, list[Image]] = {}
    for image in images:
        fatbins.setdefault(image.fatbin, []).append(image)
    for several in fatbins.values():
        chosen = {id(image): image for image in (preferred(several, capability) for capability in CAPABILITIES)}
        yield from chosen.values()
