"""Arrays and texture objects: the memory behind arrays, copies into and out of them, the descriptor that kernels
read, and wrong arguments."""

from __future__ import annotations

import struct
from types import SimpleNamespace

INVALID_VALUE, INVALID_HANDLE, NOT_SUPPORTED = 1, 400, 801
HOST, DEVICE, ARRAY = 1, 2, 3
U8, FLOAT = 0x01, 0x20
LAYERED = 1


def array(shim: SimpleNamespace, **fields: int) -> object:
    handle = shim.ffi.new("CUarray *")
    assert shim.cuda.cuArray3DCreate_v2(handle, shim.ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", fields)) == 0
    return handle[0]


def memory(shim: SimpleNamespace, address: int, size: int) -> bytes:
    return bytes(shim.ffi.buffer(shim.ffi.cast("char *", address), size))


def test_array_copies(shim: SimpleNamespace, context: object) -> None:
    a = array(shim, Width=4, Height=3, Format=U8, NumChannels=2)
    whole = shim.ffi.new("char[]", bytes(range(24)))
    assert shim.cuda.cuMemcpyHtoA_v2(a, 0, whole, 24) == 0
    part = shim.ffi.new("char[]", 12)
    copy = shim.ffi.new(
        "CUDA_MEMCPY2D *",
        {
            "srcMemoryType": ARRAY, "srcArray": a, "srcXInBytes": 2, "srcY": 1,
            "dstMemoryType": HOST, "dstHost": part, "dstPitch": 6, "WidthInBytes": 6, "Height": 2,
        },
    )  # fmt: skip
    assert shim.cuda.cuMemcpy2D_v2(copy) == 0
    assert bytes(shim.ffi.buffer(part, 12)) == bytes([*range(10, 16), *range(18, 24)])
    assert shim.cuda.cuMemcpyAtoH_v2(part, a, 20, 5) == INVALID_VALUE
    description = shim.ffi.new("CUDA_ARRAY3D_DESCRIPTOR *")
    assert shim.cuda.cuArray3DGetDescriptor_v2(description, a) == 0
    assert (description.Width, description.Height, description.NumChannels) == (4, 3, 2)
    assert shim.cuda.cuArrayDestroy(a) == 0
    assert shim.cuda.cuArrayDestroy(a) == INVALID_HANDLE
    assert shim.cuda.cuMemcpy2D_v2(copy) == INVALID_HANDLE


def test_bad_arrays(shim: SimpleNamespace, context: object) -> None:
    handle = shim.ffi.new("CUarray *")

    def create(**fields: int) -> int:
        return shim.cuda.cuArray3DCreate_v2(handle, shim.ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", fields))

    assert create(Width=0, Format=U8, NumChannels=1) == INVALID_VALUE
    assert create(Width=4, Format=U8, NumChannels=5) == INVALID_VALUE
    assert create(Width=4, Height=4, Depth=5, Format=U8, NumChannels=1, Flags=4) == INVALID_VALUE  # a cube of 5 faces
    assert create(Width=1 << 62, Height=4, Format=FLOAT, NumChannels=4) == INVALID_VALUE
    levels = shim.ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", {"Width": 4, "Height": 4, "Format": U8, "NumChannels": 1})
    assert shim.cuda.cuMipmappedArrayCreate(shim.ffi.new("CUmipmappedArray *"), levels, 3) == NOT_SUPPORTED


def test_texture_descriptor(shim: SimpleNamespace, context: object) -> None:
    a = array(shim, Width=5, Height=4, Depth=3, Format=FLOAT, NumChannels=2, Flags=LAYERED)
    resource = shim.ffi.new("CUDA_RESOURCE_DESC *", {"resType": 0, "res": {"array": {"hArray": a}}})
    how = shim.ffi.new(
        "CUDA_TEXTURE_DESC *",
        {"addressMode": [0, 2, 3], "filterMode": 1, "flags": 2, "borderColor": [1.0, 2.0, 3.0, 4.0]},
    )
    texture = shim.ffi.new("CUtexObject *")
    assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == 0
    fields = struct.unpack("<QQ13I4fII36x", memory(shim, texture[0], 128))
    assert fields[1:] == (160, 40, 5, 4, 0, 3, FLOAT, 2, 8, 0, 2, 3, 1, 2, 1.0, 2.0, 3.0, 4.0, 1, 4)
    found = shim.ffi.new("CUDA_RESOURCE_DESC *")
    assert shim.cuda.cuTexObjectGetResourceDesc(found, texture[0]) == 0
    assert found.res.array.hArray == a
    assert shim.cuda.cuSurfObjectDestroy(texture[0]) == INVALID_VALUE
    assert shim.cuda.cuTexObjectDestroy(texture[0]) == 0
    assert shim.cuda.cuTexObjectDestroy(texture[0]) == INVALID_VALUE
    how.flags = 0x10
    assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == NOT_SUPPORTED  # sRGB
    shim.cuda.cuArrayDestroy(a)
    assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == INVALID_HANDLE


def test_linear_texture(shim: SimpleNamespace, context: object) -> None:
    """Linear memory: zeros outside, integers of 32 bits as they are, misalignment found."""
    pointer = shim.ffi.new("CUdeviceptr *")
    assert shim.cuda.cuMemAlloc_v2(pointer, 64) == 0
    linear = {"devPtr": pointer[0], "format": 0x03, "numChannels": 1, "sizeInBytes": 64}
    resource = shim.ffi.new("CUDA_RESOURCE_DESC *", {"resType": 2, "res": {"linear": linear}})
    how, texture = shim.ffi.new("CUDA_TEXTURE_DESC *"), shim.ffi.new("CUtexObject *")
    assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == 0
    fields = struct.unpack("<QQ13I4fII36x", memory(shim, texture[0], 128))
    assert fields == (pointer[0], 0, 0, 16, 0, 0, 0, 3, 1, 4, 3, 3, 3, 0, 1, 0, 0, 0, 0, 1, 4)
    resource.res.linear.devPtr += 2
    assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == INVALID_VALUE
    assert shim.cuda.cuSurfObjectCreate(texture, resource) == INVALID_VALUE
