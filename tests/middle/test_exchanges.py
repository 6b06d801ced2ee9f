"""Which exchanges between lanes that come by different ways become one: bodies as nvcc writes them. That the results
are right then is what tests/lower/test_warp_random.py and the sample parted_lanes show."""

from __future__ import annotations

import pytest

from ptx2amd.isa.effects import BRANCHES
from ptx2amd.middle.analyses.divergence import Divergence
from ptx2amd.middle.analyses.exchanges import meetings
from ptx2amd.middle.body import Body
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.op import Op
from ptx2amd.middle.passes import Pipeline
from ptx2amd.middle.transforms import merge_exchanges, wait_in_loops
from ptx2amd.middle.unit import Unit
from ptx2amd.plan.kernel import KernelPlan, Request
from ptx2amd.ptx.ast import Module
from ptx2amd.target import target
from ptx2amd.translate import parse

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
KERNEL = """.func (.param .b64 r) g();
.visible .entry k(.param .u64 p, .param .u32 n) {{
.reg .b32 %r<40>; .reg .b64 %rd<10>; .reg .pred %p<10>;
ld.param.u64 %rd1, [p]; ld.param.u32 %r30, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, %ctaid.x;
mov.u32 %r5, %tid.y; shr.u32 %r6, %r1, 5;
{body}
}}
"""

FUNCTION = """.func f(.reg .b32 %a, .param .b64 p, .param .b32 n) {{
.reg .b32 %r<40>; .reg .b64 %rd<10>; .reg .pred %p<10>;
{body}
}}
"""
BRANCH = " @%p1 bra A; st.global.u32 [%rd1], %r1; A: st.global.u32 [%rd1+4], %r1; E: ret;"

