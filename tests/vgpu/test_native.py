"""Translated blocks do what the handlers do: each sequence on edge values, with all lanes and with some.

Protects: that results do not depend on whether a block was entered often enough to be translated, nor on the level.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import scalar_ops, vector_ops
from tests.vgpu.engine import ZIG, CodeObject, assemble_code_object, kernel_text

ARCHES = {"gfx942": 64, "gfx1100": 32, "gfx900": 64, "gfx1030": 32, "gfx1200": 32}
CHIPS = [
    "gfx942",
    "gfx1100",
    *(pytest.param(arch, marks=pytest.mark.slow) for arch in ("gfx900", "gfx1030", "gfx1200")),
]
RUNS = 60  # more than a block is entered before it is translated
EDGES = [
    0, 1, 2, 5, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x00800000, 0x007FFFFF,
    0x3F800000, 0xBF800000, 0x3F000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC01234, 0x7F812345, 0x4F000000,
    0xCF000000, 0x4F800000, 0x00FFFFFF, 0x01000000, 0x4EFFFFFF, 0x40200000, 0x00000001,
    0x7FF00000, 0xFFF00000, 0x7FF80000, 0x7FF00001, 0x3FF00000, 0xBFF00000, 0x41DFFFFF, 0xC1E00000, 0x41EFFFFF,
    0x00100000, 0x000FFFFF, 0x7FEFFFFF, 0x3FE00000, 0x7F7FFFFF, 0x40A00000,
]  # fmt: skip
_OLDER, _NEWER = (
    ("s_load_dwordx2", "global_load_dword", "global_store_dword"),
    ("s_load_b64", "global_load_b32", "global_store_b32"),
)
LOADS = {"gfx942": _OLDER, "gfx900": _OLDER, "gfx1030": _OLDER, "gfx1100": _NEWER, "gfx1200": _NEWER}


def has_native_code() -> bool:
    processor = Path("/proc/cpuinfo").read_text()
    return "avx2" in processor and os.environ.get("PTX2AMD_VGPU_LEVEL", "v4") in ("v3", "v4")


def is_nan(bits: np.ndarray) -> np.ndarray:
    """Of several NaN operands, either may be the result: compilers exchange operands."""
    return bits & 0x7FFFFFFF > 0x7F800000


def is_nan64(rows: np.ndarray) -> np.ndarray:
    """The same of (n, 3, lanes) results whose first two rows are the dwords of an f64."""
    low, high = rows[:, 0], rows[:, 1] & 0x7FFFFFFF
    nan = (high > 0x7FF00000) | ((high == 0x7FF00000) & (low != 0))
    return np.stack([nan, nan, np.zeros_like(nan)], axis=1)


def _mask(arch: str, n: int) -> str:
    return f"s[{n}:{n + 1}]" if ARCHES[arch] == 64 else f"s{n}"


def statement(op: Op, arch: str, kinds: str) -> str | None:
    """The row: results v[20:21] and the mask s[40:41]; kinds: v (vector), s (scalar) or c (constant) per source."""
    if op.opcode(arch) is None:
        return None
    operands = op.parse_operands()
    reads_mask = "VCC" in op.sequence.text or any(o.type == "mask" and not o.is_destination for o in operands)
    if ARCHES[arch] == 64 and "s" in kinds and reads_mask:
        return None  # one scalar operand at most
    name = op.mnemonic(arch)
    if name == "v_mov_b16":
        return None  # half_words()
    literal = any(o.name == "k" for o in operands)
    if op.format in ("VOP1", "VOP2", "VOPC") and not literal:
        name += "_e64"
    words, source = [], 0
    for o in operands:
        wide = o.bits == 64
        if o.type == "mask":
            words.append(_mask(arch, 42 if o.name == "c" else 40))
        elif o.is_destination:
            words.append("v[20:21]" if wide else "v20")
        elif o.name == "k":
            words.append("0x40490fdb")
        else:
            row = 10 + 2 * source
            kind = kinds[source] if not literal else "v"
            scalar = "s[30:31]" if wide else "s30"
            words.append({"v": f"v[{row}:{row + 1}]" if wide else f"v{row}", "s": scalar, "c": "3"}[kind])
            source += 1
    return f"{name} {', '.join(words)}"


def cmpx_operands(name: str) -> str:
    first, second = ("v[10:11]", "v[12:13]") if name.endswith("64") else ("v10", "v12")
    return f"{first}, {'v12' if 'class' in name else second}"


def permuting(arch: str) -> list[str]:
    """DPP and SDWA: patterns, bounds, banks, signs, parts of dwords."""
    full, add = "row_mask:0xf bank_mask:0xf", "v_add_u32_dpp" if ARCHES[arch] == 64 else "v_add_nc_u32_dpp"
    patterns = ["quad_perm:[1,0,3,2]", "quad_perm:[3,3,0,1]", "row_shl:1", "row_shr:3", "row_ror:5", "row_mirror",
                "row_half_mirror"]  # fmt: skip
    if ARCHES[arch] == 64:
        patterns += ["row_newbcast:3", "wave_shr:1", "row_bcast:15"]
    else:
        patterns += ["row_share:3", "row_xmask:9"]
    texts = [f"{name} {p} {tail}" for p in patterns for name in ("v_mov_b32_dpp v20, v10", f"{add} v20, v10, v12")
             for tail in (full, f"{full} bound_ctrl:0", "row_mask:0xf bank_mask:0x6")]  # fmt: skip
    texts += [f"v_add_f32_dpp v20, -v10, |v12| row_shr:2 {full}",
              "v_mov_b32_dpp v20, v10 row_shr:4 row_mask:0x5 bank_mask:0xf"]  # fmt: skip
    if ARCHES[arch] == 32:
        texts += ["v_mov_b32_dpp v20, v10 dpp8:[7,6,1,4,3,0,1,2]", f"v_mov_b32_dpp v20, v10 row_shr:1 {full} fi:1",
                  f"{add} v20, v10, v12 dpp8:[1,0,2,2,7,4,6,5] fi:1",
                  f"v_cmp_lt_u32_e64_dpp s40, v10, v12 row_shr:1 {full}"]  # fmt: skip
        return texts
    sources = "src0_sel:{} src1_sel:{}"
    for dst in ("dst_sel:DWORD", "dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE", "dst_sel:WORD_1 dst_unused:UNUSED_PAD",
                "dst_sel:BYTE_0 dst_unused:UNUSED_SEXT", "dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE"):  # fmt: skip
        tail = dst if "unused" in dst else f"{dst} dst_unused:UNUSED_PAD"
        texts += [f"v_or_b32_sdwa v20, v10, v12 {tail} {sources.format('WORD_1', 'BYTE_3')}",
                  f"v_add_u32_sdwa v20, sext(v10), sext(v12) {tail} {sources.format('BYTE_2', 'WORD_0')}",
                  f"v_floor_f32_sdwa v20, -v10 {tail} src0_sel:DWORD",
                  f"v_lshlrev_b32_sdwa v20, v10, s30 {tail} {sources.format('BYTE_0', 'BYTE_1')}"]  # fmt: skip
    return [*texts, f"v_cmp_lt_u32_sdwa s[40:41], v10, v12 {sources.format('BYTE_0', 'WORD_1')}"]


# Results of another width than the sources', and rows that go through f64 in between: modifiers are the result's.
MODIFIED = ("v_cvt_f32_f64_e64 v20, v[10:11]", "v_cvt_f64_f32_e64 v[20:21], v10", "v_cvt_f32_u32_e64 v20, v10",
            "v_cvt_f64_i32_e64 v[20:21], v10", "v_rcp_f32_e64 v20, v10", "v_sqrt_f32_e64 v20, v10",
            "v_exp_f32_e64 v20, v10", "v_ldexp_f32 v20, v10, v12", "v_cvt_f32_ubyte1_e64 v20, v10")  # fmt: skip


def half_words(arch: str) -> list[str]:
    """Parts of registers as 16-bit operands."""
    if ARCHES[arch] == 64:
        return ["v_cmp_lt_u16_e64 s[40:41], v10, v12", "v_cmp_ge_i16_e64 s[40:41], v10, -3", "v_cvt_f32_f16 v20, v10"]
    return ["v_or_b16 v20.h, v10.h, v12.l", "v_add_nc_u16 v20.l, v10.l, v12.h", "v_add_nc_u16 v20.l, v10.h, -1",
            "v_max_i16 v20.h, v10.h, v12.h", "v_lshlrev_b16 v20.l, 4, v12.h", "v_cvt_f32_f16_e64 v20, v10.h",
            "v_cvt_f16_f32_e64 v20.h, v10", "v_cmp_lt_i16_e64 s40, v10.h, v12.l", "v_mov_b16_e64 v20.l, v10.h",
            "v_mov_b16_e64 v20.h, v10.l"]  # fmt: skip


def accepted(arch: str, texts: list[str]) -> list[str]:
    """Those that the chip's assembler takes: the statements are written for gfx942 and gfx1100."""
    if arch in MEMORY:
        return texts
    lines = [n for n, text in enumerate(texts) for _ in text.split("\n")]
    source = f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n' + "\n".join(texts) + "\n"
    command = [
        *ZIG,
        "clang",
        "-target",
        "amdgcn-amd-amdhsa",
        f"-mcpu={arch}",
        "-x",
        "assembler",
        "-c",
        "-",
        "-o",
        os.devnull,
    ]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    refused = {lines[int(n) - 2] for n in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)}
    left = [text for n, text in enumerate(texts) if n not in refused]
    assert len(left) > len(texts) // 2, done.stderr[:1000]
    return left


