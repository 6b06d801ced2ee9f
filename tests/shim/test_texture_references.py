"""Texture and surface references of old PTX, from the driver API to the kernel on the software GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run

CODE = '''
cu = Driver().start()
module = cu.load(b"""
.version 4.0
.target sm_30
.address_size 64
.global .texref image;
.global .texref table;
.global .surfref target;
.visible .entry copy() {
  .reg .b32 %x, %y, %r<5>; .reg .f32 %f<6>; .reg .b64 %t;
  mov.u32 %x, %tid.x; mov.u32 %y, %ctaid.x;
  cvt.rn.f32.u32 %f0, %x; cvt.rn.f32.u32 %f1, %y; add.f32 %f0, %f0, 0f3F000000; add.f32 %f1, %f1, 0f3F000000;
  mov.u64 %t, image;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%t, {%f0, %f1}];
  tex.1d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [table, {%x}];
  cvt.rn.f32.s32 %f3, %r0; add.f32 %f2, %f2, %f3;
  shl.b32 %x, %x, 2;
  sust.b.2d.b32.trap [target, {%x, %y}], {%f2};
  ret;
}
""")
reference, surface, arrays = c.c_void_p(), c.c_void_p(), [c.c_void_p(), c.c_void_p()]
description = struct.pack("<QQiI", 8, 4, 0x20, 1)
for array in arrays:
    cu.cuArrayCreate_v2(c.byref(array), description)
cu.cuMemcpyHtoA_v2(arrays[0], c.c_size_t(0), struct.pack("<32f", *range(32)), c.c_size_t(128))
cu.cuModuleGetTexRef(c.byref(reference), module, b"image")
cu.cuTexRefSetArray(reference, arrays[0], 1)
assert cu.error("cuModuleGetTexRef", c.byref(reference), module, b"copy") == "CUDA_ERROR_NOT_FOUND"
table = cu.alloc(32)
cu.cuMemcpyHtoD_v2(table, struct.pack("<8i", *range(0, -800, -100)), c.c_size_t(32))
cu.cuModuleGetTexRef(c.byref(reference), module, b"table")
cu.cuTexRefSetFormat(reference, 0x0A, 1)
cu.cuTexRefSetFlags(reference, 1)
cu.cuTexRefSetAddress_v2(None, reference, table, c.c_size_t(32))
cu.cuModuleGetSurfRef(c.byref(surface), module, b"target")
cu.cuSurfRefSetArray(surface, arrays[1], 0)
assert cu.launch(cu.function(module, "copy"), 4, 8, 0) == "CUDA_SUCCESS"
out = c.create_string_buffer(128)
cu.cuMemcpyAtoH_v2(out, arrays[1], c.c_size_t(0), c.c_size_t(128))
assert struct.unpack("<32f", out.raw) == tuple(i - 100.0 * (i % 8) for i in range(32)), struct.unpack("<32f", out.raw)
print("read and written")
'''


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_references(arch: str, tmp_path: Path) -> None:
    done: subprocess.CompletedProcess[str] = run(CODE, tmp_path, f"vgpu:{arch}")
    assert done.returncode == 0 and "read and written" in done.stdout, done.stdout + done.stderr
