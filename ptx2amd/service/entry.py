"""Cache entry files: text and payload under a digest. The layout is in docs/architecture.md, because
the shim reads it too (shim/src)."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ptx2amd.errors import Ptx2amdError

MAGIC = b"P2AENT01"
HEADER = struct.Struct("<8sIIQ32s")


class EntryError(Ptx2amdError):
    """An entry file that is damaged."""


@dataclass(frozen=True, slots=True)
class Entry:
    """text: lines "key value..."; payload: a code object, or the initial bytes of a data segment."""

    text: str
    payload: bytes

    def pack(self) -> bytes:
        text = self.text.encode()
        return HEADER.pack(MAGIC, len(text), 0, len(self.payload), digest(text, self.payload)) + text + self.payload

    @staticmethod
    def unpack(blob: bytes, origin: str) -> Entry:
        """Verify and take apart; raises EntryError."""
        if len(blob) < HEADER.size:
            raise EntryError(f"{origin}: cut off in its header")
        magic, text_size, _, payload_size, checksum = HEADER.unpack_from(blob)
        if magic != MAGIC or len(blob) != HEADER.size + text_size + payload_size:
            raise EntryError(f"{origin}: not a cache entry, or cut off")
        text, payload = blob[HEADER.size : HEADER.size + text_size], blob[HEADER.size + text_size :]
        if digest(text, payload) != checksum:
            raise EntryError(f"{origin}: checksum does not match")
        return Entry(text.decode(), payload)

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.text.splitlines()]


def digest(*parts: bytes) -> bytes:
    """BLAKE2b-256 over the parts in order."""
    state = hashlib.blake2b(digest_size=32)
    for part in parts:
        state.update(part)
    return state.digest()


def module_id(stored: bytes) -> str:
    """The identity of an image as stored (see docs/architecture.md, "Cache entries")."""
    return digest(stored).hex()


def index_key(module: str, build: str) -> str:
    return digest(f"index\n{module}\n{build}\n".encode()).hex()


def kernel_key(module: str, build: str, arch: str, options: str, kernel: str) -> str:
    return digest(f"kernel\n{module}\n{build}\n{arch}\n{options}\n{kernel}\n".encode()).hex()


def write(path: Path, entry: Entry) -> None:
    """Write by atomic rename, so that a reader sees a whole entry or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(entry.pack())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
