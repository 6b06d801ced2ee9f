"""Fences in loops wait for accesses of the iteration before.

Protects: barriers and releases at the start of a loop's body, with stores at its end. LLVM removes its own waits there.
The weak-memory mode of the software GPU shows it, or the order of the machine instructions.
"""

from __future__ import annotations

import re

import pytest

from ptx2amd.translate import translate

LOOP = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 flag, .param .u32 n) {{
.reg .b32 %t, %i, %x, %a, %b, %n, %s; .reg .pred %p; .reg .b64 %o, %f; .shared .align 4 .b32 w[256];
ld.param.u64 %o, [out]; ld.param.u64 %f, [flag]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;
mov.u32 %s, w; shl.b32 %a, %t, 2; xor.b32 %b, %a, 128; add.u32 %a, %a, %s; add.u32 %b, %b, %s; mov.u32 %i, 0;
mov.u32 %x, %t;
L: {first} {last}
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;
st.global.u32 [%o+4096], %x; ret; }}
"""
#: What orders at the start of the loop's body, the store at its end, and the instruction that has to wait for it.
BODIES = {
    "shared": ("bar.sync 0; ld.shared.u32 %s, [%b]; bar.sync 0; add.u32 %x, %x, %s;", "st.shared.u32 [%a], %x;",
               "s_barrier"),
    "global": ("st.release.gpu.global.u32 [%f], %i; add.u32 %x, %x, %i;", "st.weak.global.u32 [%o], %x;",
               "global_store"),
    "atomic": ("red.release.gpu.global.add.u32 [%f], %i; add.u32 %x, %x, %i;", "st.weak.global.u32 [%o], %x;",
               "global_atomic"),
}  # fmt: skip
#: Waits for stores to LDS and to global memory, by generation.
WAITS = {
    "gfx9": (r"s_waitcnt .*lgkmcnt\(0\)", r"s_waitcnt vmcnt\(0\)"),
    "gfx10": (r"s_waitcnt .*lgkmcnt\(0\)", r"s_waitcnt_vscnt null, 0x0"),
    "gfx11": (r"s_waitcnt .*lgkmcnt\(0\)", r"s_waitcnt_vscnt null, 0x0"),
    "gfx12": (r"s_wait_\w*dscnt 0x0", r"s_wait_storecnt\w* 0x0"),
}


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_stores_at_the_end_of_a_loop(arch: str, kind: str) -> None:
    """Between the loop's label and the first barrier or release there is a wait for them."""
    first, last, orders = BODIES[kind]
    [result] = translate(LOOP.format(first=first, last=last), "loop.ptx", [arch], emit="asm")
    text = result.code.decode()
    before = text[text.index(".LBB0_1:") :].partition(orders)[0]
    wait = WAITS[next(generation for generation in WAITS if arch.startswith(generation))][kind != "shared"]
    assert re.search(wait, before), before
