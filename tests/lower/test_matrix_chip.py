"""Matrix products on the chip's matrix instructions: there where type and shape fit, right for each warp whatever
the other warp of the wave does, as exact as in software."""

from __future__ import annotations

import math
import random
import re

import pytest

from ptx2amd.translate import translate
from tests.lower import chip_programs as programs
from tests.lower.chip_programs import FLOATS, SOME, random_bits
from tests.lower.device import THIRDS, chunks, program, third
from tests.lower.matrix_programs import HEAD, LANE, Matrices, Product, fragments, kernel, products, types, value, width
from tests.reference import matrix

SLOW = ("gfx942:padded", "gfx90a", "gfx908", "gfx950", "gfx1201", "gfx942::software", "gfx1100::software")
WAYS = ["gfx942", "gfx1100", *(pytest.param(way, marks=pytest.mark.slow) for way in SLOW)]

# what each arch multiplies elements of a type with
INSTRUCTIONS = {
    "gfx908": "f16:f16 bf16:bf16 tf32:f32 s8:i8 u8:i8 s4:i8 e4m3:f16",
    "gfx90a": "f16:f32 bf16:f32 tf32:f32 f64:f64 s8:i8 u8:i8 s4:i8 e4m3:f32",
    "gfx942": "f16:f16 bf16:bf16 tf32:xf32 f64:f64 s8:i8 u8:i8 s4:i8 e4m3:f16",
    "gfx950": "f16:f16 bf16:bf16 tf32:f32 f64:f64 s8:i8 u8:i8 s4:i8 e4m3:fp8_fp8",
    "gfx1100": "f16:f16 bf16:bf16 s8:iu8 u8:iu8 s4:iu4 e4m3:f16",
    "gfx1201": "f16:f16 bf16:bf16 s8:iu8 u8:iu8 s4:iu4 e4m3:fp8_fp8",
    "gfx1030": "",
    "gfx906": "",
}
TYPES = ("f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "e4m3", "b1")


@pytest.mark.parametrize("arch", INSTRUCTIONS)
def test_instructions(arch: str) -> None:
    """Which instruction multiplies elements of each type; none: software."""
    some = [next(p for p in products() if p["at"] == p["bt"] == t) for t in TYPES]
    text = HEAD + "".join(kernel(t, [p]) for t, p in zip(TYPES, some, strict=True))
    found: dict[str, str] = {}
    for ptype in TYPES:
        [result] = translate(text, archs=[arch], kernels=[ptype], mode="module", emit="asm")
        names = set(re.findall(r"v_w?mf?ma_\w+?_\d+x\d+x\d+_?([a-z]\w*?)(?:_1k)?\s", result.code.decode()))
        if names:
            [found[ptype]] = names
    assert " ".join(f"{t}:{name}" for t, name in found.items()) == INSTRUCTIONS[arch]


@pytest.mark.parametrize("part", THIRDS)
@pytest.mark.parametrize("arch", WAYS)
def test_warps_apart(arch: str, part: int) -> None:
    """Warps go through the products a different number of times, and through some not at all."""
    some = third(SOME.values(), part, types)
    text = HEAD + "".join(programs.kernel(f"k{i}", product) for i, product in enumerate(some))
    for i, product in enumerate(some):
        for warps in (4, 3):
            size = 32 * LANE * warps
            _, out = program(text, arch).run(f"k{i}", 32 * warps, [programs.inputs(product, warps), size])
            assert out == programs.results(product, warps), product.opcode


def floating() -> list[Product]:
    return [p for p in SOME.values() if p["at"] in FLOATS and p["at"] == p["bt"] and p["dt"] != "f16"]


@pytest.mark.parametrize("arch", WAYS)
def test_rounding(arch: str) -> None:
    """Random numbers, subnormal ones among them: the error is that of f32 (f64) sums in some order."""
    for batch in chunks(floating(), 6):
        text = HEAD + "".join(kernel(f"k{i}", [p]) for i, p in enumerate(batch))
        for i, product in enumerate(batch):
            m, n, k = product.shape
            seed = random.Random(product.opcode)
            data = Matrices(
                {(r, c): random_bits(product["at"], seed, 8) for r in range(m) for c in range(k)},
                {(r, c): random_bits(product["bt"], seed, 8) for r in range(k) for c in range(n)},
                {(r, c): 0 for r in range(m) for c in range(n)},
            )
            _, out = program(text, arch).run(f"k{i}", 32, [fragments(product, data), 32 * LANE])
            got = results(product, out)
            unit = 2.0**-52 if product["dt"] == "f64" else 2.0**-23
            for (row, column), number in got.items():
                terms = [
                    value(data.a[row, x], product["at"]) * value(data.b[x, column], product["bt"]) for x in range(k)
                ]
                assert abs(number - math.fsum(terms)) <= unit * k * math.fsum(map(abs, terms)), product.opcode


def results(product: Product, image: bytes) -> dict[tuple[int, int], float]:
    size = width(product["dt"]) // 8
    found = {}
    for lane, index, row, column in matrix.c_fragment(product.shape[0], 8):
        at = LANE * lane + size * index
        found[row, column] = float(value(int.from_bytes(image[at : at + size], "little"), product["dt"]))
    return found


@pytest.mark.parametrize("arch", WAYS)
def test_nan_stays_in_its_warp(arch: str) -> None:
    """The other warp of a wave gets none of a warp's NaN."""
    for product in (p for p in floating() if p.shape[2] == 8 or p["at"] == "f64"):
        good, bad = programs.warp_matrices(product, 0), programs.warp_matrices(product, 1)
        nan = {"f16": 0x7E00, "bf16": 0x7FC0, "tf32": 0x7FC00000, "f64": 0x7FF8 << 48}[product["at"]]
        bad.a, bad.b = dict.fromkeys(bad.a, nan), dict.fromkeys(bad.b, nan)
        image = fragments(product, good) + fragments(product, bad) + fragments(product, good)
        _, out = program(HEAD + kernel("k", [product]), arch).run("k", 96, [image, 96 * LANE])
        first, second, third = (results(product, out[32 * LANE * w : 32 * LANE * (w + 1)]) for w in range(3))
        assert all(map(math.isnan, second.values()))
        assert first == third
        assert not any(map(math.isnan, first.values()))
