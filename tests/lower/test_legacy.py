"""PTX for sm_10 to sm_13, as programs of CUDA 1 to 4 carry it: what the manual says of f32 there."""

from __future__ import annotations

import struct

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Inst
from ptx2amd.ptx.legacy import modern
from ptx2amd.ptx.parse import parse_body
from ptx2amd.translate import parse
from tests import oracle
from tests.lower.device import Program

MODULE = """.version {version}
.target {target}
.entry k ( .param .u64 __cudaparm_p )
{{
  .reg .u64 %rd<3>; .reg .f32 %f<6>; .reg .f64 %d<3>; .reg .u32 %r<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [__cudaparm_p];
  ld.global.f32 %f1, [%rd1+0];
  ld.global.f32 %f2, [%rd1+4];
  ld.global.f32 %f3, [%rd1+8];
  {body}
  st.global.f32 [%rd1+12], %f4;
  exit;
}}
"""
TINY = 2.0**-140
ULP = 2.0**-23


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("body", "values", "wanted"),
    [
        ("mad.f32 %f4, %f1, %f2, %f3;", (1 + ULP, 1 - ULP, -1.0), -(ULP * ULP)),  # one rounding
        ("mad.f32 %f4, %f1, %f2, %f3;", (TINY, 2.0, 0.0), 0.0),
        ("mad.sat.f32 %f4, %f1, %f2, %f3;", (2.0, 3.0, 0.0), 1.0),
        ("add.f32 %f4, %f1, %f2;", (TINY, TINY, 0.0), 0.0),
        ("mul.rz.f32 %f4, %f1, %f2;", (2.0**-100, 2.0**-40, 0.0), 0.0),
        ("max.f32 %f4, %f1, %f2;", (TINY, -1.0, 0.0), 0.0),
        ("cvt.rzi.s32.f32 %r1, %f1; cvt.rn.f32.s32 %f4, %r1;", (-3.75, 0.0, 0.0), -3.0),
        ("cvt.f32.f32 %f4, %f1;", (TINY, 0.0, 0.0), 0.0),
        ("setp.gt.f32 %p1, %f1, %f2; selp.f32 %f4, %f1, %f3, %p1;", (TINY, 0.0, 7.0), 7.0),
        ("set.gt.u32.f32 %r1, %f1, %f2; cvt.rn.f32.u32 %f4, %r1;", (TINY, 0.0, 0.0), 0.0),
        ("slct.f32.f32 %f4, %f2, %f3, %f1;", (-TINY, 5.0, 6.0), 5.0),
    ],
)
def test_f32(arch: str, body: str, values: tuple[float, ...], wanted: float) -> None:
    program = Program(MODULE.format(version="1.4", target="sm_10, map_f64_to_f32", body=body), arch)
    [memory] = program.run("k", 1, [struct.pack("<4f", *values, -1.0)])
    assert struct.unpack("<4f", memory)[3] == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("div.f32 a;", "div.approx.ftz.f32 a;"),
        ("rsqrt.f32 a;", "rsqrt.approx.ftz.f32 a;"),
        ("div.f64 a;", "div.rn.f64 a;"),
        ("rsqrt.f64 a;", "rsqrt.approx.f64 a;"),
        ("mad.f64 a;", "fma.rn.f64 a;"),
        ("mad.rz.f64 a;", "fma.rz.f64 a;"),
        ("mad.lo.s32 a;", "mad.lo.s32 a;"),
        ("setp.lt.and.f32 a;", "setp.lt.and.ftz.f32 a;"),
        ("setp.lt.s32 a;", "setp.lt.s32 a;"),
        ("cvt.rn.f32.f64 a;", "cvt.rn.ftz.f32.f64 a;"),
        ("ld.global.f32 a;", "ld.global.f32 a;"),
    ],
)
def test_opcodes_before_modifiers(old: str, new: str) -> None:
    head = ".version 1.3\n.target sm_13\n"
    assert modern(head + old, "x") == head + new
    later = ".version 1.3\n.target sm_20\n"
    assert modern(later + old, "x") == later + old


def test_explicit_modifiers_stay() -> None:
    text = ".version 1.4\n.target sm_13\nsetp.lt.ftz.f32 a; add.ftz.f32 b; div.full.f32 c; add.rn.ftz.sat.f32 d;"
    assert modern(text, "x") == text.replace("div.full", "div.full.ftz")


def test_double_precision_that_is_mapped_to_single_is_refused() -> None:
    text = MODULE.format(version="1.4", target="sm_10, map_f64_to_f32", body="cvt.f64.f32 %d1, %f1;")
    with pytest.raises(PtxError, match=r"old:10:3: error: 'cvt\.f64\.f32' in a module for chips without double"):
        parse(text, "old")


def test_wmma_without_aligned() -> None:
    """PTX 6.0 to 6.2 has wmma without .aligned, which later versions ask for."""
    fragment, sums = "{" + ", ".join(f"%a{i}" for i in range(8)) + "}", "{%c0, %c1, %c2, %c3}"
    body = f"""wmma.load.a.sync.row.m16n16k16.f16 {fragment}, [%p]; wmma.load.c.sync.row.m16n16k16.f16 {sums}, [%p];
        wmma.mma.sync.row.col.m16n16k16.f16.f16 {sums}, {fragment}, {fragment}, {sums};
        wmma.store.d.sync.row.m16n16k16.f16 [%p], {sums}; ret;"""
    head = ".version 6.0\n.target sm_70\n.address_size 64\n.entry k() { .reg .b64 %p; .reg .b32 %a<8>, %c<4>;"
    text = f"{head}\n{body} }}"
    assert oracle.ptxas_accepts(text, "sm_75")[0]
    module = parse(text)
    found = [item for item in parse_body(module, module.functions["k"]).items if isinstance(item, Inst)]
    assert found[1].shape.opcode == "wmma.load.c.sync.aligned.row.m16n16k16.f16"
