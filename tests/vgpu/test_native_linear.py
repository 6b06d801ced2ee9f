"""Addresses that are linear in the lane: what native code assumes about them holds, or its other code runs.

Protects: that results do not depend on whether rows were linear when a block was translated, nor on whether they still
are, nor on carries, wraps, lanes that are off, and stores that overlap loads.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text
from tests.vgpu.test_native import ARCHES, LOADS, _mask

WORDS = 1 << 14  # of the data: an index has eleven bits, an element at most 16 bytes
ROWS = 8  # of indices: v10 to v17
WIDE = {1: ("", "32"), 2: ("x2", "64"), 3: ("x3", "96"), 4: ("x4", "128")}


def memory(arch: str, kind: str, n: int) -> str:
    older, newer = WIDE[n]
    return f"global_{kind}_dword{older}" if ARCHES[arch] == 64 else f"global_{kind}_b{newer}"


def index_step(arch: str, rng: np.random.Generator) -> str:
    """An instruction on rows of indices."""
    add, sub, subrev = (f"v_{n}_{'u32' if ARCHES[arch] == 64 else 'nc_u32'}" for n in ("add", "sub", "subrev"))
    d, a, b = (int(x) for x in rng.integers(10, 10 + ROWS, 3))
    null = "vcc" if ARCHES[arch] == 64 else "null"
    vcc = "vcc" if ARCHES[arch] == 64 else "vcc_lo"
    carried = "v_addc_co_u32_e64" if ARCHES[arch] == 64 else "v_add_co_ci_u32_e64"
    pair, factor = d & ~1, "9" if ARCHES[arch] == 64 else "s31"  # GFX9 reads one scalar register
    same = [  # the distance between lanes stays
        f"{add} v{d}, s30, v{a}", f"{add} v{d}, 5, v{a}", f"{sub} v{d}, v{a}, s31", f"{subrev} v{d}, s31, v{a}",
        f"v_mov_b32 v{d}, v{a}", f"v_and_b32 v{d}, 0x3ff, v{a}", f"v_add3_u32 v{d}, v{a}, s30, 7",
        f"v_mad_u64_u32 v[{pair}:{pair + 1}], {null}, s30, {factor}, v[{a & ~1}:{(a & ~1) + 1}]",
        f"v_add_co_u32 v{d}, {vcc}, s30, v{a}\n{carried} v{b}, {vcc}, v{b}, 0, {vcc}",
    ]  # fmt: skip
    other = [
        f"{add} v{d}, v{a}, v{b}", f"v_mov_b32 v{d}, s30", f"v_lshlrev_b32 v{d}, 1, v{a}",
        f"v_lshl_add_u32 v{d}, v{a}, 1, s31", f"v_add_lshl_u32 v{d}, v{a}, s30, 2", f"v_ashrrev_i32 v{d}, 31, v{a}",
        f"v_mul_lo_u32 v{d}, s30, v{a}", f"v_lshlrev_b64 v[{pair}:{pair + 1}], 2, v[{a & ~1}:{(a & ~1) + 1}]",
        f"v_add_f32 v{20 + d % 4}, 1.0, v{20 + a % 4}",
    ]  # fmt: skip
    never = [f"v_xor_b32 v{d}, v{a}, v{b}", f"v_cndmask_b32_e64 v{d}, v{a}, v{b}, {vcc}",
             f"v_cmp_lt_u32_e64 {vcc}, v{a}, v{b}"]  # fmt: skip
    kind = rng.random()
    choices = same if kind < 0.7 else other if kind < 0.92 else never
    return str(rng.choice(np.array(choices, object)))


def access(arch: str, rng: np.random.Generator) -> list[str]:
    """A load or a store with an index's address: from a scalar base or not, of elements or of parts of them."""
    row, n, w = int(rng.integers(10, 10 + ROWS)), int(rng.choice([1, 1, 1, 2, 3, 4])), ARCHES[arch]
    shift = {1: 2, 2: 3, 3: 2, 4: 4}[n] if rng.random() < 0.9 else int(rng.integers(2, 5))
    registers = f"v{20}" if n == 1 else f"v[20:{19 + n}]"
    out = [f"v_and_b32 v4, 0x7ff, v{row}"]
    offset = f"offset:{4 * int(rng.integers(0, 3))}"
    store = n != 3 and rng.random() < 0.4
    name = memory(arch, "store" if store else "load", n)
    if rng.random() < 0.5:
        out += [f"v_lshlrev_b32 v4, {shift}, v4"]
        place = "v4, {}, s[6:7]" if store else "{}, v4, s[6:7]"
    else:
        out += ["v_mov_b32 v5, 0", f"v_lshlrev_b64 v[4:5], {shift}, v[4:5]"]
        if arch == "gfx942":
            out += ["v_lshl_add_u64 v[4:5], v[4:5], 0, s[6:7]"]
        elif rng.random() < 0.5:
            out = ["s_mov_b32 s28, s6", *out, *base_for_carry(arch)]
        else:
            vcc, carried = ("vcc", "v_addc_co_u32_e32") if w == 64 else ("vcc_lo", "v_add_co_ci_u32_e32")
            out += [f"v_add_co_u32 v4, {vcc}, s6, v4", "v_mov_b32 v6, s7", f"{carried} v5, {vcc}, v6, v5, {vcc}"]
        place = "v[4:5], {}, off" if store else "{}, v[4:5], off"
    return [*out, f"{name} {place.format(registers)} {offset}", "s_waitcnt vmcnt(0)"]


