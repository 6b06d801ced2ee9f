"""Image instructions from LLVM's intrinsics, against numpy: formats, dimensions, filters, address modes, forms.

Protects: what a HIP program's textures and surfaces compile to, from decoding to the descriptors' fields.
"""

from __future__ import annotations

import itertools
import re
from functools import cache

import numpy as np
import pytest

from ptx2amd.binary.elf import Elf
from ptx2amd.codegen import emit, link
from ptx2amd.target import target
from ptx2amd.vgpu.isa.op import opcodes
from tests.vgpu import texels
from tests.vgpu.descriptors import FORMATS, Shape, image, sampler, texel_bytes
from tests.vgpu.engine import CodeObject

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
def linked(arch: str, ir: str) -> bytes:
    return link([Elf(emit(ir, target(arch)))])


def compiled(arch: str, ir: str) -> CodeObject:
    """Not kept: a reset of the device by another test takes away the memory of code objects that live on."""
    return CodeObject(linked(arch, ir), arch)


def kernel(call: str, inputs: int, kind: str, output: str, body: str = "") -> str:
    """One work-item loads its inputs (of a type) as %x0 ..., does the call, and stores %r."""
    loads = "".join(
        f"  %p{k} = getelementptr {kind}, ptr addrspace(1) %in, i32 %o{k}\n"
        f"  %x{k} = load {kind}, ptr addrspace(1) %p{k}\n"
        for k in range(inputs)
    )
    offsets = "\n".join(f"  %o{k} = add i32 %first, {k}" for k in range(inputs))
    store = ""
    if output:
        store = (
            f"  %q = getelementptr {output}, ptr addrspace(1) %out, i32 %id\n  store {output} %r, ptr addrspace(1) %q"
        )
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


def called(result: str, name: str, operands: str) -> tuple[str, str]:
    """A call of an intrinsic as %r, and its declaration. operands: "type value, ..."."""
    types = [o.rsplit(" ", 1)[0] for o in re.split(r", (?![^<]*>)", operands)]
    head = "" if result == "void" else "%r = "
    full = f"{result} @llvm.amdgcn.{name}"
    return f"{head}call {full}({operands})", f"declare {full}({', '.join(types)})\n"


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


