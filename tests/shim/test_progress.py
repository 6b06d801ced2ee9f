"""What a program that waits for translations shows on a terminal: a line while it waits, which is gone when it goes on,
and at the end what the translations took. Nothing elsewhere, and nothing when all was in the cache."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_samples import build


def shown(program: Path, cache: Path, terminal: bool = True, **settings: str) -> str:
    """Standard error of a run that says so from the first wait on."""
    environment = {
        **os.environ, "XDG_CACHE_HOME": str(cache), "PTX2AMD_PROGRESS_AFTER": "0", "TERM": "xterm",
        **{f"PTX2AMD_{name}": value for name, value in settings.items()},
    }  # fmt: skip
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu:gfx942", "--", str(program)]
    if not terminal:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
        return done.stderr
    master, slave = pty.openpty()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=slave, stdin=slave, start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(2), os.O_RDWR)),  # the session's terminal
    ) as running:  # fmt: skip
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 4096):
                text += part
        except OSError:  # the other side is closed
            pass
        assert running.wait(timeout=120) == 0
    os.close(master)
    return text.decode()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("progress")
    return build.build("vector_add", folder)


def test_first_and_next_run(program: Path, tmp_path: Path) -> None:
    first = shown(program, tmp_path)
    assert "ptx2amd: translating kernels for this GPU: 0 done" in first
    rest = first.rpartition("\r\033[K")[2]
    assert "1 kernel was translated in" in rest, "the line was removed before the summary"
    assert str(tmp_path) in rest
    assert shown(program, tmp_path) == "", "the second run waits for nothing"


@pytest.mark.parametrize("quiet", [False, True])
def test_silence(program: Path, tmp_path: Path, quiet: bool) -> None:
    assert shown(program, tmp_path, terminal=quiet, QUIET="1" if quiet else "") == ""


def test_short_waits(program: Path, tmp_path: Path) -> None:
    assert shown(program, tmp_path, PROGRESS_AFTER="60") == ""
