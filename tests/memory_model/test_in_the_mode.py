"""Tests of other folders with the weak-memory mode on: their programs give the results that they give without it.

Protects: what the translator orders in programs of barriers, atomics, locks, exchanges and copies; the mode's images.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SEEDS = (5, 6)
LOWER = (
    "async_copy", "atomics", "barrier", "bulk", "cooperative", "lock_random", "memory", "random_calls", "random_flow",
    "spin", "warp_random", "wide_atomics",
)  # fmt: skip
VGPU = ("image_forms", "image_sampling", "typed_buffers")
#: Programs in assembly without waits, which the mode reports.
WITHOUT_WAITS = ("test_float_atomic", "test_address_from_the_lane")


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "path", [f"lower/test_{name}.py" for name in LOWER] + [f"vgpu/test_{name}.py" for name in VGPU]
)
def test_in_weak_memory(path: str, seed: int) -> None:
    """The fast tests of a file."""
    selected = " and ".join(f"not {each}" for each in WITHOUT_WAITS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", f"tests/{path}"]
    done = subprocess.run([*command, "-k", selected], text=True, timeout=1800, capture_output=True,
                          env={**os.environ, "PTX2AMD_WEAK": str(seed)})  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
