"""Every vector instruction row, assembled by LLVM, against the Python reference on edge values: on GFX9 with 64 lanes
and on GFX11 with 32, with all lanes and with some; rows that both lack on the first other chip that has them."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.op import Op, generation_of
from ptx2amd.vgpu.isa.table import vector_ops
from tests.reference import valu_newer  # noqa: F401  more rows of REFERENCE
from tests.reference.valu import APPROXIMATE, REFERENCE
from tests.reference.valu_floats import from_bits
from tests.reference.valu_table import isnan
from tests.vgpu.machine import State, assemble, execute

LANES = {"gfx9": 64, "gfx11": 32, "gfx950": 64, "gfx1200": 32, "gfx90a": 64, "gfx908": 64, "gfx900": 64, "gfx1030": 32}
PAIRS = {"u64", "b64", "i64", "f64", "f32x2", "u32x2"}
HALVES = {"b16", "u16", "i16", "f16", "bf16"}
DESTINATION, SOURCES, MASK_IN, MASK_OUT = 10, {"a": 2, "b": 4, "c": 6}, 20, 30
K32, K16 = 0x3F9D70A4, 0x3C01
#: Rows for chips that the generation's test chip is not.
OTHER_CHIPS = {"v_permlane16_swap_b32", "v_permlane32_swap_b32", "v_cvt_f32_bf16", "v_mad_f32", "v_mad_legacy_f32"}
OTHER_CHIPS_GFX9 = OTHER_CHIPS | {"v_dot2_f32_bf16"}
#: GFX9's 16-bit results that clear the register's high half, besides the VOP1 and VOP2 ones.
CLEARING = {"v_mad_legacy_f16", "v_mad_legacy_u16", "v_mad_legacy_i16", "v_fma_legacy_f16", "v_div_fixup_legacy_f16"}
KEEPING = {"v_mac_f16", "v_madmk_f16", "v_madak_f16"}

EDGES = {
    32: [0, 1, 2, 5, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF,
         0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x12345678, 0x80FF7F01,
         # f32: 1, -1, 0.5, 1.5, 2.5, -0.3, denormals, smallest normal, largest, inf, NaN, signalling NaN, 2^23+0.5 ...
         0x3F800000, 0xBF800000, 0x3F000000, 0x3FC00000, 0x40200000, 0xBE99999A, 0x00000001, 0x807FFFFF, 0x00800000,
         0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7FA00000, 0x4B000001, 0xCB000001,
         0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0xCF000000, 0xCF000001, 0x3F7FFFFF, 0x3EFFFFFF, 0x40490FDB,
         0xC2C80000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x33000000, 0x33800001, 0x38800000, 0x387FC000],
    16: [0, 1, 2, 15, 16, 0x7F, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0xFFFE, 0x3C00, 0xBC00, 0x3800, 0x3E00,
         0x0001, 0x03FF, 0x0400, 0x83FF, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE12, 0x7D00, 0x3555, 0x4248,
         0x6400, 0x6401, 0x77FF, 0x5BF8, 0x3BFF, 0x4100],
    64: [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
         0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF0, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FE0000000000000,
         0x4004000000000000, 0xBFD3333333333333, 0x000FFFFFFFFFFFFF, 0x8000000000000001, 0x0010000000000000,
         0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
         0x7FF4000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000,
         0xC1E0000000000000, 0xC1E0000000200000, 0x4330000000000001, 0x3FEFFFFFFFFFFFFF, 0x47EFFFFFE0000000,
         0x47EFFFFFF0000000, 0x36A0000000000000, 0x3690000000000000],
}  # fmt: skip


def register(row: int, typ: str, generation: str) -> str:
    if typ in PAIRS:
        return f"v[{row}:{row + 1}]"
    return f"v{row}.l" if generation == "gfx11" and typ in HALVES else f"v{row}"


def lane_mask(op: Op, destination: bool, lanes: int) -> str:
    if op.format in ("VOP2", "VOPC"):
        return "vcc" if lanes == 64 else "vcc_lo"
    base = MASK_OUT if destination else MASK_IN
    return f"s[{base}:{base + 1}]" if lanes == 64 else f"s{base}"


def assembler_text(op: Op, generation: str) -> str:
    """The instruction on the test's registers."""
    parts = []
    for o in op.parse_operands():
        if o.type == "mask":
            if "cmpx" in op.name and generation != "gfx9":
                continue
            parts.append(lane_mask(op, o.is_destination, LANES[generation]))
        elif o.name == "k":
            parts.append(hex(K32 if o.type == "f32" else K16))
        elif o.only == "a":
            parts.append(f"a{DESTINATION if o.is_destination else SOURCES[o.name]}")
        else:
            parts.append(register(DESTINATION if o.is_destination else SOURCES[o.name], o.type, generation))
    return f"{op.mnemonic(generation)} " + ", ".join(parts)


