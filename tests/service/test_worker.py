"""Workers stay for further requests, and what one has translated before changes nothing."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from ptx2amd.service import entry
from ptx2amd.service.entry import Entry
from tests.service.test_faults import serving, short_service
from tests.service.test_server import PTX, _name, _server, ask, request


def children(server: int) -> dict[int, str]:
    """The processes of a service: pid -> name."""
    pids = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return {int(pid): _name(pid) for pid in pids}


def code(path: Path, arch: str, text: bytes = PTX) -> bytes:
    """A kernel's code object, which is in no cache."""
    header = request(Path(), op="kernel", arch=arch, kernel="k", module=entry.module_id(text), cache="")
    reply = ask(path, header, text)
    assert reply.header["status"] == "ok", reply.body
    return Entry.unpack(reply.body, "kernel").payload


def test_a_used_worker_gives_the_code_of_a_new_one(tmp_path: Path) -> None:
    archs = ["gfx942", "gfx1100", "gfx942", "gfx90a", "gfx1100"]
    with serving(tmp_path) as path:
        used: list[bytes] = []
        workers: set[int] = set()
        for arch in archs:
            used.append(code(path, arch))
            workers |= set(children(_server(path)))
        assert len(workers) == 1
        for arch, expected in zip(archs, used, strict=True):
            for pid in children(_server(path)):
                os.kill(pid, signal.SIGKILL)
            assert code(path, arch) == expected
            assert not workers & set(children(_server(path)))


def test_workers_end_when_no_requests_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with short_service(tmp_path, monkeypatch, KEEP_SECONDS=0.1) as path:
        code(path, "gfx942")
        server = _server(path)
        end = time.monotonic() + 20
        while children(server) and time.monotonic() < end:
            time.sleep(0.05)
        assert not children(server)
        code(path, "gfx942")


def test_workers_end_with_their_service(tmp_path: Path) -> None:
    with serving(tmp_path) as path:
        code(path, "gfx942")
        [worker] = children(_server(path))
    end = time.monotonic() + 10
    while _name(str(worker)).startswith("ptx2amd") and time.monotonic() < end:
        time.sleep(0.05)
    assert not _name(str(worker)).startswith("ptx2amd")
