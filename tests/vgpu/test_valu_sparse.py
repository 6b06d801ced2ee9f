"""Sparse matrix instructions (SMFMAC, SWMMAC) and gfx950's block-scaled MFMA against numpy, with the layouts of AMD's
matrix instruction calculator written out here as k of each lane's elements.

Protects: which k an index chooses, the index sets, signs and clamping, formats mixed in one product, scales by blocks.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ptx2amd.vgpu.isa import mfma, sparse
from ptx2amd.vgpu.isa.op import Op
from tests.reference.small_floats import decode, table, width
from tests.vgpu.machine import State, assemble, execute
from tests.vgpu.test_valu_matrix import element_bits, encode, put, registers, result_place, shape, wmma_rows

A, B, C, D = 0, 16, 40, 64  # first registers
SMFMAC = [op for op in sparse.ops() if "smfmac" in op.name]
SWMMAC = [op for op in sparse.ops() if "swmmac" in op.name]


def compress(
    rng: np.random.Generator, rows: int, k: int, low: int, high: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A dense matrix, two stored elements of each four, and where in the four they are."""
    where = np.array([[sorted(rng.choice(4, 2, replace=False)) for _ in range(k // 4)] for _ in range(rows)])
    stored = rng.integers(low, high, (rows, k // 4, 2))
    dense = np.zeros((rows, k), int)
    for row in range(rows):
        for quad in range(k // 4):
            for n in range(2):
                dense[row, 4 * quad + where[row, quad, n]] = stored[row, quad, n]
    return dense, stored, where


@pytest.mark.parametrize("op", SMFMAC, ids=lambda op: f"{op.name}-{op.archs[0]}")
def test_smfmac(op: Op) -> None:
    """A lane has k / (64 / m) neighbouring k; every set of indices that ABID chooses, and CBSZ: the first one."""
    m, n, k, _, a_type, b_type, d_type = shape(op)
    arch = op.archs[0]
    rng = np.random.default_rng(m * k)
    bits, per_lane = element_bits(a_type), k // (64 // m)
    a, stored, where = compress(rng, m, k, -4, 5)
    b, c = rng.integers(-4, 5, (k, n)), rng.integers(-50, 50, (m, n))
    sets = 32 // per_lane
    for cbsz, abid in [(0, s) for s in range(sets)] + [(1, sets - 1)]:
        state = State(64)
        state.v[C] = rng.integers(0, 1 << 32, 64, np.uint32)
        coded = encode(stored, a_type)
        for row in range(m):
            for quad in range(k // 4):
                lane, at = quad * 4 // per_lane * m + row, quad * 4 % per_lane // 2
                for e in range(2):
                    put(state, A, lane, at + e, bits, int(coded[row, quad, e]))
                    shift = (0 if cbsz else abid) * per_lane + 2 * (at + e)
                    state.v[C, lane] = int(state.v[C, lane]) & ~(3 << shift) | int(where[row, quad, e]) << shift
        for (row, column), value in np.ndenumerate(encode(b, b_type)):
            put(state, B, row // per_lane * n + column, row % per_lane, bits, int(value))
        for (row, column), value in np.ndenumerate(encode(c, d_type)):
            reg, lane = result_place(m, n, False, 0, row, column)
            put(state, D + 256, lane, reg, 32, int(value))
        state.exec = 1
        size = per_lane * bits // 64
        text = f"{op.name} a[{D}:{D + m * n // 64 - 1}], {registers(A, size)}, {registers(B, 2 * size)}, v{C}"
        execute(arch, b"".join(assemble(arch, [f"{text} cbsz:{cbsz} abid:{abid}"])), state)
        for (row, column), value in np.ndenumerate(encode(a @ b + c, d_type)):
            reg, lane = result_place(m, n, False, 0, row, column)
            assert int(state.v[D + 256 + reg, lane]) == int(value) & 0xFFFFFFFF, (row, column, cbsz, abid)


def k_of_lanes(lanes: int, k: int, bits: int, stored: bool) -> list[list[int]]:
    """For the groups of 16 lanes: the k of their elements in order (of A: of each four, the first)."""
    if lanes == 32:
        if bits == 16:  # runs of 8 in turn
            return [[16 * part + 8 * g + e for part in range(k // 16) for e in range(8)] for g in (0, 1)]
        return [[g * k // 2 + e for e in range(k // 2)] for g in (0, 1)]
    if bits == 16:
        return [[g * 8 + e for e in range(8)] for g in range(4)]
    if stored and bits == 4 and k == 32:  # 8 stored elements fill a register: half of the lanes have none
        return [list(range(16)), list(range(16, 32)), [], []]
    return [[g * k // 4 + e for e in range(k // 4)] for g in (0, 2, 1, 3)]


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("op", SWMMAC, ids=lambda op: op.name)
def test_swmmac(op: Op, lanes: int) -> None:
    *_, k, _, a_type, b_type, d_type = (int(x) if str(x).isdigit() else x for x in shape(op))
    assert isinstance(k, int) and isinstance(a_type, str) and isinstance(b_type, str) and isinstance(d_type, str)
    rng = np.random.default_rng(k + lanes)
    bits, integer, half = element_bits(a_type), d_type == "i32", d_type in ("f16", "bf16")
    low, high = (-(1 << bits - 1), 1 << bits - 1) if integer else (-3, 4)
    a, stored, where = compress(rng, 16, k, low, high)
    b, c = rng.integers(low, high, (k, 16)), rng.integers(-50, 50, (16, 16))
    of_a, of_b = k_of_lanes(lanes, k, bits, True), k_of_lanes(lanes, k, bits, False)
    index_bits = len(of_a[0])
    coded, coded_b, coded_c = encode(stored, a_type), encode(b, b_type), encode(c, d_type)
    for key in range(32 // index_bits):
        state = State(lanes)
        state.v[C] = rng.integers(0, 1 << 32, lanes, np.uint32)
        for group, ks in enumerate(of_a):
            for at, first in enumerate(ks[::4]):
                for row in range(16):
                    lane = group * 16 + row
                    for e in range(2):
                        put(state, A, lane, 2 * at + e, bits, int(coded[row, first // 4, e]))
                        shift = key * index_bits + 2 * (2 * at + e)
                        place = int(where[row, first // 4, e])
                        state.v[C, lane] = int(state.v[C, lane]) & ~(3 << shift) | place << shift
        for group, ks in enumerate(of_b):
            for at, row in enumerate(ks):
                for column in range(16):
                    put(state, B, group * 16 + column, at, bits, int(coded_b[row, column]))
        rows = wmma_rows(lanes)
        for (r, lane), row in rows.items():
            put(state, D, lane, r, 16 if half else 32, int(coded_c[row, lane % 16]))
        signed = integer and key == 0
        left, right = (a, b) if signed or not integer else (a & (1 << bits) - 1, b & (1 << bits) - 1)
        sizes = [max(1, n * bits // 32) for n in (len(of_a[0]) // 2, len(of_b[0]))]
        result = len(rows) // lanes // (2 if half else 1)
        text = f"{op.name} {registers(D, result)}, {registers(A, sizes[0])}, {registers(B, sizes[1])}, v{C}"
        text += f" index_key:{key}" if 32 // index_bits > 1 else ""
        text += " neg_lo:[1,1,0]" if signed else ""
        execute("gfx1200", b"".join(assemble("gfx1200", [text], lanes)), state)
        want = encode(left @ right + c, d_type)
        for (r, lane), row in rows.items():
            got = int(state.v[D + r // 2, lane]) >> r % 2 * 16 & 0xFFFF if half else int(state.v[D + r, lane])
            assert got == int(want[row, lane % 16]) & (0xFFFF if half else 0xFFFFFFFF), (row, lane, key)


def test_swmmac_clamps() -> None:
    state = State(32)
    state.v[A : A + 2] = state.v[B : B + 4] = 0x7F7F7F7F
    state.v[C], state.v[D : D + 8] = 0x44444444, 0x7FFFFFF0
    text = f"v_swmmac_i32_16x16x32_iu8 v[{D}:{D + 7}], v[{A}:{A + 1}], v[{B}:{B + 3}], v{C} neg_lo:[1,1,0]"
    execute("gfx1200", b"".join(assemble("gfx1200", [f"{text} clamp"])), state)
    assert (state.v[D : D + 8] == 0x7FFFFFFF).all()


FORMATS = ["fp8", "bf8", "fp6", "bf6", "fp4"]  # by CBSZ and BLGP
SCALED = [op for op in mfma.ops() if "f8f6f4" in op.name]


def small_matrix(rng: np.random.Generator, fmt: str, lines: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes of small values (so that sums are exact), and the values."""
    few = [c for c, v in enumerate(table(fmt)) if v in (0, 1, 2, 3, 0.5, 1.5)]
    codes = rng.choice(few, (lines, k)) | rng.integers(0, 2, (lines, k)) << (width(fmt) - 1)
    return codes, np.array([[float(decode(fmt, int(c))) for c in row] for row in codes])


def k_of(fmt: str, group: int, groups: int, e: int) -> int:
    """8 bits: 16 neighbouring k, and 16 in the second half; else 32 neighbouring ones."""
    return group * 16 + e % 16 + e // 16 * 16 * groups if width(fmt) == 8 else group * 32 + e


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("op", SCALED, ids=lambda op: op.name)
def test_block_scaled(op: Op, scaled: bool) -> None:
    m, n, k, *_ = shape(op)
    groups = 64 // m
    for number in range(25 if scaled else 5):
        rng = np.random.default_rng(number)
        a_type, b_type = (number // 5, number % 5) if scaled else (number, (number + 1) % 5)
        state = State(64)
        codes_a, a = small_matrix(rng, FORMATS[a_type], m, k)
        codes_b, b = small_matrix(rng, FORMATS[b_type], n, k)
        for codes, fmt, base in ((codes_a, FORMATS[a_type], A), (codes_b, FORMATS[b_type], B)):
            for lane in range(64):
                column = sum(int(codes[lane % m, k_of(fmt, lane // m, groups, e)]) << e * width(fmt) for e in range(32))
                for r in range(8):
                    state.v[base + r, lane] = column >> 32 * r & 0xFFFFFFFF
        c = rng.integers(-50, 50, (m, n))
        for (row, column), value in np.ndenumerate(encode(c, "f32")):
            reg, lane = result_place(m, n, False, 0, row, column)
            state.v[C + reg, lane] = int(value)
        exponents = rng.integers(125, 130, (2, 64, 4))  # of A and B, by lane and byte
        for which in (0, 1):
            state.v[30 + which] = (exponents[which] << np.arange(4) * 8).sum(1)
        bytes_used = number % 4, (number // 4) % 4
        sizes = [8 if t < 2 else 6 if t < 4 else 4 for t in (a_type, b_type)]
        sums = m * n // 64
        text = f"{op.name} {registers(D, sums)}, {registers(A, sizes[0])}, {registers(B, sizes[1])}, "
        text += registers(C, sums)
        if scaled:
            low, high = ([x & 1 for x in bytes_used], [x >> 1 for x in bytes_used])
            text = text.replace("v_mfma_", "v_mfma_scale_")
            text += f", v30, v31 op_sel:[{low[0]},{low[1]},0] op_sel_hi:[{high[0]},{high[1]},0]"
        text += f" cbsz:{a_type} blgp:{b_type}"
        execute("gfx950", b"".join(assemble("gfx950", [text, "s_nop 0"])), state)
        want = c.astype(float)
        for block in range(k // 32):
            part = a[:, 32 * block : 32 * block + 32] @ b[:, 32 * block : 32 * block + 32].T
            if scaled:
                of_rows = 2.0 ** (exponents[0, block * m : (block + 1) * m, bytes_used[0]] - 127)
                of_columns = 2.0 ** (exponents[1, block * n : (block + 1) * n, bytes_used[1]] - 127)
                part = part * of_rows[:, None] * of_columns[None, :]
            want = want + part
        for (row, column), value in np.ndenumerate(want):
            reg, lane = result_place(m, n, False, 0, row, column)
            got = float(state.v[D + reg, lane : lane + 1].view(np.float32)[0])
            assert got == value, (number, row, column)


def test_scale_that_is_not_a_number() -> None:
    state = State(64)
    state.v[30], state.v[31] = 127, 127
    state.v[30, 3] = 255
    text = "v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[0:7], v[16:23], 0, v30, v31"
    execute("gfx950", b"".join(assemble("gfx950", [text])), state)
    results = state.v[64:68].view(np.float32)
    for reg in range(4):
        for lane in range(64):
            assert math.isnan(results[reg, lane]) == (lane // 16 * 4 + reg == 3)
