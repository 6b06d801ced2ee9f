"""What may go wrong around the service costs time, or is said with its reason and the way out: odd things in the cache,
full disks, wrong settings, a service that is stopped, clients that are slow, workers that die."""

from __future__ import annotations

import errno
import faulthandler
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ptx2amd.service import entry, server, translation
from ptx2amd.service.protocol import FRAME, Message, receive
from tests.service.other_users import OWN_TMP, program, run, works, works_in_own_tmp
from tests.service.test_server import PTX, _server, _socket, _workers, ask, long_kernel, request


@contextmanager
def serving(folder: Path, **changes: str) -> Iterator[Path]:
    """A service of its own; the path of its socket."""
    folder.chmod(0o700)
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(folder), "PTX2AMD_SERVICE_IDLE": "60", **changes}
    process = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env=environment)
    try:
        yield _socket(folder, process)
    finally:
        process.kill()
        process.wait(10)


def modules(count: int) -> list[bytes]:
    return [PTX.replace(b"= 7;", b"= %d;" % number) for number in range(count)]


def index(path: Path, cache: Path | str, text: bytes = PTX) -> Message:
    return ask(path, {"op": "index", "module": entry.module_id(text), "cache": str(cache), "name": "t"}, text)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def to_itself(path: Path) -> None:
    path.symlink_to(path.name)


ODD: dict[str, Callable[[Path], object]] = {
    "a FIFO": fifo, "a folder": Path.mkdir, "a link to itself": to_itself, "an empty file": Path.touch,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"), "unreadable": lambda path: path.touch(0),
}  # fmt: skip


def test_odd_things_in_the_cache_do_not_end_the_service(tmp_path: Path) -> None:
    """Not at its start, not when it makes room."""
    cache = tmp_path / "cache"
    for number, make in enumerate(ODD.values()):
        (cache / f"{number:02x}").mkdir(parents=True, mode=0o700)
        make(cache / f"{number:02x}" / f"{number:064x}.p2a")
    to_itself(cache / "aa")
    fifo(cache / "bb")
    (cache / "cc").mkdir(mode=0)
    with serving(tmp_path, PTX2AMD_CACHE_LIMIT="0", PTX2AMD_CACHE_DIR=str(cache)) as path:
        for text in modules(3):
            assert index(path, cache, text).header["status"] == "ok"


@pytest.mark.parametrize("odd", ODD)
def test_odd_entries_cost_a_translation(tmp_path: Path, odd: str) -> None:
    """In the place of the very entries that a program wants; it gets the right numbers, and does not wait."""
    own = {"HOME": str(tmp_path), "PTX2AMD_CACHE_DIR": str(tmp_path / "cache")}
    works(tmp_path, **own)
    entries = sorted((tmp_path / "cache").rglob("*.p2a"))
    assert len(entries) == 2
    for path in entries:
        path.unlink()
        ODD[odd](path)
    begin = time.monotonic()
    works(tmp_path, **own)
    assert time.monotonic() - begin < 60
    assert odd == "a folder" or all(path.is_file() and path.stat().st_size > 100 for path in entries)


@pytest.mark.parametrize("value", ["", "4G", "1e9", "-1", "lots", "0"])
def test_no_limit_keeps_the_service_from_starting(tmp_path: Path, value: str) -> None:
    with serving(tmp_path, PTX2AMD_CACHE_LIMIT=value) as path:
        assert index(path, tmp_path / "cache").header["status"] == "ok"
        log = path.with_suffix(".log").read_text()
    wrong = value in ("1e9", "-1", "lots")
    assert (f"PTX2AMD_CACHE_LIMIT={value}: expected a size such as 512M, 4G or 4GiB" in log) == wrong


@pytest.mark.parametrize("value", ["abc", "0", "-5", ""])
def test_no_idle_time_keeps_programs_from_working(tmp_path: Path, value: str) -> None:
    works(tmp_path, HOME=str(tmp_path), PTX2AMD_RUNTIME_DIR=str(tmp_path), PTX2AMD_SERVICE_IDLE=value)
    for path in tmp_path.glob("service-*.sock"):
        os.kill(_server(path), signal.SIGTERM)


def test_the_reason_of_a_service_that_does_not_start_is_said(tmp_path: Path) -> None:
    own = {"HOME": str(tmp_path), "PTX2AMD_RUNTIME_DIR": str(tmp_path)}
    works(tmp_path, **own, PTX2AMD_SERVICE_IDLE="0.1")
    [log] = tmp_path.glob("service-*.log")
    time.sleep(1)
    log.with_suffix(".sock").mkdir()
    done = run(program(tmp_path / "works.py"), **own, PTX2AMD_CACHE="0")
    assert "cannot start the translation service" in done.stderr and ".sock" in done.stderr
    assert "directory" in done.stderr and str(log) in done.stderr and "Traceback" in log.read_text()


