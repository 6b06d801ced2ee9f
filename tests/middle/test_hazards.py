"""Kernels whose warps wait for each other are found, and ordinary ones are left alone: bodies as nvcc writes
them."""

from __future__ import annotations

import re

import pytest

from ptx2amd.middle.analyses.hazards import Hazard
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.passes import Pipeline
from ptx2amd.plan.kernel import Request
from ptx2amd.ptx.ast import Module
from ptx2amd.target import target
from ptx2amd.translate import parse, translate

HEAD = """.version 8.0
.target sm_80
.address_size 64
"""
KERNEL = """.visible .entry k(.param .u64 p, .param .u32 n, .param .u64 q) {directives} {{
.shared .align 8 .b8 s[64]; .reg .b32 %r<30>; .reg .b64 %rd<10>; .reg .pred %p<10>; .reg .f64 %fd<5>;
ld.param.u64 %rd9, [p]; cvta.to.global.u64 %rd1, %rd9; ld.param.u32 %r29, [n]; mov.u32 %r1, %tid.x;
{body}
}}
"""

WAITING_BODIES = """
# a flag in shared memory
  setp.lt.u32 %p2, %r1, 32;
  @%p2 bra A;
  L: ld.volatile.shared.u32 %r2, [s]; // waits
  setp.eq.s32 %p1, %r2, 0;
  @%p1 bra L;
  ret;
  A: st.volatile.shared.u32 [s], 1;
  ret;
# a flag, by one warp
  setp.gt.u32 %p2, %r1, 31;
  @%p2 bra A;
  L: ld.acquire.gpu.global.u32 %r2, [%rd1]; // waits
  setp.ne.s32 %p1, %r2, %r29;
  @%p1 bra L;
  ret;
  A: st.global.u32 [%rd1], 1;
  ret;
# a chain of warps
  and.b32 %r3, %r1, 31;
  setp.ne.s32 %p2, %r3, 0;
  @%p2 bra A;
  L: ld.acquire.gpu.global.u32 %r2, [%rd1]; // waits
  setp.ne.s32 %p1, %r2, %r29;
  @%p1 bra L;
  st.global.u32 [%rd1+4], 1;
  A: ret;
# an atomic that only looks
  L: atom.global.add.u32 %r2, [%rd1], 0; // waits
  setp.eq.s32 %p1, %r2, 0;
  @%p1 bra L;
  st.global.u32 [%rd1], 1;
  ret;
# a weak load of a flag
  L: ld.global.u32 %r2, [%rd1]; // waits
  setp.eq.s32 %p1, %r2, 0;
  @%p1 bra L;
  st.global.u32 [%rd1], 1;
  ret;
# a chain through places of warps
  shr.u32 %r2, %r1, 5; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2;
  L: ld.volatile.global.u32 %r4, [%rd3]; // waits
  setp.eq.s32 %p1, %r4, 0;
  @%p1 bra L;
  st.volatile.global.u32 [%rd3+8], 1;
  ret;
# a chain through places of warps, by another pointer
  ld.param.u64 %rd8, [q]; cvta.to.global.u64 %rd8, %rd8;
  shr.u32 %r2, %r1, 5; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2; add.s64 %rd4, %rd8, %rd2;
  L: ld.volatile.global.u32 %r4, [%rd3]; // waits
  setp.eq.s32 %p1, %r4, 0;
  @%p1 bra L;
  st.volatile.global.u32 [%rd4], 1;
  ret;
# look-back for what is renewed, by threads that wrote nothing before
  mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2;
  setp.gt.u32 %p2, %r1, 31; or.b32 %r4, %r29, 64;
  @%p2 bra S;
  st.volatile.global.u32 [%rd3], %r4;
  S: add.s64 %rd5, %rd3, -1024;
  L: ld.volatile.global.u32 %r5, [%rd5]; // waits
  setp.eq.s32 %p1, %r5, 0;
  @%p1 bra L;
  st.volatile.global.u32 [%rd3], 2;
  ret;
# look-back, by a warp also at the place that its block gives a second value
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra S;
  st.volatile.global.u32 [%rd3], 1;
  S: shr.u32 %r3, %r1, 5; mul.wide.u32 %rd4, %r3, 8; add.s64 %rd5, %rd3, %rd4;
  L: ld.volatile.global.u32 %r4, [%rd5+-8]; // waits
  setp.ne.s32 %p1, %r4, 2;
  @%p1 bra L;
  @%p2 bra E;
  st.volatile.global.u32 [%rd3], 2;
  E: ret;
# look-back, over values with a state in their upper half that the first write leaves open
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2;
  setp.ne.u32 %p2, %r1, 1023;
  @%p2 bra S;
  cvt.u64.u32 %rd4, %r1; or.b64 %rd4, %rd4, 1;
  st.global.u64 [%rd3], %rd4;
  S: and.b32 %r3, %r1, 31; mul.wide.u32 %rd4, %r3, 8; sub.s64 %rd5, %rd3, %rd4;
  L: ld.volatile.global.u64 %rd6, [%rd5]; // waits
  mov.b64 {%r3, %r4}, %rd6;
  setp.eq.s32 %p1, %r4, 0;
  vote.sync.any.pred %p1, %p1, -1;
  @%p1 bra L;
  @%p2 bra E;
  or.b64 %rd7, %rd6, 8589934592;
  st.global.u64 [%rd3], %rd7;
  E: ret;
# an mbarrier
  { .reg .pred P; W: mbarrier.try_wait.shared.b64 P, [s], %rd2; @P bra D; bra W; D: } ret; // waits
# a barrier with a count
  bar.sync 1, 64; // waits
  ret;
# an arrival
  bar.arrive 1, 64; // waits
  ret;
# barriers in branches, by a flag that the first warp sets
  mov.u32 %r3, 0;
  setp.gt.u32 %p2, %r1, 31;
  @%p2 bra B;
  mov.u32 %r3, 1;
  B: setp.eq.u32 %p1, %r3, 1;
  @%p1 bra A;
  bar.sync 0; // waits
  ret;
  A:
  bar.sync 0;
  ret;
# barriers in branches, by the number of rounds of a loop
  mov.u32 %r3, 0;
  B: add.u32 %r3, %r3, 1; shr.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0;
  @%p2 bra B;
  setp.gt.u32 %p1, %r3, 5;
  @%p1 bra A;
  bar.sync 0; // waits
  ret;
  A:
  bar.sync 0;
  ret;
# barriers in branches, by a ticket of each warp
  atom.global.add.u32 %r3, [%rd1], 1;
  setp.gt.u32 %p1, %r3, %r29;
  @%p1 bra A;
  bar.sync 0; // waits
  ret;
  A:
  bar.sync 0;
  ret;
# barriers in branches
  setp.lt.u32 %p2, %r1, 32;
  @%p2 bra A;
  bar.sync 0; // waits
  ret;
  A:
  bar.sync 0;
  ret;
"""

