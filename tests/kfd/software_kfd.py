"""ROCm's part in tests of the software KFD: requests, memory, queues and their packets, through the functions of libc
that the library puts before libc's. In this process: one chip for all tests."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import time
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

from ptx2amd import native
from tests.vgpu.engine import symbols_of

LIBRARY = native.DIRECTORY / "libptx2amd_kfd.so"
CHIP = "gfx942"
VRAM, EXECUTABLE = 1, 1 << 30
SDMA, AQL = 1, 2
NR = {
    "version": 0x01, "create_queue": 0x02, "destroy_queue": 0x03, "clock": 0x05, "create_event": 0x08,
    "destroy_event": 0x09, "set_event": 0x0A, "reset_event": 0x0B, "wait": 0x0C, "apertures": 0x14, "alloc": 0x16,
    "free": 0x17, "svm": 0x20, "xnack": 0x21, "available": 0x23,
}  # fmt: skip


@cache
def library() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(LIBRARY), use_errno=True)
    lib.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
    return lib


@cache
def driver() -> int:
    with pytest.MonkeyPatch.context() as patch:  # other tests of this process use other devices
        patch.setenv("PTX2AMD_DEVICE", f"kfd:{CHIP}")
        return int(library().open(b"/dev/kfd", os.O_RDWR))


def request(name: str, layout: str, *values: int) -> tuple[int, ...]:
    """The structure that a request leaves. Raises OSError."""
    data = ctypes.create_string_buffer(struct.pack(layout, *values))
    if library().ioctl(driver(), NR[name], data) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return struct.unpack_from(layout, data)


@cache
def gpu() -> int:
    """The first GPU's id."""
    array = (ctypes.c_uint64 * 7)()
    request("apertures", "QII", ctypes.addressof(array), 1, 0)
    return array[6] & 0xFFFFFFFF


def reserve(size: int) -> int:
    """Addresses for good, without memory."""
    lib = ctypes.CDLL(None)
    lib.mmap.restype, lib.mmap.argtypes = (
        ctypes.c_uint64,
        [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long],
    )
    return int(lib.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0))


class Memory:
    """Device memory that the host sees as `bytes`; zero at first."""

    def __init__(self, size: int, flags: int = VRAM, va: int = 0) -> None:
        self.size = (size + 4095) & ~4095
        self.va = va or reserve(self.size)
        self.handle = request("alloc", "QQQQII", self.va, self.size, 0, 0, gpu(), flags)[2]
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * self.size).from_address(self.va))

    def free(self) -> None:
        request("free", "Q", self.handle)

    def view(self, dtype: type[np.generic]) -> np.ndarray:
        return self.bytes.view(dtype)


class Signal:
    """amd_signal_t, with an event if `event` is its id."""

    def __init__(self, value: int = 1, event: int = 0) -> None:
        self.memory = Memory(4096)
        self.words = self.memory.view(np.int64)
        self.words[0], self.words[1] = 1, value
        if event:
            self.words[2], self.words[3] = self.memory.va + 512, event

    @property
    def handle(self) -> int:
        return self.memory.va

    @property
    def value(self) -> int:
        return int(self.words[1])


def until(what: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.0005)
    return what()


