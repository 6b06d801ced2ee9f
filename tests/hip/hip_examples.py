"""Examples of ROCm/rocm-examples: those that are one source, for HIP, rocThrust, hipCUB, rocPRIM and rocRAND."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests import rocm
from tests.hip import hip_program

PACKAGES = ("librocrand1", "libhiprand1", "libhiprtc7")
#: What the programs may be linked with.
SHARED = ("librocrand.so.1", "libhiprand.so.1", "libhiprtc.so.7")
HEADERS = ("librocthrust-dev", "libhipcub-dev", "librocprim-dev", "librocrand-dev", "libhiprand-dev")
LIBRARIES = ("rocThrust", "hipCUB", "rocPRIM", "rocRAND")
FOLDERS = ("HIP-Basic", "Applications", *(f"Libraries/{name}" for name in LIBRARIES), "Tutorials/reduction/example")
#: Folders of headers in usr/include that the examples want.
LINKED = ("thrust", "hipcub", "rocprim", "rocrand", "hiprand")
#: Not of this kind: two languages, other GPUs' tools, graphics, files made at build time.
LEFT_OUT = {
    "HIP-Basic/opengl_interop": "graphics", "HIP-Basic/vulkan_interop": "graphics",
    "HIP-Basic/hello_world_cuda": "for nvcc",
    "HIP-Basic/assembly_to_executable": "several build steps",
    "HIP-Basic/llvm_ir_to_executable": "several build steps",
    "HIP-Basic/module_api": "a code object beside the program",
    "HIP-Basic/static_device_library": "several sources", "HIP-Basic/static_host_library": "several sources",
}  # fmt: skip


@dataclass(frozen=True)
class Example:
    name: str
    source: Path
    common: Path  # the folder of headers that all have
    words: tuple[str, ...] = ()


def found(checkout: Path) -> list[Example]:
    sources = sorted(path for folder in FOLDERS for path in (checkout / folder).rglob("*") if _is_source(path))
    made = [Example(_name(checkout, path), path, checkout / "Common") for path in sources]
    return [example for example in made if example.name not in LEFT_OUT]


def _is_source(path: Path) -> bool:
    return path.suffix in (".hip", ".cpp") and bool(re.search(r"\bint main\(", path.read_text(errors="replace")))


def _name(checkout: Path, path: Path) -> str:
    inside = path.relative_to(checkout)
    return str(inside.parent if path.stem == "main" else inside.with_suffix(""))


def built(example: Example, chip: str) -> Path:
    """The compiled program. Raises subprocess.CalledProcessError."""
    compiler = hip_program.Compiler(hip_program_release())
    include = rocm.fetch(hip_program_release(), *HEADERS, *PACKAGES).include
    links = rocm.CACHE / "hip-examples-include"
    links.mkdir(exist_ok=True)
    for name in LINKED:
        if not (links / name).is_symlink() and (include / name).exists():
            (links / name).symlink_to(include / name)
    reduction = example.source.parents[1] / "include"
    flags = [
        "-std=c++20",
        "-Wno-unused-result",
        f"-I{links}",
        f"-I{example.common}",
        *([f"-I{reduction}"] if reduction.is_dir() else []),
    ]
    return compiler.program(example.source, (chip,), *flags, libraries=SHARED)


def hip_program_release() -> str:
    return next(iter(hip_program.COMPILER))


def reason(error: subprocess.CalledProcessError) -> str:
    """The compiler's first error."""
    said = error.stderr or b""
    text = said if isinstance(said, str) else said.decode(errors="replace")
    line = next((line for line in text.splitlines() if "error" in line or "undefined" in line), "no word of why")
    return line.rpartition("error: ")[2][:120].replace("|", "/")


def why(output: str, status: int) -> str:
    """What an example that failed said last."""
    last = (output.strip().splitlines() or ["nothing"])[-1]
    return f"status {status}: {last[:120]}".replace("|", "/")
