"""libcublasLt over AMD's hipBLASLt. Protects: products with all orders, types, epilogues and pointer modes are right or
refused by name, on chips that have different ones; descriptions keep what they are given; errors are cuBLASLt's."""

from __future__ import annotations

import pytest

from tests import rocm
from tests.libmap import on_rocm

PACKAGES = ("libhipblaslt1", "librocblas5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "soname"),
    [("gfx1100", "libcublasLt.so.12"), ("gfx90a", "libcublasLt.so.13"), ("gfx1201", "libcublasLt.so.11")],
)
def test_calls(arch: str, soname: str) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES), arch, "cublaslt", soname)
