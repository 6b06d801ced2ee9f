"""wmma of f16 and bf16 on gfx90a, whose instructions for them flush subnormal numbers: exact all the same, and what
PTX2AMD_MATRIX=fast gives up."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ptx2amd.translate import translate
from tests.lower.device import program
from tests.lower.wmma_programs import HEAD, two_warps

KINDS = {"f16": (8, 10), "bf16": (4, 7)}  # registers of a fragment of 16 x 16, bits of a mantissa
SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
WARPS = 8  # of a block


def text(kind: str, shape: str = "m16n16k16") -> str:
    """`k(a, b, c, d)`: each warp multiplies the next matrices."""
    m, n, k = map(int, re.findall(r"\d+", shape))
    size = {"a": 2 * m * k, "b": 2 * k * n, "c": 4 * m * n, "d": 4 * m * n}
    count = {part: KINDS[kind][0] * size[part] // 512 if kind == "bf16" else 8 for part in "ab"} | {"c": 8}
    regs = {part: "{" + ", ".join(f"%{part}{i}" for i in range(n)) + "}" for part, n in count.items()}
    stride = {"a": k, "b": n, "c": n}
    loads = "".join(
        f"wmma.load.{p}.sync.aligned.row.{shape}.global.{'f32' if p == 'c' else kind} {regs[p]}, [%p{p}], {stride[p]};"
        for p in "abc"
    )
    ways = f".f32.{kind}.{kind}.f32" if kind == "bf16" else ".f32.f32"
    return f"""{HEAD}.visible .entry k({", ".join(f".param .u64 {p}" for p in "abcd")}) {{
.reg .b64 %pa, %pb, %pc, %pd, %at; .reg .b32 %a<9>, %b<9>, %t, %i, %n; .reg .f32 %c<9>;
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %i, %n, %t; shr.u32 %t, %t, 5;
{"".join(f"ld.param.u64 %p{p}, [{p}]; mul.wide.u32 %at, %t, {size[p]}; add.u64 %p{p}, %p{p}, %at;" for p in "abcd")}
{loads} wmma.mma.sync.aligned.row.row.{shape}{ways} {regs["c"]}, {regs["a"]}, {regs["b"]}, {regs["c"]};
wmma.store.d.sync.aligned.row.{shape}.global.f32 [%pd], {regs["c"]}, {n}; ret; }}"""


def values(bits: np.ndarray, kind: str) -> np.ndarray:
    bits = bits.astype(np.uint16)
    return bits.view(np.float16).astype(float) if kind == "f16" else (bits.astype(np.uint32) << 16).view(np.float32)


def multiplied(arch: str, kind: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, shape: str = SHAPES[0]) -> np.ndarray:
    """The products of stacks of matrices."""
    count = len(a)
    assert count % WARPS == 0
    code = [np.ascontiguousarray(m).tobytes() for m in (a.astype(np.uint16), b.astype(np.uint16), c.astype(np.float32))]
    *_, out = program(text(kind, shape), arch).run("k", 32 * WARPS, [*code, c.size * 4], grid=count // WARPS)
    return np.frombuffer(out, np.float32).reshape(c.shape)


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    wanted = wanted.astype(np.float32)
    either = np.isnan(found) & np.isnan(wanted)
    np.testing.assert_array_equal(np.where(either, 0, found.view(np.int32)), np.where(either, 0, wanted.view(np.int32)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_number(kind: str) -> None:
    """Each is exact on either side: matrices with a number in each row, or column, so that sums have one term."""
    rng = np.random.default_rng(5)
    all_bits = np.arange(1 << 16).reshape(-1, 16)  # neighbours, so that some matrices have none that is small
    eye = np.eye(16, dtype=int).astype(bool)
    one = np.where(eye, all_bits[:, :, None], 0)
    # powers of two that keep products in range, and exact
    full = (rng.integers(12, 18, one.shape) << 10) if kind == "f16" else (rng.integers(110, 140, one.shape) << 7)
    nothing = np.zeros(one.shape)
    with np.errstate(all="ignore"):
        scale = values(all_bits, kind)
        finite = np.isfinite(scale)
        for a, b, wanted, exact in (
            (one, full, scale[:, :, None] * values(full, kind), finite[:, :, None]),
            (full, one, values(full, kind) * scale[:, None, :], finite[:, None, :]),
        ):
            found = multiplied("gfx90a", kind, a, b, nothing)
            exact = np.broadcast_to(exact, found.shape)
            # an infinity or NaN meets zeros, too
            wanted = np.where(exact & finite.all(1)[:, None, None], wanted + 0.0, np.nan)
            known = ~np.isnan(wanted)
            same(found[known], wanted[known])


def sparse_trouble(kind: str, shape: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrices without zeros, each with a single subnormal number, in every place of A and of B. All sums are multiples
    of the smallest one and exact in any order."""
    m, n, k = map(int, re.findall(r"\d+", shape))
    rng = np.random.default_rng(7)
    mantissa = KINDS[kind][1]
    least, one = 1 << mantissa, (15 << 10 if kind == "f16" else 127 << 7)
    count = m * k + k * n
    small = rng.integers(1, least, count) | rng.integers(0, 2, count) << 15

    def signed(bits: int, *size: int) -> np.ndarray:
        return bits | rng.integers(0, 2, (count, *size)) << 15

    a, b = signed(least, m, k), signed(one, k, n)
    a[m * k :], b[m * k :] = signed(one, m, k)[m * k :], signed(least, k, n)[m * k :]
    places = np.arange(count)
    a.reshape(count, -1)[places[: m * k], places[: m * k]] = small[: m * k]
    b.reshape(count, -1)[places[m * k :], places[: k * n]] = small[m * k :]
    return a, b, np.zeros((count, m, n))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_one_subnormal_number_among_others(kind: str, shape: str) -> None:
    a, b, c = sparse_trouble(kind, shape)
    wanted = values(a, kind).astype(float) @ values(b, kind).astype(float)
    same(multiplied("gfx90a", kind, a, b, c, shape), wanted)
    fast = multiplied("gfx90a::fast", kind, a, b, c, shape)
    normal = 2.0**-14 if kind == "f16" else 2.0**-126
    flushed = [np.where(np.abs(v) < normal, 0, v) for v in (values(a, kind), values(b, kind))]
    lost = flushed[0].astype(float) @ flushed[1].astype(float)
    lost[np.abs(lost) < 2.0**-126] = 0
    assert (lost != wanted).any((1, 2)).all()
    same(np.abs(fast), np.abs(lost))


