"""The clients that need downloads: what to install into a virtual environment of their own, what to run there under
`ptx2amd run`, and how to count. `python -m tests.clients.suites [--arch ARCH] [NAME...]` runs them and writes the
counts to docs/support/clients.json and the page docs/support/clients.md; tests/clients/test_suites.py compares."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ptx2amd import native
from tests import ROOT, debian
from tests.clients import own_tests

HERE = Path(__file__).resolve().parent
VENVS = ROOT / "build" / "clients"
COUNTS = ROOT / "docs" / "support" / "clients.json"
ARCHS = ("gfx942", "gfx1100")
FURTHER = ("gfx90a", "gfx1030")  # for the compatibility suite only
Counts = dict[str, dict[str, dict[str, int]]]  # client, arch, what became of cases
# What Debian's PyTorch depends on, but does not load: compilers, graphics, the driver, tools.
NOT_LOADED = (
    "nvidia-", "libcuda1_", "libnvidia-", "libamd", "libhsa-", "libllvm", "libcupti", "libnpp", "libnvvm",
    "libcusolvermg", "libaccinj", "libcuinj", "perl", "libperl", "binutils", "gcc-1", "g++", "cpp-", "debconf", "dpkg_",
    "glx-", "update-glx", "passwd", "adduser", "libpam", "login", "tzdata",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A source package, where its own tests are: what for pip, and for its build variables ({site} as below, {native}
    our libraries) and files. compiled: in its environment; else its wheel is among the requirements."""

    requirement: str
    environment: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    compiled: bool = True


@dataclass(frozen=True)
class Suite:
    """requirements: for pip. arguments: of the environment's python; {source} is the folder of the unpacked source.
    environment: beyond what `ptx2amd run` sets; {site} is the folder of the environment's packages. debian: packages of
    Debian 13, whose Python runs then."""

    requirements: tuple[str, ...]
    arguments: tuple[str, ...]
    needs: str  # of the client, for the page
    environment: dict[str, str] = field(default_factory=dict)
    no_dependencies: bool = False
    debian: tuple[str, ...] = ()
    shown: str = ""  # what the page says instead of the first requirement
    source: Source | None = None
    timeout: float = 3600


