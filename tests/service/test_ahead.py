"""Translating ahead: other kernels of a module are in the cache before the program asks for them, those that follow the
one that it asked for first; a program that has ended gets none, and nothing that is asked for waits for a guess."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptx2amd.service import cache, entry
from ptx2amd.service.build_id import build_id
from ptx2amd.service.protocol import Message
from tests.service.test_server import _server, _socket, _workers, ask, long_kernel

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
NAMES = [f"k{n}" for n in range(6)]
PTX = (HEAD + "".join(f".visible .entry {name}() {{ ret; }}\n" for name in NAMES)).encode()
CLIENT = """
import sys, time
from pathlib import Path
from tests.service.test_server import ask
path, folder, module, name = sys.argv[1:5]
body = Path(sys.argv[5]).read_bytes()
header = {"module": module, "encoding": "none", "size": "0", "cache": folder, "name": "t.ptx"}
assert ask(Path(path), {**header, "op": "index"}, body).header["status"] == "ok"
assert ask(Path(path), {**header, "op": "kernel", "arch": "gfx942", "kernel": name}, body).header["status"] == "ok"
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A service of our own that translates as many kernels ahead as the test says."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"PTX2AMD_RUNTIME_DIR": folder, "PTX2AMD_SERVICE_IDLE": "60", "PTX2AMD_AHEAD": str(request.param)}
        process = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env={**os.environ, **own})
        try:
            yield _socket(Path(folder), process)
        finally:
            process.terminate()
            process.wait(10)


def program(service: Path, folder: Path, text: bytes, kernel: str) -> subprocess.Popen[str]:
    """A program that has asked for a kernel and goes on."""
    source = folder / "module.ptx"
    source.write_bytes(text)
    arguments = [str(service), str(folder / "cache"), entry.module_id(text), kernel, str(source)]
    running = subprocess.Popen([sys.executable, "-c", CLIENT, *arguments], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert running.stdout and running.stdout.readline() == "done\n"
    return running


def path_of(folder: Path, text: bytes, kernel: str) -> Path:
    key = entry.kernel_key(entry.module_id(text), build_id(), "gfx942", "", kernel)
    return cache.path_of(folder / "cache", key)


def translated(folder: Path, text: bytes, names: list[str]) -> list[str]:
    return [name for name in names if path_of(folder, text, name).exists()]


def wait_for(condition, seconds: float = 60) -> bool:  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.parametrize("service", [64], indirect=True)
def test_the_other_kernels_come_by_themselves(service: Path, tmp_path: Path) -> None:
    with program(service, tmp_path, PTX, "k2"):
        assert wait_for(lambda: translated(tmp_path, PTX, NAMES) == NAMES)


@pytest.mark.parametrize("service", [2], indirect=True)
def test_those_that_follow_come_first_and_no_more_than_the_limit(service: Path, tmp_path: Path) -> None:
    with program(service, tmp_path, PTX, "k2"):
        assert wait_for(lambda: len(translated(tmp_path, PTX, NAMES)) == 3)
        time.sleep(0.5)
        assert translated(tmp_path, PTX, NAMES) == ["k2", "k3", "k4"]


@pytest.mark.parametrize("service", [0], indirect=True)
def test_switched_off(service: Path, tmp_path: Path) -> None:
    with program(service, tmp_path, PTX, "k2"):
        time.sleep(1)
        assert translated(tmp_path, PTX, NAMES) == ["k2"]


SLOW = HEAD.encode() + b".visible .entry fast() { ret; }\n" + long_kernel(40_000).partition(b".address_size 64\n")[2]


@pytest.mark.parametrize("service", [64], indirect=True)
def test_it_stops_when_the_program_ends(service: Path, tmp_path: Path) -> None:
    server = _server(service)
    running = program(service, tmp_path, SLOW, "fast")
    assert wait_for(lambda: len(_workers(server)) == 1), "the slow kernel is translated ahead"
    [worker] = _workers(server)
    assert os.sched_getscheduler(worker) == os.SCHED_IDLE
    running.communicate("")
    assert wait_for(lambda: not _workers(server), 10)
    assert not translated(tmp_path, SLOW, ["long"])


@pytest.mark.parametrize("service", [64], indirect=True)
def test_what_is_asked_for_meanwhile_gets_the_usual_priority(service: Path, tmp_path: Path) -> None:
    server = _server(service)
    text = SLOW
    slow = "long"
    with program(service, tmp_path, text, "fast"):
        assert wait_for(lambda: len(_workers(server)) == 1)
        [worker] = _workers(server)
        header = {"module": entry.module_id(text), "encoding": "none", "size": "0", "cache": str(tmp_path / "cache"),
                  "name": "t.ptx", "op": "kernel", "arch": "gfx942", "kernel": slow}  # fmt: skip
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(service))
            connection.sendall(Message(header, text).pack())
            assert wait_for(lambda: os.sched_getscheduler(worker) == os.SCHED_OTHER, 10)
            assert _workers(server) == {worker}, "it is not translated twice"
        quick = ask(service, {**header, "kernel": "fast"}, text)  # which is in the cache
        assert quick.header["status"] == "ok"
