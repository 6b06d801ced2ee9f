"""libcudnn over AMD's MIOpen. Protects: results of all functions are numpy's, errors cuDNN's."""

from __future__ import annotations

import pytest

from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("arch", "soname"), [("gfx1100", "libcudnn.so.9"), ("gfx942", "libcudnn.so.8")])
def test_calls(arch: str, soname: str) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES["cudnn"]), arch, "cudnn", soname)
