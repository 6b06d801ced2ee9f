"""Forms of texture and surface instructions that differ from those in test_texture.py in their result type, their
number of elements or their way to a level: they give the same texels. And reductions, gathered cubes, and queries."""

from __future__ import annotations

import random
import struct

import pytest

from tests.lower.device import EVERY
from tests.lower.test_texture import kernel, points, pyramid, random_image, run, run_levels
from tests.reference import images
from tests.reference.images import NORMALIZED, Image

D, E = "{%d0, %d1, %d2, %d3}", "{%e0, %e1, %e2, %e3}"
ZERO2, ZERO4 = "{%z, %z}", "{%z, %z, %z, %z}"
PLACES = {"2d": "{%f0, %f1}", "cube": "{%f0, %f1, %f2, %f2}"}
HALVES = "cvt.rn.f16x2.f32 %d0, %d1, %d0; cvt.rn.f16x2.f32 %d1, %d3, %d2; mov.b32 %d2, 0; mov.b32 %d3, 0;"


def same(geometry: str, ct: str) -> list[tuple[str, str]]:
    """(opcode, operands behind the coordinates) that read what `tex.geometry.v4.f32.ct` reads at level 0."""
    zero = "0" if ct == "s32" else "0f00000000"
    gradients = f", {ZERO2}, {ZERO2}" if geometry == "2d" else f", {ZERO4}, {ZERO4}"
    ways = [("tex", ""), ("tex.base", ""), ("tex.level", f", {zero}"), *([("tex.grad", gradients)] * (ct == "f32"))]
    return [(f"{way}.{geometry}.{t}.{ct}", more) for way, more in ways for t in ("v4.f32", "v2.f16x2")]


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize(("geometry", "ct"), [("2d", "f32"), ("2d", "s32"), ("cube", "f32")])
def test_ways_to_the_same_texel(geometry: str, ct: str, arch: str) -> None:
    if geometry == "cube":
        image = random_image(0x20, 4, (4, 4, 6), 2, layered=True, flags=NORMALIZED)
        draw = random.Random("cube")
        coordinates = [[draw.uniform(-1, 1) for _ in range(3)] + [0] for _ in range(64)]
    else:
        image = random_image(0x20, 4, (7, 5, 1), 2)
        coordinates = points(image, "ways") if ct == "f32" else [[k % 9 - 1, k // 9 - 1, 0, 0] for k in range(63)]
    place = PLACES[geometry].replace("f", "x") if ct == "s32" else PLACES[geometry]
    for opcode, more in same(geometry, ct):
        half = "f16x2" in opcode
        other = "{%e0, %e1}" if half else E
        body = f"tex.{geometry}.v4.f32.{ct} {D}, [%i, {place}]; {HALVES if half else ''}"
        body += ".reg .b32 %e<4>; .reg .f32 %z; mov.f32 %z, 0f00000000; mov.b32 %e2, 0; mov.b32 %e3, 0;"
        body += f"{opcode} {other}, [%i, {place}]{more};"
        found, _ = run(
            kernel(" ".join(f"xor.b32 %d{k}, %d{k}, %e{k};" for k in range(4)), body), arch, image, coordinates
        )
        assert found == [bytes(16)] * len(coordinates), opcode


@pytest.mark.parametrize("arch", EVERY)
def test_gathered_cube(arch: str) -> None:
    """Around a point of the face +x: s runs against z, t against y."""
    image = random_image(0x20, 4, (4, 4, 6), 2, layered=True, flags=NORMALIZED)
    face = Image((4, 4, 1), 0x20, 4, image.data[:64], 2, flags=NORMALIZED)
    for channel, letter in enumerate("rgba"):
        text = kernel(f"tld4.{letter}.cube.v4.f32.f32 {D}, [%i, {PLACES['cube']}];")
        found, _ = run(text, arch, image, [[2.0, y, z, 0] for y in (-0.6, 0.3) for z in (-0.4, 0.9)])
        wants = [((1 - z / 2) / 2, (1 - y / 2) / 2) for y in (-0.6, 0.3) for z in (-0.4, 0.9)]
        assert found == [struct.pack("<4f", *images.gather(face, list(at), channel)) for at in wants], letter


@pytest.mark.parametrize("arch", EVERY)
def test_sizes_of_levels(arch: str) -> None:
    text = kernel(
        "txq.level.width.b32 %d0, [%i], %l; txq.level.height.b32 %d1, [%i], %l; txq.level.depth.b32 %d2, [%i], %l;",
        "cvt.rzi.s32.f32 %l, %l; mov.b32 %d3, 0;",
    )
    mipmap = pyramid(random.Random("sizes"), 3)
    for k, got in enumerate(run_levels(text, arch, mipmap, [[0, 0, 0, float(k)] for k in range(5)])):
        assert struct.unpack("<3I", struct.pack("<4f", *got)[:12]) == mipmap.levels[k].size


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_widths_of_surface_accesses(count: int, bits: int, arch: str) -> None:
    """A row of 8-byte texels is copied to the row below, a thread for each access; coordinates count bytes."""
    size = count * bits // 8
    if size > 16:
        return
    image = random_image(0x03, 2, (8, 2, 1), 2)
    vector, kind = f".v{count}" if count > 1 else "", f"b{max(bits, 16)}"
    values = "{" + ", ".join(f"%s{k}" for k in range(count)) + "}"
    text = kernel(
        f"sust.b.2d{vector}.b{bits}.trap [%i, {{%x0, %x2}}], {values};"
        + "".join(f"mov.b32 %d{k}, 0;" for k in range(4)),
        f".reg .{kind} %s<4>; suld.b.2d{vector}.b{bits}.trap {values}, [%i, {{%x0, %x1}}];",
    )
    before = image.bytes()
    _, after = run(text, arch, image, [[x, 0, 1, 0] for x in range(0, 64, size)], kind=2)
    assert after == before[:64] * 2


REDUCTIONS = {
    "add": lambda a, b: a + b & 0xFFFFFFFF,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_surface_reductions(op: str, arch: str) -> None:
    """By bytes with a type, and by texels; threads meet on a texel."""
    draw = random.Random(op)
    signed = lambda v: v - (v >> 31 << 32)  # noqa: E731
    bitwise = op in ("and", "or")
    for mode, t in (("b", "b32" if bitwise else "u32"), *([("b", "s32")] * (not bitwise)), ("p", "b32")):
        image = Image((4, 1, 1), 0x03, 1, [draw.randrange(1 << 32) for _ in range(4)], 1)
        places = [draw.randrange(4) for _ in range(32)]
        values = [draw.randrange(1 << 32) for _ in range(32)]
        text = kernel(
            f"sured.{mode}.{op}.1d.{t}.zero [%i, {{%x0}}], %x1;", " ".join(f"mov.b32 %d{k}, 0;" for k in range(4))
        )
        want = list(image.data)
        for at, value in zip(places, values, strict=True):
            a, b = (want[at], value) if t != "s32" else (signed(want[at]), signed(value))
            want[at] = REDUCTIONS[op](a, b) & 0xFFFFFFFF
        step = 4 if mode == "b" else 1
        _, after = run(
            text, arch, image, [[at * step, signed(v), 0, 0] for at, v in zip(places, values, strict=True)], kind=2
        )
        assert list(struct.unpack("<4I", after)) == want, (mode, t)


@pytest.mark.parametrize("arch", EVERY)
def test_kinds_of_objects(arch: str) -> None:
    text = kernel(
        "istypep.texref %p, %i; selp.b32 %d0, 1, 0, %p; istypep.surfref %p, %i; selp.b32 %d1, 1, 0, %p;"
        "istypep.samplerref %p, %i; selp.b32 %d2, 1, 0, %p; mov.b32 %d3, 0;",
        ".reg .pred %p;",
    )
    image = random_image(0x20, 4, (7, 5, 1), 2)
    for kind, want in ((1, (1, 0)), (2, (0, 1))):
        [got], _ = run(text, arch, image, [[0, 0, 0, 0]], kind=kind)
        assert struct.unpack("<2I", got[:8]) == want