ORDINARY_BODIES = """
# a grid-stride loop
  L: st.global.u32 [%rd1], %r1;
  add.s32 %r1, %r1, 256;
  setp.lt.s32 %p1, %r1, %r29;
  @%p1 bra L;
  ret;
# a compare-and-swap loop
  ld.global.u64 %rd2, [%rd1];
  L: mov.b64 %fd1, %rd2;
  add.f64 %fd2, %fd1, %fd1;
  mov.b64 %rd3, %fd2;
  atom.global.cas.b64 %rd4, [%rd1], %rd2, %rd3;
  setp.ne.s64 %p1, %rd2, %rd4;
  mov.u64 %rd2, %rd4;
  @%p1 bra L;
  ret;
# a queue
  L: atom.global.add.u32 %r2, [%rd1], 1;
  setp.lt.s32 %p1, %r2, %r29;
  @%p1 bra L;
  st.global.u32 [%rd1+8], 1;
  ret;
# a lock with a release
  L: atom.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra L;
  st.global.u32 [%rd1+4], 1;
  membar.gl;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret;
# one thread waits for other blocks
  setp.ne.s32 %p2, %r1, 0;
  @%p2 bra A;
  L: ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.ne.s32 %p1, %r2, %r29;
  @%p1 bra L;
  A: bar.sync 0;
  st.global.u32 [%rd1], 1;
  ret;
# look-back by the first warp
  st.global.u32 [%rd1], 1;
  shr.u32 %r3, %r1, 5;
  setp.ne.s32 %p2, %r3, 0;
  @%p2 bra A;
  L: ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.ne.s32 %p1, %r2, %r29;
  @%p1 bra L;
  A: bar.sync 0;
  st.global.u32 [%rd1], 1;
  ret;
# look-back by all warps
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2;
  setp.ne.u32 %p2, %r1, 1023;
  @%p2 bra S;
  st.volatile.global.u32 [%rd3], 1;
  S: and.b32 %r3, %r1, 31; mul.wide.u32 %rd4, %r3, 8; sub.s64 %rd5, %rd3, %rd4;
  L: ld.volatile.global.u32 %r4, [%rd5];
  setp.eq.s32 %p1, %r4, 0;
  @%p1 bra L;
  @%p2 bra E;
  st.volatile.global.u32 [%rd3], 2;
  E: ret;
# look-back by all warps, over values with a state in their upper half, by votes
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2;
  setp.ne.u32 %p2, %r1, 1023;
  @%p2 bra S;
  cvt.u64.u32 %rd4, %r1; or.b64 %rd4, %rd4, 4294967296;
  st.global.u64 [%rd3], %rd4;
  S: and.b32 %r3, %r1, 31; mul.wide.u32 %rd4, %r3, 8; sub.s64 %rd5, %rd3, %rd4;
  L: mov.u32 %r4, 2;
  setp.eq.u32 %p1, %r3, 9;
  @%p1 bra V;
  ld.volatile.global.u64 %rd6, [%rd5];
  shr.u64 %rd7, %rd6, 32; cvt.u32.u64 %r4, %rd7;
  V: setp.eq.s32 %p1, %r4, 0;
  vote.sync.any.pred %p1, %p1, -1;
  @%p1 bra L;
  @%p2 bra E;
  cvt.u64.u32 %rd6, %r4; or.b64 %rd7, %rd6, 8589934592;
  st.global.u64 [%rd3], %rd7;
  E: ret;
# look-back by each thread, who renews what it published (digits of a radix sort)
  mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2;
  setp.gt.u32 %p2, %r1, 255; or.b32 %r4, %r29, 64;
  @%p2 bra S;
  st.volatile.global.u32 [%rd3], %r4;
  S: bar.sync 0;
  @%p2 bra E;
  add.s64 %rd5, %rd3, -1024;
  L: ld.volatile.global.u32 %r5, [%rd5];
  setp.eq.s32 %p1, %r5, 0;
  @%p1 bra L;
  ld.param.u64 %rd6, [p]; cvta.to.global.u64 %rd7, %rd6; add.s64 %rd4, %rd7, %rd2;
  st.volatile.global.u32 [%rd4], 2;
  E: ret;
# rounds with barriers
  L: bar.sync 0;
  st.shared.u32 [s], 1;
  bar.sync 0;
  ld.volatile.shared.u32 %r2, [s];
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra L;
  ret;
# an early exit before a barrier
  setp.gt.u32 %p2, %r1, %r29;
  @%p2 bra A;
  bar.sync 0;
  bar.sync 0;
  A: ret;
# a flag that only the host writes
  L: ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.ne.s32 %p1, %r2, %r29;
  @%p1 bra L;
  ret;
# barriers in a branch on a register that differed before
  st.global.u32 [%rd1], %r1;
  mov.u32 %r1, %r29;
  setp.eq.s32 %p2, %r1, 3;
  @%p2 bra A;
  bar.sync 0;
  ret;
  A: mov.u32 %r1, %tid.x;
  bar.sync 0;
  st.global.u32 [%rd1], %r1;
  ret;
# barriers in a branch, by the number of rounds of a loop that all take
  setp.gt.u32 %p2, %r1, %r29;
  @%p2 bra E;
  mov.u32 %r3, 0;
  B: add.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, %r29;
  @%p2 bra B;
  setp.gt.u32 %p1, %r3, 5;
  @%p1 bra A;
  bar.sync 0;
  ret;
  A:
  bar.sync 0;
  E: ret;
# barriers in a uniform branch
  setp.eq.s32 %p2, %r29, 3;
  @%p2 bra A;
  bar.sync 0;
  ret;
  A: bar.sync 0;
  ret;
"""


