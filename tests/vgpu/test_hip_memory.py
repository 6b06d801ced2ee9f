"""Memory through the HIP API: allocations, pointers, copies, fills, pools, virtual memory.

Protects: every allocation is known, bad ranges are errors and not crashes, and copies agree with numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import common


@pytest.fixture
def gpu() -> Iterator[hip.Gpu]:
    yield from opened("gfx942")


def allocate(gpu: hip.Gpu, function: str, size: int, *rest: int) -> Any:
    pointer = gpu.library.ffi.new("void **")
    getattr(gpu.library, function)(pointer, size, *rest)
    return pointer[0]


def address(gpu: hip.Gpu, pointer: Any) -> int:
    return int(gpu.library.ffi.cast("uintptr_t", pointer))


def test_allocations_are_aligned_and_freed_once(gpu: hip.Gpu) -> None:
    lib = gpu.library
    pointers = [allocate(gpu, "hipMalloc", size) for size in (1, 100, 4096, 3 << 20)]
    assert all(address(gpu, p) % 256 == 0 for p in pointers) and len(set(pointers)) == 4
    for p in pointers:
        lib.hipFree(p)
    for p in (pointers[0], pointers[3], pointers[1] + 4, lib.ffi.cast("void *", 0x1234)):
        with fails("hipErrorInvalidValue"):
            lib.hipFree(p)
    lib.hipFree(lib.ffi.NULL)
    assert allocate(gpu, "hipMalloc", 0) == lib.ffi.NULL


def test_too_much_is_out_of_memory(gpu: hip.Gpu) -> None:
    for size in (1 << 44, 1 << 62, (1 << 64) - 1):
        with fails("hipErrorOutOfMemory"):
            allocate(gpu, "hipMalloc", size)
    free, total = gpu.library.ffi.new("size_t *"), gpu.library.ffi.new("size_t *")
    gpu.library.hipMemGetInfo(free, total)
    assert 0 < free[0] <= total[0] == gpu.properties.totalGlobalMem


WRAPPING = ((1 << 64) - 1, (1 << 64) - 16, (1 << 64) - 60000, 1 << 63, (1 << 62) + 1)


@pytest.mark.parametrize("size", WRAPPING)
def test_sizes_that_wrap_are_errors_and_move_nothing(gpu: hip.Gpu, size: int) -> None:
    """The check of a range must not be (address + size) mod 2^64."""
    lib, ffi = gpu.library, gpu.library.ffi
    low, high = (ffi.cast("char *", allocate(gpu, "hipMalloc", 1 << 20)) for _ in range(2))
    host = ffi.new("char[]", b"\x55" * (1 << 20))
    lib.hipMemset(low, 0x55, 1 << 20)
    half = 1 << 19
    for call, *arguments in (
        ("hipMemcpyDtoD", low + half, high + 4096, size), ("hipMemcpyHtoD", low + half, host + half, size),
        ("hipMemcpyDtoH", host + half, high + half, size), ("hipMemset", low + half, 1, size),
        ("hipMemsetD16", low + half, 1, size), ("hipMemsetD32", low + half, 1, size),
        ("hipMemset2D", low + half, 1 << 32, 1, 4, size), ("hipMemset2D", low + half, size, 1, 4, 3),
        ("hipMemcpy2D", low, 1 << 32, high, 1 << 32, 4, size, lib.raw.hipMemcpyDeviceToDevice),
        ("hipHostRegister", host, size, 0),
    ):  # fmt: skip
        with fails("hipErrorInvalidValue"):
            getattr(lib, call)(*arguments)
    back = ffi.new("char[]", 1 << 20)
    lib.hipMemcpyDtoH(back, low, 1 << 20)
    assert bytes(ffi.buffer(back)) == bytes(ffi.buffer(host))[: 1 << 20] == b"\x55" * (1 << 20)


COUNT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, %r4; st.global.u32 [%rd3], %r5;
  ret;
}"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_rows_across_4_gib(arch: str) -> None:
    """Lanes' addresses whose high dwords differ, in native code too."""
    for gpu in opened(arch):
        memory, n = gpu.buffer(6 << 30), 64 * 256
        middle = (int(memory) + (1 << 32)) & ~0xFFFFFFFF
        middle += (1 << 32) * (middle - int(memory) < 4 * n)
        part = hip.Buffer(gpu, 4 * n, address=middle - 2 * n - 20, keep=memory)
        kernel = gpu.load(translate(COUNT, "count.ptx", [arch])[0].code).kernel("count")
        part.write(np.zeros(n, np.uint32))
        for _ in range(3):
            kernel.launch(64, 256, [part])
        assert np.array_equal(part.numpy(np.uint32), 3 * np.arange(n, dtype=np.uint32))


