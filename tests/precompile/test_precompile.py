"""`precompile`: of a whole environment, on a cluster, and again after it was stopped. What it leaves in the cache is
what a program asks for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ptx2amd.cli import precompile
from ptx2amd.cli.precompile import text
from ptx2amd.precompile.images import files_of, images_of
from ptx2amd.precompile.run import FIXED, Progress, fill
from tests.fatbin.containers import entry, executable, fatbin
from tests.service.test_server import long_kernel

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def module(*names: str) -> bytes:
    return (HEAD + "".join(f".visible .entry {name}() {{ ret; }}\n" for name in names)).encode()


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Like an environment of Python: libraries with PTX and without, two with the same, and a file of PTX."""
    folder = tmp_path / "venv" / "lib" / "site-packages" / "package"
    folder.mkdir(parents=True)
    library = executable(b".nv_fatbin", fatbin(entry(module("a", "b"), encoding="zstd")))
    (folder / "libone.so").write_bytes(library)
    (folder / "libsame.so.1").write_bytes(library)
    (folder / "liblink.so").symlink_to("libone.so")
    (folder / "libplain.so").write_bytes(executable(b".text", b"no CUDA code"))
    (folder / "kernels.ptx").write_bytes(module("c"))
    (folder / "notes.txt").write_bytes(module("no"))
    (folder / "broken.fatbin").write_bytes(b"\x50\xed\x55\xba" + bytes(3))
    return tmp_path / "venv"


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "PTX2AMD_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "ptx2amd.cli", "precompile", *arguments]
    return subprocess.run(command, env=own, capture_output=True, text=True, timeout=300)


def entries(tmp_path: Path) -> dict[Path, float]:
    return {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.p2a")}


def test_files_of_an_environment(environment: Path) -> None:
    assert [path.name for path in files_of(environment)] == [
        "broken.fatbin",
        "kernels.ptx",
        "libone.so",
        "libsame.so.1",
    ]


def test_of_the_ptx_for_several_chips_those_that_programs_get(tmp_path: Path) -> None:
    several = [entry(module(f"k{sm}").replace(b"sm_80", f"sm_{sm}".encode()), sm=sm) for sm in (70, 75, 80, 90, 120)]
    path = tmp_path / "several.fatbin"
    path.write_bytes(fatbin(*several))
    assert sorted(image.sm for image in images_of([path], [])) == [80, 120]


def test_an_environment_and_once_more(environment: Path, tmp_path: Path) -> None:
    first = run(tmp_path, "--env", str(environment))
    assert "3 kernels of 2 modules" in first.stdout and "1 failed" in first.stdout
    assert first.returncode == 1 and "broken.fatbin" in first.stderr
    before = entries(tmp_path)
    assert len(before) == 5  # two indices, three kernels
    again = run(tmp_path, "--env", str(environment))
    assert "3 kernels of 2 modules" in again.stdout
    kept = entries(tmp_path)
    assert sum(kept[path] == before[path] for path in before) == 3, "kernels are not translated again"


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    (tmp_path / "fast.ptx").write_bytes(module("a", "b", "c"))
    (tmp_path / "slow.ptx").write_bytes(long_kernel(60_000))
    own = {**os.environ, "PTX2AMD_CACHE_DIR": str(tmp_path / "cache")}
    files = [str(tmp_path / name) for name in ("fast.ptx", "slow.ptx")]
    command = [sys.executable, "-m", "ptx2amd.cli", "precompile", *files]
    process = subprocess.Popen(command, env=own, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + 120
    while len(entries(tmp_path)) < 5 and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "the same command goes on" in said and "Traceback" not in said
    before = entries(tmp_path)
    assert "3 kernels of 1 modules" in run(tmp_path, files[0]).stdout
    after = entries(tmp_path)
    assert sum(after[path] == before[path] for path in before) >= 3


@pytest.mark.slow
def test_on_a_dask_cluster(environment: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        done = run(tmp_path, "--env", str(environment), "--executor", f"dask:{cluster.scheduler_address}")
    assert "3 kernels of 2 modules" in done.stdout, done.stderr
    assert len(entries(tmp_path)) == 5


@pytest.mark.parametrize(("where", "why"), [("slurm:x", "expected dask:ADDRESS"), ("dask:", "expected dask:ADDRESS")])
def test_executors_that_there_are_not(tmp_path: Path, where: str, why: str) -> None:
    (tmp_path / "k.ptx").write_bytes(module("a"))
    done = run(tmp_path, str(tmp_path / "k.ptx"), "--executor", where)
    assert done.returncode == 1 and why in done.stderr


def test_progress_in_words() -> None:
    found = Progress(9, modules=9, kernels=400, done=100, work=4000, work_done=1000, now="libx.so")
    assert text(found, 50) == "100 of 400 kernels, 2.0/s, 2 min left: libx.so"
    found.modules = 3
    assert text(found, 50) == "100 of 400 kernels of 3 modules (9 in all), 2.0/s: libx.so"


def test_small_kernels_are_work_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the time left of an environment is hours while its small kernels are at hand."""
    monkeypatch.setenv("PTX2AMD_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "small.ptx"
    path.write_bytes(module("a", "b", "c"))
    done = fill(images_of([path], []), ["gfx942"], "", "", lambda progress: None)
    assert 3 * FIXED < done.work == done.work_done < 3 * FIXED + len(path.read_bytes())


def test_progress_in_a_log(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal: whole lines, of which there are few."""
    line, found = precompile.Line(), Progress(400, kernels=400, done=100, now="libx.so")
    line.show(found)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(precompile, "LOG", 0.0)
    line.show(found)
    line.clear()
    said = capsys.readouterr().err
    assert said.startswith("100 of 400 kernels") and said.endswith(": libx.so\n") and "\r" not in said
