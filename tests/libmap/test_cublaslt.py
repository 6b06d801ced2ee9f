"""libcublasLt over AMD's hipBLASLt. Protects: products with all orders, types, epilogues and pointer modes are right or
refused by name, on chips that have different ones, and on one that hipBLASLt has no code for; descriptions keep what
they are given; errors are cuBLASLt's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ptx2amd import native
from tests import rocm
from tests.libmap import on_rocm, page

PACKAGES = ("libhipblaslt1", "librocblas5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "soname"),
    [
        ("gfx1100", "libcublasLt.so.12"),
        ("gfx90a", "libcublasLt.so.13"),
        ("gfx1201", "libcublasLt.so.11"),
    ],
)
def test_calls(arch: str, soname: str) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES), arch, "cublaslt", soname)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1030"])
def test_products_are_of_rocblas_where_hipblaslt_has_no_code(arch: str) -> None:
    found = on_rocm.calls(rocm.prefix("7.2", *PACKAGES), arch, "cublaslt", "libcublasLt.so.12")
    assert not found.wrong, found.wrong
    assert found.made > 1800 and page.tested("cublaslt") - found.worked == {"cublasLtMatrixTransform"}


#: A program that asks for an algorithm of a product, and then computes it.
PRODUCT = """
from ptx2amd.api import cublaslt
from tests.libmap.client import Client
from tests.libmap.cublaslt_products import Product, Run
client = Client(cublaslt.MAPPED)
handle = client.ffi.new("cublasLtHandle_t *")
assert not client.library.cublasLtCreate(handle)
run = Run(client, handle[0], Product())
print(run.algorithms(1)[0], run.multiply())
"""


@pytest.mark.slow
def test_neither_library_has_code_for_the_chip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """rocBLAS would end the program."""
    monkeypatch.setenv("ROCBLAS_TENSILE_LIBPATH", str(tmp_path))
    python, soname = Path(sys.executable).resolve(), on_rocm.LIBRARIES / "libcublasLt.so.12"
    words = (python, "-c", PRODUCT, native.DIRECTORY / "libcuda.so.1", soname)
    done = on_rocm.run(rocm.prefix("7.2", *PACKAGES), "gfx942", *words)
    assert done.stdout == "15 15\n", done
    assert "hipBLASLt has no algorithm on this chip: not supported" in done.stderr, done
