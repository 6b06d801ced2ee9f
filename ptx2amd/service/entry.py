"""Cache entry files: text and payload under a digest. The layout is in docs/internals/abi.md, because
the shim reads it too (shim/src)."""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path

from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass
from ptx2amd.service.folder import open_folder

MAGIC = b"P2AENT01"
HEADER = struct.Struct("<8sIIQ32s")
PARTIAL = ".writing-"  # so files begin that are being written


class EntryError(Ptx2amdError):
    """An entry file that is damaged."""


@dataclass(frozen=True, slots=True)
class Entry:
    """text: lines "key value..."; payload: a code object, or the initial bytes of a data segment."""

    text: str
    payload: bytes

    def pack(self) -> bytes:
        text = self.text.encode(errors="surrogateescape")
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
        return Entry(text.decode(errors="surrogateescape"), payload)

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.text.splitlines()]


def digest(*parts: bytes) -> bytes:
    """BLAKE2b-256 over the parts in order."""
    state = hashlib.blake2b(digest_size=32)
    for part in parts:
        state.update(part)
    return state.digest()


def module_id(stored: bytes) -> str:
    """The identity of an image as stored (see docs/internals/service.md)."""
    return digest(stored).hex()


def index_key(module: str, build: str) -> str:
    return digest(f"index\n{module}\n{build}\n".encode(errors="surrogateescape")).hex()


def outline_key(module: str, build: str) -> str:
    return digest(f"outline\n{module}\n{build}\n".encode(errors="surrogateescape")).hex()


def check_key(module: str, build: str) -> str:
    return digest(f"check\n{module}\n{build}\n".encode()).hex()


def kernel_key(module: str, build: str, arch: str, options: str, kernel: str) -> str:
    return digest(f"kernel\n{module}\n{build}\n{arch}\n{options}\n{kernel}\n".encode(errors="surrogateescape")).hex()


def write(path: Path, packed: bytes) -> None:
    """Write an entry (Entry.pack) by atomic rename, so that a reader sees a whole one or none. Only this user can read
    it, whatever the umask. Raises FolderError for a folder that others can change, OSError."""
    _, folder = open_folder(path.parent, make="all")
    temporary = f"{PARTIAL}{os.getpid()}-{os.urandom(8).hex()}"
    try:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            with open(file, "wb") as opened:
                os.fchmod(file, 0o600)
                opened.write(packed)
            os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(temporary, dir_fd=folder)
            raise
    finally:
        os.close(folder)
