"""The translator's build id: a digest of everything that can change what it emits."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ptx2amd import __version__, prepared, settings
from ptx2amd.errors import Ptx2amdError
from ptx2amd.installed import llvmlite

PACKAGE = Path(__file__).resolve().parent.parent
PARTS = (
    "binary", "codegen", "compile.py", "fatbin", "installed.py", "interface", "isa", "lower", "middle", "modules.py",
    "plan", "prepared.py", "ptx", "records.py", "regex.py", "target", "translate.py", "service/build_id.py",
    "service/entry.py", "service/translation.py")  # fmt: skip
HEAD = 1 << 16  # bytes of a library, with the linker's own build id: it is too large to be read
#: Build ids that were computed before, and the state of the files then.
KNOWN = PACKAGE / "__pycache__" / "build-id.json"


@cache
def current_build_id() -> str:
    """The translator's build id of this tree, in this process."""
    return build_id()


def build_id(debug: str | None = None, known: Path = KNOWN) -> str:
    """32 hex digits; changes with every change of the translator, its grammar or LLVM. For each value of PTX2AMD_DEBUG
    (debug; None: the environment's) it is another translator, with its own service and cache entries.

    known: where it is kept, as Python keeps compiled modules, until a file has another size or was written again."""
    mode = settings.DEBUG.text() if debug is None else debug
    files = [file for part in PARTS for file in _files(str(PACKAGE / part))]
    state = "\n".join([__version__, _state(_llvm()), *map(_state, files)])
    found = prepared.read(known)
    ids = found.get("ids", {}) if found.get("of") == state else {}
    if mode not in ids:
        ids[mode] = _computed(files, mode)
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):  # another user's installation
                prepared.write(known, {"of": state, "ids": ids})
    return str(ids[mode])


def _llvm() -> str:
    """The file that stands for LLVM."""
    chosen = settings.LLVM.text()
    if chosen and not os.path.isfile(chosen):
        raise Ptx2amdError(f"PTX2AMD_LLVM: there is no file {chosen}")
    return chosen or str(llvmlite() / "_version.py")


def _computed(files: list[str], mode: str) -> str:
    import hashlib

    digest = hashlib.blake2b(f"{__version__} ".encode(), digest_size=16)
    with open(_llvm(), "rb", buffering=0) as opened:
        digest.update(opened.read(HEAD))
    for file in files:
        with open(file, "rb", buffering=0) as opened:
            digest.update(os.path.basename(file).encode() + b"\0" + opened.read())
    if mode != "0":
        digest.update(f"debug {mode}".encode())
    return digest.hexdigest()


def _state(file: str) -> str:
    """What changes when a file does. The last is set by the system alone: at every change, also of the file's name."""
    found = os.stat(file)
    return f"{file} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _files(path: str) -> Iterator[str]:
    """The files below a path that make up the translator, in a fixed order."""
    if not os.path.isdir(path):
        yield path
        return
    with os.scandir(path) as found:
        entries = sorted((entry.name, entry.is_dir(), entry.path) for entry in found)
    for name, folder, inner in entries:
        if folder:
            yield from _files(inner)
        elif name.endswith((".py", ".ll", ".lark", ".toml")):
            yield inner