def bodies(text: str) -> dict[str, str]:
    """Kernel bodies by their names."""
    return dict(part.split("\n", 1) for part in text.split("# ")[1:])


FUNCTIONS = """
.visible .func (.param .b32 r) get(.param .b64 a) { .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [a];
ld.volatile.u32 %r1, [%rd1]; st.param.b32 [r], %r1; ret; }
.visible .func all() { bar.sync 0; ret; }
.visible .func (.param .b32 r) again(.param .b64 a) { .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p;
ld.param.u64 %rd1, [a]; ld.volatile.u32 %r1, [%rd1]; setp.gt.u32 %p, %r1, 9; @%p bra E;
{ .param .b64 q; st.param.b64 [q], %rd1; .param .b32 s;
call.uni (s), again, (q); ld.param.b32 %r1, [s]; } E: st.param.b32 [r], %r1; ret; }
"""
ASK = "{{ .param .b64 q; st.param.b64 [q], %rd1; .param .b32 r; call.uni (r), {}, (q); ld.param.b32 %r2, [r]; }}"
CALLING_BODIES = f"""
# a flag that a function reads
  setp.lt.u32 %p2, %r1, 32; @%p2 bra A;
  L: {ASK.format("get")} // waits
  setp.eq.s32 %p1, %r2, 0; @%p1 bra L;
  ret;
  A: st.volatile.u32 [%rd1], 1; ret;
# a flag that a function reads which calls itself
  setp.lt.u32 %p2, %r1, 32; @%p2 bra A;
  L: {ASK.format("again")} // waits
  setp.eq.s32 %p1, %r2, 0; @%p1 bra L;
  ret;
  A: st.volatile.u32 [%rd1], 1; ret;
# barriers of functions in branches
  setp.lt.u32 %p2, %r1, 32; @%p2 bra A;
  call.uni all, (); // waits
  ret;
  A: bar.sync 0; ret;
"""
WAITING, ORDINARY, CALLING = bodies(WAITING_BODIES), bodies(ORDINARY_BODIES), bodies(CALLING_BODIES)


