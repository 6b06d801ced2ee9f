"""Programs from PyPI, unmodified, with ROCm's libraries in the place of NVIDIA's, which are installed only where a
program looks for the packages by name.

`python -m tests.libmap.clients [--chip CHIP] [NAME ...]` installs and runs them with `ptx2amd run --libraries rocm` on
the software GPU, and writes clients.json, of which the page of libraries counts. The cases are those of tests/clients;
of CuPy, its own tests of linear algebra, transforms, random numbers and sparse matrices.

Launcher and program run under the release's own loader, as ROCm's libraries want a newer C library than many systems
have."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests import debian, rocm
from tests.clients import suites
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES

RECORD = Path(__file__).with_name("clients.json")
FOLDER = rocm.CACHE / "libmap-clients"
CHIPS, ROCM = ("gfx1100", "gfx942", "gfx90a"), "7.2"
#: `ptx2amd`, with arguments for it, not for the program (the folders of its packages, its interpreter), and for the
#: program alone (a variable). The program is a loader, which gets the folders of libraries as an argument: the system's
#: programs that it starts must not find the release's C library.
LAUNCH = """
import os, sys
sys.path[:0] = sys.argv.pop(1).split(":")
sys.executable = sys.argv.pop(1)
variable = sys.argv.pop(1)
execve = os.execve
def start(program, words, environment):
    folders = environment.pop("LD_LIBRARY_PATH")
    environment.update(part.split("=", 1) for part in variable.split())
    execve(program, [words[0], "--library-path", folders, *words[1:]], environment)
os.execve = start
from ptx2amd.cli import main
main()
"""
BUILD = {"READTHEDOCS": "True"}  # CuPy's set-up then asks for no CUDA
CUDA = ("nvidia-cuda-runtime-cu12", "nvidia-cuda-nvrtc-cu12")


@dataclass(frozen=True)
class Client:
    """suite: of tests/clients/suites.py or OWN, whose first requirement and script are taken. requirements: further
    ones, all without dependencies. libraries: those that it calls. source, tests: a source package, and files of tests
    there, of which every `stride`th test runs."""

    suite: str
    requirements: tuple[str, ...]
    libraries: tuple[str, ...]
    source: str = ""
    tests: tuple[str, ...] = ()
    stride: int = 1
    words: tuple[str, ...] = ()


#: Programs that are not among tests/clients, whose scripts lie here.
OWN = {
    "cudnn-frontend": suites.Suite(
        ("nvidia-cudnn-frontend==1.16.0",), (str(Path(__file__).with_name("cudnn_frontend_ops.py")),), ""
    ),
}


def suite(client: Client) -> suites.Suite:
    return OWN.get(client.suite) or suites.SUITES[client.suite]


_CUPY = (
    "nvidia-nvjitlink-cu12",
    "numpy",
    "scipy",
    "fastrlock",
    "cuda-pathfinder",
    "pytest",
    "iniconfig",
    "pluggy",
    "packaging",
    "pygments",
)


def _cupy(libraries: str, stride: int, files: str) -> Client:
    tests = tuple(f"tests/{file}" for file in files.split())
    return Client("CuPy", (*CUDA, *_CUPY), tuple(libraries.split()), "cupy==14.2.0", tests, stride)


CLIENTS = {
    "CuPy, linear algebra": _cupy("cublas cusolver", 20, "cupy_tests/linalg_tests"),
    "CuPy, transforms": _cupy("cufft", 90, "cupy_tests/fft_tests/test_fft.py"),
    "CuPy, random numbers": _cupy(
        "curand cublas cusolver", 7,
        "cupy_tests/random_tests/test_generator.py cupy_tests/random_tests/test_sample.py",
    ),
    "CuPy, sparse matrices": _cupy(
        "cusparse cublas cusolver", 250,
        "cupyx_tests/scipy_tests/sparse_tests/test_csr.py cupyx_tests/scipy_tests/sparse_tests/test_coo.py "
        "cupyx_tests/scipy_tests/sparse_tests/test_linalg.py",
    ),
    "faiss": Client("faiss", ("numpy", "packaging", CUDA[0], "nvidia-cublas-cu12>=12.6,<13",
         "nvidia-curand-cu12>=10.3.7,<11"), ("cublas", "cublaslt")),
    "CTranslate2": Client("CTranslate2", ("numpy", "pyyaml", "setuptools"), ("cublas",), words=("model",)),
    "llama.cpp": Client(
        "llama.cpp",
        ("gguf==0.19.0", "numpy", "nvidia-cuda-runtime-cu11", "nvidia-cublas-cu11", "tqdm", "requests", "urllib3",
         "idna", "certifi", "charset-normalizer", "pyyaml"),
        ("cublas",), words=("models",),
    ),
    "ctransformers": Client(
        "ctransformers",
        ("gguf==0.19.0", "numpy", "nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12==12.9.*", "huggingface_hub", "anyio",
         "certifi", "charset-normalizer", "click", "filelock", "fsspec", "h11", "hf-xet", "httpcore2", "httpx2", "idna",
         "packaging", "py-cpuinfo", "pyyaml", "requests", "tqdm", "truststore", "typing_extensions", "urllib3"),
        ("cublas",), words=("models",),
    ),
    "ONNX Runtime": Client(
        "ONNX Runtime",
        ("onnx==1.23.2", "numpy", "protobuf", "flatbuffers", "ml_dtypes", "packaging", "typing_extensions", "sympy",
         "mpmath", "coloredlogs", "humanfriendly", *CUDA),
        ("cublas", "cublaslt", "cudnn", "cufft", "curand"),
    ),
    "XGBoost": Client("XGBoost", ("numpy", "scipy"), ()),
    "cudnn-frontend": Client("cudnn-frontend", ("numpy",), ("cudnn",)),
    "PyTorch": Client(
        "PyTorch", (), ("cublas", "cublaslt", "cudnn", "cufft", "curand", "cusparse", "cusolver", "nccl"),
    ),
}  # fmt: skip


#: NVIDIA's libraries among Debian's packages.
REPLACED = tuple(f"lib{name}" for name in ["cublas", "cufft", "curand", "cusolver", "cusparse", "cudnn", "nccl"])


def _plain(requirement: str) -> str:
    """Without extras: those are NVIDIA's libraries."""
    return re.sub(r"\[.*\]", "", requirement)


