"""The environment in which an unmodified program finds our libcuda."""

from __future__ import annotations

import glob
import os
import random
import shlex
import shutil
import sys
from pathlib import Path

from ptx2amd import native, settings
from ptx2amd.errors import Ptx2amdError
from ptx2amd.libraries import choice, rocm
from ptx2amd.service import cache
from ptx2amd.service.build_id import build_id, current_build_id
from ptx2amd.service.folder import FolderError, open_folder
from ptx2amd.target import chips

quote = shlex.quote


def environment(
    device: str | None = None,
    trace: Path | None = None,
    mapping: str | None = None,
    program: str | None = None,
    libraries: str | None = None,
) -> dict[str, str]:
    """The variables to set, beyond the current environment.

    device: "hip", "vgpu", "vgpu:ARCH", "kfd" or "kfd:ARCH" (None: PTX2AMD_DEVICE, else the shim decides). trace: file
    for JSON-lines events. mapping: of all kernels (None: PTX2AMD_MAPPING, else chosen for each). program: what is to
    run (None: the python on the path). libraries: "rocm", "nvidia" or "auto" (None: PTX2AMD_LIBRARIES).
    Raises Ptx2amdError for an unknown device or when the native libraries are missing.
    """
    if not (native.DIRECTORY / "libcuda.so.1").exists():
        raise Ptx2amdError("the native libraries are not built: run `python -m ptx2amd.native`")
    changes = {
        "LD_LIBRARY_PATH": ":".join(
            [str(native.DIRECTORY), *filter(None, [os.environ.get("LD_LIBRARY_PATH")]), *wheel_libraries(program)]
        ),
        "PTX2AMD_PYTHON": sys.executable,
        "PTX2AMD_BUILD_ID": current_build_id(),
    }
    changes |= client_settings()
    if device is not None:
        _check(device)
        changes["PTX2AMD_DEVICE"] = device
    if (device or settings.DEVICE.text()).startswith("kfd"):
        changes["LD_PRELOAD"] = _prepend(str(native.DIRECTORY / "libptx2amd_kfd.so"), changes["LD_PRELOAD"])
        # hipIpcGetMemHandle gets an error; in its other mode ROCr ends the program where memory cannot be exported
        changes["HSA_ENABLE_IPC_MODE_LEGACY"] = "1"
    _serve(changes, libraries or settings.LIBRARIES.text(), device or settings.DEVICE.text(), program)
    if mapping is not None:
        changes["PTX2AMD_MAPPING"] = mapping
    for folder in (settings.CACHE_DIR, settings.RUNTIME_DIR):
        if given := folder.text():  # the program may go to another folder before it asks for the GPU
            changes[folder.variable] = os.path.abspath(given)
    if trace is not None:
        changes["PTX2AMD_TRACE"] = str(trace.absolute())
        for file in trace_files(trace):  # the processes of one run append to one file
            file.unlink(missing_ok=True)
    return changes


def _serve(changes: dict[str, str], mode: str, device: str, program: str | None) -> None:
    """Let ours over ROCm's libraries take the place of NVIDIA's where the choice is so, and let them find ROCm's."""
    choices = choice.choose(mode, device)
    asked = rocm.needed(Path(program)) if program else []
    for line in choice.remarks(choices, mode, device, asked):
        print(f"ptx2amd: {line}", file=sys.stderr)
    names = choice.served(choices, mode)
    if not names:
        return
    changes["PTX2AMD_SERVED"] = ":".join(names)
    found = dict.fromkeys(str(one.path.parent) for one in choices if one.path)
    changes["LD_LIBRARY_PATH"] = ":".join([changes["LD_LIBRARY_PATH"], *found])
    if "libnccl.so.2" in names and "HSA_NO_SCRATCH_RECLAIM" not in os.environ:
        changes["HSA_NO_SCRATCH_RECLAIM"] = "1"  # or RCCL refuses to start where the GPU's firmware is older
    if device.startswith("vgpu") or not (device or rocm.machine_chips()):  # ROCm's libraries get the software GPU, too
        changes["LD_AUDIT"] += f":{native.DIRECTORY / 'hip' / 'libptx2amd_hip_audit.so'}"


def hip_environment(device: str | None = None, trace: Path | None = None) -> dict[str, str]:
    """The variables with which a HIP program finds the software GPU: our libamdhip64 in the place of AMD's. device:
    "vgpu" or "vgpu:ARCH" (None: PTX2AMD_DEVICE, else vgpu). trace: file for JSON-lines events. Raises Ptx2amdError as
    `environment` does."""
    folder = native.DIRECTORY / "hip"
    if not (folder / "libamdhip64.so").exists():
        raise Ptx2amdError("the native libraries are not built: run `python -m ptx2amd.native`")
    device = device or settings.DEVICE.text() or "vgpu"
    _check(device)
    if device == "hip":
        raise Ptx2amdError("--hip is for the software GPU: a HIP program finds an AMD GPU without ptx2amd")
    if device.startswith("kfd"):
        raise Ptx2amdError(f"--hip replaces AMD's HIP library, which {device} needs: leave out one of the two")
    if trace is not None:
        trace.unlink(missing_ok=True)
    return {
        **({"PTX2AMD_HIP_TRACE": str(trace.absolute())} if trace else {}),
        "LD_LIBRARY_PATH": _prepend(str(folder), os.environ.get("LD_LIBRARY_PATH")),
        "LD_AUDIT": _prepend(str(folder / "libptx2amd_hip_audit.so"), os.environ.get("LD_AUDIT")),
        "PTX2AMD_DEVICE": device,
    }


