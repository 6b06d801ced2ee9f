"""memcheck, racecheck and profile: programs with one deliberate bug each, found at its place; and clean ones.

Protects: each kind of finding, the line it is reported at, and that right programs bring none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ARCHS = ("gfx942", "gfx1100")

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
BEGIN = """
  .reg .b64 %rd<10>; .reg .b32 %r<10>; .reg .pred %q<4>; .reg .b16 %h<4>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, tile;
  shl.b32 %r2, %r1, 2;
  add.u32 %r3, %r9, %r2;
  cvt.u64.u32 %rd9, %r2;
  add.s64 %rd3, %rd1, %rd9;
  add.s64 %rd4, %rd2, %rd9;
"""


def ptx(body: str) -> tuple[str, int]:
    """A kernel (p, out), and the number of its line that ends in `// here`. %rd3, %rd4, %r3 are each thread's
    addresses in p, out and the tile; %r1 the thread."""
    head = HEAD + ".visible .entry k(.param .u64 p, .param .u64 out) {"
    text = head + BEGIN + textwrap.dedent(body) + "\n  ret;\n}\n"
    return text, next((n for n, line in enumerate(text.splitlines(), 1) if line.endswith("// here")), 0)


def run(text: str, host: str, arch: str = "gfx942", **variables: str) -> str:
    """What a process writes that launches k; `gpu`, `k(grid, block, p, out)`, `p` (64 floats of ones), `out`
    (100 dwords, not written) are there."""
    program = f"""
    import sys
    import numpy as np
    from ptx2amd import hip
    from ptx2amd.translate import translate
    gpu = hip.open("vgpu:{arch}")
    kernel = gpu.load(translate({text!r}, "bug.ptx", [{arch!r}])[0].code).kernel("k")
    p, out = gpu.buffer(np.ones(64, np.float32)), gpu.buffer(400)
    def k(grid, block, *arguments):
        kernel.launch(grid, block, arguments or [p, out])
        gpu.synchronize()
    """
    code = textwrap.dedent(program) + textwrap.dedent(host)
    mode = "accesses" if variables.get("PTX2AMD_MEMCHECK") else "1"  # as launch.tools() sets it
    environment = {**os.environ, "PTX2AMD_DEBUG": mode, **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, env=environment)
    return done.stderr


@pytest.fixture(params=ARCHS)
def arch(request: pytest.FixtureRequest) -> str:
    return request.param


def memcheck(body: str, host: str = "k(1, 64)", arch: str = "gfx942") -> tuple[str, str]:
    """What was written, and the place that should be named."""
    text, line = ptx(body)
    return run(text, host, arch, PTX2AMD_MEMCHECK="1"), f"PTX line {line} of bug.ptx"


def test_past_the_end(arch: str) -> None:
    """By one byte, where the hardware's dwords end later."""
    report, place = memcheck("ld.global.u8 %r4, [%rd1+13]; // here\nst.global.u32 [%rd4], %r4;", """
        small = gpu.buffer(np.zeros(13, np.uint8))
        k(1, 64, small, out)
    """, arch)  # fmt: skip
    assert "read of 1 bytes" in report and "0 bytes past the end of the 13-byte device allocation" in report
    assert place in report and "thread (0,0,0)" in report and "1 errors at 1 places" in report


def test_far_past_the_end() -> None:
    """Not into the next allocation: red zones lie between."""
    report, place = memcheck("st.global.u32 [%rd4+800], %r1; // here")
    assert place in report and "past the end of the 400-byte device allocation" in report


def test_use_after_free(arch: str) -> None:
    report, place = memcheck("ld.global.u32 %r4, [%rd3]; // here\nst.global.u32 [%rd4], %r4;", """
        address = int(p)
        p.free()
        again = gpu.buffer(256)
        assert int(again) != address
        k(1, 64, address, out)
    """, arch)  # fmt: skip
    assert place in report and "inside the 256-byte device allocation" in report and "that was freed" in report


def test_unwritten_global(arch: str) -> None:
    """Threads 0-31 write, all read."""
    report, place = memcheck("""
      setp.ge.u32 %q1, %r1, 32;
      @%q1 bra JOIN;
      st.global.u32 [%rd4], %r1;
    JOIN:
      ld.global.u32 %r4, [%rd4]; // here
      add.u32 %r4, %r4, 1;
      st.global.u32 [%rd3], %r4;
    """, arch=arch)  # fmt: skip
    assert "read of uninitialised memory: 4 bytes" in report and "inside the 400-byte" in report
    assert place in report and "thread (32,0,0)" in report and "32 times in k" in report


def test_copies_carry_the_state() -> None:
    """What is copied from unwritten memory is unwritten; memset and copies from the host write."""
    body = "ld.global.u32 %r4, [%rd3]; // here\nst.global.u32 [%rd4], %r4;"
    copy = "other = gpu.buffer(256)\ngpu.library.hipMemcpyDtoD(p._pointer(), other._pointer(), 256)\nk(1, 64)"
    report, place = memcheck(body, copy)
    assert place in report and "64 times in k" in report
    fill = (
        "gpu.library.hipMemset(out._pointer(), 0, 400)\ngpu.library.hipMemcpyDtoD(p._pointer(), out._pointer(), 256)\n"
    )
    assert "memcheck: 0 errors" in memcheck(body, fill + "k(1, 64)")[0]


def test_unwritten_shared(arch: str) -> None:
    report, place = memcheck("""
      st.shared.u32 [%r3], %r1;
      bar.sync 0;
      ld.shared.u32 %r4, [%r3+128]; // here
      st.global.u32 [%rd4], %r4;
    """, arch=arch)  # fmt: skip
    assert "read of uninitialised memory: 4 bytes at offset 0x100 of shared memory" in report
    assert place in report and "thread (32,0,0)" in report