def version(client: Client) -> str:
    """The client's package, as the page names it."""
    about = suite(client)
    return about.shown or _plain(about.requirements[0]).replace("==", " ")


def installed(client: Client) -> Path:
    """The client's virtual environment, made at first use."""
    folder = FOLDER / client.suite.lower().replace(" ", "-")
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        pip, wanted = [sys.executable, "-m", "pip"], list(client.requirements)
        if not suite(client).debian:
            wanted.insert(0, _plain(suite(client).requirements[0]))
        if wanted:
            install = [f"--python={folder}/bin/python", "install", "-q", "--no-deps", *wanted]
            subprocess.run([*pip, *install], check=True)
        if client.source:
            name, _, _ = client.source.partition("==")
            options = ["-q", "--no-deps", f"--no-binary={name}", "-d", folder / "source"]
            subprocess.run([*pip, "download", *options, client.source], check=True, env={**os.environ, **BUILD})
            shutil.unpack_archive(next((folder / "source").glob("*.tar.gz")), folder / "source")
        (folder / "ready").touch()
    return folder


def command(client: Client, folder: Path) -> list[str]:
    """The arguments of Python."""
    if not client.tests:
        script = next(word for word in suite(client).arguments if word.endswith(".py"))
        return [script, *(str(folder / word) for word in client.words)]
    source = next(path for path in (folder / "source").iterdir() if path.is_dir())
    files = [str(source / test) for test in client.tests]
    options = ["-q", "-p", "no:cacheprovider", "-p", "every_nth", "-m", "not slow and not multi_gpu"]
    return ["-m", "pytest", *options, f"--every={client.stride}", *files]


def run(name: str, chip: str, limit: float = 3600) -> tuple[dict[str, int], str]:
    """The counts of one run (suites.count), and its output."""
    client = CLIENTS[name]
    folder, prefix = installed(client), rocm.fetch(ROCM, *(p for lib in client.libraries for p in PACKAGES[lib]))
    root, python = FOLDER / "rocm", Path(sys.executable).resolve()
    root.mkdir(exist_ok=True)
    if not (root / "lib").exists():
        (root / "lib").symlink_to(prefix.libraries)
    shown, libraries, variable = (
        folder / "bin" / "python",
        sorted(folder.glob("lib/python3*/site-packages/nvidia/cuda_runtime/lib")),
        "",
    )
    if packages := suite(client).debian:
        tree = debian.unpacked(folder / "debian", "trixie", packages, (*suites.NOT_LOADED, *REPLACED)) / "usr"
        python = shown = tree / "bin" / "python3.13"
        libraries, variable = [prefix.libraries, *debian.libraries(tree.parent)], f"PYTHONHOME={tree}"
    loader = str(prefix.libraries / "ld-linux-x86-64.so.2")
    ours = os.pathsep.join(path for path in sys.path if path)
    environment = {
        **os.environ, "PYTHONPATH": str(Path(__file__).parent), "ROCM_PATH": str(root),
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)), **on_rocm.for_miopen(prefix),
    }  # fmt: skip
    mode = ("run", "--device", f"vgpu:{chip}", "--libraries", "rocm", "--")
    launcher = prefix.command(Path(sys.executable).resolve(), "-c", LAUNCH, ours, sys.executable, variable, *mode)
    program = [loader, "--argv0", str(shown), str(python), *command(client, folder)]
    done = subprocess.run(
        [*launcher, *program], env=environment, capture_output=True, text=True, timeout=limit, cwd=folder
    )
    counts = suites.count(done.stdout + done.stderr)
    if done.returncode and not counts["failed"]:
        counts["failed"] = 1
    return counts, done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", choices=CHIPS, default=CHIPS[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    options = parser.parse_args()
    for name in options.names or CLIENTS:
        counts, output = run(name, options.chip)
        (FOLDER / f"{name.lower().replace(' ', '-')}.{options.chip}.log").write_text(output)
        print(name, options.chip, counts, flush=True)
        record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        record.setdefault(name, {})[options.chip] = counts
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
