"""Copies of tensors' tiles by our driver on the software GPU, against an H100's answers (tests/hardware/tensors.py).

Protects: swizzles, im2col, steps, places outside the tensor, sums and maxima in global memory, and which maps are made.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import launch, native
from tests import ROOT

RECORDED = Path(__file__).with_name("tensors.json.xz")
CASES = 200
NOT_SUPPORTED = 801
PARTS = 16


PLACE = re.compile(r" at \((?:.*?, )?(-?\d+),?\) (\S+) ")  # the last coordinate, and how channels are interleaved


def is_known(title: str) -> bool:
    """im2col that begins before the first image of the batch: the hardware then reads other pixels."""
    found = PLACE.search(title)
    return "((" in title and found is not None and int(found[1]) < 0


def interleaved(title: str) -> bool:
    found = PLACE.search(title)
    return found is not None and found[2] != "none"


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, PARTS))])
@pytest.mark.parametrize("arch", ["gfx1100", pytest.param("gfx942", marks=pytest.mark.slow)])
def test_the_same_bytes(arch: str, part: int, tmp_path: Path) -> None:
    out = tmp_path / "answers"
    environment = {
        **os.environ,
        **launch.environment(f"vgpu:{arch}"),
        "LD_AUDIT": "",
        "LD_LIBRARY_PATH": str(native.DIRECTORY),
        "PTX2AMD_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "tests.hardware.tensors", str(out), str(CASES), f"{part}/{PARTS}"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=600, capture_output=True)
    ours = dict(json.loads(line) for line in out.read_text().splitlines())
    theirs = json.loads(lzma.decompress(RECORDED.read_bytes()))["answers"]
    asked = ours.keys() & theirs.keys()
    assert len(asked) >= 10
    refused = {title for title in asked if ours[title] == NOT_SUPPORTED}
    assert all(interleaved(title) for title in refused)
    different = {title for title in asked - refused if ours[title] != theirs[title]}
    assert {title for title in different if not is_known(title)} == set()