def test_shared_memory_of_no_round_size(arch: str) -> None:
    """LLVM may read the last three words of seven as four; here the program does."""
    text = (
        HEAD
        + """.visible .entry k(.param .u64 p, .param .u64 out) {
      .reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .pred %q;
      .shared .align 16 .b8 seven[28];
      mov.u32 %r1, %tid.x; mov.u32 %r2, seven; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;
      setp.gt.u32 %q, %r1, 6;
      @!%q st.shared.u32 [%r3], %r1;
      bar.sync 0;
      ld.volatile.shared.v4.u32 {%r4, %r5, %r6, %r8}, [seven+16];
      mad.lo.u32 %r7, %r4, 10, %r5; mad.lo.u32 %r7, %r7, 10, %r6;
      ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r7;
      ret;
    }"""
    )
    host = "k(1, 8)\nprint(out.numpy(np.uint32)[:8], file=sys.stderr)"
    for memcheck in ("", "1"):
        assert str([456] * 8).replace(",", "") in (report := run(text, host, arch, PTX2AMD_MEMCHECK=memcheck)), report
        assert "out of range" not in report and "nothing was written" not in report


def test_unwritten_local(arch: str) -> None:
    report, place = memcheck("""
      .local .align 4 .b8 own[64];
      mov.u64 %rd5, own;
      and.b32 %r4, %r1, 7;
      mul.wide.u32 %rd6, %r4, 4;
      add.s64 %rd7, %rd5, %rd6;
      st.local.u32 [%rd7], %r1;
      ld.local.u32 %r5, [%rd5+12]; // here
      st.global.u32 [%rd4], %r5;
    """, arch=arch)  # fmt: skip
    assert "of local memory" in report and place in report and "56 times in k" in report


def test_misaligned() -> None:
    report, place = memcheck(
        "ld.global.u32 %r4, [%rd3+-2]; // here\nst.global.u32 [%rd4], %r4;", "k(1, 1, int(p) + 16, out)"
    )
    assert "misaligned access: 4 bytes" in report and place in report


def test_leaks() -> None:
    report, _ = memcheck("", "del p\nimport gc, os\nleak = gpu.buffer(1000)\nleak.owned = False")
    assert "1 allocations of 1000 bytes were not freed" in report or "2 allocations of 1400 bytes" in report


CLEAN = """
  ld.global.u32 %r4, [%rd3];
  st.shared.u32 [%r3], %r4;
  bar.sync 0;
  xor.b32 %r5, %r2, 252;
  add.u32 %r5, %r9, %r5;
  ld.shared.u32 %r6, [%r5];
  bar.sync 0;
  st.shared.u32 [%r3], %r6;
  atom.shared.add.u32 %r7, [tile+256], 0;
  st.global.u32 [%rd4], %r6;
"""


def test_clean(arch: str) -> None:
    text, _ = ptx("st.shared.u32 [tile+256], 0;\nbar.sync 0;" + CLEAN)
    report = run(text, "k(3, 64)", arch, PTX2AMD_MEMCHECK="1", PTX2AMD_RACECHECK="1")
    assert "memcheck: 0 errors at 0 places" in report and "in kernel" not in report


def test_race(arch: str) -> None:
    """The barrier between write and read of another warp's element is missing."""
    text, line = ptx("""
      st.shared.u32 [%r3], %r1;
      xor.b32 %r5, %r2, 252;
      add.u32 %r5, %r9, %r5;
      ld.shared.u32 %r6, [%r5]; // here
      st.global.u32 [%rd4], %r6;
    """)  # fmt: skip
    report = run(text, "k(1, 64)", arch, PTX2AMD_RACECHECK="1")
    assert "race in shared memory" in report and f"PTX line {line} of bug.ptx" in report
    ordered = run(text.replace("xor.b32", "bar.sync 0; xor.b32"), "k(1, 64)", arch, PTX2AMD_RACECHECK="1")
    assert "racecheck: 0 errors" in ordered


def test_write_after_read(arch: str) -> None:
    text, line = ptx("""
      st.shared.u32 [%r3], %r1;
      bar.sync 0;
      xor.b32 %r5, %r2, 252;
      add.u32 %r5, %r9, %r5;
      ld.shared.u32 %r6, [%r5];
      st.shared.u32 [%r3], %r6; // here
      st.global.u32 [%rd4], %r6;
    """)  # fmt: skip
    report = run(text, "k(1, 64)", arch, PTX2AMD_RACECHECK="1")
    assert "after a read by warp" in report and f"PTX line {line} of bug.ptx" in report


def test_profile(arch: str, tmp_path: Path) -> None:
    text, _ = ptx("st.shared.u32 [tile+256], 0;\nbar.sync 0;" + CLEAN + "shl.b32 %r5, %r1, 3;\n")
    run(text, "k(3, 64)\nk(2, 64)", arch, PTX2AMD_PROFILE=str(tmp_path / "profile"))
    [path] = tmp_path.iterdir()
    [kernel] = json.loads(path.read_text())["kernels"]
    waves = 5 * 64 // (64 if arch == "gfx942" else 32)
    assert kernel["name"] == "k" and kernel["launches"] == 2 and kernel["blocks"] == 5
    assert kernel["instructions"]["global"] == 2 * waves
    assert kernel["transactions"] == 2 * 5 * 2  # 64 dwords, aligned: two lines each time
    assert 0 < kernel["lanes_active"] <= kernel["lanes_all"]
    assert kernel["resident"] == kernel["most"]  # a few registers, a little shared memory
