"""The start-up handshake against an independent HMAC-MD2: its substitution table comes from the digits of pi."""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

KEY = bytes.fromhex("146addae53a9a752aa0841360bf55a9f")
RUNTIME = bytes.fromhex("6bd5fb6c5bf4e74a8987d93912fd9df9")
INTEGRITY = bytes.fromhex("d4082055bde6704b8d34ba123c66e1f2")


def pi_digits() -> Iterator[int]:
    q, r, t, k, n, odd = 1, 0, 1, 1, 3, 3
    while True:
        if 4 * q + r - t < n * t:
            yield n
            q, r, n = 10 * q, 10 * (r - n * t), 10 * (3 * q + r) // t - 10 * n
        else:
            digit = (q * (7 * k + 2) + r * odd) // (t * odd)
            q, r, t, n, odd, k = q * k, (2 * q + r) * odd, t * odd, digit, odd + 2, k + 1


def substitution() -> list[int]:
    digits = pi_digits()

    def below(n: int) -> int:
        while True:
            value, size = 0, 1
            for _ in range(1 if n <= 10 else 2 if n <= 100 else 3):
                value, size = 10 * value + next(digits), 10 * size
            if value < size // n * n:
                return value % n

    table = list(range(256))
    for i in range(2, 257):
        j = below(i)
        table[j], table[i - 1] = table[i - 1], table[j]
    return table


TABLE = substitution()


def md2(message: bytes) -> bytes:
    pad = 16 - len(message) % 16
    message += bytes([pad]) * pad
    checksum, last = bytearray(16), 0
    for at in range(0, len(message), 16):
        for i in range(16):
            last = checksum[i] = checksum[i] ^ TABLE[message[at + i] ^ last]
    state = bytearray(48)
    for at in range(0, len(message) + 16, 16):
        block = (message + bytes(checksum))[at : at + 16]
        state[16:32] = block
        state[32:48] = bytes(a ^ b for a, b in zip(block, state[:16], strict=True))
        t = 0
        for rounds in range(18):
            for i in range(48):
                t = state[i] = state[i] ^ TABLE[t]
            t = (t + rounds) % 256
    return bytes(state[:16])


def hmac_md2(key: bytes, message: bytes) -> bytes:
    inner = md2(bytes(b ^ 0x36 for b in key) + message)
    return md2(bytes(b ^ 0x5C for b in key) + inner)


def table(shim: SimpleNamespace, uuid: bytes) -> int:
    out, wanted = shim.ffi.new("void **"), shim.ffi.new("CUuuid *", {"bytes": uuid})
    assert shim.cuda.cuGetExportTable(shim.ffi.cast("const void **", out), wanted) == 0
    return int(shim.ffi.cast("uintptr_t", out[0]))


def word(address: int, index: int) -> int:
    return ctypes.c_uint64.from_address(address + 8 * index).value


def integrity(shim: SimpleNamespace, version: int, seconds: int) -> tuple[int, bytes]:
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p)(
        word(table(shim, INTEGRITY), 1)
    )
    result = ctypes.create_string_buffer(16)
    return function(version, seconds, result), result.raw


def test_md2_of_the_rfc() -> None:
    assert md2(b"").hex() == "8350e5a3e24c153df2275c9f80692773"
    assert md2(b"message digest").hex() == "ab4f496bfb2a530b219ff33031fe06b0"


def test_fixed_answers(shim: SimpleNamespace) -> None:
    assert integrity(shim, 13000, 1) == (0, struct.pack("<QQ", 0x3341181C03CB675C, 0x8ED383AA1F4CD1E8))
    assert integrity(shim, 13001, 1) == (0, struct.pack("<QQ", 0x1841181C03CB675C, 0x8ED383AA1F4CD1E8))


def test_digest_of_what_both_sides_know(shim: SimpleNamespace) -> None:
    ctypes.CDLL(None).pthread_self.restype = ctypes.c_uint64
    driver, uuid, pci = shim.ffi.new("int *"), shim.ffi.new("CUuuid *"), shim.ffi.new("int[3]")
    shim.cuda.cuDriverGetVersion(driver)
    shim.cuda.cuDeviceGetUuid_v2(uuid, 0)
    for i, attribute in enumerate((50, 33, 34)):
        shim.cuda.cuDeviceGetAttribute(pci + i, attribute, 0)
    thread = ctypes.CDLL(None).pthread_self() & 0xFFFFFFFF
    checks = table(shim, INTEGRITY)
    message = struct.pack(
        "<4I4Q", driver[0], 13002, os.getpid(), thread, table(shim, RUNTIME), checks, word(checks, 1), 1234567
    )
    message += bytes(uuid.bytes) + struct.pack("<3i", *pci)
    assert integrity(shim, 13002, 1234567) == (0, hmac_md2(KEY, message))


def test_it_can_be_turned_off(environment: dict[str, str], shim: SimpleNamespace) -> None:
    code = (
        f"import ctypes as c\nl=c.CDLL({str(shim.path)!r})\nl.cuInit(0)\nt=c.POINTER(c.c_void_p)()\n"
        f"l.cuGetExportTable(c.byref(t), bytes.fromhex({INTEGRITY.hex()!r}))\n"
        "print(c.CFUNCTYPE(c.c_int,c.c_uint32,c.c_uint64,c.c_void_p)(t[1])(13002, 1, c.create_string_buffer(16)))"
    )
    for value, answer in (("1", "0"), ("0", "801")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment, "PTX2AMD_HANDSHAKE": value},
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == answer, done.stderr


def test_hashes_in_the_cache_are_blake2b(shim: SimpleNamespace, module: object) -> None:
    """The module fixture loads through keys and checksums that hashlib made."""
    assert hashlib.blake2b(b"abc", digest_size=32).hexdigest().startswith("bddd813c")
    assert module
