"""The life of a worker: a process that the server has forked, which answers one request after the other.

A process that has translated a kernel has the memory and the tables for the next one: a new one would need up to
twice the time."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.records import dataclass
from ptx2amd.service import translation
from ptx2amd.service.ahead import Job, idle_priority
from ptx2amd.service.protocol import FRAME, Message, ProtocolError, header_of, size_of, unpack

REQUEST_SECONDS = 30.0  # for a whole request to come, and for an answer to be taken; translation itself has no limit
CHUNK = 1 << 20
LARGE_KIB = 512 << 10  # a worker that has taken so much memory ends: nothing else gives it back
READY = b"\1"  # a worker says that it can have the next request


@dataclass(slots=True)
class Client:
    """A connection, and its request as far as it has come: a file in memory, which its workers read. pid: of the
    process at the other end."""

    connection: socket.socket
    memory: int
    deadline: float = 0.0
    pid: int = 0
    again: bool = False  # a worker has died over it

    def receive(self) -> bool:
        """Read the data that has arrived; whether the request is complete. Raises ProtocolError, OSError."""
        part = self.connection.recv(CHUNK)
        if not part:
            raise ProtocolError("the connection closed in the middle of a message")
        while part:
            part = part[os.write(self.memory, part) :]
        have = os.fstat(self.memory).st_size
        return have >= FRAME.size and have >= size_of(os.pread(self.memory, FRAME.size, 0))

    def request(self) -> Message:
        return unpack(os.pread(self.memory, os.fstat(self.memory).st_size, 0))

    def header(self) -> dict[str, str]:
        """The header of a request that has come whole."""
        size, _, _ = FRAME.unpack(os.pread(self.memory, FRAME.size, 0))
        return header_of(os.pread(self.memory, size, FRAME.size))

    def gone(self) -> bool:
        """Whether the client has gone. (A client that has only shut down its writing side still waits for the
        answer.)"""
        poll = select.poll()
        poll.register(self.connection, 0)
        return bool(poll.poll(0))

    def close(self) -> None:
        self.connection.close()
        os.close(self.memory)


@dataclass(slots=True)
class Worker:
    """A worker, as the server knows it. channel: over which it gets requests; client: whose request it has."""

    channel: socket.socket
    client: Client | None

    def give(self, client: Client) -> bool:
        """Hand it a request; whether it could take one."""
        try:
            socket.send_fds(self.channel, [b"\0"], [client.connection.fileno(), client.memory])
        except OSError:  # it has ended
            return False
        self.client = client
        return True

    def take_back(self) -> Client | None:
        """The client whose request it has not answered, now that the worker has ended or says that it is ready."""
        with contextlib.suppress(OSError):
            if self.channel.recv(1) == READY and self.client:
                self.client.close()
                self.client = None
        return self.client


def work(client: Client, build: str, report: socket.socket, channel: socket.socket) -> int:
    """A worker's life, from its first request until the server closes the channel. The exit status tells the server
    whether the last one was answered."""
    following: Client | None = client
    while following is not None:
        _answer(following, build, report)
        if following.again or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > LARGE_KIB:
            break
        following = _next(channel, following)
    return 0


def _next(channel: socket.socket, answered: Client) -> Client | None:
    """The next request; None when the server wants no more of this worker."""
    with contextlib.suppress(OSError):  # the server has ended
        channel.send(READY)  # at once: the client's next request may be on its way
        answered.close()
        _called("ptx2amd idle")
        message, handles, _, _ = socket.recv_fds(channel, 1, 2)
        if message:
            _called("ptx2amd worker")
            return Client(socket.socket(fileno=handles[0]), handles[1])
    return None


def _answer(client: Client, build: str, report: socket.socket) -> None:
    try:
        request = client.request()
    except ProtocolError:
        return  # no request: nobody to answer
    with _ends_with(client.connection):
        answer = translation.answer(request, build, client.again)
        _report(report, answer, request.header)
    send(client.connection, answer)


def work_ahead(job: Job, build: str, report: socket.socket) -> int:
    """Answer a request that no client has made yet."""
    idle_priority()
    body = unpack(os.pread(job.memory, os.fstat(job.memory).st_size, 0)).body
    answer = translation.answer(Message(job.header, body), build)
    _report(report, answer, job.header)
    return 0


def _called(name: str) -> None:
    """Give this process a name, as `ps` shows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _report(report: socket.socket, answer: Message, header: dict[str, str]) -> None:
    """Tell the server of an entry that was written."""
    if answer.header.get("stored") == "1":
        report.send(int(answer.header["written"]).to_bytes(8, "little") + os.fsencode(header["cache"]))


def send(connection: socket.socket, message: Message) -> None:
    with contextlib.suppress(OSError):  # the client is gone, or does not take it: nobody to tell
        connection.settimeout(REQUEST_SECONDS)
        connection.sendall(message.head())
        connection.sendall(message.body)


@contextlib.contextmanager
def _ends_with(connection: socket.socket) -> Iterator[None]:
    """End the worker, and what it started, when its client goes meanwhile: others wait for the place. (LLVM runs
    without Python's lock.)"""
    stop, stopped = os.pipe()
    poll = select.poll()
    poll.register(connection, 0)
    poll.register(stop, 0)

    def watch() -> None:
        if any(handle != stop for handle, _ in poll.poll()):
            os.killpg(0, signal.SIGKILL)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.close(stopped)
        thread.join()
        os.close(stop)
