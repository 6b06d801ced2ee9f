"""Linking an object to a code object (hsaco) that HIP loads, with the sidecar note."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ptx2amd import settings
from ptx2amd.binary.elf import Elf, merged, note_object
from ptx2amd.errors import Ptx2amdError

NOTE_SECTION, NOTE_NAME, NOTE_TYPE = ".note.ptx2amd", "ptx2amd", 1
ORIGINS_SECTION, ORIGINS_TYPE = ".note.ptx2amd.origins", 2


class LinkError(Ptx2amdError):
    """No linker, the linker failed, or a symbol has no definition."""


@cache
def linker() -> tuple[str, ...]:
    """The command of an ELF linker for AMDGPU: ROCm's, one on PATH, or the one in the wheel `ziglang`.

    PTX2AMD_LD names one explicitly. Raises LinkError when there is none."""
    if explicit := settings.LD.text():
        return (explicit,)
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "llvm/bin/ld.lld"
    if rocm.exists():
        return (str(rocm),)
    for name in ("ld.lld", *(f"ld.lld-{version}" for version in range(24, 16, -1))):
        if found := shutil.which(name):
            return (found,)
    spec = find_spec("ziglang")
    if spec is not None and spec.submodule_search_locations:
        zig = Path(spec.submodule_search_locations[0]) / "zig"  # its Python wrapper costs start-up time
        if zig.exists():
            return (str(zig), "ld.lld")
    raise LinkError("no AMDGPU linker: install ROCm or lld, or the Python package ziglang (pip install ziglang)")


def check_symbols(*files: Elf) -> None:
    """LLVM turns intrinsics that it does not know into calls: a symbol that no file defines is an error of ours."""
    symbols = [symbol for file in files for symbol in file.symbols()]
    missing = {name for name, defined in symbols if not defined} - {name for name, defined in symbols if defined}
    if missing:
        raise LinkError(f"undefined symbols in the generated code: {', '.join(sorted(missing))}")


def link(files: list[Elf], sidecar: dict[str, Any] | None = None, origins: bytes = b"") -> bytes:
    """Link object files, a note with the sidecar as JSON, and one with CUDA positions (DebugInfo.origin_table), to a
    shared object: the hsaco."""
    like = files[0]
    check_symbols(*files)
    parts = [file.blob.read() for file in files]
    if len(files) > 1:
        parts, metadata = merged(files)
        parts.append(metadata)
    if sidecar is not None:
        text = json.dumps(sidecar, separators=(",", ":")).encode()
        parts.append(note_object(NOTE_SECTION, NOTE_NAME, NOTE_TYPE, text, like))
    if origins:
        parts.append(note_object(ORIGINS_SECTION, NOTE_NAME, ORIGINS_TYPE, origins, like))
    with tempfile.TemporaryDirectory(prefix="ptx2amd-") as directory:
        paths = []
        for i, blob in enumerate(parts):
            path = Path(directory) / f"{i}.o"
            path.write_bytes(blob)
            paths.append(str(path))
        out = Path(directory) / "out.hsaco"
        command = [*linker(), "-m", "elf64_amdgpu", "-shared", "--no-undefined", *paths, "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LinkError(f"{command[0]} failed: {done.stderr.strip()}")
        return out.read_bytes()


def sidecar_of(hsaco: bytes, origin: str = "code object") -> dict[str, Any] | None:
    """The sidecar of a code object of ours, or None. Raises ContainerError for a damaged file."""
    for name, kind, description in Elf(hsaco, origin).notes():
        if name == NOTE_NAME and kind == NOTE_TYPE:
            try:
                sidecar = json.loads(description.read())
            except (ValueError, RecursionError) as error:  # the first: no JSON, or no UTF-8
                raise description.error(0, f"the note {NOTE_SECTION} is no JSON: {error}") from None
            if not isinstance(sidecar, dict):
                raise description.error(0, f"the note {NOTE_SECTION} is no JSON object")
            return sidecar
    return None
