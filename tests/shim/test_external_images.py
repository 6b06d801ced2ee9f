"""Mipmapped arrays in external memory: kernels write what others see in the file, and read what others wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run

CODE = '''
import os
WIDTH, HEIGHT, AT = 8, 4, 4096
FLOAT, SURFACE, COLOR_ATTACHMENT = 0x20, 2, 0x20
cu = Driver().start()
module = cu.load(b"""
.version 6.0
.target sm_52
.address_size 64
.visible .entry twice(.param .u64 from, .param .u64 to) {
  .reg .b32 %x; .reg .f32 %f; .reg .b64 %s, %t;
  ld.param.u64 %s, [from]; ld.param.u64 %t, [to];
  mov.u32 %x, %tid.x; shl.b32 %x, %x, 2;
  suld.b.2d.b32.trap {%f}, [%s, {%x, 1}];
  add.f32 %f, %f, %f;
  sust.b.2d.b32.trap [%t, {%x, 1}], {%f};
  ret;
}
""")
file = os.memfd_create("image")
os.ftruncate(file, 65536)
os.pwrite(file, struct.pack("<32f", *range(32)), AT)
memory, mipmap, level = c.c_void_p(), c.c_void_p(), c.c_void_p()
cu.cuImportExternalMemory(c.byref(memory), struct.pack("<QiiQQQ", 1, os.dup(file), 0, 0, 65536, 0) + bytes(64))


def description(levels, offset=AT, width=WIDTH):
    shape = struct.pack("<QQQiII4x", width, HEIGHT, 0, FLOAT, 1, SURFACE | COLOR_ATTACHMENT)
    return struct.pack("<Q", offset) + shape + struct.pack("<I", levels) + bytes(68)


def error(*arguments):
    return cu.error("cuExternalMemoryGetMappedMipmappedArray", c.byref(mipmap), memory, description(*arguments))


assert error(0) == error(5) == error(2, 65536) == error(2, AT, 1 << 20) == "CUDA_ERROR_INVALID_VALUE"
for again in range(2):  # what is destroyed is mapped no more: the same place can be mapped again
    assert error(2) == "CUDA_SUCCESS"
    surfaces = []
    for k in range(2):
        cu.cuMipmappedArrayGetLevel(c.byref(level), mipmap, k)
        surface = c.c_uint64()
        cu.cuSurfObjectCreate(c.byref(surface), struct.pack("<iiQ", 0, 0, level.value) + bytes(128))
        surfaces.append(surface)
    assert cu.launch(cu.function(module, "twice"), 1, 4, 0, *surfaces) == "CUDA_SUCCESS"
    cu.cuCtxSynchronize()
    inner = struct.unpack("<8f", os.pread(file, 32, AT + 4 * WIDTH * HEIGHT))
    assert inner == (0, 0, 0, 0, 16, 18, 20, 22), inner
    os.pwrite(file, bytes(32), AT + 4 * WIDTH * HEIGHT)
    assert cu.error("cuArrayDestroy", level) == "CUDA_ERROR_INVALID_HANDLE"
    cu.cuMipmappedArrayDestroy(mipmap)
cu.cuDestroyExternalMemory(memory)
print("read and written")
'''


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_levels_lie_in_the_file(arch: str, tmp_path: Path) -> None:
    done = run(CODE, tmp_path, f"vgpu:{arch}")
    assert done.returncode == 0 and "read and written" in done.stdout, done.stdout + done.stderr
