"""Control flow, calls and scopes, executed: divergent loops and exits, recursion, indirect calls, structs by value,
switches, guards, carry across blocks. Each result is computed in Python too."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import factorial

import pytest

from ptx2amd.hip import HipError
from tests.lower.device import EVERY, program

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
THREADS = 96
PROLOGUE = """.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;"""
FUNCTIONS = """
.func (.param .b32 res) factorial(.param .b32 n) {
  .reg .b32 %r<5>; .reg .pred %p<2>;
  ld.param.b32 %r1, [n]; mov.u32 %r2, 1; setp.le.u32 %p1, %r1, 1; @%p1 bra END;
  sub.u32 %r3, %r1, 1;
  { .param .b32 a; st.param.b32 [a], %r3; .param .b32 r;
    call.uni (r), factorial, (a);
    ld.param.b32 %r4, [r]; }
  mul.lo.u32 %r2, %r1, %r4;
END:
  st.param.b32 [res], %r2; ret; }
.func leave_if_odd(.param .b32 x) { .reg .b32 %r<3>; .reg .pred %p1;
  ld.param.b32 %r1, [x]; and.b32 %r2, %r1, 1; setp.ne.b32 %p1, %r2, 0;
  @%p1 exit;
  ret; }
.func (.param .b32 r) leave_through(.param .b32 x) { .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  { .param .b32 a; st.param.b32 [a], %r1; call leave_if_odd, (a); }
  add.u32 %r2, %r1, 1000; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) plus(.param .b32 x) { .reg .b32 %r<3>;
  ld.param.b32 %r1, [x]; add.u32 %r2, %r1, 7; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) times(.param .b32 x) { .reg .b32 %r<3>;
  ld.param.b32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }
.func (.param .align 8 .b8 res[16]) swap(.param .align 8 .b8 s[16]) { .reg .b64 %rd<3>;
  ld.param.b64 %rd1, [s]; ld.param.b64 %rd2, [s+8];
  st.param.b64 [res], %rd2; st.param.b64 [res+8], %rd1; ret; }
.func (.reg .b32 %res) old(.reg .b32 %x, .reg .b32 %y) { sub.u32 %res, %x, %y; ret; }
"""
# name -> (body, what thread t stores at 4*t, None where nothing is stored)
CASES: dict[str, tuple[str, Callable[[int], int | None]]] = {
    "collatz": (
        """mov.u32 %r2, %r1; add.u32 %r2, %r2, 1; mov.u32 %r3, 0;
LOOP: setp.eq.u32 %p1, %r2, 1; @%p1 bra DONE;
  add.u32 %r3, %r3, 1; and.b32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, 0;
  @%p2 bra EVEN;
  mad.lo.u32 %r2, %r2, 3, 1; bra LOOP;
EVEN: shr.u32 %r2, %r2, 1; bra LOOP;
DONE: st.global.u32 [%rd2], %r3;""",
        lambda t: collatz(t + 1),
    ),
    "guarded": (
        """mov.u32 %r2, 5; setp.lt.u32 %p1, %r1, 40;
  @%p1 add.u32 %r2, %r2, %r1; @!%p1 mov.u32 %r2, 9;
  @%p1 st.global.u32 [%rd2], %r2;
  @!%p1 st.global.u32 [%rd2], %r2;""",
        lambda t: 5 + t if t < 40 else 9,
    ),
    "divergent_exit": (
        """st.global.u32 [%rd2], 1; setp.gt.u32 %p1, %r1, 50; @%p1 exit;
  st.global.u32 [%rd2], 2;""",
        lambda t: 1 if t > 50 else 2,
    ),
    "exit_in_function": (
        """st.global.u32 [%rd2], 3;
  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;
    call (r), leave_through, (a);
    ld.param.b32 %r2, [r]; }
  st.global.u32 [%rd2], %r2;""",
        lambda t: 3 if t & 1 else t + 1000,
    ),
    "recursion": (
        """rem.u32 %r2, %r1, 11;
  { .param .b32 a; st.param.b32 [a], %r2; .param .b32 r;
    call.uni (r), factorial, (a);
    ld.param.b32 %r3, [r]; }
  st.global.u32 [%rd2], %r3;""",
        lambda t: factorial(t % 11),
    ),
    "indirect": (
        """and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
  mov.u64 %rd3, plus; mov.u64 %rd4, times; selp.b64 %rd5, %rd3, %rd4, %p1;
  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), %rd5, (a), proto;
    ld.param.b32 %r3, [r]; }
  st.global.u32 [%rd2], %r3;""",
        lambda t: 3 * t if t & 1 else t + 7,
    ),
    "struct": (
        """cvt.u64.u32 %rd3, %r1;
  { .param .align 8 .b8 a[16]; st.param.b64 [a], %rd3; st.param.b64 [a+8], 100; .param .align 8 .b8 r[16];
    call (r), swap, (a);
    ld.param.b64 %rd4, [r]; ld.param.b64 %rd5, [r+8]; }
  shl.b64 %rd4, %rd4, 8; add.u64 %rd4, %rd4, %rd5; cvt.u32.u64 %r2, %rd4;
  st.global.u32 [%rd2], %r2;""",
        lambda t: (100 << 8) + t,
    ),
    "old_abi": (
        """call (%r2), old, (500, %r1);
  st.global.u32 [%rd2], %r2;""",
        lambda t: 500 - t,
    ),
    "switch": (
        """and.b32 %r2, %r1, 3; mov.u32 %r3, 0;
  targets: .branchtargets A, B, C, D;
  setp.lt.u32 %p1, %r1, 64;
  @%p1 brx.idx %r2, targets;
  add.u32 %r3, %r3, 100; bra D;
