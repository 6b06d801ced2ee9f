"""The translation service: a Unix socket, one forked worker per request.

The server process itself only accepts and forks, so nothing a module contains can harm it. The request of a
worker that crashed is given to a second one, which keeps LLVM apart; when that dies too, the request has failed.
Workers inherit the imported translator, so they start in milliseconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import selectors
import shutil
import signal
import socket
import struct
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

from ptx2amd import settings
from ptx2amd.service import build_id, cache, translation
from ptx2amd.service.protocol import Message, ProtocolError, receive, unpack

REQUEST_SECONDS = 30.0  # to read a request; translation itself has no limit
PEER = struct.Struct("3i")  # SO_PEERCRED: pid, uid, gid
SOCKET_DIRECTORY = 70  # bytes of a folder's path; a socket's whole path has 108


def runtime_directory() -> Path:
    """PTX2AMD_RUNTIME_DIR, else $XDG_RUNTIME_DIR/ptx2amd where that is ours, else /tmp/ptx2amd-<uid>; mode 0700."""
    if explicit := settings.RUNTIME_DIR.text():
        return _ours_alone(Path(explicit))
    if base := os.environ.get("XDG_RUNTIME_DIR"):
        path = Path(base) / "ptx2amd"
        with contextlib.suppress(OSError):  # of another login, or not there (su, containers)
            if len(bytes(path)) < SOCKET_DIRECTORY:
                return _ours_alone(path)
    return _ours_alone(Path(f"/tmp/ptx2amd-{os.getuid()}"))


def _ours_alone(path: Path) -> Path:
    path = path.absolute()
    path.mkdir(mode=0o700, exist_ok=True)
    stat = path.stat()
    if stat.st_uid != os.getuid() or stat.st_mode & 0o077:
        raise PermissionError(f"{path} must belong to you and be closed to others (chmod 700 {path})")
    return path


def socket_path(build: str) -> Path:
    return runtime_directory() / f"service-{build[:16]}.sock"


def _settle(scratch: Path) -> None:
    """Let go of the folders of the program that started the service, which lives on when they are gone."""
    shutil.rmtree(scratch, ignore_errors=True)  # what killed workers left
    scratch.mkdir(mode=0o700)
    os.chdir("/")
    tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)


@dataclass(frozen=True, slots=True)
class Worker:
    """One request in work. memory: a file in memory, for the request once it has been read."""

    connection: socket.socket
    memory: int
    again: bool = False  # the second for its request

    def read(self) -> Message:
        """The request, from the client or from the worker before this one. Raises ProtocolError, OSError."""
        if self.again:
            return unpack(os.pread(self.memory, os.fstat(self.memory).st_size, 0))
        self.connection.settimeout(REQUEST_SECONDS)
        request = receive(self.connection)
        self.connection.settimeout(None)
        with open(self.memory, "wb", closefd=False) as file:
            file.write(request.pack())
        return request

    def close(self) -> None:
        self.connection.close()
        os.close(self.memory)


class Server:
    """Accepts requests until idle for `idle` seconds."""

    def __init__(self, build: str, idle: float) -> None:
        self.build, self.idle = build, idle
        self.workers: dict[int, Worker] = {}  # by pid
        self.slots = os.cpu_count() or 1

    def run(self) -> None:
        """Serve; returns at once when another service already holds the socket's lock."""
        path = socket_path(self.build)
        with open(path.with_suffix(".lock"), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            path.unlink(missing_ok=True)
            _settle(path.with_suffix(".tmp"))
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
                listener.listen(128)
                translation.warm_up()  # requests wait in the backlog meanwhile
                cache.trim(cache.directory(), cache.limit())
                gc.freeze()  # forked workers share these pages
                try:
                    self._serve(listener)
                finally:
                    path.unlink(missing_ok=True)

    def _serve(self, listener: socket.socket) -> None:
        wake, child_signal = socket.socketpair()
        child_signal.setblocking(False)
        signal.set_wakeup_fd(child_signal.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        last = time.monotonic()
        with wake, child_signal, selectors.DefaultSelector() as selector:
            selector.register(wake, selectors.EVENT_READ)
            selector.register(listener, selectors.EVENT_READ)
            while self.workers or time.monotonic() - last < self.idle:
                ready = {key.fileobj for key, _ in selector.select(timeout=min(self.idle, 5.0))}
                if wake in ready:
                    wake.recv(4096)
                self._reap(listener)
                if listener in ready:
                    last = time.monotonic()
                    self._accept(listener)
                while len(self.workers) >= self.slots:  # the backlog waits in the listener
                    self._reap(listener, block=True)

    def _accept(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        peer = PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size))
        if peer[1] != os.getuid():
            connection.close()
            return
        self._start(Worker(connection, os.memfd_create("request")), listener)

    def _start(self, worker: Worker, listener: socket.socket) -> None:
        pid = os.fork()
        if pid:
            self.workers[pid] = worker
            return
        status = 1
        try:
            listener.close()
            status = _work(worker, self.build)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def _reap(self, listener: socket.socket, block: bool = False) -> None:
        """Collect ended workers. One that died without an answer gets a successor, or is answered for."""
        while self.workers:
            pid, status = os.waitpid(-1, 0 if block else os.WNOHANG)
            if not pid:
                return
            block = False
            worker = self.workers.pop(pid)
            # A status is LLVM's: it ends the process over some errors.
            crashed = status != 0 and not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)
            if crashed and not worker.again and os.fstat(worker.memory).st_size:
                self._start(replace(worker, again=True), listener)
                continue
            if status:
                how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status >> 8}"
                text = f"the translator process ended with {how}"
                _send(worker.connection, failure(text, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"))
            worker.close()


def failure(text: str, code: str) -> Message:
    return Message({"status": "error", "code": code}, text.encode())


def _send(connection: socket.socket, message: Message) -> None:
    with contextlib.suppress(OSError):  # the client is gone: nobody to tell
        connection.sendall(message.pack())


def _work(worker: Worker, build: str) -> int:
    """A worker's life: read the request, answer it. The exit status tells the server whether it did."""
    signal.set_wakeup_fd(-1)
    os.setpgid(0, 0)
    try:
        request = worker.read()
    except (ProtocolError, OSError):
        return 0  # no request: nobody to answer
    threading.Thread(target=_leave_with, args=[worker.connection], daemon=True).start()
    _send(worker.connection, translation.answer(request, build, worker.again))
    return 0


def _leave_with(connection: socket.socket) -> None:
    """End the worker, and what it started, when its client is gone: others wait for the place. (LLVM runs without
    Python's lock.)"""
    with contextlib.suppress(OSError):
        if not connection.recv(1):
            os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Entry point of `python -m ptx2amd.service`. The client that starts it says which translator it expects."""
    build, expected = build_id.build_id(), settings.BUILD_ID.text()
    if expected and expected != build:
        raise SystemExit(
            f"this translator has build id {build[:16]}, the libcuda shim expects {expected[:16]}; "
            "run `python -m ptx2amd.native`"
        )
    log = os.open(runtime_directory() / "service.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    Server(build, settings.SERVICE_IDLE.number()).run()
