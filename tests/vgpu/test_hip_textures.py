"""Textures and surfaces through the HIP API: kernels read them as HIP's device headers do, against numpy.

Protects: the descriptors that texture objects hold, arrays and their copies, what is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu import texels
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import compile_hip

#: The object's address is that of the image's descriptor; the sampler's begins at its dword 12.
SOURCE = r"""
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef int int4_ __attribute__((ext_vector_type(4)));
typedef int int8_ __attribute__((ext_vector_type(8)));
#define IMAGE(t) (*(__attribute__((address_space(4))) int8_ *)(t))
#define SAMPLER(t) (*(__attribute__((address_space(4))) int4_ *)((t) + 48))
#define NAMED(name) __asm("llvm.amdgcn." name)
DEVICE __attribute__((const)) float4_ sample_2d(int, float, float, int8_, int4_, bool, int, int)
    NAMED("image.sample.lz.2d.v4f32.f32.v8i32.v4i32");
DEVICE __attribute__((const)) float4_ sample_1d(int, float, int8_, int4_, bool, int, int)
    NAMED("image.sample.lz.1d.v4f32.f32.v8i32.v4i32");
DEVICE __attribute__((const)) float4_ sample_3d(int, float, float, float, int8_, int4_, bool, int, int)
    NAMED("image.sample.lz.3d.v4f32.f32.v8i32.v4i32");
DEVICE __attribute__((const)) float4_ sample_layer(int, float, float, float, int8_, int4_, bool, int, int)
    NAMED("image.sample.lz.2darray.v4f32.f32.v8i32.v4i32");
DEVICE __attribute__((pure)) float4_ load_2d(int, int, int, int8_, int, int) NAMED("image.load.2d.v4f32.i32.v8i32");
DEVICE void store_2d(float4_, int, int, int, int8_, int, int) NAMED("image.store.2d.v4f32.i32.v8i32");
DEVICE __attribute__((pure)) float4_ fetch(int4_, int, int, int, int) NAMED("struct.buffer.load.format.v4f32");

