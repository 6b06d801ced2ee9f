"""On GFX9, a release waits for what it has to make visible: LLVM 22 leaves out waits without our work-around.

Protects: the wait behind a write-back of L2 where no other access is in flight, and the wait at scope `.cta` for
accesses that a later release of another wave of the block makes visible to other blocks."""

from __future__ import annotations

import re

import pytest

from ptx2amd.translate import translate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = """.visible .entry k(.param .u64 out, .param .u64 flag) {{
.reg .b64 %o, %f; .reg .b32 %t;
ld.param.u64 %o, [out]; ld.param.u64 %f, [flag]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;
{body} ret; }}
"""


def accesses(body: str, arch: str) -> list[str]:
    """The machine instructions that access global memory, write back or wait."""
    [result] = translate(HEAD + KERNEL.format(body=body), "waits.ptx", [arch], emit="asm")
    return re.findall(r"^\t((?:global|buffer|s_waitcnt).*)", result.code.decode(), re.M)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_a_release_waits_for_its_write_back(arch: str) -> None:
    """There is no other access, as another kernel, or another thread, may have done them."""
    found = accesses("st.release.gpu.global.u32 [%f], 1;", arch)
    [back] = (at for at, line in enumerate(found) if line.startswith("buffer_wbl2"))
    [store] = (at for at, line in enumerate(found) if line.startswith("global_store"))
    assert any("vmcnt(0)" in line for line in found[back:store]), found


@pytest.mark.parametrize("arch", ["gfx900", "gfx90a", "gfx942"])
def test_a_release_to_the_block_waits_for_stores(arch: str) -> None:
    found = accesses("st.weak.global.u32 [%o], %t; st.release.cta.global.u32 [%f], 1;", arch)
    first, second = (at for at, line in enumerate(found) if line.startswith("global_store"))
    assert any("vmcnt(0)" in line for line in found[first:second]), found
