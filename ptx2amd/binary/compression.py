"""The compressions of containers, undone into a buffer of known size: damaged data never makes it grow."""

from __future__ import annotations

import contextlib

import cramjam

CompressionError = cramjam.DecompressionError
PADDING = 8  # bytes that an entry is aligned to


def zstd(stored: bytes, size: int) -> bytes:
    """A zstd frame, perhaps padded with zeros, of at most `size` bytes. Raises CompressionError."""
    for padding in range(PADDING):
        try:
            out = bytearray(size)
            return bytes(memoryview(out)[: cramjam.zstd.decompress_into(stored[: len(stored) - padding], out)])
        except CompressionError as error:
            if "whole buffer" in str(error):
                raise CompressionError(f"the frame holds more than the {size} bytes of the header") from None
            if not stored.endswith(bytes(padding + 1)):
                raise
    raise CompressionError("no zstd frame")


def zstd_start(stored: bytes, size: int) -> bytes:
    """The first `size` bytes of a zstd frame of which only the beginning is there: zeros from where it ends."""
    out = bytearray(size)
    with contextlib.suppress(CompressionError):  # the frame, or the buffer, was too short
        cramjam.zstd.decompress_into(stored, out)
    return bytes(out)


def lz4(stored: bytes, size: int) -> bytes:
    """A raw LZ4 block of at most `size` bytes. Raises CompressionError."""
    out = bytearray(size)
    return bytes(memoryview(out)[: cramjam.lz4.decompress_block_into(stored, out)])
