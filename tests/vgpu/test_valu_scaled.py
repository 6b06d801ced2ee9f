"""gfx950's conversions with a scale, every row against tables of the small formats' values.

Protects: rounding, saturation, stochastic rounding, the scale, which byte or half is read and written, the packing of
32 values, inactive lanes.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from ptx2amd.vgpu.isa import scaled
from ptx2amd.vgpu.isa.meaning import SmallFloats
from ptx2amd.vgpu.isa.op import Op
from tests.reference.small_floats import decode, encode, width
from tests.vgpu.machine import MODE, State, assemble, execute

FP16_OVFL = 1 << 23
D, A, B, C = 0, 40, 80, 120  # first registers
EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 448.0, 464.0, 465.0, -57344.0, 61440.0, 65504.0, 6.0, 7.0, -7.5,
         7.75, 28.0, 30.0, 0.25, 0.125, 0.0625, 0.03125, 1.25, 2.5, 3.5, 5.0, 2.0**-9, 2.0**-10, -(2.0**-16), 2.0**-17,
         3 * 2.0**-11, 2.0**-24, 1.0]  # fmt: skip


def shape(op: Op) -> tuple[str, str, str, int, int, bool]:
    x = op.semantics
    assert isinstance(x, SmallFloats)
    return x.kind, x.small, x.wide, x.count, x.sources, x.stochastic


def wide_bits(value: float, typ: str) -> int:
    """A value's bits in f32, f16 or bf16 (cut off: then it is another value)."""
    with np.errstate(over="ignore"):
        if typ == "f16":
            return int(np.float16(value).view(np.uint16))
        bits = int(np.float32(value).view(np.uint32))
    return bits >> 16 if typ == "bf16" else bits


def wide_value(bits: int, typ: str) -> float:
    if typ == "f16":
        return float(np.uint16(bits).view(np.float16))
    return float(np.uint32(bits << 16 if typ == "bf16" else bits).view(np.float32))


def registers(base: int, n: int) -> str:
    return f"v{base}" if n == 1 else f"v[{base}:{base + n - 1}]"


def put(state: State, base: int, lane: int, at: int, bits: int, value: int) -> None:
    column = sum(int(state.v[base + k, lane]) << 32 * k for k in range(33))
    column = column & ~((1 << bits) - 1 << at) | value << at
    for k in range(33):
        state.v[base + k, lane] = column >> 32 * k & 0xFFFFFFFF


def get(state: State, base: int, lane: int, at: int, bits: int) -> int:
    return sum(int(state.v[base + k, lane]) << 32 * k for k in range(33)) >> at & ((1 << bits) - 1)


def scales(rng: random.Random) -> list[int]:
    """Biased exponents, most of them small."""
    return [rng.choice([127, 127, 126, 130, 120, 140, 1, 0, 254, 255, rng.randrange(256)]) for _ in range(64)]


def fill_scales(state: State, base: int, rng: random.Random) -> list[int]:
    found = scales(rng)
    for lane, e in enumerate(found):
        state.v[base, lane] = rng.getrandbits(1) << 31 | e << 23 | rng.getrandbits(23)
    return found


NARROW, WIDEN = ([op for op in scaled.ops() if shape(op)[0] == kind] for kind in ("narrow", "widen"))


