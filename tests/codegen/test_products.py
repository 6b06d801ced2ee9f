"""Products that are rounded to f16 keep the sign of a zero: LLVM 22 loses it without our work-around."""

from __future__ import annotations

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.codegen.rewriting import rewritten

TEXT = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) { .reg .b64 %a, %t; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .f32 %f<9>;
mov.u32 %r1, %tid.x; mul.wide.u32 %t, %r1, 32; ld.param.u64 %a, [a]; add.u64 %a, %a, %t;
ld.global.v2.f32 {%f1, %f2}, [%a];
mul.MODEf32 %f3, %f1, %f2; cvt.rn.f16.f32 %h1, %f3; st.global.b16 [%a+8], %h1;
neg.MODEf32 %f4, %f3; cvt.rn.f16.f32 %h2, %f4; st.global.b16 [%a+10], %h2;
mul.MODEf32 %f5, %f1, 0f40000000; mul.MODEf32 %f6, %f2, 0f40000000; cvt.rn.f16x2.f32 %r2, %f5, %f6;
st.global.b32 [%a+12], %r2;
cvt.rn.f16.f32 %h3, %f1; cvt.f32.f16 %f7, %h3; mul.MODEf32 %f7, %f7, %f2; cvt.rn.f16.f32 %h4, %f7;
st.global.b16 [%a+16], %h4; ret; }
"""


@pytest.mark.parametrize("mode", ["", "ftz."])
@pytest.mark.parametrize("arch", ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_sign_of_zero(arch: str, mode: str) -> None:
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0**-70, -(2.0**-70), 0.75, -60000.0], np.float32)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    data = np.zeros((len(x), 8), np.float32)
    data[:, 0], data[:, 1] = x, y
    [result] = translate(TEXT.replace("MODE", mode), archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(data)
    gpu.load(result.code).kernel("k").launch(1, len(x), [buffer])
    gpu.synchronize()
    found = buffer.numpy(np.uint16).reshape(len(x), 16)[:, 4:9]
    with np.errstate(over="ignore"):
        product = (x * y).astype(np.float16)
        wanted = [product, -product, (2 * y).astype(np.float16), (2 * x).astype(np.float16)]
        wanted.append((x.astype(np.float16).astype(np.float32) * y).astype(np.float16))
    for column, want in enumerate(wanted):
        assert (found[:, column] == want.view(np.uint16)).all(), (column, found[:, column], want)


def test_text() -> None:
    block = "  %p = fmul float %a, %b\n  %n = fneg float %p\nLABEL  %h = fptrunc float %n to half\n"
    near = rewritten("products", block.replace("LABEL", ""))
    assert "%p = call float @llvm.fma.f32(float %a, float %b, float -0.000000e+00)" in near
    assert near.endswith("declare float @llvm.fma.f32(float, float, float)\n")
    far = block.replace("LABEL", "next:\n")
    assert rewritten("products", far) is far
    pair = "  %p = fmul <2 x float> %a, splat (float 2.0)\n  %e = extractelement <2 x float> %p, i64 0\n"
    assert "@llvm.fma.v2f32(<2 x float> %a, <2 x float> splat (float 2.0)," in rewritten(
        "products", pair + "  %h = fptrunc float %e to half\n"
    )
