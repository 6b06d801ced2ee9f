"""Compiled HIP programs on the software GPU.

Protects: what such programs use beyond HIP's plain functions: <<<>>>, device and managed variables, printf, assert and
malloc in kernels, grids that synchronise; and the tools.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.cli.trace import read
from tests.hip.hip_program import compiler, must, run

pytestmark = pytest.mark.slow

ARCHS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
PARTS = ("launches", "managed_variables", "shared_memory", "attributes", "graphs", "grid_sync", "device_heap")


@pytest.fixture(scope="module")
def features() -> Path:
    return compiler().program(Path(__file__).with_name("features.hip"), ARCHS)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("part", PARTS)
def test_part(features: Path, arch: str, part: str) -> None:
    done = run(features, part, arch=arch)
    must(done.returncode == 0 and done.stdout.endswith("ok\n") and not done.stderr, done)


@pytest.mark.parametrize("arch", ("gfx942", "gfx1100"))
def test_printf_in_kernels(features: Path, arch: str) -> None:
    """As the host's printf formats it; every line once and whole."""
    done = run(features, "printing", arch=arch)
    must(done.returncode == 0, done)
    lines = done.stdout.splitlines()
    expected = [line.removeprefix("expected: ") for line in lines if line.startswith("expected: ")]
    assert lines[:2] == expected and len(expected) == 2
    assert sorted(int(line) for line in lines if line.isdigit()) == list(range(1000))


@pytest.mark.parametrize(("arch", "lanes"), [("gfx942", 64), ("gfx1100", 32)])
def test_a_failed_assert_is_named_and_ends_the_launch(features: Path, arch: str, lanes: int) -> None:
    """The whole wave says so before it traps."""
    done = run(features, "failed_assert", arch=arch)
    must(done.returncode == 0 and done.stdout == "ok\n", done)
    said = 'void asserting(int): Device-side assertion `x == 1 && "said so"\' failed.'
    assert done.stderr.count(said) == lanes and "kernel _Z9assertingi" in done.stderr


def test_trace(features: Path, tmp_path: Path) -> None:
    """The program's own calls, their results, and each kernel that was executed; `trace show` reads it."""
    trace = tmp_path / "t.jsonl"
    done = run(features, "launches", options=["--trace", str(trace)])
    must(done.returncode == 0, done)
    events = list(read(trace))
    calls = [event["name"] for event in events if event["event"] == "call"]
    launches = [event for event in events if event["event"] == "launch"]
    assert "hipDeviceSynchronize" in calls and launches
    assert all(event["fault"] == 0 and event["ns"] > 0 and len(event["block"]) == 3 for event in launches)
    shown = subprocess.run(
        [sys.executable, "-m", "ptx2amd.cli", "trace", "show", trace], capture_output=True, text=True
    )
    assert shown.returncode == 0 and "hipMalloc" in shown.stdout and launches[0]["kernel"] in shown.stdout


def test_compressed_code(features: Path) -> None:
    program = compiler().program(Path(__file__).with_name("features.hip"), ("gfx942",), compress=True)
    assert b"CCOB" in program.read_bytes()
    done = run(program, "launches")
    must(done.returncode == 0, done)
    other = run(program, "launches", arch="gfx1100")
    assert other.returncode == 1 and "hipErrorNoBinaryForGpu" in other.stdout
    assert f"{program}: there is no code for gfx1100: the offload bundle holds gfx942" in other.stderr


def test_memcheck_and_racecheck(features: Path) -> None:
    done = run(features, "mistakes", options=["--memcheck"])
    assert "hipErrorIllegalAddress" in done.stdout
    assert "0 bytes past the end of the 400-byte device allocation" in done.stderr
    done = run(features, "mistakes", options=["--racecheck"])
    assert "race in shared memory" in done.stderr and "kernel _Z6racingPi" in done.stderr
    for part in ("printing", "device_heap", "grid_sync"):
        for tool, said in (("--memcheck", "memcheck: 0 errors"), ("--racecheck", "racecheck: 0 errors")):
            assert said in run(features, part, options=[tool]).stderr, (part, tool)


@pytest.mark.parametrize("arch", ARCHS)
def test_weak_memory(features: Path, arch: str) -> None:
    """But for GFX9's grid barrier, before which AMD's compiler waits for one wave's stores alone."""
    for seed, part in enumerate(PARTS, 1):
        if part == "grid_sync" and arch.startswith("gfx9"):
            continue
        done = run(features, part, arch=arch, options=[f"--weak={seed}"])
        must(done.returncode == 0 and done.stdout.endswith("ok\n") and not done.stderr, done)


def test_profile(features: Path, tmp_path: Path) -> None:
    done = run(features, "launches", options=[f"--profile={tmp_path / 'counters.json'}"])
    assert "axpy" in done.stderr and (tmp_path / "counters.html").exists()


def test_streams_of_their_own_for_each_thread() -> None:
    """Compiled so, a program calls the functions that end in _spt."""
    program = compiler().program(
        Path(__file__).with_name("features.hip"), ("gfx1100",), "-fgpu-default-stream=per-thread"
    )
    for part in ("launches", "managed_variables", "graphs", "grid_sync"):
        done = run(program, part, arch="gfx1100")
        must(done.returncode == 0 and done.stdout == "ok\n" and not done.stderr, done)
    assert b"hipLaunchKernel_spt" in program.read_bytes()