def remark(program: str, hip: bool, device: str, trace: bool) -> str:
    """What a user may not expect of a program of this language; "": nothing."""
    languages = rocm.languages(Path(program))
    if hip and languages == {"cuda"}:
        return f"{program} is a CUDA program: --hip is for HIP programs"
    if hip or languages != {"hip"} or device == "hip":
        return ""
    if not device.startswith("kfd"):
        return f"{program} is a HIP program: --hip runs it on the software GPU"
    return "--trace has no calls of a HIP program on AMD's library (with --hip it has)" if trace else ""


def trace_files(trace: Path) -> list[Path]:
    """A trace, and beside it the last lines of processes that were killed (shim/src/core/trace.c)."""
    return [trace, *sorted(trace.parent.glob(f"{glob.escape(trace.name)}.*.rest"))]


def tools(
    debug: bool = False,
    memcheck: bool = False,
    racecheck: bool = False,
    profile: Path | None = None,
    weak: int | None = None,
) -> dict[str, str]:
    """The variables that switch on the software GPU's tools. memcheck and racecheck bring line tables, as debug
    does alone, and memcheck its own translation; profile: the prefix of the files that each process writes; weak: the
    seed of the weak-memory mode, 0: any."""
    changes: dict[str, str] = {}
    if debug or memcheck or racecheck or weak is not None:
        mode = "accesses" if memcheck else "1"
        changes |= {"PTX2AMD_DEBUG": mode, "PTX2AMD_BUILD_ID": build_id(mode)}
    elif settings.LLVM.text():  # another translator than that of the build
        changes["PTX2AMD_BUILD_ID"] = build_id()
    if memcheck:
        changes["PTX2AMD_MEMCHECK"] = "1"
    if racecheck:
        changes["PTX2AMD_RACECHECK"] = "1"
    if weak is not None:
        changes["PTX2AMD_WEAK"] = str(weak or random.randrange(1, 2**32))
    if profile is not None:
        changes["PTX2AMD_PROFILE"] = str(profile)
    return changes


def wheel_libraries(program: str | None) -> list[str]:
    """The folders of NVIDIA's wheels in the Python environment of a program: TensorFlow and CTranslate2 look for the
    libraries by name alone."""
    program = program or shutil.which("python") or sys.executable
    prefix = Path(program).absolute().parent.parent
    return sorted(map(str, prefix.glob("lib/python3*/site-packages/nvidia/*/lib")))


def client_settings() -> dict[str, str]:
    """Variables with which particular clients pass PTX, and find our libraries although they ignore LD_LIBRARY_PATH.
    Compilers' caches hold machine code, so they are separate from those of other drivers, if our cache has a safe
    folder; a cache that the user chose stays."""
    ptxas = str(native.DIRECTORY / "standin" / "ptxas")
    variables = {
        "LD_AUDIT": _prepend(str(native.DIRECTORY / "libptx2amd_audit.so"), os.environ.get("LD_AUDIT")),
        "LD_PRELOAD": _prepend(str(native.DIRECTORY / "libptx2amd_preload.so"), os.environ.get("LD_PRELOAD")),
        "CUPY_COMPILE_WITH_PTX": "1",
        "TRITON_PTXAS_PATH": ptxas,
        "TRITON_PTXAS_BLACKWELL_PATH": ptxas,
        "TRITON_LIBCUDA_PATH": str(native.DIRECTORY),
    }
    folders = {"CUPY_CACHE_DIR": "cupy", "TRITON_CACHE_DIR": "triton", "WARP_CACHE_PATH": "warp"}
    missing = {name: folder for name, folder in folders.items() if name not in os.environ}
    if missing:
        try:  # what clients keep there is run too
            root, handle = open_folder(cache.directory() / "clients", make="all")
        except FolderError:
            return variables
        os.close(handle)
        variables |= {name: str(root / folder) for name, folder in missing.items()}
    return variables


def _check(device: str) -> None:
    """Refuse devices that there are not. The software GPU can be several chips (gfx942,gfx1100), and those have
    features (gfx942:xnack-)."""
    kind, _, arch = device.partition(":")
    if kind not in ("hip", "vgpu", "kfd") or (kind == "hip" and arch):
        raise Ptx2amdError(
            f"unknown device '{device}': use hip, vgpu, vgpu:ARCH (vgpu:gfx942, vgpu:gfx1100), kfd or kfd:ARCH"
        )
    for chip in (name.partition(":")[0] for name in arch.split(",") if arch):
        if chip not in chips.devices():
            raise Ptx2amdError(f"there is no software GPU '{chip}'; there are {', '.join(chips.devices())}")


def _prepend(first: str, rest: str | None) -> str:
    return f"{first}:{rest}" if rest else first
