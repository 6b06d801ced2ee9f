"""Threads of one warp that take turns at a lock: each shape of loop that nvcc makes ends, in every mapping, and
the work under the lock is done by one thread at a time."""

from __future__ import annotations

import struct

import pytest

from tests.lower.device import MAPPINGS, program

HEAD = """.version 8.0
.target sm_80
.address_size 64
"""
# %rd1: the lock, and a counter 4 bytes behind it
KERNEL = """.visible .entry {name}(.param .u64 p) {{
.reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<10>; .shared .align 4 .u32 s;
ld.param.u64 %rd9, [p]; cvta.to.global.u64 %rd1, %rd9; mov.u32 %r10, 0; mov.u32 %r1, %tid.x;
{body}
ret; }}
"""
WORK = """ld.volatile.global.u32 %r8, [%rd1+4]; add.s32 %r9, %r8, 1; st.volatile.global.u32 [%rd1+4], %r9;
membar.gl;"""
RELEASE = "atom.global.exch.b32 %r7, [%rd1], 0;"
TRY = "atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.s32 %p1, %r2, 0;"

FUNCTIONS = f"""
.func take(.param .b64 a) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; ld.param.u64 %rd1, [a]; L: {TRY}
@%p1 bra L; membar.gl; ret; }}
.func give(.param .b64 a) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [a]; membar.gl; {RELEASE} ret; }}
"""
# name: (body, what a thread adds to the counter)
SHAPES = {
    "plain": (f"L: {TRY} @%p1 bra L; {WORK} {RELEASE}", 1),
    "first_try_peeled": (
        f"{TRY} @!%p1 bra S; L: nanosleep.u32 40; {TRY} @%p1 bra L; S: {WORK} st.volatile.global.u32 [%rd1], %r10;",
        1,
    ),
    "look_first": (
        f"""L: ld.volatile.global.u32 %r3, [%rd1]; setp.ne.s32 %p2, %r3, 0; @%p2 bra L;
{TRY} @%p1 bra L; {WORK} {RELEASE}""",
        1,
    ),
    "released_in_the_loop": (
        f"""mov.u32 %r4, 0;
L: {TRY} setp.eq.s32 %p3, %r2, 0; @%p1 bra M; {WORK} {RELEASE}
M: not.pred %p4, %p3; @%p4 bra L; add.s32 %r4, %r4, 1; setp.lt.s32 %p5, %r4, 3; @%p5 bra L;""",
        3,
    ),
    "again_and_again": (
        f"""mov.u32 %r4, 0;
N: and.b32 %r5, %r1, 3; setp.lt.u32 %p6, %r4, %r5; @!%p6 bra E;
L: {TRY} @%p1 bra L; {WORK} {RELEASE} add.s32 %r4, %r4, 1; bra N; E:""",
        None,  # the thread's number modulo 4
    ),
    "branches_under_the_lock": (
        f"""L: {TRY} @%p1 bra L; setp.gt.u32 %p6, %r1, 20; @%p6 bra B; {WORK} bra C;
B: ld.volatile.global.u32 %r8, [%rd1+4]; add.s32 %r8, %r8, 1; st.volatile.global.u32 [%rd1+4], %r8; membar.gl;
C: {RELEASE}""",
        1,
    ),
    "two_locks": (
        f"""L: {TRY} @%p1 bra L;
K: atom.global.exch.b32 %r5, [%rd1+8], 1; setp.ne.s32 %p6, %r5, 0; @%p6 bra K;
{WORK} st.release.gpu.global.u32 [%rd1+8], 0; {RELEASE}""",
        1,
    ),
    "several_releases": (
        f"""L: {TRY} @%p1 bra L; setp.gt.u32 %p6, %r1, 20; @%p6 bra B; {WORK} {RELEASE} bra E;
B: {WORK} {RELEASE} add.s32 %r3, %r1, 1; setp.eq.u32 %p6, %r1, 70; @%p6 bra E; add.s32 %r3, %r1, 2; E:""",
        1,
    ),
    "two_sections": (f"L: {TRY} @%p1 bra L; {WORK} {RELEASE} K: {TRY} @%p1 bra K; {WORK} {RELEASE}", 2),
    "gives_up": (
        f"""L: {TRY} @%p1 bra S; atom.global.cas.b32 %r5, [%rd1+8], 0, 1; setp.eq.s32 %p6, %r5, 0; @%p6 bra B;
{RELEASE} S: nanosleep.u32 40; bra L; B: {WORK} st.volatile.global.u32 [%rd1+8], %r10; {RELEASE}""",
        1,
    ),
    "in_functions": (
        "{ .param .b64 q; st.param.b64 [q], %rd1; call.uni take, (q); }"
        + WORK
        + "{ .param .b64 q; st.param.b64 [q], %rd1; call.uni give, (q); }",
        1,
    ),
    "tickets": (
        f"""atom.global.add.u32 %r2, [%rd1+8], 1;
L: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r2, %r3; @%p1 bra L; {WORK}
add.u32 %r3, %r3, 1; st.release.gpu.global.u32 [%rd1], %r3;""",
        1,
    ),
    "tickets_asked_for_by_atomics": (
        f"""atom.global.add.u32 %r2, [%rd1+8], 1;
L: atom.global.add.u32 %r3, [%rd1], 0; setp.ne.u32 %p1, %r2, %r3; @%p1 bra L; {WORK}
red.global.add.u32 [%rd1], 1;""",
        1,
    ),
    "a_signal_on_the_other_side": (
        """setp.ne.u32 %p2, %r1, 5; @%p2 bra B; st.volatile.global.u32 [%rd1], 1; bra E;
B: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra B; E: red.global.add.u32 [%rd1+4], 1;""",
        1,
    ),
}


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("name", SHAPES)
def test_every_thread_gets_its_turn(arch: str, name: str) -> None:
    text = HEAD + FUNCTIONS + "".join(KERNEL.format(name=n, body=body) for n, (body, _) in SHAPES.items())
    programs = program(text, arch)
    for block, grid in ((64, 1), *[(77, 3)] * 8):  # several blocks go on differently each time
        [out] = programs.run(name, block, [12], grid=grid)
        lock, counter, other = struct.unpack("<3I", out)
        adds = SHAPES[name][1]
        assert counter == grid * (sum(i & 3 for i in range(block)) if adds is None else adds * block)
        ends = (block * grid, block * grid) if "tickets" in name else (int("signal" in name), 0)
        assert (lock, other) == ends