class Queue:
    """A queue of a type; packets are bytes."""

    def __init__(self, kind: int, ring: int = 4096) -> None:
        self.kind, self.ring, self.control = kind, Memory(ring), Memory(4096)
        self.size = ring
        if kind == AQL:  # empty slots
            self.ring.view(np.uint16)[::32] = 1
        self.inactive = Signal(0)
        self.control.view(np.uint64)[0xC0 // 8] = self.inactive.handle
        write, read = (0x38, 0x80) if kind == AQL else (0x100, 0x108)
        self.write = self.control.view(np.uint64)[write // 8 : write // 8 + 1]
        self.read = self.control.view(np.uint64)[read // 8 : read // 8 + 1]
        layout, addresses = "QQQQIIIIIIQQQII", (self.ring.va, self.control.va + write, self.control.va + read)
        answer = request("create_queue", layout, *addresses, 0, ring, gpu(), kind, 100, 7, 0, 0, 0, 0, 0, 0)
        self.id = answer[9]

    def send(self, *packets: bytes) -> None:
        for packet in packets:
            unit = 64 if self.kind == AQL else 1
            at = int(self.write[0]) * unit % self.size
            assert at + len(packet) <= self.size and (self.kind != AQL or len(packet) == 64), "a packet is a whole"
            body = np.frombuffer(packet, np.uint8)
            self.ring.bytes[at + 2 : at + len(packet)] = body[2:]
            self.ring.bytes[at : at + 2] = body[:2]  # the header last
            self.write[0] += len(packet) // unit

    def drained(self, seconds: float = 20) -> bool:
        return until(lambda: self.read[0] == self.write[0], seconds)

    def destroy(self) -> None:
        request("destroy_queue", "II", self.id, 0)


def event(auto: bool = True, kind: int = 0) -> int:
    return request("create_event", "QIIIIII", 0, 0, kind, int(auto), 0, 0, 0)[5]


def wait(events: Sequence[int], everything: bool = False, milliseconds: int = 0,
         ages: Sequence[int] = ()) -> tuple[bool, list[tuple[int, ...]]]:  # fmt: skip
    """Whether it was not for the time-out, and each event's words: the age is the first."""
    known = [*ages, *[0] * len(events)]
    data = ctypes.create_string_buffer(
        b"".join(struct.pack("QQQQQII", known[k], 0, 0, 0, 0, id, 0) for k, id in enumerate(events))
    )
    answer = request("wait", "QIIII", ctypes.addressof(data), len(events), int(everything), milliseconds, 9)
    return answer[4] == 0, [struct.unpack_from("QQQQ", data, 48 * k) for k in range(len(events))]


def barrier(signals: Sequence[int] = (), completion: int = 0, any_of: bool = False) -> bytes:
    return struct.pack("<HHI5QQQ", 5 if any_of else 3, 0, 0, *[*signals, 0, 0, 0, 0, 0][:5], 0, completion)


def barrier_value(signal: int, value: int, condition: int, mask: int = -1, completion: int = 0) -> bytes:
    return struct.pack("<HBBIQqqIIQQQ", 0, 2, 0, 0, signal, value, mask, condition, 0, 0, 0, completion)


def invalidate(completion: int = 0) -> bytes:
    """What the runtime sends when it has loaded code."""
    return struct.pack("<HBB4I36xQ", 0, 1, 0, 0xC0023F00, 0, 0, 0, completion)


def dispatch(descriptor: int, kernarg: int, grid: Sequence[int], block: Sequence[int], completion: int = 0,
             group: int = 0, private: int = 0) -> bytes:  # fmt: skip
    grid, block = [*grid, 1, 1][:3], [*block, 1, 1][:3]
    return struct.pack("<HH4H5IQQQQ", 2, 3, *block, 0, *grid, private, group, descriptor, kernarg, 0, completion)


class Loaded:
    """A code object in memory, as the runtime loads it."""

    def __init__(self, elf: bytes, memory: Memory | None = None) -> None:
        (phoff,) = struct.unpack_from("<Q", elf, 32)
        size, count = struct.unpack_from("<HH", elf, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", elf, phoff + k * size) for k in range(count)]
        loads = [h for h in headers if h[0] == 1]
        self.memory = memory or Memory(max(h[3] + h[6] for h in loads), VRAM | EXECUTABLE)
        for _, _, offset, va, _, length, _, _ in loads:
            self.memory.bytes[va : va + length] = np.frombuffer(elf[offset : offset + length], np.uint8)
        self.elf = elf

    def kernel(self, name: str) -> int:
        """The address of its descriptor."""
        return self.memory.va + symbols_of(self.elf)[f"{name}.kd"]