# condition of a branch -> whether lanes of a warp may part at it
CONDITIONS = {
    "setp.eq.s32 %p1, %r2, 0;": True,
    "setp.lt.u32 %p1, %r1, %r30;": True,
    "setp.eq.s32 %p1, %r30, 3;": False,
    "setp.eq.s32 %p1, %r3, 3;": False,
    "setp.eq.s32 %p1, %r6, 3;": False,  # the warp's number
    "setp.lt.u32 %p1, %r1, 64;": False,
    "setp.lt.u32 %p1, %r1, 65;": True,
    "setp.gt.u32 %p1, %r1, 63;": False,
    "and.b32 %r7, %r1, -32; setp.eq.s32 %p1, %r7, 32;": False,
    "setp.eq.s32 %p1, %r5, 0;": True,  # rows of blocks may be shorter than a warp
    "mov.u32 %r7, %ntid.x; mad.lo.s32 %r8, %r5, %r7, %r1; shr.u32 %r9, %r8, 5; setp.eq.s32 %p1, %r9, 0;": False,
    "add.s32 %r8, %r1, %r30; shr.u32 %r9, %r8, 5; setp.eq.s32 %p1, %r9, 0;": True,
    "setp.eq.s32 %p2, %r2, 1; vote.sync.ballot.b32 %r7, %p2, -1; setp.eq.s32 %p1, %r7, 0;": False,
    "setp.eq.s32 %p2, %r2, 1; vote.sync.ballot.b32 %r7, %p2, 255; setp.eq.s32 %p1, %r7, 0;": True,
    "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1; setp.eq.s32 %p1, %r7, 0;": False,
    "shfl.sync.idx.b32 %r7, %r1, 0, 4127, -1; setp.eq.s32 %p1, %r7, 0;": True,  # of the half's first lane
    "ld.global.u32 %r7, [%rd1]; setp.eq.s32 %p1, %r7, 0;": False,
    "mul.wide.u32 %rd2, %r1, 4; ld.global.u32 %r7, [%rd2]; setp.eq.s32 %p1, %r7, 0;": True,
    "atom.global.add.u32 %r7, [%rd1], 1; setp.eq.s32 %p1, %r7, 0;": True,
    # a register that each side of another branch writes
    "setp.eq.s32 %p2, %r2, 0; mov.u32 %r7, 1; @%p2 bra S; mov.u32 %r7, 2; S: setp.eq.s32 %p1, %r7, 1;": True,
    "setp.eq.s32 %p2, %r3, 0; mov.u32 %r7, 1; @%p2 bra S; mov.u32 %r7, 2; S: setp.eq.s32 %p1, %r7, 1;": False,
    # rounds of a loop that lanes leave one by one
    "mov.u32 %r7, 0; L: add.s32 %r7, %r7, 1; setp.lt.s32 %p2, %r7, %r2; @%p2 bra L; setp.eq.s32 %p1, %r7, 1;": True,
    "mov.u32 %r7, 0; L: add.s32 %r7, %r7, 1; setp.lt.s32 %p2, %r7, %r3; @%p2 bra L; setp.eq.s32 %p1, %r7, 1;": False,
    # a loop that some of the lanes take part in
    "setp.lt.u32 %p2, %r1, %r30; @!%p2 bra E; mov.u32 %r7, 0; L: add.s32 %r7, %r7, 1; setp.lt.s32 %p3, %r7, %r3;"
    " @%p3 bra L; setp.eq.s32 %p1, %r7, 1;": False,
    # results that differ where operands do not
    "elect.sync %r7|%p1, -1;": True,
    "elect.sync %r7|%p2, -1; setp.eq.s32 %p1, %r7, 0;": False,  # whom they elect
    "elect.sync %r7|%p2, %r2; setp.eq.s32 %p1, %r7, 0;": True,
    "shfl.sync.idx.b32 %r7|%p1, %r30, 0, 31, -1;": True,
    "shfl.sync.bfly.b32 %r7, %r30, 1, 31, -1; setp.eq.s32 %p1, %r7, 0;": False,
    ".shared .b32 s[256]; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [s]; setp.eq.s32 %p1, %r7, 0;": True,
    "movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r30; setp.eq.s32 %p1, %r7, 0;": True,
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r7,%r8}, {%r30}, {%r30}, {%r3,%r3}; setp.eq.s32 %p1, %r7, 0;": (
        True
    ),
    "wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r7,%r8}, [%rd1]; setp.eq.s32 %p1, %r7, 0;": True,
    "stacksave.u32 %r7; setp.eq.s32 %p1, %r7, 0;": True,
    "add.cc.u32 %r8, %r2, -1; addc.u32 %r7, 0, 0; setp.eq.s32 %p1, %r7, 0;": True,
    "add.cc.u32 %r8, %r3, -1; addc.u32 %r7, 0, 0; setp.eq.s32 %p1, %r7, 0;": False,
    "mov.u32 %r7, %clock; setp.eq.s32 %p1, %r7, 0;": True,
    "mov.u32 %r7, %smid; setp.eq.s32 %p1, %r7, 0;": False,
    "bar.red.popc.u32 %r7, 0, %p2; setp.eq.s32 %p1, %r7, 0;": False,
    "bar.red.popc.u32 %r7, %r2, %p2; setp.eq.s32 %p1, %r7, 0;": True,
    "activemask.b32 %r7; setp.eq.s32 %p1, %r7, 0;": False,
    # floats whose bits look like multiples of 32; a part that is not the whole
    ".reg .f32 %f; cvt.rn.f32.u32 %f, %r1; setp.lt.f32 %p1, %f, 0f41200000;": True,
    ".reg .f32 %f; cvt.rn.f32.u32 %f, %r1; div.rn.f32 %f, %f, 0f42000000; setp.lt.f32 %p1, %f, 0f3F000000;": True,
    "mov.b64 {%r7, %r8}, 0x2000000001; shr.u32 %r9, %r1, %r7; setp.eq.s32 %p1, %r9, 0;": True,
    ".reg .v2 .b32 %v; mov.u32 %v.r, %r2; mov.u32 %r7, %v.x; setp.eq.s32 %p1, %r7, 0;": True,
    # memory that each lane has of its own
    ".local .b32 l; ld.local.u32 %r7, [l]; setp.eq.s32 %p1, %r7, 0;": True,
    ".local .b32 l; cvta.local.u64 %rd2, l; ld.u32 %r7, [%rd2]; setp.eq.s32 %p1, %r7, 0;": True,
    ".local .b32 l; cvta.local.u64 %rd2, l; st.global.u64 [%rd1], %rd2; ld.global.u64 %rd3, [%rd1];"
    " ld.u32 %r7, [%rd3]; setp.eq.s32 %p1, %r7, 0;": True,
    "ld.u32 %r7, [%rd1]; setp.eq.s32 %p1, %r7, 0;": False,  # no address of local memory is made
    ".param .b64 c; call.uni (c), g, (); ld.u32 %r7, [%rd1]; setp.eq.s32 %p1, %r7, 0;": True,
    ".param .b64 c; call.uni (c), g, (); ld.param.u32 %r7, [c]; setp.eq.s32 %p1, %r7, 0;": True,
    ".param .b64 c; call.uni (c), g, (); ld.global.u32 %r7, [%rd1]; setp.eq.s32 %p1, %r7, 0;": False,
}
# the same in a function that is called
OF_CALLERS = (
    "setp.eq.s32 %p1, %a, 0;",
    "ld.param.u32 %r7, [n]; setp.eq.s32 %p1, %r7, 0;",
    "mov.b64 %rd2, p; ld.param.u32 %r7, [%rd2+8]; setp.eq.s32 %p1, %r7, 0;",
    ".shared .b64 s; ld.shared.u64 %rd2, [s]; ld.u32 %r7, [%rd2]; setp.eq.s32 %p1, %r7, 0;",
)


