"""The clients that need downloads: what to install into a virtual environment of their own, what to run there under
`ptx2amd run`, and how to count. `python tests/clients/suites.py [NAME...]` runs them and writes the counts to
docs/support/clients.json and the page docs/support/clients.md; tests/clients/test_suites.py compares."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import debian

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENVS = ROOT / "build" / "clients"
COUNTS = ROOT / "docs" / "support" / "clients.json"
# Newer than NVIDIA's libraries: they take their PTX.
NEWER = {"PTX2AMD_COMPUTE_CAPABILITY": "13.0"}
# What Debian's PyTorch depends on, but does not load: compilers, graphics, the driver, tools.
NOT_LOADED = (
    "nvidia-", "libcuda1_", "libnvidia-", "libamd", "libhsa-", "libllvm", "libcupti", "libnpp", "libnvvm",
    "libcusolvermg", "libaccinj", "libcuinj", "perl", "libperl", "binutils", "gcc-1", "g++", "cpp-", "debconf", "dpkg_",
    "glx-", "update-glx", "passwd", "adduser", "libpam", "login", "tzdata",
)  # fmt: skip
NUMBA = "test_array test_atomics test_reduction test_sync test_intrinsics test_math test_sm test_warp_ops"


@dataclass(frozen=True)
class Suite:
    """requirements: for pip. arguments: of the environment's python. environment: beyond what `ptx2amd run` sets;
    {site} is the folder of the environment's packages. debian: packages of Debian 13, whose Python runs then."""

    requirements: tuple[str, ...]
    arguments: tuple[str, ...]
    needs: str  # of the client, for the page
    environment: dict[str, str] = field(default_factory=dict)
    no_dependencies: bool = False
    debian: tuple[str, ...] = ()
    shown: str = ""  # what the page says instead of the first requirement


SUITES = {
    "FFmpeg": Suite(
        ("imageio-ffmpeg==0.8.1",), (str(HERE / "ffmpeg_ops.py"),), "PTX in the program; textures",
    ),
    "CuPy": Suite(
        ("cupy-cuda12x==14.2.0", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12", "numpy", "fastrlock",
         "cuda-pathfinder"),
        (str(HERE / "cupy_ops.py"),), "NVRTC; cub and thrust kernels of the wheel", no_dependencies=True,
    ),
    "Triton": Suite(("triton==3.9.0", "numpy"), (str(HERE / "triton_ops.py"),), "our ptxas stand-in"),
    "Triton sm_90": Suite(
        ("triton==3.9.0", "numpy"), (str(HERE / "triton_tensors.py"),), "our ptxas stand-in; tensor copies, wgmma",
        {"PTX2AMD_COMPUTE_CAPABILITY": "9.0"},
    ),
    "Warp": Suite(("warp-lang==1.19.0", "numpy"), (str(HERE / "warp_ops.py"),), "NVRTC in the wheel"),
    "XGBoost": Suite(
        ("xgboost==3.2.0", "numpy", "scipy"), (str(HERE / "xgboost_ops.py"),), "kernels of the wheel",
        no_dependencies=True,
    ),
    "CatBoost": Suite(
        ("catboost==1.2.10", "numpy"), (str(HERE / "catboost_ops.py"),), "kernels of the wheel",
    ),
    "Taichi": Suite(("taichi==1.7.4", "numpy"), (str(HERE / "taichi_ops.py"),), "PTX by its own LLVM"),
    "IREE": Suite(
        ("iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0", "numpy"), (str(HERE / "iree_ops.py"),),
        "PTX by its own LLVM",
    ),
    "Blender": Suite(("bpy==5.0.1",), (str(HERE / "blender_ops.py"),), "PTX in the wheel; textures"),
    "PyTorch": Suite(
        ("nvidia-cudnn-cu12==9.1.0.70",), (str(HERE / "torch_ops.py"),),
        "kernels of Debian's build; cuBLAS, cuSOLVER, cuDNN, NVRTC", NEWER, True,
        ("python3-torch-cuda", "libtorch-cuda-dev", "python3-numpy"), "python3-torch-cuda of Debian 13",
    ),
    "torch.compile": Suite(
        ("torch==2.9.1", "numpy"), (str(HERE / "torch_compile_ops.py"),),
        "our ptxas stand-in (eager: machine code only)",
    ),
    "bitsandbytes": Suite(
        ("bitsandbytes==0.50.2", "torch==2.9.1", "numpy"), (str(HERE / "bitsandbytes_ops.py"),),
        "kernels of the wheel, linked; cuBLAS", NEWER,
    ),
    "TensorFlow": Suite(
        ("tensorflow[and-cuda]==2.21.0",), (str(HERE / "tensorflow_ops.py"),),
        "kernels of the wheel; our ptxas stand-in; cuBLAS, cuSOLVER, cuDNN",
        {**NEWER, "LD_LIBRARY_PATH": "{site}/nvidia/cusolver/lib:{site}/nvidia/nvjitlink/lib"},
    ),
    "OpenMM": Suite(
        ("openmm==8.6.1", "OpenMM-CUDA-12==8.6.1", "numpy"), (str(HERE / "openmm_ops.py"),), "NVRTC; cuFFT for PME",
    ),
    "JAX": Suite(
        ("jax[cuda12]==0.10.2",), (str(HERE / "jax_ops.py"),), "our ptxas stand-in; cuBLAS, cuSOLVER, cuDNN, cuFFT",
        NEWER,
    ),
    "cuFFT": Suite(
        ("nvidia-cufft-cu12==11.4.1.4", "nvidia-cuda-runtime-cu12==12.9.79", "numpy"), (str(HERE / "cufft_ops.py"),),
        "kernels of the library", NEWER, True,
    ),
    "hashcat": Suite(
        ("hashcat==25.8.10", "nvidia-cuda-nvrtc-cu12"), (str(HERE / "hashcat_ops.py"), str(VENVS / "hashcat" / "work")),
        "NVRTC; cuLink",
    ),
    "cuda.core": Suite(
        ("cuda-core==1.2.2", "cuda-python==13.0.3", "nvidia-cuda-nvrtc==13.0.*", "nvidia-nvjitlink==13.0.*", "numpy"),
        (str(HERE / "cuda_core_ops.py"),), "NVRTC, nvJitLink; driver and runtime through cuda.bindings",
    ),
    "GCC OpenMP": Suite(
        (), (str(HERE / "gcc_openmp_ops.py"), str(VENVS / "gcc openmp" / "debian")), "PTX by GCC; linking by cuLink",
        shown="gcc-12-offload-nvptx of Debian 12",
    ),
    "PyQrack": Suite(
        ("pyqrack-cuda==1.27.0", "packaging", "numpy"), (str(HERE / "pyqrack_ops.py"),), "kernels of the wheel",
        {"QRACK_MAX_ALLOC_MB": "4096"},
    ),
    "faiss": Suite(
        ("faiss-gpu==1.15.1", "numpy"), (str(HERE / "faiss_ops.py"),),
        "kernels of the wheel; matrix products are the host's, as cuBLAS's are machine code",
    ),
    "CUDA toolkit": Suite(
        ("nvidia-curand==10.4.0.35", "nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
         "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85"),
        (str(HERE / "toolkit_programs.py"), str(VENVS / "cuda toolkit")),
        "nvcc: our programs on the runtime API, Thrust, CUB, cuRAND's device generators",
    ),
    "numba-cuda": Suite(
        ("numba-cuda==0.30.4", "numba==0.68.1", "pytest", "psutil", "cffi", "filecheck", "nvidia-cuda-nvrtc",
         "nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-cccl", "nvidia-cuda-runtime"),
        ("-m", "numba.runtests", "-v", *(f"numba.cuda.tests.cudapy.{name}" for name in NUMBA.split())),
        "NVVM, NVRTC; linking by cuLink", {"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"},
    ),
}  # fmt: skip


