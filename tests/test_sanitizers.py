"""The native half under ASan and UBSan, and under TSan: tests of other folders run again on such builds.

Protects: memory errors, undefined behaviour and data races in the software GPU and in libcuda.so.1 that a plain run
survives. By hand: `python -m ptx2amd.native --sanitize thread --output build/thread`, then PTX2AMD_NATIVE=build/thread.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Kind:
    """gcc's name of the sanitizers, the library that has to be there first, and the options of their run time."""

    sanitizers: str
    library: str
    options: dict[str, str]


KINDS = {
    "address": Kind(
        "address,undefined", "libasan.so",
        # Python leaks, and `ptx2amd run` puts a library of ours first
        {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
    ),
    "thread": Kind("thread", "libtsan.so", {"TSAN_OPTIONS": "report_signal_unsafe=0:ignore_noninstrumented_modules=1"}),
}  # fmt: skip

#: How long an image is nobody says: of a corrupt one, headers are read as far as the memory is there.
SUPPRESSED = "interceptor_via_fun:scan_fatbin\n"

#: What runs with threads of its own, or with streams.
THREADS = ("vgpu/test_hip_streams.py", "vgpu/test_hip_graph.py", "vgpu/test_hip_graph_memory.py",
           "vgpu/test_hip_launch.py", "vgpu/test_hip_memory.py", "vgpu/test_kernels.py", "vgpu/test_deadlock.py",
           "vgpu/test_between_processes.py", "shim/test_threads.py", "shim/test_printf.py")  # fmt: skip
VGPU = [f"vgpu/{path.name}" for path in sorted((ROOT / "tests" / "vgpu").glob("test_*.py"))]
ALL = (*VGPU, "shim", "samples/test_samples.py")
RUNS = [("address", part) for part in ALL] + [("thread", part) for part in THREADS]


@cache
def library(kind: str) -> Path:
    """The folder of a build with the sanitizers."""
    target = ROOT / "build" / f"native-{kind}"
    command = [sys.executable, "-m", "ptx2amd.native", "--sanitize", KINDS[kind].sanitizers, "--output", str(target)]
    target.mkdir(parents=True, exist_ok=True)
    with (target / "lock").open("w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return target


def reports(kind: str, arguments: list[str], folder: Path) -> str:
    """What the sanitizers found while pytest ran with the arguments, and pytest's output if it failed."""
    first = ["gcc", f"-print-file-name={KINDS[kind].library}"]
    file = subprocess.run(first, capture_output=True, text=True, check=True)
    options = {name: f"{value}:log_path={folder / 'report'}" for name, value in KINDS[kind].options.items()}
    if kind == "address":
        (folder / "suppressions").write_text(SUPPRESSED)
        options["ASAN_OPTIONS"] += f":suppressions={folder / 'suppressions'}"
    environment = {**os.environ, **options, "LD_PRELOAD": file.stdout.strip(), "PTX2AMD_NATIVE": str(library(kind)),
                   "PTX2AMD_RUNTIME_DIR": tempfile.mkdtemp()}  # fmt: skip
    samples = [sys.executable, "-m", "cuda_samples.build", "build/samples"]  # here: nvcc does not run under sanitizers
    subprocess.run(samples, check=True, capture_output=True, cwd=ROOT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600, cwd=ROOT)
    nothing = done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED  # but slow ones
    found = "".join(path.read_text()[:4000] for path in sorted(folder.glob("report*")))
    return found + (f"{done.stdout[-3000:]}{done.stderr[-1000:]}" if done.returncode and not nothing else "")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "part"), RUNS)
def test_sanitized(kind: str, part: str, tmp_path: Path) -> None:
    found = reports(kind, [str(ROOT / "tests" / part)], tmp_path)
    assert not found, found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_sanitizers_are_there(kind: str) -> None:
    """That nothing is found means something only if the libraries were compiled for it."""
    for name in ("libptx2amd_vgpu.so", "libcuda.so.1"):
        symbols = subprocess.run(["nm", "-D", str(library(kind) / name)], capture_output=True, text=True, check=True)
        assert f"__{'asan' if kind == 'address' else 'tsan'}_init" in symbols.stdout
