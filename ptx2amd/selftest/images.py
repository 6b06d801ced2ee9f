"""Textures and surfaces with an array of 8 by 4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptx2amd.selftest.case import Comparison, case, compare
from ptx2amd.selftest.gpu import Buffer, Gpu, Number, packed, unpacked

WIDTH, HEIGHT = 8, 4
COUNT = WIDTH * HEIGHT
WORDS, FLOATS = 0x03, 0x20  # CUarray_format
CLAMP, LINEAR = 1, 1
HOST, ARRAY = 1, 3  # CUmemorytype


def copied(gpu: Gpu, array: Any, data: bytearray, back: bool = False) -> None:
    copy, host = gpu.ffi.new("CUDA_MEMCPY2D *"), gpu.ffi.from_buffer(data)
    if back:
        copy.srcMemoryType, copy.srcArray, copy.dstMemoryType, copy.dstHost, copy.dstPitch = (
            ARRAY,
            array,
            HOST,
            host,
            4 * WIDTH,
        )
    else:
        copy.srcMemoryType, copy.srcHost, copy.srcPitch, copy.dstMemoryType, copy.dstArray = (
            HOST,
            host,
            4 * WIDTH,
            ARRAY,
            array,
        )
    copy.WidthInBytes, copy.Height = 4 * WIDTH, HEIGHT
    gpu.call("cuMemcpy2D_v2", copy)


def image(gpu: Gpu, kind: int, code: str, values: list[Number]) -> tuple[Any, Any]:
    """The array and its resource descriptor."""
    about = {"Width": WIDTH, "Height": HEIGHT, "Format": kind, "NumChannels": 1, "Flags": 2}  # for surfaces
    array = gpu.get("cuArray3DCreate_v2", "CUarray *", gpu.ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", about))
    copied(gpu, array, bytearray(packed(code, values)))
    return array, gpu.ffi.new("CUDA_RESOURCE_DESC *", {"resType": 0, "res": {"array": {"hArray": array}}})


@case("images", "textures, filters, edges")
def textures(gpu: Gpu) -> Iterator[Comparison]:
    texels = [float((n * 37) % 64) for n in range(COUNT)]
    _array, resource = image(gpu, FLOATS, "f", list(texels))
    objects = []
    for mode in (0, LINEAR):
        how = gpu.ffi.new("CUDA_TEXTURE_DESC *", {"addressMode": [CLAMP] * 3, "filterMode": mode})
        objects.append(Buffer(gpu.get("cuTexObjectCreate", "CUtexObject *", resource, how, gpu.ffi.NULL), 0))
    out = gpu.room(12 * COUNT)
    gpu.run(gpu.kernel(gpu.load("images"), "sample"), 1, COUNT, *objects, out)
    got = gpu.read(out, "f")
    places = [(n % WIDTH, n // WIDTH) for n in range(COUNT)]
    yield compare("points", "f", got[0::3], texels)
    between = [(texels[y * WIDTH + x] + texels[y * WIDTH + min(x + 1, WIDTH - 1)]) / 2 for x, y in places]
    yield compare("between two texels", "f", got[1::3], between, 2.0**-8)
    yield compare("beyond the edge", "f", got[2::3], [texels[y * WIDTH + WIDTH - 1] for _, y in places])


@case("images", "surfaces")
def surfaces(gpu: Gpu) -> Iterator[Comparison]:
    texels = [n * 1000 + 7 for n in range(COUNT)]
    array, resource = image(gpu, WORDS, "I", list(texels))
    surface, out = Buffer(gpu.get("cuSurfObjectCreate", "CUsurfObject *", resource), 0), gpu.room(4 * COUNT)
    gpu.run(gpu.kernel(gpu.load("images"), "store"), 1, COUNT, surface, out)
    yield compare("loaded", "I", gpu.read(out, "I"), texels)
    data = bytearray(4 * COUNT)
    copied(gpu, array, data, back=True)
    yield compare("stored", "I", unpacked("I", data), [2 * value + 1 for value in texels])