def fitted(arch: str, text: str) -> str:
    """The program, or its settings, as the chip has them: waits, offsets, no IEEE mode."""
    if arch == "gfx1200":
        return re.sub("s_waitcnt .*", "s_wait_idle", text.replace(".amdhsa_ieee_mode 0\n", ""))
    return re.sub(r"offset:(\d+)", lambda m: f"offset:{int(m[1]) % 2048}", text) if arch == "gfx1030" else text


@cache
def statements(arch: str) -> list[str]:
    return accepted(arch, all_statements(arch))


def all_statements(arch: str) -> list[str]:
    rows = [op for op in vector_ops() if op.sequence and not op.writes_exec]
    texts = [statement(op, arch, kinds) for kinds in ("vvv", "svv", "vcv", "vvc") for op in rows]
    if ARCHES[arch] == 32:  # v_cmpx: EXEC to the mask, and back
        restore = "\ns_mov_b32 s40, exec_lo\ns_mov_b32 exec_lo, s20"
        names = [op.name for op in vector_ops() if op.sequence and op.writes_exec]
        texts += [f"{name} {cmpx_operands(name)}{restore}" for name in names]
    signs = [f"{name} v20, {a}, {b}" for name in ("v_add_f32_e64", "v_mul_f32_e64")
             for a, b in (("-v10", "v12"), ("|v10|", "-|v12|"))]  # fmt: skip
    no_mask = "null" if ARCHES[arch] == 32 else "vcc"  # a mask that nobody reads leaves steps out
    mads = [f"v_mad_{t} v[20:21], {no_mask}, {a}, v12, {c}" for t in ("u64_u32", "i64_i32")
            for a, c in (("v10", "v[14:15]"), ("0x60" if ARCHES[arch] == 32 else "60", "s[30:31]"),
                         ("5", "v[14:15]"))]  # fmt: skip
    own = [f"s_mov_b64 s[40:41], s[30:31]\n{name} {_mask(arch, 40)}, v[10:11], s[40:41]"  # a mask over its source
           for name in ("v_cmp_gt_u64_e64", "v_cmp_lt_i64_e64", "v_cmp_ge_f64_e64")]  # fmt: skip
    return [
        *dict.fromkeys(filter(None, texts)),
        *signs,
        *mads,
        *own,
        *permuting(arch),
        *half_words(arch),
        *(
            f"{name}_e64 v20, v10, v12 {modifier}"
            for name in ("v_add_f32", "v_mul_f32")
            for modifier in ("clamp", "mul:2", "clamp div:2")
        ),
        *(f"{name} {modifier}" for name in MODIFIED for modifier in ("clamp", "mul:2", "clamp div:2")),
        "v_mul_f64 v[20:21], v[10:11], v[12:13] clamp",
        "v_add_f64 v[20:21], -v[10:11], |v[12:13]| mul:4",
        "v_fma_f64 v[20:21], v[10:11], -v[20:21], v[20:21]",
        *(
            ["v_fma_f64 v[20:21], v[11:12], v[10:11], 0.5", "v_add_f64 v[20:21], v[11:12], v[21:22]"]
            if ARCHES[arch] == 32
            else []
        ),  # pairs that overlap
        "v_cndmask_b32_e64 v20, -v10, |v12|, " + _mask(arch, 42),
        "v_fma_f32 v20, v10, -v12, v20",
        "v_fma_f32 v20, v20, v12, |v20|",
    ]