def reference(op: Op, generation: str) -> str:
    """The row's name in REFERENCE."""
    name = op.mnemonic(generation)
    return f"{name}@ocp" if "gfx950" in op.archs and f"{name}@ocp" in REFERENCE else name


@cache
def rows(generation: str) -> list[Op]:
    """Rows with a lane-by-lane reference that the generation's test chip has; further chips: that those before lack."""
    others = OTHER_CHIPS_GFX9 if generation == "gfx9" else set()
    before = list(LANES)[: list(LANES).index(generation)]
    tested = set() if generation in ("gfx9", "gfx11") else {id(op) for chip in before for op in rows(chip)}
    return [
        op for op in vector_ops()
        if op.opcode(generation) is not None and op.name not in others and reference(op, generation) in REFERENCE
        and id(op) not in tested
    ]  # fmt: skip


@cache
def machine_code(generation: str) -> dict[str, bytes]:
    ops = rows(generation)
    return dict(
        zip(
            [op.mnemonic(generation) for op in ops],
            assemble(generation, [assembler_text(o, generation) for o in ops]),
            strict=True,
        )
    )


def value(typ: str, low: int, high: int) -> object:
    """A register's (or a pair's) bits as the reference's type."""
    both = high << 32 | low
    if typ in ("f16", "f32", "f64"):
        return from_bits({"f16": low & 65535, "f32": low, "f64": both}[typ], typ)
    bits = int(typ[1:])
    raw = both if bits == 64 else low & (1 << bits) - 1
    return raw - (1 << bits) if typ[0] == "i" and raw >> (bits - 1) else raw


def fill(state: State, rng: random.Random) -> None:
    """Edge values and random ones into the source registers; every other round, equal or close operands."""
    for row in (2, 4, 6, 10):
        wide = rng.random() < 0.5
        for lane in range(state.lanes):
            if wide:
                v = rng.choice(EDGES[64]) if rng.random() < 0.8 else rng.getrandbits(64)
                state.v[row, lane], state.v[row + 1, lane] = v & 0xFFFFFFFF, v >> 32
            else:
                state.v[row, lane] = rng.choice(EDGES[32]) if rng.random() < 0.6 else rng.getrandbits(32)
                if rng.random() < 0.4:
                    state.v[row, lane] = rng.choice(EDGES[16]) << 16 | rng.choice(EDGES[16])
                state.v[row + 1, lane] = rng.choice(EDGES[32]) if rng.random() < 0.5 else rng.getrandbits(32)
    if rng.random() < 0.3:
        state.v[4:6] = state.v[2:4]


def expected(op: Op, generation: str, before: State, lane: int) -> tuple[object, object]:
    """The reference's result and flag."""
    d, sources, function = REFERENCE[reference(op, generation)]
    arguments, registers = [], iter("abc")
    for typ in sources.split():
        if typ == "lane":
            arguments.append(lane)
        elif typ == "mask":
            index = 106 if op.format in ("VOP2", "VOPC") else MASK_IN
            arguments.append(before.mask(index) >> lane & 1)
        elif typ == "k":
            arguments.append(from_bits(K16, "f16") if d == "f16" else from_bits(K32, "f32"))
        else:
            base = DESTINATION if typ.startswith("d:") else SOURCES[next(registers)]
            base += 256 if op.name.startswith("v_accvgpr_mov") else 0
            low, high = int(before.v[base, lane]), int(before.v[base + 1, lane])
            arguments.append(value(typ.removeprefix("d:"), low, high))
    with np.errstate(all="ignore"):
        result = function(*arguments)
    if isinstance(result, tuple) and d != "pkf32":
        return result
    return result, None


def close(got: object, want: object, ulp: float) -> bool:
    if isnan(want):
        return isnan(got)
    if ulp and np.isfinite(want) and np.isfinite(got):  # type: ignore[call-overload]
        return abs(float(got) - float(want)) <= ulp * float(np.spacing(abs(want)))  # type: ignore[arg-type, call-overload]
    return got == want and np.signbit(got) == np.signbit(want)  # type: ignore[call-overload]


