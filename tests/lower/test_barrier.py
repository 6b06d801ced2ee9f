"""Barriers and votes of the block, warp barriers, mbarrier objects: threads meet, and see the others' memory."""

from __future__ import annotations

import random
import struct

import pytest

from ptx2amd.translate import translate
from tests.lower import barrier_programs, named_programs
from tests.lower.device import MAPPINGS, program

TEXT = barrier_programs.module()


@pytest.mark.parametrize("name", barrier_programs.PROGRAMS)
@pytest.mark.parametrize("arch", MAPPINGS)
def test_meeting(arch: str, name: str) -> None:
    for block in (1, 32, 33, 64, 96, 200, 256):
        seed = random.Random(block)
        words = [seed.randrange(1 << 32) for _ in range(block)]
        image = struct.pack(f"<{block}I", *words)
        _, out = program(TEXT, arch).run(name, block, [image, image])
        assert list(struct.unpack(f"<{block}I", out)) == barrier_programs.PROGRAMS[name][1](words), block


# Units of 64 threads act alike in all mappings; of 32, only where a wave carries one warp.
UNITS = [("gfx942:paired", 64), ("gfx942", 32), ("gfx1100", 32), ("gfx1100", 64)]


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(8, 200, 8))])
@pytest.mark.parametrize(("arch", "unit"), UNITS)
def test_named_barriers(arch: str, unit: int, first: int) -> None:
    """Barriers for parts of the block, used again and again by changing units, some of which only arrive."""
    units = 256 // unit
    plans = {f"k{seed}": named_programs.schedule(seed, units) for seed in range(first, first + 8)}
    text = "".join(named_programs.kernel(name, plan, unit) for name, plan in plans.items())
    programs = program(named_programs.HEAD + text, arch)
    for name, plan in plans.items():
        [out] = programs.run(name, 256, [4 * 256], [bytes(4)])
        found = list(struct.unpack("<256I", out))
        assert found == named_programs.expected(plan, unit, 256), f"{name}: {plan}"


COUNTED = """.version 8.0
.target sm_80
.address_size 64
.entry whole() .reqntid 64, 2, 1 { bar.sync 0, 128; ret; }
.entry part() .reqntid 64, 2, 1 { bar.sync 1, 64; bar.sync 0; ret; }
.entry other() .reqntid 64, 2, 1 { bar.arrive 1, 128; bar.sync 1; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_barriers_of_the_whole_block_are_the_hardwares(arch: str) -> None:
    """Words in LDS are there only for kernels with barriers for a part of the block."""
    [result] = translate(COUNTED, "counted.ptx", [arch])
    assert result.ok
    sizes = {name: kernel.static_shared for name, kernel in result.kernels.items()}
    assert sizes == {"whole": 0, "part": 128, "other": 132}


IN_A_FUNCTION = """.version 8.0
.target sm_80
.address_size 64
.func meet(.param .b32 number) { .reg .b32 %r; ld.param.b32 %r, [number]; bar.sync %r, 64; ret; }
.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %g, %x; .reg .b64 %out; .reg .pred %p; .shared .b32 s[128];
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; shr.u32 %g, %t, 6;
  mov.u32 %x, s; mad.lo.u32 %x, %t, 4, %x; st.shared.u32 [%x], %t;
  add.u32 %g, %g, 3;
  { .param .b32 a; st.param.b32 [a], %g; call meet, (a); }
  xor.b32 %x, %t, 32; shl.b32 %x, %x, 2; mov.u32 %g, s; add.u32 %x, %x, %g; ld.shared.u32 %x, [%x];
  bar.sync 0;
  mad.wide.u32 %out, %t, 4, %out; st.global.u32 [%out], %x; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_named_barriers_in_functions(arch: str) -> None:
    [out] = program(IN_A_FUNCTION, arch).run("k", 128, [512])
    assert list(struct.unpack("<128I", out)) == [t ^ 32 for t in range(128)]