# Block 0 waits until another block has written, and hands the lock back: one thread for all of its {what}.
HANDED_OVER = """mov.u32 %r11, %ctaid.x; mov.u32 %r4, {lane}; setp.ne.u32 %p1, %r4, 0;
mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
setp.ne.u32 %p3, %r11, 0; @%p3 bra OTHER; mov.u32 %r12, 2;
AGAIN: @%p1 bra IN; L: atom.global.cas.b32 %r2, [%rd1], 2, 3; setp.ne.s32 %p2, %r2, 2; @%p2 bra L;
IN: membar.gl; {meet} ld.volatile.global.u32 %r3, [%rd3+4]; st.volatile.global.u32 [%rd3+{behind}], %r3; {meet}
@%p1 bra OUT; atom.global.exch.b32 %r7, [%rd1], 0;
OUT: membar.gl; {more} bra END;
OTHER: @%p1 bra IN2; L2: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.s32 %p2, %r2, 0; @%p2 bra L2;
IN2: membar.gl; {meet} ld.volatile.global.u32 %r3, [%rd3+4]; add.u32 %r3, %r3, %r1;
st.volatile.global.u32 [%rd3+4], %r3; membar.gl; {meet}
@%p1 bra END; atom.global.exch.b32 %r7, [%rd1], 2;
END:"""
ROUNDS = "sub.u32 %r12, %r12, 1; setp.ne.u32 %p4, %r12, 0; @%p4 bra AGAIN;"


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("more", ["", ROUNDS], ids=["once", "in_a_loop"])
@pytest.mark.parametrize("what", ["block", "warp"])
def test_those_who_meet_their_lock_s_taker_wait_for_it(what: str, more: str, arch: str) -> None:
    """Threads that only meet the taker, at a barrier or at a `.sync` of the warp, passed it before it had the lock."""
    lane, meet = ("%tid.x", "bar.sync 0;") if what == "block" else ("%laneid", "bar.warp.sync -1;")
    for threads in (32, 96) if what == "block" else (32,):
        body = HANDED_OVER.format(lane=lane, meet=meet, more=more, behind=4 + 4 * threads)
        programs = program(HEAD + KERNEL.format(name="k", body=body), arch)
        [out] = programs.run("k", threads, [4 + 8 * threads], grid=3 if more else 2)
        words = struct.unpack(f"<{1 + 2 * threads}I", out)
        wanted = [i * (2 if more else 1) for i in range(threads)] * 2
        assert words == (0, *wanted)