def kernel(body: str, directives: str = "") -> str:
    return HEAD + KERNEL.format(body=body, directives=directives)


def hazards(module: Module) -> list[Hazard]:
    plan, _ = Pipeline(CallGraph(module)).kernel(module.functions["k"], Request(target("gfx942")))
    return list(plan.hazards)


def found(text: str) -> list:
    module = parse(text, "hazard.ptx")
    return hazards(module)


@pytest.mark.parametrize("name", WAITING)
def test_found(name: str) -> None:
    text = kernel(WAITING[name])
    [hazard] = [h for h in found(text) if not h.lanes]
    assert "// waits" in text.splitlines()[hazard.line - 1]


@pytest.mark.parametrize("name", ["%warpid", "%ctaid", "%ntid_x", "%clock", "%laneid"])
@pytest.mark.parametrize("register", ["%r2", "%r3", "%r4"])
def test_registers_that_are_called_as_special_ones(register: str, name: str) -> None:
    """A program may declare a register under the name of a special one, or one that begins like it."""
    for body in {**WAITING, **ORDINARY}.values():
        hidden = re.sub(rf"{register}\b", name, body)
        if hidden != body and name not in body:
            assert found(kernel(f".reg .b32 {name}; {hidden}")) == found(kernel(f".reg .b32 x; {body}"))


