"""`ptx2amd run` with --libraries auto, end to end. Protects: a program that opens a CUDA library gets AMD's where that
has code for the chip, and is told why not elsewhere. (cuRAND's is in test_curand.py.)

The launcher and the program run under the release's loader, as AMD's libraries want a newer C library than many systems
have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow
#: Opens a library by name and makes a handle or plan; prints the status and whose file that was.
PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
cuda, context, made = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context)
print(getattr(library, sys.argv[2])(ctypes.byref(made)), "libmap/" + sys.argv[1] in open("/proc/self/maps").read())
print([line for line in open("/proc/self/maps") if sys.argv[3] in line] != [])
"""


def started(prefix: rocm.Prefix, folder: Path, chip: str, *words: str) -> subprocess.CompletedProcess[str]:
    loader, python = prefix.libraries / "ld-linux-x86-64.so.2", Path(sys.executable).resolve()
    (folder / "rocm").mkdir()
    (folder / "rocm" / "lib").symlink_to(prefix.libraries)
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "ROCM_PATH": str(folder / "rocm")}
    launcher = prefix.command(
        python, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{chip}", "--libraries", "auto", "--"
    )
    environment = {**os.environ, **paths, "PTX2AMD_PYTHON": sys.executable, "LD_LIBRARY_PATH": ""}
    command = [*launcher, loader, python, "-c", PROGRAM, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    ("name", "soname", "create", "beneath", "chip"),
    [
        ("cublas", "libcublas.so.12", "cublasCreate_v2", "librocblas", "gfx1100"),
        ("cublaslt", "libcublasLt.so.13", "cublasLtCreate", "libhipblaslt", "gfx90a"),
        ("cufft", "libcufft.so.11", "cufftCreate", "libhipfft", "gfx942"),
        ("cudnn", "libcudnn.so.9", "cudnnCreate", "libMIOpen", "gfx942"),
        ("cudnn", "libcudnn_ops_infer.so.8", "cudnnCreate", "libMIOpen", "gfx942"),
    ],
)
def test_a_program_gets_amds_library(
    name: str, soname: str, create: str, beneath: str, chip: str, tmp_path: Path
) -> None:
    done = started(rocm.prefix("7.2", *PACKAGES[name]), tmp_path, chip, soname, create, beneath)
    assert done.stdout == "0 True\nTrue\n", done


def test_a_program_does_not_get_one_without_code_for_the_chip(tmp_path: Path) -> None:
    prefix = rocm.prefix("7.2", *PACKAGES["cublas"])
    done = started(prefix, tmp_path, "gfx950", "libcublas.so.12", "cublasCreate_v2", "librocblas")
    assert done.returncode and "libcublas.so.12: cannot open shared object file" in done.stderr, done


def test_cublaslt_follows_cublas_where_it_has_no_code_for_the_chip(tmp_path: Path) -> None:
    """Debian's hipBLASLt has none for gfx942: ours is taken all the same, as handles of cuBLAS are rocBLAS's."""
    prefix = rocm.prefix("7.2", *PACKAGES["cublaslt"])
    done = started(prefix, tmp_path, "gfx942", "libcublasLt.so.12", "cublasLtGetVersion", "libmap/libcublasLt")
    assert done.stdout == "120900 True\nTrue\n", done
