"""Messages between a kernel and the host while the kernel runs, with the data in host memory of either grain and flags
in fine-grained memory: `python -m tests.memory_model.with_host CODE CHIP GRAIN` is one process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ptx2amd import hip
from ptx2amd.hip.library import ffi
from ptx2amd.translate import translate
from tests.vgpu.engine import assemble_code_object

#: hipHostMalloc's flags
GRAINS = {"fine": 0, "coarse": 0x80000000}
INSTANCES, STEP, ANSWER, LIMIT = 48, 1024, 256, 20
#: A thread tells the host 1, waits for its answer, and reads what the host told it.
TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 flags, .param .u64 results) {
  .reg .b64 %d, %f, %r, %o; .reg .b32 %b, %t, %v; .reg .pred %p;
  ld.param.u64 %d, [data]; ld.param.u64 %f, [flags]; ld.param.u64 %r, [results];
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p ret;
  mov.u32 %b, %ctaid.x; mul.wide.u32 %o, %b, 1024; add.u64 %d, %d, %o; add.u64 %f, %f, %o;
  mul.wide.u32 %o, %b, 8; add.u64 %r, %r, %o;
  ld.weak.global.u32 %v, [%d+256];
  st.global.u32 [%r], %v;
  mov.u32 %v, 1;
  st.weak.global.u32 [%d], %v;
  st.release.sys.global.u32 [%f], %v;
WAITS:
  ld.acquire.sys.global.u32 %v, [%f+256];
  setp.eq.u32 %p, %v, 0;
  @%p bra WAITS;
  ld.weak.global.u32 %v, [%d+256];
  st.global.u32 [%r+4], %v;
  ret;
}
"""


def code_for(chip: str, pattern: str = "", text: str = "") -> bytes:
    """The kernel; where a pattern is given, with every place of it in the machine code replaced."""
    [result] = translate(TEXT, "host.ptx", [chip], emit="asm" if pattern else "hsaco")
    assert result.code
    if not pattern:
        return result.code
    changed, count = re.subn(pattern, text, result.code.decode(), flags=re.M)
    assert count, pattern
    return assemble_code_object(changed, chip)


def stale(chip: str, grain: str, code: bytes, seed: int) -> tuple[int, int]:
    """How often the host, and the kernel, saw the flag and not the data before it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "code")
        path.write_bytes(code)
        command = [sys.executable, "-m", "tests.memory_model.with_host", str(path), chip, grain]
        done = subprocess.run(command, env={**os.environ, "PTX2AMD_WEAK": str(seed)}, capture_output=True, text=True,
                              timeout=2 * LIMIT)  # fmt: skip
        assert not done.returncode and "weak: register" not in done.stderr, done.stderr
        host, kernel = json.loads(done.stdout)
        return host, kernel


def perform(code: bytes, chip: str, grain: str) -> tuple[int, int]:
    gpu = hip.open(f"vgpu:{chip}")
    library, size = gpu.activate(), INSTANCES * STEP

    def host_memory(flags: int) -> tuple[int, np.ndarray]:
        pointer = ffi().new("void **")
        library.hipHostMalloc(pointer, size, flags)
        words = np.frombuffer(ffi().buffer(pointer[0], size), np.uint32).reshape(INSTANCES, STEP // 4)
        words[:] = 0
        return int(ffi().cast("uintptr_t", pointer[0])), words

    data_at, data = host_memory(GRAINS[grain])
    flags_at, flags = host_memory(GRAINS["fine"])
    results = gpu.buffer(np.zeros((INSTANCES, 2), np.uint32))
    module = gpu.load(code)  # which lives as long as the kernel runs
    module.kernel("k").launch(INSTANCES, 32, [np.uint64(data_at), np.uint64(flags_at), results])
    told, end = {}, time.monotonic() + LIMIT
    while len(told) < INSTANCES:
        if time.monotonic() > end:
            sys.exit(f"{len(told)} messages of {INSTANCES} came")
        for k in range(INSTANCES):
            if k not in told and flags[k, 0]:
                told[k] = int(data[k, 0])
                data[k, ANSWER // 4] = 7
                flags[k, ANSWER // 4] = 1
    gpu.synchronize()
    seen = results.numpy(np.uint32).reshape(-1, 2)
    assert set(told.values()) <= {0, 1} and set(seen.ravel().tolist()) <= {0, 7}
    return sum(value == 0 for value in told.values()), int((seen[:, 1] == 0).sum())


if __name__ == "__main__":
    print(json.dumps(perform(Path(sys.argv[1]).read_bytes(), sys.argv[2], sys.argv[3])))
