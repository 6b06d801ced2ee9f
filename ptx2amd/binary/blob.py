"""Bytes of a file, read with bounds: what is damaged or cut off is one error that names the file and the offset."""

from __future__ import annotations

import struct
from typing import Any

from ptx2amd.errors import Ptx2amdError


class ContainerError(Ptx2amdError):
    """A file that is truncated, or that is not what it says: 'origin: at 0x40: what is wrong'."""


class Blob:
    """Bytes [start, end) of a file, not copied. Positions are relative to `start`; errors have those of the file.

    origin: the file's name in messages.
    """

    __slots__ = ("content", "end", "origin", "start")

    def __init__(self, content: bytes, origin: str, start: int = 0, end: int | None = None) -> None:
        self.content, self.origin = content, origin
        self.start, self.end = start, len(content) if end is None else end

    def __len__(self) -> int:
        return self.end - self.start

    def error(self, at: int, text: str) -> ContainerError:
        """What is wrong with the bytes at `at`, to be raised."""
        return ContainerError(f"{self.origin}: at {self.start + at:#x}: {text}")

    def part(self, at: int, size: int, what: str, origin: str = "") -> Blob:
        """`size` bytes at `at`. what: their name in the error when they are not there."""
        if at < 0 or size < 0 or size > len(self) - at:
            raise self.error(at, f"{what} of {size} bytes is cut off, {max(len(self) - at, 0)} are left")
        return Blob(self.content, origin or self.origin, self.start + at, self.start + at + size)

    def read(self, at: int = 0, size: int | None = None, what: str = "data") -> bytes:
        """A copy of `size` bytes at `at` (all that follow, by default)."""
        part = self.part(at, len(self) - at if size is None else size, what)
        return self.content[part.start : part.end]

    def unpack(self, form: struct.Struct, at: int, what: str) -> tuple[Any, ...]:
        """The fields of a structure at `at`."""
        return form.unpack_from(self.content, self.part(at, form.size, what).start)

    def string(self, at: int, what: str) -> str:
        """The text from `at` to the next NUL."""
        end = self.content.find(b"\0", self.part(at, 1, what).start, self.end)
        if end < 0:
            raise self.error(at, f"{what} has no end")
        return self.content[self.start + at : end].decode(errors="replace")

    def find(self, pattern: bytes, at: int = 0) -> int:
        """The first place of a pattern from `at` on, or -1."""
        found = self.content.find(pattern, self.start + at, self.end)
        return found - self.start if found >= 0 else -1
