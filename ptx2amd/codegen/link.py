"""Linking an object to a code object (hsaco) that HIP loads, with the sidecar note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ptx2amd import settings
from ptx2amd.binary.elf import Elf, merged, note_object
from ptx2amd.codegen.linker import link_shared
from ptx2amd.errors import LinkError

NOTE_SECTION, NOTE_NAME, NOTE_TYPE = ".note.ptx2amd", "ptx2amd", 1
ORIGINS_SECTION, ORIGINS_TYPE = ".note.ptx2amd.origins", 2


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
    linker = settings.LD.text()
    return linked_by(linker, parts) if linker else link_shared(parts)


def linked_by(linker: str, objects: list[bytes]) -> bytes:
    """Link the objects with another linker (PTX2AMD_LD). Raises LinkError with its message."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ptx2amd-") as directory:
        paths = []
        for i, blob in enumerate(objects):
            path = Path(directory) / f"{i}.o"
            path.write_bytes(blob)
            paths.append(str(path))
        out = Path(directory) / "out.hsaco"
        command = [linker, "-m", "elf64_amdgpu", "-shared", "--no-undefined", *paths, "-o", str(out)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise LinkError(f"PTX2AMD_LD: {linker} cannot be run: {error.strerror}") from None
        if done.returncode:
            raise LinkError(f"{linker} failed: {done.stderr.strip()}")
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
