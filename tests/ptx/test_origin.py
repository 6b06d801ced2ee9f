"""A refusal names the CUDA line that the PTX gives for the refused instruction."""

from __future__ import annotations

from ptx2amd.ptx.origin import origin
from ptx2amd.ptx.parse import parse_module
from ptx2amd.translate import translate

TEXT = """.version 9.0
.target sm_100a
.address_size 64
.file 1 "/src/kernel.cu"
.visible .entry before() { ret; }
.visible .entry k() {
 .reg .b32 r<3>;
 .loc 1 12 3
 mov.b32 r1, 32;
 .loc 1 34 7, function_name $f, inlined_at 1 12 3
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 r1, r1;
 .loc 1 35 1
 ret;
}
"""


def test_origin() -> None:
    module = parse_module(TEXT)
    assert [origin(module, line) for line in (5, 7, 9, 11, 13, 99)] == [
        *("", "", "/src/kernel.cu:12", "/src/kernel.cu:34", "/src/kernel.cu:35", ""),
    ]


def test_refusal() -> None:
    [result] = translate(TEXT, kernels=["k"])
    assert result.kernels["k"].reason.startswith("line 11, tcgen05")
    assert result.kernels["k"].reason.endswith("(/src/kernel.cu:34)")
