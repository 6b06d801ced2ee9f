"""libcusparse over AMD's hipSPARSE and rocSPARSE. Protects: products, solutions and conversions of sparse matrices are
numpy's in every format, a matrix keeps no state from call to call, wrong arguments get cuSPARSE's errors."""

from __future__ import annotations

import pytest

from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("arch", "soname"),
    [("gfx942", "libcusparse.so.12"), ("gfx1100", "libcusparse.so.11"), ("gfx1030", "libcusparse.so.12")],
)
def test_calls(arch: str, soname: str) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES["cusparse"]), arch, "cusparse", soname)
