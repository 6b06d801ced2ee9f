"""Assembly text -> object. LLVM as llvmlite packages it cannot assemble, which code with inline assembly
needs; the compiler in the wheel `ziglang` (or ROCm's, or any clang that knows the arch) does that part."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ptx2amd.errors import Ptx2amdError
from ptx2amd.target import Target

TRIPLE = "amdgcn-amd-amdhsa"


class AssembleError(Ptx2amdError):
    """No assembler, or it rejects what LLVM wrote."""


def zig() -> str | None:
    """The zig program of the wheel `ziglang` (called directly: its Python wrapper costs start-up time)."""
    spec = find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / "zig"
    return str(path) if path.exists() else None


@cache
def assembler() -> tuple[str, ...]:
    """The command of a clang for AMDGPU; PTX2AMD_CLANG names one. Raises AssembleError when there is none."""
    if explicit := os.environ.get("PTX2AMD_CLANG"):
        return (explicit,)
    if wheel := zig():
        return (wheel, "clang")
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "llvm/bin/clang"
    if rocm.exists():
        return (str(rocm),)
    for name in ("clang", *(f"clang-{version}" for version in range(24, 18, -1))):
        if found := shutil.which(name):
            return (found,)
    raise AssembleError("no AMDGPU assembler: install the Python package ziglang (pip install ziglang)")


def assemble(text: bytes, target: Target) -> bytes:
    """Assemble what LLVM wrote for `target`; returns the object file."""
    features = []
    if target.wave_size != target.arch.waves[0]:
        features = ["-target-feature", f"+wavefrontsize{target.wave_size}"]
    with tempfile.TemporaryDirectory(prefix="ptx2amd-") as directory:
        source, out = Path(directory) / "k.s", Path(directory) / "k.o"
        source.write_bytes(text)
        command = [*assembler(), "-cc1as", "-triple", TRIPLE, "-target-cpu", target.arch.name, *features]
        command += ["-filetype", "obj", str(source), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            first = done.stderr.strip().splitlines()[:4]
            raise AssembleError(f"the assembler failed: {' / '.join(first)}")
        return out.read_bytes()
