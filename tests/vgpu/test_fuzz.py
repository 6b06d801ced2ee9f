"""Damaged code objects and random machine code: an error or a success, never a crash. Coverage-free, seeded.

Protects: the ELF loader, the metadata and line-table readers, the decoder, and the engine: damaged code and kernel
descriptors are launched, too. tests/test_sanitizers.py runs this again, which finds what a plain run survives.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vgpu.engine import describe

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
import os, random, struct, sys
os.environ |= {{"PTX2AMD_DEBUG": "1", "PTX2AMD_VGPU_TIMEOUT": "0.5"}}
from ptx2amd import hip
from ptx2amd.translate import translate
from ptx2amd.binary.elf import Elf
gpu = hip.open("vgpu:gfx942")
good = translate({PTX!r}, "fuzz.ptx", ["gfx942"])[0].code
table = next(s.data for s in Elf(good).sections if s.name == ".debug_line")
at = good.index(table)
rng = random.Random(int(sys.argv[1]))
loaded = refused = 0
out = gpu.buffer(bytes(4096))
elf = Elf(good)
places = {{s.name: (good.index(s.data), len(s.data)) for s in elf.sections if len(s.data) >= 4}}
headers, code = [(0, 64 + 56 * 8), (len(good) - 64 * 24, 64 * 24)], places[".text"]
names = (".rodata", ".note", ".dynsym", ".dynamic", ".hash", ".gnu.hash")
structures = [places[n] for n in names if n in places] + headers
SIZES = (0, 1, 7, 8, 63, 64, 255, 4095, 4096, 65535, 65536, len(good), len(good) - 1, 1 << 31, (1 << 32) - 1)
def bytes_somewhere(bad, lo, hi):
    for _ in range(rng.choice((1, 2, 8, 64))):
        bad[rng.randrange(lo, hi)] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
def words_of_structures(bad):
    first, size = rng.choice(structures)
    for _ in range(rng.choice((1, 1, 2, 4))):
        where = min(first + rng.randrange(size // 4) * 4, len(bad) - 8)
        if rng.random() < 0.7:
            struct.pack_into("<I", bad, where, rng.choice((*SIZES, rng.getrandbits(32))))
        else:
            struct.pack_into("<Q", bad, where, rng.choice((*SIZES, 1 << 63, (1 << 64) - 1, (1 << 47) - 8)))
def words_of_code(bad):
    first, size = code
    for _ in range(rng.choice((1, 2, 8))):
        where = first + rng.randrange(min(size, 256) // 4) * 4
        word = struct.unpack_from("<I", bad, where)[0]
        struct.pack_into("<I", bad, where, rng.choice((rng.getrandbits(32), word ^ 1 << rng.randrange(32))))
for case in range(int(sys.argv[2])):
    bad, kind = bytearray(good), case % 4
    if kind == 0:
        bytes_somewhere(bad, at, at + len(table))
    elif kind == 1:
        bytes_somewhere(bad, 0, len(good))
    elif kind == 2:
        words_of_structures(bad)
    else:
        words_of_code(bad)
    if case % 7 == 6:
        bad = bad[: rng.randrange(len(bad))]
    try:
        kernel = gpu.load(bytes(bad)).kernel("k")
        loaded += 1
        kernel.launch(1, rng.choice((1, 64, 70)), [64 if kind == 0 else out])
        gpu.synchronize()
    except hip.HipError:
        refused += 1
        gpu.reset()
        out = gpu.buffer(bytes(4096))
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
