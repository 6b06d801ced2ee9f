"""The weak-memory mode: message passing shows the weak outcome without fences and never with them, on chips with each
kind of caches; a wait that is not there is reported at its place; a seed repeats what it did.

Protects: the queues and caches of runtime/weak/, the instructions that control them, the registers of loads in flight.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import textwrap
from collections import Counter

import pytest

from ptx2amd.translate import translate

CHIPS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250")
INSTANCES = 64
#: Thread 0 of an even block writes two words, thread 0 of the next block reads them in the other order.
MESSAGE = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 out) {{
  .reg .b64 %p, %o, %a; .reg .b32 %b, %i, %v, %w; .reg .pred %q;
  ld.param.u64 %p, [p]; ld.param.u64 %o, [out];
  mov.u32 %b, %ctaid.x; shr.u32 %i, %b, 1; and.b32 %b, %b, 1;
  mul.wide.u32 %a, %i, 4096; add.u64 %p, %p, %a;
  mul.wide.u32 %a, %i, 8; add.u64 %o, %o, %a;
  setp.eq.u32 %q, %b, 0;
  @%q bra WRITES;
  ld.weak.global.u32 %v, [%p+1024];
  ld.relaxed.gpu.global.u32 %v, [%p];
  {fence}
  ld.weak.global.u32 %w, [%p+1024];
  st.global.u32 [%o], %v;
  st.global.u32 [%o+4], %w;
  ret;
WRITES:
  mov.u32 %v, 1;
  st.weak.global.u32 [%p+1024], %v;
  {fence}
  st.relaxed.gpu.global.u32 [%p], %v;
  ret;
}}
"""
PROGRAM = """
import json, sys
import numpy as np
from ptx2amd import hip
gpu = hip.open("vgpu:{chip}")
kernel = gpu.load(open(sys.argv[1], "rb").read()).kernel("k")
seen = []
for _ in range({launches}):
    p, out = gpu.buffer(np.zeros({n} * 1024, np.uint32)), gpu.buffer(np.zeros({n} * 2, np.uint32))
    kernel.launch(2 * {n}, 32, [p, out])
    gpu.synchronize()
    seen += out.numpy(np.uint32).reshape(-1, 2).tolist()
print(json.dumps(seen))
"""


def code_of(chip: str, fence: str) -> bytes:
    [result] = translate(MESSAGE.format(fence=fence), "message.ptx", [chip])
    assert result.code
    return result.code


def run(chip: str, code: bytes, folder: str, seed: int, launches: int = 10) -> tuple[list[tuple[int, int]], str]:
    """What the readers saw, flag first; and what the process reported."""
    path = os.path.join(folder, "code")
    with open(path, "wb") as file:
        file.write(code)
    program = textwrap.dedent(PROGRAM.format(chip=chip, n=INSTANCES, launches=launches))
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "PTX2AMD_WEAK": str(seed)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(flag, word) for flag, word in json.loads(done.stdout)], done.stderr


@pytest.mark.parametrize("chip", CHIPS)
def test_message_passing(chip: str, tmp_path: str) -> None:
    """Without fences the second word is seen and the first is not, with them never."""
    weak, report = run(chip, code_of(chip, ""), str(tmp_path), 5)
    assert set(weak) == {(0, 0), (0, 1), (1, 0), (1, 1)} and "weak" not in report
    fenced, report = run(chip, code_of(chip, "fence.acq_rel.gpu;"), str(tmp_path), 5)
    assert (1, 0) not in Counter(fenced) and (1, 1) in fenced and (0, 0) in fenced and "weak" not in report


def test_a_narrow_fence(tmp_path: str) -> None:
    """A fence among the threads of a block does not order what other blocks see."""
    seen, _ = run("gfx942", code_of("gfx942", "fence.acq_rel.cta;"), str(tmp_path), 5)
    assert (1, 0) in seen


@pytest.mark.parametrize("chip", ["gfx90a", "gfx1030"])
def test_seeds(chip: str, tmp_path: str) -> None:
    """One seed, one result; another seed, another one."""
    first, again, other = (run(chip, code_of(chip, ""), str(tmp_path), seed, 2)[0] for seed in (3, 3, 4))
    assert first == again and first != other


#: s_waitcnt, and s_wait_kmcnt of gfx12
WAITS = {"gfx90a": 0xBF8C, "gfx1100": 0xBF89, "gfx1201": 0xBFC7}


@pytest.mark.parametrize("chip", WAITS)
def test_missing_waits(chip: str, tmp_path: str) -> None:
    """The wait for the arguments becomes nothing."""
    code = bytearray(code_of(chip, "fence.acq_rel.gpu;"))
    words = [k for k in range(0, len(code) - 3, 4) if struct.unpack_from("<I", code, k)[0] >> 16 == WAITS[chip]]
    struct.pack_into("<I", code, words[0], 0xBF800000)
    _, report = run(chip, bytes(code), str(tmp_path), 5, 1)
    assert "ptx2amd weak: register read before the load to it was waited for" in report
    assert "s_load" in report and "in kernel k, " in report and "(the seed was 5)" in report
