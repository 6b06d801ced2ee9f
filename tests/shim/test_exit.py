"""The end of a process: calls from atexit handlers and destructors, and of threads that go on, answer codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ptx2amd import native


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exit") / "program"
    source = Path(__file__).with_name("exit_program.c")
    link = ["-L", str(native.DIRECTORY), "-lcuda", f"-Wl,-rpath,{native.DIRECTORY}"]
    subprocess.run(["gcc", "-O1", "-pthread", str(source), "-o", str(path), *link], check=True)
    return path


@pytest.mark.parametrize("busy", [False, True])
def test_calls_while_the_process_ends(program: Path, busy: bool) -> None:
    environment = {**os.environ, "PTX2AMD_DEVICE": "vgpu:gfx942", "PTX2AMD_TRACE": ""}
    done = subprocess.run(
        [str(program), *(["busy"] if busy else [])], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    said = [line for line in done.stderr.splitlines() if "that was freed before its turn" not in line]
    assert said == [
        "atexit 0 0 0 0 0 0",  # the last of them releases the context
        "destructor 709 709 709 400 400 201",
    ]
