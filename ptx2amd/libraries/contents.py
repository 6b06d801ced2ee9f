"""The CUDA code of a program or an environment, from its files' headers: modules with PTX, and with machine code only.

Only headers are read, so that an environment of several gigabytes takes seconds. Code that a program compiles or loads
at run time from elsewhere (NVRTC, Triton, files of other formats) is not seen.
"""

from __future__ import annotations

import os
from pathlib import Path

from ptx2amd import fatbin
from ptx2amd.binary import Elf
from ptx2amd.fatbin import ContainerError
from ptx2amd.records import dataclass, field

_LINKED = "-rdc"  # key of separately compiled parts: one module; nvcc's own result of linking them is left out
_STUB = 4096  # bytes that a cubin without kernels has at most


@dataclass(slots=True)
class Code:
    """The CUDA modules of a file or package. with_ptx, without: numbers of modules. ptx_bytes: size of their PTX text.
    targets: NVIDIA chips of the modules without PTX. files: those with CUDA code; bare: those in which no module has
    PTX. damaged: files that could not be read, with the reason."""

    with_ptx: int = 0
    without: int = 0
    ptx_bytes: int = 0
    targets: set[str] = field(default_factory=set)
    files: list[Path] = field(default_factory=list)
    bare: list[Path] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def modules(self) -> int:
        return self.with_ptx + self.without

    def add(self, path: Path) -> None:
        """Counts the modules of a file."""
        modules: dict[str, list[fatbin.Image]] = {}
        try:
            for image in filter(_has_kernels, fatbin.mapped_images(path)):
                modules.setdefault(_LINKED if image.relocatable else image.fatbin, []).append(image)
        except (ContainerError, OSError) as error:
            self.damaged.append(str(error))
        if not modules:
            return
        bare = [name for name, images in modules.items() if not any(image.kind == "ptx" for image in images)]
        if _LINKED in modules and _LINKED not in bare and bare:
            del modules[bare[0]]
        self.files.append(path)
        before = self.with_ptx
        for images in modules.values():
            ptx = [image for image in images if image.kind == "ptx"]
            if ptx:
                self.with_ptx += 1
                self.ptx_bytes += max(image.size for image in ptx)
            else:
                self.without += 1
                self.targets |= {image.target for image in images}
        if self.with_ptx == before:
            self.bare.append(path)


def _has_kernels(image: fatbin.Image) -> bool:
    """False for the cubin that nvcc puts into a file without kernels when it links it."""
    if image.kind != "cubin" or image.size > _STUB:
        return True
    try:
        return any(section.name.startswith(".text.") for section in Elf(image.data()).sections)
    except ContainerError:
        return True


def program(path: Path) -> Code:
    """The code of one file."""
    code = Code()
    code.add(path)
    return code


def environment(folder: Path, leave: frozenset[str] = frozenset()) -> dict[str, Code]:
    """Package ("torch 2.9.1"; "" for files of none) -> its code. leave: names of files that are not looked at."""
    owners = _owners(folder)
    found: dict[str, Code] = {}
    for path in fatbin.files_below(folder):
        if path.name not in leave:
            owner = owners.get(str(path), "")
            code = found.get(owner, Code())
            code.add(path)
            if code.files or code.damaged:
                found[owner] = code
    return found


def _owners(folder: Path) -> dict[str, str]:
    """File -> the Python package that installed it, from the packages' RECORD files."""
    owners = {}
    for record in sorted(folder.rglob("*.dist-info/RECORD")):
        name, _, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
        for line in record.read_text(errors="replace").splitlines():
            file = line.partition(",")[0]
            if ".so" in file or not file.endswith((".py", ".pyc", ".h")):
                owners[os.path.normpath(f"{record.parent.parent}/{file}")] = f"{name} {version}"
    return owners
