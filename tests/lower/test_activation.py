"""Nodes that the first thread to need one makes, under the node's lock, as Taichi's sparse fields do: threads look
whether it is there, take the lock, look again, and make it under a further lock. The loop around goes to another node
in each round, so looking there again is no wait for the same."""

from __future__ import annotations

import struct
from itertools import product

import pytest

from tests.lower.device import EVERY, program

NODES, INDICES, THREADS = 16, 200, 128
OPTIONS = ("look", "leader", "nested", "local")
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = """.visible .entry {name}(.param .u64 p) {{
  .reg .b64 %p, %n, %w, %o; .reg .b32 %i, %k, %r, %m, %c; .reg .pred %q;
  .local .align 8 .b8 mine[8];
  ld.param.u64 %p, [p]; cvta.to.global.u64 %p, %p;
  mov.u32 %i, %tid.x;
LOOP:
  mul.lo.u32 %k, %i, 7; and.b32 %k, %k, {last};
  mul.wide.u32 %n, %k, 16; add.u64 %n, %n, %p; add.u64 %n, %n, 16;
  {local}
  {look}
  {leader}
L: atom.global.exch.b32 %r, [%n], 1; setp.eq.u32 %q, %r, 1; @%q bra L;
  membar.gl;
  ld.volatile.global.u64 %w, [%n+8]; setp.ne.u64 %q, %w, 0; @%q bra UNLOCK;
  {work}
  cvt.u64.u32 %w, %c; atom.global.exch.b64 %o, [%n+8], %w;
UNLOCK: membar.gl; atom.global.exch.b32 %r, [%n], 0;
JOIN: {join}
DONE: add.u32 %i, %i, {threads}; setp.lt.u32 %q, %i, {indices}; @%q bra LOOP;
  ret;
}}
"""
LOCAL = "st.volatile.local.u64 [mine], %n; ld.volatile.local.u64 %n, [mine];"
LOOK = "ld.volatile.global.u64 %w, [%n+8]; setp.ne.u64 %q, %w, 0; @%q bra DONE;"
LEADER = """activemask.b32 %m; match.any.sync.b64 %k, %n, %m; neg.s32 %r, %k; and.b32 %k, %k, %r;
  mov.u32 %r, %lanemask_eq; setp.ne.u32 %q, %r, %k; @%q bra JOIN;"""
COUNT = "ld.volatile.global.u32 %c, [%p+4]; add.u32 %c, %c, 1; st.volatile.global.u32 [%p+4], %c; membar.gl;"
NESTED = f"""M: atom.global.exch.b32 %r, [%p], 1; setp.eq.u32 %q, %r, 1; @%q bra M; membar.gl;
  {COUNT} atom.global.exch.b32 %r, [%p], 0;"""
ALONE = "atom.global.add.u32 %c, [%p+4], 1; add.u32 %c, %c, 1;"

VARIANTS = {"_".join(name for name, on in zip(OPTIONS, chosen, strict=True) if on) or "plain": chosen
            for chosen in product((False, True), repeat=len(OPTIONS))}  # fmt: skip


def text() -> str:
    kernels = [
        KERNEL.format(
            name=name, last=NODES - 1, threads=THREADS, indices=INDICES, local=LOCAL if local else "",
            look=LOOK if look else "", leader=LEADER if leader else "", work=NESTED if nested else ALONE,
            join="bar.warp.sync %m;" if leader else "",
        )
        for name, (look, leader, nested, local) in VARIANTS.items()
    ]  # fmt: skip
    return HEAD + "".join(kernels)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("name", VARIANTS)
def test_each_node_is_made_once(name: str, arch: str) -> None:
    [out] = program(text(), arch).run(name, THREADS, [16 + 16 * NODES])
    words = struct.unpack(f"<2I8x{'QQ' * NODES}", out)
    assert words[:2] == (0, NODES)
    assert words[2::2] == (0,) * NODES  # locks, all given back
    assert sorted(words[3::2]) == list(range(1, NODES + 1))
