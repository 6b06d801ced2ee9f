"""The PTX that programs would load: of files, and of all files of an environment."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path

from ptx2amd import fatbin
from ptx2amd.binary import ContainerError
from ptx2amd.fatbin import Image
from ptx2amd.fatbin.container import preferred
from ptx2amd.fatbin.files import FATBIN_SECTION, RELOCATABLE_SECTION
from ptx2amd.modules import linked_images
from ptx2amd.service import entry

CAPABILITIES = (80, 130)  # that the driver reports: to programs, and to NVIDIA's libraries with PTX for newer chips


def files_of(folder: Path) -> Iterator[Path]:
    """The files of a folder, such as an environment of Python, that may hold PTX."""
    return filter(may_hold_ptx, fatbin.files_below(folder))


def may_hold_ptx(path: Path) -> bool:
    """Whether a file of `fatbin.files_below` may hold PTX: of ELF files, those with a section for CUDA code."""
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return path.suffix != ".cubin"
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(name.encode()) >= 0 for name in (FATBIN_SECTION, RELOCATABLE_SECTION))


def images_of(files: Iterable[Path], problems: list[str]) -> list[Image]:
    """The PTX images of files, each once. Files that cannot be read are added to the problems."""
    found: dict[str, Image] = {}
    for file in files:
        try:
            images = [image for image in linked_images(fatbin.images(file)) if image.kind == "ptx"]
        except ContainerError as error:
            problems.append(str(error))
            continue
        except OSError as error:
            problems.append(f"{file}: {error.strerror}")
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