@pytest.mark.parametrize("op", NARROW, ids=lambda op: op.name)
def test_narrow(op: Op) -> None:
    _, small, wide, count, sources, stochastic = shape(op)
    size, bits = width(small), 32 if wide == "f32" else 16
    total = size * count
    for seed, select in enumerate((0, 1, 2, 3) if total == 8 else (0, 1) if total == 16 else (0,)):
        rng = random.Random(f"{op.name}{seed}")
        state = State(64)
        state.v[D : D + 8] = np.frombuffer(rng.randbytes(8 * 64 * 4), np.uint32).reshape(8, 64)
        old = state.v[D : D + 8].copy()
        values = []
        for lane in range(64):
            row = []
            for j in range(count):
                value = rng.choice(EDGES) if rng.random() < 0.5 else rng.uniform(-8, 8) * 2.0 ** rng.randrange(-12, 12)
                part = j // (count // sources)
                put(state, (A, B)[part], lane, j % (count // sources) * bits, bits, wide_bits(value, wide))
                row.append(wide_value(wide_bits(value, wide), wide))
            values.append(row)
        n = count // sources * bits // 32 or 1
        names = [registers((A, B)[k], n) for k in range(sources)]
        noise: list[int | None] = [None] * 64
        if stochastic:
            noise = [rng.getrandbits(32) for _ in range(64)]
            state.v[(A, B, C)[sources]] = noise
            names.append(registers((A, B, C)[sources], 1))
        exponents = fill_scales(state, (A, B, C)[len(names)] if len(names) < 3 else C + 1, rng)
        names.append(registers((A, B, C)[len(names)] if len(names) < 3 else C + 1, 1))
        text = f"{op.name} {registers(D, max(1, total // 32))}, " + ", ".join(names)
        if total == 8:
            text += " op_sel:[" + "0," * (len(names) - (len(names) == 3)) + f"{select & 1},{select >> 1}]"
        elif total == 16:
            text += " op_sel:[" + "0," * len(names) + f"{select}]"
        mode, state.exec = (MODE | FP16_OVFL, 0xFFFFFFFFFFFF) if seed % 2 else (MODE, (1 << 64) - 1)
        execute("gfx950", b"".join(assemble("gfx950", [text])), state, mode, ("v4", "v3")[seed % 2])
        at = select * total if total < 32 else 0
        for lane in range(64):
            want = sum(int(x) << 32 * k for k, x in enumerate(old[:, lane]))
            if state.exec >> lane & 1:
                for j, value in enumerate(values[lane]):
                    value = math.nan if exponents[lane] == 255 else value
                    code = encode(small, value, exponents[lane] - 127, saturate=mode != MODE, noise=noise[lane])
                    if math.isnan(value):  # of any sign
                        code |= get(state, D, lane, at + j * size, size) & 1 << (size - 1)
                    where = at + j * size
                    want = want & ~((1 << size) - 1 << where) | code << where
                    if math.isnan(value):
                        want |= get(state, D, lane, where, size) & 1 << (size - 1) << where
            assert get(state, D, lane, 0, 256) == want, (text, lane, values[lane], exponents[lane])


@pytest.mark.parametrize("op", WIDEN, ids=lambda op: op.name)
def test_widen(op: Op) -> None:
    _, small, wide, count, _, _ = shape(op)
    size, bits = width(small), 32 if wide == "f32" else 16
    total = size * count
    choices = 4 if total == 8 else 2 if total == 16 else 1
    for select in range(choices):
        rng = random.Random(f"{op.name}{select}")
        state = State(64)
        state.v[D : D + 33] = 0xABCD1234
        for lane in range(64):
            for k in range(6):
                state.v[A + k, lane] = rng.getrandbits(32)
        exponents = fill_scales(state, B, rng)
        n, high = max(1, count * bits // 32), count == 1 and bits == 16 and select & 1
        text = f"{op.name} {registers(D, n)}, {registers(A, 6 if count == 32 else 1)}, v{B}"
        if total == 8:
            text += f" op_sel:[{select & 1},{select >> 1},{int(high)}]"
        elif total == 16:
            text += f" op_sel:[{select},0,0]"
        state.exec = 0xFFFFFFFF0FFFFFFF
        execute("gfx950", b"".join(assemble("gfx950", [text])), state, MODE, ("v4", "v2")[select % 2])
        for lane in range(64):
            for j in range(count):
                got = get(state, D, lane, (16 if high else 0) + j * bits, bits)
                if not state.exec >> lane & 1:
                    assert got == 0xABCD1234 >> 16 * ((j + high) % 2 if bits == 16 else 0) & ((1 << bits) - 1)
                    continue
                value = decode(small, get(state, A, lane, (select * total if count < 32 else 0) + j * size, size))
                if exponents[lane] == 255 or (isinstance(value, float) and math.isnan(value)):
                    assert math.isnan(wide_value(got, wide))
                    continue
                with np.errstate(over="ignore"):
                    scaled = float(value) * 2.0 ** (exponents[lane] - 127)
                    want = float({"f32": np.float32, "f16": np.float16}.get(wide, np.float32)(scaled))
                if wide == "bf16" and abs(want) < 2.0**-126:
                    continue  # its denormals lose digits that f32 has
                assert wide_value(got, wide) == want, (text, lane, value, exponents[lane])
                assert math.copysign(1, wide_value(got, wide)) == math.copysign(1, want)
            if high or (count == 1 and bits == 16):
                assert get(state, D, lane, 0 if high else 16, 16) == (0x1234 if high else 0xABCD)


def test_stochastic_f16() -> None:
    """v_cvt_sr_f16_f32: noise on what f16 lacks, in the register's half that op_sel says."""
    for half in (0, 1):
        rng, state = random.Random(half), State(64)
        state.v[D] = 0xABCD1234
        wide = [rng.uniform(-9, 9) * 2.0 ** rng.randrange(-20, 16) for _ in range(64)]
        values = [np.float32(rng.choice(EDGES) if rng.random() < 0.3 else value) for value in wide]
        noise = [rng.getrandbits(32) for _ in range(64)]
        state.v[A], state.v[B] = np.array(values, np.float32).view(np.uint32), noise
        text = f"v_cvt_sr_f16_f32 v{D}, v{A}, v{B}" + (" op_sel:[0,0,1]" if half else "")
        execute("gfx950", b"".join(assemble("gfx950", [text])), state)
        for lane in range(64):
            want = encode("f16", float(values[lane]), 0, saturate=False, noise=noise[lane])
            got = get(state, D, lane, 16 * half, 16)
            same = got & 0x7E00 == 0x7E00 if math.isnan(values[lane]) else got == want
            assert same, (values[lane], hex(got), hex(want))
            assert get(state, D, lane, 16 - 16 * half, 16) == (0xABCD if half == 0 else 0x1234)
