"""libcublas over AMD's rocBLAS: its table against both libraries' headers, and calls against numpy.

Protects: a CUDA program's products are rocBLAS's, right in every precision, with cuBLAS's errors.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import native
from ptx2amd.api import cublas
from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests import rocm
from tests.headers import other_types
from tests.libmap import on_rocm

LIBRARY = on_rocm.LIBRARIES / "libcublas.so.12"


def test_without_rocblas_a_handle_is_refused_and_says_why(tmp_path: Path) -> None:
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cublasCreate_v2(ctypes.byref(ctypes.c_void_p())))"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(native.DIRECTORY)}
    done = subprocess.run([sys.executable, "-c", code, LIBRARY], env=environment, capture_output=True, text=True)
    assert done.stdout == "1\n" and re.search(
        r"libcublas: rocBLAS cannot be loaded; install the package rocblas .*librocblas", done.stderr
    )


@pytest.mark.slow
def test_rocblas_is_called_with_the_types_of_its_headers() -> None:
    prefix = rocm.prefix("7.2", "librocblas-dev", "libamdhip64-dev")
    flags = ["-D__HIP_PLATFORM_AMD__", "-idirafter", prefix.include]
    assert other_types(["#include <rocblas/rocblas.h>"], cublas.MAPPED.beneath, "rocblas_status", flags) == set()


def test_rows_have_the_types_of_cublas_headers(tmp_path: Path) -> None:
    source = tmp_path / "all.cu"
    source.write_text("#include <cublas_v2.h>")
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    done = subprocess.run([str(tools.nvcc), *tools.flags, "-M", str(source)], capture_output=True, text=True)
    folders = {Path(word).parent for word in done.stdout.split() if word.endswith(("/cublas_v2.h", "/cuComplex.h"))}
    if done.returncode:
        pytest.skip("the toolkit has no cublas_v2.h")
    rows = [row for row in cublas.ROWS if "__half" not in row.parameters]  # which is a type of C++
    flags = [f"-I{folder}" for folder in folders]
    assert other_types(["#include <cublas_v2.h>"], rows, "cublasStatus_t", flags) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "soname"), [("gfx942", "libcublas.so.12"), ("gfx1100", "libcublas.so.11"), ("gfx90a", "libcublas.so.13")]
)
def test_calls(arch: str, soname: str) -> None:
    prefix = rocm.prefix("7.2", "librocblas5")
    wrong, made = on_rocm.calls(prefix, arch, Path(__file__).with_name("cublas_calls.py"), soname)
    assert wrong == [] and made > 900
