"""Modifiers of vector instructions: neg, abs, omod, clamp, op_sel, SDWA, DPP in all its forms, literals, VOPD.
Several of these have been wrong in software GPUs before."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vgpu.machine import MODE, State, assemble, execute

LANE = {32: np.arange(32), 64: np.arange(64)}
WIDTH = {"gfx9": 64, "gfx11": 32}


def run(generation: str, text: str, *, v: dict | None = None, s: dict | None = None, exec_mask: int | None = None,
        mode: int = MODE, level: str = "v4", lanes: int = 0) -> State:  # fmt: skip
    """Run a line with the given registers; floats in v become f32 bits."""
    lanes = lanes or WIDTH[generation]
    state = State(lanes)
    state.v[:512] = 0xDEAD0000 + np.arange(512, dtype=np.uint32)[:, None]
    for row, values in (v or {}).items():
        array = np.broadcast_to(np.asarray(values), lanes)
        if array.dtype.kind == "f":
            array = array.astype(np.float32).view(np.uint32)
        state.v[row] = array.astype(np.int64) & 0xFFFFFFFF
    for index, value in (s or {}).items():
        state.s[index] = value
    if exec_mask is not None:
        state.exec = exec_mask
    execute(generation, b"".join(assemble(generation, text.splitlines())), state, mode=mode, level=level)
    return state


def f32(row: np.ndarray) -> np.ndarray:
    return row.view(np.float32)


def test_neg_abs_f32() -> None:
    """-|x| and |x| per source."""
    st = run("gfx9", "v_fma_f32 v1, -v2, |v3|, -|v4|", v={2: 2.0, 3: -3.0, 4: -1.0})
    assert (f32(st.v[1]) == -7.0).all()


def test_neg_of_scalar_and_constant() -> None:
    st = run("gfx9", "v_add_f32 v1, -s4, |v2|\nv_mul_f32 v3, -1.0, -v2", v={2: -5.0}, s={4: 0x40000000})
    assert (f32(st.v[1]) == 3.0).all()
    assert (f32(st.v[3]) == -5.0).all()


@pytest.mark.parametrize(("text", "want"), [("mul:2", 6.0), ("mul:4", 12.0), ("div:2", 1.5)])
def test_omod(text: str, want: float) -> None:
    st = run("gfx11", f"v_add_f32 v1, v2, v3 {text}", v={2: 1.0, 3: 2.0})
    assert (f32(st.v[1]) == want).all()


def test_clamp_f32() -> None:
    """[0, 1]; a NaN becomes 0 with DX10_CLAMP and stays without."""
    values = np.array([-1.0, -0.0, 0.25, 1.0, 7.0, np.nan, np.inf, -np.inf] * 8, np.float32)
    st = run("gfx9", "v_add_f32 v1, v2, v3 clamp", v={2: values, 3: 0.0})
    assert f32(st.v[1])[:8].tolist() == [0, 0, 0.25, 1, 1, 0, 1, 0]
    st = run("gfx9", "v_add_f32 v1, v2, v3 clamp", v={2: values, 3: 0.0}, mode=MODE & ~0x100)
    assert np.isnan(f32(st.v[1])[5])


@pytest.mark.parametrize(
    ("generation", "text", "a", "b", "want"),
    [
        ("gfx9", "v_add_u32 v1, v2, v3 clamp", 0xFFFFFFF0, 0x20, 0xFFFFFFFF),
        ("gfx9", "v_sub_u32 v1, v2, v3 clamp", 3, 4, 0),
        ("gfx9", "v_subrev_u32 v1, v2, v3 clamp", 4, 3, 0),
        ("gfx9", "v_add_i32 v1, v2, v3 clamp", 0x7FFFFFFF, 1, 0x7FFFFFFF),
        ("gfx9", "v_sub_i32 v1, v2, v3 clamp", 0x80000000, 1, 0x80000000),
        ("gfx9", "v_add_i16 v1, v2, v3 clamp", 0x7FFF, 1, 0xDEAD7FFF),
        ("gfx9", "v_sub_i16 v1, v2, v3 clamp", 0x8000, 1, 0xDEAD8000),
        ("gfx9", "v_add_u16_e64 v1, v2, v3 clamp", 0xFFFF, 1, 0xFFFF),
        ("gfx9", "v_sub_u16_e64 v1, v2, v3 clamp", 1, 2, 0),
        ("gfx9", "v_pk_add_u16 v1, v2, v3 clamp", 0xFFFF0001, 0x00020002, 0xFFFF0003),
        ("gfx9", "v_pk_sub_u16 v1, v2, v3 clamp", 0x00010005, 0x00020002, 0x00000003),
        ("gfx9", "v_pk_add_i16 v1, v2, v3 clamp", 0x7FFF8000, 0x0001FFFF, 0x7FFF8000),
        ("gfx9", "v_pk_sub_i16 v1, v2, v3 clamp", 0x80000001, 0x00010002, 0x8000FFFF),
        ("gfx11", "v_add_nc_u32_e64 v1, v2, v3 clamp", 0xFFFFFFF0, 0x20, 0xFFFFFFFF),
        ("gfx11", "v_add_nc_i32 v1, v2, v3 clamp", 0x80000000, 0xFFFFFFFF, 0x80000000),
        ("gfx11", "v_add_nc_u16 v1.l, v2.l, v3.l clamp", 0xFFFF, 1, 0xDEADFFFF),
        ("gfx9", "v_add_co_u32_e64 v1, vcc, v2, v3 clamp", 0xFFFFFFFF, 2, 0xFFFFFFFF),
    ],
)
def test_clamp_integers(generation: str, text: str, a: int, b: int, want: int) -> None:
    """Saturation of signed, unsigned, 16-bit and packed results."""
    st = run(generation, text, v={1: 0xDEAD0000, 2: a, 3: b})
    assert (st.v[1] == want).all(), hex(int(st.v[1][0]))


@pytest.mark.parametrize(
    ("text", "a", "b", "c", "want"),
    [
        ("v_mad_i32_i24 v1, v2, v3, v4 clamp", 0x7FFFFF, 0x7FFFFF, 0, 0x7FFFFFFF),
        ("v_mad_u32_u24 v1, v2, v3, v4 clamp", 0xFFFFFF, 0xFFFFFF, 0, 0xFFFFFFFF),
        ("v_mad_u32_u16 v1, v2, v3, v4 clamp", 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        ("v_mad_i32_i16 v1, v2, v3, v4 clamp", 0x8000, 0x7FFF, 0x80000000, 0x80000000),
        ("v_dot4_i32_i8 v1, v2, v3, v4 clamp", 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF, 0x7FFFFFFF),
        ("v_dot4_u32_u8 v1, v2, v3, v4 clamp", 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        ("v_pk_mad_i16 v1, v2, v3, v4 clamp", 0x7FFF8000, 0x7FFF7FFF, 0, 0x7FFF8000),
        ("v_pk_mad_u16 v1, v2, v3, v4 clamp", 0xFFFF0002, 0xFFFF0003, 0x00010001, 0xFFFF0007),
    ],
)
def test_clamp_multiply_add(text: str, a: int, b: int, c: int, want: int) -> None:
    st = run("gfx9", text, v={2: a, 3: b, 4: c})
    assert (st.v[1] == want).all(), hex(int(st.v[1][0]))


# ---- 16-bit halves ----


def test_true16_halves() -> None:
    """GFX11 names halves of registers, in short and long forms; the other half is kept."""
    v = {1: 0xAAAABBBB, 2: 0x40003C00, 3: 0x3C004400}  # (2, 1), (1, 4)
    st = run("gfx11", "v_add_f16 v1.l, v2.h, v3.l", v=v)
    assert (st.v[1] == 0xAAAA4600).all()
    st = run("gfx11", "v_add_f16 v1.h, v2.l, v3.h", v=v)
    assert (st.v[1] == 0x4000BBBB).all()
    st = run("gfx11", "v_add_f16_e64 v1.h, v2.h, -v3.l", v=v)
    assert (st.v[1] == 0xC000BBBB).all()
    st = run("gfx11", "v_mov_b16 v1.h, v2.l", v=v)
    assert (st.v[1] == 0x3C00BBBB).all()
    st = run("gfx11", "v_fmac_f16 v1.h, v2.l, v3.l", v={**v, 1: 0x3C001234})
    assert (st.v[1] == 0x45001234).all()


def test_true16_compare_and_convert() -> None:
    v = {2: 0x40003C00}
    st = run("gfx11", "v_cmp_gt_f16 vcc_lo, v2.h, v2.l", v=v)
    assert st.mask(106) == 0xFFFFFFFF
    st = run("gfx11", "v_cvt_f32_f16 v1, v2.h", v=v)
    assert (f32(st.v[1]) == 2.0).all()
    st = run("gfx11", "v_cvt_f16_f32 v1.h, v3", v={1: 0x1234, 3: 1.5})
    assert (st.v[1] == 0x3E001234).all()


def test_op_sel_gfx9() -> None:
    """VOP3 16-bit instructions of GFX9 take and write high halves."""
    st = run(
        "gfx9", "v_fma_f16 v1, v2, v3, v4 op_sel:[1,0,1,1]", v={1: 0x1111, 2: 0x40000000, 3: 0x3C00, 4: 0x44000000}
    )
    assert (st.v[1] == 0x46001111).all()


def test_packed_op_sel_and_neg() -> None:
    """op_sel picks the half for the low result, op_sel_hi for the high one; neg_lo and neg_hi their signs."""
    v = {2: 0x40003C00, 3: 0x44004200}  # (lo 1, hi 2), (lo 3, hi 4)
    st = run("gfx9", "v_pk_add_f16 v1, v2, v3 op_sel:[1,0] op_sel_hi:[0,1]", v=v)
    assert (st.v[1] == 0x45004500).all()  # 2+3, 1+4
    st = run("gfx9", "v_pk_add_f16 v1, v2, v3 neg_lo:[1,0] neg_hi:[0,1]", v=v)
    assert (st.v[1] == 0xC0004000).all()  # -1+3, 2-4
    st = run("gfx11", "v_pk_mul_f16 v1, v2, 2.0 op_sel_hi:[1,0]", v=v)
    assert (st.v[1] == 0x44004000).all()
    st = run("gfx9", "v_pk_add_u16 v1, v2, 5 op_sel_hi:[1,0]", v={2: 0x00010002})
    assert (st.v[1] == 0x00060007).all()
    st = run("gfx9", "v_pk_add_u16 v1, v2, 5", v={2: 0x00010002})
    assert (st.v[1] == 0x00010007).all()
    st = run("gfx9", "v_pk_add_u16 v1, v2, -1", v={2: 0x00050005})
    assert (st.v[1] == 0x00040004).all()


def test_packed_f32_op_sel() -> None:
    st = run("gfx9", "v_pk_mul_f32 v[10:11], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]",
             v={2: 2.0, 3: 3.0, 4: 5.0, 5: 7.0})  # fmt: skip
    assert (f32(st.v[10]) == -15.0).all()
    assert (f32(st.v[11]) == 14.0).all()
    st = run("gfx9", "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]", v={2: 2, 3: 3, 4: 4, 5: 5})
    assert (st.v[10] == 3).all()
    assert (st.v[11] == 4).all()


def test_fma_mix() -> None:
    """Sources are f32 or either half as f16, result f32 or a half."""
    v = {1: 0xAAAABBBB, 2: 0x40003C00, 3: 1.5, 4: 0.25}
    st = run("gfx9", "v_mad_mix_f32 v1, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[1,0,0]" if False else
             "v_fma_mix_f32 v1, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[1,0,0]", v=v)  # fmt: skip
    assert (f32(st.v[1]) == 3.25).all()
    st = run("gfx9", "v_fma_mixlo_f16 v1, -v2, |v3|, v4 op_sel_hi:[1,0,0]", v={**v, 3: -1.5})
    assert (st.v[1] == 0xAAAABD00).all()
    st = run("gfx11", "v_fma_mixhi_f16 v1, v2, v3, v4 op_sel_hi:[1,0,0] clamp", v=v)
    assert (st.v[1] == 0x3C00BBBB).all()


def test_dot_iu8() -> None:
    """neg bits choose the signedness of each source."""
    v = {2: 0xFF010203, 3: 0x02FF0101, 4: 10}
    st = run("gfx11", "v_dot4_i32_iu8 v1, v2, v3, v4 neg_lo:[1,1,0]", v=v)
    assert (st.v[1].view(np.int32) == 10 + (-1 * 2) + (1 * -1) + 2 + 3).all()
    st = run("gfx11", "v_dot4_i32_iu8 v1, v2, v3, v4 neg_lo:[1,0,0]", v=v)
    assert (st.v[1].view(np.int32) == 10 + (-1 * 2) + (1 * 255) + 2 + 3).all()


# ---- SDWA ----


def test_sdwa_sources_and_destination() -> None:
    v = {1: 0x11223344, 2: 0x80FF7F01, 3: 0x00010002}
    st = run(
        "gfx9", "v_add_u32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1", v=v
    )
    assert (st.v[1] == 0x100).all()
    st = run(
        "gfx9",
        "v_add_u32_sdwa v1, sext(v2), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_0",
        v=v,
    )
    assert (st.v[1] == (0xFFFFFF80 + 2)).all()
    st = run("gfx9", "v_mov_b32_sdwa v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", v=v)
    assert (st.v[1] == 0x11220144).all()
    st = run("gfx9", "v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0", v=v)
    assert (st.v[1] == 0x7F010000).all()
    st = run("gfx9", "v_mov_b32_sdwa v1, v2 dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_3", v=v)
    assert (st.v[1] == 0xFFFFFF80).all()


def test_sdwa_float() -> None:
    """f16 halves by SDWA, with neg and abs; results into the high half."""
    v = {1: 0xAAAABBBB, 2: 0xC0003C00, 3: 0x44004200}
    st = run(
        "gfx9",
        "v_add_f16_sdwa v1, |v2|, -v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
        v=v,
    )
    assert (st.v[1] == 0xBC00BBBB).all()
    st = run("gfx9", "v_cvt_f32_f16_sdwa v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", v=v)
    assert (f32(st.v[1]) == -2.0).all()
    st = run(
        "gfx9",
        "v_cvt_i32_f32_sdwa v1, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD",
        v={3: np.array([np.nan, 1e30, -1e30, -3.7] * 16)},
    )
    assert st.v[1].view(np.int32)[:4].tolist() == [0, 2**31 - 1, -(2**31), -3]
    st = run(
        "gfx9",
        "v_add_f16_sdwa v1, v2, v3 clamp dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0",
        v=v,
    )
    assert (st.v[1] == 0x3C00).all()


def test_sdwa_compare() -> None:
    v = {2: np.where(LANE[64] % 2, 0x01FF0000, 0x00FE0000), 3: 0xFF}
    st = run("gfx9", "v_cmp_eq_u32_sdwa vcc, v2, v3 src0_sel:BYTE_2 src1_sel:BYTE_0", v=v)
    assert st.mask(106) == 0xAAAAAAAAAAAAAAAA
    st = run("gfx9", "v_cmp_eq_u32_sdwa s[20:21], v2, v3 src0_sel:BYTE_2 src1_sel:BYTE_0", v=v)
    assert st.mask(20) == 0xAAAAAAAAAAAAAAAA


# ---- DPP ----

NONE = -1


def dpp_map(control: str, lane: int) -> int:
    """Source lane, from the manual's descriptions."""
    name, _, argument = control.partition(":")
    row, n = lane // 16 * 16, lane % 16
    match name:
        case "quad_perm":
            return lane // 4 * 4 + [int(x) for x in argument.strip("[]").split(",")][lane % 4]
        case "row_shl":
            return row + n + int(argument) if n + int(argument) < 16 else NONE
        case "row_shr":
            return row + n - int(argument) if n >= int(argument) else NONE
        case "row_ror":
            return row + (n - int(argument)) % 16
        case "row_mirror":
            return row + 15 - n
        case "row_half_mirror":
            return lane // 8 * 8 + 7 - lane % 8
        case "row_share" | "row_newbcast":
            return row + int(argument)
        case "row_xmask":
            return row + (n ^ int(argument))
        case "wave_shl":
            return lane + 1 if lane < 63 else NONE
        case "wave_shr":
            return lane - 1 if lane > 0 else NONE
        case "wave_rol":
            return (lane + 1) % 64
        case "wave_ror":
            return (lane - 1) % 64
        case "row_bcast":
            return (row - 1 if argument == "15" else 31) if lane >= (16 if argument == "15" else 32) else NONE
    raise ValueError(control)


