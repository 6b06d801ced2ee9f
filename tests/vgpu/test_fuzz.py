"""Damaged code objects and random machine code: an error or a success, never a crash. Coverage-free, seeded.

Protects: the ELF loader, the metadata and line-table readers, the decoder. With PTX2AMD_VGPU_LIBRARY (and
PTX2AMD_TEST_VGPU) at a library built with sanitizers, these find what a plain run survives.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from engine import describe

PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  .loc 1 10 3
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  .loc 1 11 3
  st.global.u32 [%rd1], %r1;
  ret;
}
.file 1 "made_up.cu"
"""

LOADER = f"""
import os, random, sys
os.environ["PTX2AMD_DEBUG"] = "1"
from ptx2amd import hip
from ptx2amd.translate import translate
from ptx2amd.codegen.elf import Elf
gpu = hip.open("vgpu:gfx942")
good = translate({PTX!r}, "fuzz.ptx", ["gfx942"])[0].code
table = next(s.data for s in Elf(good).sections if s.name == ".debug_line")
at = good.index(table)
rng = random.Random(int(sys.argv[1]))
loaded = refused = 0
for case in range(int(sys.argv[2])):
    bad = bytearray(good)
    lo, hi = (at, at + len(table)) if case % 3 == 0 else (0, len(good))
    for _ in range(rng.choice((1, 2, 8, 64))):
        bad[rng.randrange(lo, hi)] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    if case % 7 == 6:
        bad = bad[: rng.randrange(len(bad))]
    try:
        kernel = gpu.load(bytes(bad)).kernel("k")
        loaded += 1
        if case % 3 == 0:   # the code is whole: only the report's line is damaged
            kernel.launch(1, 1, [64])
            try:
                gpu.synchronize()
            except hip.HipError:
                gpu.reset()
    except hip.HipError:
        refused += 1
print(loaded, refused)
"""


def load_damaged(seed: int, cases: int) -> None:
    command = [sys.executable, "-c", LOADER, str(seed), str(cases)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr[-2000:]
    loaded, refused = map(int, done.stdout.split())
    assert loaded >= cases // 4 and refused > 0


def test_damaged_code_objects() -> None:
    load_damaged(1, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_damaged_code_objects(seed: int) -> None:
    load_damaged(seed, 2000)


def decode_random(seed: int, cases: int) -> None:
    rng = random.Random(seed)
    known = 0
    for _ in range(cases):
        words = [rng.getrandbits(32) for _ in range(5)]
        for generation in ("gfx9", "gfx11"):
            length, text = describe(generation, words, 64)
            assert abs(length) <= 5
            known += length > 0 and bool(text)
    assert known > cases // 4


def test_random_words() -> None:
    decode_random(1, 5_000)


@pytest.mark.slow
def test_many_random_words() -> None:
    decode_random(2, 500_000)
