"""libcufftw over libcufft, which is on AMD's hipFFT. Protects: FFTW's transforms of arrays of the host and of the
device are numpy's."""

from __future__ import annotations

import pytest

from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES


@pytest.mark.slow
def test_calls() -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES["cufftw"]), "gfx942", "cufftw", "libcufftw.so.11")
