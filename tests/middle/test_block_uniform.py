"""Where the warps of a block are known to come together."""

from __future__ import annotations

import pytest

from ptx2amd.middle.analyses.block_uniform import block_uniform
from ptx2amd.middle.body import Body
from ptx2amd.middle.summary import body
from ptx2amd.ptx.ast import Inst
from ptx2amd.translate import parse

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
DECLARED = ".reg .pred %p, %q; .reg .b32 %r<9>; .reg .b64 %rd<3>; .shared .b32 sh;"

# name -> (body, whether warps are known to be together at the membar)
BODIES = {
    "straight": ("membar.cta;", True),
    "after a branch on the thread": ("setp.eq.u32 %p, %r1, 0; @%p bra L; mov.u32 %r2, 1; L: membar.cta;", True),
    "in a branch on the thread": ("setp.eq.u32 %p, %r1, 0; @%p bra L; membar.cta; L: mov.u32 %r2, 1;", False),
    "in a branch on the block": ("setp.eq.u32 %p, %r0, 0; @%p bra L; membar.cta; L: mov.u32 %r2, 1;", True),
    "guarded": ("setp.eq.u32 %p, %r1, 0; @%p membar.cta;", False),
    "after some have returned": ("setp.eq.u32 %p, %r1, 0; @%p ret; membar.cta;", False),
    "loop on a count": (
        "mov.u32 %r2, 0; L: membar.cta; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
        True,
    ),
    "on a parameter": (
        "ld.param.u32 %r2, [n]; setp.eq.u32 %p, %r2, 0; @%p bra L; membar.cta; L: mov.u32 %r2, 1;",
        True,
    ),
    "on memory at a parameter": (
        "ld.param.u64 %rd1, [a]; ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p, %r2, 0; @%p bra L; membar.cta;"
        "L: mov.u32 %r2, 1;",
        False,
    ),
    "loop on the thread": (
        "mov.u32 %r2, %r1; L: membar.cta; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
        False,
    ),
    "count made in a branch": (
        "mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra L; mov.u32 %r2, 1;"
        "L: setp.eq.u32 %q, %r2, 0; @%q bra M; membar.cta; M: mov.u32 %r3, 1;",
        False,
    ),
    "on what memory says": (
        "ld.shared.u32 %r2, [sh]; setp.eq.u32 %p, %r2, 0; @%p bra L; membar.cta; L: mov.u32 %r2, 1;",
        False,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_together(name: str) -> None:
    text, expected = BODIES[name]
    start = f"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; {text} ret;"
    module = parse(f"{HEAD}.entry k(.param .u32 n, .param .u64 a) {{ {DECLARED} {start} }}", "t.ptx")
    scope = body(module, module.functions["k"])
    [fence] = [item for item in scope.items if isinstance(item, Inst) and item.shape.opcode.startswith("membar")]
    assert (id(fence) in block_uniform(Body(scope, module.functions["k"]))) == expected