def _meeting_in_a_function(name: str, directive: str, first: str, call: str, inline: str) -> str:
    """After `first`, half of the warps come to a barrier in a function, the others in the kernel; then neighbour warps
    exchange their thread numbers."""
    return f""".visible .entry {name}(.param .u64 out) {directive} {{
  .reg .b32 %t, %g, %x; .reg .b64 %out, %f; .reg .pred %p; .shared .b32 s[128];
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; shr.u32 %g, %t, 5;
  mov.u32 %x, s; mad.lo.u32 %x, %t, 4, %x; st.shared.u32 [%x], %t; and.b32 %g, %g, 1; setp.eq.u32 %p, %g, 0;
  {first} @%p bra L;
  {call} bra.uni M;
  L: {inline}
  M: xor.b32 %x, %t, 32; shl.b32 %x, %x, 2; mov.u32 %g, s; add.u32 %x, %x, %g; ld.shared.u32 %x, [%x];
  mad.wide.u32 %out, %t, 4, %out; st.global.u32 [%out], %x; ret; }}
"""


INDIRECTLY = "mov.u64 %f, whole; P: .callprototype _ (); call %f, (), P;"
ONE_BARRIER = {
    "counted": _meeting_in_a_function("counted", "", "@%p bar.sync 1, 64;", "call whole, ();", "bar.sync 1;"),
    "hardware": _meeting_in_a_function("hardware", "", "", "call whole, ();", "bar.sync 1;"),
    "required": _meeting_in_a_function("required", ".reqntid 128", "", "call all128, ();", "bar.sync 1;"),
    "both": _meeting_in_a_function("both", ".reqntid 128", "@%p bar.sync 1, 64;", "call all128, ();", "bar.sync 1;"),
    "address": _meeting_in_a_function("address", "", "@%p bar.sync 1, 64;", INDIRECTLY, "bar.sync 1;"),
}
FUNCTIONS_THAT_MEET = """.version 8.0
.target sm_80
.address_size 64
.func whole() { bar.sync 1; ret; }
.func all128() { bar.sync 1, 128; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_functions_and_their_kernel_meet_at_one_barrier(arch: str) -> None:
    """Each kernel of a module says for itself, and for its functions, which barriers are counted in LDS."""
    for name in ONE_BARRIER:
        programs = program(FUNCTIONS_THAT_MEET + "".join(ONE_BARRIER.values()), arch)
        [out] = programs.run(name, 128, [512])
        assert list(struct.unpack("<128I", out)) == [t ^ 32 for t in range(128)], name


def test_there_are_sixteen_barriers() -> None:
    text = COUNTED.split(".entry")[0] + ".entry k() { bar.sync 16, 64; ret; }"
    [result] = translate(text, "sixteen.ptx", ["gfx942"])
    assert "a block has 16" in result.kernels["k"].reason


EXITED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 every) {
.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p; .shared .align 4 .b8 s[4096];
mov.u32 %r1, %tid.x; ld.param.u32 %r2, [every]; shr.u32 %r3, %r1, 5; rem.u32 %r4, %r3, %r2; setp.ne.u32 %p, %r4, 0;
shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; st.shared.u32 [%r6], %r1;
@%p exit;
bar.sync 0; mov.u32 %r6, s; xor.b32 %r7, %r5, 28; add.u32 %r6, %r6, %r7; ld.shared.u32 %r7, [%r6]; bar.sync 0;
ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
add.u32 %r7, %r7, 1; st.global.u32 [%rd1], %r7; ret; }
"""


