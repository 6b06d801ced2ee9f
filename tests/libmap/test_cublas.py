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
from tests import rocm
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
@pytest.mark.parametrize(
    ("arch", "soname"), [("gfx942", "libcublas.so.12"), ("gfx1100", "libcublas.so.11"), ("gfx90a", "libcublas.so.13")]
)
def test_calls(arch: str, soname: str) -> None:
    prefix = rocm.prefix("7.2", "librocblas5", "librocsolver0")
    on_rocm.check(prefix, arch, "cublas", soname)


@pytest.mark.slow
def test_what_is_not_read_may_be_nan() -> None:
    """And what is read as NaN is not lost."""
    found = on_rocm.calls(rocm.prefix("7.2", "librocblas5"), "gfx942", "cublas_unread", "libcublas.so.12")
    assert not found.wrong and found.made > 1000, found.wrong