LOOK_BACK = """
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2;
  st.volatile.global.u32 [%rd3], 1;
  and.b32 %r3, %r1, 31; mul.wide.u32 %rd4, %r3, 8; sub.s64 %rd5, %rd3, %rd4;
  L: ld.volatile.global.u32 %r4, [%rd5];
  setp.eq.s32 %p1, %r4, 0;
  @%p1 bra L;
  {pointer} mul.wide.u32 %rd7, %r1, 4; add.s64 %rd7, %rd6, %rd7;
  st.global.u32 [%rd7], 2;
  ret;
"""
POINTERS = {
    "a parameter": ("ld.param.u64 %rd6, [q];", {(0, 16)}),
    "behind a parameter": ("ld.param.v2.u64 {%rd8, %rd6}, [q+8];", {(0, 32)}),
    "one of two": ("ld.param.u64 %rd6, [q]; @%p1 ld.param.u64 %rd6, [q+24];", {(0, 16), (0, 40)}),
    "from memory": ("ld.global.u64 %rd6, [%rd1];", None),
    "from an atomic": ("atom.global.exch.b64 %rd6, [%rd1], %rd2;", None),
    "in two halves": ("ld.param.v2.u32 {%r5, %r6}, [q]; mov.b64 %rd6, {%r5, %r6};", None),
    "of a variable": ("mov.u64 %rd6, v;", None),
}


@pytest.mark.parametrize("name", POINTERS)
def test_writes_by_other_pointers(name: str) -> None:
    """Look-back is a hazard where others write by pointers of which nothing is known; by those of other parameters,
    where these point into one allocation with what is waited for."""
    pointer, aliases = POINTERS[name]
    text = kernel(LOOK_BACK.replace("{pointer}", pointer)).replace(".param .u64 q", ".param .align 8 .b8 q[64]")
    text = text.replace(HEAD, HEAD + ".global .u32 v[64];\n")
    [hazard] = found(text)
    assert hazard.aliases == (aliases or set())
    [result] = translate(text, "look.ptx", ["gfx942"])
    assert (result.kernels["k"].mapping, result.kernels["k"].apart) == (
        ("paired", sorted(aliases)) if aliases else ("padded", [])
    )
    [whole] = translate(text, "look.ptx", ["gfx942"], mode="module")
    assert whole.kernels["k"].mapping == "padded" and whole.kernels["k"].hazards


@pytest.mark.parametrize(
    "before, after, hazard",
    [
        ("", "", True),
        ("bar.sync 0;", "", False),
        ("bar.sync 0;", "@%p2 bra L;", True),
        ("bar.sync 0;", "bar.sync 0; @%p2 bra L;", False),
        ("@%p3 bar.sync 0;", "", True),
        ("@%p3 bra A; bar.sync 0; A:", "", True),
    ],
)
def test_writes_by_other_pointers_behind_barriers(before: str, after: str, hazard: bool) -> None:
    """While a warp waits, none of its block gets past a barrier that it has yet to come to (CUB's radix sort, whose
    keys may lie in one allocation with the places)."""
    body = LOOK_BACK.replace("{pointer}", before + " ld.param.u64 %rd6, [q];").replace("ret;", after + " ret;")
    text = kernel("setp.eq.u32 %p3, %r29, 1; setp.eq.u32 %p2, %r29, 2; " + body)
    assert [h.aliases for h in found(text)] == ([{(0, 16)}] if hazard else [])


