"""A program that lacks a barrier is as right here as on a chip, where a block's waves run side by side: each thread
reads a word of shared memory behind a barrier, and much later one of them writes it again.

Protects: the short turns of waves behind a barrier, in all parts of the engine. racecheck names such programs.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests import ROOT

ARCHS = ("gfx942", "gfx1100")
SETTINGS = {
    "plain": {"PTX2AMD_VGPU_LEVEL": "v2"},
    "AVX-512": {"PTX2AMD_VGPU_LEVEL": "v4", "PTX2AMD_VGPU_NATIVE": "0"},
    "native": {"PTX2AMD_VGPU_NATIVE": "always"},
}
STEP = "mad.lo.u32 %r4, %r4, %r5, %r6;\n"


def loop(body: str) -> str:
    return f"mov.u32 %r7, 0;\nAGAIN:\n{body}add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p, %r7, %r5;\n@%p bra AGAIN;\n"


WORK = {"a loop": loop(STEP), "a long loop": loop(STEP * 100), "one way": STEP * 70, "a long way": STEP * 400}


def module(work: str) -> str:
    return f"""
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .entry k(.param .u64 out, .param .u32 factor) {{
      .reg .b64 %d<4>; .reg .b32 %r<12>; .reg .pred %p, %q;
      .shared .align 4 .b8 word[4];
      ld.param.u64 %d1, [out];
      ld.param.u32 %r5, [factor];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %d2, %r1, 4;
      add.u64 %d3, %d1, %d2;
      add.u32 %r6, %r5, 1;
      setp.eq.u32 %q, %r1, 0;
      @%q st.shared.u32 [word], %r5;
      bar.sync 0;
      ld.shared.u32 %r4, [word];
      mov.u32 %r9, %r4;
      {work}
      @%q st.shared.u32 [word], %r4;
      xor.b32 %r4, %r4, %r9;
      bar.sync 0;
      st.global.u32 [%d3], %r4;
      ret;
    }}
    """


def wrong(arch: str) -> list[str]:
    """The work, block size and number of threads that read too late."""
    import numpy as np

    gpu, found = hip.open(f"vgpu:{arch}"), []
    for name, work in WORK.items():
        kernel = gpu.load(translate(module(work), "late.ptx", [arch])[0].code).kernel("k")
        for threads in (32, 64, 128, 256, 512, 1024):
            for _ in range(3):
                out = gpu.buffer(np.zeros(threads, np.uint32))
                kernel.launch(1, threads, [out, 61])
                gpu.synchronize()
                words = out.numpy()
                if not (words == words[0]).all():
                    found.append(f"{name}, {threads} threads: {(words != words[0]).sum()}")
    return found


def python(code: str, **setting: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **setting}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_late_reads(setting: str, arch: str) -> None:
    done = python(f"from tests.vgpu import test_late_reads as t; print(t.wrong({arch!r}))", **SETTINGS[setting])
    assert done.stdout == "[]\n", done.stdout + done.stderr


@pytest.mark.parametrize("arch", ARCHS)
def test_racecheck_names_them(arch: str) -> None:
    done = python(
        f"from tests.vgpu import test_late_reads as t; t.wrong({arch!r})", PTX2AMD_RACECHECK="1", PTX2AMD_DEBUG="1"
    )
    assert "race in shared memory: write by warp 0" in done.stderr, done.stderr
