"""Images, formatted buffers, transposing loads, loads to LDS and LDS accesses without an address in the weak-memory
mode: they go through the queues and caches as those of other instructions do, and their results arrive at waits.

Protects: runtime/weak/weak_element.c, and the cache bits of image instructions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.vgpu.descriptors import Shape, image
from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text
from tests.vgpu.test_image_sampling import Memory, linked

WAVES, LANES = 8, 64
#: Lane i of an even block writes texel 16 i and then a flag; of an odd one, it reads the flag between two texels.
MESSAGE = """
define amdgpu_kernel void @k(ptr addrspace(1) inreg noalias %desc, ptr addrspace(1) %flags,
    ptr addrspace(1) noalias %out) #0 {{
  %t = load <8 x i32>, ptr addrspace(1) %desc, align 32
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %b = call i32 @llvm.amdgcn.workgroup.id.x()
  %pair = lshr i32 %b, 1
  %first = shl i32 %pair, 6
  %i = or i32 %first, %id
  %x = shl i32 %i, 4
  %set = bitcast i32 1 to float
  %f = getelementptr i32, ptr addrspace(1) %flags, i32 %x
  %odd = trunc i32 %b to i1
  br i1 %odd, label %reads, label %writes
writes:
  call void @llvm.amdgcn.image.store.1d.f32.i32.v8i32(float %set, i32 1, i32 %x, <8 x i32> %t, i32 0, i32 0)
  {release}
  store atomic i32 1, ptr addrspace(1) %f syncscope("agent") monotonic, align 4
  ret void
reads:
  %b0 = call float @llvm.amdgcn.image.load.1d.f32.i32.v8i32(i32 1, i32 %x, <8 x i32> %t, i32 0, i32 0)
  %v = load atomic i32, ptr addrspace(1) %f syncscope("agent") monotonic, align 4
  {acquire}
  %w0 = call float @llvm.amdgcn.image.load.1d.f32.i32.v8i32(i32 1, i32 %x, <8 x i32> %t, i32 0, i32 0)
  %before = bitcast float %b0 to i32
  %w = bitcast float %w0 to i32
  %q = getelementptr <4 x i32>, ptr addrspace(1) %out, i32 %i
  %one = insertelement <4 x i32> zeroinitializer, i32 %v, i32 0
  %two = insertelement <4 x i32> %one, i32 %w, i32 1
  %all = insertelement <4 x i32> %two, i32 %before, i32 2
  store <4 x i32> %all, ptr addrspace(1) %q
  ret void
}}
declare void @llvm.amdgcn.image.store.1d.f32.i32.v8i32(float, i32, i32, <8 x i32>, i32, i32)
declare float @llvm.amdgcn.image.load.1d.f32.i32.v8i32(i32, i32, <8 x i32>, i32, i32)
attributes #0 = {{ "amdgpu-flat-work-group-size"="64,64" }}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 500}}
!llvm.module.flags = !{{!0}}
"""
FENCES = {"release": 'fence syncscope("agent") release', "acquire": 'fence syncscope("agent") acquire'}


def messages(arch: str, fenced: bool) -> list[list[int]]:
    """Flag and texel that the readers saw."""
    ir = MESSAGE.format(**FENCES if fenced else dict.fromkeys(FENCES, ""))
    shape = Shape("1d", WAVES * LANES * 16)
    seen = []
    for _ in range(6):
        memory = Memory(arch, "32_uint", shape, fill=False)
        room = np.zeros(32, np.uint32)
        descriptor = room[-room.ctypes.data % 64 // 4 :][:16]
        descriptor[:8] = image(arch, memory.base, "32_uint", shape)
        flags, out = np.zeros(WAVES * LANES * 16, np.uint32), np.zeros((WAVES * LANES, 4), np.uint32)
        code = CodeObject(linked(arch, ir), arch)
        code.run("k", [2 * WAVES], [LANES], [descriptor, flags, out, memory.block])
        assert set(np.unique(memory.texels.view(np.uint32)).tolist()) == {0, 1}
        seen += np.unique(out[:, :2], axis=0).tolist()
    return seen


#: GFX9: lane l's dword from memory to LDS at 4 l; read there with and without a wait for the load.
TO_LDS = """
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_and_b32_e32 v0, 0x3ff, v0
v_lshlrev_b32_e32 v1, 2, v0
v_mov_b32_e32 v3, 7
ds_write_b32 v1, v3
s_mov_b32 m0, 0
s_waitcnt lgkmcnt(0)
global_load_lds_dword v1, s[4:5]
{wait}
ds_read_b32 v2, v1
s_waitcnt lgkmcnt(0)
global_store_dword v1, v2, s[6:7]
"""


def to_lds(wait: str) -> list[int]:
    """What the lanes read."""
    text = kernel_text(TO_LDS.format(wait=wait), "gfx942", lds=256)
    data, out = np.full(64, 9, np.uint32), np.zeros(64, np.uint32)
    CodeObject(assemble_code_object(text, "gfx942"), "gfx942").run("k", [1], [64], [data, out])
    found: list[int] = np.unique(out).tolist()
    return found


def in_the_mode(call: str, seed: int = 3) -> tuple[list[object], str]:
    """A function's result in a process of its own, and what the mode reported."""
    code = f"import json\nfrom tests.vgpu import test_weak_images as here\nprint(json.dumps(here.{call}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "PTX2AMD_WEAK": str(seed)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(
    "arch", ["gfx1100", *(pytest.param(a, marks=pytest.mark.slow) for a in ("gfx90a", "gfx1030", "gfx1200"))]
)
def test_messages(arch: str) -> None:
    """Without fences a flag comes before the texel; with them it never does."""
    weak, report = in_the_mode(f"messages({arch!r}, False)")
    assert [1, 0] in weak and [1, 1] in weak and "weak" not in report
    fenced, report = in_the_mode(f"messages({arch!r}, True)")
    assert [1, 0] not in fenced and [1, 1] in fenced and "weak" not in report


def test_loads_to_lds() -> None:
    """What was in LDS is there until the load has been waited for."""
    assert in_the_mode("to_lds('s_waitcnt vmcnt(0)')")[0] == [9]
    assert in_the_mode("to_lds('')")[0] == [7]


#: gfx1200: lane l's result of a load, with and without a wait for it.
LATE = """
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32_e32 v0, 0x3ff, v0
v_lshlrev_b32_e32 v1, 4, v0
v_mov_b32_e32 v3, 7
s_mov_b32 m0, 0
s_wait_kmcnt 0x0
{load}
{wait}
global_store_b32 v1, v2, s[6:7]
"""
LOADS = {
    "global_load_tr_b128 v[2:5], v1, s[4:5]": "s_wait_loadcnt 0x0",
    "ds_store_addtid_b32 v3\nds_load_addtid_b32 v2": "s_wait_dscnt 0x0",
}


def late(load: str, wait: str) -> list[int]:
    text = kernel_text(LATE.format(load=load, wait=wait), "gfx1200", lds=256)
    data, out = np.full(128, 0x70007, np.uint32), np.zeros(128, np.uint32)
    CodeObject(assemble_code_object(text, "gfx1200"), "gfx1200").run("k", [1], [32], [data, out])
    return [int(value) for value in out[::4] & 0xFFFF]


@pytest.mark.parametrize("load", LOADS)
def test_results_that_are_late(load: str) -> None:
    """They are right after the wait that the instruction has, and reported without it."""
    found, report = in_the_mode(f"late({load!r}, {LOADS[load]!r})")
    assert found == [7] * 32 and "weak" not in report
    assert "register read before the load to it was waited for" in in_the_mode(f"late({load!r}, '')")[1]
