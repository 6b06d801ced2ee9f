"""What gfx1250's machine code has and its elders have not: VOPD with three sources, 64-bit literals, offsets that count
elements and are signed, private memory by addresses that name the lane, 64-bit integers.

Protects: decoding of these forms (LLVM's assembler makes them), and their meaning against plain Python.
"""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from tests.lower.device import Program
from tests.vgpu.machine import State, assemble, execute

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGES = [0, 1, 2, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]


def run(text: str, seed: int = 1) -> tuple[State, State]:
    """Registers before and after the lines; v0 to v63 and s0 to s63 are random, edge values among them."""
    rng, state = random.Random(seed), State(32)
    for row in range(64):
        state.v[row] = [rng.choice([rng.getrandbits(32), rng.choice(EDGES)]) for _ in range(32)]
        state.s[row] = rng.getrandbits(32)
    before = State(32)
    before.v, before.s = state.v.copy(), state.s.copy()
    execute("gfx1250", b"".join(assemble("gfx1250", text.splitlines())), state, level="v4")
    return before, state


def pairs(state: State, row: int) -> list[int]:
    return [int(x) for x in state.get64(row)]


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


WIDE = {
    "v_add_nc_u64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: a + b,
    "v_sub_nc_u64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: a - b,
    "v_mul_u64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: a * b,
    "v_min_u64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: min(a, b),
    "v_max_u64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: max(a, b),
    "v_min_i64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: min(signed(a, 64), signed(b, 64)),
    "v_max_i64 v[20:21], v[2:3], v[4:5]": lambda a, b, c: max(signed(a, 64), signed(b, 64)),
    "v_mad_nc_u64_u32 v[20:21], v2, v4, v[6:7]": lambda a, b, c: (a & M32) * (b & M32) + c,
    "v_mad_nc_i64_i32 v[20:21], v2, v4, v[6:7]": lambda a, b, c: signed(a & M32, 32) * signed(b & M32, 32) + c,
    "v_add_nc_u64 v[20:21], 0xfffffff933333329, v[4:5]": lambda a, b, c: 0xFFFFFFF933333329 + b,
    "v_mul_u64 v[20:21], 0x66666667, v[4:5]": lambda a, b, c: 0x66666667 * b,
    "v_sub_nc_u64 v[20:21], -2, v[4:5]": lambda a, b, c: -2 - b,
}


@pytest.mark.parametrize("text", WIDE)
def test_integers_of_64_bits(text: str) -> None:
    before, after = run(text)
    a, b, c = (pairs(before, row) for row in (2, 4, 6))
    assert pairs(after, 20) == [WIDE[text](x, y, z) & M64 for x, y, z in zip(a, b, c, strict=True)]


def test_integers_of_32_bits() -> None:
    before, after = run("v_mad_u32 v20, v2, v4, v6\nv_add_max_i32 v21, v2, v4, v6\nv_add_min_u32 v22, v2, v4, v6")
    for lane in range(32):
        a, b, c = (int(before.v[row, lane]) for row in (2, 4, 6))
        assert after.v[20, lane] == (a * b + c) & M32
        assert signed(int(after.v[21, lane]), 32) == max(signed(a + b & M32, 32), signed(c, 32))
        assert after.v[22, lane] == min(a + b & M32, c)


def test_literals_of_64_bits() -> None:
    text = "s_mov_b64 s[20:21], 0x123456789abcdef0\ns_add_nc_u64 s[22:23], s[2:3], 0xffffffffffffff9c\nv_mov_b32 v20, 7"
    before, after = run(text)
    assert (int(after.s[20]), int(after.s[21])) == (0x9ABCDEF0, 0x12345678)
    want = (int(before.s[3]) << 32 | int(before.s[2])) - 100 & M64
    assert int(after.s[23]) << 32 | int(after.s[22]) == want
    assert all(after.v[20] == 7), "the next instruction is found behind two dwords of literal"


def test_a_double_in_the_instruction() -> None:
    """A literal of two dwords that is part of the format."""
    state, rng = State(32), np.random.default_rng(4)
    x = rng.normal(size=(2, 32))
    for k, row in enumerate((2, 4)):
        state.set64(row, x[k])
    lines = ["v_fmamk_f64 v[20:21], v[2:3], 0x3ff8000000000001, v[4:5]",
             "v_fmaak_f64 v[22:23], v[2:3], v[4:5], 0x400921fb54442d18"]  # fmt: skip
    execute("gfx1250", b"".join(assemble("gfx1250", lines)), state, level="v4")
    k, pi = np.array([0x3FF8000000000001, 0x400921FB54442D18], np.uint64).view(np.float64)
    assert np.allclose(state.get64(20).view(np.float64), x[0] * k + x[1], rtol=1e-14, atol=1e-15)
    assert np.allclose(state.get64(22).view(np.float64), x[0] * x[1] + pi, rtol=1e-14, atol=1e-15)


