"""NVIDIA's device runtime library in cuLink and nvJitLink: what it has for the threads of a whole grid."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd import native
from tests.bad_input.test_bad_input import run

# Each block adds 1 to a counter and waits for the others, twice; then it stores what it sees.
CODE = r"""
TEXT = HEAD + b'''
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 count, .param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<6>; .reg .pred %p<3>;
  { .param .b32 s; .param .b64 h; st.param.b32 [s], 1; call.uni (h), cudaCGGetIntrinsicHandle, (s);
    ld.param.b64 %rd1, [h]; }
  ld.param.u64 %rd2, [count]; ld.param.u64 %rd3, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
  setp.ne.u32 %p1, %r1, 0; mul.wide.u32 %rd4, %r2, 4; add.u64 %rd3, %rd3, %rd4;
AGAIN: @!%p1 red.global.add.u32 [%rd2], 1;
  { .param .b64 h; .param .b32 f, e; st.param.b64 [h], %rd1; st.param.b32 [f], 0;
    call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %r4, [e]; }
  ld.volatile.global.u32 %r5, [%rd2]; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 2; @%p2 bra AGAIN;
  add.u32 %r5, %r5, %r4; @!%p1 st.global.u32 [%rd3], %r5; ret; }''' + bytes(1)
LIBRARY = b"!<arch>\ncuda_device_runtime.o/" + bytes(100)
BLOCKS = 37
cu = Driver().start()
other = b"!<arch>\nanother.o/" + bytes(100)
def by_culink():
    state, out, size = c.c_void_p(), c.c_void_p(), c.c_size_t()
    cu.cuLinkCreate_v2(0, None, None, c.byref(state))
    cu.cuLinkAddData_v2(state, 1, TEXT, c.c_size_t(len(TEXT)), b"k", 0, None, None)
    add = ("cuLinkAddData_v2", state, 4)
    assert cu.error(*add, other, c.c_size_t(len(other)), b"other.a", 0, None, None) == "CUDA_ERROR_NOT_SUPPORTED"
    for _ in range(2):
        cu.cuLinkAddData_v2(state, 4, LIBRARY, c.c_size_t(len(LIBRARY)), b"libcudadevrt.a", 0, None, None)
    cu.cuLinkComplete(state, c.byref(out), c.byref(size))
    return out
def by_nvjitlink():
    jit, state, size = c.CDLL(STANDINS + "/libnvJitLink.so.13"), c.c_void_p(), c.c_size_t()
    assert not jit.nvJitLinkCreate(c.byref(state), 1, (c.c_char_p * 1)(b"-arch=sm_80"))
    assert not jit.nvJitLinkAddData(state, 2, TEXT, c.c_size_t(len(TEXT)), b"k")
    assert jit.nvJitLinkAddData(state, 6, other, c.c_size_t(len(other)), b"other.a") == 3  # invalid input
    for _ in range(2):
        assert not jit.nvJitLinkAddData(state, 6, LIBRARY, c.c_size_t(len(LIBRARY)), b"libcudadevrt.a")
    assert not jit.nvJitLinkComplete(state) and not jit.nvJitLinkGetLinkedCubinSize(state, c.byref(size))
    image = c.create_string_buffer(size.value)
    assert not jit.nvJitLinkGetLinkedCubin(state, image)
    return image
module = c.c_void_p()
cu.cuModuleLoadData(c.byref(module), LINK())
function = cu.function(module, "k")
count, places = cu.alloc(4), cu.alloc(4 * BLOCKS)
cu.cuMemsetD32_v2(count, 0, c.c_size_t(1))
arguments = (c.c_void_p * 2)(*(c.cast(c.byref(a), c.c_void_p) for a in (count, places)))
cu.cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, 64, 1, 1, 0, None, arguments)
assert set(struct.unpack(f"<{BLOCKS}I", cu.read(places, 4 * BLOCKS))) == {2 * BLOCKS}
assert cu.launch(function, 1, 64, 0, count, places) == "CUDA_SUCCESS"  # not cooperative
assert cu.error("cuCtxSynchronize") != "CUDA_SUCCESS"
print("met")
"""


@pytest.mark.parametrize(("link", "arch"), [("culink", "gfx942"), ("culink", "gfx1100"), ("nvjitlink", "gfx942")])
def test_all_blocks_of_a_grid_meet(tmp_path: Path, link: str, arch: str) -> None:
    code = CODE.replace("LINK()", f"by_{link}()")
    done = run(f"STANDINS = {str(native.DIRECTORY / 'standin')!r}\n{code}", tmp_path, f"vgpu:{arch}")
    assert done.returncode == 0 and "met" in done.stdout, done.stdout + done.stderr
