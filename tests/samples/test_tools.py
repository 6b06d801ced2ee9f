"""The CUDA samples under the tools: right programs bring no findings (a few in the fast tier, all in the slow one)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_samples import build, demo

SAMPLES = Path(__file__).resolve().parents[2] / "cuda_samples"

OUT = SAMPLES.parent / "build" / "samples"
FAST = ("device_printf", "spin_flag", "stream_compaction", "warp_reduce")


def run(name: str, arch: str, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    [program] = build.build_all(OUT, [name]).values()
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", *options, "--", str(program)]
    environment = {**os.environ, "PTX2AMD_CACHE_DIR": str(tmp_path / "cache")}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


@pytest.mark.parametrize("arch", demo.ARCHS)
@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in build.names()]
)
def test_no_findings(name: str, arch: str, tmp_path: Path) -> None:
    done = run(name, arch, tmp_path, "--memcheck", "--racecheck")
    assert done.returncode == 0, done.stderr
    assert "memcheck: 0 errors at 0 places" in done.stderr


def test_profile(tmp_path: Path) -> None:
    """Each wave runs two load loops over tiles; the page is beside the JSON."""
    target = tmp_path / "out.json"
    done = run("matmul_tiled", "gfx942", tmp_path, "--profile", str(target))
    assert done.returncode == 0, done.stderr
    assert "matmul" in done.stderr and "occupancy" in done.stderr
    [kernel] = json.loads(target.read_text())["kernels"]
    assert kernel["launches"] == 1 and kernel["instructions"]["lds"] > kernel["instructions"]["global"] > 0
    text = target.with_suffix(".html").read_text()
    assert f"{kernel['instructions']['lds']:,} lds" in text and "matmul" in text and "gfx942" in text
