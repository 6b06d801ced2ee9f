"""The wire format between shim and service: framed header lines and a body (docs/internals/service.md)."""

from __future__ import annotations

import socket
import struct

from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass, field

FRAME = struct.Struct("<IIQ")
MAX_HEADER, MAX_BODY = 1 << 20, 1 << 30


class ProtocolError(Ptx2amdError):
    """A peer that does not speak the protocol."""


@dataclass(slots=True)
class Message:
    header: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def head(self) -> bytes:
        """The header lines of a message. In values, which may be any text, % and line breaks are written as %25 and
        %0A."""
        escaped = ((key, value.replace("%", "%25").replace("\n", "%0A")) for key, value in self.header.items())
        lines = "".join(f"{key} {value}\n" for key, value in escaped).encode(errors="surrogateescape")
        return FRAME.pack(len(lines), 0, len(self.body)) + lines

    def pack(self) -> bytes:
        return self.head() + self.body


def size_of(frame: bytes) -> int:
    """The bytes of the whole message whose frame this is. Raises ProtocolError when it is none."""
    header_size, zero, body_size = FRAME.unpack(frame)
    if zero or header_size > MAX_HEADER or body_size > MAX_BODY:
        raise ProtocolError("not a ptx2amd message")
    return FRAME.size + int(header_size) + int(body_size)


def unpack(data: bytes) -> Message:
    """The message of Message.pack. Raises ProtocolError when it is no whole one."""
    if len(data) < FRAME.size or size_of(data[: FRAME.size]) != len(data):
        raise ProtocolError("not a whole ptx2amd message")
    header_size, _, body_size = FRAME.unpack_from(data)
    return Message(header_of(data[FRAME.size : len(data) - body_size]), data[FRAME.size + header_size :])


def header_of(lines: bytes) -> dict[str, str]:
    """A message's header from its lines."""
    pairs = (line.partition(" ") for line in lines.decode(errors="surrogateescape").split("\n") if line)
    return {key: value.replace("%0A", "\n").replace("%25", "%") for key, _, value in pairs}


def receive(connection: socket.socket) -> Message:
    """Read one message. Raises ProtocolError when the peer closes early or sends nonsense."""
    frame = _exactly(connection, FRAME.size)
    return unpack(frame + _exactly(connection, size_of(frame) - FRAME.size))


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ProtocolError("the connection closed in the middle of a message")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
