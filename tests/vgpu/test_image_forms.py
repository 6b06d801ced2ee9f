"""Forms of image instructions: halves as data and as addresses, atomics, questions about an image, cubes, refusals.

Protects: the rules by which LLVM packs addresses and data, in each generation.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.vgpu import texels
from tests.vgpu.descriptors import Shape, buffer, image, sampler
from tests.vgpu.engine import CodeObject, EngineFault, assemble_code_object, kernel_text
from tests.vgpu.test_image_sampling import ARCHS, SAMPLING, SHAPES, Memory, N, called, corners, kernel, run, sampling


def signed(value: int) -> int:
    return value - (value >> 31 << 32)


ATOMICS = {
    "add": lambda old, s: old + s, "sub": lambda old, s: old - s, "umax": max,
    "umin": min, "smax": lambda old, s: max(signed(old), signed(s)), "smin": lambda old, s: min(signed(old), signed(s)),
    "inc": lambda old, s: 0 if old >= s else old + 1, "dec": lambda old, s: s if old == 0 or old > s else old - 1,
    "and": lambda old, s: old & s,
    "or": lambda old, s: old | s, "xor": lambda old, s: old ^ s, "swap": lambda _, s: s,
}  # fmt: skip
#: Coordinates and data come as floats' bits.
TWO_INTEGERS = "".join(f"  %i{k} = bitcast float %x{k} to i32\n" for k in range(2))
INTEGERS = TWO_INTEGERS + "  %i2 = bitcast float %x2 to i32\n"


def bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values.astype(np.uint32)).view(np.float32)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("op", ATOMICS)
def test_atomic(arch: str, op: str) -> None:
    """Old values come back; lanes outside change nothing and read zero."""
    shape = Shape("2d", 8, 8)
    memory, rng = Memory(arch, "32_uint", shape, 1), np.random.default_rng(2)
    x, y = np.arange(N) % 8, np.arange(N) // 8
    x[5] = 8
    data = rng.integers(0, 1 << 32, N, np.uint32)
    before = memory.texels.copy().view(np.uint32)[0, :, :, 0]
    operands = "i32 %i2, i32 %i0, i32 %i1, <8 x i32> %t, i32 0, i32 0"
    call, declare = called("i32", f"image.atomic.{op}.2d.i32.i32.v8i32", operands)
    call = INTEGERS + "  " + call
    out = np.zeros(N, np.uint32)
    inputs = np.stack([bits(x), bits(y), data.view(np.float32)], 1)
    run(
        arch,
        kernel(call, 3, "float", "i32") + declare,
        [image(arch, memory.base, "32_uint", shape)],
        inputs,
        out,
        memory,
    )
    want = before.copy()
    for lane in range(N):
        if lane != 5:
            want[y[lane], x[lane]] = ATOMICS[op](int(before[y[lane], x[lane]]), int(data[lane])) & 0xFFFFFFFF
        assert out[lane] == (before[y[lane], x[lane]] if lane != 5 else 0)
    np.testing.assert_array_equal(memory.texels.view(np.uint32)[0, :, :, 0], want)


@pytest.mark.parametrize("arch", ARCHS)
def test_compare_and_swap(arch: str) -> None:
    shape = Shape("1d", N)
    memory = Memory(arch, "32_uint", shape, 3)
    old = memory.texels.copy().view(np.uint32).ravel()
    compared = np.where(np.arange(N) % 2, old, old + 1).astype(np.uint32)
    operands = "i32 %i1, i32 %i2, i32 %i0, <8 x i32> %t, i32 0, i32 0"
    call, declare = called("i32", "image.atomic.cmpswap.1d.i32.i32.v8i32", operands)
    call = INTEGERS + "  " + call
    out = np.zeros(N, np.uint32)
    inputs = np.stack([bits(np.arange(N)), bits(np.full(N, 77)), compared.view(np.float32)], 1)
    run(
        arch,
        kernel(call, 3, "float", "i32") + declare,
        [image(arch, memory.base, "32_uint", shape)],
        inputs,
        out,
        memory,
    )
    np.testing.assert_array_equal(out, old)
    np.testing.assert_array_equal(memory.texels.view(np.uint32).ravel(), np.where(np.arange(N) % 2, 77, old))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("fmt", ["8_8_8_8_unorm", "32_32_32_32_float", "16_16_16_16_float"])
def test_half_data(arch: str, fmt: str) -> None:
    """Loads and stores of <4 x half>."""
    shape = Shape("2d", 8, 8)
    source, back = Memory(arch, fmt, shape, 4), Memory(arch, fmt, shape, fill=False)
    place = "i32 15, i32 %i0, i32 %i1, <8 x i32> %t, i32 0, i32 0"
    load, declare = called("<4 x half>", "image.load.2d.v4f16.i32.v8i32", place)
    load = TWO_INTEGERS + load
    at = np.stack([bits(np.arange(N) % 8), bits(np.arange(N) // 8)], 1)
    out = np.zeros((N, 4), np.float16)
    run(arch, kernel(load, 2, "float", "<4 x half>") + declare, [image(arch, source.base, fmt, shape)], at, out, source)
    want = texels.texels(source.texels, fmt)[0].reshape(N, 4)
    np.testing.assert_array_equal(out, want.astype(np.float32).astype(np.float16))
    store, declare = called("void", "image.store.2d.v4f16.i32.v8i32", "<4 x half> %v, " + place)
    data = "  %e = getelementptr <4 x half>, ptr addrspace(1) %out, i32 %id\n"
    data += "  %v = load <4 x half>, ptr addrspace(1) %e\n  "
    text = kernel(TWO_INTEGERS + data + store, 2, "float", "") + declare
    run(arch, text, [image(arch, back.base, fmt, shape)], at, out, back)
    again = texels.texels(back.texels, fmt)[0].reshape(N, 4)
    np.testing.assert_array_equal(again, out.astype(np.float64) if "unorm" not in fmt else want)


@pytest.mark.parametrize("arch", SAMPLING)
@pytest.mark.parametrize("name", ["sample.lz.2d", "sample.l.2d", "sample.d.2d", "sample.c.b.2d"])
def test_half_addresses(arch: str, name: str) -> None:
    """Coordinates as halves, two in a dword; so gradients, and the bias alone in one."""
    shape, fmt = Shape("2d", 16, 8), "32_float"
    memory, rng = Memory(arch, fmt, shape, 5), np.random.default_rng(6)
    at = rng.uniform(0, 1, (N, 2)).astype(np.float16)
    level = np.where(np.arange(N) % 2, 1.0, -1.0)
    columns = {
        "x": at[:, 0], "y": at[:, 1], "lod": level, "bias": level * 40, "dx0": 2.0 ** (3 * level) / 16,
        "dx1": np.zeros(N), "dy0": np.zeros(N), "dy1": np.zeros(N), "reference": np.zeros(N),
    }  # fmt: skip
    before = {"sample.d.2d": ["dx0", "dx1", "dy0", "dy1"], "sample.c.b.2d": ["bias", "reference"]}.get(name, [])
    names = [*before, "x", "y", *(["lod"] if ".l." in name else [])]
    whole = ("reference",)
    casts = "".join(f"  %h{k} = fptrunc float %x{k} to half\n" for k in range(len(names)))
    arguments = [f"{'float %x' if n in whole else 'half %h'}{k}" for k, n in enumerate(names)]
    kinds = ".f16" * ("bias" in names) + ".f16" * ("dx0" in names) + ".f16"
    smooth = sampler(arch, 0, False, compare=3)
    smooth[2] |= 1 << 22
    call, declare = sampling(f"{name}.v4f32{kinds}.v8i32.v4i32", arguments)
    inputs = np.stack([np.asarray(columns[n], np.float32) for n in names], 1)
    out = np.zeros((N, 4), np.float32)
    text = kernel(casts + "  " + call, len(names), "float", "<4 x float>") + declare
    run(arch, text, [image(arch, memory.base, fmt, shape), smooth], inputs, out, memory)
    data = texels.texels(memory.texels, fmt)[0, ..., 0]
    for lane in range(N):
        linear = len(names) > 2 and level[lane] > 0
        values, weights = corners(data, at[lane].astype(np.float32), (0, 0), linear)
        if "reference" in names:
            values = [float(v >= 0) for v in values]
        want = sum(v * weight for v, weight in zip(values, weights, strict=True))
        np.testing.assert_allclose(out[lane, 0], want, rtol=1e-5, atol=1e-5, err_msg=f"lane {lane}")


@pytest.mark.parametrize("arch", SAMPLING)
def test_half_results(arch: str) -> None:
    """Two components of four, as halves: DMASK picks y and w."""
    shape, fmt = SHAPES["2d"], "8_8_8_8_unorm"
    memory, rng = Memory(arch, fmt, shape, 7), np.random.default_rng(8)
    at = rng.uniform(0, 1, (N, 2)).astype(np.float32)
    call, declare = sampling("sample.lz.2d.v2f16.f32.v8i32.v4i32", ["float %x0", "float %x1"], "<2 x half>", 10)
    out = np.zeros((N, 2), np.float16)
    descriptors = [image(arch, memory.base, fmt, shape), sampler(arch)]
    run(arch, kernel(call, 2, "float", "<2 x half>") + declare, descriptors, at, out, memory)
    data = texels.texels(memory.texels, fmt)[0]
    for lane in range(N):
        x, y = int(at[lane, 0] * np.float32(shape.width)), int(at[lane, 1] * np.float32(shape.height))
        np.testing.assert_array_equal(out[lane], data[y, x, [1, 3]].astype(np.float32).astype(np.float16))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dim", SHAPES)
def test_size(arch: str, dim: str) -> None:
    shape = SHAPES[dim]
    memory = Memory(arch, "32_float", shape)
    operands = "i32 15, i32 %x0, <8 x i32> %t, i32 0, i32 0"
    call, declare = called("<4 x float>", f"image.getresinfo.{dim}.v4f32.i32.v8i32", operands)
    out = np.zeros((N, 4), np.uint32)
    level = (np.arange(N) % 2).astype(np.int32).reshape(N, 1)
    run(
        arch,
        kernel(call, 1, "i32", "<4 x float>") + declare,
        [image(arch, memory.base, "32_float", shape)],
        level,
        out,
        memory,
    )
    sizes = {"1darray": [shape.width, shape.slices, 1], "2darray": [shape.width, shape.height, shape.slices],
             "cube": [shape.width, shape.height, shape.slices // 6]}  # fmt: skip
    n = {"1d": 1, "2d": 2, "3d": 3, "cube": 2, "1darray": 2, "2darray": 3}[dim]
    want = sizes.get(dim, [shape.width, shape.height, shape.depth])[:n]
    np.testing.assert_array_equal(out[::2, :n], np.tile(want, (N // 2, 1)))
    assert (out[:, 3] == 1).all() and not out[1::2, :n].any()


@pytest.mark.parametrize("arch", ARCHS)
def test_levels(arch: str) -> None:
    """Loads and stores that name a level: there is the first; others read zero and drop what is written."""
    shape, fmt = Shape("1d", N), "32_uint"
    memory, back = Memory(arch, fmt, shape, 14), Memory(arch, fmt, shape, fill=False)
    at = np.stack([np.arange(N), np.arange(N) % 2], 1).astype(np.int32)
    place = "i32 15, i32 %x0, i32 %x1, <8 x i32> %t, i32 0, i32 0"
    call, declare = called("<4 x i32>", "image.load.mip.1d.v4i32.i32.v8i32", place)
    out = np.zeros((N, 4), np.uint32)
    run(arch, kernel(call, 2, "i32", "<4 x i32>") + declare, [image(arch, memory.base, fmt, shape)], at, out, memory)
    data = memory.texels.view(np.uint32).ravel()
    want = np.where(np.arange(N) % 2, 0, data)
    np.testing.assert_array_equal(out[:, 0], want)
    call, declare = called("void", "image.store.mip.1d.v4f32.i32.v8i32", "<4 x float> %v, " + place)
    value = "%e = getelementptr <4 x float>, ptr addrspace(1) %out, i32 %id\n"
    value += "  %v = load <4 x float>, ptr addrspace(1) %e\n  "
    out[:, 0] = data
    run(arch, kernel(value + call, 2, "i32", "") + declare, [image(arch, back.base, fmt, shape)], at, out, back)
    np.testing.assert_array_equal(back.texels.view(np.uint32).ravel(), want)


@pytest.mark.parametrize("arch", SAMPLING)
def test_level_of_detail(arch: str) -> None:
    """From the differences in quads of lanes: y is the level before the limits."""
    shape, fmt = Shape("2d", 64, 64), "32_float"
    memory, rng = Memory(arch, fmt, shape), np.random.default_rng(15)
    corner = rng.uniform(0, 0.1, (N // 4, 1, 2))
    steps = rng.uniform(-0.1, 0.1, (N // 4, 2, 2)).astype(np.float32)
    both = steps.sum(1, keepdims=True)
    quads = np.concatenate([np.zeros_like(both), steps[:, :1], steps[:, 1:], both], 1)
    at = (corner + quads).astype(np.float32)
    call, declare = sampling("getlod.2d.v2f32.f32.v8i32.v4i32", ["float %x0", "float %x1"], "<2 x float>", 3)
    out = np.zeros((N, 2), np.float32)
    descriptors = [image(arch, memory.base, fmt, shape), sampler(arch, 0, True)]
    run(arch, kernel(call, 2, "float", "<2 x float>") + declare, descriptors, at.reshape(N, 2), out, memory)
    d = np.stack([at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]], 1) * 64
    want = np.log2(np.sqrt((d.astype(float) ** 2).sum(2)).max(1))
    np.testing.assert_allclose(out[:, 1], np.repeat(want, 4), atol=1e-4)
    assert not out[:, 0].any()  # there is one level


def bfloat(x: np.ndarray) -> np.ndarray:
    """Floats that are exact in bfloat16, as its bits."""
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


#: Atomics that only assembly or newer chips have -> chip, type, result of old and data.
FLOAT_ATOMICS = {
    "image_atomic_fmin": ("gfx1030", np.float32, lambda old, s: np.minimum(old, s)),
    "image_atomic_fmax": ("gfx1030", np.float32, lambda old, s: np.maximum(old, s)),
    "image_atomic_add_flt": ("gfx1200", np.float32, lambda old, s: old + s),
    "image_atomic_pk_add_f16": ("gfx1200", np.float16, lambda old, s: old + s),
    "image_atomic_pk_add_bf16": ("gfx1200", np.uint16, lambda old, s: old + s),
    "image_atomic_fcmpswap": ("gfx1030", np.float32, lambda old, s: np.where(old == 3, s, old)),
}  # fmt: skip


def per_lane(arch: str, operation: str, arguments: list[np.ndarray]) -> None:
    """descriptor, data, results: s[12:19] has the descriptor, v1 the lane, v4 its dword of data; v4 is stored."""
    old = arch == "gfx1030"
    s2, s8 = ("s_load_dwordx2", "s_load_dwordx8") if old else ("s_load_b64", "s_load_b256")
    load, store = ("global_load_dword", "global_store_dword") if old else ("global_load_b32", "global_store_b32")
    wait = "s_nop 0" if arch == "gfx1200" else "s_waitcnt vmcnt(0) lgkmcnt(0)"
    body = [
        *(f"{s2} s[{4 + 2 * k}:{5 + 2 * k}], s[0:1], {8 * k}" for k in range(3)), wait, f"{s8} s[12:19], s[4:5], 0",
        "v_and_b32 v1, 0x3ff, v0", "v_lshlrev_b32 v2, 2, v1", f"{load} v4, v2, s[6:7]", "v_mov_b32 v5, 0x40400000",
        wait, operation, wait, f"{store} v2, v4, s[8:9]",
    ]  # fmt: skip
    code = CodeObject(assemble_code_object(kernel_text("\n".join(body), arch, kernarg=24), arch), arch)
    code.run("k", [1], [32], arguments)


@pytest.mark.parametrize("name", FLOAT_ATOMICS)
def test_float_atomic(name: str) -> None:
    arch, kind, result = FLOAT_ATOMICS[name]
    shape, per = Shape("1d", 32), 4 // np.dtype(kind).itemsize
    memory, rng = Memory(arch, "32_uint", shape), np.random.default_rng(16)
    old, data = rng.integers(-8, 8, (2, 32 * per)).astype(np.float32)
    texel = memory.texels.reshape(-1).view(kind)
    texel[:] = bfloat(old) if kind is np.uint16 else old
    given = bfloat(data) if kind is np.uint16 else data.astype(kind)
    swap = name.endswith("cmpswap")
    returns = "glc" if arch == "gfx1030" else "th:TH_ATOMIC_RETURN"
    registers, mask = ("v[4:5]", 3) if swap else ("v4", 1)
    operation = f"{name} {registers}, v1, s[12:19] dmask:{mask} dim:SQ_RSRC_IMG_1D {returns}"
    room = np.zeros(64, np.uint32)
    t = room[-room.ctypes.data % 64 // 4 :][:8]
    t[:] = image(arch, memory.base, "32_uint", shape)
    out = np.zeros(32, np.uint32)
    before = texel.copy()
    per_lane(arch, operation, [t, given.view(np.uint32), out, memory.block])
    np.testing.assert_array_equal(out, before.view(np.uint32))
    want = result(old, data).astype(np.float32)
    np.testing.assert_array_equal(texel, bfloat(want) if kind is np.uint16 else want.astype(kind))


def test_high_halves() -> None:
    """Formatted loads into, and stores from, the upper half of a register."""
    arch, data = "gfx1100", np.random.default_rng(17).normal(size=32).astype(np.float16)
    v = np.zeros(64, np.uint32)
    v = v[-v.ctypes.data % 64 // 4 :][:8]
    v[:4] = buffer(arch, data.ctypes.data, "16_float", 32)
    given, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    per_lane(arch, "buffer_load_d16_hi_format_x v4, v1, s[12:15], 0 idxen", [v, given, out, data])
    np.testing.assert_array_equal(out, given | data.view(np.uint16).astype(np.uint32) << 16)
    back = np.zeros(32, np.float16)
    v[:4] = buffer(arch, back.ctypes.data, "16_float", 32)
    per_lane(arch, "buffer_store_d16_hi_format_x v4, v1, s[12:15], 0 idxen", [v, out.copy(), given, back])
    np.testing.assert_array_equal(back, data)


def face_and_place(v: np.ndarray) -> tuple[int, float, float]:
    """Which face of a cube a direction meets, and where in it (0 to 1)."""
    axis = int(np.argmax(np.abs(v)))
    positive = v[axis] > 0
    s, t = {
        (0, True): (-v[2], -v[1]), (0, False): (v[2], -v[1]), (1, True): (v[0], v[2]), (1, False): (v[0], -v[2]),
        (2, True): (v[0], -v[1]), (2, False): (-v[0], -v[1]),
    }[axis, bool(positive)]  # fmt: skip
    major = abs(v[axis])
    return 2 * axis + (not positive), float(s / major + 1) / 2, float(t / major + 1) / 2


@pytest.mark.parametrize("arch", SAMPLING)
def test_cube(arch: str) -> None:
    """The face's number and coordinates from 1 to 2, as the v_cube instructions have them; second cube of an array."""
    shape, fmt = SHAPES["cube"], "32_float"
    memory, rng = Memory(arch, fmt, shape, 11), np.random.default_rng(12)
    rows, want = [], []
    data = texels.texels(memory.texels, fmt)[..., 0]
    for lane in range(N):
        face, s, t = face_and_place(rng.normal(size=3))
        s, t = np.clip([s, t], 0.07, 0.93)  # away from the edges
        cube = lane % 2
        rows.append([s + 1, t + 1, face + 8 * cube])
        at = np.float32([np.float32(s + 1) - 1, np.float32(t + 1) - 1])
        values, weights = corners(data[face + 6 * cube], at, (0, 0), True)
        want.append(sum(v * weight for v, weight in zip(values, weights, strict=True)))
    call, declare = sampling("sample.lz.cube.v4f32.f32.v8i32.v4i32", [f"float %x{k}" for k in range(3)])
    out = np.zeros((N, 4), np.float32)
    text = kernel(call, 3, "float", "<4 x float>") + declare
    run(arch, text, [image(arch, memory.base, fmt, shape), sampler(arch, 2, True)], np.float32(rows), out, memory)
    np.testing.assert_allclose(out[:, 0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("arch", SAMPLING)
def test_cube_edges(arch: str) -> None:
    """Across an edge the filter takes texels of the neighbouring face: a smooth function of direction stays smooth."""
    shape, fmt = Shape("cube", 32, 32, 1, 6), "32_float"
    memory = Memory(arch, fmt, shape)
    axes = {0: lambda s, t: (1, -t, -s), 1: lambda s, t: (-1, -t, s), 2: lambda s, t: (s, 1, t),
            3: lambda s, t: (s, -1, -t), 4: lambda s, t: (s, -t, 1), 5: lambda s, t: (-s, -t, -1)}  # fmt: skip
    values = memory.texels.view(np.float32)[..., 0]

    def smooth(v: np.ndarray) -> float:
        v = v / np.linalg.norm(v)
        return float(3 * v[0] + 2 * v[1] - v[2])

    for face in range(6):
        for y in range(32):
            for x in range(32):
                values[face, y, x] = smooth(np.array(axes[face]((2 * x + 1) / 32 - 1, (2 * y + 1) / 32 - 1), float))
    rng, rows, want = np.random.default_rng(13), [], []
    for lane in range(N):
        edge, along, face = (0.0005, 0.9995)[lane % 2], rng.uniform(0, 1), lane % 6
        s, t = (edge, along) if lane // 2 % 2 else (along, edge)
        rows.append([s + 1, t + 1, face])
        want.append(smooth(np.array(axes[face](2 * s - 1, 2 * t - 1), float)))
    call, declare = sampling("sample.lz.cube.v4f32.f32.v8i32.v4i32", [f"float %x{k}" for k in range(3)])
    out = np.zeros((N, 4), np.float32)
    text = kernel(call, 3, "float", "<4 x float>") + declare
    run(arch, text, [image(arch, memory.base, fmt, shape), sampler(arch, 2, True)], np.float32(rows), out, memory)
    np.testing.assert_allclose(out[:, 0], want, atol=0.03)  # from texel to texel it is 0.1 and more


def load_one(arch: str, t: np.ndarray, x: int, memory: Memory) -> None:
    call, declare = called("<4 x i32>", "image.load.1d.v4i32.i32.v8i32", "i32 15, i32 %x0, <8 x i32> %t, i32 0, i32 0")
    text = kernel(call, 1, "i32", "<4 x i32>") + declare
    run(arch, text, [t], np.full((N, 1), x, np.int32), np.zeros((N, 4), np.uint32), memory)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("word", "bits_", "text"),
    [(3, 9 << 20, "tiled"), (3, 1 << 16, "mipmap"), (6, 1 << 21, "compressed"), (None, 0, "not one of an image")],
)
def test_refused_by_name(arch: str, word: int | None, bits_: int, text: str) -> None:
    shape = Shape("1d", N)
    memory = Memory(arch, "32_float", shape)
    t = image(arch, memory.base, "32_float", shape)
    if word is None:
        t[:] = 0
    else:
        t[word] |= bits_
    with pytest.raises(EngineFault, match=text) as e:
        load_one(arch, t, 0, memory)
    assert e.value.kind == "unimplemented"


@pytest.mark.parametrize("arch", ARCHS)
def test_memory_that_is_not_there(arch: str) -> None:
    """A descriptor that lies about where its image is: a fault, not a crash."""
    shape = Shape("1d", N)
    memory = Memory(arch, "32_float", shape)
    t = image(arch, 1 << 40, "32_float", shape)
    with pytest.raises(EngineFault) as e:
        load_one(arch, t, 40, memory)
    assert e.value.kind == "memory"
