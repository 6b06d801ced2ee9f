"""libcufft over AMD's hipFFT and rocFFT. Protects: transforms of all kinds and layouts are numpy's, errors cuFFT's."""

from __future__ import annotations

import pytest

from tests import rocm
from tests.libmap import on_rocm

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("arch", ["gfx1100", "gfx90a"])
def test_calls(arch: str) -> None:
    prefix = rocm.prefix("7.2", "libhipfft0", "librocfft0", "libhiprtc7")
    on_rocm.check(prefix, arch, "cufft", "libcufft.so.11")