def program(arch: str, texts: list[str]) -> str:
    """Arguments: inputs (8 dwords a lane, by dword), results (3 dwords a lane and statement), masks for EXEC (two of
    64 bits), a scalar."""
    load2, load, store = LOADS[arch]
    w = ARCHES[arch]
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load2} s[8:9], s[0:1], 8", f"{load2} s[20:21], s[0:1], 16",
           f"{load2} s[30:31], s[0:1], 24", f"{load2} s[42:43], s[0:1], 32", "v_and_b32 v0, 0x3ff, v0",
           "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)"]  # fmt: skip
    out += [f"{load} v{10 + k}, v1, s[6:7] offset:{k * w * 4}" for k in range(8)]
    out += ["s_waitcnt vmcnt(0)", f"s_mov_b{w} {'exec' if w == 64 else 'exec_lo'}, {_mask(arch, 20)}"]
    for n, text in enumerate(texts):
        if n % 7 == 6:  # a call: what follows begins another group
            out += ["s_nop 0", "v_readfirstlane_b32 s4, v10"]
        if n % 40 == 39:  # blocks of moderate length
            out += ["s_cmp_eq_u32 s30, 0x12345678", f"s_cbranch_scc1 part{n}", f"part{n}:"]
        if "div_fmas" in text:
            out += [f"s_mov_b{w} {'vcc' if w == 64 else 'vcc_lo'}, {_mask(arch, 42)}"]
        out += ["v_mov_b32 v20, v16", "v_mov_b32 v21, v17", f"s_mov_b{w} {_mask(arch, 40)}, 0", text,
                f"v_cndmask_b32_e64 v22, 0, 1, {_mask(arch, 40)}"]  # fmt: skip
        out += [f"{store} v1, v{20 + k}, s[8:9] offset:{k * w * 4}" for k in range(3)]
        out += [f"s_add_u32 s8, s8, {3 * w * 4}", "s_addc_u32 s9, s9, 0"]
    return fitted(arch, "\n".join(out) + "\ns_waitcnt vmcnt(0)\n")


