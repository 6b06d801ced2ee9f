"""Blocks of all shapes: barriers of the block with half-empty waves, and with warps that have left, against a model."""

from __future__ import annotations

import random
import struct

import pytest

from ptx2amd.codegen.workarounds import records
from ptx2amd.translate import translate
from tests.lower.device import MAPPINGS, program

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
SHAPES = [(1, 1, 1), (31, 1, 1), (33, 1, 1), (96, 1, 1), (7, 5, 3), (1, 1, 64), (1, 100, 1), (5, 64, 1), (511, 1, 1),
          (8, 8, 8), (513, 1, 1), (31, 33, 1), (1024, 1, 1)]  # fmt: skip
ROUNDS = 3

# Each round all threads that are left write, meet, read what the next one has written, and vote; then the warps below
# the round's bound leave.
KERNEL = (
    HEAD
    + """
.visible .entry meet(.param .u64 out, .param .u32 leave) {
  .reg .b32 %r<30>; .reg .b64 %rd<6>; .reg .pred %p<8>; .shared .align 4 .b32 words[1024];
  ld.param.u64 %rd1, [out]; ld.param.u32 %r20, [leave];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
  mov.u32 %r6, %ntid.z; mad.lo.u32 %r7, %r3, %r5, %r2; mad.lo.u32 %r7, %r7, %r4, %r1; // the thread's number
  mul.lo.u32 %r8, %r4, %r5; mul.lo.u32 %r8, %r8, %r6; shr.u32 %r9, %r7, 5; mul.wide.u32 %rd2, %r7, 24;
  add.u64 %rd1, %rd1, %rd2; shl.b32 %r10, %r7, 2; mov.u32 %r11, words; add.u32 %r10, %r10, %r11; mov.u32 %r12, 0;
TURN: mad.lo.u32 %r13, %r12, 5000, %r7; st.shared.u32 [%r10], %r13; bar.sync 0;
  add.u32 %r14, %r7, 1; setp.eq.u32 %p1, %r14, %r8; selp.u32 %r14, %r7, %r14, %p1; shl.b32 %r14, %r14, 2;
  add.u32 %r14, %r14, %r11; ld.shared.u32 %r15, [%r14]; and.b32 %r16, %r7, 1; setp.eq.u32 %p2, %r16, 1;
  bar.red.popc.u32 %r17, 0, %p2; st.global.v2.u32 [%rd1], {%r15, %r17}; add.u64 %rd1, %rd1, 8;
  setp.lt.u32 %p3, %r9, %r20; @%p3 exit; add.u32 %r12, %r12, 1; shl.b32 %r20, %r20, 1;
  setp.lt.u32 %p4, %r12, 3; @%p4 bra TURN; ret; }
"""
)


def model(threads: int, leave: int) -> list[tuple[int, int]]:
    """What each thread writes in each round."""
    out = [[(0, 0)] * ROUNDS for _ in range(threads)]
    left = list(range(threads))
    words = [0] * threads
    for turn in range(ROUNDS):
        for thread in left:
            words[thread] = 5000 * turn + thread
        odd = sum(thread & 1 for thread in left)
        for thread in left:
            out[thread][turn] = (words[min(thread + 1, threads - 1)], odd)
        left = [thread for thread in left if thread // 32 >= leave << turn]
    return [pair for row in out for pair in row]


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("leave", [0, 1])
def test_meetings(arch: str, shape: tuple[int, int, int], leave: int) -> None:
    check(arch, shape, leave)


@pytest.mark.slow
@pytest.mark.parametrize("arch", MAPPINGS)
def test_random_shapes(arch: str) -> None:
    rng = random.Random(9)
    for _ in range(400):
        x = rng.randrange(1, 1025)
        y = rng.randrange(1, 1024 // x + 1)
        check(arch, (x, y, rng.randrange(1, min(64, 1024 // (x * y)) + 1)), rng.randrange(6))


def check(arch: str, shape: tuple[int, int, int], leave: int) -> None:
    threads = shape[0] * shape[1] * shape[2]
    if arch.endswith("padded") and threads > 512:
        return  # refused: tests/shim
    loaded = program(KERNEL, arch)
    out = loaded.gpu.buffer(bytes(8 * ROUNDS * threads))
    loaded.launch("meet", 2, shape, [out, leave])
    loaded.gpu.synchronize()
    found = list(struct.iter_unpack("<2I", out.bytes()))
    want = model(threads, leave)
    wrong = [i for i, (a, b) in enumerate(zip(found, want, strict=True)) if a != b]
    assert not wrong, f"thread {wrong[0] // ROUNDS}, round {wrong[0] % ROUNDS}: {found[wrong[0]]}, {want[wrong[0]]}"


def test_threads_of_one_row_are_numbered_without_a_division() -> None:
    """In the padded mapping %tid comes from a thread's place in waves: the division is in a block of its own, which a
    scalar branch leaves out where the block has one row."""
    [result] = translate(KERNEL, archs=["gfx942"], mapping="padded", emit="ll")
    [kernel] = records.parse(result.code.decode()).functions()
    dividing = [block for block in kernel.blocks if any(" udiv " in line or " urem " in line for line in block.lines)]
    assert len(dividing) == 1
    ways = [line for line in kernel.lines() if f"label %{dividing[0].label}," in f"{line}," and " br " in line]
    assert len(ways) == 1 and " br i1 " in ways[0]