A: add.u32 %r3, %r3, 1;
B: add.u32 %r3, %r3, 2; bra D;
C: add.u32 %r3, %r3, 4;
D: st.global.u32 [%rd2], %r3;""",
        lambda t: 100 if t >= 64 else [3, 2, 4, 0][t & 3],
    ),
    "scopes": (
        """mov.u32 %r2, 10;
  { .reg .b32 %r2; mov.u32 %r2, 3; setp.lt.u32 %p1, %r1, 9; @%p1 bra DONE; mov.u32 %r2, 4;
DONE: add.u32 %r3, %r2, 0; }
  { setp.lt.u32 %p1, %r1, 20; @%p1 bra DONE; add.u32 %r2, %r2, 5;
DONE: }
  mad.lo.u32 %r4, %r2, 100, %r3; st.global.u32 [%rd2], %r4;""",
        lambda t: (10 if t < 20 else 15) * 100 + (3 if t < 9 else 4),
    ),
    "vector_register": (
        """.reg .v4 .b32 %v; mov.u32 %v.x, %r1; mov.u32 %v.y, 2; mov.u32 %v.z, 3; mov.u32 %v.w, 4;
  setp.eq.u32 %p1, %r1, 5; @%p1 bra SKIP; add.u32 %v.y, %v.y, %v.x;
SKIP: add.u32 %r2, %v.y, %v.w; st.global.u32 [%rd2], %r2;""",
        lambda t: 6 if t == 5 else 6 + t,
    ),
    "local_array": (
        """.local .align 4 .b8 depot[64]; and.b32 %r2, %r1, 15; shl.b32 %r3, %r2, 2;
  mov.u32 %r4, 0; mov.u32 %r8, depot;
FILL: shl.b32 %r5, %r4, 2; add.u32 %r5, %r5, %r8; mul.lo.u32 %r6, %r4, %r1; st.local.u32 [%r5], %r6;
  add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 16; @%p1 bra FILL;
  add.u32 %r5, %r3, %r8; ld.local.u32 %r7, [%r5]; st.global.u32 [%rd2], %r7;""",
        lambda t: (t & 15) * t,
    ),
    "parallel_exit_before_barrier": (
        """setp.ge.u32 %p1, %r1, 64; st.global.u32 [%rd2], 1; @%p1 exit;
  bar.sync 0; st.global.u32 [%rd2], 2;""",
        lambda t: 1 if t >= 64 else 2,
    ),
}


CASES["hints"] = (
    """pmevent 3; pmevent.mask 5; nanosleep.u32 20; griddepcontrol.launch_dependents; griddepcontrol.wait;
  setmaxnreg.inc.sync.aligned.u32 64; setmaxnreg.dec.sync.aligned.u32 32;
  st.global.u32 [%rd2], %r1;""",
    lambda t: t,
)


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n & 1 else n // 2), steps + 1
    return steps


def text(names: list[str]) -> str:
    return (
        HEAD
        + FUNCTIONS
        + "".join(
            f".visible .entry {name}(.param .u64 out) {{\n  {PROLOGUE}\n  {CASES[name][0]}\n  ret; }}\n"
            for name in names
        )
    )


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("name", CASES)
def test_case(name: str, arch: str) -> None:
    [out] = program(text([name]), arch).run(name, THREADS, [4 * THREADS])
    found = list(struct.unpack(f"<{THREADS}I", out))
    assert found == [CASES[name][1](t) or 0 for t in range(THREADS)]


@pytest.mark.parametrize("arch", EVERY)
def test_long_kernels_take_the_short_pipeline(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same results when every kernel counts as long."""
    from ptx2amd.codegen import llvm

    monkeypatch.setattr(llvm, "FULL_LINES", 0)
    names = ["collatz", "guarded", "switch", "scopes", "vector_register", "local_array"]
    for name in names:
        kernel = f".visible .entry {name}(.param .u64 out) {{\n  {PROLOGUE}\n  {CASES[name][0]}\n  ret; }}\n"
        [out] = program(HEAD + "// short\n" + kernel, arch).run(name, THREADS, [4 * THREADS])
        assert list(struct.unpack(f"<{THREADS}I", out)) == [CASES[name][1](t) or 0 for t in range(THREADS)]


@pytest.mark.parametrize("arch", EVERY)
def test_trap(arch: str) -> None:
    """One thread's trap ends the launch with an error."""
    body = "setp.eq.u32 %p1, %r1, 77; @%p1 trap; st.global.u32 [%rd2], 1;"
    kernel = f".visible .entry k(.param .u64 out) {{\n  {PROLOGUE}\n  {body}\n  ret; }}\n"
    traps = program(HEAD + kernel, arch)
    [out] = traps.run("k", 77, [4 * 77])
    assert out == struct.pack("<I", 1) * 77
    with pytest.raises(HipError):
        traps.run("k", THREADS, [4 * THREADS])
    traps.gpu.reset()


def test_cases_are_not_trivial() -> None:
    """Threads must disagree somewhere, or divergence is not tested."""
    for name, (_, value) in CASES.items():
        assert len({value(t) for t in range(THREADS)}) > 1, name
