"""Generic addresses of local and shared memory in functions that are no kernels, on a chip without aperture registers:
LLVM 22 reads the apertures from near address 0 there, but for our work-around."""

from __future__ import annotations

import struct

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.codegen.rewriting import rewritten

TEXT = """.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 common[256];
.func (.param .b32 r) sum(.param .b32 n, .param .b64 out) {
  .reg .b32 %n, %i, %t; .reg .b64 %p, %q, %o; .reg .pred %last, %c;
  .local .align 4 .b8 mine[64];
  ld.param.u32 %n, [n]; ld.param.u64 %o, [out];
  and.b32 %i, %n, 15;
  mul.wide.u32 %q, %i, 4;
  mov.u64 %p, mine; cvta.local.u64 %p, %p; add.u64 %p, %p, %q;
  st.u32 [%p], %n;
  isspacep.local %c, %p; @!%c trap;
  isspacep.shared %c, %p; @%c trap;
  mov.u32 %t, %tid.x;
  mul.wide.u32 %q, %t, 4;
  mov.u64 %q, common; cvta.shared.u64 %q, %q;
  { .reg .b64 %w; mul.wide.u32 %w, %t, 4; add.u64 %q, %q, %w; }
  isspacep.shared %c, %q; @!%c trap;
  isspacep.global %c, %o; @!%c trap;
  atom.add.u32 %i, [%q], %n;
  setp.eq.u32 %last, %n, 0;
  mov.u32 %i, 0;
  @%last bra DONE;
  { .param .b32 m; .param .b64 to; .param .b32 s; sub.u32 %i, %n, 1; st.param.b32 [m], %i; st.param.b64 [to], %o;
    call (s), sum, (m, to); ld.param.b32 %i, [s]; }
DONE:
  ld.u32 %n, [%p];
  add.u32 %n, %n, %i;
  st.param.b32 [r], %n;
  ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b64 %o, %w; .reg .b32 %t, %s, %z;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 8; add.u64 %o, %o, %w;
  mov.u32 %z, 0;
  { .reg .b64 %q; mov.u64 %q, common; mul.wide.u32 %w, %t, 4; add.u64 %q, %q, %w; st.shared.u32 [%q], %z; }
  { .param .b32 n; .param .b64 to; .param .b32 s; and.b32 %s, %t, 7; st.param.b32 [n], %s; st.param.b64 [to], %o;
    call (s), sum, (n, to); ld.param.b32 %s, [s]; }
  st.u32 [%o], %s;
  { .reg .b64 %q; mov.u64 %q, common; mul.wide.u32 %w, %t, 4; add.u64 %q, %q, %w; ld.shared.u32 %z, [%q]; }
  st.u32 [%o+4], %z;
  ret;
}
"""


@pytest.mark.parametrize("arch", ["gfx803", "gfx900"])
def test_generic_addresses_in_functions(arch: str) -> None:
    """Each thread adds the numbers up to its own, modulo 8, in the frames of a recursion and in shared memory."""
    [result] = translate(TEXT, archs=[arch], mode="module")
    assert result.ok, [kernel.reason for kernel in result.kernels.values()]
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(8 * 48)
    gpu.load(result.code).kernel("k").launch(1, 48, [buffer])
    sums = [t % 8 * (t % 8 + 1) // 2 for t in range(48)]
    assert struct.unpack("96I", buffer.bytes()) == tuple(x for n in sums for x in (n, n))


KERNEL = """.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 common[256];
.visible .entry k(.param .u64 out) {
  .reg .b64 %o, %p, %q; .reg .b32 %t, %s; .local .align 4 .b8 mine[64];
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; and.b32 %s, %t, 15; mul.wide.u32 %q, %s, 4;
  ADDRESS
  add.u64 %p, %p, %q; st.volatile.u32 [%p], %t; ld.volatile.u32 %s, [%p];
  mul.wide.u32 %q, %t, 4; add.u64 %o, %o, %q; st.global.u32 [%o], %s; ret;
}
"""


@pytest.mark.parametrize("arch", ["gfx803", "gfx900"])
@pytest.mark.parametrize(
    "address",
    ["mov.u64 %p, mine; cvta.local.u64 %p, %p;", "mov.u64 %p, common; cvta.shared.u64 %p, %p; mul.wide.u32 %q, %t, 4;"],
)
def test_generic_addresses_in_kernels(address: str, arch: str) -> None:
    """Kernels that read nothing else from the hidden arguments: these have to be there all the same."""
    [result] = translate(KERNEL.replace("ADDRESS", address), archs=[arch])
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(4 * 48)
    gpu.load(result.code).kernel("k").launch(1, 48, [buffer])
    assert struct.unpack("48I", buffer.bytes()) == tuple(range(48))


def test_text() -> None:
    kernel = "define amdgpu_kernel void @k() {\n  %x = addrspacecast ptr addrspace(3) %p to ptr\n  ret void\n}\n"
    assert rewritten("apertures", kernel) is kernel
    function = kernel.replace("amdgpu_kernel void @k", 'void @"f"')
    text = rewritten("apertures", kernel + function)
    assert text.startswith(kernel) and text.count("addrspacecast") == 1
    assert "  %x = inttoptr i64 %aperture.0.or to ptr\n" in text and text.count("declare ptr addrspace(4)") == 1
    assert rewritten("apertures", text) is text