COMMON = ["quad_perm:[3,0,2,1]", "row_shl:3", "row_shr:15", "row_ror:5", "row_mirror", "row_half_mirror"]
CONTROLS = [
    *[("gfx9", c) for c in [*COMMON, "row_newbcast:7", "wave_shl:1", "wave_shr:1", "wave_rol:1", "wave_ror:1",
                            "row_bcast:15", "row_bcast:31"]],
    *[("gfx11", c) for c in [*COMMON, "row_share:9", "row_xmask:6"]],
]  # fmt: skip
EXECS = [None, 0xF0F0_5A5A_FFFF_1234, 0x0000_0000_FFFF_0000]


@pytest.mark.parametrize(
    ("rows", "banks", "bound"), [(15, 15, ""), (15, 15, "bound_ctrl:1"), (5, 12, ""), (3, 5, "bound_ctrl:1")]
)
@pytest.mark.parametrize(("generation", "control"), CONTROLS)
def test_dpp16(generation: str, control: str, rows: int, banks: int, bound: str) -> None:
    """Lanes without a source, inactive sources, masked rows and banks; destination and source are one register."""
    lanes = WIDTH[generation]
    for fi in ("", " fi:1") if generation == "gfx11" else ("",):
        for exec_mask in EXECS:
            active = (1 << lanes) - 1 if exec_mask is None else exec_mask & (1 << lanes) - 1
            data = LANE[lanes] * 3 + 100
            add = "v_add_u32_dpp" if generation == "gfx9" else "v_add_nc_u32_dpp"
            text = f"{add} v1, v1, v2 {control} row_mask:{rows:#x} bank_mask:{banks:#x} {bound}{fi}"
            st = run(generation, text, v={1: data, 2: 1000}, exec_mask=active)
            for lane in range(lanes):
                source = dpp_map(control, lane)
                if source != NONE and not active >> source & 1 and not fi:
                    source = NONE
                written = active >> lane & 1 and rows >> lane // 16 & 1 and banks >> lane // 4 % 4 & 1
                if source == NONE and not bound:
                    written = 0
                value = 0 if source == NONE else int(data[source])
                assert st.v[1][lane] == (value + 1000 if written else data[lane]), (lane, fi, hex(active))


