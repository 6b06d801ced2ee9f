"""The wire format between shim and service: framed header lines and a body (docs/architecture.md)."""

from __future__ import annotations

import io
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ptx2amd.errors import Ptx2amdError

FRAME = struct.Struct("<IIQ")
MAX_HEADER, MAX_BODY = 1 << 20, 1 << 30


class ProtocolError(Ptx2amdError):
    """A peer that does not speak the protocol."""


@dataclass(slots=True)
class Message:
    header: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def pack(self) -> bytes:
        lines = "".join(f"{key} {value}\n" for key, value in self.header.items()).encode()
        return FRAME.pack(len(lines), 0, len(self.body)) + lines + self.body


def receive(connection: socket.socket) -> Message:
    """Read one message. Raises ProtocolError when the peer closes early or sends nonsense."""
    return _read(partial(_exactly, connection))


def unpack(data: bytes) -> Message:
    """The message of Message.pack. Raises ProtocolError when it is no whole one."""
    stream = io.BytesIO(data)
    message = _read(stream.read)
    if len(message.pack()) != len(data):
        raise ProtocolError("not a whole ptx2amd message")
    return message


def _read(exactly: Callable[[int], bytes]) -> Message:
    header_size, zero, body_size = FRAME.unpack(exactly(FRAME.size))
    if zero or header_size > MAX_HEADER or body_size > MAX_BODY:
        raise ProtocolError("not a ptx2amd message")
    lines = exactly(header_size).decode(errors="replace").splitlines()
    header = {key: value for key, _, value in (line.partition(" ") for line in lines)}
    return Message(header, exactly(body_size))


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ProtocolError("the connection closed in the middle of a message")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
