"""Calls of the driver API with arguments that programs should not give (api_calls.py), in forked children: none dies or
hangs.

Protects: what is wrong is an error for the program to read, never the end of its process. The sweep runs on a build
with ASan and UBSan; what found something keeps its seed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ptx2amd import launch, native
from tests import ROOT
from tests.test_sanitizers import KINDS, SUPPRESSED, library

#: First seeds of runs that once found something.
KEPT = (1, 800_134)


def calls(seed: int, count: int, variables: dict[str, str], folder: Path = native.DIRECTORY) -> list[dict[str, Any]]:
    """What the fuzzer prints."""
    environment = {**os.environ, **launch.environment("vgpu:gfx942"), "LD_AUDIT": "", "PTX2AMD_TRACE": "", **variables}
    environment["LD_LIBRARY_PATH"] = f"{folder}:{environment['LD_LIBRARY_PATH']}"
    command = [sys.executable, "-m", "tests.fuzz.api_calls", str(folder / "libcuda.so.1"), str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("seed", KEPT)
def test_no_call_ends_the_process(seed: int) -> None:
    *found, last = calls(seed, 400, {})
    assert found == []
    assert last == {"calls": 400, "died": 0}


@pytest.mark.slow
def test_sweep_under_sanitizers(tmp_path: Path) -> None:
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    (tmp_path / "suppressions").write_text(SUPPRESSED)
    options = f"{KINDS['address'].options['ASAN_OPTIONS']}:allocator_may_return_null=1"
    build = library("address")
    *found, last = calls(1_000_000, 200_000, {
        "LD_PRELOAD": asan.stdout.strip(), "PTX2AMD_NATIVE": str(build),
        "ASAN_OPTIONS": f"{options}:suppressions={tmp_path / 'suppressions'}:log_path={tmp_path / 'report'}",
        "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:log_path={tmp_path / 'report'}",
    }, build)  # fmt: skip
    reports = [path.read_text()[:2000] for path in sorted(tmp_path.glob("report*"))]
    assert found == [], reports[:3]
    assert last["calls"] == 200_000