def test_dpp8() -> None:
    """Any lane of the group of eight; inactive lanes read as zero, or are fetched with fi."""
    data = LANE[32] + 50
    active = 0xFFFFFF7F
    st = run("gfx11", "v_mov_b32_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0]", v={1: 1, 2: data}, exec_mask=active)
    assert st.v[1][:9].tolist() == [0, 56, 55, 54, 53, 52, 51, 1, 65]
    st = run("gfx11", "v_mov_b32_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0] fi:1", v={1: 1, 2: data}, exec_mask=active)
    assert st.v[1][0] == 57


def test_vop3_dpp() -> None:
    """VOP3 with DPP on GFX11: modifiers and a carry chain."""
    st = run("gfx11", "v_fma_f32_e64_dpp v1, -v2, v3, |v4| row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
             v={2: LANE[32].astype(np.float32), 3: 2.0, 4: -0.5})  # fmt: skip
    want = [0.5 if k % 16 == 0 else -2.0 * (k - 1) + 0.5 for k in range(32)]
    assert f32(st.v[1]).tolist() == want
    st = run("gfx11", "v_add_co_ci_u32_e64_dpp v1, s4, v2, v3, s6 quad_perm:[1,1,1,1] row_mask:0xf bank_mask:0xf",
             v={2: np.where(LANE[32] % 4 == 1, 0xFFFFFFFF, 0), 3: 0}, s={6: 0xFFFF0000})  # fmt: skip
    assert st.s[4] == 0xFFFF0000
    assert st.v[1].tolist() == [0xFFFFFFFF] * 16 + [0] * 16


