"""Instructions that move values between lanes and registers, division and trigonometric steps, MODE."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from tests.reference.valu_floats import FORMATS, from_bits, round_fraction
from tests.vgpu.machine import MODE, State, assemble, execute
from tests.vgpu.test_valu_modifiers import LANE, f32, run


def test_readlane_and_writelane() -> None:
    """EXEC does not matter; the lane number is taken modulo the wave."""
    st = run("gfx9", "v_readlane_b32 s4, v2, s5\nv_readlane_b32 s6, v2, 63\nv_writelane_b32 v3, s7, 9",
             v={2: LANE[64] + 100, 3: 1},
             s={5: 64 + 17, 7: 0xABCD}, exec_mask=1)  # fmt: skip
    assert st.s[4] == 117
    assert st.s[6] == 163
    assert st.v[3][9] == 0xABCD
    assert (np.delete(st.v[3], 9) == 1).all()


def test_readfirstlane() -> None:
    """The first active lane; lane 0 when none is."""
    for exec_mask, want in ((0x100, 8), (0, 0), (1 << 63, 63)):
        st = run("gfx9", "v_readfirstlane_b32 s4, v2", v={2: LANE[64]}, exec_mask=exec_mask)
        assert st.s[4] == want


def test_swap() -> None:
    st = run("gfx9", "v_swap_b32 v2, v3", v={2: 2, 3: 3}, exec_mask=0xFF)
    assert st.v[2].tolist() == [3] * 8 + [2] * 56
    assert st.v[3].tolist() == [2] * 8 + [3] * 56
    st = run("gfx11", "v_swap_b16 v2.h, v3.l", v={2: 0x11112222, 3: 0x33334444})
    assert (st.v[2] == 0x44442222).all()
    assert (st.v[3] == 0x33331111).all()


@pytest.mark.parametrize("options", [(0, 0), (1, 0), (0, 1)])
def test_permlane16(options: tuple[int, int]) -> None:
    """Nibbles of two scalars choose lanes of the own row, or (x) of the other row of a pair."""
    fi, bound = options
    low, high = 0x76543210 ^ 0x11111111, 0x0FEDCBA9
    active = 0xFFFF00FF
    nibbles = [(low | high << 32) >> 4 * k & 15 for k in range(16)]
    for name, flip in (("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)):
        st = run(
            "gfx11",
            f"{name} v1, v2, s4, s5 op_sel:[{fi},{bound}]",
            v={1: 7, 2: LANE[32] + 100},
            s={4: low, 5: high},
            exec_mask=active,
        )
        for lane in range(32):
            source = (lane & 16 ^ flip) | nibbles[lane & 15]
            want = source + 100 if fi or active >> source & 1 else 0 if bound else 7
            assert st.v[1][lane] == (want if active >> lane & 1 else 7), (name, lane)


def test_permlane64() -> None:
    st = run("gfx11", "v_permlane64_b32 v1, v2", v={2: LANE[64]}, lanes=64)
    assert (st.v[1] == (LANE[64] ^ 32)).all()


def test_movrel() -> None:
    st = run("gfx11", "v_movrels_b32 v1, v2\nv_movreld_b32 v4, v3", v={3: 33, 7: 77}, s={124: 5})
    assert (st.v[1] == 77).all()
    assert (st.v[9] == 33).all()


def test_accumulation_registers() -> None:
    st = run("gfx9", "v_accvgpr_write_b32 a5, v2\nv_accvgpr_mov_b32 a6, a5\n"
             "v_accvgpr_read_b32 v1, a6\nv_accvgpr_write_b32 a7, 1.0",
             v={1: 4, 2: LANE[64]}, exec_mask=0xFFFF)  # fmt: skip
    assert st.v[1].tolist() == [*range(16), *[4] * 48]
    assert st.v[256 + 7][0] == 0x3F800000


def test_mbcnt_counts_lower_lanes() -> None:
    st = run("gfx9", "v_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v1, -1, v1")
    assert (st.v[1] == LANE[64]).all()


# ---- division ----

DIVIDE = {
    "f32": """v_div_scale_f32 v10, s[4:5], v4, v4, v2
v_div_scale_f32 v11, vcc, v2, v4, v2
v_rcp_f32 v12, v10
v_fma_f32 v13, -v10, v12, 1.0
v_fma_f32 v12, v13, v12, v12
v_mul_f32 v14, v11, v12
v_fma_f32 v15, -v10, v14, v11
v_fma_f32 v14, v15, v12, v14
v_fma_f32 v15, -v10, v14, v11
v_div_fmas_f32 v15, v15, v12, v14
v_div_fixup_f32 v8, v15, v4, v2""",
    "f64": """v_div_scale_f64 v[10:11], s[4:5], v[4:5], v[4:5], v[2:3]