def run(
    arch: str, ir: str, descriptors: list[np.ndarray], inputs: np.ndarray, out: np.ndarray, *memory: Memory
) -> None:
    room = np.zeros(64, np.uint32)
    aligned = room[-room.ctypes.data % 64 // 4 :][:32]
    aligned[: len(descriptors[0])] = descriptors[0]
    if len(descriptors) > 1:
        aligned[12:16] = descriptors[1]  # where HIP's texture objects have the sampler
    compiled(arch, ir).run("k", [1], [N], [aligned, np.ascontiguousarray(inputs), out, *(m.block for m in memory)])


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
    operands = f"i32 15, {arguments}, <8 x i32> %t, i32 0, i32 0"
    call, declare = called("<4 x i32>", f"image.load.{dim}.v4i32.i32.v8i32", operands)
    at, out = places(shape, np.random.default_rng(2)), np.zeros((N, 4), np.uint32)
    run(arch, kernel(call, n, "i32", "<4 x i32>") + declare, [image(arch, memory.base, fmt, shape)], at, out, memory)
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
    place = "i32 15, i32 %x0, i32 %x1, <8 x i32> %t, i32 0, i32 0"
    load, declare = called("<4 x i32>", "image.load.2d.v4i32.i32.v8i32", place)
    at = np.stack([np.arange(N) % 8, np.arange(N) // 8], 1).astype(np.int32)
    out = np.zeros((N, 4), np.uint32)
    run(arch, kernel(load, 2, "i32", "<4 x i32>") + declare, [image(arch, source.base, fmt, shape)], at, out, source)
    data = texels.texels(source.texels, fmt)[0].reshape(N, 4)
    same(out, data, fmt, exact=fmt.split("_")[-1] in ("uint", "sint", "float", "uscaled", "sscaled"))
    vector = "%v0 = insertelement <4 x float> undef, float %f2, i32 0\n" + "".join(
        f"  %v{k} = insertelement <4 x float> %v{k - 1}, float %f{k + 2}, i32 {k}\n" for k in (1, 2, 3)
    )
    casts = "".join(f"  %f{k} = bitcast i32 %x{k} to float\n" for k in (2, 3, 4, 5))
    store, declare = called("void", "image.store.2d.v4f32.i32.v8i32", "<4 x float> %v3, " + place)
    store = casts + vector + "  " + store
    inputs = np.concatenate([at.view(np.uint32), out], 1)
    run(arch, kernel(store, 6, "i32", "") + declare, [image(arch, back.base, fmt, shape)], inputs, out, back)
    again = texels.texels(back.texels, fmt)[0].reshape(N, 4)
    np.testing.assert_array_equal(np.nan_to_num(again, nan=7), np.nan_to_num(data, nan=7))


FILTERED = {"1d": 1, "2d": 2, "3d": 3, "1darray": 1, "2darray": 2}


def sampling(name: str, arguments: list[str], out: str = "<4 x float>", mask: int = 15) -> tuple[str, str]:
    """A call of a sampling intrinsic, and its declaration. arguments: those that hang on the operation."""
    operands = ", ".join([f"i32 {mask}", *arguments, "<8 x i32> %t", "<4 x i32> %s", "i1 0", "i32 0", "i32 0"])
    return called(out, f"image.{name}", operands)


def sampled(
    arch: str,
    name: str,
    arguments: list[str],
    descriptors: list[np.ndarray],
    inputs: np.ndarray,
    memory: Memory,
    **form: object,
) -> np.ndarray:
    call, declare = sampling(name, arguments, **form)
    out = np.zeros((N, 4), np.float32)
    text = kernel(call, inputs.shape[1], "float", "<4 x float>") + declare
    run(arch, text, descriptors, inputs.astype(np.float32), out, memory)
    return out


def coordinates(shape: Shape, rng: np.random.Generator, normalized: bool) -> np.ndarray:
    """Positions in and around the image; slices behind them."""
    n = FILTERED[shape.dim]
    sizes = np.array([shape.width, shape.height, shape.depth][:n])
    at = rng.uniform(-1.2, 2.2, (N, n)) * (1 if normalized else sizes)
    if "array" in shape.dim:
        at = np.concatenate([at, rng.uniform(-1, shape.slices + 1, (N, 1))], 1)
    return at.astype(np.float32)


def reference(
    data: np.ndarray, shape: Shape, at: np.ndarray, clamp: int, linear: bool, normalized: bool, border: np.ndarray
) -> np.ndarray:
    n = FILTERED[shape.dim]
    found = []
    for row in at:
        part = data
        if "array" in shape.dim:
            z = min(max(int(np.rint(row[n])), 0), shape.slices - 1)
            part = data[z : z + 1]
        found.append(texels.sample(part, list(row[:n]), clamp, linear, normalized, border))
    return np.array(found)


@pytest.mark.parametrize("arch", SAMPLING)
@pytest.mark.parametrize("dim", FILTERED)
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("clamp", [0, 1, 2, 6])
def test_sample(arch: str, dim: str, linear: bool, clamp: int) -> None:
    """Level 0, in normalised coordinates."""
    shape = SHAPES[dim]
    memory = Memory(arch, "32_32_32_32_float", shape, 5)
    at = coordinates(shape, np.random.default_rng(6), True)
    arguments = [f"float %x{k}" for k in range(at.shape[1])]
    descriptors = [image(arch, memory.base, "32_32_32_32_float", shape), sampler(arch, clamp, linear, border=2)]
    got = sampled(arch, f"sample.lz.{dim}.v4f32.f32.v8i32.v4i32", arguments, descriptors, at, memory)
    data = texels.texels(memory.texels, "32_32_32_32_float")
    want = reference(data, shape, at, clamp, linear, True, np.ones(4))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("arch", SAMPLING)
def test_sample_unnormalised(arch: str) -> None:
    shape, fmt = SHAPES["2d"], "8_8_8_8_unorm"
    memory = Memory(arch, fmt, shape, 7)
    at = coordinates(shape, np.random.default_rng(8), False)
    descriptors = [image(arch, memory.base, fmt, shape, (6, 5, 4, 1)), sampler(arch, 6, True, unnormalized=True)]
    got = sampled(arch, "sample.lz.2d.v4f32.f32.v8i32.v4i32", ["float %x0", "float %x1"], descriptors, at, memory)
    want = reference(texels.texels(memory.texels, fmt), shape, at, 6, True, False, np.zeros(4))
    np.testing.assert_allclose(got, np.stack([want[:, 2], want[:, 1], want[:, 0], np.ones(N)], 1), rtol=1e-5, atol=1e-6)


def variants() -> dict[str, tuple[list[str], list[str]]]:
    """Intrinsic -> operands before the coordinates, and behind them: all forms of sampling and gathering."""
    found = {}
    gradients = ["dx0", "dx1", "dy0", "dy1"]
    for base, kinds in (("sample", ["", "d", "cd", "l", "b", "lz"]), ("gather4", ["", "l", "b", "lz"])):
        for compares, kind, clamps, moves, halves in itertools.product((0, 1), kinds, (0, 1), (0, 1), (0, 1)):
            if (clamps and kind in ("l", "lz")) or (halves and kind not in ("d", "cd")):
                continue
            parts = [base, *["c"] * compares, *[kind] * bool(kind), *["cl"] * clamps, *["o"] * moves, "2d"]
            before = [*["offset"] * moves, *["bias"] * (kind == "b"), *["reference"] * compares]
            before += gradients if kind in ("d", "cd") else []
            behind = ["lod"] if kind == "l" else ["clamp"] * clamps
            found[".".join(parts) + "/g16" * halves] = (before, behind)
    return found


VARIANTS = variants()
#: On every chip; the others once with each way to name the address.
COMMON = ("sample.2d", "sample.l.2d", "sample.d.cl.o.2d", "sample.c.b.o.2d", "sample.c.d.o.2d", "gather4.lz.o.2d")


def exists(arch: str, name: str) -> bool:
    plain = "image_" + name.replace(".2d", "").replace(".", "_").replace("/", "_")
    return any(arch in opcodes().get((fmt, plain), {}) for fmt in ("MIMG", "VSAMPLE"))


FORMS = [(arch, name) for arch in (*SAMPLING, "gfx90a") for name in VARIANTS
         if exists(arch, name) and (name in COMMON or arch in ("gfx1030", "gfx1200"))]  # fmt: skip


@pytest.mark.parametrize(("arch", "name"), FORMS)
def test_variants(arch: str, name: str) -> None:
    """The operands besides coordinates: where they lie, and that level of detail chooses between the two filters."""
    shape, fmt = SHAPES["2d"], "32_float"
    memory, rng = Memory(arch, fmt, shape, 9), np.random.default_rng(10)
    at = coordinates(shape, rng, True)
    before, behind = VARIANTS[name]
    name, halves = name.removesuffix("/g16"), name.endswith("/g16")
    level = np.where(np.arange(N) % 2, 1.0, -1.0)  # minified, magnified
    columns = {
        "lod": level, "bias": level * 40, "clamp": np.where(level > 0, 0.5, 0), "reference": rng.normal(size=N),
        "dx0": 2.0 ** (3 * level) / shape.width, "dx1": np.zeros(N), "dy0": np.zeros(N), "dy1": np.zeros(N),
    }  # fmt: skip
    offset = np.array([(k % 7 - 3) & 63 | ((k % 5 - 2) & 63) << 8 for k in range(N)], np.uint32)
    columns["offset"] = offset.view(np.float32)
    inputs = np.stack([*(columns[b].astype(np.float32) for b in before), at[:, 0], at[:, 1],
                       *(columns[b].astype(np.float32) for b in behind)], 1)  # fmt: skip
    names = [*before, "x", "y", *behind]
    kind = {"offset": "i32 %i", **dict.fromkeys(["dx0", "dx1", "dy0", "dy1"], "half %h" if halves else "float %x")}
    arguments = [f"{kind.get(n, 'float %x')}{k}" for k, n in enumerate(names)]
    smooth = sampler(arch, 0, False, compare=3)
    smooth[2] |= 1 << 22  # minification is linear
    kinds = ".f32" * bool({"bias"} & set(before)) + ".f32" * bool({"dx0"} & set(before)) + ".f32"
    gather = name.startswith("gather4")
    if halves:
        kinds = ".f16" + kinds.removeprefix(".f32")
    full = f"{name}.v4f32{kinds}.v8i32.v4i32"
    call, declare = sampling(full, arguments, mask=1 if gather else 15)
    for k, n in enumerate(names):
        if halves and n in ("dx0", "dx1", "dy0", "dy1"):
            call = f"%h{k} = fptrunc float %x{k} to half\n  {call}"
    if "offset" in names:
        call = f"%i{names.index('offset')} = bitcast float %x{names.index('offset')} to i32\n  {call}"
    out = np.zeros((N, 4), np.float32)
    text = kernel(call, inputs.shape[1], "float", "<4 x float>") + declare
    run(arch, text, [image(arch, memory.base, fmt, shape), smooth], inputs, out, memory)
    data = texels.texels(memory.texels, fmt)[..., 0][0]
    minified = level > 0 if {"lod", "bias", "clamp", "dx0"} & set(names) else np.zeros(N, bool)
    if not {"lod", "bias", "dx0"} & set(names) and ".lz." not in name:  # neighbours are far from one another
        minified[:] = True
    for lane in range(N):
        move = (lane % 7 - 3, lane % 5 - 2) if "offset" in names else (0, 0)
        linear = bool(minified[lane]) or gather
        want = corners(data, at[lane], move, linear)
        if "reference" in names:
            compared = [float(inputs[lane, names.index("reference")] <= np.float32(v)) for v in want[0]]
            want = compared, want[1]
        if gather:
            np.testing.assert_array_equal(out[lane], np.float32([want[0][k] for k in (2, 3, 1, 0)]))
        else:
            value = sum(v * weight for v, weight in zip(*want, strict=True))
            np.testing.assert_allclose(out[lane, 0], value, rtol=1e-5, atol=1e-5, err_msg=f"lane {lane}")


def corners(data: np.ndarray, at: np.ndarray, move: tuple[int, int], linear: bool) -> tuple[list[float], list[float]]:
    """The texels around a place (x fastest) and their weights, repeated beyond the edges."""
    values, weights = [], []
    low, part = [], []
    for k in range(2):
        x = float(at[k]) * data.shape[1 - k]
        fixed = int(np.rint(x * 256)) - 128 if linear else int(np.floor(x)) * 256
        low.append(fixed // 256 + move[k])
        part.append(fixed % 256 / 256)
    for corner in range(4 if linear else 1):
        x, y = low[0] + (corner & 1), low[1] + (corner >> 1)
        values.append(float(data[y % data.shape[0], x % data.shape[1]]))
        weights.append((part[0] if corner & 1 else 1 - part[0]) * (part[1] if corner >> 1 else 1 - part[1]))
    return values, weights