def test_dpp_compare() -> None:
    st = run(
        "gfx11", "v_cmp_eq_u32_e64_dpp s4, v2, v3 row_mirror row_mask:0xf bank_mask:0xf", v={2: LANE[32] % 16, 3: 0}
    )
    assert st.s[4] == 0x80008000
    st = run("gfx9", "v_cndmask_b32_dpp v1, v2, v3, vcc row_shl:1 row_mask:0xf bank_mask:0xf",
             v={1: 9, 2: LANE[64], 3: 77},
             s={106: 0xFFFF0000, 107: 0})  # fmt: skip
    assert st.v[1][:17].tolist() == [*range(1, 16), 9, 77]


# ---- constants, carry, VOPD ----


def test_literals_of_wide_operands() -> None:
    """A 32-bit literal is the high half of an f64, zero-extended for unsigned and sign-extended for signed 64 bits."""
    st = run("gfx11", "v_add_f64 v[10:11], v[2:3], 0x40080000", v={2: 0, 3: 0x3FF00000})
    assert (st.v[11] == 0x40100000).all()
    st = run("gfx11", "v_lshlrev_b64 v[10:11], 4, 0xf0000000")
    assert (st.v[10] == 0).all()
    assert (st.v[11] == 0xF).all()
    st = run("gfx9", "v_add_f64 v[10:11], v[2:3], 1.0\nv_ashrrev_i64 v[12:13], 4, -16", v={2: 0, 3: 0x3FF00000})
    assert (st.v[11] == 0x40000000).all()
    assert (st.v[12] == 0xFFFFFFFF).all()
    assert (st.v[13] == 0xFFFFFFFF).all()


