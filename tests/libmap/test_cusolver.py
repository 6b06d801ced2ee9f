"""libcusolver over AMD's hipSOLVER and rocSOLVER. Protects: factors, solutions, eigenvalues and singular values are
numpy's in every precision, workspaces of the size that is asked for suffice, wrong arguments get cuSOLVER's errors."""

from __future__ import annotations

import pytest

from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("arch", "soname"),
    [("gfx942", "libcusolver.so.12"), ("gfx1100", "libcusolver.so.11"), ("gfx1030", "libcusolver.so.11")],
)
def test_calls(arch: str, soname: str) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES["cusolver"]), arch, "cusolver", soname)
