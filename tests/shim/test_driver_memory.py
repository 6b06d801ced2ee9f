"""Memory: copies in two and three dimensions, fills, errors; device facts; names of errors."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

INVALID_VALUE = 1
HOST, DEVICE = 1, 2


def allocate(shim: SimpleNamespace, size: int) -> int:
    pointer = shim.ffi.new("CUdeviceptr *")
    assert shim.cuda.cuMemAlloc_v2(pointer, size) == 0
    return pointer[0]


def read(shim: SimpleNamespace, pointer: int, size: int) -> bytes:
    data = shim.ffi.new("char[]", size)
    assert shim.cuda.cuMemcpyDtoH_v2(data, pointer, size) == 0
    return bytes(shim.ffi.buffer(data, size))


def test_copy_2d(shim: SimpleNamespace, context: object) -> None:
    to, source = allocate(shim, 64), shim.ffi.new("char[]", bytes(range(48)))
    copy = shim.ffi.new(
        "CUDA_MEMCPY2D *",
        {
            "srcMemoryType": HOST,
            "srcHost": source,
            "srcPitch": 8,
            "srcXInBytes": 2,
            "srcY": 1,
            "dstMemoryType": DEVICE,
            "dstDevice": to,
            "dstPitch": 16,
            "dstXInBytes": 1,
            "WidthInBytes": 3,
            "Height": 2,
        },
    )
    assert shim.cuda.cuMemcpy2D_v2(copy) == 0
    data = read(shim, to, 64)
    assert data[1:4] == bytes([10, 11, 12]) and data[17:20] == bytes([18, 19, 20])
    assert sum(data) == 10 + 11 + 12 + 18 + 19 + 20
    copy.dstPitch = 2
    assert shim.cuda.cuMemcpy2D_v2(copy) == INVALID_VALUE
    assert shim.cuda.cuMemcpy2D_v2(shim.ffi.NULL) == INVALID_VALUE
    copy.dstPitch, copy.srcMemoryType = 16, 77
    assert shim.cuda.cuMemcpy2D_v2(copy) == INVALID_VALUE


def test_copy_3d(shim: SimpleNamespace, context: object) -> None:
    to, source = allocate(shim, 24), shim.ffi.new("char[]", bytes(range(4 * 3 * 2)))
    copy = shim.ffi.new(
        "CUDA_MEMCPY3D *",
        {
            "srcMemoryType": HOST,
            "srcHost": source,
            "srcPitch": 4,
            "srcHeight": 3,
            "srcXInBytes": 1,
            "srcY": 1,
            "dstMemoryType": DEVICE,
            "dstDevice": to,
            "dstPitch": 2,
            "dstHeight": 2,
            "WidthInBytes": 2,
            "Height": 2,
            "Depth": 2,
        },
    )
    assert shim.cuda.cuMemcpy3D_v2(copy) == 0
    assert read(shim, to, 8) == bytes([5, 6, 9, 10, 17, 18, 21, 22])


@pytest.mark.parametrize(("bits", "value"), [(8, 0xAB), (16, 0xABCD), (32, 0xABCD1234)])
def test_fill_2d(shim: SimpleNamespace, context: object, bits: int, value: int) -> None:
    to, element = allocate(shim, 64), value.to_bytes(bits // 8, "little")
    assert getattr(shim.cuda, f"cuMemsetD2D{bits}_v2")(to, 16, value, 2, 3) == 0
    row = element * 2 + bytes(16 - 2 * len(element))
    assert read(shim, to, 48) == row * 3
    assert getattr(shim.cuda, f"cuMemsetD2D{bits}_v2")(to, 1, value, 2, 3) == INVALID_VALUE


def test_allocation_errors(shim: SimpleNamespace, context: object) -> None:
    pointer = shim.ffi.new("CUdeviceptr *")
    assert shim.cuda.cuMemAlloc_v2(pointer, 1 << 60) == 2
    assert shim.cuda.cuMemAlloc_v2(shim.ffi.NULL, 16) == INVALID_VALUE
    assert shim.cuda.cuMemFree_v2(0) == 0


def test_what_hip_lacks_is_not_supported(shim: SimpleNamespace, context: object) -> None:
    pool = shim.ffi.new("CUmemoryPool *")
    assert shim.cuda.cuMemPoolCreate(pool, shim.ffi.NULL) == 801  # the stub library has no pools
    assert shim.cuda.cuMemPrefetchAsync(4096, 64, 0, shim.ffi.NULL) == 0  # a hint


def test_device_facts(shim: SimpleNamespace) -> None:
    value, name = shim.ffi.new("int *"), shim.ffi.new("char[100]")
    assert shim.cuda.cuDeviceGetName(name, 100, 0) == 0
    assert shim.ffi.string(name) == b"AMD Stub (ptx2amd)"
    for number in range(1, 162):
        assert shim.cuda.cuDeviceGetAttribute(value, number, 0) == 0, number
    assert shim.cuda.cuDeviceGetAttribute(value, 0, 0) == INVALID_VALUE
    assert shim.cuda.cuDeviceGetAttribute(value, 1, 1) == 101

    def attribute(number: int) -> int:
        shim.cuda.cuDeviceGetAttribute(value, number, 0)
        return value[0]

    assert {n: attribute(n) for n in (1, 8, 10, 75, 76, 97)} == {1: 1024, 8: 49152, 10: 32, 75: 8, 76: 0, 97: 65536}
    identity, back = shim.ffi.new("char[32]"), shim.ffi.new("int *", 9)
    assert shim.cuda.cuDeviceGetPCIBusId(identity, 32, 0) == 0
    assert shim.cuda.cuDeviceGetByPCIBusId(back, identity) == 0 and back[0] == 0
    assert shim.cuda.cuDeviceGetByPCIBusId(back, b"ffff:ff:ff.0") == 101


def test_error_names_and_descriptions(shim: SimpleNamespace) -> None:
    text = shim.ffi.new("char **")

    def ask(function: object, number: int) -> bytes | int:
        result = function(number, shim.ffi.cast("const char **", text))  # type: ignore[operator]
        return shim.ffi.string(text[0]) if result == 0 else result

    assert ask(shim.cuda.cuGetErrorName, 0) == b"CUDA_SUCCESS"
    assert ask(shim.cuda.cuGetErrorName, 719) == b"CUDA_ERROR_LAUNCH_FAILED"
    assert ask(shim.cuda.cuGetErrorString, 2) == b"out of memory"
    assert ask(shim.cuda.cuGetErrorString, 12345) == INVALID_VALUE
    known = [n for n in range(1000) if ask(shim.cuda.cuGetErrorName, n) != INVALID_VALUE]
    assert len(known) > 100
    assert all(ask(shim.cuda.cuGetErrorString, n) for n in known)


def test_fork_gives_not_initialized_in_the_child(shim: SimpleNamespace, context: object) -> None:
    import os

    pid = os.fork()
    if not pid:
        answers = (shim.cuda.cuInit(0), shim.cuda.cuCtxSynchronize())
        os._exit(0 if answers == (3, 3) else 1)
    assert os.waitpid(pid, 0)[1] == 0
