"""Textures and surfaces in software against tests/reference/images.py: geometries, formats, address modes,
filters, and the three ways surfaces treat coordinates outside."""

from __future__ import annotations

import math
import random
import struct

import pytest

from tests.lower.device import EVERY, program
from tests.reference import images
from tests.reference.images import BORDER, CLAMP, MIRROR, NORMALIZED, READ_AS_INTEGER, WRAP, Image

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
THREADS = 64
DATA = {c: (0, 2**n - 1) for c, n in zip("BHI", (8, 16, 32), strict=True)} | {
    c: (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for c, n in zip("bhi", (8, 16, 32), strict=True)
}
COLOUR = (1.0, 2.0, 3.0, 4.0)


def kernel(instruction: str, body: str = "") -> str:
    """k(image, coordinates of 4 words, results of 4 words): each thread has its own."""
    return f"""{HEAD}.visible .entry k(.param .u64 i, .param .u64 c, .param .u64 r) {{
    .reg .b64 %i, %c, %r, %at; .reg .b32 %t, %l; .reg .b32 %x<4>; .reg .b32 %d<4>; .reg .f32 %f<4>;
    ld.param.u64 %i, [i]; ld.param.u64 %c, [c]; ld.param.u64 %r, [r];
    mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 16; add.u64 %c, %c, %at; add.u64 %r, %r, %at;
    ld.global.v4.b32 {{%x0, %x1, %x2, %l}}, [%c];
    mov.b32 %f0, %x0; mov.b32 %f1, %x1; mov.b32 %f2, %x2;
    {body}
    {instruction}
    st.global.v4.b32 [%r], {{%d0, %d1, %d2, %d3}};
    ret; }}
    """


def run(text: str, arch: str, image: Image, coordinates: list[list], kind: int = 1) -> tuple[list[bytes], bytes]:
    """Results of each thread, and the image's bytes afterwards."""
    device = program(text, arch)
    texels = device.gpu.buffer(image.bytes())
    descriptor = device.gpu.buffer(image.descriptor(texels.address, kind))
    words = b"".join(struct.pack("<i" if isinstance(c, int) else "<f", c) for four in coordinates for c in four)
    where, results = device.gpu.buffer(words), device.gpu.buffer(16 * len(coordinates))
    device.launch("k", 1, len(coordinates), [descriptor, where, results])
    device.gpu.synchronize()
    out = results.bytes()
    return [out[k : k + 16] for k in range(0, len(out), 16)], texels.bytes()


def random_image(form: int, channels: int, size: tuple[int, int, int], dims: int, **more) -> Image:
    letter = images.FORMATS[form][0]
    draw = random.Random(f"{form} {channels} {size}")
    count = size[0] * size[1] * size[2] * channels
    data = [draw.randint(*DATA[letter]) if letter in DATA else draw.randint(-64, 64) / 8 for _ in range(count)]
    return Image(size, form, channels, data, dims, **more)


GEOMETRIES = {  # PTX geometry: size, dimensions, layered, operands with %f or %x for the coordinates
    "1d": ((13, 1, 1), 1, False, "{%f0}"),
    "2d": ((7, 5, 1), 2, False, "{%f0, %f1}"),
    "3d": ((5, 4, 3), 3, False, "{%f0, %f1, %f2, %f2}"),
    "a1d": ((9, 1, 3), 1, True, "{%l, %f0}"),
    "a2d": ((6, 5, 4), 2, True, "{%l, %f0, %f1, %f1}"),
}


def points(image: Image, seed: str) -> list[list]:
    """Coordinates around the image and a layer, off the places where rounding decides."""
    draw = random.Random(seed)
    found = []
    for _ in range(THREADS):
        units = [draw.randint(-3 * s * 16, 4 * s * 16) / 16 + 1 / 64 for s in image.size]
        if image.flags & NORMALIZED:
            units = [u / s for u, s in zip(units, image.size, strict=True)]
        found.append([*units, draw.randrange(image.size[2] + 1)])
    return found


def close(got: bytes, want: list[float]) -> bool:
    return all(abs(g - w) <= 2e-4 * max(1, abs(w)) for g, w in zip(struct.unpack("<4f", got), want, strict=True))


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("mode", [WRAP, CLAMP, MIRROR, BORDER])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_sampling(geometry: str, mode: int, arch: str) -> None:
    """Floating-point coordinates: point and linear, normalized or not, every address mode."""
    size, dims, layered, operands = GEOMETRIES[geometry]
    text = kernel(f"tex.{geometry}.v4.f32.f32 {{%d0, %d1, %d2, %d3}}, [%i, {operands}];")
    for linear, flags in ((False, 0), (True, 0), (False, NORMALIZED), (True, NORMALIZED)):
        image = random_image(
            0x20, 4, size, dims, layered=layered, modes=(mode,) * 3, linear=linear, flags=flags, border=COLOUR
        )
        coordinates = points(image, f"{geometry} {mode} {linear} {flags}")
        found, _ = run(text, arch, image, coordinates)
        for c, got in zip(coordinates, found, strict=True):
            want = images.sample(image, c[:dims], c[3])
            assert close(got, want), (linear, flags, c, struct.unpack("<4f", got), want)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("form", images.FORMATS)
def test_formats(form: int, channels: int, arch: str) -> None:
    """Integer coordinates: every format as what it is, and as a number between -1 and 1."""
    letter, one = images.FORMATS[form]
    whole = letter not in "ef"
    for flags in [READ_AS_INTEGER] * whole + [0] * (not whole or bool(one)):
        t = ("s32" if letter.islower() else "u32") if flags else "f32"
        text = kernel(f"tex.2d.v4.{t}.s32 {{%d0, %d1, %d2, %d3}}, [%i, {{%x0, %x1}}];")
        image = random_image(form, channels, (7, 5, 1), 2, flags=flags)
        draw = random.Random(form)
        coordinates = [[draw.randint(-2, 8), draw.randint(-2, 6), 0, 0] for _ in range(THREADS)]
        found, _ = run(text, arch, image, coordinates)
        for c, got in zip(coordinates, found, strict=True):
            want = images.fetch(image, c[:2])
            code = {"s32": "<4i", "u32": "<4I", "f32": "<4f"}[t]
            assert got == struct.pack(code, *want), (flags, c, struct.unpack(code, got), want)


@pytest.mark.parametrize("arch", EVERY)
def test_gather(arch: str) -> None:
    image = random_image(0x20, 4, (7, 5, 1), 2)
    for channel, letter in enumerate("rgba"):
        text = kernel(f"tld4.{letter}.2d.v4.f32.f32 {{%d0, %d1, %d2, %d3}}, [%i, {{%f0, %f1}}];")
        coordinates = points(image, letter)
        found, _ = run(text, arch, image, coordinates)
        for c, got in zip(coordinates, found, strict=True):
            assert got == struct.pack("<4f", *images.gather(image, c[:2], channel))


@pytest.mark.parametrize("arch", EVERY)
def test_cube(arch: str) -> None:
    """The centres of the faces, in the order +x -x +y -y +z -z, and a point off the centre of +x."""
    image = random_image(0x20, 1, (4, 4, 6), 2, layered=True, flags=NORMALIZED)
    text = kernel("tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%i, {%f0, %f1, %f2, %f2}];")
    axes = [[s * (a == axis) + 0.01 for a in range(3)] + [0] for axis in range(3) for s in (2.0, -2.0)]
    found, _ = run(text, arch, image, [*axes, [2.0, 1.0, -1.5, 0]])
    values = [struct.unpack("<f", got[:4])[0] for got in found]
    faces = [image.data[16 * f : 16 * f + 16] for f in range(6)]
    assert all(v in face for v, face in zip(values, faces, strict=False))
    assert values[6] == faces[0][1 * 4 + 3]  # s = 1.5 / 2 to the right, t = -1 / 2 from the middle up


@pytest.mark.parametrize("arch", EVERY)
def test_queries(arch: str) -> None:
    image = random_image(0x20, 2, (5, 4, 3), 3, flags=NORMALIZED)
    text = kernel(
        "txq.width.b32 %d0, [%i]; txq.height.b32 %d1, [%i]; suq.depth.b32 %d2, [%i];",
        "txq.normalized_coords.b32 %d3, [%i];",
    )
    found, _ = run(text, arch, image, [[0, 0, 0, 0]])
    assert struct.unpack("<4I", found[0]) == (5, 4, 3, 1)


SURFACES = {
    "1d": ((13, 1, 1), 1, False, "{%x0}"),
    "2d": ((7, 5, 1), 2, False, "{%x0, %x1}"),
    "3d": ((5, 4, 3), 3, False, "{%x0, %x1, %x2, %x2}"),
    "a1d": ((9, 1, 3), 1, True, "{%l, %x0}"),
    "a2d": ((6, 5, 4), 2, True, "{%l, %x0, %x1, %x1}"),
}


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("clamp", ["zero", "clamp"])
@pytest.mark.parametrize("geometry", SURFACES)
def test_surfaces(geometry: str, clamp: str, arch: str) -> None:
    """Two words are read, and their complements written back, by threads that do not meet."""
    size, dims, layered, operands = SURFACES[geometry]
    image = random_image(0x03, 2, size, dims, layered=layered)
    body = f"suld.b.{geometry}.v2.b32.{clamp} {{%d0, %d1}}, [%i, {operands}];"
    text = kernel(
        f"not.b32 %d2, %d0; not.b32 %d3, %d1; sust.b.{geometry}.v2.b32.{clamp} [%i, {operands}], {{%d2, %d3}};", body
    )
    cells = list(range(size[0] * size[1] * size[2]))
    random.Random(geometry).shuffle(cells)
    coordinates, before = [], image.bytes()
    expected = bytearray(before)
    wants = []
    outside = [[-8, 0, 0, 0], [8 * size[0], 0, 0, 0], [0, 99, 0, 0] if dims > 1 else [-80, 0, 0, 0]]
    for cell in cells[: THREADS // 2]:
        x, y, z = cell % size[0], cell // size[0] % size[1], cell // size[0] // size[1]
        coordinates.append([8 * x, y, 0 if layered else z, z if layered else 0])
        wants.append(before[8 * cell : 8 * cell + 8])
        expected[8 * cell : 8 * cell + 8] = bytes(255 - b for b in before[8 * cell : 8 * cell + 8])
    if clamp == "zero":
        coordinates += outside
        wants += [bytes(8)] * len(outside)
    found, after = run(text, arch, image, coordinates, kind=2)
    assert [got[:8] for got in found] == wants
    assert after == bytes(expected)
    if clamp == "clamp":  # outside coordinates read the nearest texel
        [got], _ = run(kernel(body), arch, image, [[-8, 0, 0, 0]], kind=2)
        assert got[:8] == before[:8]


@pytest.mark.parametrize("arch", EVERY)
def test_surface_reduction(arch: str) -> None:
    image = Image((4, 1, 1), 0x03, 1, [1, 2, 3, 4], 1)
    zeros = " ".join(f"mov.b32 %d{k}, 0;" for k in range(4))
    text = kernel("sured.b.add.1d.u32.zero [%i, {%x0}], %x1;", zeros)
    _, after = run(text, arch, image, [[4, 10, 0, 0], [4, 100, 0, 0], [12, 1, 0, 0], [16, 5, 0, 0]], kind=2)
    assert struct.unpack("<4I", after) == (1, 112, 3, 5)


def pyramid(draw: random.Random, dims: int, **more) -> images.Mipmap:
    """Five levels of a texture of random floats."""
    levels = []
    for k in range(5):
        size = tuple(max(1, n >> k) if a < dims else 1 for a, n in enumerate((20, 12, 9)))
        levels.append(random_image(0x20, 4, size, dims, **more))
    return images.Mipmap(levels, draw.choice((0.0, 0.75)), 0.25, 3.5, draw.random() < 0.6)


def run_levels(text: str, arch: str, mipmap: images.Mipmap, words: list[list[float]]) -> list[tuple[float, ...]]:
    device = program(text, arch)
    memory = [device.gpu.buffer(level.bytes()) for level in mipmap.levels]
    places = b"".join(level.geometry(m.address) for level, m in zip(mipmap.levels, memory, strict=True))
    table = device.gpu.buffer(places)
    blob = mipmap.levels[0].descriptor(memory[0].address, 1, mipmap, table.address)
    where = device.gpu.buffer(b"".join(struct.pack("<4f", *four) for four in words))
    results = device.gpu.buffer(16 * len(words))
    device.launch("k", 1, len(words), [device.gpu.buffer(blob), where, results])
    return list(struct.iter_unpack("<4f", results.bytes()))


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_levels(dims: int, arch: str) -> None:
    """Levels of detail of an instruction: bias, clamps, the nearest level or two mixed; a size of each level."""
    draw = random.Random(f"levels {dims}")
    operands = ("{%f0}", "{%f0, %f1}", "{%f0, %f1, %f2, %f2}")[dims - 1]
    text = kernel(
        f"mov.b32 %f3, %l; tex.level.{dims}d.v4.f32.f32 {{%d0, %d1, %d2, %d3}}|%p, [%i, {operands}], %f3;"
        "@!%p mov.b32 %d0, 0;",
        ".reg .pred %p;",
    )
    for linear in (False, True):
        mipmap = pyramid(draw, dims, linear=linear, flags=NORMALIZED, modes=(draw.choice((WRAP, CLAMP, BORDER)),) * 3)
        words = [[draw.randint(-60, 120) / 64 + 1 / 4096 for _ in range(3)] for _ in range(64)]
        words = [[*three, draw.uniform(-1.5, 5)] for three in words]
        for w, got in zip(words, run_levels(text, arch, mipmap, words), strict=True):
            w = list(struct.unpack("<4f", struct.pack("<4f", *w)))
            want = mipmap.sample(w[:dims], w[3])
            assert close(struct.pack("<4f", *got), want), (linear, mipmap.blend, w, got, want)


@pytest.mark.parametrize("arch", EVERY)
def test_gradients(arch: str) -> None:
    """The level at which the longer gradient is a texel long; nothing else of it is promised."""
    draw = random.Random("gradients")
    text = kernel(
        "mov.b32 %f3, %l; mul.f32 %f2, %f3, 0f3e800000; neg.f32 %z, 0f00000000;"
        "tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%i, {%f0, %f1}], {%f3, %z}, {%z, %f2};",
        ".reg .f32 %z;",
    )
    mipmap = pyramid(draw, 2, linear=True, flags=NORMALIZED)
    mipmap.blend, mipmap.bias = False, 0.0
    words = [[draw.random(), draw.random(), 0, 2.0**k / 20] for k in range(5) for _ in range(8)]
    for w, got in zip(words, run_levels(text, arch, mipmap, words), strict=True):
        w = struct.unpack("<4f", struct.pack("<4f", *w))
        want = mipmap.sample(list(w[:2]), math.log2(w[3] * 20))
        assert close(struct.pack("<4f", *got), want), (w, got, want)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("mode", [WRAP, CLAMP, MIRROR, BORDER])
def test_offsets(mode: int, arch: str) -> None:
    """Texels added to where an instruction reads: filtered, by number, and gathered."""
    size, offset = (5, 3, 1), (-7, 6)
    for flags in (0, NORMALIZED):
        image = random_image(0x20, 4, size, 2, modes=(mode,) * 3, linear=True, flags=flags, border=COLOUR)
        image.offset = (*offset, 0)
        coordinates = points(image, f"offset {mode} {flags}")
        operand = f", {{{offset[0]}, {offset[1]}}}"
        found, _ = run(
            kernel(f"tex.2d.v4.f32.f32 {{%d0, %d1, %d2, %d3}}, [%i, {{%f0, %f1}}]{operand};"), arch, image, coordinates
        )
        for c, got in zip(coordinates, found, strict=True):
            assert close(got, images.sample(image, c[:2])), (flags, c, struct.unpack("<4f", got))
        text = kernel(f"tld4.g.2d.v4.f32.f32 {{%d0, %d1, %d2, %d3}}, [%i, {{%f0, %f1}}]{operand};")
        found, _ = run(text, arch, image, coordinates)
        for c, got in zip(coordinates, found, strict=True):
            assert got == struct.pack("<4f", *images.gather(image, c[:2], 1)), (flags, c)
        text = kernel(f"tex.2d.v4.f32.s32 {{%d0, %d1, %d2, %d3}}, [%i, {{%x0, %x1}}]{operand};")
        whole = [[x, y, 0, 0] for x in range(-2, 8) for y in range(-2, 5)][:64]
        for c, got in zip(whole, run(text, arch, image, whole)[0], strict=True):
            assert got == struct.pack("<4f", *images.fetch(image, c[:2])), (flags, c)


@pytest.mark.parametrize("arch", EVERY)
def test_linear_light(arch: str) -> None:
    """sRGB bytes become linear, all but the last of four channels, before they are filtered."""
    image = Image((256, 1, 1), 0x01, 4, [v for k in range(256) for v in (k, 255 - k, 7 * k % 256, k)], 1)
    for linear in (False, True):
        image.linear, image.flags = linear, images.SRGB
        text = kernel("tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%i, {%f0}];")
        coordinates = [[k + 0.5 + 0.25 * linear, 0, 0, 0] for k in range(256)]
        for c, got in zip(coordinates, run(text, arch, image, coordinates)[0], strict=True):
            want = images.sample(image, c[:1])
            found = struct.unpack("<4f", got)
            assert all(abs(g - w) <= 2e-6 for g, w in zip(found, want, strict=True)), (c, found, want)


FORMATTED = {0x01: ("B", 0, 255), 0x08: ("b", -128, 127), 0x02: ("H", 0, 65535), 0x09: ("h", -32768, 32767)}


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("form", images.FORMATS)
@pytest.mark.parametrize("channels", [1, 2])
def test_formatted_stores(channels: int, form: int, arch: str) -> None:
    """sust.p: the texel's number, not its byte; values become what the surface holds."""
    letter, draw = images.FORMATS[form][0], random.Random(form)
    values = [draw.randint(-64, 64) / 8 if letter in "ef" else draw.randint(-70000, 70000) for _ in range(24)]
    if letter.isupper():
        values = [abs(v) for v in values]
    image = Image((6, 2, 1), form, channels, [0] * 12 * channels, 2)
    vector, more = ("", "") if channels == 1 else (".v4", ", %l, %x2, %l")
    text = kernel(f"sust.p.2d{vector}.b32.zero [%i, {{%x0, %x1}}], {{%x2{more}}}; mov.b32 %d0, 0;", "mov.b32 %d1, 0;")
    text = text.replace("[%r], {%d0, %d1, %d2, %d3}", "[%r], {%d0, %d0, %d0, %d0}")
    coordinates = [[k % 6, k // 6, *values[2 * k : 2 * k + 2]] for k in range(12)] + [[6, 0, 1, 1], [0, -1, 1, 1]]
    _, after = run(text, arch, image, coordinates, kind=2)
    low, high = FORMATTED.get(form, ("", -(1 << 31), (1 << 32) - 1))[1:]
    stored = values if letter in "ef" else [min(max(v, low), high) for v in values]
    stored = stored[:: 3 - channels]
    assert after == struct.pack(f"<{len(stored)}{letter}", *stored)


@pytest.mark.parametrize("arch", EVERY)
def test_untyped_reductions(arch: str) -> None:
    """sured.p.min and max compare as the surface's format does."""
    for form, want in ((0x03, (1, 0xFFFFFFFE)), (0x0A, (0xFFFFFFFE, 1))):
        image = Image((2, 1, 1), form, 1, [1, 1], 1)
        text = kernel("sured.p.min.1d.b32.trap [%i, {0}], %x0; sured.p.max.1d.b32.trap [%i, {1}], %x0; mov.b32 %d0, 0;")
        text = text.replace("[%r], {%d0, %d1, %d2, %d3}", "[%r], {%d0, %d0, %d0, %d0}")
        _, after = run(text, arch, image, [[-2, 0, 0, 0]], kind=2)
        assert struct.unpack("<2I", after) == want, hex(form)
