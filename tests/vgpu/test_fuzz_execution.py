"""Random legal instruction words, executed: an end or a named fault, never a crash or a hang; integers do not depend on
the x86-64 level, nor on translation to native code.

Protects: handlers and native code against operands that no compiler writes. tests/test_sanitizers.py runs this again.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import ROOT
from tests.vgpu.engine import CodeObject, EngineFault, assemble_code_object, describe, kernel_text

HERE = Path(__file__).resolve().parent
ARCHS = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1200")
HOLE, ROWS = 48, 32  # dwords of random instructions; rows that are looked at afterwards
MARK = struct.pack("<2I", 0xBF800011, 0xBF800012)
ADDRESS = (0x11111111, 0x22222222)  # stands for the results' address
#: Leading bytes of the encodings that uniform words seldom have.
LEADS = (0x7E, 0x7C, 0xB0, 0xBE, 0xBF, 0xC0, 0xC9, 0xCC, 0xD0, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9,
         0xDC, 0xE0, 0xED, 0xEE, 0xF4)  # fmt: skip
#: What touches memory, leaves the code, waits, or depends on the time; and floats, of whose NaNs any may be a result.
ELSEWHERE = re.compile(r"s_(endpgm|c?branch|setpc|swappc|call|rfe|getpc|barrier|sleep|trap|sethalt|get_?reg|mem|load|"
                       r"buffer|store|scratch|atomic|dcache|sendmsg|setreg|cselect_fork|subvector|set_gpr|wait_event|get_barrier)|"
                       r"(flat|global|scratch|buffer|tbuffer|ds|image|lds)_")  # fmt: skip
FLOATS = re.compile(r"[fb]f?\d*(16|32|64|8)(_|$)|f(4|8|16|32|64)|mfma|wmma|swmmac|mad_mix|fma_mix|permlane_bcast")


def kernel(arch: str) -> bytes:
    """A code object with a hole: registers from the inputs, the hole, then the registers to the results."""
    gfx9, b32 = not arch.startswith("gfx1"), arch in ("gfx1100", "gfx1151", "gfx1200")
    w, element = 64 if gfx9 else 32, "b32" if b32 else "dword"
    add = "v_add_u32" if gfx9 else "v_add_nc_u32"
    waits = ["s_wait_loadcnt 0", "s_wait_kmcnt 0"] if arch == "gfx1200" else ["s_waitcnt vmcnt(0) lgkmcnt(0)"]
    lanes = ["v_mbcnt_lo_u32_b32 v40, -1, 0", *["v_mbcnt_hi_u32_b32 v40, -1, v40"] * gfx9, "v_lshlrev_b32 v40, 2, v40"]
    body = [f"s_load_{'b64' if b32 else 'dwordx2'} s[8:9], s[0:1], 0x0", *waits, *lanes]
    for k in range(ROWS):
        body += [f"global_load_{element} v{k}, v40, s[8:9]", f"{add} v40, {4 * w}, v40"]
    body += [*waits, *(f"s_mov_b32 s{k}, {(k * 0x9E3779B1) & 0xFFFFFFFF:#x}" for k in range(96))]
    body += [".long 0xbf800011, 0xbf800012", f".fill {HOLE}, 4, 0xbf800000"]
    body += ["s_mov_b64 exec, -1" if gfx9 else "s_mov_b32 exec_lo, -1", *lanes]
    # the hole may have changed any register: where the results are is written into the code
    body += [f"s_mov_b32 s10, {ADDRESS[0]:#x}", f"s_mov_b32 s11, {ADDRESS[1]:#x}"]
    for k in range(ROWS):
        body += [f"global_store_{element} v40, v{k}, s[10:11]", f"{add} v40, {4 * w}, v40"]
    return assemble_code_object(kernel_text("\n".join(body), arch, kernarg=32, vgprs=256, sgprs=96, lds=1024), arch)


def instructions(rng: random.Random, arch: str, safe: bool) -> list[int]:
    """Words of legal instructions; safe: such as compute with integers."""
    lanes, words = 32 if arch.startswith("gfx1") else 64, []
    while len(words) < HOLE - 5:
        candidate = [rng.getrandbits(32) for _ in range(5)]
        if rng.random() < 0.5:
            candidate[0] = candidate[0] & 0xFFFFFF | rng.choice(LEADS) << 24
        length, text = describe(arch, candidate, lanes)
        name = text.split(" ")[0]
        if length > 0 and not (safe and (ELSEWHERE.match(name) or FLOATS.search(name))):
            words += candidate[:length]
    return words


def digests(seed: int, programs: int, archs: list[str]) -> dict[str, str]:
    """Of the registers after each program that computes with integers, or the kind of fault that ended it. Every second
    program has all kinds of instructions."""
    found = {}
    for arch in archs:
        elf, rng, w = kernel(arch), random.Random(f"{seed} {arch}"), 32 if arch.startswith("gfx1") else 64
        hole = elf.index(MARK) + len(MARK)
        for n in range(programs):
            safe = n % 2 == 0
            words = instructions(rng, arch, safe)
            inputs = np.array([rng.getrandbits(32) for _ in range(ROWS * w)], np.uint32)
            results = np.zeros(ROWS * w, np.uint32)
            image = bytearray(elf)
            image[hole : hole + 4 * len(words)] = struct.pack(f"<{len(words)}I", *words)
            for mark, value in zip(ADDRESS, struct.unpack("<2I", struct.pack("<Q", results.ctypes.data)), strict=True):
                at = image.index(struct.pack("<I", mark), hole + 4 * HOLE)
                image[at : at + 4] = struct.pack("<I", value)
            lanes = w if safe else 96
            try:
                CodeObject(bytes(image), arch).run("k", [1], [lanes], [inputs, results], max_instructions=5000)
                outcome = hashlib.blake2b(results.tobytes(), digest_size=8).hexdigest()
            except EngineFault as fault:
                outcome = fault.kind
            if safe:
                found[f"{arch} {seed} {n}"] = outcome
    return found


def run(seed: int, programs: int, archs: list[str], **setting: str) -> dict[str, str]:
    call = f"t.digests({seed}, {programs}, {archs})"
    code = f"import json; from tests.vgpu import test_fuzz_execution as t; print(json.dumps({call}))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PTX2AMD_VGPU_DEADLOCK": "0.2", **setting}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def check(seed: int, programs: int, archs: list[str]) -> None:
    want = run(seed, programs, archs, PTX2AMD_VGPU_NATIVE="always")
    for setting in ({"PTX2AMD_VGPU_NATIVE": "0"}, {"PTX2AMD_VGPU_LEVEL": "v2"}):
        got = run(seed, programs, archs, **setting)
        assert not {name: (want[name], got[name]) for name in want if want[name] != got[name]}
    ended = sum(len(outcome) == 16 for outcome in want.values())
    assert ended > len(want) // 2, want


def test_random_instructions() -> None:
    check(1, 12, ["gfx942", "gfx1100"])


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("seed", [2, 3])
def test_many_random_instructions(seed: int, arch: str) -> None:
    check(seed, int(os.environ.get("PTX2AMD_FUZZ_PROGRAMS", "200")), [arch])
