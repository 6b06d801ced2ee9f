"""ROCm's libraries on this machine, inspected as files: location, chips with code, and required C library."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ptx2amd.binary import Blob, ContainerError, Elf
from ptx2amd.libraries import Library
from ptx2amd.regex import regex

_SYSTEM = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
_TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
_CHIP = regex(rb"gfx[0-9a-f]{3,5}")
_FIRST = 1 << 20  # the part of a bundle that contains the names of its entries


def folders() -> Iterator[Path]:
    """The folders of the loader and of AMD's packages."""
    for name in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if name:
            yield Path(name)
    if root := os.environ.get("ROCM_PATH"):
        yield Path(root) / "lib"
    yield Path("/opt/rocm/lib")
    yield from sorted(Path("/opt").glob("rocm-*/lib"), reverse=True)
    yield from map(Path, _SYSTEM)


def find(library: Library) -> Path | None:
    """ROCm's library beneath."""
    for folder in folders():
        for name in library.rocm:
            if (folder / name).exists():
                return folder / name
    return None


def machine_chips(topology: Path = _TOPOLOGY) -> list[str]:
    """AMD GPUs of this machine, from the kernel driver's topology."""
    found = []
    for path in sorted(topology.glob("*/properties")):
        match = re.search(r"^gfx_target_version (\d+)$", path.read_text(), re.M)
        if match and (version := int(match[1])):
            found.append(f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}")
    return found


def _elf(path: Path) -> Elf | None:
    try:
        with path.open("rb") as file:
            return Elf(Blob(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), str(path)))  # type: ignore[arg-type]
    except (OSError, ValueError, ContainerError):
        return None


def _listed(elf: Elf | None, strings: Callable[[Elf], list[str]]) -> list[str]:
    """Strings of the dynamic section; empty for other files, and for damaged ones, which the loader may accept."""
    try:
        return strings(elf) if elf else []
    except ContainerError:
        return []


def needed(path: Path) -> list[str]:
    """The DT_NEEDED libraries of an ELF file; empty for other files."""
    return _listed(_elf(path), Elf.needed)


def runpath(path: Path) -> list[str]:
    """The folders of DT_RPATH and DT_RUNPATH of an ELF file; empty for other files."""
    return _listed(_elf(path), Elf.runpath)


def languages(path: Path) -> set[str]:
    """The languages ("cuda", "hip") whose code an ELF file contains, or whose run time it links."""
    elf = _elf(path)
    names = {section.name for section in elf.sections} if elf else set()
    linked = " ".join(_listed(elf, Elf.needed))
    signs = {"cuda": (".nv_fatbin", "libcuda"), "hip": (".hip_fatbin", "libamdhip64")}
    return {language for language, (code, library) in signs.items() if code in names or library in linked}


def glibc(path: Path) -> tuple[int, int]:
    """The glibc version that a library requires."""
    elf = _elf(path)
    strings = [section.data for section in elf.sections if section.name == ".dynstr"] if elf else []
    versions = [int(found) for text in strings for found in re.findall(rb"GLIBC_2\.(\d+)", text)]
    return 2, max(versions, default=0)


def coded(library: Library, path: Path) -> Path:
    """The library that contains the code: this one, or one beside it."""
    return path.resolve().parent / library.kernels if library.kernels and ".so" in library.kernels else path


def chips(library: Library, path: Path) -> set[str] | None:
    """The chips for which a library has code; None: it compiles for any chip, or the chips are not known."""
    if library.kernels is None:
        return None
    if library.kernels and ".so" not in library.kernels:
        root = path.resolve().parent / library.kernels
        return {match[0].decode() for file in root.rglob("*gfx*") if (match := _CHIP.search(file.name.encode()))}
    elf = _elf(coded(library, path))
    for section in elf.sections if elf else ():
        if section.name == ".hip_fatbin":
            return {found.decode() for found in _CHIP.findall(_entries(section.content))} or None
    return None


def _entries(bundle: Blob) -> bytes:
    """The beginning of a bundle, with the names of its entries."""
    start = bundle.read(0, min(_FIRST, len(bundle)))
    if start[:4] == b"CCOB":
        from ptx2amd.binary import compression

        version, method = start[4], start[6]
        at = 32 if version == 3 else 24
        return compression.zstd_start(start[at:], _FIRST) if method == 1 else b""
    head = start.find(b"amdgcn-")
    return start[: head + 8192]