def scalar_statements(arch: str) -> list[str]:
    """Each scalar row that becomes machine code: sources s[10:11], s[12:13] and constants, result s[40:41] and SCC."""
    found = []
    for op in scalar_ops():
        if not op.scalar or op.opcode(arch) is None or "saveexec" in op.name:
            continue
        for constant in (False, True):
            words, register = [], 10
            for o in op.parse_operands():
                last = constant and o.name == "b"
                wide = o.bits == 64
                n = 40 if o.is_destination else register
                words.append("3" if last else f"s[{n}:{n + 1}]" if wide else f"s{n}")
                register += 0 if o.is_destination else 2
            found.append(f"{op.mnemonic(arch)} {', '.join(words + ['-7'] * (op.name == 's_movk_i32'))}")
    return accepted(arch, list(dict.fromkeys(found)))


@pytest.mark.parametrize("arch", CHIPS)
def test_scalar_instructions(arch: str) -> None:
    texts, w = scalar_statements(arch), ARCHES[arch]
    load2, _, store = LOADS[arch]
    load4, load8, load16 = (
        ("s_load_dwordx4", "s_load_dwordx8", "s_load_dwordx16")
        if LOADS[arch] is _OLDER
        else ("s_load_b128", "s_load_b256", "s_load_b512")
    )
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load4} s[16:19], s[0:1], 0", "v_and_b32 v0, 0x3ff, v0",
           "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)", "s_mov_b64 s[8:9], s[18:19]",
           f"{load8} s[52:59], s[6:7], 0", f"{load16} s[64:79], s[6:7], 0", f"{load2} s[10:11], s[6:7], 0",
           f"{load2} s[12:13], s[6:7], 8", f"{load2} s[14:15], s[6:7], 16", "s_waitcnt lgkmcnt(0)"]  # fmt: skip
    for text in [*texts, "s_xor_b32 s40, s59, s79"]:
        out += ["s_mov_b64 s[40:41], s[14:15]", "s_cmp_lg_u32 s14, s10", text, "s_cselect_b32 s42, 1, 0"]
        out += ["v_mov_b32 v2, s40", "v_mov_b32 v3, s41", "v_mov_b32 v4, s42"]
        out += [f"{store} v1, v{2 + k}, s[8:9] offset:{k * w * 4}" for k in range(3)]
        out += [f"s_add_u32 s8, s8, {3 * w * 4}", "s_addc_u32 s9, s9, 0"]
    body = fitted(arch, "\n".join(out) + "\ns_waitcnt vmcnt(0)\n")
    assembled = assemble_code_object(kernel_text(body, arch, kernarg=64, sgprs=96), arch)
    code, rng = CodeObject(assembled, arch), np.random.default_rng(5)
    for _ in range(8):
        inputs = rng.choice(np.array(EDGES, np.uint32), 16)
        expected, results = (np.zeros((len(texts) + 1, 3, w), np.uint32) for _ in range(2))
        CodeObject(assembled, arch).run("k", [1], [w], [inputs, expected])
        for _ in range(RUNS):
            code.run("k", [1], [w], [inputs, results])
        wrong = [
            f"{[*texts, 'loads'][n]}: {[hex(x) for x in inputs[:6]]} gives {results[n, k, 0]:#x} instead of "
            f"{expected[n, k, 0]:#x} ({k})"
            for n, k in np.argwhere((expected != results)[:, :, 0])
        ]
        assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("arch", CHIPS)
