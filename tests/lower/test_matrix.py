"""mma of every shape and type, ldmatrix, stmatrix, movmatrix: fragments lie as PTX says, sums are right."""

from __future__ import annotations

import random
import struct

import pytest

from ptx2amd.lower.matrix import matrix
from tests.lower import byte_moves, quadpair_programs, wmma_programs
from tests.lower import matrix_programs as programs
from tests.lower.device import ARCHS, EVERY, MAPPINGS, THIRDS, Program, chunks, program, third
from tests.lower.matrix_programs import LANE
from tests.lower.wmma_programs import MATRIX

PRODUCTS = list(programs.products())
MOVES = programs.HEAD + programs.move_kernel()
QUADPAIRS = programs.HEAD + quadpair_programs.kernel()
PRODUCTS_TEXT = programs.HEAD + programs.kernel("k", PRODUCTS)  # for tests that do not run it


@pytest.mark.parametrize("part", THIRDS)
@pytest.mark.parametrize("arch", [*ARCHS, "gfx942::software", "gfx1100::software"])
def test_products(arch: str, part: int) -> None:
    batches = chunks(third(PRODUCTS, part, programs.types), 5)
    text = programs.HEAD + "".join(programs.kernel(f"k{i}", batch) for i, batch in enumerate(batches))
    for i, batch in enumerate(batches):
        data = [programs.matrices(product) for product in batch]
        image = b"".join(programs.fragments(p, d) for p, d in zip(batch, data, strict=True))
        _, out = program(text, arch).run(f"k{i}", 32, [image, 32 * LANE * len(batch)])
        for j, (product, matrices) in enumerate(zip(batch, data, strict=True)):
            got = out[32 * LANE * j : 32 * LANE * (j + 1)]
            assert got == programs.expected(product, matrices), product.opcode


@pytest.mark.parametrize("arch", ["gfx942::software", "gfx1100::software"])
def test_products_by_calls(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "IN_PLACE", 0)
    batch = PRODUCTS[::12]
    data = [programs.matrices(product) for product in batch]
    image = b"".join(programs.fragments(p, d) for p, d in zip(batch, data, strict=True))
    run = Program(programs.HEAD + programs.kernel("k", batch), arch).run
    _, out = run("k", 32, [image, 32 * LANE * len(batch)])
    for j, (product, matrices) in enumerate(zip(batch, data, strict=True)):
        assert out[32 * LANE * j : 32 * LANE * (j + 1)] == programs.expected(product, matrices), product.opcode


@pytest.mark.parametrize("arch", EVERY)
def test_moves(arch: str) -> None:
    data = random.Random("rows").randbytes(512)
    _, out = program(MOVES, arch).run("moves", 32, [data, 512 * len(programs.MOVES)])
    for i, (kind, count, trans, _) in enumerate(programs.MOVES):
        want = programs.moved(kind, count, trans, data)
        assert out[512 * i : 512 * (i + 1)] == want, programs.MOVES[i]


@pytest.mark.parametrize("arch", EVERY)
def test_moves_of_bytes(arch: str) -> None:
    data = random.Random("bytes").randbytes(512)
    count = len(byte_moves.LOADS) + len(byte_moves.STORES)
    _, out = program(byte_moves.HEAD + byte_moves.kernel(), arch).run("bytes", 32, [data, 512 * count])
    want = [byte_moves.loaded(shape, n, kind, data) for shape, n, _, kind in byte_moves.LOADS]
    want += [byte_moves.stored(n, data) for n in byte_moves.STORES]
    for i, each in enumerate(want):
        assert out[512 * i : 512 * (i + 1)] == each, i


@pytest.mark.parametrize("arch", EVERY)
def test_quad_pairs(arch: str) -> None:
    variants = quadpair_programs.VARIANTS
    image = b"".join(quadpair_programs.inputs(variant) for variant in variants)
    _, out = program(QUADPAIRS, arch).run("quadpair", 32, [image, 32 * LANE * len(variants)])
    for i, variant in enumerate(variants):
        assert out[32 * LANE * i : 32 * LANE * (i + 1)] == quadpair_programs.expected(variant), variant


WMMA = chunks([p for p in wmma_programs.products() if p.number % 5 in (0, 2, 3)], 4)
WMMA_TEXT = wmma_programs.HEAD + "".join(wmma_programs.kernel(f"k{i}", batch) for i, batch in enumerate(WMMA))


@pytest.mark.parametrize("arch", [*EVERY, pytest.param("gfx90a", marks=pytest.mark.slow)])
def test_wmma(arch: str) -> None:
    for i, batch in enumerate(WMMA):
        data = [wmma_programs.matrices(product) for product in batch]
        memory = b"".join(
            wmma_programs.image(p, part, cells)
            for p, d in zip(batch, data, strict=True)
            for part, cells in (("a", d.a), ("b", d.b), ("c", d.c))
        )
        _, out = program(WMMA_TEXT, arch).run(f"k{i}", 32, [memory, MATRIX * len(batch)])
        for j, (product, matrices) in enumerate(zip(batch, data, strict=True)):
            got = out[MATRIX * j : MATRIX * (j + 1)]
            assert got == wmma_programs.expected(product, matrices), product


@pytest.mark.parametrize("arch", [*MAPPINGS, "gfx90a"])
@pytest.mark.parametrize(("bound", "rounds"), [("%w", (1, 2, 3)), ("%ctaid.x", (1, 1, 1))])
def test_warps_multiply_apart_and_together(arch: str, bound: str, rounds: tuple[int, ...]) -> None:
    noise = random.Random(bound)
    a, b = ([[noise.randrange(-4, 5) for _ in range(16)] for _ in range(16)] for _ in range(2))
    memory = b"".join(struct.pack("<256e", *(x for row in m for x in row)).ljust(2048, b"\0") for m in (a, b))
    _, out = program(wmma_programs.two_warps(bound), arch).run("k", 96, [memory + bytes(1024), 3 * 1024])
    product = [sum(a[i][k] * b[k][j] for k in range(16)) for i in range(16) for j in range(16)]
    assert struct.unpack("<768f", out) == tuple(n * x for n in rounds for x in product)
