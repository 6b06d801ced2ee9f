"""Programs that others built for ROCm: Python packages of PyPI, and RCCL. rocm_programs.py runs them and counts."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ptx2amd import launch, native
from tests import rocm
from tests.hip import hip_program

HERE = Path(__file__).parent
CLIENTS_FOLDER = HERE.parent / "clients"
CACHE = rocm.CACHE / "rocm-clients"
RELEASE = "7.2"
MATH = ("libhipblas3", "librocblas5", "librocsolver0", "libhipfft0", "librocrand1", "libhiprtc7", "libamdhip64-7")
#: What the packages link and Debian lacks: soname: version node and functions that do nothing.
ABSENT = {
    "libroctracer64.so.4": ("ROCTRACER_4.0", ("roctracer_start", "roctracer_stop")),
    "libroctx64.so.4": ("ROCTX_4.1", ("roctxMarkA", "roctxRangePushA", "roctxRangePop")),
}
#: The same library by another soname.
RENAMED = {"librocm_smi64.so.1": "librocm_smi64.so.7"}


@dataclass(frozen=True)
class Client:
    """python: packages of PyPI; packages: Debian's; script: prints "ok   NAME" or "FAIL NAME: why" for each case.
    program: in usr/bin, which the script starts with the command in PROGRAM; its libraries are in these folders too."""

    script: Path
    packages: tuple[str, ...]
    python: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    gpus: int = 1
    ways: tuple[str, ...] = ("drop-in", "kfd")
    settings: dict[str, str] = field(default_factory=dict)
    release: str = RELEASE
    chip: str = ""  # other than that of all
    program: str = ""
    folders: tuple[str, ...] = ()


CLIENTS = {
    "RCCL 2.27.7 on two GPUs": Client(
        HERE / "rccl_ops.py", ("librccl1", "libamdhip64-7"), words=("2",), gpus=2,
        settings={"HSA_NO_SCRATCH_RECLAIM": "1", "NCCL_SOCKET_IFNAME": "lo"},
    ),
    "CuPy (cupy-rocm-7-0 14.2.0)": Client(
        CLIENTS_FOLDER / "cupy_ops.py",
        (*MATH, "librccl1", "libhiprand1", "libhipsparse4", "librocsparse1", "hipcc", "rocm-device-libs-22",
         "libamdhip64-dev", "librocthrust-dev", "libhipcub-dev", "librocprim-dev"),
        ("cupy-rocm-7-0==14.2.0", "numpy==2.4.6"),
    ),
    "ONNX Runtime (onnxruntime-rocm 1.22.2.post3)": Client(
        CLIENTS_FOLDER / "onnxruntime_ops.py", (*MATH, "libmiopen1", "librocm-smi64-7"),
        ("onnxruntime-rocm==1.22.2.post3", "onnx==1.19.1", "numpy==2.4.6"), ("ROCMExecutionProvider",),
        settings={"MIOPEN_DEBUG_GCN_ASM_KERNELS": "0"},  # Debian left their sources out
    ),
    "llama.cpp (Debian's libggml0-backend-hip 0.27.0 with ROCm 6.4, gfx1100)": Client(
        HERE / "llama_cpp_ops.py", ("llama.cpp-tools", "libggml0-backend-hip", "libamdhip64-6"),
        ("gguf==0.19.0", "numpy==2.4.6"), ("{libraries}",), release="6.4", chip="gfx1100",
        program="llama-completion", folders=("llama", "ggml", "ggml/backends0"),
    ),
}  # fmt: skip


#: Of the cases that fail.
WHY = {
    ("ONNX Runtime", "LSTM"): "its ROCm provider leaves it to the CPU",
    ("ONNX Runtime", "attention"): "its ROCm provider demands that operators are tuned, which is off",
}


def prepared(client: Client) -> tuple[rocm.Prefix, Path]:
    """The release's tree, and a folder with the client's Python packages and with what Debian lacks."""
    prefix = rocm.fetch(client.release, *client.packages)
    folder = CACHE / client.script.stem
    if client.python and not (done := folder / "installed").exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), *client.python]
        subprocess.run(pip, check=True, capture_output=True, text=True)
        done.touch()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (node, functions) in ABSENT.items():
        code, script = folder / "absent.c", folder / "absent.map"
        code.write_text("".join(f"int {function}(void) {{ return 0; }}\n" for function in functions))
        script.write_text(f"{node} {{ global: *; }};\n")
        link = ["-shared", "-fPIC", f"-Wl,-soname,{name},--version-script={script}"]
        subprocess.run(["gcc", *link, code, "-o", folder / name], check=True)
    for name, other in RENAMED.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(prefix.libraries / other)
    return prefix, folder


def compiler(prefix: rocm.Prefix, folder: Path, chip: str) -> None:
    """`hipcc`, which CuPy asks for the folders of headers."""
    llvm = prefix.root / "usr" / "lib" / f"llvm-{hip_program.LLVM[RELEASE]}"
    clang, resources = llvm / "bin" / "clang++", llvm / "lib" / "clang" / str(hip_program.LLVM[RELEASE])
    loader, *rest = prefix.command(
        clang, "-resource-dir", resources, f"--rocm-path={prefix.root / 'usr'}",
        f"--rocm-device-lib-path={resources / 'amdgcn' / 'bitcode'}", f"--offload-arch={chip}", "--cuda-device-only",
        f"--sysroot={prefix.root}",
    )  # fmt: skip
    program = folder / "hipcc"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([loader, "--argv0", str(clang), *rest])} "$@"\n')
    program.chmod(0o755)


def run(client: Client, way: str, chip: str, limit: float) -> subprocess.CompletedProcess[str]:
    """The client's script. Raises subprocess.TimeoutExpired."""
    prefix, folder = prepared(client)
    chip = client.chip or chip
    if client.release == RELEASE:
        compiler(prefix, folder, chip)
    ours = (native.DIRECTORY / "hip", native.DIRECTORY) if way == "drop-in" else ()
    words = [word.format(libraries=prefix.libraries) for word in client.words]
    loader, *rest = prefix.command(sys.executable, client.script, *words, before=(*ours, folder))
    folders = [prefix.libraries / name for name in client.folders]
    program = prefix.command(prefix.root / "usr" / "bin" / client.program, before=(*ours, *folders))
    root, python = str(prefix.root / "usr"), [folder, CLIENTS_FOLDER, *filter(None, sys.path)]
    variables = {
        **os.environ, **client.settings, "ROCM_HOME": root, "ROCM_PATH": root, "HIP_PATH": root, "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(map(str, python)), "PATH": f"{folder}:{os.environ['PATH']}",
        "PROGRAM": shlex.join(program),
    }  # fmt: skip
    if way == "drop-in":
        variables |= {**launch.hip_environment(f"vgpu:{chip}"), "PTX2AMD_VGPU_COUNT": str(client.gpus)}
    else:
        variables |= {"LD_PRELOAD": str(native.DIRECTORY / "libptx2amd_kfd.so")}
        variables |= {"PTX2AMD_DEVICE": "kfd:" + ",".join([chip] * client.gpus)}
    command = [loader, "--argv0", sys.executable, *rest]
    return subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace", timeout=limit)
