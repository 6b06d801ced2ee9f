"""Arrays and texture objects: the memory behind arrays, copies into and out of them, the descriptor that kernels
read, and wrong arguments."""

from __future__ import annotations

import struct
from types import SimpleNamespace

INVALID_VALUE, INVALID_HANDLE = 1, 400
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
    assert shim.cuda.cuSurfObjectDestroy(texture[0]) == 0  # as of what is no texture object
    assert shim.cuda.cuTexObjectDestroy(texture[0]) == 0
    shim.cuda.cuArrayDestroy(a)
    assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == INVALID_HANDLE


def test_destroyed_textures_stay_readable_for_a_while(shim: SimpleNamespace, context: object) -> None:
    """Programs such as COLMAP destroy an object before the launch that uses it, and again after it: this is no error,
    and neither the descriptor nor its address is used for the next objects."""
    pointer = shim.ffi.new("CUdeviceptr *")
    assert shim.cuda.cuMemAlloc_v2(pointer, 64) == 0
    linear = {"devPtr": pointer[0], "format": 0x03, "numChannels": 1, "sizeInBytes": 64}
    resource = shim.ffi.new("CUDA_RESOURCE_DESC *", {"resType": 2, "res": {"linear": linear}})
    how, texture = shim.ffi.new("CUDA_TEXTURE_DESC *"), shim.ffi.new("CUtexObject *")
    used = []
    for _ in range(200):
        assert shim.cuda.cuTexObjectCreate(texture, resource, how, shim.ffi.NULL) == 0
        assert texture[0] not in used[-32:]
        used.append(texture[0])
        before = memory(shim, texture[0], 128)
        assert shim.cuda.cuTexObjectDestroy(texture[0]) == 0 and shim.cuda.cuTexObjectDestroy(texture[0]) == 0
        assert memory(shim, texture[0], 128) == before
    assert len(set(used)) < 100  # they are freed in the end
    assert shim.cuda.cuTexObjectGetResourceDesc(resource, texture[0]) == INVALID_VALUE


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


def test_mipmaps(shim: SimpleNamespace, context: object) -> None:
    """Levels halve down to one texel; a texture of all, or of some levels; what is destroyed is gone."""
    ffi, cuda = shim.ffi, shim.cuda
    handle, level = ffi.new("CUmipmappedArray *"), ffi.new("CUarray *")
    shape = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", {"Width": 12, "Height": 5, "Format": U8, "NumChannels": 4})
    assert cuda.cuMipmappedArrayCreate(handle, shape, 0) == 0  # one level, as NVIDIA's driver has it
    assert cuda.cuMipmappedArrayCreate(handle, shape, 9) == 0
    sizes = []
    found = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *")
    while cuda.cuMipmappedArrayGetLevel(level, handle[0], len(sizes)) == 0:
        assert cuda.cuArray3DGetDescriptor_v2(found, level[0]) == 0
        sizes.append((found.Width, found.Height, found.Depth))
        assert cuda.cuArrayDestroy(level[0]) == INVALID_HANDLE  # it is the mipmap's
    assert sizes == [(12, 5, 0), (6, 2, 0), (3, 1, 0), (1, 1, 0)]
    resource = ffi.new("CUDA_RESOURCE_DESC *", {"resType": 1, "res": {"mipmap": {"hMipmappedArray": handle[0]}}})
    how = ffi.new(
        "CUDA_TEXTURE_DESC *",
        {"flags": 0x12, "mipmapFilterMode": 1, "mipmapLevelBias": 0.5, "minMipmapLevelClamp": 1},
    )
    how.maxMipmapLevelClamp = 3
    texture = ffi.new("CUtexObject *")
    assert cuda.cuTexObjectCreate(texture, resource, how, ffi.NULL) == 0
    base, *_, flags, levels, table, bias, least, most, blend = struct.unpack(
        "<Q56xI20x4xIQfffI8x", memory(shim, texture[0], 128)
    )
    assert (flags, levels, bias, least, most, blend) == (2 | 4, 4, 0.5, 1, 3, 1)
    places = list(struct.iter_unpack("<QQIIII", memory(shim, table, 128)))
    assert places[0][0] == base
    shapes = [(240, 48, 12, 5, 0), (48, 24, 6, 2, 0), (12, 12, 3, 1, 0), (4, 4, 1, 1, 0)]
    assert [place[1:] for place in places] == shapes
    view = ffi.new("CUDA_RESOURCE_VIEW_DESC *", {"width": 12, "height": 5, "firstMipmapLevel": 1, "lastMipmapLevel": 2})
    other = ffi.new("CUtexObject *")
    assert cuda.cuTexObjectCreate(other, resource, how, view) == 0
    first, width, levels, at = struct.unpack("<Q12xI68xIQ24x", memory(shim, other[0], 128))
    assert (first, width, levels, at) == (places[1][0], 6, 2, table + 32)
    view.lastMipmapLevel = 4
    assert cuda.cuTexObjectCreate(other, resource, how, view) == INVALID_VALUE
    assert cuda.cuMipmappedArrayDestroy(handle[0]) == 0
    assert cuda.cuMipmappedArrayDestroy(handle[0]) == INVALID_HANDLE
    assert cuda.cuMipmappedArrayGetLevel(level, handle[0], 0) == INVALID_HANDLE
    assert cuda.cuTexObjectCreate(other, resource, how, ffi.NULL) == INVALID_HANDLE
