"""A software GPU for a test, through the HIP API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptx2amd import hip


def opened(arch: str) -> Iterator[hip.Gpu]:
    """The body of a fixture: the current device, reset afterwards."""
    gpu = hip.open(f"vgpu:{arch}")
    gpu.activate()
    try:
        yield gpu
    finally:
        gpu.reset()


def fails(name: str) -> pytest.RaisesExc[hip.HipError]:
    """The block must raise HIP's error `name`."""
    return pytest.raises(hip.HipError, match=rf"{name}\b")
