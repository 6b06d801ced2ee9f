"""Facts about the machine for the report: versions, driver, chips."""

from __future__ import annotations

import ctypes
import os
import platform
from pathlib import Path

from ptx2amd import __version__
from ptx2amd.service.build_id import current_build_id

HIP_LIBRARIES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so")
NODES = Path("/sys/class/kfd/kfd/topology/nodes")


def machine() -> dict[str, str]:
    """Name to text; facts that cannot be determined are omitted."""
    from ptx2amd.codegen import library

    found = {
        "ptx2amd": f"{__version__}, build {current_build_id()}",
        "LLVM": ".".join(map(str, library.version())),
        "Python": platform.python_version(),
        "system": _system(),
        "kernel": platform.release(),
        "processors": str(os.cpu_count()),
        "amdgpu driver": _text(Path("/sys/module/amdgpu/version")),
        "AMD chips of the machine": ", ".join(_chips()),
        "ROCm": _text(Path("/opt/rocm/.info/version")),
        "HIP library": _hip(),
    }
    return {name: text for name, text in found.items() if text}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return platform.system()


def _chips() -> list[str]:
    """The kernel driver's list of chips, as gfx942."""
    chips = []
    for properties in sorted(NODES.glob("*/properties")):
        lines = dict(line.split(maxsplit=1) for line in _text(properties).splitlines() if " " in line)
        if version := int(lines.get("gfx_target_version", "0")):
            chips.append(f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}")
    return chips


def _hip() -> str:
    for name in HIP_LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        version = ctypes.c_int()
        library.hipRuntimeGetVersion(ctypes.byref(version))
        return f"{name}, version {version.value}"
    return ""
