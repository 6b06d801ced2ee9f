"""Chooses between ROCm's and NVIDIA's libraries for a program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ptx2amd import native
from ptx2amd.libraries import ALL, Library, rocm
from ptx2amd.records import dataclass, replace

DEFAULT_CHIP = "gfx942"  # the software GPU's default


@dataclass(frozen=True, slots=True)
class Choice:
    """path: the ROCm library that is used; None: NVIDIA's own. why: what is missing, and the remedy. installed: ROCm's
    library exists but cannot be used. bound: our wrapper is used although ROCm's library is missing (its functions
    report that they are not supported), because NVIDIA's own would receive handles of a ROCm library."""

    library: Library
    path: Path | None
    why: str = ""
    installed: bool = False
    bound: bool = False

    @property
    def text(self) -> str:
        if self.bound and self.library.takes:
            return f"our wrapper, which rejects all calls: {self.why} ({self.library.takes.title} is ROCm's)"
        by = f"{self.library.beneath} ({self.path})" if self.path else "NVIDIA's own library"
        return f"{by}: {self.why}" if self.why else by


def chips(device: str) -> list[str]:
    """The chips that a value of PTX2AMD_DEVICE means, as far as known without HIP."""
    kind, _, chip = device.partition(":")
    if kind in ("vgpu", "kfd"):
        return [chip or DEFAULT_CHIP]
    return rocm.machine_chips() or ([] if kind == "hip" else [DEFAULT_CHIP])


def choose(mode: str, device: str) -> list[Choice]:
    """The choice for each library. mode: "rocm", "nvidia" or "auto". device: as PTX2AMD_DEVICE."""
    wanted = chips(device)
    found = {library: _choice(library, mode, wanted) for library in ALL}
    ours = {library for library, one in found.items() if one.path}
    return [replace(one, bound=not one.path and one.library.takes in ours) for one in found.values()]


def _choice(library: Library, mode: str, wanted: list[str]) -> Choice:
    if mode == "nvidia":
        return Choice(library, None, "selected by PTX2AMD_LIBRARIES or --libraries")
    if not (native.DIRECTORY / "libmap" / next(iter(library.sonames))).exists():
        return Choice(library, None, "our wrapper is not built: run `python -m ptx2amd.native`")
    path = rocm.find(library)
    if path is None:
        return Choice(library, None, f"{library.beneath} is not installed; packages: {library.packages}")
    have = _glibc()
    for file in (path, rocm.coded(library, path)):
        need = rocm.glibc(file)
        if have and need > have:
            return Choice(
                library, None, f"{file} needs glibc {need[0]}.{need[1]}, this system has {have[0]}.{have[1]}", True
            )
    there = rocm.chips(library, path)
    missing = [chip for chip in wanted if there is not None and chip not in there]
    if missing:
        has = ", ".join(sorted(there or ())) or "none"
        return Choice(library, None, f"{path} has no code for {', '.join(missing)}, only for {has}", True)
    return Choice(library, path)


def _glibc() -> tuple[int, ...]:
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        return tuple(int(part) for part in version.split(".")) if name == "glibc" else ()
    except (ValueError, OSError):
        return ()


def served(choices: Iterable[Choice], mode: str) -> list[str]:
    """The sonames that our wrappers serve: all of them if the mode is "rocm"."""
    return [soname for one in choices if one.path or one.bound or mode == "rocm" for soname in one.library.sonames]


def remarks(choices: Iterable[Choice], mode: str, device: str, asked: Iterable[str]) -> Iterator[str]:
    """Notes for the user before a program that needs these libraries starts."""
    names = set(asked)
    real = bool(rocm.machine_chips()) and not device.startswith(("vgpu", "kfd"))
    for one in choices:
        soname = next((soname for soname in one.library.sonames if soname in names), "")
        if one.path or mode == "nvidia" or not soname:
            continue
        if mode == "rocm":
            yield f"{soname}: {one.why}; its functions will fail (--libraries auto selects NVIDIA's own library)"
        elif one.bound and one.library.takes:
            other = one.library.takes.title
            yield f"{soname}: {one.why}; its functions report that they are not supported, because {other} is ROCm's"
        elif one.installed or real:
            yield f"{soname}: {one.why}; using NVIDIA's own library"