def check_lane(op: Op, generation: str, before: State, after: State, lane: int, want: object) -> None:
    d = REFERENCE[reference(op, generation)][0]
    base = DESTINATION + (256 if op.name.startswith("v_accvgpr_mov") else 0)
    low, high = int(after.v[base, lane]), int(after.v[base + 1, lane])
    if d in ("f16", "f32", "f64"):
        got = value(d, low, high)
        with np.errstate(all="ignore"):
            typ = type(got)(want)  # type: ignore[arg-type, misc]
        assert close(got, typ, APPROXIMATE.get(reference(op, generation), 0)), (hex(low), hex(high), got, want)
    elif d == "bf16":
        assert close(from_bits((low & 65535) << 16, "f32"), from_bits(int(want) << 16, "f32"), 0)  # type: ignore[call-overload]
    elif d == "pkf16":
        for shift in (0, 16):
            assert close(from_bits(low >> shift & 65535, "f16"), from_bits(int(want) >> shift & 65535, "f16"), 0)  # type: ignore[call-overload]
    elif d == "pkf32":
        for bits, w in zip((low, high), want, strict=True):  # type: ignore[call-overload, arg-type]
            assert close(from_bits(bits, "f32"), np.float32(w), 0)
    else:
        bits = int(d[1:])
        got_bits = (high << 32 | low) if bits == 64 else low & (1 << bits) - 1
        assert got_bits == int(want) & (1 << bits) - 1, (hex(got_bits), hex(int(want) & (1 << bits) - 1))  # type: ignore[call-overload]
    if d in ("f16", "u16", "i16", "bf16"):
        kept = op.name in KEEPING or (op.format == "VOP3" and op.name not in CLEARING)
        kept |= generation_of(generation) != "gfx9"
        assert low >> 16 == (int(before.v[base, lane]) >> 16 if kept else 0)


def run_row(op: Op, generation: str, seed: int, level: str, exec_mask: int | None) -> None:
    lanes = LANES[generation]
    rng = random.Random(f"{op.name} {seed}")
    state = State(lanes)
    fill(state, rng)
    state.v[256:272] = state.v[:16]
    for index in (106, MASK_IN, MASK_OUT):
        state.set_mask(index, rng.getrandbits(lanes))
    active = (1 << lanes) - 1 if exec_mask is None else exec_mask & (1 << lanes) - 1
    state.exec = active
    before = State(lanes)
    before.v, before.s = state.v.copy(), state.s.copy()
    execute(generation, machine_code(generation)[op.mnemonic(generation)], state, level=level)

    d = REFERENCE[reference(op, generation)][0]
    flags = 0
    for lane in range(lanes):
        if not active >> lane & 1:
            assert (state.v[:512, lane] == before.v[:512, lane]).all(), "an inactive lane was written"
            continue
        want, flag = expected(op, generation, before, lane)
        if d == "mask":
            flags |= bool(want) << lane
            continue
        try:
            check_lane(op, generation, before, state, lane, want)
        except AssertionError as error:
            inputs = {n: [hex(x) for x in before.v[r : r + 2, lane]] for n, r in {**SOURCES, "d": DESTINATION}.items()}
            raise AssertionError(f"{op.name} lane {lane}: {error}, inputs {inputs}, expected {want!r}") from None
        flags |= bool(flag) << lane
    if d == "mask" or any(o.name == "e" for o in op.parse_operands()):
        if "cmpx" in op.name and generation != "gfx9":
            assert state.exec == flags
            return
        index = 106 if op.format in ("VOP2", "VOPC") else MASK_OUT
        assert state.mask(index) == flags, f"{op.name}: mask {state.mask(index):x}, expected {flags:x}"
        if "cmpx" in op.name:
            assert state.exec == flags


CASES = [pytest.param(g, op, id=f"{g}-{op.mnemonic(g)}") for g in LANES for op in rows(g)]


@pytest.mark.parametrize(("generation", "op"), CASES)
def test_row(generation: str, op: Op) -> None:
    """Protects each instruction's result, flag output, old destination and inactive lanes."""
    for seed, (level, mask) in enumerate(
        [("v4", None), ("v4", None), ("v3", None), ("v2", None), ("v4", 0x5A5A5A5A12345679), ("v3", 0xF0F1), ("v2", 1)]
    ):
        run_row(op, generation, seed, level, mask)


def only_gfx1250(op: Op) -> bool:
    """Its own instructions: test_gfx1250.py."""
    return [arch for arch in DECODERS if op.opcode(arch) is not None] == ["gfx1250"]


def test_every_row_has_a_reference() -> None:
    """Protects the claim that each row is tested: the rest is listed with the test that covers it."""
    elsewhere = (
        "v_nop", "v_clrexcp", "v_pipeflush", "v_readfirstlane_b32", "v_readlane_b32", "v_writelane_b32",
        "v_swap_", "v_permlane", "v_movrel", "v_swaprel", "v_div_scale", "v_div_fmas", "v_trig_preop",
        "v_cvt_sr_", "v_fma_mix", "v_mad_mix", "v_sin_f32", "v_cos_f32", "v_bitop3", "v_cvt_scalef32_",
        "v_mqsad_u32_u8", "v_accvgpr_", "v_mfma", "v_smfmac", "v_wmma", "v_swmmac",
    )  # fmt: skip
    tested = {id(op) for g in LANES for op in rows(g)}
    rest = [op.name for op in vector_ops() if op.semantics and id(op) not in tested and not only_gfx1250(op)]
    assert not [name for name in rest if not name.startswith(elsewhere)]