v_rcp_f64 v[12:13], v[10:11]
v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
v_div_scale_f64 v[14:15], vcc, v[2:3], v[4:5], v[2:3]
v_mul_f64 v[16:17], v[14:15], v[12:13]
v_fma_f64 v[18:19], -v[10:11], v[16:17], v[14:15]
v_div_fmas_f64 v[18:19], v[18:19], v[12:13], v[16:17]
v_div_fixup_f64 v[8:9], v[18:19], v[4:5], v[2:3]""",
}


@pytest.mark.parametrize("fmt", ["f32", "f64"])
def test_division_sequence(fmt: str) -> None:
    """LLVM's division is correctly rounded, denormal numerators, denominators and quotients included."""
    typ, uns, _digits, low, high = FORMATS[fmt]
    rng = random.Random(1)
    bits = 8 * typ().itemsize

    def sample() -> float:
        kind = rng.random()
        if kind < 0.15:
            return rng.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -3.0, float(np.finfo(typ).max),
                               float(np.finfo(typ).tiny), float(np.finfo(typ).smallest_subnormal)])  # fmt: skip
        if kind < 0.45:
            return float(from_bits(rng.getrandbits(bits), fmt))
        return rng.uniform(-2, 2) * 2.0 ** rng.choice([low, low + 5, -5, 0, 5, high - 30, high - 3, high - 1, low - 10])

    text = DIVIDE[fmt].splitlines()
    code = b"".join(assemble("gfx9", text))
    for _ in range(12):
        a, b = (np.array([sample() for _ in range(64)], typ) for _ in "ab")
        state = State(64)
        if fmt == "f32":
            state.v[2], state.v[4] = a.view(uns), b.view(uns)
        else:
            state.set64(2, a)
            state.set64(4, b)
        execute("gfx9", code, state, level="v3")
        got = (state.v[8] if fmt == "f32" else state.get64(8)).view(typ)
        with np.errstate(all="ignore"):
            want = a / b
        same = (got == want) & (np.signbit(got) == np.signbit(want)) | (np.isnan(got) & np.isnan(want))
        assert same.all(), [(float(a[k]), float(b[k]), float(got[k]), float(want[k])) for k in np.flatnonzero(~same)]


def test_div_fmas_scales_by_vcc() -> None:
    """Up or down by 2^64, away from 1 on the addend's side."""
    st = run("gfx9", "v_div_fmas_f32 v1, v2, v3, v4", v={2: 2.0, 3: 3.0, 4: 4.0}, s={106: 0xFFFFFFFF, 107: 0})
    assert (f32(st.v[1])[:32] == 10.0 * 2.0**64).all()
    assert (f32(st.v[1])[32:] == 10.0).all()
    st = run("gfx9", "v_div_fmas_f32 v1, v2, v3, v4", v={2: 2.0, 3: 3.0, 4: 1.0}, s={106: 1, 107: 0})
    assert f32(st.v[1])[0] == 7.0 * 2.0**-64


