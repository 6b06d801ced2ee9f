"""Device printf: records in the buffer come out as CUDA prints them, when a synchronisation drains it."""

from __future__ import annotations

import ctypes
import struct
from types import SimpleNamespace

import pytest

from tests.shim.test_modules import ARGUMENTS, launch


class Buffer:
    """The printf buffer as a kernel sees it: the kernel's environment says where it is."""

    def __init__(self, shim: SimpleNamespace, kernel: object) -> None:
        assert launch(shim, kernel, values=ARGUMENTS) == 0
        self.shim, self.address, self.kept = shim, shim.stub.stub_environment(1), []

    def text(self, value: bytes) -> int:
        self.kept.append(ctypes.create_string_buffer(value + bytes(64)))
        return ctypes.addressof(self.kept[-1])

    def record(self, format_text: bytes, arguments: bytes = b"") -> None:
        arguments += bytes(-len(arguments) % 8)
        data = struct.pack("<IIQ", 16 + len(arguments), 0, self.text(format_text)) + arguments
        position = ctypes.c_uint32.from_address(self.address + 4)
        ctypes.memmove(self.address + 8 + position.value, data, len(data))
        position.value += len(data)


@pytest.fixture
def buffer(shim: SimpleNamespace, kernel: object) -> Buffer:
    return Buffer(shim, kernel)


CASES = [
    (b"no arguments\n", b"", "no arguments\n"),
    (b"%d%% of %u\n", struct.pack("<iI", -5, 4000000000), "-5% of 4000000000\n"),
    (b"%5d|%-5d|%05d|%+d\n", struct.pack("<4i", 42, 42, 42, 42), "   42|42   |00042|+42\n"),
    (b"%x %X %#o %c\n", struct.pack("<4i", 255, 255, 8, 65), "ff FF 010 A\n"),
    (
        b"%ld %lld %llu %lx\n",
        struct.pack("<qqQQ", -1, -(2**40), 2**64 - 1, 2**36),
        f"-1 {-(2**40)} {2**64 - 1} {2**36:x}\n",
    ),
    (b"%d %lld %d\n", struct.pack("<i4xqi", 1, 2, 3), "1 2 3\n"),  # 64-bit arguments are aligned
    (b"%f %.2f %10.3e %g\n", struct.pack("<4d", 1.5, 2.345, 12345.678, 0.1), "1.500000 2.35  1.235e+04 0.1\n"),
    (b"%*d|%.*f\n", struct.pack("<iii4xd", 6, 7, 1, 2.25), "     7|2.2\n"),
    (b"%p\n", struct.pack("<Q", 0xABCDEF), "0xabcdef\n"),
    (b"[%12p|%-12p|%p|%7p]\n", struct.pack("<4Q", 0x1234, 0x1234, 0, 0), "[      0x1234|0x1234      |(nil)|  (nil)]\n"),
    (b"%hhd %zu\n", struct.pack("<i4xQ", 65, 9), "65 9\n"),
    (b"%hx %hhx %hu %hd %04hX\n", struct.pack("<5i", -1, -1, -2, 0x18000, 0x1000F), "ffff ff 65534 -32768 000F\n"),
    (b"missing %d\n", b"", "missing %d\n"),
]


@pytest.mark.parametrize(("text", "arguments", "expected"), CASES)
def test_conversions(
    shim: SimpleNamespace,
    buffer: Buffer,
    capfd: pytest.CaptureFixture[str],
    text: bytes,
    arguments: bytes,
    expected: str,
) -> None:
    buffer.record(text, arguments)
    assert shim.cuda.cuCtxSynchronize() == 0
    assert capfd.readouterr().out == expected


def test_strings_are_read_from_device_memory(
    shim: SimpleNamespace, buffer: Buffer, capfd: pytest.CaptureFixture[str]
) -> None:
    buffer.record(b"[%s] [%-6s] [%s]\n", struct.pack("<QQQ", buffer.text(b"hello"), buffer.text(b"ab"), 0))
    assert shim.cuda.cuStreamSynchronize(shim.ffi.NULL) == 0
    assert capfd.readouterr().out == "[hello] [ab    ] [(null)]\n"


def test_strings_that_kernels_copied(shim: SimpleNamespace, buffer: Buffer, capfd: pytest.CaptureFixture[str]) -> None:
    """They lie behind the arguments; what a kernel has destroyed is not followed."""
    at = 16 + 3 * 8
    places = ((1 << 63) | at, (1 << 63) | (at + 6), (1 << 63) | 4000)
    buffer.record(b"[%s] [%4s] [%s]\n", struct.pack("<QQQ8s", *places, b"hello\0ab"))
    assert shim.cuda.cuCtxSynchronize() == 0
    assert capfd.readouterr().out == "[hello] [  ab] [(unreadable)]\n"


def test_order_and_reuse(shim: SimpleNamespace, buffer: Buffer, capfd: pytest.CaptureFixture[str]) -> None:
    for start in (0, 10):
        for i in range(start, start + 10):
            buffer.record(b"line %d\n", struct.pack("<i", i))
        assert shim.cuda.cuCtxSynchronize() == 0
    assert capfd.readouterr().out == "".join(f"line {i}\n" for i in range(20))
    assert shim.cuda.cuCtxSynchronize() == 0
    assert capfd.readouterr().out == ""


def test_a_full_buffer_loses_the_last_records_only(
    shim: SimpleNamespace, buffer: Buffer, capfd: pytest.CaptureFixture[str]
) -> None:
    buffer.record(b"kept %d\n", struct.pack("<i", 1))
    position = ctypes.c_uint32.from_address(buffer.address + 4)
    position.value = ctypes.c_uint32.from_address(buffer.address).value + 1000  # reserved beyond the end
    assert shim.cuda.cuCtxSynchronize() == 0
    buffer.record(b"next %d\n", struct.pack("<i", 2))
    assert shim.cuda.cuCtxSynchronize() == 0
    assert capfd.readouterr().out == "kept 1\nnext 2\n"
