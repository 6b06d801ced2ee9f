"""AMD's own HIP library, the oldest that distributions have (Debian's libamdhip64-5, HIP 5.2): every function that we
call is there or has a documented way around it, and without a GPU every call fails in CUDA's way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import native
from shim.api import rows
from shim.api.hip import FUNCTIONS, NEWER

PACKAGES = ("libamdhip64-5", "libhsa-runtime64-1", "libhsakmt1", "libamd-comgr2", "libnuma1", "libelf1", "libdrm2",
            "libdrm-amdgpu1")  # fmt: skip
NO_DEVICE, NOT_INITIALIZED = 100, 3


def test_what_is_newer_is_called_at_all() -> None:
    assert set(NEWER) <= set(FUNCTIONS)


@pytest.fixture(scope="module")
def amd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with libamdhip64.so.5, unpacked and not installed."""
    base = tmp_path_factory.mktemp("amd")
    if subprocess.run(["apt-get", "download", *PACKAGES], cwd=base, capture_output=True).returncode:
        pytest.skip("no Debian packages to be had")
    for package in base.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(base / "root")], check=True)
    return base / "root" / "usr" / "lib" / "x86_64-linux-gnu"


@pytest.mark.slow
def test_every_function_is_there_or_has_a_way_around(amd: Path) -> None:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(amd / "libamdhip64.so.5")], capture_output=True, text=True, check=True
    ).stdout
    there = {line.split()[-1].partition("@")[0] for line in listing.splitlines()}
    assert set(FUNCTIONS) - there == set(NEWER)


@pytest.mark.slow
def test_without_a_gpu_every_call_fails_as_in_cuda(amd: Path) -> None:
    """cuInit finds no device; then nothing is initialised. Nothing crashes, and AMD's library was really loaded."""
    library, runner = native.DIRECTORY / "libcuda.so.1", Path(__file__).with_name("conformance_run.py")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(amd), "PTX2AMD_DEVICE": "hip", "PTX2AMD_TRACE": ""}
    done = subprocess.run(
        [sys.executable, str(runner), str(library), "--state", "deviceless"],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the HIP library finds no AMD GPU" in done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0] == ["cuInit", NO_DEVICE]
    early = {row.symbol for row in rows() if row.early}
    assert [answer for answer in answers[1:] if answer[0] not in early and answer[1] != NOT_INITIALIZED] == []
