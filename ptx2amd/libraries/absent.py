"""NVIDIA's libraries that a program or the files of an environment need and that the loader will not find."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ptx2amd import environment
from ptx2amd.libraries import rocm
from ptx2amd.records import dataclass
from ptx2amd.regex import regex

_SAME = {"11": 11, "12": 12, "13": 13}
_CUFFT = {"10": 11, "11": 12, "12": 13}
_CUSOLVER = {"11": 12, "12": 13}
_CUDNN = {"9": 12}
#: For the stem of a soname: the PyPI package without "nvidia-", and CUDA's version for the soname's. Where several
#: versions of CUDA have the soname, one of them.
_PACKAGES = {
    "cublas": ("cublas", _SAME),
    "cublasLt": ("cublas", _SAME),
    "cudart": ("cuda-runtime", _SAME),
    "cudnn": ("cudnn", _CUDNN),
    "cufft": ("cufft", _CUFFT),
    "cufftw": ("cufft", _CUFFT),
    "cupti": ("cuda-cupti", _SAME),
    "curand": ("curand", {"10": 12}),
    "cusolver": ("cusolver", _CUSOLVER),
    "cusolverMg": ("cusolver", _CUSOLVER),
    "cusparse": ("cusparse", {"11": 11, "12": 12}),
    "nccl": ("nccl", {"2": 12}),
    "npp": ("npp", _SAME),
    "nvJitLink": ("nvjitlink", _SAME),
    "nvjpeg": ("nvjpeg", _SAME),
    "nvrtc": ("cuda-nvrtc", _SAME),
}
_SONAME = regex(r"lib([A-Za-z]+)(?:_[a-z_]+)?\.so\.(\d+)(?:\.\d+)*")
_CACHED = regex(r"^\s*(\S+) \(libc6,x86-64", re.M)


def package(soname: str) -> str | None:
    """The PyPI package with this library of NVIDIA's; "": none is known for this version; None: not NVIDIA's."""
    match = _SONAME.fullmatch(soname)
    stem = "npp" if match and match[1].startswith("npp") else match[1] if match else ""
    if not match or stem not in _PACKAGES:
        return None
    name, versions = _PACKAGES[stem]
    cuda = versions.get(match[2])
    return "" if cuda is None else f"nvidia-{name}" + (f"-cu{cuda}" if cuda < 13 else "")


@dataclass(frozen=True, slots=True)
class Absent:
    """files: those that need it, as paths in an environment. package: as from the function of that name."""

    soname: str
    files: list[str]
    package: str


def absent(path: Path, served: Collection[str]) -> Iterator[Absent]:
    """The libraries that nothing provides. path: a program, or the folder of an environment, in which a library counts
    as found wherever it is, because packages load it from there themselves. served: sonames that our wrappers serve."""
    files = [path] if path.is_file() else environment.libraries(path)
    there = {file.name for file in files} | set(served)
    wanted: dict[str, list[Path]] = {}
    for file in files:
        for soname in rocm.needed(file):
            if soname not in there and package(soname) is not None:
                wanted.setdefault(soname, []).append(file)
    found = _loader() if wanted else None
    for soname, by in sorted(wanted.items()):
        missing = [file for file in by if not (found and found(soname)) and not _beside(file, soname)]
        if missing:
            names = [str(file.relative_to(path)) if path != file else file.name for file in missing]
            yield Absent(soname, names, package(soname) or "")


def _beside(file: Path, soname: str) -> bool:
    """Whether the library is in a folder that the file itself names (DT_RUNPATH or DT_RPATH)."""
    folders = (folder.replace("${ORIGIN}", "$ORIGIN") for folder in rocm.runpath(file))
    origin = str(file.resolve().parent)
    return any(Path(folder.replace("$ORIGIN", origin), soname).exists() for folder in folders)


def _loader() -> Callable[[str], bool]:
    """Whether the loader finds a library on this machine: in its cache, LD_LIBRARY_PATH or its own folders."""
    try:
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    except OSError:
        listed = ""
    cached, folders = set(_CACHED.findall(listed)), list(rocm.folders())
    return lambda soname: soname in cached or any((folder / soname).exists() for folder in folders)
