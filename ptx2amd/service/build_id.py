"""The translator's build id: a digest of everything that can change what it emits."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ptx2amd import __version__, settings
from ptx2amd.installed import llvmlite

PACKAGE = Path(__file__).resolve().parent.parent
PARTS = (
    "binary", "codegen", "compile.py", "fatbin", "installed.py", "interface", "isa", "lower", "middle", "modules.py",
    "plan", "prepared.py", "ptx", "records.py", "regex.py", "target", "translate.py", "service/build_id.py",
    "service/entry.py", "service/translation.py")  # fmt: skip


@cache
def current_build_id() -> str:
    """The translator's build id of this tree, in this process."""
    return build_id()


def build_id(debug: str | None = None) -> str:
    """32 hex digits; changes with every change of the translator, its grammar or LLVM. For each value of PTX2AMD_DEBUG
    (debug; None: the environment's) it is another translator, with its own service and cache entries."""
    release = (llvmlite() / "_version.py").read_bytes()
    state = hashlib.blake2b(f"{__version__} ".encode() + release, digest_size=16)
    for part in PARTS:
        for file in _files(str(PACKAGE / part)):
            with open(file, "rb", buffering=0) as opened:
                state.update(os.path.basename(file).encode() + b"\0" + opened.read())
    mode = settings.DEBUG.text() if debug is None else debug
    if mode != "0":
        state.update(f"debug {mode}".encode())
    return state.hexdigest()


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