def two_over_pi(bits: int) -> int:
    """The first `bits` bits of the fraction of 2/pi, by the Bailey-Borwein-Plouffe series for pi."""
    total = Fraction(0)
    for k in range(bits // 4 + 8):
        parts = ((4, 1), (-2, 4), (-1, 5), (-1, 6))
        total += sum(Fraction(n, 8 * k + d) for n, d in parts) / 16**k
    return int(2 / total * 2**bits)


def test_trig_preop() -> None:
    """53 bits of 2/pi at the place that the exponent and the segment choose."""
    fraction = two_over_pi(1201)
    values = np.array([1.0, 1e10, 1e22, 2.0**200, 1.7e308] + [0.5] * 59)
    for segment in range(3):
        state = State(64)
        state.set64(2, values)
        execute("gfx9", b"".join(assemble("gfx9", [f"v_trig_preop_f64 v[10:11], v[2:3], {segment}"])), state)
        got = state.get64(10).view(np.float64)
        for k, value in enumerate(values[:6]):
            exponent = math.frexp(value)[1] + 1022
            shift = segment * 53 + max(exponent - 1077, 0)
            whole = (fraction << shift >> 1201 - 53) & (1 << 53) - 1
            scale = -53 - shift + (128 if exponent >= 1968 else 0)
            assert got[k] == math.ldexp(whole, scale)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sin_cos(name: str) -> None:
    """Of 2 pi x, close to the true value over the whole range."""
    values = np.concatenate([np.linspace(-2, 2, 60), [256.0, -200.25, 0.0, np.inf]]).astype(np.float32)
    st = run("gfx9", f"v_{name}_f32 v1, v2", v={2: values})
    got = f32(st.v[1]).astype(np.float64)
    turns = values[:63].astype(np.float64)
    want = getattr(np, name)((turns - np.round(turns)) * 2 * np.pi)
    assert np.abs(got[:63] - want).max() < 1e-7
    assert np.isnan(got[63])


# ---- MODE ----


@pytest.mark.parametrize(("code", "mode"), [(0, "nearest"), (1, "up"), (2, "down"), (3, "zero")])
@pytest.mark.parametrize("level", ["v2", "v3", "v4"])
def test_rounding_modes(code: int, mode: str, level: str) -> None:
    """f32 and f64/f16 rounding are separate fields."""
    a, b = np.linspace(-3, 3, 64).astype(np.float32), np.float32(1e-7)
    exact = [Fraction(float(x)) + Fraction(float(b)) for x in a]
    text = """v_add_f32 v1, v2, v3
v_cvt_f64_f32 v[4:5], v2
v_mov_b32 v6, 0x12345
v_mov_b32 v7, 0x3c000000
v_add_f64 v[8:9], v[4:5], v[6:7]
v_cvt_f16_f32 v10, v2
v_add_f32 v11, v2, v3"""
    for field, other in ((code, 0), (0, code)):
        st = run("gfx9", text, v={2: a, 3: b}, mode=MODE | field | other << 2, level=level)
        names = ["nearest", "up", "down", "zero"]
        for row in (1, 11):
            assert f32(st.v[row]).tolist() == [round_fraction(e, "f32", names[field]) for e in exact]
        tiny = Fraction(float(from_bits(0x3C00000000012345, "f64")))
        want = [round_fraction(Fraction(float(x)) + tiny, "f64", names[other]) for x in a]
        assert st.get64(8).view(np.float64).tolist() == want
        halves = (st.v[10] & 0xFFFF).astype(np.uint16).view(np.float16)
        assert halves.tolist() == [round_fraction(Fraction(float(x)), "f16", names[other]) if x else 0 for x in a]


@pytest.mark.parametrize("level", ["v2", "v3", "v4"])
def test_denormal_modes(level: str) -> None:
    """f32 flushing leaves f64 and f16 alone, and the other way round."""
    text = """v_mul_f32 v1, v2, 1.0
v_mul_f64 v[8:9], v[4:5], 1.0
v_mul_f16 v10, v6, v7
v_max_f32 v11, v2, v2
v_mul_f32 v12, v3, 0.5
v_pk_add_f16 v13, v6, v6 op_sel_hi:[0,0]"""
    v = {2: 0x80000001, 3: 0x00800000, 4: 1, 5: 0, 6: 0x0001, 7: 0x3C00}
    keep = run("gfx9", text, v=v, level=level)
    assert [int(keep.v[r][0]) for r in (1, 8, 10, 11, 12, 13)] == [0x80000001, 1, 1, 0x80000001, 0x00400000, 0x00020002]
    flush32 = run("gfx9", text, v=v, mode=MODE & ~0x30, level=level)
    assert [int(flush32.v[r][0]) for r in (1, 8, 10, 11, 12, 13)] == [0x80000000, 1, 1, 0x80000000, 0, 0x00020002]
    flush64 = run("gfx9", text, v=v, mode=MODE & ~0xC0, level=level)
    assert [int(flush64.v[r][0]) for r in (1, 8, 10, 11, 12, 13)] == [0x80000001, 0, 0, 0x80000001, 0x00400000, 0]


def test_stochastic_fp8() -> None:
    """The random bits go into the mantissa below the result's; op_sel chooses the byte."""
    st = run(
        "gfx9",
        "v_cvt_sr_fp8_f32 v1, v2, v3 op_sel:[0,0,1,1]",
        v={1: 0x11223344, 2: 1.0625, 3: np.where(LANE[64] % 2, 0xFFFFFFFF, 0)},
    )
    low = int(st.v[1][0]) >> 24
    assert int(st.v[1][0]) & 0xFFFFFF == 0x223344
    assert int(st.v[1][1]) >> 24 in (low, low + 1)
    st = run("gfx9", "v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]", v={1: 0x11223344, 2: 1.0, 3: -2.0})
    assert (st.v[1] == 0xC8403344).all()


def test_gpr_index_mode() -> None:
    """GFX9's register index mode, as LLVM uses it for vector elements with a variable index."""
    text = """s_set_gpr_idx_on s6, gpr_idx(SRC0)
v_mov_b32 v1, v2
s_set_gpr_idx_off
s_set_gpr_idx_on s6, gpr_idx(DST)
v_mov_b32 v10, v3
s_set_gpr_idx_off
v_mov_b32 v20, v2"""
    st = run("gfx9", text, v={2: 22, 3: 33, 5: 55}, s={6: 3}, exec_mask=0xFF)
    assert st.v[1][:8].tolist() == [55] * 8
    assert st.v[13].tolist() == [33] * 8 + [0xDEAD000D] * 56
    assert st.v[20][0] == 22