@pytest.mark.parametrize("some", [False, True], ids=["all", "some"])
def test_sequences(arch: str, some: bool) -> None:
    texts, w = statements(arch), ARCHES[arch]
    text, rng = program(arch, texts), np.random.default_rng(w)
    for rounding, denormals in ((0, 3), (1, 3), (2, 0), (3, 3)):
        mode = "\n".join([
            ".amdhsa_ieee_mode 0",
            *(f".amdhsa_float_round_mode_{bits} {rounding}" for bits in ("32", "16_64")),
            *(f".amdhsa_float_denorm_mode_{bits} {denormals}" for bits in ("32", "16_64")),
        ])  # fmt: skip
        assembled = assemble_code_object(kernel_text(text, arch, kernarg=64, sgprs=64, extra=fitted(arch, mode)), arch)
        code = CodeObject(assembled, arch)
        inputs = rng.integers(0, 1 << 32, (8, w), dtype=np.uint32)
        edges = rng.choice(np.array(EDGES, np.uint32), (8, w))
        inputs = np.where(rng.random((8, w)) < 0.6, edges, inputs)
        lanes = rng.integers(0, 1 << 63) if some else (1 << 64) - 1
        scalar = int(rng.choice(EDGES)) | int(rng.choice(EDGES)) << 32
        arguments = [np.uint64(lanes), np.uint64(scalar), np.uint64(rng.integers(0, 1 << 63))]
        expected, results = (np.zeros((len(texts), 3, w), np.uint32) for _ in range(2))
        CodeObject(assembled, arch).run("k", [1], [w], [inputs, expected, *arguments])  # nothing of it is translated
        for _ in range(RUNS):
            code.run("k", [1], [w], [inputs, results, *arguments])
        doubles = np.array(["_f64" in text for text in texts])[:, None, None]
        nans = is_nan(expected) & is_nan(results) | doubles & is_nan64(expected) & is_nan64(results)
        wrong = [
            f"{texts[n]}: [{', '.join(f'{x:#x}' for x in inputs[:, lane])}] gives {results[n, k, lane]:#x} instead of "
            f"{expected[n, k, lane]:#x} ({k})"
            for n, k, lane in np.argwhere((expected != results) & ~nans)
        ]
        assert not wrong, "\n".join(wrong[:20])
    if has_native_code():
        assert "ptx2amd code" in Path("/proc/self/maps").read_text()  # it was translated


_REGISTER = re.compile(r"\bv(\d+)\b|\bv\[(\d+):\d+\]")


