"""Compressed data of containers: padding after a frame is no damage, damage is an error, and a size that a header
promises bounds what is made of it."""

from __future__ import annotations

import cramjam
import pytest

from ptx2amd.binary import compression

PLAIN = bytes(range(256)) * 40
ZSTD, LZ4 = bytes(cramjam.zstd.compress(PLAIN)), bytes(cramjam.lz4.compress_block(PLAIN, store_size=False))


@pytest.mark.parametrize("padding", range(compression.PADDING))
def test_a_frame_may_be_padded(padding: int) -> None:
    assert compression.zstd(ZSTD + bytes(padding), len(PLAIN)) == PLAIN


@pytest.mark.parametrize(
    "stored", [ZSTD + b"x", ZSTD + bytes(8), ZSTD[:-3], b"", bytes(3), b"no frame"], ids=lambda stored: f"{len(stored)}"
)
def test_damaged_frames(stored: bytes) -> None:
    with pytest.raises(compression.CompressionError):
        compression.zstd(stored, len(PLAIN))


@pytest.mark.parametrize(("undo", "stored"), [(compression.zstd, ZSTD), (compression.lz4, LZ4)])
def test_the_size_is_a_bound(undo, stored: bytes) -> None:  # type: ignore[no-untyped-def]
    assert undo(stored, len(PLAIN)) == undo(stored, len(PLAIN) + 5) == PLAIN
    with pytest.raises(compression.CompressionError):
        undo(stored, len(PLAIN) - 1)


def test_the_start_of_a_frame() -> None:
    noise = b"".join(i.to_bytes(4, "little") for i in range(0, 2**32, 7919))
    cut = bytes(cramjam.zstd.compress(noise))[:500_000]
    assert compression.zstd_start(cut, 100_000) == noise[:100_000]
    assert compression.zstd_start(b"no frame", 10) == bytes(10)