KINDS = [
    ("hipMalloc", (), "hipFree", "hipMemoryTypeDevice", False),
    ("hipMallocManaged", (1,), "hipFree", "hipMemoryTypeManaged", True),
    ("hipHostMalloc", (0,), "hipHostFree", "hipMemoryTypeHost", True),
]


@pytest.mark.parametrize("function, rest", [(function, rest) for function, rest, *_ in KINDS])
@pytest.mark.parametrize("free", ["hipFree", "hipHostFree"])
def test_either_function_frees_any_memory(gpu: hip.Gpu, function: str, rest: tuple[int, ...], free: str) -> None:
    """As with AMD's HIP: RCCL frees memory of a device by hipHostFree."""
    pointer = allocate(gpu, function, 1000, *rest)
    getattr(gpu.library, free)(pointer)
    with fails("hipErrorInvalidValue"):
        getattr(gpu.library, free)(pointer)


@pytest.mark.parametrize(("function", "rest", "free", "kind", "host"), KINDS)
def test_pointer_attributes(
    gpu: hip.Gpu, function: str, rest: tuple[int, ...], free: str, kind: str, host: bool
) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    p = allocate(gpu, function, 1000, *rest)
    a = ffi.new("hipPointerAttribute_t *")
    lib.hipPointerGetAttributes(a, p + 10)
    assert a.type == getattr(lib.raw, kind) and a.device == gpu.ordinal and a.devicePointer == p + 10
    assert a.hostPointer == (p + 10 if host else ffi.NULL) and a.isManaged == (kind == "hipMemoryTypeManaged")
    base, size, value = ffi.new("hipDeviceptr_t *"), ffi.new("size_t *"), ffi.new("uint64_t *")
    lib.hipMemGetAddressRange(base, size, p + 999)
    assert base[0] == p and size[0] == 1000
    lib.hipPointerGetAttribute(value, lib.raw.HIP_POINTER_ATTRIBUTE_RANGE_SIZE, p + 5)
    assert value[0] == 1000
    with fails("hipErrorNotFound"):
        lib.hipMemGetAddressRange(base, size, p + 1000)
    getattr(lib, free)(p)
    lib.hipPointerGetAttributes(a, p)
    assert a.type == lib.raw.hipMemoryTypeUnregistered
    with fails("hipErrorInvalidValue"):
        lib.hipPointerGetAttribute(value, lib.raw.HIP_POINTER_ATTRIBUTE_RANGE_SIZE, p)