def _renamed(text: str, rng: np.random.Generator, pairs: int, rows: int = 24) -> str:
    """The statement with other vector registers, `rows` from v10 on; `pairs`: the step at which 64-bit ones begin.
    Floats read one register only, without signs: of two NaNs either may be the result."""
    name, operands = text.split(" ", 1)
    if "_f32" in name or "_f64" in name:
        operands = operands.replace("|", "").replace("-v", "v").replace("s[30:31]", "1.0").replace("s30", "1.0")
    one = 10 + 2 * int(rng.integers(0, rows // 2 - 1)) if "_f32" in name or "_f64" in name else None
    seen = 0

    def register(m: re.Match[str]) -> str:
        nonlocal seen
        wide, first = m[2] is not None, seen == 0
        seen += 1
        row = 10 + int(rng.integers(0, rows - 1)) // pairs * pairs
        if one is not None and (not first or "fmac" in name):
            row = one
        return f"v[{row}:{row + 1}]" if wide else f"v{row}"

    return f"{name} {_REGISTER.sub(register, operands)}"


def check_translated(assembled: bytes, arch: str, rng: np.random.Generator, rows: int) -> None:
    """A kernel must give `rows` results a lane that are the same before and after it is native code, with all lanes of
    a wave and with some. Arguments: data, which it may change, results, EXEC, two more."""
    w = ARCHES[arch]
    inputs = rng.integers(0, 1 << 32, (32, w), dtype=np.uint32) & np.uint32(0xBFFFFFFF)
    code = CodeObject(assembled, arch)
    for lanes in ((1 << 64) - 1, int(rng.integers(1, 1 << 62)) << 1):
        arguments = [np.uint64(lanes), np.uint64(rng.integers(0, 1 << 62)), np.uint64(rng.integers(0, 1 << 62))]
        expected, results = (np.zeros((rows, w), np.uint32) for _ in range(2))
        CodeObject(assembled, arch).run("k", [1], [w], [inputs.copy(), expected, *arguments])
        for _ in range(RUNS):
            code.run("k", [1], [w], [inputs.copy(), results, *arguments])
        assert np.array_equal(expected, results), np.argwhere(expected != results)[:5]


@pytest.mark.parametrize("arch", CHIPS)
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 60))])
def test_random_blocks(arch: str, seed: int) -> None:
    """Long blocks in which instructions depend on each other: what registers hold between them, and around calls."""
    w, rng = ARCHES[arch], np.random.default_rng(seed)
    load2, load, store = LOADS[arch]
    vcc, execution = ("vcc", "exec") if w == 64 else ("vcc_lo", "exec_lo")
    pool = [t for t in statements(arch) if "cmpx" not in t and "sdwa" not in t and "\n" not in t]
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load2} s[8:9], s[0:1], 8", f"{load2} s[20:21], s[0:1], 16",
           f"{load2} s[30:31], s[0:1], 24", f"{load2} s[42:43], s[0:1], 32", "v_and_b32 v0, 0x3ff, v0",
           "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)"]  # fmt: skip
    out += [f"{load} v{10 + k}, v1, s[6:7] offset:{k * w * 4 % 4096 if w == 32 else k % 16 * w * 4}" for k in range(24)]
    out += ["s_waitcnt vmcnt(0)"]
    out += [f"s_mov_b{w} {to}, {_mask(arch, n)}" for to, n in ((_mask(arch, 40), 42), (vcc, 42), (execution, 20))]
    for text in rng.choice(np.array(pool, object), 70):
        out.append(_renamed(text, rng, 2 if w == 64 else 1))
        if rng.random() < 0.15:
            out.append(f"v_readfirstlane_b32 s30, v{rng.integers(10, 34)}")
    for k in range(10, 34):
        out += [f"{store} v1, v{k}, s[8:9]", f"s_add_u32 s8, s8, {4 * w}", "s_addc_u32 s9, s9, 0"]
    mode = ".amdhsa_ieee_mode 0\n.amdhsa_float_denorm_mode_32 3"
    body = fitted(arch, "\n".join(out) + "\ns_waitcnt vmcnt(0)\n")
    assembled = assemble_code_object(
        kernel_text(body, arch, kernarg=64, vgprs=48, sgprs=64, extra=fitted(arch, mode)), arch
    )
    check_translated(assembled, arch, rng, 24)


@pytest.mark.parametrize("arch", CHIPS)
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 200))])
def test_random_small_blocks(arch: str, seed: int) -> None:
    """Blocks with so few registers that all lanes of a wave find room: loads, computations, stores, and the end."""
    w, rng = ARCHES[arch], np.random.default_rng(seed)
    load2, load, store = LOADS[arch]
    rows = 4 if w == 64 else 8
    vcc, execution = ("vcc", "exec") if w == 64 else ("vcc_lo", "exec_lo")
    pool = [t for t in statements(arch) if not re.search(r"cmpx|sdwa|\n|_(f|i|u|b)64|u64_u32|i64_i32", t)]
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load2} s[8:9], s[0:1], 8", f"{load2} s[20:21], s[0:1], 16",
           f"{load2} s[30:31], s[0:1], 24", f"{load2} s[42:43], s[0:1], 32", "v_and_b32 v0, 0x3ff, v0",
           "v_lshlrev_b32 v1, 2, v0", "s_waitcnt lgkmcnt(0)"]  # fmt: skip
    out += [f"s_mov_b{w} {to}, {_mask(arch, n)}" for to, n in ((_mask(arch, 40), 42), (vcc, 42), (execution, 20))]
    out += ["s_cmp_eq_u32 s30, 0x12345678", "s_cbranch_scc1 small", "small:"]
    out += [f"{load} v{10 + k}, v1, s[6:7] offset:{k * w * 4}" for k in range(rows)]
    out += ["s_waitcnt vmcnt(0)"]
    for n, text in enumerate(rng.choice(np.array(pool, object), 24)):
        out.append(_renamed(text, rng, 2, rows))
        if n % 8 == 7:  # chunks that are ahead of others would see each other's: what was stored, 16 lanes on
            out += [f"{store} v1, v{10 + n % rows}, s[6:7]", f"{load} v10, v1, s[6:7] offset:64", "s_waitcnt vmcnt(0)"]
    out += [f"{store} v1, v{10 + k}, s[8:9] offset:{k * w * 4}" for k in range(rows)]
    mode = ".amdhsa_ieee_mode 0\n.amdhsa_float_denorm_mode_32 3"
    body = fitted(arch, "\n".join(out) + "\n")
    assembled = assemble_code_object(
        kernel_text(body, arch, kernarg=64, vgprs=24, sgprs=64, extra=fitted(arch, mode)), arch
    )
    check_translated(assembled, arch, rng, rows)