def test_a_subnormal_number_beside_nan() -> None:
    a, b, c = sparse_trouble("f16", SHAPES[0])
    a, b, c = a[:256], b[:256], c[:256]
    wanted = values(a, "f16") @ values(b, "f16")
    for nan in (0x7C01, 0x7E00, 0xFFFF, 0x7C00):
        other = a.copy()
        row = (np.arange(256) // 16 + 1) % 16  # not the subnormal's
        other[np.arange(256), row, 3] = nan
        found = multiplied("gfx90a", "f16", other, b, c)
        assert not np.isfinite(found[np.arange(256), row]).any()
        rest = np.ones((256, 16), bool)
        rest[np.arange(256), row] = False
        same(found[rest], wanted[rest])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_subnormal_accumulators(kind: str, factor: float) -> None:
    """They are kept where the products are 0, and rounded away beside others."""
    rng = np.random.default_rng(9)
    c = rng.integers(0, 1 << 23, (WARPS, 16, 16)).astype(np.uint32) | rng.integers(0, 2, (WARPS, 16, 16)) << 31
    c = c.astype(np.uint32).view(np.float32)
    one = 15 << 10 if kind == "f16" else 127 << 7
    a = np.where(np.eye(16, dtype=bool), one, 0) * (factor != 0) + np.zeros(c.shape, int)
    b = np.full(c.shape, one)
    same(multiplied("gfx90a", kind, a, b, c), c + np.float32(factor))


@pytest.mark.parametrize("scale", [1.0, 2.0**-24], ids=["normal", "subnormal"])
def test_warps_apart(scale: float) -> None:
    """In a loop that each warp of a wave leaves at another round."""
    rng = np.random.default_rng(11)
    a, b = (rng.integers(1, 5, (16, 16)) * rng.choice([-1, 1], (16, 16)) for _ in range(2))
    halves = [m.astype(np.float16).tobytes().ljust(2048, b"\0") for m in (a * scale, b)]
    _, out = program(two_warps("%w"), "gfx90a").run("k", 96, [b"".join(halves) + bytes(1024), 3 * 1024])
    found = np.frombuffer(out, np.float32).reshape(3, 16, 16)
    assert (found == np.arange(1, 4)[:, None, None] * (a @ b) * scale).all()


def matrix_instructions(arch: str, matrix: str, kind: str) -> list[str]:
    [result] = translate(text(kind), "t.ptx", [arch], emit="asm", mode="module", matrix=matrix)
    return re.findall(r"v_mfma_\w+", result.code.decode())


def test_instructions() -> None:
    """As many short ones as on other chips; the exact ones are beside them, and only in the exact mode."""
    short = ["v_mfma_f32_4x4x4f16"] * 8
    assert matrix_instructions("gfx90a", "fast", "f16") == short
    assert len(matrix_instructions("gfx942", "", "f16")) == len(short)
    exact = matrix_instructions("gfx90a", "", "f16")
    assert exact.count("v_mfma_f32_4x4x1f32") == 32 and exact.count(short[0]) == 2 * len(short)
    assert matrix_instructions("gfx90a", "fast", "bf16") == ["v_mfma_f32_4x4x4bf16_1k"] * 8
