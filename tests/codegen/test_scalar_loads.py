"""Loads that no lane asks for are not done: LLVM 22 makes scalar ones of them without our work-around, and takes away
the jump past them."""

from __future__ import annotations

import struct

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.codegen.rewriting import rewritten

LANES = 64
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
BEGIN = """.visible .entry k(.param .u64 p, .param .u64 out, .param .u32 n) {
.reg .u32 %r<6>; .reg .u64 %l<5>; .reg .pred %p;
ld.param.u64 %l1, [p]; ld.param.u64 %l2, [out]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %l3, %r2, 4; add.s64 %l3, %l3, %l2; setp.lt.u32 %p, %r2, %r1;
cvt.u32.u64 %r4, %l1; st.global.u32 [%l3+256], %r4;  // so that the pointer is there already
@%p bra SOME;
"""
END = "\nst.global.u32 [%l3], %r3;\nret; }\n"
#: what lanes below n do, and the rest: of none there is a pointer to load from
KERNELS = {
    "a null pointer for none": "add.u32 %r3, %r1, 5; bra END;\nSOME: ld.global.nc.u32 %r3, [%l1];\nEND:",
    "a null pointer for none, first": "ld.global.nc.u32 %r3, [%l1]; bra END;\nSOME: add.u32 %r3, %r1, 5;\nEND:",
    "address 0": "add.u32 %r3, %r1, 5; bra END;\nSOME: mov.u64 %l4, 0; ld.global.nc.u32 %r3, [%l4];\nEND:",
}  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", KERNELS)
def test_loads_that_no_lane_asks_for(name: str, arch: str) -> None:
    count = LANES if name.endswith("first") else 0
    [result] = translate(HEAD + BEGIN + KERNELS[name] + END, archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    out = gpu.buffer(bytes(8 * LANES))
    gpu.load(result.code).kernel("k").launch(1, LANES, [0, out, count])
    gpu.synchronize()
    assert struct.unpack(f"<{LANES}I", out.bytes()[: 4 * LANES]) == (count + 5,) * LANES


KEPT = '  call void asm sideeffect "", ""()\n'
FUNCTION = """define void @f() {
entry:
  br i1 %c, label %some, label %end
some:                                             ; preds = %entry
  %v = load i32, ptr addrspace(1) %p, align 4
  br label %end
end:                                              ; preds = %some, %entry
  ret void
}
"""


def test_short_blocks_are_marked_once() -> None:
    end = "  br label %end"
    assert rewritten("scalar_loads", FUNCTION) == FUNCTION.replace(end, f"{KEPT}{end}")


def test_before_a_switch() -> None:
    """It has lines of its own."""
    switch = "  switch i32 %v, label %end [\n    i32 0, label %entry\n    i32 1, label %end\n  ]\n"
    function = FUNCTION.replace("  br label %end\n", switch)
    assert rewritten("scalar_loads", function) == FUNCTION.replace("  br label %end\n", f"{KEPT}{switch}")


@pytest.mark.parametrize(
    ("old", "new"),
    [("load", "freeze"), ("addrspace(1) %p", "addrspace(1) @p"), ("i1 %c, label %some, label", "label"),
     ("br label %end", "br i1 %c, label %some, label %end"), ("  %v", "  %w = add i32 1, 1\n" * 20 + "  %v")],
)  # fmt: skip
def test_other_blocks_are_not(old: str, new: str) -> None:
    """Without such a load, from variables, not branched to, loops of one block, long ones."""
    other = FUNCTION.replace(old, new, 1)
    assert rewritten("scalar_loads", other) == other