def test_two_operations_with_three_sources() -> None:
    """X and Y read before either writes; signs; constants and scalars."""
    lines = [
        "v_dual_lshrrev_b32 v20, 4, v3 :: v_dual_ashrrev_i32 v21, s2, v5",
        "v_dual_lshlrev_b32 v22, 2, v4 :: v_dual_bitop2_b32 v23, s3, v1 bitop3:0x54",
        "v_dual_sub_nc_u32 v24, v3, v6 :: v_dual_bitop2_b32 v25, 15, v1 bitop3:0x14",
        "v_dual_add_nc_u32 v26, 8, v2 :: v_dual_max_i32 v27, v7, v8",
        "v_dual_cndmask_b32 v28, v4, v6, s4 :: v_dual_cndmask_b32 v29, v5, v1, vcc_lo",
    ]
    before, after = run("\n".join(lines))
    mask, vcc = int(before.s[4]), int(before.s[106])
    for lane in range(32):
        v, s = [int(before.v[row, lane]) for row in range(16)], [int(x) for x in before.s[:8]]
        want = [
            v[3] >> 4, signed(v[5], 32) >> (s[2] & 31) & M32, v[4] << 2 & M32, s[3] | v[1],
            v[3] - v[6] & M32, 15 ^ v[1],
            v[2] + 8 & M32, max(signed(v[7], 32), signed(v[8], 32)) & M32,
            v[6] if mask >> lane & 1 else v[4], v[1] if vcc >> lane & 1 else v[5],
        ]  # fmt: skip
        assert [int(after.v[20 + k, lane]) for k in range(10)] == want


def test_two_operations_change_places() -> None:
    """Each reads what the other writes: registers of one and of two dwords."""
    before, after = run("v_dual_sub_nc_u32 v2, v3, v4 :: v_dual_sub_nc_u32 v3, v2, v5")
    for lane in range(32):
        v = [int(before.v[row, lane]) for row in range(8)]
        assert (int(after.v[2, lane]), int(after.v[3, lane])) == (v[3] - v[4] & M32, v[2] - v[5] & M32)


def test_two_operations_on_floats() -> None:
    state = State(32)
    rng = np.random.default_rng(3)
    for row in range(2, 20):
        state.v[row] = rng.normal(size=32).astype(np.float32).view(np.uint32)
    doubles = rng.normal(size=(3, 32))
    for k, row in enumerate((30, 36, 38)):
        state.set64(row, doubles[k])
    before = state.v.copy()
    f = [before[row].view(np.float32).astype(np.float64) for row in range(20)]
    lines = [
        "v_dual_fma_f32 v40, -v4, v6, v8 :: v_dual_mul_f32 v43, v5, -v7",
        "v_dual_add_f32 v44, -v4, v6 :: v_dual_sub_f32 v47, v5, v7",
        "v_dual_fma_f64 v[50:51], -v[30:31], v[36:37], v[38:39] :: v_dual_mov_b32 v53, v9",
        "v_dual_add_f64 v[54:55], v[30:31], v[36:37] :: v_dual_mov_b32 v57, 1.0",
    ]
    execute("gfx1250", b"".join(assemble("gfx1250", lines)), state, level="v4")

    def got(row: int) -> np.ndarray:
        return state.v[row].view(np.float32)

    assert np.array_equal(got(40), (-f[4] * f[6] + f[8]).astype(np.float32))
    assert np.array_equal(got(43), (f[5] * -f[7]).astype(np.float32))
    assert np.array_equal(got(44), (f[6] - f[4]).astype(np.float32))
    assert np.array_equal(got(47), (f[5] - f[7]).astype(np.float32))
    wide = state.get64(50).view(np.float64)
    assert np.allclose(wide, -doubles[0] * doubles[1] + doubles[2], rtol=1e-15, atol=0)
    assert np.array_equal(state.get64(54).view(np.float64), doubles[0] + doubles[1])
    assert np.array_equal(state.v[53], before[9]) and all(got(57) == 1)


def bfloats(row: np.ndarray, high: bool = False) -> np.ndarray:
    return (row & np.uint32(0xFFFF0000) if high else row << np.uint32(16)).view(np.float32).astype(np.float64)