@pytest.mark.parametrize(
    ("text", "want"),
    [("v_mov_b32 v1, 1.0", 0x3F800000), ("v_mov_b32 v1, -16", 0xFFFFFFF0), ("v_add_f16 v1, v2, 1.0", 0x3C00),
     ("v_mov_b32 v1, 0.15915494", 0x3E22F983), ("v_add_f16 v1, 0x4500, v2", 0x4500),
     ("v_and_b32 v1, 0.5, v3", 0x3F000000),
     ("v_cvt_f32_f16 v1, 1.0", 0x3F800000), ("v_pk_add_f16 v1, v2, 1.0", 0x3C00),
     ("v_pk_add_u16 v1, v2, 0.5", 0x3F000000), ("v_pk_max_i16 v1, v2, 1.0 op_sel:[0,1]", 0x3F803F80)],
)  # fmt: skip
def test_inline_constants(text: str, want: int) -> None:
    """The value of a float constant is that of the operand's type; of pairs of 16-bit integers, an f32."""
    st = run("gfx9", text, v={2: 0, 3: 0xFFFFFFFF})
    assert (st.v[1] == want).all(), hex(int(st.v[1][0]))


def test_carry_of_inactive_lanes_is_zero() -> None:
    """Carry-out bits of inactive lanes are cleared, and their registers kept."""
    st = run(
        "gfx9",
        "v_add_co_u32 v1, vcc, v2, v3",
        v={1: 7, 2: 0xFFFFFFFF, 3: 1},
        s={106: 0xFFFFFFFF, 107: 0xFFFFFFFF},
        exec_mask=0xF0,
    )
    assert st.mask(106) == 0xF0
    assert st.v[1].tolist() == [7] * 4 + [0] * 4 + [7] * 56