def lower(op: Op) -> str:
    return op.inst.shape.form.lower


def of(text: str) -> Body:
    module = parse(HEAD + KERNEL.format(body=text), "exchanges.ptx")
    return Unit(CallGraph(module), module.functions["k"]).body


@pytest.mark.parametrize("condition, parts", CONDITIONS.items())
def test_divergent_branches(condition: str, parts: bool) -> None:
    assert divergent(of(condition + BRANCH)) == parts


@pytest.mark.parametrize("condition", OF_CALLERS)
def test_what_callers_give_is_divergent(condition: str) -> None:
    """Each lane may have given an own value, or the address of a variable in its own local memory."""
    module = parse(HEAD + FUNCTION.format(body=condition + BRANCH), "exchanges.ptx")
    assert divergent(Unit(CallGraph(module), module.functions["f"]).body)


def divergent(flow: Body) -> bool:
    """Whether the last branch of a body is divergent."""
    last = [op for op in flow.ops() if op.does & BRANCHES][-1]
    return last in Divergence(flow).branches


def planned(module: Module, name: str = "k") -> tuple[KernelPlan, Body]:
    """A kernel's plan, and its body as it is lowered."""
    return Pipeline(CallGraph(module)).kernel(module.functions[name], Request(target("gfx942")))


def transform(text: str) -> Unit:
    """A kernel after the passes that change exchanges."""
    module = parse(HEAD + KERNEL.format(body=text), "exchanges.ptx")
    unit = Unit(CallGraph(module), module.functions["k"])
    merge_exchanges.run(unit)
    wait_in_loops.uneven_loops(unit)
    return unit


BY_LANE, UNIFORM = "setp.eq.s32 %p1, %r2, 0; @%p1 bra B;", "setp.eq.s32 %p1, %r30, 0; @%p1 bra B;"
XOR = "shfl.sync.bfly.b32 %r10, %r1, {}, 31, {};"
SIDES = "{branch} {first} bra C; B: {second} C: st.global.u32 [%rd1], %r10; ret;"

# branch, its two sides -> how many operations become one, for each that is left
MEETINGS = {
    "two shuffles": (BY_LANE, XOR.format(16, -1), XOR.format(16, -1), [2]),
    "at different distances": (BY_LANE, XOR.format(16, -1), XOR.format("%r30", -1), [2]),
    "one after the other": (BY_LANE, XOR.format(16, -1) + XOR.format(8, -1), XOR.format(16, -1) * 2, [2, 2]),
    "more on one side": (BY_LANE, XOR.format(16, -1) * 3, XOR.format(16, -1), [2]),
    "a branch that all take": (UNIFORM, XOR.format(16, -1), XOR.format(16, -1), []),
    "masks of the sides": (BY_LANE, XOR.format(16, -2), XOR.format(16, 1), []),
    "one mask for a part": (BY_LANE, XOR.format(16, 255), XOR.format(16, 255), [2]),
    "a mask from before": ("activemask.b32 %r20; " + BY_LANE, XOR.format(16, "%r20"), XOR.format(16, "%r20"), [2]),
    "a copied mask": (
        "activemask.b32 %r20; " + BY_LANE,
        "mov.u32 %r21, %r20; " + XOR.format(16, "%r21"),
        "mov.u32 %r22, %r20; " + XOR.format(16, "%r22"),
        [2],
    ),
    "masks made on the sides": (
        BY_LANE,
        "activemask.b32 %r20; " + XOR.format(16, "%r20"),
        "activemask.b32 %r20; " + XOR.format(16, "%r20"),
        [],
    ),
    "other masks between": (
        BY_LANE,
        XOR.format(1, 254) + XOR.format(16, -1),
        XOR.format(16, -1),
        [2],
    ),
    "different modes": (BY_LANE, XOR.format(16, -1), "shfl.sync.up.b32 %r10, %r1, 1, 0, -1;", []),
    "different operations": (BY_LANE, XOR.format(16, -1), "redux.sync.add.u32 %r10, %r1, -1;", []),
    "with and without a predicate": (
        BY_LANE,
        XOR.format(16, -1),
        "shfl.sync.bfly.b32 %r10|%p3, %r1, 8, 31, -1;",
        [2],
    ),
    "memory": (BY_LANE, "st.global.u32 [%rd1], 1; bar.warp.sync -1;", "bar.warp.sync -1;", [2]),
    "behind a barrier of the block": (BY_LANE, "bar.sync 0; " + XOR.format(16, -1), XOR.format(16, -1), []),
    "a loop and its rounds": (
        BY_LANE,
        "L: " + XOR.format(16, -1) + " add.s32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, 3; @%p2 bra L;",
        XOR.format(16, -1) * 3,
        [4],
    ),
    "three ways": (
        BY_LANE,
        "setp.gt.u32 %p2, %r2, 9; @%p2 bra D; " + XOR.format(16, -1) + " bra C; D: " + XOR.format(16, -1),
        XOR.format(16, -1),
        [3],
    ),
    "a guarded one": (BY_LANE, "@%p2 " + XOR.format(16, -1) + XOR.format(16, -1), XOR.format(16, -1), [3]),
}


