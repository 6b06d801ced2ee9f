"""What reductions, scans, votes and broadcasts over a warp cost: PTX as nvcc writes it for them, and the counts of
the instructions that cross lanes in warp_counts.txt (`python test_warp_counts.py` writes it anew)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from ptx2amd.translate import translate

GOLDEN = Path(__file__).parent / "warp_counts.txt"
ARCHS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
COUNTED = re.compile(
    r"(ds_bpermute_b32|ds_permute_b32|ds_swizzle_b32|v_permlanex?16_b32|v_readlane_b32|v_readfirstlane_b32|v_cndmask_b32"
    r"|s_bcnt1_i32_b32|v_bcnt_u32_b32|v_mbcnt_lo_u32_b32|v_mbcnt_hi_u32_b32)"
)
DPP = re.compile(r"_dpp\b|_dpp8\b|_e64_dpp| row_| quad_perm| dpp8:")


def steps(kind: str, ptype: str, distances: tuple[int, ...], control: int) -> str:
    """A loop over `distances`, unrolled: v += shfl(v). Its operands are registers, as nvcc leaves them; in scans
    the predicate of the shuffle guards the addition."""
    lines = [f"mov.b32 %c, {control};", "mov.b32 %m, -1;"]
    for i, distance in enumerate(distances):
        lines.append(f"mov.b32 %b{i}, {distance};")
        if ptype == "f64":
            lines += [
                "mov.b64 {%lo, %hi}, %v;",
                f"shfl.sync.{kind}.b32 %hi|%p, %hi, %b{i}, %c, %m;",
                f"shfl.sync.{kind}.b32 %lo|%p, %lo, %b{i}, %c, %m;",
                "mov.b64 %o, {%lo, %hi};",
            ]
        else:
            lines.append(f"shfl.sync.{kind}.b32 %o|%p, %v, %b{i}, %c, %m;")
        lines.append(f"{'@%p ' if kind == 'up' else ''}add.{ptype} %v, %v, %o;")
    return "\n".join(lines)


def kernel(name: str, ptype: str, body: str) -> str:
    bits, size = ptype[1:], int(ptype[1:]) // 8
    return f""".visible .entry {name}(.param .u64 a) {{
.reg .pred %p, %q; .reg .b32 %t, %c, %m, %lo, %hi, %x, %b<6>; .reg .b{bits} %v, %o; .reg .b64 %a;
ld.param.u64 %a, [a]; cvta.to.global.u64 %a, %a; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, {size}, %a;
ld.global.{ptype} %v, [%a];
{body}
st.global.{ptype} [%a], %v; ret; }}
"""


def kernels() -> dict[str, str]:
    found = {}
    for ptype in ("s32", "f32", "f64"):
        for name, kind, distances, control in (
            ("sum_xor", "bfly", (16, 8, 4, 2, 1), 31),
            ("sum_down", "down", (16, 8, 4, 2, 1), 31),
            ("scan_up", "up", (1, 2, 4, 8, 16), 0),
            ("tile16_xor", "bfly", (8, 4, 2, 1), 0x101F),
            ("tile16_down", "down", (8, 4, 2, 1), 0x101F),
            ("tile8_up", "up", (1, 2, 4), 0x1800),
        ):
            found[f"{name}_{ptype}"] = kernel(f"{name}_{ptype}", ptype, steps(kind, ptype, distances, control))
    positive = "mov.b32 %m, -1; setp.gt.s32 %p, %v, 0;"
    others = {
        "broadcast": "mov.b32 %m, -1; mov.b32 %c, 31; mov.b32 %lo, 5; shfl.sync.idx.b32 %v|%p, %v, %lo, %c, %m;",
        "rank": f"{positive} vote.sync.ballot.b32 %x, %p, %m; mov.u32 %lo, %lanemask_lt; and.b32 %x, %x, %lo; "
        "popc.b32 %v, %x;",
        "count": f"{positive} vote.sync.ballot.b32 %x, %p, %m; popc.b32 %v, %x;",
        "any": f"{positive} vote.sync.any.pred %q, %p, %m; selp.b32 %v, 1, 0, %q;",
        "redux_add": "mov.b32 %m, -1; redux.sync.add.s32 %v, %v, %m;",
    }
    return found | {name: kernel(name, "s32", body) for name, body in others.items()}


def counts() -> dict[tuple[str, str], Counter[str]]:
    """(arch, kernel) -> instructions that cross lanes, by mnemonic, with all DPP ones as "dpp"."""
    found = {}
    for result in translate(HEAD + "".join(kernels().values()), "warp.ptx", ARCHS, emit="asm"):
        assert result.ok, result.kernels
        for name in result.kernels:
            body = re.search(rf"^{name}:(.*?)^\.Lfunc_end", result.code.decode(), re.DOTALL | re.MULTILINE)
            assert body
            found[result.arch, name] = Counter(filter(None, map(classify, body[1].splitlines())))
    return found


def classify(line: str) -> str:
    if DPP.search(line):
        return "dpp"
    match = COUNTED.search(line)
    return match[1] if match else ""


def page() -> str:
    rows = [
        f"{arch:8} {name:16} {'  '.join(f'{what} {n}' for what, n in sorted(count.items()))}".rstrip()
        for (arch, name), count in counts().items()
    ]
    return "\n".join(rows) + "\n"


def test_counts() -> None:
    assert page() == GOLDEN.read_text()


def test_no_warp_operation_here_permutes_through_memory() -> None:
    """The golden counts themselves: no ds_bpermute in reductions, scans, broadcasts and votes; and where the ALU
    has what is needed (RDNA), nothing of the LDS unit."""
    rows = [line.split() for line in GOLDEN.read_text().splitlines()]
    assert {arch for arch, *_ in rows} == set(ARCHS) and len(rows) == len(ARCHS) * len(kernels())
    for arch, name, *words in rows:
        assert not {"ds_bpermute_b32", "ds_permute_b32"} & set(words), (arch, name)
        assert not arch.startswith("gfx1") or "ds_swizzle_b32" not in words, (arch, name)


if __name__ == "__main__":
    GOLDEN.write_text(page())
