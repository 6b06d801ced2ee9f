"""Scalar ALU instructions against an independent reference in Python, with edge values.

Protects: results, SCC, EXEC of every SOP1, SOP2, SOPC and SOPK row in both generations.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import scalar_ops
from tests.vgpu.machine import State, assemble, execute

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGES32 = [
    0,
    1,
    2,
    31,
    32,
    63,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFE,
    M32,
    0x00FF00F0,
]
EDGES64 = [0, 1, M32, 1 << 32, 1 << 63, M64, (1 << 63) - 1, 0x0123456789ABCDEF, 0xF0000000_0000000F]


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def low(x: int, bits: int) -> int:
    """Position of the lowest one; -1."""
    return next((k for k in range(bits) if x >> k & 1), -1)


def high(x: int, bits: int) -> int:
    return bits - x.bit_length() if x else -1


def run_of_signs(x: int, bits: int) -> int:
    text = f"{x:0{bits}b}"
    rest = text.lstrip(text[0])
    return bits - len(rest) if rest else -1


def field(x: int, spec: int, bits: int, sign: bool) -> int:
    offset, width = spec & (bits - 1), spec >> 16 & 0x7F
    value = (signed(x, bits) if sign else x) >> offset
    if width == 0:
        return 0
    if width >= bits:
        return value
    value &= (1 << width) - 1
    return signed(value, width) if sign else value


def quads(x: int, bits: int) -> list[int]:
    return [x >> 4 * k & 15 for k in range(bits // 4)]


#: name without width -> f(a, b, scc, old, exec, bits) -> (d, scc or None, exec or None)
Result = tuple[int, int | None, int | None]


def nz(f: Callable[..., int]) -> Callable[..., Result]:
    """SCC = the result is not zero."""

    def g(a: int, b: int, scc: int, old: int, ex: int, n: int, dn: int) -> Result:
        d = f(a, b, n) & ((1 << dn) - 1)
        return d, int(d != 0), None

    return g


def plain(f: Callable[..., int]) -> Callable[..., Result]:
    return lambda a, b, scc, old, ex, n, dn: (f(a, b, n), None, None)


def saveexec(f: Callable[[int, int], int]) -> Callable[..., Result]:
    def g(a: int, b: int, scc: int, old: int, ex: int, n: int, dn: int) -> Result:
        new = f(a, ex) & ((1 << n) - 1)
        return ex, int(new != 0), new

    return g


def wrexec(f: Callable[[int, int], int]) -> Callable[..., Result]:
    def g(a: int, b: int, scc: int, old: int, ex: int, n: int, dn: int) -> Result:
        new = f(a, ex) & ((1 << n) - 1)
        return new, int(new != 0), new

    return g


def overflow(a: int, b: int) -> int:
    return int(not -(1 << 31) <= a + b < 1 << 31)


def s(x: int) -> int:
    return signed(x, 32)


LOGIC = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "and_not1": lambda a, b: a & ~b,
    "or_not1": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b), "and_not0": lambda a, b: ~a & b, "or_not0": lambda a, b: ~a | b,
}  # fmt: skip
COMPARE = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}  # fmt: skip


def extreme(better: Callable[[int, int], bool], sign: bool) -> Callable[..., Result]:
    def g(a: int, b: int, scc: int, old: int, ex: int, n: int, dn: int) -> Result:
        x, y = (s(a), s(b)) if sign else (a, b)
        first = better(x, y)
        return (a if first else b), int(first), None

    return g


def _fixed() -> dict[str, Callable[..., Result]]:
    table: dict[str, Callable[..., Result]] = {
        "s_add_u32": lambda a, b, scc, *_: (a + b, (a + b) >> 32, None),
        "s_sub_u32": lambda a, b, scc, *_: (a - b, int(b > a), None),
        "s_add_i32": lambda a, b, scc, *_: (a + b, overflow(s(a), s(b)), None),
        "s_sub_i32": lambda a, b, scc, *_: (a - b, overflow(s(a), -s(b)), None),
        "s_addc_u32": lambda a, b, scc, *_: (a + b + scc, (a + b + scc) >> 32, None),
        "s_subb_u32": lambda a, b, scc, *_: (a - b - scc, int(b + scc > a), None),
        "s_min_i32": extreme(lambda x, y: x < y, True), "s_min_u32": extreme(lambda x, y: x < y, False),
        "s_max_i32": extreme(lambda x, y: x >= y, True), "s_max_u32": extreme(lambda x, y: x >= y, False),
        "s_mul_i32": plain(lambda a, b, n: a * b), "s_mul_hi_u32": plain(lambda a, b, n: a * b >> 32),
        "s_mul_hi_i32": plain(lambda a, b, n: s(a) * s(b) >> 32),
        "s_bfe_u32": nz(lambda a, b, n: field(a, b, 32, False)), "s_bfe_i32": nz(lambda a, b, n: field(a, b, 32, True)),
        "s_bfe_u64": nz(lambda a, b, n: field(a, b, 64, False)), "s_bfe_i64": nz(lambda a, b, n: field(a, b, 64, True)),
        "s_absdiff_i32": nz(lambda a, b, n: abs(s(a - b & M32))),
        "s_pack_ll_b32_b16": plain(lambda a, b, n: a & 0xFFFF | (b & 0xFFFF) << 16),
        "s_pack_lh_b32_b16": plain(lambda a, b, n: a & 0xFFFF | b >> 16 << 16),
        "s_pack_hh_b32_b16": plain(lambda a, b, n: a >> 16 | b >> 16 << 16),
        "s_pack_hl_b32_b16": plain(lambda a, b, n: a >> 16 | (b & 0xFFFF) << 16),
        "s_cls_i32": plain(lambda a, b, n: run_of_signs(a, 32)),
        "s_cls_i32_i64": plain(lambda a, b, n: run_of_signs(a, 64)),
        "s_sext_i32_i8": plain(lambda a, b, n: signed(a & 0xFF, 8)),
        "s_sext_i32_i16": plain(lambda a, b, n: signed(a & 0xFFFF, 16)),
        "s_abs_i32": nz(lambda a, b, n: abs(s(a))),
        "s_bitreplicate_b64_b32": plain(lambda a, b, n: sum((a >> k & 1) * 3 << 2 * k for k in range(32))),
        "s_bitcmp0_b32": lambda a, b, scc, *_: (0, 1 - (a >> (b & 31) & 1), None),
        "s_bitcmp1_b32": lambda a, b, scc, *_: (0, a >> (b & 31) & 1, None),
        "s_bitcmp0_b64": lambda a, b, scc, *_: (0, 1 - (a >> (b & 63) & 1), None),
        "s_bitcmp1_b64": lambda a, b, scc, *_: (0, a >> (b & 63) & 1, None),
    }  # fmt: skip
    for n in (32, 64):
        mask = (1 << n) - 1
        table |= {
            f"s_mov_b{n}": plain(lambda a, b, n: a),
            f"s_cmov_b{n}": lambda a, b, scc, old, *_: (a if scc else old, None, None),
            f"s_not_b{n}": nz(lambda a, b, n: ~a),
            f"s_wqm_b{n}": nz(lambda a, b, n: sum(15 << 4 * k for k, q in enumerate(quads(a, n)) if q)),
            f"s_brev_b{n}": plain(lambda a, b, n: int(f"{a:0{n}b}"[::-1], 2)),
            f"s_bcnt0_i32_b{n}": nz(lambda a, b, n: n - a.bit_count()),
            f"s_bcnt1_i32_b{n}": nz(lambda a, b, n: a.bit_count()),
            f"s_ff0_i32_b{n}": plain(lambda a, b, n: low(~a, n)),
            f"s_ctz_i32_b{n}": plain(lambda a, b, n: low(a, n)),
            f"s_clz_i32_u{n}": plain(lambda a, b, n: high(a, n)),
            f"s_quadmask_b{n}": nz(lambda a, b, n: sum(1 << k for k, q in enumerate(quads(a, n)) if q)),
            f"s_bitset0_b{n}": lambda a, b, scc, old, ex, m, dn: (old & ~(1 << (a & (dn - 1))), None, None),
            f"s_bitset1_b{n}": lambda a, b, scc, old, ex, m, dn: (old | 1 << (a & (dn - 1)), None, None),
            f"s_cselect_b{n}": lambda a, b, scc, *_: (a if scc else b, None, None),
            f"s_lshl_b{n}": nz(lambda a, b, n: a << (b & (n - 1))),
            f"s_lshr_b{n}": nz(lambda a, b, n: a >> (b & (n - 1))),
            f"s_ashr_i{n}": nz(lambda a, b, n: signed(a, n) >> (b & (n - 1))),
        }  # fmt: skip
        for name, f in LOGIC.items():
            table[f"s_{name}_b{n}"] = nz(lambda a, b, n, f=f: f(a, b))
            table[f"s_{name}_saveexec_b{n}"] = saveexec(f)
            table[f"s_{name}_wrexec_b{n}"] = wrexec(f)
        table[f"s_bfm_b{n}"] = plain(lambda a, b, _, n=n, mask=mask: ((1 << (a & (n - 1))) - 1) << (b & (n - 1)) & mask)
    for k in (1, 2, 3, 4):
        table[f"s_lshl{k}_add_u32"] = lambda a, b, scc, *_, k=k: ((a << k) + b, int((a << k) + b > M32), None)
    for name, f in COMPARE.items():
        for t in ("i32", "u32", "u64"):
            view = s if t == "i32" else (lambda x: x)
            table[f"s_cmp_{name}_{t}"] = lambda a, b, scc, *_, f=f, v=view: (0, int(f(v(a), v(b))), None)
    return table


REFERENCE = _fixed()
SKIP = {
    "s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_rfe_b64", "s_movrels_b32", "s_movrels_b64", "s_movreld_b32",
    "s_movreld_b64", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64", "s_setvskip", "s_set_gpr_idx_on",
}  # fmt: skip


def _reg(first: int, bits: int) -> str:
    return f"s{first}" if bits == 32 else f"s[{first}:{first + 1}]"


def _rows(generation: str) -> list[Op]:
    return [
        op for op in scalar_ops()
        if op.format in ("SOP1", "SOP2", "SOPC") and op.opcode(generation) is not None and op.name not in SKIP
    ]  # fmt: skip


def test_every_row_has_a_reference() -> None:
    missing = [op.name for g in ("gfx9", "gfx11") for op in _rows(g) if op.name not in REFERENCE]
    assert not missing


@pytest.mark.parametrize("generation", ["gfx9", "gfx11"])
def test_scalar_alu(generation: str) -> None:
    """d = s[20:21], a = s[4:5], b = s[8:9]; SCC in by s_cmp on s12, out in s13."""
    rng = random.Random(11)
    rows = _rows(generation)
    lines = []
    for op in rows:
        operands = [_reg({"d": 20, "a": 4, "b": 8}[o.name], o.bits) for o in op.parse_operands()]
        lines.append(f"{op.mnemonic(generation)} {', '.join(operands)}")
    codes = assemble(generation, ["s_cmp_lg_u32 s12, 0", "s_cselect_b32 s13, 1, 0", *lines])
    before, after, codes = codes[0], codes[1], codes[2:]
    wrong = []
    for op, code in zip(rows, codes, strict=True):
        operands = {o.name: o.bits for o in op.parse_operands()}
        n, dn = operands["a"], operands.get("d", 32)
        edges = EDGES32 if n == 32 else EDGES64
        cases = [(a, b) for a in edges for b in rng.sample(EDGES32 if operands.get("b", 32) == 32 else EDGES64, 4)]
        cases += [(rng.getrandbits(n), rng.getrandbits(operands.get("b", 32))) for _ in range(20)]
        for a, b in cases:
            scc, old = rng.getrandbits(1), rng.getrandbits(dn)
            st = State(64)
            st.exec = rng.getrandbits(64)
            ex = st.exec & ((1 << n) - 1)
            for register, value in ((20, old), (4, a), (8, b)):
                st.s[register], st.s[register + 1] = value & M32, value >> 32
            st.s[12] = scc
            full_exec = st.exec
            execute(generation, before + code + after, st, level="v2")
            d, scc_out, exec_out = REFERENCE[op.name](a, b, scc, old, ex, n, dn)
            got = int(st.s[20]) | (int(st.s[21]) << 32 if dn == 64 else 0)
            expect_exec = full_exec if exec_out is None else full_exec & ~((1 << n) - 1) | exec_out
            bad = "d" in operands and got != d & ((1 << dn) - 1)
            bad |= int(st.s[13]) != (scc if scc_out is None else scc_out) or st.exec != expect_exec
            if bad:
                wrong.append(
                    f"{op.name} a={a:#x} b={b:#x} scc={scc} old={old:#x} exec={ex:#x}: {got:#x} scc={st.s[13]}, "
                    f"expected {d & ((1 << dn) - 1):#x} scc={scc_out}"
                )
                break
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("generation", ["gfx9", "gfx11"])
def test_sopk(generation: str) -> None:
    """Immediates are sign-extended, except in unsigned comparisons."""
    rng = random.Random(12)
    wrong = []
    for imm in (0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1234):
        lines = [f"s_movk_i32 s20, {imm:#x}", f"s_cmovk_i32 s20, {imm:#x}", f"s_addk_i32 s20, {imm:#x}",
                 f"s_mulk_i32 s20, {imm:#x}"]  # fmt: skip
        compares = [(name, t) for name in COMPARE for t in ("i32", "u32")]
        lines += [f"s_cmpk_{name}_{t} s20, {imm:#x}" for name, t in compares]
        codes = assemble(generation, ["s_cmp_lg_u32 s12, 0", "s_cselect_b32 s13, 1, 0", *lines])
        extended = signed(imm, 16)
        for value in (*EDGES32, imm, extended & M32):
            for k, line in enumerate(lines):
                scc = rng.getrandbits(1)
                st = State(64)
                st.s[20], st.s[12] = value, scc
                execute(generation, codes[0] + codes[2 + k] + codes[1], st, level="v2")
                d, scc_out = value, scc
                if k == 0 or (k == 1 and scc):
                    d = extended & M32
                elif k == 2:
                    d, scc_out = (value + extended) & M32, overflow(s(value), extended)
                elif k == 3:
                    d = value * extended & M32
                elif k >= 4:
                    name, t = compares[k - 4]
                    scc_out = int(COMPARE[name](s(value), extended) if t == "i32" else COMPARE[name](value, imm))
                if (int(st.s[20]), int(st.s[13])) != (d, scc_out):
                    wrong.append(
                        f"{line} on {value:#x} scc={scc}: {int(st.s[20]):#x} {st.s[13]}, expected {d:#x} {scc_out}"
                    )
    assert not wrong, "\n".join(wrong[:30])


@pytest.mark.parametrize("generation", ["gfx9", "gfx11"])
def test_constants_and_null(generation: str) -> None:
    """Inline constants and literals as 32- and 64-bit values; M0; NULL reads zero and swallows writes."""
    lines = ["s_mov_b32 s0, -16", "s_mov_b64 s[2:3], -1", "s_mov_b32 s4, 0.5", "s_mov_b64 s[6:7], 1.0",
             "s_mov_b64 s[8:9], 0xdeadbeef", "s_mov_b32 s10, 0x12345678", "s_mov_b32 m0, 77", "s_mov_b32 s11, m0",
             "s_ashr_i64 s[12:13], 0x80000000, 4", "s_mov_b64 s[14:15], src_shared_base",
             "s_mov_b64 s[16:17], src_private_base", "s_mov_b64 vcc, 5", "s_mov_b32 s18, vcc_lo"]  # fmt: skip
    if generation == "gfx11":
        lines += ["s_mov_b32 null, 5", "s_mov_b32 s19, null", "s_mov_b64 s[20:21], null"]
    st = State(64)
    st.s[19:22] = 9
    execute(generation, b"".join(assemble(generation, lines)), st, level="v2")
    v = [int(x) for x in st.s[:22]]
    assert v[0] == 0xFFFFFFF0 and v[2:4] == [M32, M32] and v[4] == 0x3F000000 and v[6:8] == [0, 0x3FF00000]
    assert v[8:10] == [0xDEADBEEF, 0] and v[10] == 0x12345678 and v[11] == 77
    assert v[12:14] == [0xF8000000, M32]
    assert v[14] == 0 and v[16] == 0 and v[15] != v[17] and min(v[15], v[17]) > 0x7FFF
    assert v[18] == 5 and (generation == "gfx9" or v[19:22] == [0, 0, 0])