@pytest.mark.parametrize("name", MEETINGS)
def test_operations_that_meet(name: str) -> None:
    branch, first, second, sizes = MEETINGS[name]
    before = of(SIDES.format(branch=branch, first=first, second=second))
    found = meetings(before)
    assert [len(ops) for ops in found] == sizes
    after = transform(SIDES.format(branch=branch, first=first, second=second))
    assert after.transformed == bool(sizes)
    left = [op for op in after.body.ops() if lower(op) in ("shfl", "redux", "bar_warp_sync")]
    all_ = [op for op in before.ops() if lower(op) in ("shfl", "redux", "bar_warp_sync")]
    assert len(left) == len(all_) - sum(sizes) + len(sizes)


def test_operations_in_a_function_that_both_sides_call() -> None:
    function = ".func f() { .reg .b32 %r; shfl.sync.bfly.b32 %r, %r, 1, 31, -1; ret; }\n"
    text = KERNEL.format(body=BY_LANE + " call.uni f, (); bra C; B: call.uni f, (); C: ret;")
    module = parse(HEAD + function + text, "calls.ptx")
    ops = list(planned(module)[1].ops())
    assert [lower(op) for op in ops].count("shfl") == 1 and not any(lower(op) == "call" for op in ops)


def test_functions_of_gcc_stay_as_they_are() -> None:
    """Its exchanges are never copies of one: neither does a call need to be seen through, nor do two become one."""
    function = ".shared .b32 __nvptx_uni[32]; .func f() { .reg .b32 %r; shfl.sync.bfly.b32 %r, %r, 1, 31, -1; ret; }\n"
    two = KERNEL.format(body=BY_LANE + " call.uni f, (); bra C; B: call.uni f, (); C: ret;")
    one = two.replace("entry k", "entry l").replace("B: call.uni f, ()", "B: shfl.sync.bfly.b32 %r7, %r1, 1, 31, -1")
    module = parse(HEAD + function + two + one, "gcc.ptx")
    for kernel, calls in (("k", 2), ("l", 1)):
        plan, lowered = planned(module, kernel)
        ops = [lower(op) for op in lowered.ops()]
        assert (ops.count("call"), ops.count("shfl")) == (calls, 2 - calls)
        assert plan.hazards == ()


def test_lanes_wait_where_ways_round_a_loop_differ() -> None:
    """A loop against its rounds written out: labels at which lanes wait for others are there only then."""

    def labels(first: str, second: str) -> list[str]:
        found = transform(SIDES.format(branch=BY_LANE, first=first, second=second)).body
        return [label for label in found.labels if label.startswith("$waiting")]

    loop = "{0}: " + XOR.format(16, -1) + " add.s32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, 3; @%p2 bra {0};"
    assert not labels(XOR.format(16, -1), XOR.format(16, -1))
    assert not labels(loop.format("L"), loop.format("M"))
    assert labels(loop.format("L"), XOR.format(16, -1) * 3) == ["$waiting0"]


def test_what_else_needs_lanes_together_waits_in_such_a_loop() -> None:
    """Lanes that have waited go on alone. At a barrier of the block they wait for the other warps of their wave too."""

    def waits(first: str, second: str) -> list[tuple[str, bool]]:
        body = f"A: {BY_LANE} {first} bra C; B: {second} C: redux.sync.add.u32 %r10, %r1, %r20; bar.sync 0;"
        text = body + " add.s32 %r8, %r8, 1; setp.lt.s32 %p3, %r8, 3; @%p3 bra A; bar.warp.sync -1; ret;"
        ops = [op for op in transform(text).body.ops() if lower(op) == "wait"]
        return [(str(getattr(op.inst.get("a"), "name", "")), "wave" in op.inst.shape.mods) for op in ops]

    assert not waits(XOR.format(16, -1) * 2, XOR.format(16, -1) * 2)
    loop = "L: " + XOR.format(16, -1) + " add.s32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, 3; @%p2 bra L;"
    assert waits(loop, XOR.format(16, -1) * 3) == [("", False), ("%r20", False), ("", True)]