def base_for_carry(arch: str) -> list[str]:
    """v[4:5] = s7:s28 + v[4:5], with the carry in the register that the base was in."""
    carry, vcc = ("s[28:29]", "vcc") if ARCHES[arch] == 64 else ("s28", "vcc_lo")
    carried = "v_addc_co_u32_e64" if ARCHES[arch] == 64 else "v_add_co_ci_u32_e64"
    return [f"v_add_co_u32_e64 v4, {carry}, s28, v4", "v_mov_b32 v6, s7", f"{carried} v5, {vcc}, v6, v5, {carry}"]


def program(arch: str, body: list[str]) -> str:
    """The body four times. Arguments: data, results (a dword a lane for each register), indices by lane (v10 to v17),
    EXEC, two scalars (s30, s31)."""
    load2, load, store = LOADS[arch]
    w = ARCHES[arch]
    vcc, execution = ("vcc", "exec") if w == 64 else ("vcc_lo", "exec_lo")
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load2} s[8:9], s[0:1], 8", f"{load2} s[10:11], s[0:1], 16",
           f"{load2} s[20:21], s[0:1], 24", f"{load2} s[30:31], s[0:1], 32", "v_and_b32 v0, 0x3ff, v0",
           "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)"]  # fmt: skip
    out += [f"v_mov_b32 v{20 + k}, {k + 1}.0" for k in range(4)]
    out += ["s_mov_b32 s26, 4", "loop:", f"s_mov_b{w} {execution}, -1"]  # the first time finds where memory is
    out += [f"{load} v{10 + k}, v1, s[10:11] offset:{k * w * 4}" for k in range(ROWS)]
    out += ["s_waitcnt vmcnt(0)", f"s_mov_b{w} {vcc}, {_mask(arch, 20)}", "again:",
            "s_cmp_eq_u32 s30, 0x12345678", "s_cbranch_scc1 again",  # the end of a block
            f"s_mov_b{w} {execution}, {_mask(arch, 20)}"]  # fmt: skip
    out += body
    out += [
        "v_readfirstlane_b32 s4, v20",
        "s_sub_u32 s26, s26, 1",
        "s_cmp_lg_u32 s26, 0",
        "s_cbranch_scc1 loop",
        f"s_mov_b{w} {execution}, -1",
    ]
    for k in [*range(10, 10 + ROWS), *range(20, 24)]:
        out += [f"{store} v1, v{k}, s[8:9]", f"s_add_u32 s8, s8, {4 * w}", "s_addc_u32 s9, s9, 0"]
    out += [f"v_cndmask_b32_e64 v2, 0, 1, {vcc}", f"{store} v1, v2, s[8:9]"]
    return "\n".join(out) + "\ns_waitcnt vmcnt(0)\n"


def random_body(arch: str, rng: np.random.Generator) -> list[str]:
    out = []
    for n in range(3):
        for _ in range(int(rng.integers(1, 6))):
            out.append(index_step(arch, rng))
        for _ in range(int(rng.integers(1, 3))):
            out += access(arch, rng)
        if n < 2 and rng.random() < 0.5:
            out.append("v_readfirstlane_b32 s4, v20")  # a call: the next run is another
    return out


def indices(w: int, rng: np.random.Generator, linear: bool) -> np.ndarray:
    lane, rows = np.arange(w, dtype=np.uint32), []
    for _ in range(ROWS):
        kind = rng.integers(0, 5 if linear else 8)
        start = np.uint32(rng.choice([0, 0x3F0, 0x7FFFFFF0, 0xFFFFFFF0, 0xFFFFFFE9, 0x12345678, 0x80000000 - 2 * w]))
        row = start + lane * np.uint32([1, 1, 0, 0, 2, 1, 3, 1][kind])
        if kind == 5:
            row = rng.permutation(row)
        if kind == 7:
            row[rng.integers(0, w)] ^= np.uint32(1)
        rows.append(row.astype(np.uint32))
    return np.stack(rows)


Case = tuple[np.ndarray, int, int]  # indices, EXEC, the scalars


def check(arch: str, body: list[str], rng: np.random.Generator, cases: list[Case]) -> None:
    """Every case must give what a code object that was not executed before gives."""
    w = ARCHES[arch]
    assembled = assemble_code_object(kernel_text(program(arch, body), arch, kernarg=64, vgprs=32, sgprs=64), arch)
    data = rng.integers(0, 1 << 23, WORDS, dtype=np.uint32)  # floats of which none is NaN
    code, last = CodeObject(assembled, arch), None
    for case in cases:
        arguments = [case[0], np.uint64(case[1]), np.uint64(case[2])]
        if case is not last:
            expected, after = np.zeros((13, w), np.uint32), data.copy()
            CodeObject(assembled, arch).run("k", [1], [w], [after, expected, *arguments])
        last = case
        results, found = np.zeros((13, w), np.uint32), data.copy()
        code.run("k", [1], [w], [found, results, *arguments])
        assert np.array_equal(expected, results), np.argwhere(expected != results)[:5]
        assert np.array_equal(after, found), np.argwhere(after != found)[:5]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", pytest.param("gfx900", marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [*range(16), *(pytest.param(n, marks=pytest.mark.slow) for n in range(16, 300))])
