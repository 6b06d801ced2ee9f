"""Image instructions from LLVM's intrinsics, against numpy: formats, dimensions, filters, address modes, forms.

Protects: what a HIP program's textures and surfaces compile to, from decoding to the descriptors' fields.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import texels
from descriptors import FORMATS, IDENTITY, Shape, image, sampler, texel_bytes
from engine import CodeObject, EngineFault

from ptx2amd.codegen import emit, link
from ptx2amd.target import target

ARCHS = ("gfx900", "gfx90a", "gfx1030", "gfx1100", "gfx1200")
SAMPLING = ("gfx900", "gfx1030", "gfx1100", "gfx1200")  # gfx90a has nothing but the plain image_sample
N = 64
#: dimension -> (intrinsic's suffix, shape)
SHAPES = {
    "1d": Shape("1d", 37), "2d": Shape("2d", 13, 9), "3d": Shape("3d", 11, 6, 5), "cube": Shape("cube", 8, 8, 1, 12),
    "1darray": Shape("1darray", 21, 1, 1, 4), "2darray": Shape("2darray", 10, 7, 1, 6),
}  # fmt: skip
COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "cube": 3, "1darray": 2, "2darray": 3}


@cache
def compiled(arch: str, ir: str) -> CodeObject:
    return CodeObject(link([emit(ir, target(arch))]), arch)


def kernel(call: str, inputs: int, kind: str, output: str, body: str = "") -> str:
    """One work-item loads its inputs (of a type) as %x0 ..., does the call, and stores %r."""
    loads = "\n".join(
        f"  %p{k} = getelementptr {kind}, ptr addrspace(1) %in, i32 %o{k}\n  %x{k} = load {kind}, ptr addrspace(1) %p{k}\n"
        for k in range(inputs)
    )
    offsets = "\n".join(f"  %o{k} = add i32 %first, {k}" for k in range(inputs))
    store = ""
    if output:
        store = f"  %q = getelementptr {output}, ptr addrspace(1) %out, i32 %id\n  store {output} %r, ptr addrspace(1) %q"
    return f"""
define amdgpu_kernel void @k(ptr addrspace(1) inreg noalias %desc, ptr addrspace(1) noalias %in,
    ptr addrspace(1) noalias %out) #0 {{
  %t = load <8 x i32>, ptr addrspace(1) %desc, align 32
  %sp = getelementptr i8, ptr addrspace(1) %desc, i32 48
  %s = load <4 x i32>, ptr addrspace(1) %sp, align 16
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %id, {inputs}
{offsets}
{loads}
  {call}
{body}
{store}
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="{N},{N}" }}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 500}}
!llvm.module.flags = !{{!0}}
"""


class Memory:
    """An image's texels at an address that descriptors can name."""

    def __init__(self, arch: str, fmt: str, shape: Shape, seed: int = 0, fill: bool = True) -> None:
        size = texel_bytes(fmt)
        self.block = np.zeros(shape.pitch(arch, size) * shape.height * shape.planes * size + 512, np.uint8)
        start = -self.block.ctypes.data % 256
        self.base = self.block.ctypes.data + start
        pitch = shape.pitch(arch, size)
        rows = self.block[start : start + pitch * shape.height * shape.planes * size]
        self.texels = rows.reshape(shape.planes, shape.height, pitch, size)[:, :, : shape.width]
        if fill:
            rng = np.random.default_rng(seed)
            self.texels[:] = rng.integers(0, 256, self.texels.shape, np.uint8)
            if fmt.endswith("float"):
                widths = texels.fields(fmt)[0]
                if set(widths) <= {16, 32}:
                    values = rng.normal(size=(*self.texels.shape[:-1], len(widths)))
                    self.texels[:] = values.astype(f"f{widths[0] // 8}").view(np.uint8)


def run(arch: str, ir: str, descriptors: list[np.ndarray], inputs: np.ndarray, out: np.ndarray, *memory: Memory) -> None:
    desc = np.zeros(16 + 8, np.uint32)
    start = -desc.ctypes.data % 32 // 4
    desc[start : start + len(descriptors[0])] = descriptors[0]
    if len(descriptors) > 1:
        desc[start + 12 : start + 16] = descriptors[1]
    whole = np.zeros(64, np.uint32)
    whole[:24] = desc
    aligned = np.zeros(64, np.uint32)
    at = -aligned.ctypes.data % 64 // 4
    aligned[at : at + 16] = desc[start : start + 16]
    compiled(arch, ir).run("k", [1], [N], [aligned[at:], np.ascontiguousarray(inputs), out, *(m.block for m in memory)])


def same(got: np.ndarray, want: np.ndarray, fmt: str, exact: bool = True) -> None:
    if texels.integer(fmt):
        np.testing.assert_array_equal(got.view(np.int32), want.astype(np.int64).astype(np.int32))
    elif exact:
        np.testing.assert_array_equal(got.view(np.float32), want.astype(np.float32))
    else:
        np.testing.assert_allclose(got.view(np.float32), want, rtol=2e-5, atol=2e-6)


