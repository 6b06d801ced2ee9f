"""MFMA and WMMA against numpy, with the documented register layouts written out here a second time."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from ptx2amd.vgpu.isa import mfma, wmma
from ptx2amd.vgpu.isa.meaning import Matrix
from ptx2amd.vgpu.isa.op import Op
from tests.reference.small_floats import table
from tests.vgpu.machine import State, assemble, execute

A, B, C, D = 0, 8, 64, 128  # first registers
OCP = {"e4m3": "fp8", "e5m2": "bf8"}


def encode(values: np.ndarray, typ: str) -> np.ndarray:
    """Small integers as element bits."""
    if typ in ("i8", "iu8", "iu4", "i32"):
        return values.astype(np.int64)
    if typ in ("f32", "xf32"):
        return values.astype(np.float32).view(np.uint32).astype(np.int64)
    if typ == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.int64)
    if typ == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.int64)
    if typ == "f64":
        return values.astype(np.float64).view(np.int64)
    if typ in OCP:
        codes = table(OCP[typ])
        return np.array([codes.index(abs(int(v))) | (128 if v < 0 else 0) for v in values.flat]).reshape(values.shape)
    # FNUZ: sign, exponent (bias 8 or 16), mantissa (3 or 2 bits); the values here are exact
    bias, bits = (8, 3) if typ == "fp8" else (16, 2)
    out = np.zeros(values.shape, np.int64)
    for index, v in np.ndenumerate(values):
        if v:
            mantissa, exponent = np.frexp(abs(float(v)))
            out[index] = (
                (128 if v < 0 else 0) | (int(exponent) - 1 + bias) << bits | int((2 * mantissa - 1) * (1 << bits))
            )
    return out


def element_bits(typ: str) -> int:
    return {"f16": 16, "bf16": 16, "f64": 64, "i8": 8, "iu8": 8, "iu4": 4, "fp8": 8, "bf8": 8,
            "e4m3": 8, "e5m2": 8}.get(typ, 32)  # fmt: skip


def put(state: State, base: int, lane: int, index: int, bits: int, value: int) -> None:
    """Element `index` of a lane's register block."""
    if bits == 64:
        state.v[base + 2 * index, lane], state.v[base + 2 * index + 1, lane] = (
            value & 0xFFFFFFFF,
            value >> 32 & 0xFFFFFFFF,
        )
        return
    at = index * bits
    mask = (1 << bits) - 1
    state.v[base + at // 32, lane] |= np.uint32((value & mask) << at % 32)


def result_place(m: int, n: int, wide: bool, block: int, row: int, column: int) -> tuple[int, int]:
    """(register or pair, lane) of an MFMA result, by shape."""
    if m == 4:
        return (0, 16 * row + 4 * block + column) if wide else (row, 4 * block + column)
    if wide:
        return row // 4, row % 4 * 16 + column
    if m == 16:
        return 4 * block + row % 4, row // 4 * 16 + column
    return 16 * block + row // 8 * 4 + row % 4, row // 4 % 2 * 32 + column


def shape(op: Op) -> tuple[int, int, int, int, str, str, str]:
    x = op.semantics
    assert isinstance(x, Matrix)
    return x.m, x.n, x.k, x.blocks, x.a, x.b, x.d


def registers(base: int, dwords: int) -> str:
    return f"v{base}" if dwords == 1 else f"v[{base}:{base + dwords - 1}]"


CHIPS = ("gfx942", "gfx950", "gfx90a", "gfx908")
#: Rows with the shape of all MFMA, each with a chip that has it.
MFMA = [(op, next(chip for chip in CHIPS if op.opcode(chip) is not None))
        for op in mfma.ops()
        if isinstance(op.semantics, Matrix) and op.semantics.kind in ("mfma", "mfma_flushed")]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "chip", "constant"),
    [
        pytest.param(op, chip, constant, id=f"{chip}-{op.name}-{constant}")
        for op, chip in MFMA
        for constant in (False, True)
        if not (constant and chip == "gfx908")  # whose assembler takes none here
    ],
)
def test_mfma(op: Op, chip: str, constant: bool) -> None:
    """Products of small integers, exact in every type; EXEC does not matter; a constant accumulator."""
    m, n, k, blocks, a_type, b_type, d_type = shape(op)
    rng = np.random.default_rng(m * k)
    a, b = rng.integers(-4, 5, (blocks, m, k)), rng.integers(-4, 5, (blocks, k, n))
    c = np.zeros((blocks, m, n), int) if constant else rng.integers(-100, 100, (blocks, m, n))
    state = State(64)
    per_lane, wide = m * k * blocks // 64, d_type == "f64"
    for values, base, typ, lines in (
        (encode(a, a_type), A, a_type, m),
        (encode(b, b_type).transpose(0, 2, 1), B, b_type, n),
    ):
        for block in range(blocks):
            for line in range(lines):
                for e in range(k):
                    lane = e // per_lane * blocks * lines + block * lines + line
                    put(state, base, lane, e % per_lane, element_bits(typ), int(values[block, line, e]))
    bits = 64 if wide else 32
    for (block, row, column), value in np.ndenumerate(encode(c, d_type)):
        reg, lane = result_place(m, n, wide, block, row, column)
        put(state, C, lane, reg, bits, int(value))
    source, result = max(1, per_lane * element_bits(a_type) // 32), m * n * blocks * bits // 32 // 64
    third = "0" if constant else registers(C, result)
    state.exec = 1
    # gfx908 has its results in accumulation registers only
    base, file = (D, "v") if chip != "gfx908" else (D + 256, "a")
    if chip == "gfx908":
        state.v[C + 256 : C + 320] = state.v[C : C + 64]
        third = third.replace("v", "a")
    d = registers(D, result).replace("v", file)
    text = f"{op.mnemonic(chip)} {d}, {registers(A, source)}, {registers(B, source)}, {third}"
    execute(chip, b"".join(assemble(chip, [text])), state)
    want = encode(a @ b + c, d_type)
    for (block, row, column), value in np.ndenumerate(want):
        reg, lane = result_place(m, n, wide, block, row, column)
        got = int(state.get64(base + 2 * reg)[lane]) if wide else int(state.v[base + reg, lane])
        assert got == int(value) & (1 << bits) - 1, (block, row, column)


def test_mfma_accumulation_registers() -> None:
    """Operands in accumulation registers; the destination is the accumulator."""
    state = State(64)
    state.v[256 + 1] = state.v[2] = np.float32(2).view(np.uint32)
    state.v[256 + 8 : 256 + 12] = np.float32(5).view(np.uint32)
    execute("gfx9", b"".join(assemble("gfx9", ["v_mfma_f32_16x16x4_f32 a[8:11], a1, v2, a[8:11]"])), state)
    assert (state.v[264:268].view(np.float32) == 21.0).all()


def test_mfma_broadcast() -> None:
    """cbsz and abid: a block of A serves its neighbours."""
    state = State(64)
    state.v[A] = np.arange(64).astype(np.float32).view(np.uint32)
    state.v[B] = np.float32(1).view(np.uint32)
    execute("gfx9", b"".join(assemble("gfx9", ["v_mfma_f32_4x4x1_16b_f32 v[128:131], v0, v8, 0 cbsz:2 abid:1"])), state)
    got = state.v[D : D + 4].view(np.float32)
    for lane in range(64):
        block = lane // 4 // 4 * 4 + 1
        assert got[:, lane].tolist() == [block * 4 + row for row in range(4)]


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("op", [op for op in wmma.ops() if "gfx11" in op.archs], ids=lambda op: op.name)
def test_wmma(op: Op, lanes: int) -> None:
    """In waves of both sizes; integer sources signed and unsigned; 16-bit results in either half."""
    *_, a_type, b_type, d_type = shape(op)
    rng = np.random.default_rng(zlib.crc32(op.name.encode()))
    bits = element_bits(a_type)
    integer, half = d_type == "i32", d_type in ("f16", "bf16")
    low, high = (-(1 << bits - 1), 1 << bits - 1) if integer else (-3, 4)
    a, b = rng.integers(low, high, (16, 16)), rng.integers(low, high, (16, 16))
    c = rng.integers(-50, 50, (16, 16))
    groups = lanes // 16
    for option in (0, 1):
        state = State(lanes)
        for lane in range(lanes):
            for k in range(16):
                put(state, A, lane, k, bits, int(encode(a, a_type)[lane % 16, k]))
                put(state, B, lane, k, bits, int(encode(b, b_type)[k, lane % 16]))
        for (row, column), value in np.ndenumerate(encode(c, d_type)):
            state.v[C + row // groups, row % groups * 16 + column] = int(value) & 0xFFFFFFFF
        if half and option:
            state.v[C : C + 16] <<= 16
        state.v[D : D + 16] = 0xABCD1234
        source, result = 16 * bits // 32, 16 // groups
        suffix, left, right = "", a, b
        if integer and option == 0:
            suffix = " neg_lo:[1,1,0]"
        elif integer:
            left, right = a & (1 << bits) - 1, b & (1 << bits) - 1
        elif half and option:
            suffix = " op_sel:[0,0,1]"
        text = f"{op.name} {registers(D, result)}, {registers(A, source)}, {registers(B, source)}, "
        text += registers(C, result) + suffix
        execute("gfx11", b"".join(assemble("gfx11", [text], lanes)), state)
        want = encode(left @ right + c, d_type)
        for (row, column), value in np.ndenumerate(want):
            got = int(state.v[D + row // groups, row % groups * 16 + column])
            expected = int(value) & 0xFFFFFFFF
            if half:
                expected = expected << 16 | 0x1234 if option else expected | 0xABCD0000
            assert got == expected, (row, column, option)


def wmma_rows(lanes: int) -> dict[tuple[int, int], int]:
    """GFX12: (register, lane) of a result -> its row: bit 4 of the lane is more significant than bit 5."""
    if lanes == 32:
        return {(r, lane): lane // 16 * 8 + r for r in range(8) for lane in range(32)}
    return {(r, lane): (lane >> 4 & 1) * 8 + (lane >> 5) * 4 + r for r in range(4) for lane in range(64)}


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("op", [op for op in wmma.ops() if "gfx1200" in op.archs], ids=lambda op: op.name)
def test_wmma_of_gfx12(op: Op, lanes: int) -> None:
    """A and B give a lane the same k of its row and column, a whole register at least; results as documented."""
    *_, depth, _, a_type, b_type, d_type = shape(op)
    rng = np.random.default_rng(depth + lanes)
    bits, integer, half = element_bits(a_type), d_type == "i32", d_type in ("f16", "bf16")
    low, high = (-(1 << bits - 1), 1 << bits - 1) if integer else (-3, 4)
    a, b = rng.integers(low, high, (16, depth)), rng.integers(low, high, (depth, 16))
    c = rng.integers(-50, 50, (16, 16))
    per_lane = max(32 // bits, depth * 16 // lanes)
    coded_a, coded_b, coded_c = encode(a, a_type), encode(b, b_type), encode(c, d_type)
    for signed in (True, False) if integer else (False,):
        state = State(lanes)
        for lane in range(depth * 16 // per_lane):
            for e in range(per_lane):
                k = lane // 16 * per_lane + e
                put(state, A, lane, e, bits, int(coded_a[lane % 16, k]))
                put(state, B, lane, e, bits, int(coded_b[k, lane % 16]))
        rows = wmma_rows(lanes)
        for (r, lane), row in rows.items():
            put(state, C, lane, r, 16 if half else 32, int(coded_c[row, lane % 16]))
        left, right = (a, b) if signed or not integer else (a & (1 << bits) - 1, b & (1 << bits) - 1)
        result, source = len(rows) // lanes // (2 if half else 1), max(1, per_lane * bits // 32)
        text = f"{op.name} {registers(D, result)}, {registers(A, source)}, {registers(B, source)}, "
        text += registers(C, result)
        text += " neg_lo:[1,1,0]" if signed else ""
        execute("gfx1200", b"".join(assemble("gfx1200", [text], lanes)), state)
        want = encode(left @ right + c, d_type)
        for (r, lane), row in rows.items():
            got = int(state.v[D + r // 2, lane]) >> r % 2 * 16 & 0xFFFF if half else int(state.v[D + r, lane])
            assert got == int(want[row, lane % 16]) & (0xFFFF if half else 0xFFFFFFFF), (row, lane)


def test_wmma_constant_accumulator() -> None:
    state = State(32)
    state.v[A : A + 8] = state.v[B : B + 8] = 0x3C003C00
    execute("gfx11", b"".join(assemble("gfx11", ["v_wmma_f32_16x16x16_f16 v[128:135], v[0:7], v[8:15], 1.0"])), state)
    assert (state.v[D : D + 8].view(np.float32) == 17.0).all()


@pytest.mark.parametrize(
    ("chip", "name", "kept"),
    [
        ("gfx90a", "v_mfma_f32_4x4x4f16", False),
        ("gfx90a", "v_mfma_f32_4x4x4bf16_1k", False),
        ("gfx90a", "v_mfma_f32_16x16x8bf16", False),
        ("gfx942", "v_mfma_f32_4x4x4_16b_f16", True),
        ("gfx942", "v_mfma_f32_4x4x4_16b_bf16", True),
    ],
)
def test_subnormal_numbers(chip: str, name: str, kept: bool) -> None:
    """MI200 flushes those of f16 and bf16 in sources, accumulators and results; f32's in products of f32 are kept."""
    half = name.endswith("f16") and "bf16" not in name
    tiny, one = (0x8001, 0x3C00) if half else (0x8001, 0x3F80)
    width = 1 if name.endswith("8bf16") else 2
    for a, b, c in ((tiny, one, 0), (one, tiny, 0), (0, one, 0x00000001)):
        state = State(64)
        state.v[A] = a
        state.v[B] = b
        state.v[C : C + 4] = c
        text = f"{name} v[128:131], {registers(A, width)}, {registers(B, width)}, v[64:67]"
        execute(chip, b"".join(assemble(chip, [text])), state)
        assert bool(state.v[D : D + 4].view(np.float32).any()) == kept, (a, b, c)
    state = State(64)
    state.v[A] = 0x00000001
    state.v[B] = np.float32(1).view(np.uint32)
    suffix = "_16b_f32" if chip == "gfx942" else "f32"
    execute(chip, b"".join(assemble(chip, [f"v_mfma_f32_4x4x1{suffix} v[128:131], v0, v8, 0"])), state)
    assert (state.v[D : D + 4] == 1).all()
