"""Tensor maps: the bytes that kernels read (the test of the kernels encodes them by itself), and every argument
that the documentation rules out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.reference.tensors import TensorMap

INVALID_VALUE, NOT_SUPPORTED = 1, 801
FLOAT16, FLOAT32, UINT8 = 6, 7, 0


@pytest.fixture
def room(shim: SimpleNamespace, context: object) -> tuple[object, int]:
    """Memory for a map, and an aligned address in it."""
    memory = shim.ffi.new("char[]", 320)
    return memory, -(-int(shim.ffi.cast("uintptr_t", memory)) // 64) * 64


def encode(shim: SimpleNamespace, at: int, **changes: object) -> int:
    """cuTensorMapEncodeTiled of a good map with some arguments changed."""
    given: dict = {"type": FLOAT16, "address": 0x10000, "sizes": [100, 20, 3], "strides": [208, 4160]}
    given |= {"box": [32, 8, 1], "steps": [1, 2, 1], "interleave": 0, "swizzle": 2, "promotion": 2, "fill": 1}
    given |= changes
    new, cast = shim.ffi.new, shim.ffi.cast
    return shim.cuda.cuTensorMapEncodeTiled(
        cast("CUtensorMap *", at), given["type"], given.get("rank", len(given["sizes"])),
        cast("void *", given["address"]), new("cuuint64_t[]", given["sizes"]),
        new("cuuint64_t[]", given["strides"]) if given["strides"] is not None else shim.ffi.NULL,
        new("cuuint32_t[]", given["box"]), new("cuuint32_t[]", given["steps"]), given["interleave"], given["swizzle"],
        given["promotion"], given["fill"],
    )  # fmt: skip


def stored(shim: SimpleNamespace, at: int) -> bytes:
    return bytes(shim.ffi.buffer(shim.ffi.cast("char *", at), 128))


def test_tiled(shim: SimpleNamespace, room: tuple[object, int]) -> None:
    at = room[1]
    assert encode(shim, at) == 0
    want = TensorMap((100, 20, 3), (208, 4160), (32, 8, 1), (1, 2, 1), 6, 2, 0, True, address=0x10000)
    assert stored(shim, at) == want.encoded()
    assert encode(shim, at, type=8, sizes=[1 << 32], strides=None, box=[16], steps=[1], swizzle=4, fill=0) == 0
    assert stored(shim, at) == TensorMap((1 << 32,), (), (16,), (), 9, 3, 1, address=0x10000).encoded()
    assert shim.cuda.cuTensorMapReplaceAddress(shim.ffi.cast("CUtensorMap *", at), shim.ffi.cast("void *", 64)) == 0
    assert stored(shim, at) == TensorMap((1 << 32,), (), (16,), (), 9, 3, 1, address=64).encoded()
    replace = shim.cuda.cuTensorMapReplaceAddress
    assert replace(shim.ffi.cast("CUtensorMap *", at), shim.ffi.cast("void *", 8)) == INVALID_VALUE
    assert replace(shim.ffi.cast("CUtensorMap *", at + 128), shim.ffi.cast("void *", 64)) == INVALID_VALUE  # no map


WRONG = [
    {"type": 16}, {"type": -1}, {"sizes": [], "rank": 0}, {"address": 0}, {"address": 0x10008}, {"sizes": [0, 20, 3]},
    {"sizes": [(1 << 32) + 1, 20, 3]}, {"strides": [200, 4160]}, {"strides": [208, 1 << 40]}, {"strides": None},
    {"box": [0, 8, 1]}, {"box": [32, 257, 1]}, {"box": [31, 8, 1]}, {"box": [64, 8, 1]}, {"steps": [1, 0, 1]},
    {"steps": [1, 9, 1]}, {"interleave": 3}, {"interleave": 2}, {"swizzle": 7}, {"promotion": 4}, {"fill": 2},
    {"type": UINT8}, {"interleave": 1, "sizes": [100, 20], "strides": [208]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_arguments(shim: SimpleNamespace, room: tuple[object, int], wrong: dict) -> None:
    before = stored(shim, room[1])
    assert encode(shim, room[1], **wrong) == INVALID_VALUE
    assert stored(shim, room[1]) == before


def test_what_is_refused(shim: SimpleNamespace, room: tuple[object, int]) -> None:
    assert encode(shim, room[1] + 8) == INVALID_VALUE
    assert encode(shim, 0) == INVALID_VALUE
    assert encode(shim, room[1], interleave=1) == NOT_SUPPORTED
    assert encode(shim, room[1], type=13, fill=0) == NOT_SUPPORTED


def test_im2col(shim: SimpleNamespace, room: tuple[object, int]) -> None:
    at, ffi = room[1], shim.ffi

    def columns(lower: list[int], upper: list[int], channels: int = 32, pixels: int = 64) -> int:
        sizes, strides = [64, 9, 7, 5], [128, 1152, 8064]
        return shim.cuda.cuTensorMapEncodeIm2col(
            ffi.cast("CUtensorMap *", at), FLOAT16, 4, ffi.cast("void *", 0x10000), ffi.new("cuuint64_t[]", sizes),
            ffi.new("cuuint64_t[]", strides), ffi.new("int[]", lower), ffi.new("int[]", upper), channels, pixels,
            ffi.new("cuuint32_t[]", [1, 1, 2, 1]), 0, 2, 0, 0,
        )  # fmt: skip

    assert columns([-1, -2], [0, -1]) == 0
    want = TensorMap(
        (64, 9, 7, 5), (128, 1152, 8064), (32, 64), (1, 1, 2, 1), 6, 2, 0, False, True, (-1, -2), (0, -1), 0x10000
    )
    assert stored(shim, at) == want.encoded()
    for wrong in (([-129, 0], [0, 0]), ([0, 0], [128, 0]), ([0, 0], [-9, 0])):
        assert columns(*wrong) == INVALID_VALUE
    assert columns([0, 0], [0, 0], 32, 1025) == INVALID_VALUE
    assert columns([0, 0], [0, 0], 264, 64) == INVALID_VALUE


def test_im2col_along_w(shim: SimpleNamespace, room: tuple[object, int]) -> None:
    at, ffi = room[1], shim.ffi

    def row(lower: int, upper: int, mode: int = 0, swizzle: int = 2, channels: int = 32, pixels: int = 64) -> int:
        return shim.cuda.cuTensorMapEncodeIm2colWide(
            ffi.cast("CUtensorMap *", at), FLOAT16, 4, ffi.cast("void *", 0x10000),
            ffi.new("cuuint64_t[]", [64, 9, 7, 5]), ffi.new("cuuint64_t[]", [128, 1152, 8064]), lower, upper, channels,
            pixels, ffi.new("cuuint32_t[]", [1, 1, 2, 1]), 0, mode, swizzle, 0, 0,
        )  # fmt: skip

    for mode, number, pixels in ((0, 2, 64), (1, 3, 128)):
        assert row(-1, 2, mode) == 0
        where = {"lower": (-1,), "upper": (2,), "address": 0x10000}
        shape = (64, 9, 7, 5), (128, 1152, 8064), (32, pixels), (1, 1, 2, 1)
        want = bytearray(TensorMap(*shape, 6, 2, **where).encoded())
        want[85] = number
        assert stored(shim, at) == want
    assert row(-32768, 32767, 1, pixels=5000) == 0
    for wrong in ({"lower": 40000}, {"upper": -9}, {"mode": 2}, {"swizzle": 1}, {"swizzle": 0}, {"pixels": 1025},
                  {"pixels": 0}, {"channels": 40}):  # fmt: skip
        assert row(**{"lower": 0, "upper": 0, **wrong}) == INVALID_VALUE
