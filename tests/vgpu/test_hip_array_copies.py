"""Linear copies of arrays, fills in three dimensions, libraries and their kernels, through the HIP API.

Protects: functions that HIP programs and ROCm's libraries call and libcuda does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import ARCHS, COMMON, compile_hip

FLOAT, TO_DEVICE, TO_HOST = 2, 1, 2


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> Iterator[hip.Gpu]:
    yield from opened(request.param)


def array(gpu: hip.Gpu, width: int, height: int) -> Any:
    """An array of floats."""
    out, about = gpu.library.ffi.new("hipArray_t *"), gpu.library.ffi.new("hipChannelFormatDesc *")
    about[0] = gpu.library.raw.hipCreateChannelDesc(32, 0, 0, 0, FLOAT)
    gpu.library.hipMallocArray(out, about, width, height, 0)
    return out[0]


def test_linear_copies(gpu: hip.Gpu) -> None:
    """Of bytes of one row, of bytes that go over rows, between arrays, and beyond the end."""
    lib, ffi, width, height = gpu.library, gpu.library.ffi, 10, 4
    first, second, about = array(gpu, width, height), array(gpu, width, height), ffi.new("hipChannelFormatDesc *")
    values, back = np.arange(width * height, dtype=np.float32), np.zeros(width * height, np.float32)
    source, target = (ffi.cast("void *", x.ctypes.data) for x in (values, back))
    lib.hipMemcpyToArray(first, 0, 0, source, values.nbytes, TO_DEVICE)
    lib.hipMemcpyFromArray(target, first, 0, 0, values.nbytes, TO_HOST)
    assert (back == values).all()
    lib.hipMemcpyFromArray(target, first, 8, 1, 48, TO_HOST)  # from the third float of the second row
    assert (back[:12] == values[12:24]).all()
    zeros = np.zeros(width * height, np.float32)
    lib.hipMemcpyToArray(second, 0, 0, ffi.cast("void *", zeros.ctypes.data), zeros.nbytes, TO_DEVICE)
    lib.hipMemcpy2DArrayToArray(second, 4, 1, first, 8, 2, 12, 2, 3)
    lib.hipMemcpyAtoA(second, 0, first, 20, 20)
    device = gpu.buffer(np.zeros(width, np.float32))
    lib.hipMemcpyAtoD(ffi.cast("void *", device.address), second, 0, 20)
    assert device.numpy().tolist() == [5, 6, 7, 8, 9, 0, 0, 0, 0, 0]
    lib.hipMemcpyDtoA(second, 20, ffi.cast("void *", device.address), 8)
    lib.hipMemcpyAtoHAsync(target, second, 0, 28, ffi.NULL)
    lib.hipMemcpyFromArray(target + 28, second, 0, 1, 80, TO_HOST)
    expected = [5, 6, 7, 8, 9, 5, 6, 0, 22, 23, 24, 0, 0, 0, 0, 0, 0, 0, 32, 33, 34]
    assert back[:21].tolist() == expected
    lib.hipGetChannelDesc(about, first)
    assert (about.x, about.y, about.f) == (32, 0, FLOAT)
    for x, y, count in ((width * 4, 0, 4), (0, height, 4), (0, 0, values.nbytes + 4)):
        with fails("hipErrorInvalidValue"):
            lib.hipMemcpyToArray(first, x, y, source, count, TO_DEVICE)


def test_memory_in_three_dimensions(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    pointer = ffi.new("hipPitchedPtr *")
    lib.hipMalloc3D(pointer, (10, 6, 3))
    lib.hipMemset3D(pointer[0], 1, (10, 6, 3))
    lib.hipMemset3DAsync(pointer[0], 7, (5, 4, 2), ffi.NULL)
    back = np.zeros((3, 6, pointer.pitch), np.uint8)
    lib.hipMemcpy(ffi.cast("void *", back.ctypes.data), pointer.ptr, back.nbytes, TO_HOST)
    expected = np.ones((3, 6, 10), np.uint8)
    expected[:2, :4, :5] = 7
    assert (back[:, :, :10] == expected).all()
    lib.hipFree(pointer.ptr)


def test_libraries_and_their_kernels(gpu: hip.Gpu, tmp_path: Any) -> None:
    lib, ffi, file = gpu.library, gpu.library.ffi, tmp_path / "k.hsaco"
    file.write_bytes(compile_hip(COMMON, gpu.arch))
    library, same, count, name = (
        ffi.new(f"{kind} *") for kind in ("hipLibrary_t", "hipLibrary_t", "unsigned", "char *")
    )
    none = [ffi.NULL, ffi.NULL, 0]
    lib.hipLibraryLoadFromFile(library, str(file).encode(), *none, *none)
    lib.hipLibraryGetKernelCount(count, library[0])
    kernels, names = ffi.new("hipKernel_t[]", count[0]), set()
    lib.hipLibraryEnumerateKernels(kernels, count[0], library[0])
    for kernel in kernels:
        lib.hipKernelGetName(ffi.cast("const char **", name), kernel)
        lib.hipKernelGetLibrary(same, kernel)
        assert same[0] == library[0]
        names.add(ffi.string(name[0]).decode())
    assert names == {"saxpy", "add_one", "slow", "store", "empty"}
    lib.hipLibraryUnload(library[0])


def test_properties_as_hip_5_has_them(gpu: hip.Gpu) -> None:
    """gcnArchName lies at 396 there."""
    old, new = gpu.library.ffi.new("char[]", 792), gpu.library.ffi.new("hipDeviceProp_tR0600 *")
    ordinal = gpu.library.ffi.new("int *")
    gpu.library.hipGetDevice(ordinal)
    gpu.library.hipGetDeviceProperties(gpu.library.ffi.cast("hipDeviceProp_t *", old), ordinal[0])
    gpu.library.hipGetDevicePropertiesR0600(new, ordinal[0])
    assert gpu.library.ffi.string(old + 396) == gpu.library.ffi.string(new.gcnArchName)
    assert gpu.library.ffi.string(old) == gpu.library.ffi.string(new.name)