MEMORY = {
    "gfx942": ("global_load_dword{} {}, v1, s[6:7] offset:{}", {1: "", 2: "x2", 3: "x3", 4: "x4"},
               "ds_read_b{} {}, v2 offset:{}", "ds_write_b{} v2, {} offset:{}"),
    "gfx1100": ("global_load_b{} {}, v1, s[6:7] offset:{}", {1: 32, 2: 64, 3: 96, 4: 128},
                "ds_load_b{} {}, v2 offset:{}", "ds_store_b{} v2, {} offset:{}"),
}  # fmt: skip


def memory_program(arch: str) -> str:
    """More registers than a group of instructions can hold, from loads of all widths, and LDS. Arguments: data, results
    (a dword a lane for each register), offsets by lane, EXEC."""
    load2, load, store = LOADS[arch]
    w = ARCHES[arch]
    wide, width, lds_load, lds_store = MEMORY[arch]
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load2} s[8:9], s[0:1], 8", f"{load2} s[10:11], s[0:1], 16",
           f"{load2} s[20:21], s[0:1], 24", "v_and_b32 v0, 0x3ff, v0", "v_lshlrev_b32 v3, 2, v0",
           "s_waitcnt lgkmcnt(0)", f"{load} v1, v3, s[10:11]", "s_waitcnt vmcnt(0)", "v_mov_b32 v2, v1",
           f"s_mov_b{w} {'exec' if w == 64 else 'exec_lo'}, {_mask(arch, 20)}"]  # fmt: skip
    row = 10
    for k in range(40):
        n = (4, 1, 2, 4, 3)[k % 5]
        registers = f"v{row}" if n == 1 else f"v[{row}:{row + n - 1}]"
        out += [wide.format(width[n], registers, 16 * k), "s_waitcnt vmcnt(0)", f"v_add_f32 v{row}, 1.0, v{row}"]
        if n != 3:
            out += [lds_store.format(32 * n, registers, 16 * (k % 4)), "s_waitcnt lgkmcnt(0)",
                    lds_load.format(32 * n, registers, 16 * (k % 3)), "s_waitcnt lgkmcnt(0)"]  # fmt: skip
        row += n + n % 2
    out += ["v_mov_b32 v4, v3"]
    for k in range(10, row):
        out += [
            f"{store} v4, v{k}, s[8:9]",
            f"v_add_u32 v4, {4 * w}, v4" if w == 64 else f"v_add_nc_u32 v4, {4 * w}, v4",
        ]
    return "\n".join(out) + "\ns_waitcnt vmcnt(0)\n"


@pytest.mark.parametrize("arch", MEMORY)
@pytest.mark.parametrize("pattern", ["row", "wide row", "one", "scattered"])
def test_memory_under_pressure(arch: str, pattern: str) -> None:
    w, rng = ARCHES[arch], np.random.default_rng(3)
    options = {"kernarg": 64, "sgprs": 64, "vgprs": 160, "lds": 16384}
    assembled = assemble_code_object(kernel_text(memory_program(arch), arch, **options), arch)
    lane = np.arange(w, dtype=np.uint32)
    offsets = {"row": 4 * lane, "wide row": 16 * lane, "one": lane * 0 + 64, "scattered": rng.permutation(lane) * 16}
    data = rng.integers(0, 1 << 30, 4096, dtype=np.uint32)
    for lanes in ((1 << 64) - 1, int(rng.integers(1, 1 << 62)), 1 << 20):
        arguments = [data, None, offsets[pattern].astype(np.uint32), np.uint64(lanes)]
        expected, results = (np.zeros((160, w), np.uint32) for _ in range(2))
        CodeObject(assembled, arch).run("k", [1], [w], [data, expected, *arguments[2:]])
        code = CodeObject(assembled, arch)
        for _ in range(RUNS):
            code.run("k", [1], [w], [data, results, *arguments[2:]])
        assert np.array_equal(expected, results), np.argwhere(expected != results)[:5]


