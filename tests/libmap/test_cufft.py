"""libcufft over AMD's hipFFT and rocFFT. Protects: transforms of all kinds and layouts are numpy's, errors cuFFT's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import rocm
from tests.libmap import on_rocm

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("arch", ["gfx1100", "gfx90a"])
def test_calls(arch: str) -> None:
    prefix = rocm.prefix("7.2", "libhipfft0", "librocfft0", "libhiprtc7")
    wrong, made = on_rocm.calls(prefix, arch, Path(__file__).with_name("cufft_calls.py"), "libcufft.so.11")
    assert not wrong, wrong
    assert made > 180
