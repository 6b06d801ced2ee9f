"""Code objects that HIP programs load themselves: docs/offline.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ptx2amd
from ptx2amd import native
from ptx2amd.api.hip import TYPES
from ptx2amd.hip.library import VGPU_API

ROOT = Path(ptx2amd.__file__).parents[1]
SAXPY = """.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .b32 %r<5>; .reg .pred %p;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p ret;
  ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  ld.global.f32 %f2, [%rd1]; ld.global.f32 %f3, [%rd2]; fma.rn.f32 %f3, %f1, %f2, %f3; st.global.f32 [%rd2], %f3;
  red.global.add.u32 [counter], 1; ret;
}
"""
MINDFUL = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[4] = {111, 107, 10, 0};
.func say() {
  .reg .b64 %rd<2>; mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], 0;
    call.uni (r), vprintf, (f, a); }
  ret;
}
.visible .entry prints() { call.uni say; ret; }
.visible .entry prints_too() { call.uni say; ret; }
.visible .entry allocates() {
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call.uni (r), malloc, (n); } ret;
}
.visible .entry waits() {
  .shared .u32 flag; .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, 32; @%p bra poll; st.volatile.shared.u32 [flag], 1; ret;
poll: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p, %r2, 0; @%p bra poll; ret;
}
.visible .entry simple() { ret; }
"""


def cli(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ptx2amd.cli", *words], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_the_example_of_the_page_runs(tmp_path: Path, arch: str) -> None:
    [example] = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "offline.md").read_text(), re.S)
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_runtime_api.h").write_text('#include "hip.h"\n')
    (tmp_path / "main.c").write_text(example)
    (tmp_path / "saxpy.ptx").write_text(SAXPY)
    headers = [f"-I{folder}" for folder in (tmp_path, native.WORK / "vgpu", TYPES, VGPU_API.parent)]
    library = [f"-L{native.DIRECTORY}", "-lptx2amd_vgpu", f"-Wl,-rpath,{native.DIRECTORY}"]
    command = ["gcc", "-Wall", "-Wextra", "-Werror", *headers, tmp_path / "main.c", "-o", tmp_path / "main", *library]
    subprocess.run(command, check=True)
    done = cli("translate", tmp_path / "saxpy.ptx", "--arch", arch, "-o", tmp_path / "saxpy.hsaco")
    assert (done.returncode, done.stderr) == (0, "")
    environment = {**os.environ, "PTX2AMD_DEVICE": f"vgpu:{arch}"}
    program = [tmp_path / "main", tmp_path / "saxpy.hsaco"]
    ran = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "y[999] = 2998, 1000 threads\n"), ran.stderr


def test_what_a_launch_has_to_mind_is_said(tmp_path: Path) -> None:
    """By translate and inspect, for each kernel, also when another kernel calls the same function."""
    (tmp_path / "k.ptx").write_text(MINDFUL)
    wanted = {
        "prints": "cell 1 of __ptx2amd_env is 0, what it prints is lost",
        "prints_too": "cell 1 of __ptx2amd_env is 0, what it prints is lost",
        "allocates": "cell 2 of __ptx2amd_env is 0, it finds no memory",
        "waits": "blocks of at most 512 threads, launched with twice the size in x",
    }
    said = cli("translate", tmp_path / "k.ptx", "-o", tmp_path / "k.hsaco").stderr
    lines = dict(line.strip().split(" for gfx942: ") for line in said.splitlines()[1:])
    assert list(lines) == ["prints", "prints_too", "allocates", "waits"]
    assert all(text in lines[kernel] for kernel, text in wanted.items())
    shown = cli("inspect", tmp_path / "k.hsaco").stdout
    assert all(lines[kernel] in shown for kernel in wanted)