GLOBAL void tex1d(u64 t, const float *at, float4_ *out) {
  out[TX] = sample_1d(15, at[TX], IMAGE(t), SAMPLER(t), 0, 0, 0);
}
GLOBAL void tex2d(u64 t, const float *at, float4_ *out) {
  out[TX] = sample_2d(15, at[2 * TX], at[2 * TX + 1], IMAGE(t), SAMPLER(t), 0, 0, 0);
}
GLOBAL void tex3d(u64 t, const float *at, float4_ *out) {
  out[TX] = sample_3d(15, at[3 * TX], at[3 * TX + 1], at[3 * TX + 2], IMAGE(t), SAMPLER(t), 0, 0, 0);
}
GLOBAL void layered(u64 t, const float *at, float4_ *out) {
  out[TX] = sample_layer(15, at[3 * TX], at[3 * TX + 1], at[3 * TX + 2], IMAGE(t), SAMPLER(t), 0, 0, 0);
}
GLOBAL void tex1dfetch(u64 t, const int *at, float4_ *out) {
  out[TX] = fetch(*(__attribute__((address_space(4))) int4_ *)t, at[TX], 0, 0, 0);
}
GLOBAL void surface(u64 s) {                    /* every texel is doubled, in place */
  float4_ v = load_2d(15, TX % 16, TX / 16, IMAGE(s), 0, 0);
  store_2d(v + v, 15, TX % 16, TX / 16, IMAGE(s), 0, 0);
}
"""
ARCHS = ("gfx900", "gfx1030", "gfx1100", "gfx1200")
N = 64


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> Iterator[hip.Gpu]:
    yield from opened(request.param)


def kernel(gpu: hip.Gpu, name: str) -> hip.Kernel:
    return gpu.load(compile_hip(SOURCE, gpu.arch)).kernel(name)


def channels(gpu: hip.Gpu, dtype: type, n: int) -> Any:
    bits = np.dtype(dtype).itemsize * 8
    kind = {"i": 0, "u": 1, "f": 2}[np.dtype(dtype).kind]
    return gpu.library.ffi.new("hipChannelFormatDesc *", [bits if k < n else 0 for k in range(4)] + [kind])


def array(gpu: hip.Gpu, data: np.ndarray, flags: int = 0) -> Any:
    """An array with the content of data: (slices, rows, texels, channels), where 1 means that there is no such size."""
    lib = gpu.library
    handle = lib.ffi.new("hipArray_t *")
    depth, height, width, n = data.shape
    extent = [width, height if height > 1 else 0, depth if depth > 1 else 0]
    lib.hipMalloc3DArray(handle, channels(gpu, data.dtype.type, n), extent, flags)
    copy = lib.ffi.new("hipMemcpy3DParms *")
    copy.srcPtr = [lib.ffi.cast("void *", data.ctypes.data), width * n * data.itemsize, width, height]
    copy.dstArray, copy.extent, copy.kind = handle[0], [width, height, depth], 1
    lib.hipMemcpy3D(copy)
    return handle[0]


def texture(gpu: hip.Gpu, resource: Any, linear: bool, normalized: bool, mode: int = 1, floats: bool = False) -> int:
    lib = gpu.library
    t = lib.ffi.new("hipTextureDesc *")
    t.addressMode = [mode] * 3
    t.filterMode, t.normalizedCoords, t.readMode = int(linear), int(normalized), int(floats)
    handle = lib.ffi.new("hipTextureObject_t *")
    lib.hipCreateTextureObject(handle, resource, t, lib.ffi.NULL)
    return int(lib.ffi.cast("uintptr_t", handle[0]))


def of_array(gpu: hip.Gpu, handle: Any) -> Any:
    resource = gpu.library.ffi.new("hipResourceDesc *")
    resource.res.array.array = handle
    return resource


def looked_up(gpu: hip.Gpu, name: str, handle: int, at: np.ndarray) -> np.ndarray:
    out = gpu.buffer(np.zeros((N, 4), np.float32))
    kernel(gpu, name).launch(1, N, [np.uint64(handle), gpu.buffer(at), out])
    gpu.synchronize()
    return out.numpy(np.float32).reshape(N, 4)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("linear", [False, True])
def test_tex2d(gpu: hip.Gpu, mode: int, linear: bool) -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(1, 9, 13, 4)).astype(np.float32)
    at = rng.uniform(-1, 2, (N, 2)).astype(np.float32)
    got = looked_up(gpu, "tex2d", texture(gpu, of_array(gpu, array(gpu, data)), linear, True, mode), at)
    clamp = {0: 0, 1: 2, 2: 1, 3: 6}[mode]
    want = [texels.sample(data.astype(float), list(a), clamp, linear, True, np.zeros(4)) for a in at]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_bytes_as_floats(gpu: hip.Gpu) -> None:
    """Two channels, normalised; the others read 0 and 1. Coordinates in texels."""
    rng = np.random.default_rng(2)
    data = rng.integers(0, 256, (1, 8, 8, 2), np.uint8)
    at = rng.uniform(0, 8, (N, 2)).astype(np.float32)
    handle = texture(gpu, of_array(gpu, array(gpu, data)), True, False, floats=True)
    whole = np.concatenate([data / 255, np.zeros((1, 8, 8, 1)), np.ones((1, 8, 8, 1))], 3)
    want = [texels.sample(whole, list(a), 2, True, False, np.zeros(4)) for a in at]
    np.testing.assert_allclose(looked_up(gpu, "tex2d", handle, at), want, rtol=1e-5, atol=1e-6)


def test_integers(gpu: hip.Gpu) -> None:
    data = np.random.default_rng(3).integers(-99, 99, (1, 1, N, 1), np.int16)
    handle = texture(gpu, of_array(gpu, array(gpu, data)), False, False)
    got = looked_up(gpu, "tex1d", handle, np.arange(N).astype(np.float32) + np.float32(0.5))
    np.testing.assert_array_equal(got[:, 0].view(np.int32), data.ravel())


@pytest.mark.parametrize("name", ["tex3d", "layered"])
def test_slices(gpu: hip.Gpu, name: str) -> None:
    rng, layers = np.random.default_rng(4), name == "layered"
    data = rng.normal(size=(5, 7, 6, 1)).astype(np.float32)
    at = rng.uniform(0, 1, (N, 3)).astype(np.float32)
    if layers:
        at[:, 2] = np.arange(N) % 5
    handle = texture(gpu, of_array(gpu, array(gpu, data, 1 if layers else 0)), True, True)
    got = looked_up(gpu, name, handle, at)
    whole = np.concatenate([data] * 4, 3).astype(float)
    for lane in range(N):
        part = whole[int(at[lane, 2])][None] if layers else whole
        place = list(at[lane, :2] if layers else at[lane])
        want = texels.sample(part, place, 2, True, True, np.zeros(4))[0]
        np.testing.assert_allclose(got[lane, 0], want, rtol=1e-5, atol=1e-5)


def test_linear_memory(gpu: hip.Gpu) -> None:
    """tex1Dfetch; beyond the end it reads zeros."""
    lib, data = gpu.library, np.random.default_rng(5).normal(size=(50, 2)).astype(np.float32)
    memory = gpu.buffer(data)
    resource = lib.ffi.new("hipResourceDesc *")
    resource.resType = lib.raw.hipResourceTypeLinear
    resource.res.linear.devPtr = lib.ffi.cast("void *", memory.address)
    resource.res.linear.desc, resource.res.linear.sizeInBytes = channels(gpu, np.float32, 2)[0], data.nbytes
    got = looked_up(gpu, "tex1dfetch", texture(gpu, resource, False, False), np.arange(N, dtype=np.int32))
    np.testing.assert_array_equal(got[:50, :2], data)
    assert not got[50:, :3].any() and (got[:, 3] == 1).all()


def test_pitched_memory(gpu: hip.Gpu) -> None:
    lib, rng = gpu.library, np.random.default_rng(6)
    data = rng.normal(size=(10, 192)).astype(np.float32)
    memory = gpu.buffer(data)
    resource = lib.ffi.new("hipResourceDesc *")
    resource.resType = lib.raw.hipResourceTypePitch2D
    where = resource.res.pitch2D
    where.devPtr, where.desc = lib.ffi.cast("void *", memory.address), channels(gpu, np.float32, 1)[0]
    where.width, where.height, where.pitchInBytes = 20, 10, 192 * 4
    at = rng.uniform(0, 1, (N, 2)).astype(np.float32)
    got = looked_up(gpu, "tex2d", texture(gpu, resource, False, True), at)
    size = np.float32([20, 10])
    place = np.floor(at * size).astype(int)
    np.testing.assert_array_equal(got[:, 0], data[place[:, 1], place[:, 0]])


def test_surface(gpu: hip.Gpu) -> None:
    lib = gpu.library
    data = np.random.default_rng(7).normal(size=(1, 4, 16, 1)).astype(np.float32)
    handle = array(gpu, data, 2)
    surface = lib.ffi.new("hipSurfaceObject_t *")
    lib.hipCreateSurfaceObject(surface, of_array(gpu, handle))
    kernel(gpu, "surface").launch(1, N, [np.uint64(int(lib.ffi.cast("uintptr_t", surface[0])))])
    gpu.synchronize()
    back = np.zeros((4, 16), np.float32)
    lib.hipMemcpy2DFromArray(lib.ffi.cast("void *", back.ctypes.data), 64, handle, 0, 0, 64, 4, 2)
    np.testing.assert_array_equal(back, 2 * data[0, :, :, 0])
    lib.hipDestroySurfaceObject(surface[0])
    lib.hipFreeArray(handle)
    with fails("hipErrorInvalidHandle"):
        lib.hipFreeArray(handle)


def test_parts_of_arrays(gpu: hip.Gpu) -> None:
    """Copies at an offset; those that do not fit are errors."""
    lib, data = gpu.library, np.zeros((1, 6, 9, 1), np.float32)
    handle, part = array(gpu, data), np.arange(6, dtype=np.float32).reshape(2, 3)
    source = lib.ffi.cast("void *", part.ctypes.data)
    lib.hipMemcpy2DToArray(handle, 8, 3, source, 12, 12, 2, 1)
    back = np.zeros((6, 9), np.float32)
    lib.hipMemcpy2DFromArray(lib.ffi.cast("void *", back.ctypes.data), 36, handle, 0, 0, 36, 6, 2)
    data[0, 3:5, 2:5, 0] = part
    np.testing.assert_array_equal(back, data[0, :, :, 0])
    for x, y in ((28, 0), (0, 5)):
        with fails("hipErrorInvalidValue"):
            lib.hipMemcpy2DToArray(handle, x, y, source, 12, 12, 2, 1)
    info = lib.ffi.new("hipExtent *")
    lib.hipArrayGetInfo(lib.ffi.NULL, info, lib.ffi.NULL, handle)
    assert (info.width, info.height, info.depth) == (9, 6, 0)


def test_refusals(gpu: hip.Gpu) -> None:
    lib = gpu.library
    resource = of_array(gpu, array(gpu, np.zeros((1, 4, 4, 1), np.uint8)))
    with fails("hipErrorInvalidValue"):
        texture(gpu, resource, True, True)  # a filter on integers
    handle = texture(gpu, resource, False, True)
    lib.hipDestroyTextureObject(lib.ffi.cast("hipTextureObject_t", handle))
    with fails("hipErrorInvalidValue"):
        lib.hipDestroyTextureObject(lib.ffi.cast("hipTextureObject_t", handle))
    resource.resType = lib.raw.hipResourceTypeMipmappedArray
    with fails("hipErrorNotSupported"):
        texture(gpu, resource, False, True)


def test_chips_without_images() -> None:
    for gpu in opened("gfx942"):
        resource = of_array(gpu, array(gpu, np.zeros((1, 4, 4, 1), np.uint8)))
        with fails("hipErrorNotSupported"):
            texture(gpu, resource, False, True)
