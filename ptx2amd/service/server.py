"""The translation service: a Unix socket, forked workers that answer its requests, and workers that translate ahead.

The server process itself takes requests as bytes and forks, so nothing a module contains can harm it. The request of a
worker that died is given to a second one, which keeps LLVM apart; when that dies too, the request has failed.
Workers inherit the imported translator, so they start in milliseconds; they stay while requests come.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from ptx2amd import settings
from ptx2amd.codegen.binding import keep_memory
from ptx2amd.service import build_id, cache, translation
from ptx2amd.service.ahead import Ahead, Job, Key, key_of, usual_priority
from ptx2amd.service.folder import FolderError
from ptx2amd.service.place import scratch, socket_address, socket_path
from ptx2amd.service.protocol import Message, ProtocolError
from ptx2amd.service.worker import REQUEST_SECONDS, Client, Worker, send, work, work_ahead

CLIENTS = 256  # at a time, with two files each; others wait in the listener
OWN_FILES = 24  # that the server has open, at most
KEEP_SECONDS = 10.0  # without requests, until workers end
NO_WORKER = "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"
PEER = struct.Struct("3i")  # SO_PEERCRED: pid, uid, gid


def log(text: str) -> None:
    with contextlib.suppress(OSError):  # no room for it
        print(text, file=sys.stderr, flush=True)


def _tell(error: BaseException) -> None:
    """Log where an error came from. As Python itself does: to import a module may be what failed."""
    with contextlib.suppress(OSError):
        sys.excepthook(type(error), error, error.__traceback__)


class Server:
    """Accepts requests until idle for `idle` seconds; `limit`: of each cache folder, in bytes; `ahead`: kernels that
    are translated ahead for a program."""

    def __init__(self, build: str, idle: float, limit: int, ahead: int) -> None:
        self.ahead = Ahead(build, ahead)
        self.build, self.idle, self.limit = build, idle, limit
        self.reading: dict[int, Client] = {}  # by the connection's descriptor
        self.waiting: deque[Client] = deque()
        self.workers: dict[int, Worker] = {}  # by pid
        self.guesses: dict[int, tuple[int, Key]] = {}  # workers that translate ahead -> program, kernel
        self.hoping: dict[Key, list[Client]] = {}  # who has asked for what such a worker translates
        self.held: dict[str, int] = {}  # bytes in cache folders
        self.slots = os.cpu_count() or 1
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        room = CLIENTS if files == resource.RLIM_INFINITY else (files - OWN_FILES - self.slots) // 2  # a worker has one
        self.clients = max(1, min(CLIENTS, room))
        self.last = 0.0  # when there was work

    def run(self, said: list[str]) -> None:
        """Serve; returns at once when another service already holds the socket's lock. said: for the log."""
        path = socket_path(self.build)
        with open(os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            _log_to(path.with_suffix(".log"))
            for text in said:
                log(text)
            path.unlink(missing_ok=True)
            with scratch(path.with_suffix(".tmp")), socket.socket(socket.AF_UNIX) as listener:
                with socket_address(path) as address:
                    listener.bind(address)
                listener.listen(128)
                listener.setblocking(False)
                translation.warm_up()  # requests wait in the backlog meanwhile
                gc.freeze()  # forked workers share these pages
                try:
                    self._serve(listener)
                finally:
                    path.unlink(missing_ok=True)

    def _serve(self, listener: socket.socket) -> None:
        wake, child_signal = socket.socketpair()
        reports, self.report = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (wake, child_signal, reports):
            end.setblocking(False)
        signal.set_wakeup_fd(child_signal.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with wake, child_signal, reports, self.report, selectors.DefaultSelector() as selector:
            self.selector, self.inherited = selector, [listener, wake, child_signal, reports]
            selector.register(wake, selectors.EVENT_READ, lambda: wake.recv(4096))
            selector.register(reports, selectors.EVENT_READ, lambda: self._stored(reports.recv(1 << 16)))
            selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener))
            self.last, events = time.monotonic(), True
            steps: Iterator[None] | None = translation.preparations()
            while events or self._busy() or time.monotonic() - self.last < self.idle:
                events = False
                for key, _ in selector.select(0.0 if steps else min(self.idle, 1.0 if self.reading else 5.0)):
                    events = True
                    with contextlib.suppress(BlockingIOError):
                        key.data()
                if steps and not events and self._prepared(steps):
                    steps = None
                    gc.freeze()
                self._reap()
                self._drop_slow()
                while self.waiting and self._working() < self.slots:
                    self._start(self.waiting.popleft())
                while self._working() + len(self.guesses) < self.slots and (found := self.ahead.next()):
                    self._guess(*found)
                if not self._busy() and time.monotonic() - self.last > KEEP_SECONDS:
                    self._dismiss()

    def _busy(self) -> bool:
        return bool(self._working() or self.waiting or self.reading or self.guesses)

    def _working(self) -> int:
        """How many workers have a request."""
        return sum(worker.client is not None for worker in self.workers.values())

    def _accept(self, listener: socket.socket) -> None:
        try:
            if len(self.reading) + len(self.waiting) >= self.clients:
                raise OSError("too many clients")
            memory = os.memfd_create("request")
            try:
                connection, _ = listener.accept()
            except OSError:
                os.close(memory)
                raise
        except OSError:  # no more files can be open: in the listener they wait as well
            time.sleep(0.01)
            return
        peer = PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size))
        if peer[1] != os.geteuid():
            connection.close()
            os.close(memory)
            return
        self.last = time.monotonic()
        connection.setblocking(False)
        client = Client(connection, memory, self.last + REQUEST_SECONDS, peer[0])
        self.reading[connection.fileno()] = client
        self.selector.register(connection, selectors.EVENT_READ, lambda: self._read(client))

    def _read(self, client: Client) -> None:
        try:
            whole = client.receive()
        except BlockingIOError:
            return
        except (ProtocolError, OSError):  # the second: the client is gone, or no memory is left
            self._forget(client).close()  # no request: nobody to answer
            return
        if whole:
            self.waiting.append(self._forget(client))

    def _forget(self, client: Client) -> Client:
        self.selector.unregister(client.connection)
        return self.reading.pop(client.connection.fileno())

    def _drop_slow(self) -> None:
        """A client may not hold its place by sending a byte now and then."""
        now = time.monotonic()
        for client in [client for client in self.reading.values() if client.deadline < now]:
            self._forget(client).close()

    @staticmethod
    def _prepared(steps: Iterator[None]) -> bool:
        """Take a step; whether that was the last. Without it workers are slower, so it may fail: clients may have taken
        all files that this process can open."""
        try:
            return bool(next(steps, True))
        except (OSError, ImportError) as error:
            _tell(error)
            return True

    def _start(self, client: Client) -> None:
        if client.gone():
            client.close()
            return
        if not client.again and (self._guessed(client) or self._given(client)):
            return
        try:
            self._hire(client)
        except OSError as error:
            send(client.connection, failure(f"the translator has no room for a worker: {error.strerror}", NO_WORKER))
            client.close()

    def _hire(self, client: Client) -> None:
        """Start a worker with a request. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX)

        def life() -> int:
            ours.close()  # or the worker would not see the server's end
            return work(client, self.build, self.report, theirs)

        with theirs:
            try:
                pid = self._forked(life)
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        worker = self.workers[pid] = Worker(ours, client)
        self.selector.register(ours, selectors.EVENT_READ, lambda: self._ready(worker))

    def _given(self, client: Client) -> bool:
        """Whether a worker that is there could take a request."""
        return any(worker.client is None and worker.give(client) for worker in self.workers.values())

    def _ready(self, worker: Worker) -> None:
        self.last = time.monotonic()
        worker.take_back()

    def _dismiss(self) -> None:
        """End the workers, which have nothing to do."""
        for worker in self.workers.values():
            with contextlib.suppress(OSError):
                worker.channel.shutdown(socket.SHUT_WR)

    def _guessed(self, client: Client) -> bool:
        """Whether the kernel that a client asks for is being translated ahead: then it waits for that."""
        header = client.header()
        if header.get("op") != "kernel" or "module" not in header:
            return False
        key = key_of(header)
        if (watch := self.ahead.asked(client.pid, header, client.memory)) is not None:
            pid = client.pid
            self.selector.register(watch, selectors.EVENT_READ, lambda: self._ended(pid, watch))
        for worker, (_, other) in self.guesses.items():
            if other == key:
                usual_priority(worker)
                self.hoping.setdefault(key, []).append(client)
                return True
        return False

    def _guess(self, program: int, job: Job) -> None:
        """Translate what a program has not asked for."""
        with contextlib.suppress(OSError):  # no room for a worker: nobody waits for it
            self.guesses[self._forked(lambda: work_ahead(job, self.build, self.report))] = program, key_of(job.header)

    def _ended(self, program: int, watch: int) -> None:
        """A program is no more: nothing is translated ahead for it."""
        self.selector.unregister(watch)
        self.ahead.ended(program)
        for worker, (of, key) in self.guesses.items():
            if of == program and key not in self.hoping:
                with contextlib.suppress(OSError):
                    os.killpg(worker, signal.SIGKILL)

    def _forked(self, work: Callable[[], int]) -> int:
        """The pid of a worker, whose life is `work`. Raises OSError."""
        pid = os.fork()
        if pid:
            with contextlib.suppress(OSError):  # it may have done so, or even have ended
                os.setpgid(pid, pid)
            return pid
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            os.setpgid(0, 0)
            self.selector.close()
            hoping = (client for clients in self.hoping.values() for client in clients)
            busy = (worker.client for worker in self.workers.values() if worker.client)
            for other in [*self.reading.values(), *self.waiting, *busy, *hoping]:
                other.close()  # or its end would not be seen while this process lives
            for end in [*self.inherited, *(worker.channel for worker in self.workers.values())]:
                end.close()
            status = work()
        except BaseException as error:
            _tell(error)
        finally:
            os._exit(status)

    def _reap(self) -> None:
        """Collect ended workers. One that died without an answer gets a successor, or is answered for."""
        while self.workers or self.guesses:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self.last = time.monotonic()
            if pid in self.guesses:  # whose result is in the cache, if there is one
                self.waiting.extendleft(self.hoping.pop(self.guesses.pop(pid)[1], ()))
                continue
            worker = self.workers.pop(pid)
            client = worker.take_back()
            self.selector.unregister(worker.channel)
            worker.channel.close()
            if client is None:
                continue
            if status and not client.again and not client.gone():
                client.again = True
                self._start(client)
                continue
            if status and not client.gone():
                how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status >> 8}"
                memory = ", as when memory runs out" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == 9 else ""
                text = f"the translator process ended with {how}{memory}"
                send(client.connection, failure(text, NO_WORKER))
            client.close()

    def _stored(self, report: bytes) -> None:
        """An entry was written: the folder's limit holds. Deleting begins where it is reached, and makes some room, as
        all files have to be looked at."""
        size, root = int.from_bytes(report[:8], "little"), os.fsdecode(report[8:])
        held = self.held.get(root, self.limit) + size
        if held > self.limit:
            held = cache.trim(Path(root), self.limit).left
            if held > self.limit * 0.9:
                held = cache.trim(Path(root), int(self.limit * 0.9)).left
        self.held[root] = held


def failure(text: str, code: str) -> Message:
    return Message({"status": "error", "code": code}, text.encode())


def _log_to(path: Path) -> None:
    """Output of the service goes to a file, which is truncated first."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        os.ftruncate(file, 0)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.close(file)


def main() -> None:
    """Entry point of `python -m ptx2amd.service`. The client that starts it says which translator it expects."""
    os.umask(0o077)
    build, expected = build_id.build_id(), settings.BUILD_ID.text()
    if expected and expected != build:
        raise SystemExit(
            f"this translator has build id {build[:16]}, the libcuda shim expects {expected[:16]}; "
            "run `python -m ptx2amd.native`, or with PTX2AMD_LLVM the program by `ptx2amd run`"
        )
    wrong = settings.forget_wrong()
    keep_memory()
    try:
        server = Server(build, settings.SERVICE_IDLE.number(), cache.limit(), int(settings.AHEAD.number()))
        server.run(wrong)
    except FolderError as error:
        raise SystemExit(f"{error}; set PTX2AMD_RUNTIME_DIR to a folder that you own with mode 700") from None