@pytest.mark.parametrize("arch", [*MAPPINGS, "gfx942:paired"])
@pytest.mark.parametrize("every", [2, 3])
def test_warps_that_have_exited_count_as_there(arch: str, every: int) -> None:
    """Also where one of two warps in a wave has exited, and in a wave that is half empty."""
    for block in (64, 96, 256, 500):
        [out] = program(EXITED, arch).run("k", block, [4 * block], [struct.pack("<I", every)])
        want = [(t ^ 7) + 1 if t // 32 % every == 0 else 0 for t in range(block)]
        assert list(struct.unpack(f"<{block}I", out))[: block & ~31] == want[: block & ~31], block


COUNTED_EXITS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b32 %t, %w, %n, %x, %y, %s; .reg .b64 %out; .reg .pred %p, %q; .shared .align 4 .b8 s[4];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; shr.u32 %w, %t, 5; rem.u32 %x, %w, 3; mov.u32 %s, s;
setp.gt.u32 %p, %w, 1; @%p bra parted; bar.sync 1, 64; parted: bar.sync 0;
setp.ne.u32 %p, %x, 1; @%p bra stay; bar.arrive 2, %n; exit;
stay: setp.ne.u32 %p, %x, 2; @%p bra meet; mov.u32 %y, 0;
late: add.u32 %y, %y, 1; nanosleep.u32 500; setp.lt.u32 %p, %y, 50; @%p bra late; exit;
meet: bar.sync 1; setp.eq.u32 %q, %t, %t; bar.red.popc.u32 %x, 1, %q;
setp.ne.u32 %p, %w, 0; @%p bra read; mov.u32 %y, 0;
write: add.u32 %y, %y, 1; nanosleep.u32 500; setp.lt.u32 %p, %y, 50; @%p bra write; st.shared.u32 [%s], 1000;
read: bar.sync 2; ld.shared.u32 %y, [%s]; add.u32 %x, %x, %y;
ld.param.u64 %out, [out]; mad.wide.u32 %out, %t, 4, %out; st.global.u32 [%out], %x; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_barriers_in_lds_count_warps_that_have_exited(arch: str) -> None:
    """Some exit before the others wait, some while they do; those that have arrived before are counted once."""
    for block in (64, 96, 128, 480):
        [out] = program(COUNTED_EXITS, arch).run("k", block, [4 * block])
        staying = sum(t // 32 % 3 == 0 for t in range(block))
        want = [1000 + staying if t // 32 % 3 == 0 else 0 for t in range(block)]
        assert list(struct.unpack(f"<{block}I", out)) == want, block


# Lanes of a warp do as many sums over the warp, some three at a time; warp w does 3 + 6 w in a round, and then the
# block meets. Each thread adds up what the one 37 after it has.
UNEVEN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) { .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p<6>; .shared .b32 words[128];
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; shr.u32 %r3, %r1, 5; mov.u32 %r4, %ntid.x;
  mov.u32 %r5, words; shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r5; mov.u32 %r8, 0; mov.u32 %r9, 0;
ROUND: mov.u32 %r7, 0; mov.u32 %r10, 0; add.u32 %r11, %r8, 5; rem.u32 %r12, %r2, %r11; setp.eq.u32 %p1, %r12, 0;
  @%p1 bra THREE; mul.lo.u32 %r13, %r3, 6; add.u32 %r13, %r13, 3;
ONE: redux.sync.add.u32 %r14, %r1, -1; add.u32 %r7, %r7, %r14; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, %r13;
  @%p2 bra ONE; bra MEET;
THREE: redux.sync.add.u32 %r14, %r1, -1; redux.sync.add.u32 %r15, %r1, -1; redux.sync.add.u32 %r16, %r1, -1;
  add.u32 %r7, %r7, %r14; add.u32 %r7, %r7, %r15; add.u32 %r7, %r7, %r16; mul.lo.u32 %r13, %r3, 2;
  add.u32 %r10, %r10, 1; setp.le.u32 %p2, %r10, %r13; @%p2 bra THREE;
MEET: add.u32 %r7, %r7, %r8; st.shared.u32 [%r6], %r7; bar.sync 0; add.u32 %r14, %r1, 37; rem.u32 %r14, %r14, %r4;
  shl.b32 %r14, %r14, 2; add.u32 %r14, %r14, %r5; ld.shared.u32 %r15, [%r14]; bar.sync 0; add.u32 %r9, %r9, %r15;
  add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 4; @%p3 bra ROUND;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r9; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("block", [64, 128])
def test_barriers_of_lanes_that_wait_for_others(arch: str, block: int) -> None:
    [out] = program(UNEVEN, arch).run("k", block, [4 * block])
    sums = [sum(range(t & ~31, t | 31)) + (t | 31) for t in range(block)]
    own = [4 * (3 + 6 * (t // 32)) * sums[t] + 6 for t in range(block)]
    assert list(struct.unpack(f"<{block}I", out)) == [own[(t + 37) % block] for t in range(block)]