def test_buffer_ids_are_unique(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    seen = set()
    for _ in range(20):
        p, value = allocate(gpu, "hipMalloc", 64), ffi.new("uint64_t *")
        lib.hipPointerGetAttribute(value, lib.raw.HIP_POINTER_ATTRIBUTE_BUFFER_ID, p)
        seen.add(value[0])
        lib.hipFree(p)
    assert len(seen) == 20


def test_host_registration(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    data, device, flags = np.zeros(10000, np.uint8), ffi.new("void **"), ffi.new("unsigned *")
    p = ffi.cast("void *", data.ctypes.data)
    with fails("hipErrorInvalidValue"):
        lib.hipHostGetDevicePointer(device, p, 0)
    lib.hipHostRegister(p, 10000, 2)
    with fails("hipErrorHostMemoryAlreadyRegistered"):
        lib.hipHostRegister(p + 5000, 100, 0)
    lib.hipHostGetDevicePointer(device, p + 7, 0)
    lib.hipHostGetFlags(flags, p)
    assert device[0] == p + 7 and flags[0] == 2
    lib.hipHostUnregister(p)
    with fails("hipErrorHostMemoryNotRegistered"):
        lib.hipHostUnregister(p)


def test_copies_are_checked_against_the_allocation(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    p, data = allocate(gpu, "hipMalloc", 1000), ffi.new("char[2000]")
    lib.hipMemcpyHtoD(p, data, 1000)
    lib.hipMemcpyHtoD(p, data, 0)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyHtoD(p, data, 1001)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyDtoH(data, p + 1, 1000)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyHtoD(data, p, 10)  # the destination is no device memory
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyDtoD(p, ffi.NULL, 10)
    with fails("hipErrorInvalidMemcpyDirection"):
        lib.hipMemcpy(p, data, 10, ffi.cast("hipMemcpyKind", 9))
    lib.hipFree(p)
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyHtoD(p, data, 10)


def test_linear_copies(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    data = np.random.default_rng(1).integers(0, 256, 100_000, np.uint8)
    a, b = gpu.buffer(data), gpu.buffer(100_000)
    pa, pb = ffi.cast("void *", a.address), ffi.cast("void *", b.address)
    lib.hipMemcpyDtoD(pb, pa, 100_000)
    assert (b.numpy() == data).all()
    lib.hipMemcpy(pb + 10, pb, 5000, lib.raw.hipMemcpyDefault)  # overlapping: as memmove does
    assert (b.numpy()[10:5010] == data[:5000]).all()
    back = np.zeros(100_000, np.uint8)
    lib.hipMemcpyDtoHAsync(ffi.cast("void *", back.ctypes.data), pa, 100_000, ffi.NULL)
    gpu.synchronize()
    assert (back == data).all()
    other = hip.open("vgpu:gfx1100").buffer(100_000)
    lib.hipMemcpyPeer(ffi.cast("void *", other.address), other.gpu.ordinal, pa, gpu.ordinal, 100_000)
    assert (other.numpy() == data).all()


def test_pitched_copies(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    data = np.arange(40 * 30, dtype=np.uint8).reshape(30, 40)
    pointer, pitch = ffi.new("void **"), ffi.new("size_t *")
    lib.hipMallocPitch(pointer, pitch, 40, 30)
    assert pitch[0] >= 40 and pitch[0] % 256 == 0
    source = ffi.cast("void *", data.ctypes.data)
    lib.hipMemcpy2D(pointer[0], pitch[0], source, 40, 40, 30, lib.raw.hipMemcpyHostToDevice)
    back = np.zeros((30, 64), np.uint8)
    c = ffi.new("hip_Memcpy2D *")
    c.srcMemoryType, c.srcDevice, c.srcPitch = lib.raw.hipMemoryTypeDevice, pointer[0], pitch[0]
    c.dstMemoryType, c.dstHost, c.dstPitch = lib.raw.hipMemoryTypeHost, ffi.cast("void *", back.ctypes.data), 64
    c.srcXInBytes, c.srcY, c.dstXInBytes, c.dstY, c.WidthInBytes, c.Height = 5, 3, 11, 2, 20, 25
    lib.hipMemcpyParam2D(c)
    expected = np.zeros((30, 64), np.uint8)
    expected[2:27, 11:31] = data[3:28, 5:25]
    assert (back == expected).all()
    with fails("hipErrorInvalidPitchValue"):
        lib.hipMemcpy2D(pointer[0], 39, source, 40, 40, 30, lib.raw.hipMemcpyHostToDevice)
    with fails("hipErrorInvalidValue"):  # past the end of the allocation
        lib.hipMemcpy2D(pointer[0], pitch[0], source, 40, 40, 31, lib.raw.hipMemcpyHostToDevice)
    lib.hipFree(pointer[0])


def test_copies_of_boxes(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    data = np.random.default_rng(2).integers(0, 256, (6, 10, 32), np.uint8)
    source, target = gpu.buffer(data), np.zeros((5, 8, 40), np.uint8)
    c = ffi.new("HIP_MEMCPY3D *")
    c.srcMemoryType, c.srcDevice = lib.raw.hipMemoryTypeDevice, ffi.cast("void *", source.address)
    c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ = 32, 10, 4, 2, 1
    c.dstMemoryType, c.dstHost = lib.raw.hipMemoryTypeHost, ffi.cast("void *", target.ctypes.data)
    c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ = 40, 8, 3, 1, 2
    c.WidthInBytes, c.Height, c.Depth = 17, 6, 3
    lib.hipDrvMemcpy3D(c)
    expected = np.zeros_like(target)
    expected[2:5, 1:7, 3:20] = data[1:4, 2:8, 4:21]
    assert (target == expected).all()
    c.srcZ = 4
    with fails("hipErrorInvalidValue"):
        lib.hipDrvMemcpy3D(c)


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.uint8), (16, np.uint16), (32, np.uint32)])
def test_fills(gpu: hip.Gpu, bits: int, dtype: Any) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    buffer = gpu.buffer(np.zeros((20, 64), dtype))
    p, value, pitch = ffi.cast("void *", buffer.address), 0x9A8B7C6D & ((1 << bits) - 1), 64 * bits // 8
    signed = value - (1 << 32) if bits == 32 else value
    getattr(lib, f"hipMemsetD{bits}")(p + bits // 8, signed, 100)
    expected = np.zeros(20 * 64, dtype)
    expected[1:101] = value
    assert (buffer.numpy().reshape(-1) == expected).all()
    getattr(lib, f"hipMemsetD2D{bits}Async")(p + 3 * pitch, pitch, value, 7, 5, ffi.NULL)
    expected = expected.reshape(20, 64)
    expected[3:8, :7] = value
    assert (buffer.numpy() == expected).all()
    with fails("hipErrorInvalidValue"):
        getattr(lib, f"hipMemsetD{bits}")(p, signed, 20 * 64 + 1)
    if bits > 8:
        with fails("hipErrorInvalidValue"):
            getattr(lib, f"hipMemsetD{bits}")(p + 1, signed, 1)


def test_pool_reuses_memory_in_stream_order(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    props = ffi.new("hipMemPoolProps *")
    props.allocType = lib.raw.hipMemAllocationTypePinned
    props.location.type, props.location.id = lib.raw.hipMemLocationTypeDevice, gpu.ordinal
    pool, p, value = ffi.new("hipMemPool_t *"), ffi.new("void **"), ffi.new("uint64_t *", 1 << 30)
    lib.hipMemPoolCreate(pool, props)
    lib.hipMemPoolSetAttribute(pool[0], lib.raw.hipMemPoolAttrReleaseThreshold, value)
    stream = gpu.stream()
    seen = set()
    for k in range(10):
        lib.hipMallocFromPoolAsync(p, 100_000 + k, pool[0], stream.handle)
        seen.add(p[0])
        common(gpu, "store").launch(1, 64, [address(gpu, p[0]), 10, k], stream=stream)
        lib.hipFreeAsync(p[0], stream.handle)
        stream.synchronize()
    assert len(seen) <= 2  # the larger sizes may need one more
    with fails("hipErrorInvalidValue"):
        lib.hipFreeAsync(p[0], stream.handle)
    lib.hipMemPoolGetAttribute(pool[0], lib.raw.hipMemPoolAttrReservedMemCurrent, value)
    assert value[0] >= 100_000
    lib.hipMemPoolGetAttribute(pool[0], lib.raw.hipMemPoolAttrUsedMemCurrent, value)
    assert value[0] == 0
    lib.hipMemPoolTrimTo(pool[0], 0)
    lib.hipMemPoolGetAttribute(pool[0], lib.raw.hipMemPoolAttrReservedMemCurrent, value)
    assert value[0] == 0
    lib.hipMemPoolDestroy(pool[0])
    with fails("hipErrorInvalidValue"):
        lib.hipMemPoolTrimTo(pool[0], 0)


def test_memory_of_a_pool_is_freed_once(gpu: hip.Gpu) -> None:
    """hipFree waits for the hipFreeAsync that is on its way, and then finds nothing."""
    lib, ffi = gpu.library, gpu.library.ffi
    p = ffi.new("void **")
    for _ in range(20):
        lib.hipMallocAsync(p, 1000, ffi.NULL)
        common(gpu, "store").launch(64, 64, [address(gpu, p[0]), 0, 1])
        lib.hipFreeAsync(p[0], ffi.NULL)
        with fails("hipErrorInvalidValue"):
            lib.hipFree(p[0])


def test_memory_of_a_pool_is_gone_after_its_free(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    p = ffi.new("void **")
    lib.hipMallocAsync(p, 4 << 20, ffi.NULL)  # a small one's chunk would stay mapped
    common(gpu, "store").launch(1, 64, [address(gpu, p[0]), 0, 1])
    lib.hipFreeAsync(p[0], ffi.NULL)
    gpu.synchronize()
    common(gpu, "store").launch(1, 64, [address(gpu, p[0]), 0, 1])
    with fails("hipErrorIllegalAddress"):
        gpu.synchronize()
    assert "that was freed" in capfd.readouterr().err


def test_one_object_mapped_twice_is_the_same_memory(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    prop, access = ffi.new("hipMemAllocationProp *"), ffi.new("hipMemAccessDesc *")
    prop.type = lib.raw.hipMemAllocationTypePinned
    prop.location.type, prop.location.id = lib.raw.hipMemLocationTypeDevice, gpu.ordinal
    access.location, access.flags = prop.location, lib.raw.hipMemAccessFlagsProtReadWrite
    size = ffi.new("size_t *")
    lib.hipMemGetAllocationGranularity(size, prop, lib.raw.hipMemAllocationGranularityMinimum)
    n = size[0]
    base, handle = ffi.new("void **"), ffi.new("hipMemGenericAllocationHandle_t *")
    lib.hipMemAddressReserve(base, 4 * n, 0, ffi.NULL, 0)
    lib.hipMemCreate(handle, n, prop, 0)
    lib.hipMemMap(base[0], n, 0, handle[0], 0)
    lib.hipMemMap(base[0] + 2 * n, n, 0, handle[0], 0)
    with fails("hipErrorInvalidValue"):
        lib.hipMemMap(base[0], n, 0, handle[0], 0)
    lib.hipMemSetAccess(base[0], n, access, 1)
    lib.hipMemSetAccess(base[0] + 2 * n, n, access, 1)
    lib.hipMemRelease(handle[0])
    common(gpu, "store").launch(1, 64, [address(gpu, base[0]), 17, 4711])
    other = hip.Buffer(gpu, 128, address=address(gpu, base[0]) + 2 * n)
    assert other.numpy(np.uint32)[17] == 4711
    with fails("hipErrorInvalidValue"):
        lib.hipMemcpyDtoH(ffi.new("char[16]"), base[0] + n, 16)  # reserved, not mapped
    lib.hipMemUnmap(base[0], n)
    with fails("hipErrorInvalidValue"):
        lib.hipMemAddressFree(base[0], 4 * n)  # still partly mapped
    lib.hipMemUnmap(base[0] + 2 * n, n)
    lib.hipMemAddressFree(base[0], 4 * n)