@OWN_TMP
@pytest.mark.parametrize("full", ["/tmp/cache", "/tmp/run", "/tmp/cache /tmp/run"])
def test_a_full_disk(full: str) -> None:
    """Of the cache: kernels are translated again, and that is said. Of the service's folder: nothing is lost."""
    before = "".join(f"mkdir -m 700 {path}; mount -t tmpfs -o size=64k,mode=700 tmpfs {path}; "
                     f"dd if=/dev/zero of={path}/x 2>/dev/null; " for path in full.split())  # fmt: skip
    own = {"HOME": "/tmp", "PTX2AMD_CACHE_DIR": "/tmp/cache", "PTX2AMD_RUNTIME_DIR": "/tmp/run"}
    done = works_in_own_tmp(before + "mkdir -p -m 700 /tmp/run", "", **own)
    said = "the cache folder /tmp/cache can't be written (No space left on device): kernels are translated again"
    assert (done.stderr.count(said) == 1) == ("cache" in full) and done.stderr.count("\n") <= 1


@OWN_TMP
def test_a_cache_that_is_read_only(tmp_path: Path) -> None:
    """What is in it is used; the rest costs time. Larger than its limit, it stays so."""
    before = "mkdir -m 700 /tmp/cache; mount -t tmpfs -o mode=700 tmpfs /tmp/cache; "
    full = 'mkdir /tmp/cache/00; echo x >"/tmp/cache/00/$(printf %064d 0).p2a"; '
    own = {"HOME": "/tmp", "PTX2AMD_CACHE_DIR": "/tmp/cache", "PTX2AMD_CACHE_LIMIT": "0"}
    done = works_in_own_tmp(before + full + "mount -o remount,ro /tmp/cache", "", **own)
    assert done.stderr.count("can't be written (") == done.stderr.count("Read-only file system") == 1


@pytest.mark.parametrize("name", ["line\nbreak", "percent%0A%25", "separators\u2028\x85\v\f", "bytes\udcff\udc80", " "])
def test_any_name_of_a_cache_folder(tmp_path: Path, name: str) -> None:
    """What the service writes, the program finds in its next run."""
    own = {"HOME": str(tmp_path), "PTX2AMD_CACHE_DIR": str(tmp_path / name)}
    works(tmp_path, **own)
    works(tmp_path, **own, PTX2AMD_TRACE=str(tmp_path / "trace"))
    assert len(list((tmp_path / name).rglob("*.p2a"))) == 2
    events = [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]
    assert [event["cache"] for event in events if event.get("event") == "translate"] == [True, True]


def test_without_a_cache_a_process_translates_once(tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    command = program(script)
    script.write_text("cu = Driver().start()\nstill_works(cu)\nstill_works(cu)\n")
    own = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PTX2AMD_CACHE": "0"}
    own["PTX2AMD_TRACE"] = str(tmp_path / "trace")
    done = run(command, **own)
    assert done.stdout.count("still works") == 2, done.stderr
    events = [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]
    assert [event["cache"] for event in events if event.get("event") == "translate"] == [False, False, True, True]
    assert not list(tmp_path.rglob("*.p2a")) and not list(tmp_path.glob("ptx2amd-*"))


def test_the_limit_holds_while_the_service_lives(tmp_path: Path) -> None:
    cache, bound = tmp_path / "cache", 1500
    with serving(tmp_path, PTX2AMD_CACHE_LIMIT=str(bound)) as path:
        for text in modules(40):
            reply = index(path, cache, text)
            assert reply.header["stored"] == "1"
        size = len(reply.body)
        end = time.monotonic() + 10  # room is made after the answer
        while (held := sum(file.stat().st_size for file in cache.rglob("*.p2a"))) > bound and time.monotonic() < end:
            time.sleep(0.05)
    assert 0 < held <= bound and 40 * size > 2 * bound


def test_slow_clients_hold_up_nobody(tmp_path: Path) -> None:
    """More of them than there are processors: they send a byte now and then, or nothing."""
    with serving(tmp_path) as path:
        slow = []
        for _ in range(2 * (os.cpu_count() or 1) + 2):
            slow.append(socket.socket(socket.AF_UNIX))
            slow[-1].connect(str(path))
        begin = time.monotonic()
        for number, text in enumerate(modules(5)):
            for client in slow[::2]:
                client.send(bytes(FRAME.pack(100, 0, 0)[number : number + 1]))
            assert index(path, "", text).header["status"] == "ok"
        assert time.monotonic() - begin < server.REQUEST_SECONDS
        for client in slow:
            client.close()


def test_a_request_has_a_deadline_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with short_service(tmp_path, monkeypatch, REQUEST_SECONDS=1.0) as path, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        begin = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - begin < 20:
                client.send(b"\0")
                time.sleep(0.1)
        assert time.monotonic() - begin < 10


def test_a_client_that_has_closed_for_writing_is_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as path, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(path))
        client.sendall(Message(request(tmp_path), PTX).pack())
        client.shutdown(socket.SHUT_WR)
        assert receive(client).header["status"] == "ok"


