"""Requests to the translation service that are garbage, cut, lied about, half-closed, slow or left: each ends in an
answer or a closed connection, and afterwards the service answers as before, with as many open files as before."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx2amd.service import entry
from ptx2amd.service.protocol import FRAME, MAX_BODY, MAX_HEADER, Message, ProtocolError, receive

PTX = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
SECONDS = 60  # in which every connection has its end


@pytest.fixture(scope="module")
def service() -> Iterator[Path]:
    """A service of its own; the path of its socket."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": folder, "PTX2AMD_SERVICE_IDLE": "600"}
        process = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env=environment)
        try:
            end = time.monotonic() + SECONDS
            while not (found := list(Path(folder).glob("*.sock"))) or not listens(found[0]):
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.05)
            yield found[0]
            assert process.poll() is None, "the service has ended"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


def listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def good(chosen: random.Random) -> Message:
    text = PTX + b"// %d\n" % chosen.randrange(1 << 30)
    return Message({"op": "index", "module": entry.module_id(text), "encoding": "none", "size": "0", "cache": ""}, text)


def other_value(message: Message, chosen: random.Random) -> bytes:
    key = chosen.choice([*message.header, "arch", "kernel", "options", "name"])
    values = ["", "0", "-1", "kernel", "linked", "zstd", "lz4", "\n", "%", "\udcff", "/", "/dev/null", ".."]
    message.header[key] = chosen.choice([*values, "9" * 30, "x" * 5000])
    return message.pack()


def missing(message: Message, chosen: random.Random) -> bytes:
    del message.header[chosen.choice(list(message.header))]
    return message.pack()


def lied(message: Message, chosen: random.Random) -> bytes:
    numbers = (0, 1, 16, 100, MAX_HEADER, MAX_HEADER + 1, (1 << 32) - 1)
    bodies = (0, 1, 16, 100, MAX_BODY, MAX_BODY + 1, (1 << 64) - 1)
    frame = FRAME.pack(chosen.choice(numbers), chosen.choice((0, 0, 1)), chosen.choice(bodies))
    return frame + message.pack()[FRAME.size :]


def flipped(message: Message, chosen: random.Random) -> bytes:
    blob = bytearray(message.pack())
    for _ in range(chosen.randrange(1, 5)):
        blob[chosen.randrange(len(blob))] ^= 1 << chosen.randrange(8)
    return bytes(blob)


KINDS: dict[str, Callable[[Message, random.Random], bytes]] = {
    "good": lambda message, chosen: message.pack(),
    "bytes": lambda message, chosen: chosen.randbytes(chosen.choice((0, 1, 15, 16, 17, 300))),
    "cut": lambda message, chosen: message.pack()[: chosen.randrange(len(message.pack()))],
    "more": lambda message, chosen: message.pack() + chosen.randbytes(9),
    "twice": lambda message, chosen: message.pack() * 2,
    "value": other_value, "missing": missing, "sizes": lied, "bits": flipped,
}  # fmt: skip
WAYS = ("waits", "closes for writing", "leaves", "in pieces")


def send(path: Path, blob: bytes, way: str, chosen: random.Random) -> str:
    """How the connection ends: "ok", "error" (both with an answer), "closed", or "left" by us."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(path))
        try:
            at = 0
            while at < len(blob):
                size = chosen.randrange(1, 40) if way == "in pieces" else len(blob)
                at += connection.send(blob[at : at + size])
            if way == "leaves":
                return "left"
            connection.shutdown(socket.SHUT_WR)  # also for those who wait: a cut request would wait for its deadline
            return receive(connection).header["status"]
        except (ProtocolError, ConnectionError):
            return "closed"


def open_files(path: Path) -> tuple[int, int]:
    """The service, and how many files it has open when it has nothing to do."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        [process, _, _] = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    end, count, seen = time.monotonic() + SECONDS, -1, 0
    while seen < 3 and time.monotonic() < end:  # the same for a while
        time.sleep(0.1)
        now = len(os.listdir(f"/proc/{process}/fd"))
        idle = not Path(f"/proc/{process}/task/{process}/children").read_text().strip()
        count, seen = (now, seen + 1) if now == count and idle else (now, 0)
    return int(process), count


def sweep(path: Path, rounds: int, seed: int) -> Counter[tuple[str, str]]:
    chosen, ends = random.Random(seed), Counter[tuple[str, str]]()
    assert send(path, good(chosen).pack(), "waits", chosen) == "ok"
    before = open_files(path)
    for _ in range(rounds):
        kind, way = chosen.choice(list(KINDS)), chosen.choice(WAYS)
        end = send(path, KINDS[kind](good(chosen), chosen), way, chosen)
        ends[kind, end] += 1
        assert end == ("left" if way == "leaves" else "ok") or kind not in ("good",), (kind, way, end)
    assert send(path, good(chosen).pack(), "waits", chosen) == "ok"
    assert open_files(path) == before
    return ends


def test_requests_that_are_no_good(service: Path) -> None:
    ends = sweep(service, 80, seed=1)
    assert {end for _, end in ends} == {"ok", "error", "closed", "left"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_requests_that_are_no_good(service: Path, seed: int) -> None:
    ends = sweep(service, 1000, seed=100 + seed)
    assert len(ends) > 15