def test_linear_addresses(arch: str, seed: int) -> None:
    w, rng = ARCHES[arch], np.random.default_rng(seed)
    body = random_body(arch, rng)
    every, some = (1 << 64) - 1, int(rng.integers(1, 1 << 62)) << 1
    scalars = int(rng.integers(0, 64)) | int(rng.choice([0, 9, 0xFFFFFFF0])) << 32
    first = indices(w, rng, linear=True)
    cases = [(first, every, scalars)] * 16 + [(first, some, scalars)] * 16  # until both versions exist
    for _ in range(12):
        others = indices(w, rng, linear=bool(rng.integers(0, 2)))
        lanes = [every, every, some, (1 << 63) - 2, 1 << 20][rng.integers(0, 5)]
        cases.append((others, lanes, int(rng.integers(0, 1 << 16)) | int(rng.integers(0, 1 << 32)) << 32))
    check(arch, body, rng, cases)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("some", [False, True], ids=["all", "some"])
def test_what_is_assumed(arch: str, some: bool) -> None:
    """A copy within the data, s30 bytes on, and sums with carries: first far apart and without carries, then not."""
    w, rng = ARCHES[arch], np.random.default_rng(1)
    vcc, carried = ("vcc", "v_addc_co_u32_e32") if w == 64 else ("vcc_lo", "v_add_co_ci_u32_e32")
    _, load, store = LOADS[arch]
    copy = ["v_and_b32 v4, 0x7ff, v10", "v_mov_b32 v5, 0", "v_lshlrev_b64 v[4:5], 2, v[4:5]",
            f"v_add_co_u32 v4, {vcc}, s6, v4", "v_mov_b32 v6, s7", f"{carried} v5, {vcc}, v6, v5, {vcc}",
            f"{load} v20, v[4:5], off", "s_waitcnt vmcnt(0)", f"v_add_co_u32 v2, {vcc}, s30, v4", "v_mov_b32 v6, 0",
            f"{carried} v3, {vcc}, v6, v5, {vcc}", f"{store} v[2:3], v20, off"]  # fmt: skip
    sums = [f"v_add_co_u32 v14, {vcc}, s31, v12", "v_mov_b32 v6, 0", f"{carried} v15, {vcc}, v6, v13, {vcc}"]
    if w == 32:
        sums.append("v_mad_u64_u32 v[16:17], null, s31, 9, v[12:13]")
    sums.append(f"v_add_co_u32 v14, {vcc}, s31, v12")  # its carry is the last
    lane, rows = np.arange(w, dtype=np.uint32), []
    for start in (0, 0xFFFFFFE0 - w, 0xFFFFFFF0, 0xFFFFFFF8 - w // 2):
        rows.append(np.stack([lane + 3, lane, lane + np.uint32(start), lane * 0 + 5, *[lane] * 4]).astype(np.uint32))
    lanes = int(rng.integers(1, 1 << 62)) << 1 if some else (1 << 64) - 1
    cases = [(rows[0], lanes, 16384 | 7 << 32)] * 16
    for row in rows:
        for distance in (16384, 4, 32, 4 * w - 4, 4 * w, 0):
            for addend in (7, 0x20, 0x100, 0x7FFFFFFF, 0xFFFFFFC0):
                cases.append((row, lanes, distance | addend << 32))
    check(arch, [*copy, *sums], rng, cases)


@pytest.mark.parametrize("arch", ["gfx900", "gfx1100"])
def test_carry_in_the_place_of_a_source(arch: str) -> None:
    """A check that fails after a sum whose carry is written to the register that the sum's source was in, as in
    hypre's products of matrices: the code that runs then reads the source again."""
    w, rng = ARCHES[arch], np.random.default_rng(3)
    body = ["s_mov_b32 s28, s6", "v_and_b32 v4, 0x7ff, v10", "v_mov_b32 v5, 0", "v_lshlrev_b64 v[4:5], 2, v[4:5]",
            *base_for_carry(arch), f"{LOADS[arch][1]} v20, v[4:5], off", "s_waitcnt vmcnt(0)",
            "v_and_b32 v7, 0xff, v11", "v_lshlrev_b32 v7, 2, v7", f"{LOADS[arch][1]} v21, v7, s[6:7]",
            "s_waitcnt vmcnt(0)"]  # fmt: skip
    lane = np.arange(w, dtype=np.uint32)
    straight, wrapping = (np.stack([lane, lane + np.uint32(start), *[lane] * 6]) for start in (0, 0xF0))
    every = (1 << 64) - 1
    cases = [(straight, every, 0)] * 16 + [(wrapping, every, 0), (straight, every, 0), (wrapping, every, 0)]
    check(arch, body, rng, cases)
