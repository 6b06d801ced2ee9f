"""Special registers: position in grid, block and warp for odd block shapes, clocks that advance, shared sizes."""

from __future__ import annotations

import struct
from itertools import product

import pytest

from tests.lower.device import MAPPINGS, program

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
POSITION = [
    *(f"%{v}.{axis}" for v in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid") for axis in "xyz"),
    *("%cluster_ctaid.x", "%cluster_nctaid.y", "%cluster_ctarank", "%cluster_nctarank"),
    *("%laneid", "%warpid", "%nwarpid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge"),
    *("%lanemask_gt", "%total_smem_size", "%dynamic_smem_size", "%envreg3", "%ntid.w", "%smid", "%nsmid"),
]
# Where the thread's results go: its linear number in the grid
WHERE = """
  ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
  mov.u32 %nx, %ntid.x; mov.u32 %ny, %ntid.y; mov.u32 %nz, %ntid.z;
  mad.lo.u32 %y, %z, %ny, %y; mad.lo.u32 %x, %y, %nx, %x;
  mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z; mov.u32 %r, %nctaid.y;
  mad.lo.u32 %y, %z, %r, %y; mov.u32 %z, %nctaid.x; mov.u32 %r, %ctaid.x; mad.lo.u32 %y, %y, %z, %r;
  mul.lo.u32 %r, %nx, %ny; mul.lo.u32 %r, %r, %nz; mad.lo.u32 %x, %y, %r, %x;
"""
REGISTERS = ".reg .b32 %x, %y, %z, %nx, %ny, %nz, %r; .reg .b64 %out, %q, %w; .reg .pred %p;"


def position_kernel(name: str, directive: str = "") -> str:
    stores = "".join(
        f"  mov.u32 %r, {register}; st.global.u32 [%q+{4 * i}], %r;\n" for i, register in enumerate(POSITION)
    )
    return f""".visible .entry {name}(.param .u64 out) {directive} {{
  {REGISTERS} .shared .align 4 .b8 fixed[40];
  {WHERE}
  mad.wide.u32 %q, %x, {4 * len(POSITION)}, %out;
{stores}  st.shared.u8 [fixed], 1; ret; }}
"""


def expected(grid: tuple[int, ...], block: tuple[int, ...], c: tuple[int, ...], t: tuple[int, ...]) -> dict:
    linear = t[0] + block[0] * (t[1] + block[1] * t[2])
    lane = linear % 32
    values = {f"%{n}.{a}": v[i] for n, v in
              {"tid": t, "ntid": block, "ctaid": c, "nctaid": grid, "clusterid": c, "nclusterid": grid}.items()
              for i, a in enumerate("xyz")}  # fmt: skip
    le = (2 << lane) - 1
    return values | {
        "%cluster_ctaid.x": 0, "%cluster_nctaid.y": 1, "%cluster_ctarank": 0, "%cluster_nctarank": 1,
        "%laneid": lane, "%warpid": linear // 32, "%nwarpid": 32, "%lanemask_eq": 1 << lane, "%lanemask_le": le,
        "%lanemask_lt": le >> 1, "%lanemask_ge": ~(le >> 1) & 0xFFFFFFFF, "%lanemask_gt": ~le & 0xFFFFFFFF,
        "%total_smem_size": 128,  # 40 + 24, in units of 128
        "%dynamic_smem_size": 24, "%envreg3": 0, "%ntid.w": 0,
    }  # fmt: skip


SHAPES = [
    ((1, 1, 1), (64, 1, 1)),
    ((2, 3, 2), (5, 7, 3)),
    ((3, 1, 2), (33, 2, 1)),
    ((1, 2, 1), (1, 1, 47)),
    ((1, 1, 1), (16, 8, 4)),
    ((1, 1, 1), (1, 1, 1)),
]


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize(("grid", "block"), SHAPES)
@pytest.mark.parametrize("fixed", [False, True], ids=["free", "reqntid"])
def test_position(arch: str, grid: tuple[int, ...], block: tuple[int, ...], fixed: bool) -> None:
    directive = f".reqntid {', '.join(map(str, block))}" if fixed else ""
    loaded = program(HEAD + position_kernel("k", directive), arch)
    threads = block[0] * block[1] * block[2]
    out = loaded.gpu.buffer(bytes(4 * len(POSITION) * threads * grid[0] * grid[1] * grid[2]))
    loaded.launch("k", grid, block, [out], 24)
    rows = struct.iter_unpack(f"<{len(POSITION)}I", out.bytes())
    order = product(*(range(n) for n in reversed(grid)), *(range(n) for n in reversed(block)))
    for (cz, cy, cx, tz, ty, tx), row in zip(order, rows, strict=True):
        found = dict(zip(POSITION, row, strict=True))
        assert found["%smid"] < found["%nsmid"]
        want = expected(grid, block, (cx, cy, cz), (tx, ty, tz))
        assert {name: found[name] for name in want} == want


CLOCKS = f"""{HEAD}.visible .entry k(.param .u64 out) {{
  {REGISTERS} .reg .b64 %c<3>; .reg .b32 %a<3>;
  ld.param.u64 %out, [out];
  mov.u64 %c0, %clock64; mov.u64 %q, %globaltimer; mov.u32 %a0, %clock;
  mov.u32 %r, 0;
LOOP:
  add.u32 %r, %r, 1;
  st.volatile.global.u32 [%out+64], %r;
  setp.lt.u32 %p, %r, 20000;
  @%p bra LOOP;
  mov.u64 %c1, %clock64; mov.u64 %w, %globaltimer; mov.u32 %a1, %clock;
  sub.u64 %c1, %c1, %c0; sub.u64 %w, %w, %q; sub.u32 %a1, %a1, %a0;
  st.global.u64 [%out], %c1; st.global.u64 [%out+8], %w; st.global.u32 [%out+16], %a1;
  mov.u64 %c0, %globaltimer; mov.u32 %a0, %globaltimer_hi; shr.u64 %c0, %c0, 32; cvt.u32.u64 %a2, %c0;
  sub.u32 %a0, %a0, %a2; st.global.u32 [%out+20], %a0;
  ret; }}
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_clocks_advance(arch: str) -> None:
    [out] = program(CLOCKS, arch).run("k", 1, [96])
    cycles, nanoseconds, low, high = struct.unpack_from("<2Q2I", out)
    assert cycles > 1000 and low > 1000
    assert 1000 < nanoseconds < 60e9  # a real time: 20,000 rounds, less than a minute
    assert high == 0