@contextmanager
def short_service(folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: object) -> Iterator[Path]:
    """A service in a child of this process, in which the server's names are changed."""
    folder.chmod(0o700)
    monkeypatch.setenv("PTX2AMD_RUNTIME_DIR", str(folder))
    if not (child := os.fork()):
        try:
            faulthandler.disable()  # pytest's
            for name, value in changes.items():
                setattr(server, name, value)
            server.Server("short", 60, 1 << 30, 0).run([])
        finally:
            os._exit(0)
    path = folder / "service-short.sock"
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(str(path))
                    break
                except OSError:
                    time.sleep(0.05)
        yield path
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("first", ["status 3", "SIGKILL", "SIGSEGV"])
@pytest.mark.parametrize("second", ["answers", "dies too"])
def test_a_worker_that_dies_has_one_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    answer = translation.answer

    def dies(message: Message, build: str, again: bool = False) -> Message:
        if again and second == "answers":
            return answer(message, build, again)
        if first == "status 3":
            os._exit(3)  # as LLVM does on some IR
        os.kill(os.getpid(), signal.Signals[first])
        raise AssertionError

    monkeypatch.setattr(translation, "answer", dies)
    with short_service(tmp_path, monkeypatch) as path:
        reply = index(path, "")
    if second == "answers":
        assert reply.header["status"] == "ok"
    else:
        cause = {"status 3": "status 3", "SIGKILL": "signal 9, as when memory runs out", "SIGSEGV": "signal 11"}[first]
        assert reply.body.decode() == f"the translator process ended with {cause}"


def test_the_worker_of_a_client_that_leaves_has_none(tmp_path: Path) -> None:
    text = long_kernel(60000)
    with serving(tmp_path) as path:
        service = _server(path)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            header = request(tmp_path, op="kernel", arch="gfx942", kernel="long", module=entry.module_id(text))
            connection.sendall(Message(header, text).pack())
            end = time.monotonic() + 20
            while not _workers(service) and time.monotonic() < end:
                time.sleep(0.05)
            assert _workers(service)
        end = time.monotonic() + 10
        while _workers(service) and time.monotonic() < end:
            time.sleep(0.05)
        assert not _workers(service)


def test_more_clients_than_files(tmp_path: Path) -> None:
    """With few files the service takes as many clients as it can; the others wait, and all are answered."""
    limited = [sys.executable, "-c", "import resource, runpy; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)); "
               "runpy.run_module('ptx2amd.service', run_name='__main__')"]  # fmt: skip
    tmp_path.chmod(0o700)
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(tmp_path), "PTX2AMD_SERVICE_IDLE": "60"}
    process = subprocess.Popen(limited, env=environment)
    try:
        path = _socket(tmp_path, process)
        clients = [socket.socket(socket.AF_UNIX) for _ in range(60)]
        for client in clients:
            client.settimeout(60)
            client.connect(str(path))
        time.sleep(0.5)
        for client in clients:
            client.sendall(Message({"op": "index"}).pack())
        assert {receive(client).header["status"] for client in clients} == {"error"}  # of a request without an image
        for client in clients:
            client.close()
        assert index(path, "").header["status"] == "ok" and process.poll() is None
    finally:
        process.kill()
        process.wait(10)


def test_no_room_for_a_worker_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fork, tried = os.fork, []

    def full() -> int:
        tried.append(1)
        if len(tried) == 2:  # the first makes the service
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return fork()

    monkeypatch.setattr(os, "fork", full)
    with short_service(tmp_path, monkeypatch) as path:
        reply = index(path, "")
        assert (reply.header["code"], reply.body) == (
            server.NO_WORKER, b"the translator has no room for a worker: Resource temporarily unavailable")  # fmt: skip
        assert index(path, "").header["status"] == "ok"


@pytest.mark.slow
def test_a_stopped_service_is_named(tmp_path: Path) -> None:
    """A program waits ten seconds for it, then goes on with an error, which it gets at once for all other kernels."""
    own = {"HOME": str(tmp_path), "PTX2AMD_RUNTIME_DIR": str(tmp_path), "PTX2AMD_CACHE": "0"}
    works(tmp_path, **own, PTX2AMD_SERVICE_IDLE="60")
    [path] = tmp_path.glob("service-*.sock")
    service = _server(path)
    os.kill(service, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        done = run(program(tmp_path / "works.py"), **own)
        assert 9 < time.monotonic() - begin < 60
        assert f"the translation service is stopped: `kill -CONT {service}` lets it go on" in done.stderr
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(200)]  # more than the listener holds
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(str(path))
        begin = time.monotonic()
        done = run(program(tmp_path / "works.py"), **own)
        assert 20 < time.monotonic() - begin < 90
        assert "the translation service takes no requests: it is stopped, or overloaded" in done.stderr
        for client in waiting:
            client.close()
    finally:
        os.kill(service, signal.SIGCONT)
    works(tmp_path, **own)
    os.kill(service, signal.SIGTERM)