def places(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Integer coordinates, some of them outside."""
    if shape.dim == "cube" or shape.dim.startswith("2d"):
        sizes = [shape.width, shape.height, shape.slices]
    elif shape.dim == "1darray":
        sizes = [shape.width, shape.slices]
    else:
        sizes = [shape.width, shape.height, shape.depth]
    n = COORDINATES[shape.dim]
    at = np.stack([rng.integers(0, size, N) for size in sizes[:n]], 1).astype(np.int32)
    at[:4, 0] = [-1, shape.width, 1 << 20, -(1 << 31)]
    return at


def texel_at(data: np.ndarray, shape: Shape, at: np.ndarray) -> tuple[int, int, int] | None:
    """(z, y, x) of coordinates, None outside."""
    x, y, z = (*map(int, at), 0, 0)[:3]
    if shape.dim == "1darray":
        y, z = 0, y
    place = (z, y, x)
    return place if all(0 <= p < n for p, n in zip(place, data.shape, strict=False)) else None


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dim", SHAPES)
@pytest.mark.parametrize("fmt", ["32_float", "8_8_8_8_uint", "16_16_float"])
def test_load(arch: str, dim: str, fmt: str) -> None:
    shape, n = SHAPES[dim], COORDINATES[dim]
    memory = Memory(arch, fmt, shape, 1)
    arguments = ", ".join(f"i32 %x{k}" for k in range(n))
    call = f"%r = call <4 x i32> @llvm.amdgcn.image.load.{dim}.v4i32.i32.v8i32(i32 15, {arguments}, <8 x i32> %t, i32 0, i32 0)"
    name = f"declare <4 x i32> @llvm.amdgcn.image.load.{dim}.v4i32.i32.v8i32(i32, {', '.join(['i32'] * n)}, <8 x i32>, i32, i32)"
    at, out = places(shape, np.random.default_rng(2)), np.zeros((N, 4), np.uint32)
    run(arch, kernel(call, n, "i32", "<4 x i32>") + name, [image(arch, memory.base, fmt, shape)], at, out, memory)
    data = texels.texels(memory.texels, fmt)
    for lane in range(N):
        place = texel_at(data, shape, at[lane])
        same(out[lane], data[place] if place else np.zeros(4), fmt)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("fmt", [f for f in FORMATS if f not in ("32_32_32_float",)])
def test_formats(arch: str, fmt: str) -> None:
    """Every format, loaded and stored; a store is read back from memory."""
    shape = Shape("2d", 8, 8)
    source, back = Memory(arch, fmt, shape, 3), Memory(arch, fmt, shape, fill=False)
    image_type = "v4i32"
    load = f"%r = call <4 x i32> @llvm.amdgcn.image.load.2d.{image_type}.i32.v8i32(i32 15, i32 %x0, i32 %x1, <8 x i32> %t, i32 0, i32 0)"
    declare = f"declare <4 x i32> @llvm.amdgcn.image.load.2d.{image_type}.i32.v8i32(i32, i32, i32, <8 x i32>, i32, i32)\n"
    at = np.stack([np.arange(N) % 8, np.arange(N) // 8], 1).astype(np.int32)
    out = np.zeros((N, 4), np.uint32)
    run(arch, kernel(load, 2, "i32", "<4 x i32>") + declare, [image(arch, source.base, fmt, shape)], at, out, source)
    data = texels.texels(source.texels, fmt)[0].reshape(N, 4)
    same(out, data, fmt, exact=fmt.split("_")[-1] in ("uint", "sint", "float", "uscaled", "sscaled"))
    vector = "%v0 = insertelement <4 x float> undef, float %f2, i32 0\n" + "".join(
        f"  %v{k} = insertelement <4 x float> %v{k - 1}, float %f{k + 2}, i32 {k}\n" for k in (1, 2, 3)
    )
    casts = "".join(f"  %f{k} = bitcast i32 %x{k} to float\n" for k in (2, 3, 4, 5))
    store = casts + vector + (
        "  call void @llvm.amdgcn.image.store.2d.v4f32.i32.v8i32(<4 x float> %v3, i32 15, i32 %x0, i32 %x1, <8 x i32> %t,"
        " i32 0, i32 0)"
    )
    declare = "declare void @llvm.amdgcn.image.store.2d.v4f32.i32.v8i32(<4 x float>, i32, i32, i32, <8 x i32>, i32, i32)\n"
    inputs = np.concatenate([at.view(np.uint32), out], 1)
    run(arch, kernel(store, 6, "i32", "") + declare, [image(arch, back.base, fmt, shape)], inputs, out, back)
    again = texels.texels(back.texels, fmt)[0].reshape(N, 4)
    np.testing.assert_array_equal(np.nan_to_num(again, nan=7), np.nan_to_num(data, nan=7))
