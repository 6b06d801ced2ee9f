""".minnctapersm and .maxnreg leave registers for as many waves as they ask for; clusters have one block."""

from __future__ import annotations

import pytest

from ptx2amd.translate import translate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LIVE = 180  # values that are live at once


def kernel(directives: str) -> str:
    loads = "".join(f"ld.volatile.global.u32 %v{i}, [%p+{4 * i}];\n" for i in range(LIVE))
    stores = "".join(f"st.volatile.global.u32 [%p+{4 * i}], %v{LIVE - 1 - i};\n" for i in range(LIVE))
    registers = f".reg .b32 %v<{LIVE}>; .reg .b64 %p; ld.param.u64 %p, [a];\n"
    return f"{HEAD}.visible .entry k(.param .u64 a) {directives} {{ {registers}{loads}{stores} ret; }}"


@pytest.mark.parametrize(
    ("arch", "directives", "most"),
    [
        ("gfx942", ".maxntid 256, 1, 1", 512),
        ("gfx942", ".maxntid 256, 1, 1 .minnctapersm 4", 128),  # 16 waves a compute unit, 4 a SIMD
        ("gfx942", ".maxntid 256, 1, 1 .maxnreg 64", 128),
        ("gfx1100", ".maxntid 128, 1, 1 .minnctapersm 8", 96),
        ("gfx942", ".maxntid 256, 1, 1 .maxnreg 255", 512),
    ],
)
def test_registers_for_as_many_waves(arch: str, directives: str, most: int) -> None:
    [result] = translate(kernel(directives), "bounds.ptx", [arch])
    assert result.ok
    free = translate(kernel(".maxntid 256, 1, 1"), "bounds.ptx", [arch])[0].kernels["k"].vgprs
    assert free >= LIVE
    found = result.kernels["k"].vgprs
    assert found <= most
    assert (found < LIVE) == (most < LIVE)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_clusters_of_several_blocks_are_refused(arch: str) -> None:
    text = HEAD.replace("sm_80", "sm_90")
    kernels = [f".visible .entry k{n}() .explicitcluster .reqnctapercluster {n}, 1, 1 {{ ret; }}" for n in (1, 2)]
    [result] = translate(text + "\n".join(kernels), "clusters.ptx", [arch])
    assert result.kernels["k1"].ok
    assert result.kernels["k2"].reason == "clusters of 2 blocks; a cluster has one block"
