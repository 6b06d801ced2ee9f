"""Code objects of the benchmark's kernels: from CUDA by nvcc and ptx2amd, from HIP by clang."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from ptx2amd.compat import toolkit
from ptx2amd.plan.kernel import FEW
from ptx2amd.translate import Result, parse, translate
from tests import rocm
from tests.hip import hip_program

HERE = Path(__file__).resolve().parent
SOURCES = sorted(HERE.glob("*.cu"))
RELEASE = "7.2"


def _kept(name: str, how: str, make: Callable[[Path], None]) -> Path:
    """A file made from the sources, which is kept until these or the way in which it is made change."""
    texts = [how, *(path.read_text() for path in (HERE / "both.h", *SOURCES))]
    key = hashlib.blake2b("".join(texts).encode()).hexdigest()[:16]
    folder = rocm.CACHE / "quality" / key
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        whole = folder / "all.cu"  # the headers are most of the compilers' work
        whole.write_text("".join(f'#include "{source}"\n' for source in SOURCES))
        make(whole)
    return path


def ptx() -> str:
    """All kernels compiled by nvcc."""
    tools = toolkit.find()
    options = ["-ptx", "-O3", "-arch=compute_80", f"-I{HERE}"]

    def make(whole: Path) -> None:
        command = [tools.nvcc, *tools.flags, *options, str(whole), "-o", str(whole.with_name("all.ptx"))]
        subprocess.run(command, check=True)

    version = subprocess.run([tools.nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    return _kept("all.ptx", f"{version}{options}", make).read_text()


def hip(arch: str) -> Path:
    """All kernels compiled by the clang of ROCm, as hipcc does it. Raises OSError or CalledProcessError where that
    cannot be had."""
    rocm.fetch(RELEASE, *hip_program.COMPILER[RELEASE])
    compiler = hip_program.Compiler(RELEASE)

    def make(whole: Path) -> None:
        assembly, unit = (whole.with_name(f"{arch}.{end}") for end in ("s", "o"))
        options = (f"--offload-arch={arch}", "--cuda-device-only", "-O3", f"-I{HERE}", "-Wno-unused-value")
        compiler.clang(whole.parent, *options, "-S", whole, "-o", assembly)
        compiler.tool("clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", assembly, "-o", unit)
        compiler.tool("ld.lld", "-shared", "-m", "elf64_amdgpu", unit, "-o", whole.with_name(f"{arch}.hsaco"))

    return _kept(f"{arch}.hsaco", f"{RELEASE} {rocm.RELEASES[RELEASE].pinned}", make)


def ours(text: str, archs: Iterable[str], kernels: Iterable[str], matrix: str = "") -> dict[tuple[str, str], Result]:
    """(arch, kernel) -> its translation alone, as the run time has it made. matrix: what PTX2AMD_MATRIX says."""
    module = parse(text, "quality.ptx")
    names = list(archs)
    return {
        (result.arch, kernel): result
        for kernel in kernels
        for result in translate(module, "quality.ptx", names, [kernel], mode="module", matrix=matrix, grid=FEW)
    }