SMALL = {
    "gfx942": (("ubyte", "sbyte", "ushort", "sshort"), ("byte", "short"),
               ("read_u8", "read_i8", "read_u16", "read_i16"), ("write_b8", "write_b16")),
    "gfx1100": (("u8", "i8", "u16", "i16"), ("b8", "b16"),
                ("load_u8", "load_i8", "load_u16", "load_i16"), ("store_b8", "store_b16")),
}  # fmt: skip


def small_program(arch: str, size: int) -> str:
    """Loads and stores of bytes (size 0) or words (1), in global memory and LDS; arguments as memory_program's."""
    load2, load, store = LOADS[arch]
    w = ARCHES[arch]
    loads, stores, lds_loads, lds_stores = SMALL[arch]
    out = [f"{load2} s[6:7], s[0:1], 0", f"{load2} s[8:9], s[0:1], 8", f"{load2} s[10:11], s[0:1], 16",
           f"{load2} s[20:21], s[0:1], 24", "v_and_b32 v0, 0x3ff, v0", "v_lshlrev_b32 v3, 2, v0",
           "s_waitcnt lgkmcnt(0)", f"{load} v1, v3, s[10:11]", f"{load} v20, v3, s[6:7]", "s_waitcnt vmcnt(0)",
           f"s_mov_b{w} {'exec' if w == 64 else 'exec_lo'}, {_mask(arch, 20)}"]  # fmt: skip
    out += [f"ds_{lds_stores[size]} v1, v20 offset:4096", "s_waitcnt lgkmcnt(0)"]
    for k in range(2):
        out += [f"global_load_{loads[2 * size + k]} v{10 + 2 * k}, v1, s[6:7] offset:8",
                f"ds_{lds_loads[2 * size + k]} v{11 + 2 * k}, v1 offset:4096"]  # fmt: skip
    out += ["s_waitcnt vmcnt(0) lgkmcnt(0)", f"global_store_{stores[size]} v1, v20, s[8:9] offset:2048"]
    out += [f"{store} v3, v{10 + k}, s[8:9] offset:{k * w * 4}" for k in range(4)]
    return "\n".join(out) + "\ns_waitcnt vmcnt(0)\n"


@pytest.mark.parametrize("arch", SMALL)
@pytest.mark.parametrize("size", [0, 1], ids=["bytes", "words"])
def test_small_elements(arch: str, size: int) -> None:
    w, rng = ARCHES[arch], np.random.default_rng(4)
    options = {"kernarg": 64, "sgprs": 64, "vgprs": 32, "lds": 16384}
    assembled = assemble_code_object(kernel_text(small_program(arch, size), arch, **options), arch)
    lane = np.arange(w, dtype=np.uint32)
    data = rng.integers(0, 1 << 32, 4096, dtype=np.uint32)
    for offsets in (lane << size, lane << size + 1, lane * 0, rng.permutation(lane) << size):
        for lanes in ((1 << 64) - 1, int(rng.integers(1, 1 << 62)), 1 << 20):
            arguments = [offsets.astype(np.uint32), np.uint64(lanes)]
            expected, results = (np.zeros(1024, np.uint32) for _ in range(2))
            CodeObject(assembled, arch).run("k", [1], [w], [data, expected, *arguments])
            code = CodeObject(assembled, arch)
            for _ in range(RUNS):
                code.run("k", [1], [w], [data, results, *arguments])
            assert expected.any()
            assert np.array_equal(expected, results), np.argwhere(expected != results)[:5]


@pytest.mark.slow
@pytest.mark.parametrize("file", ["test_engine", "test_kernels", "test_memory_instructions", "test_hip_launch"])
def test_everything_translated(file: str) -> None:
    """The tests of the engine hold with every block translated at its first use."""
    environment = {**os.environ, "PTX2AMD_VGPU_NATIVE": "always"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", str(Path(__file__).with_name(f"{file}.py"))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-3000:]
