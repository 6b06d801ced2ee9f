"""Devices, contexts and errors through the HIP API.

Protects: HIP's binary layout, what programs learn about a chip, and how devices are chosen.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import hip
from ptx2amd.api.hip import functions
from ptx2amd.hip.library import ffi
from tests.vgpu.hip_gpu import fails
from tests.vgpu.hipcc import ARCHS

#: Offsets and sizes of HIP 6 and 7's hipDeviceProp_tR0600 and of structures that programs fill in.
OFFSETS = {
    "hipDeviceProp_tR0600": {
        "uuid": 256, "totalGlobalMem": 288, "warpSize": 308, "clockRate": 348, "major": 360, "maxTexture3DAlt": 468,
        "surfaceAlignment": 568, "asyncEngineCount": 600, "sharedMemPerMultiprocessor": 640, "cooperativeLaunch": 688,
        "reservedSharedMemPerBlock": 720, "reserved": 780, "gcnArchName": 1160, "arch": 1428, "asicRevision": 1468,
    },
    "hip_Memcpy2D": {"srcMemoryType": 16, "srcPitch": 48, "dstMemoryType": 72, "Height": 120},
    "HIP_MEMCPY3D": {"srcMemoryType": 32, "dstXInBytes": 80, "dstMemoryType": 112, "Depth": 176},
    "hipKernelNodeParams": {"extra": 16, "func": 24, "gridDim": 32, "kernelParams": 48, "sharedMemBytes": 56},
    "hipMemPoolProps": {"location": 8, "maxSize": 24, "reserved": 32},
    "hipMemAllocationProp": {"location": 8, "allocFlags": 24},
}  # fmt: skip
NUMBERS = {
    "hipDeviceAttributeWarpSize": 87, "hipDeviceAttributeMaxThreadsPerBlock": 56, "hipDeviceAttributePciBusId": 67,
    "hipDeviceAttributeMultiprocessorCount": 63, "hipDeviceAttributeMemoryPoolSupportedHandleTypes": 91,
    "hipDeviceAttributeImageSupport": 10014, "hipDeviceAttributePciChipId": 10020, "hipErrorIllegalAddress": 700,
    "HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE": 17, "HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 8,
}  # fmt: skip


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> hip.Gpu:
    return hip.open(f"vgpu:{request.param}")


def test_binary_interface() -> None:
    declared = ffi()
    assert {s: {f: declared.offsetof(s, f) for f in fields} for s, fields in OFFSETS.items()} == OFFSETS
    raw = hip.open("vgpu").library.raw
    assert {name: getattr(raw, name) for name in NUMBERS} == NUMBERS


def test_every_declared_function_is_exported() -> None:
    names = [row.symbol for row in functions() if row.ours]
    library = hip.open("vgpu").library
    assert len(names) > 350
    missing = [name for name in names if not hasattr(library.raw, name)]
    assert not missing


def test_properties_and_attributes_agree(gpu: hip.Gpu) -> None:
    p = gpu.properties
    assert p.warpSize == {"gfx942": 64, "gfx1100": 32}[gpu.arch] == gpu.attribute("WarpSize")
    assert p.maxThreadsPerBlock == gpu.attribute("MaxThreadsPerBlock") == 1024
    assert p.sharedMemPerBlock == gpu.attribute("MaxSharedMemoryPerBlock") == 65536
    assert p.multiProcessorCount == gpu.attribute("MultiprocessorCount") > 0
    assert (p.major, p.minor) == (gpu.attribute("ComputeCapabilityMajor"), gpu.attribute("ComputeCapabilityMinor"))
    assert p.maxThreadsPerMultiProcessor == gpu.attribute("MaxThreadsPerMultiProcessor") == 2048
    assert gpu.attribute("ManagedMemory") == gpu.attribute("MemoryPoolsSupported") == 1
    assert gpu.attribute("ImageSupport") == 0
    assert p.totalGlobalMem > 1 << 28 and "software GPU" in gpu.name
    value = gpu.library.ffi.new("int *")
    for wrong in (64, 86, 92, 5000, 30000):
        with fails("hipErrorInvalidValue"):
            gpu.library.hipDeviceGetAttribute(value, gpu.library.ffi.cast("hipDeviceAttribute_t", wrong), 0)
    with fails("hipErrorInvalidDevice"):
        gpu.library.hipDeviceGetAttribute(value, gpu.library.raw.hipDeviceAttributeWarpSize, 99)


def test_identity(gpu: hip.Gpu) -> None:
    lib, f = gpu.library, gpu.library.ffi
    uuid, text, back = f.new("hipUUID *"), f.new("char[64]"), f.new("int *")
    lib.hipDeviceGetUuid(uuid, gpu.ordinal)
    assert f.buffer(uuid)[:] == f.buffer(f.addressof(gpu.properties, "uuid"))[:] != bytes(16)
    lib.hipDeviceGetPCIBusId(text, 64, gpu.ordinal)
    lib.hipDeviceGetByPCIBusId(back, text)
    assert back[0] == gpu.ordinal
    domain, bus, _ = f.string(text).decode().split(":")
    assert (int(domain, 16), int(bus, 16)) == (gpu.attribute("PciDomainId"), gpu.attribute("PciBusId"))


def test_contexts_are_a_stack() -> None:
    a, b = (hip.open(f"vgpu:{arch}") for arch in ARCHS)
    lib, f = a.library, a.library.ffi
    ctx, now, device = f.new("hipCtx_t *"), f.new("hipCtx_t *"), f.new("int *")
    a.activate()
    lib.hipCtxCreate(ctx, 0, b.ordinal)
    lib.hipCtxGetDevice(device)
    assert device[0] == b.ordinal
    lib.hipCtxPopCurrent(now)
    assert now[0] == ctx[0]
    lib.hipGetDevice(device)
    assert device[0] == a.ordinal
    lib.hipCtxPushCurrent(ctx[0])
    lib.hipCtxDestroy(ctx[0])
    lib.hipGetDevice(device)
    assert device[0] == a.ordinal
    for call in (lib.hipCtxSetCurrent, lib.hipCtxPushCurrent, lib.hipCtxDestroy):
        with fails("hipErrorInvalidContext"):
            call(ctx[0])


def test_primary_context_counts_its_users() -> None:
    gpu = hip.open("vgpu")
    lib, f = gpu.library, gpu.library.ffi
    one, two, flags, active = f.new("hipCtx_t *"), f.new("hipCtx_t *"), f.new("unsigned *"), f.new("int *")
    lib.hipDevicePrimaryCtxRetain(one, gpu.ordinal)
    lib.hipDevicePrimaryCtxRetain(two, gpu.ordinal)
    assert one[0] == two[0]
    for expected in (1, 0):
        lib.hipDevicePrimaryCtxRelease(gpu.ordinal)
        lib.hipDevicePrimaryCtxGetState(gpu.ordinal, flags, active)
        assert active[0] == expected
    with fails("hipErrorInvalidContext"):
        lib.hipDevicePrimaryCtxRelease(gpu.ordinal)


def test_last_error_belongs_to_the_thread_and_is_cleared() -> None:
    raw = hip.open("vgpu").library.raw
    raw.hipGetLastError()
    assert raw.hipSetDevice(77) == raw.hipErrorInvalidDevice
    assert raw.hipPeekAtLastError() == raw.hipGetLastError() == raw.hipErrorInvalidDevice
    assert raw.hipGetLastError() == 0


def test_every_error_has_a_name_and_a_text() -> None:
    lib = hip.open("vgpu").library
    text = lib.ffi.new("const char **")
    for number, name in ffi().typeof("hipError_t").elements.items():
        assert lib.ffi.string(lib.raw.hipGetErrorName(number)).decode() == name
        assert lib.ffi.string(lib.raw.hipGetErrorString(number))
    assert lib.raw.hipDrvGetErrorName(54321, text) == lib.raw.hipErrorInvalidValue


def test_functions_by_name() -> None:
    lib = hip.open("vgpu").library
    pointer, status = lib.ffi.new("void **"), lib.ffi.new("hipDriverProcAddressQueryResult *")
    lib.hipGetProcAddress(b"hipMalloc", pointer, 60000, 0, status)
    assert pointer[0] == lib.ffi.cast("void *", lib.ffi.addressof(lib.raw, "hipMalloc")) and status[0] == 0
    for unknown in (b"hipNoSuchThing", b"malloc"):
        with fails("hipErrorInvalidValue"):
            lib.hipGetProcAddress(unknown, pointer, 60000, 0, status)
        assert status[0] == 1


CHOICES = [
    ({}, ["gfx942"]),
    ({"PTX2AMD_DEVICE": "vgpu"}, ["gfx942"]),
    ({"PTX2AMD_DEVICE": "vgpu:gfx1100"}, ["gfx1100"]),
    ({"PTX2AMD_DEVICE": "vgpu:gfx942:sramecc+:xnack-"}, ["gfx942"]),
    ({"PTX2AMD_DEVICE": "vgpu:gfx1100,gfx942"}, ["gfx1100", "gfx942"]),
    ({"PTX2AMD_DEVICE": "vgpu:gfx1100", "PTX2AMD_VGPU_COUNT": "3"}, ["gfx1100"] * 3),
    ({"PTX2AMD_VGPU_COUNT": "0"}, []),
    ({"PTX2AMD_DEVICE": "vgpu:gfx802"}, "no software GPU 'gfx802' (PTX2AMD_DEVICE); known are gfx803,gfx900,gfx906"),
    ({"PTX2AMD_VGPU_COUNT": "1000"}, "0 to 32 devices"),
]

LIST = """
import sys
from ptx2amd import hip
library = hip.Library(sys.argv[1])
print([hip.Gpu(library, k).arch for k in range(library.device_count())])
"""


@pytest.mark.parametrize(("environment", "expected"), CHOICES)
def test_choice_of_devices(environment: dict[str, str], expected: list[str] | str) -> None:
    base = {k: v for k, v in os.environ.items() if k not in ("PTX2AMD_DEVICE", "PTX2AMD_VGPU_COUNT")}
    library = hip.open("vgpu").library.path
    command = [sys.executable, "-c", LIST, library]
    done = subprocess.run(command, capture_output=True, text=True, env=base | environment, timeout=60)
    assert done.returncode == 0, done.stderr
    if isinstance(expected, str):
        assert done.stdout.strip() == "[]" and expected in done.stderr
        assert len(done.stderr.splitlines()) == 1
    else:
        assert done.stdout.strip() == str(expected) and not done.stderr


def test_bindings_name_what_they_miss(tmp_path: Path) -> None:
    for wrong in ("cuda", "vgpu:gfx600"):
        with pytest.raises(hip.library.Ptx2amdError, match=wrong.rpartition(":")[2]):
            hip.open(wrong)
    with pytest.raises(hip.library.Ptx2amdError, match=r"missing\.so"):
        hip.Library(tmp_path / "missing.so")
    with pytest.raises(TypeError, match="float32"):
        hip.device.argument_bytes(1.5)