SMALL = {
    "rcp": lambda x: 1 / x, "sqrt": np.sqrt, "rsq": lambda x: 1 / np.sqrt(x), "log": np.log2, "exp": np.exp2,
    "sin": lambda x: np.sin(2 * np.pi * x), "cos": lambda x: np.cos(2 * np.pi * x), "tanh": np.tanh,
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_functions_of_bf16(name: str) -> None:
    state = State(32)
    values = np.random.default_rng(5).uniform(0.05, 3, 32).astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    state.v[2] = values >> np.uint32(16)
    execute("gfx1250", assemble("gfx1250", [f"v_{name}_bf16 v20, v2"])[0], state, level="v4")
    want = SMALL[name](values.view(np.float32).astype(np.float64))
    assert np.allclose(bfloats(state.v[20]), want, rtol=2**-7, atol=2**-8)


def test_tanh() -> None:
    state = State(32)
    values = np.linspace(-4, 4, 32).astype(np.float32)
    state.v[2] = values.view(np.uint32)
    state.v[3] = values.astype(np.float16).view(np.uint16)
    lines = ["v_tanh_f32 v20, v2", "v_tanh_f16 v21, v3"]
    execute("gfx1250", b"".join(assemble("gfx1250", lines)), state, level="v4")
    assert np.allclose(state.v[20].view(np.float32), np.tanh(values.astype(np.float64)), rtol=1e-6)
    halves = state.v[21].astype(np.uint16).view(np.float16)
    assert np.allclose(halves, np.tanh(values.astype(np.float16).astype(np.float64)), rtol=2e-3)


def test_packed_bf16() -> None:
    """Sums and products of small integers are exact; the signs of both halves."""
    state, rng = State(32), np.random.default_rng(9)
    x = rng.integers(-8, 8, (3, 2, 32)).astype(np.float32)
    for k in range(3):
        bits = x[k].view(np.uint32)
        state.v[2 + k] = bits[0] >> np.uint32(16) | (bits[1] & np.uint32(0xFFFF0000))
    lines = ["v_pk_add_bf16 v20, v2, v3", "v_pk_mul_bf16 v21, v2, v3 neg_lo:[1,0] neg_hi:[1,0]",
             "v_pk_fma_bf16 v22, v2, v3, v4", "v_pk_min_num_bf16 v23, v2, v3",
             "v_pk_max_num_bf16 v24, v2, v3"]  # fmt: skip
    execute("gfx1250", b"".join(assemble("gfx1250", lines)), state, level="v4")
    a, b, c = x.astype(np.float64)
    for row, want in ((20, a + b), (21, -a * b), (22, a * b + c), (23, np.minimum(a, b)), (24, np.maximum(a, b))):
        for high in (False, True):
            assert np.array_equal(bfloats(state.v[row], high), want[int(high)]), row


def test_packed_integers() -> None:
    lines = ["v_pk_max3_i16 v20, v2, v3, v4", "v_pk_min3_u16 v21, v2, v3, v4", "v_pk_add_max_i16 v22, v2, v3, v4",
             "v_pk_add_min_u16 v23, v2, v3, v4"]  # fmt: skip
    before, after = run("\n".join(lines))
    for lane in range(32):
        for shift in (0, 16):
            a, b, c = (int(before.v[row, lane]) >> shift & 0xFFFF for row in (2, 3, 4))
            x, y, z = (signed(k, 16) for k in (a, b, c))
            want = [max(x, y, z), min(a, b, c), max(signed(a + b & 0xFFFF, 16), z), min(a + b & 0xFFFF, c)]
            got = [int(after.v[20 + k, lane]) >> shift & 0xFFFF for k in range(4)]
            assert got == [k & 0xFFFF for k in want]


BACKWARDS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
  .reg .b32 %t, %i, %v;
  .reg .b64 %a, %b, %o;
  ld.param.u64 %a, [p];
  ld.param.u64 %b, [q];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  mov.u32 %t, %tid.x;
  neg.s32 %i, %t;
  mul.wide.s32 %o, %i, 8;
  add.u64 %o, %a, %o;
  ld.global.u64 %o, [%o+504];
  mul.wide.s32 %a, %t, 8;
  add.u64 %b, %b, %a;
  st.global.u64 [%b], %o;
  ret;
}
"""


def test_offsets_are_signed_and_count_elements() -> None:
    """The last element first: offsets below zero from a scalar address."""
    values = [k * 0x100000001 + 5 for k in range(64)]
    _, out = Program(BACKWARDS, "gfx1250").run("k", 64, [struct.pack("64Q", *values), bytes(512)])
    assert list(struct.unpack("64Q", out)) == values[::-1]


PRIVATE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .local .align 8 .b8 own[128];
  .shared .align 8 .b8 block[256];
  .reg .b32 %t, %i, %v;
  .reg .b64 %a, %b, %l, %s;
  .reg .pred %p;
  ld.param.u64 %a, [p];
  cvta.to.global.u64 %a, %a;
  mov.u32 %t, %tid.x;
  mul.wide.u32 %b, %t, 4;
  add.u64 %a, %a, %b;
  mov.u64 %l, own;
  cvta.local.u64 %l, %l;
  mov.u64 %s, block;
  cvta.shared.u64 %s, %s;
  add.u64 %s, %s, %b;
  and.b32 %i, %t, 1;
  setp.eq.u32 %p, %i, 0;
  selp.b64 %l, %l, %s, %p;   // private in even lanes, shared in odd ones
  mad.lo.u32 %v, %t, 3, 7;
  st.u32 [%l], %v;
  atom.add.u32 %i, [%l], 100;
  ld.u32 %v, [%l];
  st.global.u32 [%a], %v;
  ret;
}
"""


def test_private_memory_by_generic_addresses() -> None:
    """In one wave some lanes' addresses are private memory's, others' shared memory's."""
    [out] = Program(PRIVATE, "gfx1250").run("k", 64, [bytes(256)])
    assert list(struct.unpack("64I", out)) == [3 * k + 107 for k in range(64)]


def test_what_is_not_executed_is_named() -> None:
    for line in ("s_set_vgpr_msb 0x41", "v_wmma_f32_16x16x32_f16 v[20:27], v[0:7], v[8:15], v[20:27]"):
        with pytest.raises(RuntimeError, match="unimplemented"):
            run(line)
