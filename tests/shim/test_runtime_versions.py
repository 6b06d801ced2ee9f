"""NVIDIA's runtime library from 11.8 on, as PyPI has it: start-up, launch, events, reset, launch again."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import launch

WHEELS = {
    "11.8.89": "nvidia-cuda-runtime-cu11",
    "12.1.105": "nvidia-cuda-runtime-cu12",
    "12.4.127": "nvidia-cuda-runtime-cu12",
    "12.6.77": "nvidia-cuda-runtime-cu12",
    "12.9.79": "nvidia-cuda-runtime-cu12",
    "13.0.88": "nvidia-cuda-runtime",
    "13.2": "nvidia-cuda-runtime",
    "13.4": "nvidia-cuda-runtime",
}
PTX = b"""
.version 7.0
.target sm_52
.address_size 64
.visible .entry fill(.param .u64 to, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %t, %b, %s;
  .reg .b64 %a, %o;
  ld.param.u64 %a, [to];
  ld.param.u32 %n, [n];
  cvta.to.global.u64 %a, %a;
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %s, %ntid.x;
  mad.lo.s32 %i, %b, %s, %t;
  setp.ge.s32 %p, %i, %n;
  @%p ret;
  mul.wide.s32 %o, %i, 4;
  add.s64 %a, %a, %o;
  mul.lo.s32 %i, %i, 3;
  st.global.u32 [%a], %i;
  ret;
}
"""


def fatbin(ptx: bytes) -> bytes:
    """A fatbin with one uncompressed PTX entry for sm_52."""
    text = ptx + bytes(8 - len(ptx) % 8)
    entry = struct.pack("<HHIQIIIIIIQQQ", 1, 0x101, 64, len(text), 0, 0, 7 << 16, 52, 0, 0, 0x11, 0, 0)
    body = entry.ljust(64, b"\0") + text
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@pytest.mark.slow
@pytest.mark.parametrize("version", WHEELS)
def test_a_program_of_that_version(version: str, tmp_path: Path) -> None:
    wheel = f"{WHEELS[version]}=={version}" + ("" if version.count(".") == 2 else ".*")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path / "wheel"), wheel]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"no {wheel} to be had")
    (library,) = (tmp_path / "wheel").rglob("libcudart.so.1*")
    source = Path(__file__).with_name("runtime_program.c")
    subprocess.run(["gcc", "-O1", str(source), "-o", str(tmp_path / "program"), "-ldl"], check=True)
    (tmp_path / "code").write_bytes(fatbin(PTX))
    environment = {**os.environ, **launch.environment("vgpu:gfx942"), "PTX2AMD_RUNTIME_DIR": str(tmp_path / "run")}
    environment |= {"PTX2AMD_SERVICE_IDLE": "5", "PTX2AMD_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [str(tmp_path / "program"), str(library), str(tmp_path / "code")],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    major, minor = version.split(".")[:2]
    assert f"version {int(major) * 1000 + int(minor) * 10}" in lines and len(lines) == 24
    assert [line for line in lines if not line.endswith(" 0") and not line.startswith("version")] == []