ROWS = """{first} L: bar.sync 0; add.s32 {by}, {by}, 32; setp.lt.s32 %p1, {by}, %r29; @%p1 bra L;
  E: setp.gt.s32 %p2, {by}, %r29; @%p2 bra F; bar.sync 0; F: ret;"""


@pytest.mark.parametrize(
    "by, directives, hazard, rows",
    [
        ("%tid.x", "", True, True),
        ("%tid.y", "", True, False),
        ("%tid.x", ".reqntid 32, 8, 1", False, False),
        ("%tid.x", ".reqntid 64, 8, 1", True, False),
    ],
)
def test_barriers_in_branches_by_the_place_in_a_row(by: str, directives: str, hazard: bool, rows: bool) -> None:
    """Blocks of 32 x N threads whose warps all go the same ways (faiss's distances): a launch knows."""
    first = f"mov.u32 %r5, {by}; setp.ge.s32 %p3, %r5, %r29; @%p3 bra E;"
    text = kernel(ROWS.format(first=first, by="%r5"), directives)
    hazards_found = found(text)
    assert [h.rows for h in hazards_found] == ([rows] if hazard else [])
    [result] = translate(text, "rows.ptx", ["gfx942"])
    k = result.kernels["k"]
    assert (k.mapping, k.rows) == ("padded" if hazard and not rows else "paired", 32 if rows else 0)


@pytest.mark.parametrize("name", CALLING)
def test_found_across_calls(name: str) -> None:
    module = parse(kernel(CALLING[name]) + FUNCTIONS, "calls.ptx")
    assert [h for h in hazards(module) if not h.lanes], name


def test_rounds_with_a_barrier_in_a_function_are_no_hazard() -> None:
    body = ORDINARY["rounds with barriers"].replace("bar.sync 0;", "call.uni all, ();")
    module = parse(kernel(body) + FUNCTIONS, "calls.ptx")
    assert hazards(module) == []


@pytest.mark.parametrize("name", ORDINARY)
def test_left_alone(name: str) -> None:
    assert found(kernel(ORDINARY[name])) == []


def test_flags_that_decide_whether_each_other_is_written() -> None:
    """In a loop: they say nothing of who gets there, and following them comes to an end."""
    body = """mov.pred %p4, 0; L: mov.pred %p3, 1; @%p4 bra M; mov.pred %p3, 0;
      M: mov.pred %p4, 1; @%p3 bra W; mov.pred %p4, 0; bra L;
      W: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra W; st.global.u32 [%rd1], 1; bra L;"""
    assert len(found(kernel(body))) == 1


def test_a_block_of_one_warp_has_no_hazards() -> None:
    assert found(kernel(WAITING["an mbarrier"], ".reqntid 32, 1, 1")) == []


@pytest.mark.parametrize(
    ("arch", "mapping", "expected"),
    [
        ("gfx942", "", "padded"),
        ("gfx942", "paired", "paired"),
        ("gfx1100", "", "native"),
        ("gfx1100", "padded", "padded"),
    ],
)
def test_mapping(arch: str, mapping: str, expected: str) -> None:
    """Chosen by the analysis on waves of 64 lanes, unless asked for; an ordinary kernel stays paired."""
    text = kernel(WAITING["a flag in shared memory"])
    [result] = translate(text, "flag.ptx", [arch], mapping=mapping)
    assert result.kernels["k"].mapping == expected
    assert result.kernels["k"].max_threads == (512 if expected == "padded" else 1024)
    assert result.kernels["k"].hazards and not result.kernels["k"].warnings
    [result] = translate(kernel(ORDINARY["a queue"]), "queue.ptx", [arch])
    assert result.kernels["k"].mapping == target(arch).mapping


