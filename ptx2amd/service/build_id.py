"""The translator's build id: a digest of everything that can change what it emits."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from ptx2amd import __version__, settings
from ptx2amd.errors import Ptx2amdError

PACKAGE = Path(__file__).resolve().parent.parent
PARTS = (
    "binary", "codegen", "compile.py", "fatbin", "interface", "isa", "lower", "middle", "modules.py", "plan", "ptx",
    "target", "translate.py", "service/entry.py", "service/translation.py")  # fmt: skip


def build_id(debug: str | None = None) -> str:
    """32 hex digits; changes with every change of the translator, its grammar or LLVM. For each value of PTX2AMD_DEBUG
    (debug; None: the environment's) it is another translator, with its own service and cache entries."""
    state = hashlib.blake2b(f"{__version__} ".encode() + _llvmlite(), digest_size=16)
    for part in PARTS:
        path = PACKAGE / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix in (".py", ".ll", ".lark", ".toml"):
                state.update(file.name.encode() + b"\0" + file.read_bytes())
    mode = settings.DEBUG.text() if debug is None else debug
    if mode != "0":
        state.update(f"debug {mode}".encode())
    return state.hexdigest()


def _llvmlite() -> bytes:
    """What tells one release of llvmlite from another. Read from its file: importing it, or importlib.metadata,
    would cost `ptx2amd run` more time than all else it does."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise Ptx2amdError("llvmlite is not installed: run `pip install ptx2amd` again")
    return (Path(spec.origin).parent / "_version.py").read_bytes()
