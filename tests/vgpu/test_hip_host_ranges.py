"""Host memory at addresses that the HIP library knows, or knew.

Protects: a program's plain memory is never taken for an allocation that ended there, and what was freed by a reset is
not freed again, when the address belongs to something else.
"""

from __future__ import annotations

import ctypes
import mmap
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu.hip_gpu import fails, opened

PAGE = 4096
FIXED_NOREPLACE = 0x100000
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


@pytest.fixture
def gpu() -> Iterator[hip.Gpu]:
    yield from opened("gfx942")


def pages(size: int, at: int = 0) -> int:
    """Fresh memory of the program, at a free address if one is given."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (FIXED_NOREPLACE if at else 0)
    got = libc.mmap(at or None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    assert got and (not at or got == at), "the address is not free"
    return int(got)


def array(at: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_uint8 * size).from_address(at), np.uint8)


def pointer(gpu: hip.Gpu, at: int) -> Any:
    return gpu.library.ffi.cast("void *", at)


def copies(gpu: hip.Gpu, host: np.ndarray, seed: int) -> None:
    """Copies between device memory and ranges of `host`, in every direction, flat and pitched, agree with numpy."""
    lib, choose, at, n = gpu.activate(), random.Random(seed), host.ctypes.data, len(host)
    data = np.frombuffer(choose.randbytes(n), np.uint8)
    device, want = gpu.buffer(data), host.copy()
    for _ in range(40):
        start = choose.randrange(n)
        size = choose.randrange(1, n - start + 1)
        for copy in ("hipMemcpyDtoH", "hipMemcpyDtoHAsync"):
            more = (lib.ffi.NULL,) if copy.endswith("Async") else ()
            getattr(lib, copy)(pointer(gpu, at + start), pointer(gpu, int(device) + start), size, *more)
            gpu.synchronize()
        want[start : start + size] = data[start : start + size]
        assert np.array_equal(host, want), (start, size)
        width, height = max(1, size // 8), 3
        if 3 * width + start <= n:
            lib.hipMemcpy2D(pointer(gpu, int(device)), width, pointer(gpu, at + start), width, width, height,
                            lib.raw.hipMemcpyDefault)  # fmt: skip
            assert device.bytes()[: 3 * width] == want[start : start + 3 * width].tobytes()
            device.write(data)


@pytest.mark.parametrize("seed", range(3))
def test_copies_that_leave_registered_ranges(gpu: hip.Gpu, seed: int) -> None:
    choose, size = random.Random(seed), 16 * PAGE
    lib, at = gpu.activate(), pages(16 * PAGE)
    known = [(k * 4 * PAGE + choose.randrange(PAGE), choose.choice((8, 1000, 3 * PAGE))) for k in range(4)]
    for offset, length in known:
        lib.hipHostRegister(pointer(gpu, at + offset), length, 0)
    copies(gpu, array(at, size), seed)
    for offset, _ in known:
        lib.hipHostUnregister(pointer(gpu, at + offset))
    libc.munmap(at, size)


def test_registered_memory_that_was_unmapped(gpu: hip.Gpu) -> None:
    """It was not unregistered, and the system gives its address to a larger range."""
    lib, at = gpu.activate(), pages(16 * PAGE)
    lib.hipHostRegister(pointer(gpu, at + 4 * PAGE), 3 * PAGE + 100, 0)
    libc.munmap(at, 16 * PAGE)
    copies(gpu, array(pages(16 * PAGE, at), 16 * PAGE), 1)
    libc.munmap(at, 16 * PAGE)


def test_virtual_memory_that_was_freed(gpu: hip.Gpu) -> None:
    lib, ffi, n = gpu.activate(), gpu.library.ffi, 2 << 20
    prop, access = ffi.new("hipMemAllocationProp *"), ffi.new("hipMemAccessDesc *")
    prop.type = lib.raw.hipMemAllocationTypePinned
    prop.location.type, prop.location.id = lib.raw.hipMemLocationTypeDevice, gpu.ordinal
    access.location, access.flags = prop.location, lib.raw.hipMemAccessFlagsProtReadWrite
    base, handle = ffi.new("void **"), ffi.new("hipMemGenericAllocationHandle_t *")
    lib.hipMemAddressReserve(base, 2 * n, 0, ffi.NULL, 0)
    lib.hipMemCreate(handle, n, prop, 0)
    lib.hipMemMap(base[0], n, 0, handle[0], 0)
    lib.hipMemSetAccess(base[0], n, access, 1)
    lib.hipMemRelease(handle[0])
    lib.hipMemUnmap(base[0], n)
    at = int(ffi.cast("uintptr_t", base[0]))
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyDtoH(base[0], pointer(gpu, int(gpu.buffer(64))), 64)  # reserved still
    lib.hipMemAddressFree(base[0], 2 * n)
    copies(gpu, array(pages(2 * n, at), 2 * n)[: 16 * PAGE], 2)
    libc.munmap(at, 2 * n)


def test_what_is_not_the_programs(gpu: hip.Gpu) -> None:
    """Registered memory that ends, and then memory of a device: no plain memory."""
    lib, device, data = gpu.activate(), gpu.buffer(64), bytes(PAGE)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyHtoD(pointer(gpu, int(device)), lib.ffi.from_buffer(data), PAGE)
    pinned = lib.ffi.new("void **")
    lib.hipHostMalloc(pinned, 100, 0)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyDtoH(pinned[0], pointer(gpu, int(gpu.buffer(PAGE))), 101)  # pinned memory ends where it ends
    at = pages(PAGE)
    lib.hipHostRegister(pointer(gpu, at), 64, 0)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyDtoD(pointer(gpu, at), pointer(gpu, int(gpu.buffer(PAGE))), 65)  # of a device, the caller says
    with fails("hipErrorInvalidValue"):
        lib.hipMemset(pointer(gpu, at), 0, 65)
    lib.hipHostUnregister(pointer(gpu, at))
    libc.munmap(at, PAGE)


@pytest.mark.parametrize("reset", [hip.Gpu.reset, lambda gpu: gpu.activate().hipDeviceReset()], ids=["gpu", "library"])
@pytest.mark.parametrize("size", [4, 5000, 100_000])
def test_buffers_from_before_a_reset(gpu: hip.Gpu, reset: Any, size: int) -> None:
    """Deleted later, they leave alone what now has their address; in a program, a reference cycle decides when."""
    old = [gpu.buffer(size) for _ in range(8)]
    addresses = {int(b) for b in old}
    reset(gpu)
    new = [gpu.buffer(bytes(range(200, 204)) + bytes(size - 4)) for _ in range(8)]
    assert addresses & {int(b) for b in new}, "the addresses are used again"
    old.clear()
    assert all(b.bytes()[:4] == bytes(range(200, 204)) for b in new)


def test_arrays_from_before_a_reset(gpu: hip.Gpu) -> None:
    lib, array = gpu.activate(), gpu.library.ffi.new("hipArray_t *")
    form = lib.ffi.new("hipChannelFormatDesc *", {"x": 32, "f": lib.raw.hipChannelFormatKindUnsigned})
    lib.hipMallocArray(array, form, 64, 0, 0)
    gpu.reset()
    new = [gpu.buffer(256 * k) for k in range(1, 5) for _ in range(8)]
    lib.hipFreeArray(array[0])
    for buffer in new:
        buffer.write(bytes(len(buffer)))
    with fails("hipErrorInvalidHandle"):
        lib.hipFreeArray(array[0])