def test_large_required_blocks_are_refused_with_the_reason() -> None:
    [result] = translate(kernel(WAITING["an arrival"], ".reqntid 640, 1, 1"), "large.ptx", ["gfx942"])
    assert "640 threads" in result.kernels["k"].reason and "part of the block" in result.kernels["k"].reason


def test_a_lock_without_release_is_warned_of() -> None:
    """A lane may wait for another lane of its warp: no mapping helps."""
    body = ORDINARY["a lock with a release"].replace("exch.b32 %r3, [%rd1]", "exch.b32 %r3, [%rd1+8]")
    [result] = translate(kernel(body), "lock.ptx", ["gfx1100"])
    [warning] = result.kernels["k"].warnings
    assert "another lane" in warning and "atom.global.cas.b32" in warning and "more)" not in warning


def test_a_lock_that_a_warp_takes_in_step_is_not_warned_of() -> None:
    """All lanes learn in each round whether the first has the lock: none is ahead of others."""
    body = """mov.u32 %r2, %laneid; setp.ne.u32 %p1, %r2, 0; L: mov.u32 %r3, 0; @%p1 bra M;
      atom.global.cas.b32 %r4, [%rd1], 0, 1; setp.eq.s32 %p2, %r4, 0; selp.u32 %r3, 1, 0, %p2;
      M: shfl.sync.idx.b32 %r5, %r3, 0, 31, -1; setp.eq.s32 %p3, %r5, 0; @%p3 bra L;
      shfl.sync.idx.b32 %r6, %r1, 1, 31, -1; @%p1 bra E; atom.global.exch.b32 %r7, [%rd1], 0; E: ret;"""
    assert not [h for h in found(kernel(body)) if h.lanes]


def test_many_warnings_are_one_line() -> None:
    """Unrolled code repeats a loop by the dozen; a user reads of it once."""
    body = ORDINARY["a lock with a release"].replace("exch.b32 %r3, [%rd1]", "exch.b32 %r3, [%rd1+8]")
    second = body.replace("L:", "M:").replace("L;", "M;")
    [result] = translate(kernel(body.replace("ret;", "") + second), "locks.ptx", ["gfx1100"])
    [warning] = result.kernels["k"].warnings
    assert "another lane" in warning and warning.endswith(" (and 1 more)")


EXCHANGE = """  mov.u32 %r2, %laneid; setp.eq.s32 %p1, %r2, 0;
  @%p1 bra B;
  A: shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1; add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, %r29;
  @%p2 bra A;
  bra C;
  B: SECOND add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, %r29;
  @%p2 bra B;
  C: st.global.u32 [%rd1], %r1; ret;
"""


SECONDS = {
    "shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;": False,
    "shfl.sync.down.b32 %r3, %r1, 16, 31, -1;": True,
    "": False,
}


@pytest.mark.parametrize("second, warned", SECONDS.items())
def test_exchanges_in_branches_by_lane_that_cannot_meet_are_warned_of(second: str, warned: bool) -> None:
    """Those with the same qualifiers, as nvcc makes of a loop with a shuffle and `if (lane == 0)` in it, become one."""
    module = parse(HEAD + KERNEL.format(directives="", body=EXCHANGE.replace("SECOND", second)))
    found = hazards(module)
    assert [h.what[:22] for h in found if h.lanes] == ["lanes of a warp exchan"] * warned


def test_of_several_waits_in_a_line_the_first_is_named() -> None:
    """Each time the same: names go into cache entries."""
    ask = "atom.global.exch.b32 %r3, [%rd1], 1; atom.global.cas.b32 %r4, [%rd1+4], 0, 1; or.b32 %r3, %r3, %r4;"
    text = kernel(f"L: {ask} setp.ne.u32 %p1, %r3, 0; @%p1 bra L; st.global.u32 [%rd1+64], 0; ret;")
    for _ in range(20):
        [*warnings] = {hazard.what for hazard in found(text) if hazard.lanes}
        assert warnings and all("exch" in what for what in warnings)
