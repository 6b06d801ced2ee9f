"""Instructions of gfx950 and GFX12 that move values between lanes, registers by number, logic by truth table,
stochastic 8-bit conversions, and what only old chips have."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.reference.small_floats import encode
from tests.vgpu.machine import State, assemble, execute

LANE = {32: np.arange(32), 64: np.arange(64)}


def run(arch: str, text: str, lanes: int, v: dict, s: dict | None = None, exec_mask: int | None = None) -> State:
    """Run a line with the given registers."""
    state = State(lanes)
    state.v[:512] = 0xDEAD0000 + np.arange(512, dtype=np.uint32)[:, None]
    for row, values in v.items():
        state.v[row] = np.broadcast_to(np.asarray(values), lanes).astype(np.int64) & 0xFFFFFFFF
    for index, value in (s or {}).items():
        state.s[index] = value
    if exec_mask is not None:
        state.exec = exec_mask
    execute(arch, b"".join(assemble(arch, text.splitlines(), lanes)), state, level="v4")
    return state


def bits(rng: random.Random, n: int) -> list[int]:
    return [rng.getrandbits(32) for _ in range(n)]


@pytest.mark.parametrize("table", [0x80, 0xFE, 0x96, 0xCA, 0xE8, 0x01, 0x5B, 0xFF])
def test_bitop3(table: int) -> None:
    """Bit a << 2 | b << 1 | c of the table."""
    rng = random.Random(table)
    a, b, c = (bits(rng, 64) for _ in range(3))
    text = f"v_bitop3_b32 v1, v2, v3, v4 bitop3:{table:#x}\n"
    text += f"v_bitop3_b16 v5, v2, v3, v4 bitop3:{table:#x} op_sel:[1,0,0,1]"
    st = run("gfx950", text, 64, {2: a, 3: b, 4: c, 5: 0x12345678})
    for lane in range(64):

        def value(x: int, y: int, z: int, n: int) -> int:
            return sum((table >> ((x >> k & 1) << 2 | (y >> k & 1) << 1 | z >> k & 1) & 1) << k for k in range(n))

        assert st.v[1, lane] == value(a[lane], b[lane], c[lane], 32)
        assert st.v[5, lane] == value(a[lane] >> 16, b[lane], c[lane], 16) << 16 | 0x5678


@pytest.mark.parametrize("group", [16, 32])
def test_permlane_swap(group: int) -> None:
    """Odd groups of lanes of the first register change places with the even ones of the second."""
    st = run("gfx950", f"v_permlane{group}_swap_b32 v1, v2", 64, {1: LANE[64], 2: LANE[64] + 100})
    for lane in range(64):
        odd = lane & group
        assert st.v[1, lane] == (lane - group + 100 if odd else lane)
        assert st.v[2, lane] == (lane + 100 if odd else lane + group)


def test_permlane_var() -> None:
    """Each lane names a lane of its own row, or (x) of the other row."""
    rng = random.Random(3)
    select = bits(rng, 32)
    active = 0xFFFF00FF
    for name, flip in (("v_permlane16_var_b32", 0), ("v_permlanex16_var_b32", 16)):
        for fi, bound in ((0, 0), (1, 0), (0, 1)):
            text = f"{name} v1, v2, v3 op_sel:[{fi},{bound}]"
            st = run("gfx1200", text, 32, {1: 7, 2: LANE[32] + 100, 3: select}, exec_mask=active)
            for lane in range(32):
                source = (lane & 16 ^ flip) | select[lane] & 15
                want = source + 100 if fi or active >> source & 1 else 0 if bound else 7
                assert st.v[1, lane] == (want if active >> lane & 1 else 7), (text, lane)


def test_relative_moves() -> None:
    """M0 holds one distance for both registers, or that of the destination in bits 16 to 25."""
    st = run("gfx1030", "v_movrelsd_b32 v1, v2", 32, {7: 77}, {124: 5})
    assert (st.v[6] == 77).all()
    st = run("gfx1030", "v_movrelsd_2_b32 v1, v2", 32, {7: 77}, {124: 9 << 16 | 5})
    assert (st.v[10] == 77).all()
    st = run("gfx1030", "v_swaprel_b32 v1, v2", 32, {7: 77, 10: 99}, {124: 9 << 16 | 5}, exec_mask=0xFFFF)
    assert st.v[10].tolist() == [77] * 16 + [99] * 16
    assert st.v[7].tolist() == [99] * 16 + [77] * 16


def test_mqsad_u32() -> None:
    """Four sums of absolute differences, where the reference byte is not 0, at each byte of a 64-bit value."""
    rng = random.Random(8)
    low, high, b = bits(rng, 64), bits(rng, 64), [x & 0xFF00FFFF for x in bits(rng, 64)]
    sums = [bits(rng, 64) for _ in range(4)]
    text = "v_mqsad_u32_u8 v[8:11], v[2:3], v4, v[12:15]"
    st = run("gfx942", text, 64, {2: low, 3: high, 4: b, **{12 + k: sums[k] for k in range(4)}})
    for lane in range(64):
        both = high[lane] << 32 | low[lane]
        for k in range(4):
            want = sums[k][lane]
            for n in range(4):
                reference = b[lane] >> 8 * n & 255
                want += abs((both >> 8 * (k + n) & 255) - reference) if reference else 0
            assert st.v[8 + k, lane] == want & 0xFFFFFFFF


def test_mad_mix() -> None:
    """gfx900: rounded twice, where the fused form of later chips rounds once."""
    x = np.float32(1 + 2.0**-12)
    word = int(x.view(np.uint32))
    half = int(np.float16(1.5).view(np.uint16))
    addend = np.float32(-1 - 2.0**-11)
    v = {2: word, 3: word, 4: int(addend.view(np.uint32)), 5: half << 16, 6: 0x11112222, 7: 0x11112222}
    st = run("gfx900", "v_mad_mix_f32 v1, v2, v3, v4\nv_mad_mix_f32 v8, v5, v2, v4 op_sel:[1,0,0] op_sel_hi:[1,0,0]\n"
             "v_mad_mixlo_f16 v6, v2, v2, v2\nv_mad_mixhi_f16 v7, v2, v2, v2", 64, v)  # fmt: skip
    assert st.v[1, 0] == (x * x + addend).view(np.uint32)
    assert st.v[8, 0] == (np.float32(1.5) * x + addend).view(np.uint32)
    sum16 = int(np.float16(x * x + x).view(np.uint16))
    assert (st.v[6] == (0x11110000 | sum16)).all()
    assert (st.v[7] == (sum16 << 16 | 0x2222)).all()


@pytest.mark.parametrize("arch", ["gfx950", "gfx1200", "gfx942"])
def test_stochastic_conversions(arch: str) -> None:
    """8 bits into the byte that is named, the other ones stay. The noise is added to the mantissa and leaves it: the
    exponent stays, the result is rounded to nearest. gfx942's formats differ in their exponent only, by one."""
    rng = random.Random(1)
    lanes = 32 if arch == "gfx1200" else 64
    values = [np.float32(rng.uniform(0.02, 200)) for _ in range(lanes)]
    noise = bits(rng, lanes)
    for name in ("fp8", "bf8"):
        for byte in range(4):
            select = f" byte_sel:{byte}" if arch == "gfx1200" else f" op_sel:[0,0,{byte & 1},{byte >> 1}]"
            st = run(arch, f"v_cvt_sr_{name}_f32 v1, v2, v3{select}", lanes,
                     {1: 0x55667788, 2: np.array(values).view(np.uint32), 3: noise})  # fmt: skip
            for lane in range(lanes):
                word = int(values[lane].view(np.uint32))
                word = word & 0xFF800000 | word + (noise[lane] >> 12) & 0x7FFFFF
                value = float(np.uint32(word).view(np.float32))
                scale = -1 if arch == "gfx942" else 0  # the same bits mean half as much
                want = 0x55667788 & ~(255 << 8 * byte) | encode(name, value, scale, saturate=False) << 8 * byte
                assert st.v[1, lane] == want, (name, byte, lane, value)


def test_stochastic_bf16() -> None:
    """16 random bits are added to the half that is cut off."""
    rng = random.Random(2)
    words, noise = [x & 0x7EFFFFFF for x in bits(rng, 64)], bits(rng, 64)
    st = run("gfx950", "v_cvt_sr_bf16_f32 v1, v2, v3\nv_cvt_sr_bf16_f32 v4, v2, v3 op_sel:[0,0,1]", 64,
             {1: 0xABCD1234, 4: 0xABCD1234, 2: words, 3: noise})  # fmt: skip
    for lane in range(64):
        want = words[lane] + (noise[lane] >> 16) >> 16
        assert st.v[1, lane] == (0xABCD0000 | want)
        assert st.v[4, lane] == (want << 16 | 0x1234)
