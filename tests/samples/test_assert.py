"""A failed device-side assert: CUDA's message on standard error, and cudaErrorAssert from then on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_samples import demo
from ptx2amd.compat import toolkit

HERE = Path(__file__).resolve().parent

MESSAGE = re.compile(
    r"^\S*device_assert\.cu:\d+: int checked\(int\): block: \[1,0,0\], thread: \[5,0,0\] "
    r"Assertion `i != 37 && \"thirty-seven\"` failed\.$",
    re.M,
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tools, path = toolkit.find(), tmp_path_factory.mktemp("assert") / "device_assert"
    subprocess.run([tools.nvcc, *tools.flags, "-o", str(path), str(HERE / "device_assert.cu")], check=True)
    return path


@pytest.mark.parametrize("arch", demo.ARCHS)
def test_assert_ends_the_launch(program: Path, arch: str) -> None:
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", "--", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["first: cudaSuccess", "second: cudaErrorAssert", "then: cudaErrorAssert"]
    assert len(MESSAGE.findall(done.stderr)) == 1, done.stderr
