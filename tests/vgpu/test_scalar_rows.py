"""Scalar instructions that test_scalar.py does not enumerate: floating point and 64-bit arithmetic of gfx1151 and
GFX12, moves by register number, branches, and writes of MODE.

Protects: that scalar floats are what the vector instructions of the same name give, lane for lane.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from ptx2amd.vgpu.isa import sop_float
from ptx2amd.vgpu.isa.op import Op
from tests.reference import valu_newer  # noqa: F401  more rows of REFERENCE
from tests.reference.valu import APPROXIMATE, REFERENCE
from tests.reference.valu_floats import from_bits
from tests.vgpu.machine import State, assemble, execute
from tests.vgpu.test_engine import kernel
from tests.vgpu.test_valu_rows import EDGES, K16, K32, close

ARITHMETIC = [op for op in sop_float.ops() if op.semantics and "barrier" not in op.name and op.name != "s_sleep_var"]
#: Scalar name -> the vector instruction with its reference, where that is not the same with v_.
VECTOR = {"s_cvt_hi_f32_f16": "v_cvt_f32_f16", "s_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32"}


def vector_name(op: Op) -> str:
    return VECTOR.get(op.name) or "v_" + op.name.removeprefix("v_s_").removeprefix("s_")


def source(typ: str, bits: int) -> object:
    if typ in ("f16", "f32"):
        return from_bits(bits & 0xFFFF if typ == "f16" else bits, typ)
    return bits - (1 << 32) if typ == "i32" and bits >> 31 else bits


@pytest.mark.parametrize("op", [op for op in ARITHMETIC if "u64" not in op.name], ids=lambda op: op.name)
def test_scalar_floats(op: Op) -> None:
    """d = s20, a = s4, b = s8; SCC of comparisons in s13."""
    d, sources, function = REFERENCE[vector_name(op)]
    operands = op.parse_operands()
    names = {"d": "s20", "a": "s4", "b": "s8"}
    texts = [hex(K32) if o.name == "k" else names[o.name] for o in operands]
    mnemonic = op.mnemonic("gfx1200")
    code = assemble("gfx1200", [f"{mnemonic} {', '.join(texts)}", "s_cselect_b32 s13, 1, 0"])
    rng = random.Random(op.name)
    half = op.name.endswith("_f16") and not op.name.startswith("s_cvt")
    for _ in range(150):
        state = State(32)
        for index in (4, 8, 20):
            state.s[index] = rng.choice(EDGES[16 if half else 32]) if rng.random() < 0.8 else rng.getrandbits(32)
        before = state.s.copy()
        execute("gfx1200", b"".join(code), state, level=rng.choice(["v2", "v4"]))
        registers, arguments = iter([int(before[4]), int(before[8])]), []
        for typ in sources.split():
            if typ == "k":
                arguments.append(from_bits(K16 if half else K32, "f16" if half else "f32"))
            elif typ.startswith("d:"):
                arguments.append(source(typ[2:], int(before[20])))
            else:
                bits = next(registers)
                arguments.append(source(typ, bits >> 16 if op.name == "s_cvt_hi_f32_f16" else bits))
        with np.errstate(all="ignore"):
            want = function(*arguments)
            got = int(state.s[20])
            if d == "mask":
                assert bool(state.s[13]) == bool(want), arguments
            elif d in ("f16", "f32"):
                assert close(from_bits(got & (0xFFFF if d == "f16" else 0xFFFFFFFF), d), type(from_bits(0, d))(want),
                             APPROXIMATE.get(vector_name(op), 0)), (arguments, hex(got), want)  # fmt: skip
                assert d == "f32" or got >> 16 == 0
            elif d == "pkf16":
                for shift in (0, 16):
                    parts = (from_bits(int(x) >> shift & 0xFFFF, "f16") for x in (got, want))
                    assert close(*parts, 0)
            else:
                assert got == int(want) & 0xFFFFFFFF, (arguments, hex(got), want)


def test_64_bit_arithmetic() -> None:
    rng = random.Random(1)
    names = ("s_add_nc_u64", "s_sub_nc_u64", "s_mul_u64")
    lines = [f"{name} s[{20 + 2 * k}:{21 + 2 * k}], s[4:5], s[8:9]" for k, name in enumerate(names)]
    code = b"".join(assemble("gfx1200", lines))
    for _ in range(50):
        state = State(32)
        a, b = (rng.choice([0, 1, (1 << 64) - 1, 1 << 63, rng.getrandbits(64)]) for _ in range(2))
        for index, value in ((4, a), (8, b)):
            state.s[index], state.s[index + 1] = value & 0xFFFFFFFF, value >> 32
        execute("gfx1200", code, state)
        for index, want in ((20, a + b), (22, a - b), (24, a * b)):
            assert int(state.s[index]) | int(state.s[index + 1]) << 32 == want & (1 << 64) - 1


@pytest.mark.parametrize("generation", ["gfx9", "gfx11"])
def test_moves_by_register_number(generation: str) -> None:
    """M0 is added to the number of the source (movrels) or of the destination."""
    state = State(64 if generation == "gfx9" else 32)
    state.s[10:16] = range(100, 106)
    lines = ["s_mov_b32 m0, 6", "s_movrels_b32 s20, s4", "s_movrels_b64 s[22:23], s[6:7]", "s_movreld_b32 s24, s13",
             "s_movreld_b64 s[26:27], s[14:15]"]  # fmt: skip
    execute(generation, b"".join(assemble(generation, lines)), state)
    assert [int(state.s[k]) for k in (20, 22, 23, 30, 32, 33)] == [100, 102, 103, 103, 104, 105]


BRANCHES = {"scc0": ("s_cmp_eq_u32 s2, s2", False), "scc1": ("s_cmp_eq_u32 s2, s2", True),
            "vccz": ("s_mov_b64 vcc, 8", False), "vccnz": ("s_mov_b64 vcc, 8", True),
            "execz": ("s_nop 0", False), "execnz": ("s_nop 0", True)}  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("kind", BRANCHES)
def test_branches(arch: str, kind: str) -> None:
    """Both ways, in code that is new and (workgroups after the 24th) in native code."""
    condition, taken = BRANCHES[kind]
    body = f"v_mov_b32 v3, 1\n{condition}\ns_cbranch_{kind} over\nv_mov_b32 v3, 2\n"
    body += "over: global_store_b32 v1, v3, s[8:9]\n"
    condition2 = {"scc": "s_cmp_lg_u32 s2, s2", "vcc": "s_mov_b64 vcc, 0", "exe": "s_mov_b64 exec, 0"}[kind[:3]]
    body += f"v_mov_b32 v4, 1\n{condition2}\ns_cbranch_{kind} over2\ns_mov_b64 exec, -1\nv_mov_b32 v4, 2\n"
    body += "over2: s_mov_b64 exec, -1\nglobal_store_b32 v1, v4, s[8:9] offset:256\n"
    values, out = np.zeros(64, np.uint32), np.zeros(128, np.uint32)
    kernel(arch, body).run("k", [60], [64], [values, out])
    assert (out[:64] == (1 if taken else 2)).all()
    assert (out[64:] == (2 if taken else 1)).all()


def test_mode_from_a_register() -> None:
    """s_setreg: a field of MODE, here f32's rounding, which an addition shows."""
    body = "v_mov_b32 v2, 1.0\nv_mov_b32 v3, 0x33000000\ns_mov_b32 s12, 1\n"  # 2^-25; towards +infinity
    body += "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s12\nv_add_f32 v4, v2, v3\n"
    body += "s_getreg_b32 s13, hwreg(HW_REG_MODE, 0, 4)\n"
    body += "v_mov_b32 v6, s13\nglobal_store_b32 v1, v4, s[8:9]\nglobal_store_b32 v1, v6, s[8:9] offset:256\n"
    values, out = np.zeros(64, np.uint32), np.zeros(128, np.uint32)
    kernel("gfx942", body).run("k", [1], [64], [values, out])
    assert set(out[:64].tolist()) == {0x3F800001} and set(out[64:].tolist()) == {1}