SUITES = {
    "FFmpeg": Suite(
        ("imageio-ffmpeg==0.8.1",), (str(HERE / "ffmpeg_ops.py"),), "PTX in the program; textures",
    ),
    "CuPy": Suite(
        ("cupy-cuda12x==14.2.0", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12", "numpy", "fastrlock",
         "cuda-pathfinder"),
        (str(HERE / "cupy_ops.py"),), "NVRTC; cub and thrust kernels of the wheel", no_dependencies=True,
    ),
    "cupy_tests": Suite(
        ("cupy-cuda13x==14.2.0", "numpy", "pytest", "Cython<3.3", "setuptools>=77", "wheel",
         "nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
         "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85", "nvidia-cuda-nvrtc==13.0.*",
         "nvidia-nvjitlink==13.0.*", "nvidia-curand==10.4.0.35", "nvidia-cublas==13.0.*",
         "nvidia-cusolver==12.0.*", "nvidia-cusparse==12.6.*"),
        ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not multi_gpu", *own_tests.CUPY),
        "NVRTC; nvcc; cuBLAS, cuSOLVER (failures: launches from kernels; NVRTC 13's messages about them without -dc)",
        {"CUDA_PATH": "{site}/nvidia/cu13", "CUPY_TEST_GPU_LIMIT": "1"},
        shown="cupy-cuda13x 14.2.0, its core tests",
        source=Source("cupy==14.2.0", {"READTHEDOCS": "True"}, compiled=False),
    ),
    "Triton": Suite(("triton==3.9.0", "numpy"), (str(HERE / "triton_ops.py"),), "our ptxas stand-in"),
    "Triton sm_90": Suite(
        ("triton==3.9.0", "numpy"), (str(HERE / "triton_tensors.py"),), "our ptxas stand-in; tensor copies, wgmma",
        {"PTX2AMD_COMPUTE_CAPABILITY": "9.0"},
    ),
    "Warp": Suite(("warp-lang==1.19.0", "numpy"), (str(HERE / "warp_ops.py"),), "NVRTC in the wheel"),
    "warp.tests": Suite(
        ("warp-lang==1.19.0", "numpy"), ("-m", "unittest", "-v", "-k", "_cuda", *own_tests.WARP),
        "NVRTC in the wheel (failures: requests machine code; an inverse that needs ptxas's fused a*b - c*d)",
    ),
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
        "kernels of Debian's build; cuBLAS, cuSOLVER, cuDNN, cuFFT, NVRTC", no_dependencies=True,
        debian=("python3-torch-cuda", "libtorch-cuda-dev", "python3-numpy"), shown="python3-torch-cuda of Debian 13",
    ),
    "torch.compile": Suite(
        ("torch==2.9.1", "numpy"), (str(HERE / "torch_compile_ops.py"),),
        "our ptxas stand-in (eager: machine code only)",
    ),
    "bitsandbytes": Suite(
        ("bitsandbytes==0.50.2", "torch==2.9.1", "numpy"), (str(HERE / "bitsandbytes_ops.py"),),
        "kernels of the wheel, linked; cuBLAS",
    ),
    "TensorFlow": Suite(
        ("tensorflow[and-cuda]==2.21.0",), (str(HERE / "tensorflow_ops.py"),),
        "kernels of the wheel; our ptxas stand-in; cuBLAS, cuSOLVER, cuDNN, cuFFT",
    ),
    "OpenMM": Suite(
        ("openmm==8.6.1", "OpenMM-CUDA-12==8.6.1", "numpy"), (str(HERE / "openmm_ops.py"),), "NVRTC; cuFFT for PME",
    ),
    "JAX": Suite(
        ("jax[cuda12]==0.10.2",), (str(HERE / "jax_ops.py"),), "our ptxas stand-in; cuBLAS, cuSOLVER, cuDNN, cuFFT",
    ),
    "cuFFT": Suite(
        ("nvidia-cufft-cu12==11.4.1.4", "nvidia-cuda-runtime-cu12==12.9.79", "numpy"), (str(HERE / "cufft_ops.py"),),
        "kernels of the library", no_dependencies=True,
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
        (), (str(HERE / "gcc_openmp_ops.py"), str(VENVS / "gcc openmp" / "debian")),
        "PTX by GCC, linked with its run-time library by cuLink",
        shown="gcc-12-offload-nvptx of Debian 12",
    ),
    "PyQrack": Suite(
        ("pyqrack-cuda==1.27.0", "packaging", "numpy"), (str(HERE / "pyqrack_ops.py"),), "kernels of the wheel",
        {"QRACK_MAX_ALLOC_MB": "4096"},
    ),
    "faiss": Suite(
        ("faiss-gpu==1.15.1", "numpy"), (str(HERE / "faiss_ops.py"),),
        "kernels of the wheel; cuBLAS",
    ),
    "ONNX Runtime": Suite(
        ("onnxruntime-gpu[cuda,cudnn]==1.24.4", "onnx==1.23.2", "numpy"), (str(HERE / "onnxruntime_ops.py"),),
        "kernels of the wheel; cuBLAS, cuDNN",
    ),
    "llama.cpp": Suite(
        ("gpt4all[cuda]==2.8.2", "gguf==0.19.0", "numpy"),
        (str(HERE / "llama_ops.py"), str(VENVS / "llama.cpp" / "models")),
        "kernels of the wheel; cuBLAS", shown="gpt4all 2.8.2",
    ),
    "ctransformers": Suite(
        ("ctransformers==0.2.27", "gguf==0.19.0", "numpy", "nvidia-cublas-cu12==12.9.*",
         "nvidia-cuda-runtime-cu12==12.9.79"),
        (str(HERE / "ctransformers_ops.py"), str(VENVS / "ctransformers" / "models")), "kernels of the wheel; cuBLAS",
    ),
    "MLX": Suite(
        ("mlx[cuda12]==0.32.4", "numpy", "nvidia-cuda-runtime-cu12==12.9.79"), (str(HERE / "mlx_ops.py"),),
        "kernels of the wheel; NVRTC; cuBLASLt, cuDNN", {"CUDA_HOME": "{site}/nvidia/cuda_runtime"},
    ),
    "CTranslate2": Suite(
        ("ctranslate2==4.8.5", "numpy", "nvidia-cublas-cu12==12.9.*"),
        (str(HERE / "ctranslate2_ops.py"), str(VENVS / "ctranslate2" / "model")),
        "kernels of the wheel; cuBLAS (products of bytes from 128 terms on)",
    ),
    "Qiskit Aer": Suite(
        ("qiskit-aer-gpu==0.18.2", "qiskit==2.6.2", "numpy"), (str(HERE / "qiskit_ops.py"),),
        "kernels of the wheel; cuStateVec",
    ),
    "StringZillas": Suite(
        ("stringzillas-cuda==5.3.2", "numpy"), (str(HERE / "stringzillas_ops.py"),), "kernels of the wheel",
    ),
    "Snap ML": Suite(("snapml==1.17.2", "numpy"), (str(HERE / "snapml_ops.py"),), "kernels of the wheel"),
    "ASTRA": Suite(
        ("astra-toolbox==2.5.0",), (str(HERE / "astra_ops.py"),), "kernels of the wheel; textures; cuFFT",
    ),
    "ThunderGBM": Suite(
        ("thundergbm==0.3.17", "numpy", "scikit-learn", "nvidia-cusparse-cu11==11.7.5.86"),
        (str(HERE / "thundergbm_ops.py"),), "kernels of the wheel; cuSPARSE",
    ),
    "Halide": Suite(("halide==21.0.0", "numpy"), (str(HERE / "halide_ops.py"),), "PTX by its own LLVM"),
    "Quadrants": Suite(("quadrants==1.3.3", "numpy"), (str(HERE / "quadrants_ops.py"),), "PTX by its own LLVM"),
    "COLMAP": Suite(
        ("pycolmap-cuda12==4.2.1", "numpy", "nvidia-cuda-runtime-cu12==12.9.79", "nvidia-curand-cu12==10.3.10.19"),
        (str(HERE / "pycolmap_ops.py"),), "kernels of the wheel", no_dependencies=True,
    ),
    "cupoch": Suite(("cupoch==0.2.11.0", "numpy"), (str(HERE / "cupoch_ops.py"),), "kernels of the wheel"),
    "DALI": Suite(("nvidia-dali-cuda120==2.4.0", "numpy"), (str(HERE / "dali_ops.py"),), "kernels of the wheel"),
    "nvImageCodec": Suite(
        ("nvidia-nvimgcodec-cu12==0.9.0.20", "nvidia-nvjpeg-cu12==12.4.0.76", "nvidia-nvjpeg2k-cu12==0.11.0.51",
         "nvidia-nvtiff-cu12==0.8.0.82", "nvidia-cuda-runtime-cu12==12.9.79", "pillow", "numpy"),
        (str(HERE / "nvimagecodec_ops.py"),), "kernels of nvJPEG, nvJPEG2000, nvTIFF",
        shown="nvidia-nvimgcodec-cu12 0.9.0.20",
    ),
    "PhysX": Suite(
        ("ovphysx==0.7.0.74035321", "physx-usd-schemas", "newton-usd-schemas", "numpy"), (str(HERE / "physx_ops.py"),),
        "kernels of the wheel",
    ),
    "MAGMA": Suite(
        (), (str(HERE / "magma_ops.py"), str(VENVS / "magma" / "debian")),
        "kernels of Debian's build; cuBLAS, cuSPARSE",
        debian=("libmagma-test", "python3-minimal"), shown="libmagma2 2.9.0 of Debian 13",
    ),
    "PennyLane": Suite(
        ("pennylane-lightning-gpu==0.45.0", "pennylane==0.45.0"), (str(HERE / "pennylane_ops.py"),),
        "kernels of the wheel; cuStateVec, cuSPARSE", shown="pennylane-lightning-gpu 0.45.0",
    ),
    "implicit": Suite(
        ("implicit==0.7.3", "rmm-cu13==26.4.0", "nvidia-cublas==13.1.0.3", "nvidia-curand==10.4.0.35",
         "nvidia-cuda-runtime==13.0.96"),
        (str(HERE / "implicit_ops.py"),), "kernels of the wheel; cuBLAS, cuRAND",
        {"LD_LIBRARY_PATH": "{site}/nvidia/cu13/lib"},
    ),
    "cuML": Suite(
        ("cuml-cu12==26.10.0",), (str(HERE / "cuml_ops.py"),),
        "kernels of the wheel; cuBLAS, cuSOLVER, cuSPARSE; nvJitLink",
    ),
    "cuGraph": Suite(
        ("pylibcugraph-cu12==26.10.0", "scipy", "networkx"), (str(HERE / "cugraph_ops.py"),),
        "kernels of the wheel; cuSOLVER, cuSPARSE; nvJitLink",
    ),
    "cuDF": Suite(("cudf-cu12==26.10.0",), (str(HERE / "cudf_ops.py"),), "kernels of the wheel; nvJitLink"),
    "CV-CUDA": Suite(
        ("cvcuda-cu12==0.16.0", "numpy", "scipy"), (str(HERE / "cvcuda_ops.py"),), "kernels of the wheel",
    ),
    "vLLM": Suite(
        ("vllm==0.4.3", "torch==2.3.0", "numpy<2", "typing_extensions", "filelock", "sympy", "mpmath", "networkx",
         "jinja2", "markupsafe", "fsspec", "nvidia-cuda-runtime-cu12==12.1.105", "nvidia-cuda-nvrtc-cu12==12.1.105",
         "nvidia-cuda-cupti-cu12==12.1.105", "nvidia-cudnn-cu12==8.9.2.26", "nvidia-cublas-cu12==12.1.3.1",
         "nvidia-cufft-cu12==11.0.2.54", "nvidia-curand-cu12==10.3.2.106", "nvidia-cusolver-cu12==11.4.5.107",
         "nvidia-cusparse-cu12==12.1.0.106", "nvidia-nccl-cu12==2.20.5", "nvidia-nvtx-cu12==12.1.105",
         "nvidia-nvjitlink-cu12==12.9.86"),
        (str(HERE / "vllm_ops.py"),), "kernels of the wheel", no_dependencies=True,
    ),
    "CUDA toolkit": Suite(
        ("nvidia-curand==10.4.0.35", "nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
         "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85"),
        (str(HERE / "toolkit_programs.py"), str(VENVS / "cuda toolkit")),
        "nvcc: our programs on the runtime API, Thrust, CUB, cuRAND's device generators",
    ),
    "PyCUDA": Suite(
        ("nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
         "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85", "nvidia-cuda-profiler-api==13.0.85",
         "nvidia-curand==10.4.0.35", "numpy", "pytest", "setuptools", "wheel"),
        ("-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider", "{source}/test/test_driver.py",
         "{source}/test/test_cumath.py"),
        "nvcc; cuRAND's device generators; launches from kernels",
        {"PATH": "{site}/nvidia/cu13/bin:" + os.environ["PATH"], "LD_LIBRARY_PATH": "{site}/nvidia/cu13/lib"},
        shown="pycuda 2026.1, its tests of the driver and of mathematical functions",
        source=Source(
            "pycuda==2026.1",
            {"CUDA_ROOT": "{site}/nvidia/cu13", "CPATH": "{site}/nvidia/cu13/include", "CFLAGS": "-O1 -g0",
             "LIBRARY_PATH": "{native}:{site}/nvidia/cu13/lib"},
            {"siteconf.py": "CURAND_LIBNAME = [':libcurand.so.10']\n"},
        ),
    ),
    "numba-cuda": Suite(
        ("numba-cuda[cu13]==0.30.4", "numba==0.68.1", "cuda-bindings==13.3.1",
         "cuda-toolkit[cublas,curand,nvcc]==13.5.0", "cupy-cuda13x==14.2.0", "ml_dtypes", "psutil", "cffi", "pytest",
         "filecheck"),
        (str(HERE / "numba_tests.py"),),
        "NVVM, NVRTC, nvJitLink (failures: CPU caches of numba 0.68; 2^32 threads in x; PTX that calls LTO code)",
        shown="numba-cuda 0.30.4, all its tests", timeout=4 * 3600,
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
        if suite.source:
            build(venv, suite.source)
        (venv / "ready").touch()
    if suite.debian:
        return debian.python(venv / "debian", suite.debian, NOT_LOADED, sorted(site(venv).glob("nvidia/*/lib")))
    return venv / "bin" / "python"


def build(venv: Path, source: Source) -> None:
    pip, folder = str(venv / "bin" / "pip"), venv / "source"
    options = ["-q", "--no-deps", "--no-build-isolation"]
    names = {"site": site(venv), "native": native.DIRECTORY}
    variables = {**os.environ, **{key: value.format(**names) for key, value in source.environment.items()}}
    download = [pip, "download", *options, "--no-binary", ":all:", "-d", folder, source.requirement]
    subprocess.run(download, check=True, env=variables)
    shutil.unpack_archive(next(folder.glob("*.tar.gz")), folder)
    for name, text in source.files.items():
        (unpacked(venv) / name).write_text(text)
    if source.compiled:
        command = [pip, "install", "-q", "--no-build-isolation", str(unpacked(venv))]
        subprocess.run(command, check=True, env=variables)


def unpacked(venv: Path) -> Path:
    return next(path for path in (venv / "source").iterdir() if path.is_dir())


def site(venv: Path) -> Path:
    return next(venv.glob("lib/python3*/site-packages"))


def count(text: str) -> dict[str, int]:
    """Passed, failed and skipped cases: of our scripts ("ok   name"), of unittest's verbose output, or of
    pytest, which may have run several times."""
    ran = re.search(r"^Ran (\d+) tests?", text, re.M)
    if ran:
        skipped = sum(int(number) for number in re.findall(r"^(?:OK|FAILED) \(.*skipped=(\d+)", text, re.M))
        failed = len(set(re.findall(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", text, re.M)))  # of a test with parts: once
        return {"passed": int(ran[1]) - skipped - failed, "failed": failed, "skipped": skipped}
    if ended := re.findall(r"^(\d+ \w[\w ,]*) in [\d.]+s", text, re.M):
        kinds: Counter[str] = Counter()
        for number, word in re.findall(r"(\d+) (\w+)", "\n".join(ended)):
            kinds[word] += int(number)
        failed = kinds["failed"] + kinds["error"] + kinds["errors"]
        return {"passed": kinds["passed"], "failed": failed, "skipped": kinds["skipped"]}
    passed, failed = (len(re.findall(rf"^{word}\b", text, re.M)) for word in ("ok", "FAIL"))
    return {"passed": passed, "failed": failed, "skipped": 0}


def run(name: str, arch: str = ARCHS[0]) -> tuple[dict[str, int], str]:
    """The counts of one run, and its output. What ends with an error has failed once, whatever it printed."""
    suite = SUITES[name]
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", "--"]
    interpreter = python(name)
    source = str(unpacked(VENVS / name.lower())) if suite.source else ""
    command += [str(interpreter), *(argument.replace("{source}", source) for argument in suite.arguments)]
    packages = str(site(VENVS / name.lower()))
    environment = {key: value.replace("{site}", packages) for key, value in suite.environment.items()}
    done = subprocess.run(
        command, env={**os.environ, **environment}, cwd=VENVS / name.lower(), capture_output=True, text=True,
        timeout=suite.timeout,
    )  # fmt: skip
    counts = count(done.stdout + done.stderr)
    if done.returncode and not counts["failed"]:
        counts["failed"] = 1
    return counts, done.stdout + done.stderr


def page(counts: Counts) -> str:
    lines = [
        "# Clients",
        "",
        "Unmodified programs from PyPI and Debian under `ptx2amd run` on the software GPU, as gfx942 and, where the",
        "table has numbers, as gfx1100, without settings except those in the last column. Generated by",
        "`python -m tests.clients.suites`; the slow tests check that no count gets worse. tinygrad (21 operations) and",
        "DrJit (13) are part of the fast tests.",
        "",
        "| client | version | passed | failed | skipped | gfx1100: passed | failed | kernels come from | settings |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for name, suite in SUITES.items():
        if name in counts:
            first, second = (counts[name].get(arch, {}) for arch in ARCHS)
            shown = suite.shown or suite.requirements[0].replace("==", " ")
            cells = [first[key] for key in ("passed", "failed", "skipped")]
            numbers = " | ".join(str(cell) for cell in [*cells, *(second.get(key, "") for key in ("passed", "failed"))])
            settings = " ".join(
                f"`{k}={v.replace('{site}/', '')}`" for k, v in suite.environment.items() if k != "PATH"
            )
            lines.append(f"| {name} | {shown} | {numbers} | {suite.needs} | {settings} |")
    return "\n".join(lines) + "\n"


def note(name: str, arch: str, found: dict[str, int]) -> None:
    """Write what a suite has found; another process may have written other counts meanwhile."""
    counts: Counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    counts.setdefault(name, {})[arch] = found
    COUNTS.write_text(json.dumps(counts, indent=1) + "\n")
    COUNTS.with_suffix(".md").write_text(page(counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", choices=(*ARCHS, *FURTHER), default=ARCHS[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    options = parser.parse_args()
    VENVS.mkdir(parents=True, exist_ok=True)
    for name in options.names or SUITES:
        found, output = run(name, options.arch)
        (VENVS / f"{name.lower()}.{options.arch}.log").write_text(output)
        print(name, options.arch, found, flush=True)
        note(name, options.arch, found)


if __name__ == "__main__":
    main()