def python(name: str) -> Path:
    """The interpreter of the client's environment, made at first use."""
    suite, venv = SUITES[name], VENVS / name.lower()
    if not (venv / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        options = ["--no-deps"] if suite.no_dependencies else []
        if suite.requirements:
            subprocess.run([str(venv / "bin" / "pip"), "install", "-q", *options, *suite.requirements], check=True)
        (venv / "ready").touch()
    if suite.debian:
        return debian.python(venv / "debian", suite.debian, NOT_LOADED, sorted(site(venv).glob("nvidia/*/lib")))
    return venv / "bin" / "python"


def site(venv: Path) -> Path:
    return next(venv.glob("lib/python3*/site-packages"))


def count(text: str) -> dict[str, int]:
    """Passed, failed and skipped cases: of our scripts ("ok   name"), or of unittest's verbose output."""
    ran = re.search(r"^Ran (\d+) tests", text, re.M)
    if ran:
        skipped = len(re.findall(r"\.\.\. skipped", text))
        failed = len(re.findall(r"^(?:FAIL|ERROR): ", text, re.M))
        return {"passed": int(ran[1]) - skipped - failed, "failed": failed, "skipped": skipped}
    passed, failed = (len(re.findall(rf"^{word}\b", text, re.M)) for word in ("ok", "FAIL"))
    return {"passed": passed, "failed": failed, "skipped": 0}


def run(name: str, device: str = "vgpu:gfx942", timeout: float = 3600) -> tuple[dict[str, int], str]:
    """The counts of one run, and its output."""
    suite = SUITES[name]
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", device, "--"]
    command += [str(python(name)), *suite.arguments]
    packages = str(site(VENVS / name.lower()))
    environment = {key: value.replace("{site}", packages) for key, value in suite.environment.items()}
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=timeout, cwd=VENVS
    )
    return count(done.stdout + done.stderr), done.stdout + done.stderr


def page(counts: dict[str, dict[str, int]]) -> str:
    lines = [
        "# Clients",
        "",
        "Unmodified programs from PyPI and Debian on the software GPU (gfx942), under `ptx2amd run`, without further",
        "settings unless named. Written by `python tests/clients/suites.py`; the slow tests check that the counts only",
        "go up.",
        "tinygrad (21 operations) and DrJit (13) are part of the fast tests.",
        "",
        "| client | version | passed | failed | skipped | takes its kernels from | settings |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for name, suite in SUITES.items():
        if name in counts:
            c, shown = counts[name], suite.shown or suite.requirements[0].replace("==", " ")
            settings = " ".join(f"`{k}={v.replace('{site}/', '')}`" for k, v in suite.environment.items())
            lines.append(
                f"| {name} | {shown} | {c['passed']} | {c['failed']} | {c['skipped']} | {suite.needs} | {settings} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    VENVS.mkdir(parents=True, exist_ok=True)
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    for name in sys.argv[1:] or SUITES:
        counts[name], output = run(name)
        (VENVS / f"{name.lower()}.log").write_text(output)
        print(name, counts[name], flush=True)
    COUNTS.write_text(json.dumps(counts, indent=1) + "\n")
    COUNTS.with_suffix(".md").write_text(page(counts))


if __name__ == "__main__":
    main()