def test_wave32_masks_are_one_register() -> None:
    st = run(
        "gfx11",
        "v_cmp_eq_u32 s4, v2, v2\nv_add_co_u32 v1, vcc_lo, v2, v2",
        v={2: 0x80000000},
        s={5: 0x1234, 107: 0x5678},
    )
    assert st.s[4] == 0xFFFFFFFF
    assert st.s[5] == 0x1234
    assert st.s[106] == 0xFFFFFFFF
    assert st.s[107] == 0x5678


def test_vopd() -> None:
    """Both halves read their sources before either writes."""
    st = run("gfx11", "v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2", v={2: 20, 3: 30})
    assert (st.v[2] == 30).all()
    assert (st.v[3] == 20).all()
    st = run("gfx11", "v_dual_add_f32 v4, v2, v3 :: v_dual_mul_f32 v5, v4, v2", v={2: 2.0, 3: 3.0, 4: 10.0})
    assert (f32(st.v[4]) == 5.0).all()
    assert (f32(st.v[5]) == 20.0).all()
    st = run(
        "gfx11",
        "v_dual_fmaak_f32 v4, v2, v3, 0x41200000 :: v_dual_fmamk_f32 v5, v3, 0x41200000, v2",
        v={2: 2.0, 3: 3.0},
    )
    assert (f32(st.v[4]) == 16.0).all()
    assert (f32(st.v[5]) == 32.0).all()
    st = run("gfx11", "v_dual_cndmask_b32 v4, v2, v3 :: v_dual_lshlrev_b32 v5, 3, v2", v={2: 2, 3: 3}, s={106: 0xFFFF})
    assert st.v[4].tolist() == [3] * 16 + [2] * 16
    assert (st.v[5] == 16).all()
    st = run(
        "gfx11",
        "v_dual_dot2acc_f32_f16 v4, v2, v3 :: v_dual_max_f32 v5, 1.0, v4",
        v={2: 0x3C003C00, 3: 0x40004200, 4: 0.5},
    )
    assert (f32(st.v[4]) == 5.5).all()
    assert (f32(st.v[5]) == 1.0).all()
