"""Floats to integers take one instruction, saturate and give 0 for NaN: single ones and several at once, of numbers
that LLVM knows, that a wave shares, and that each lane has."""

from __future__ import annotations

import struct
from math import inf, nan

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate

NUMBERS = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 300.75, -300.75, 2.0**31 - 128, 2.0**31, -(2.0**31), -(2.0**31) - 256,
           2.0**32 - 256, 2.0**32, 1e30, -1e30, 1e-40, -1e-40, inf, -inf, nan, 16777217.0]  # fmt: skip
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ARCHS = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]


def expected(x: float, low: int, high: int) -> int:
    if x != x:
        return 0
    return max(low, min(high, int(x) if abs(x) != inf else (high if x > 0 else low)))


SIGNED, UNSIGNED, BYTE = (-(1 << 31), (1 << 31) - 1), (0, (1 << 32) - 1), (0, 255)


def results(arch: str, body: str, data: bytes, lanes: int = 32) -> bytes:
    text = f"{HEAD}.visible .entry k(.param .u64 a, .param .f32 p) {{ {body} ret; }}"
    [result] = translate(text, archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(data + bytes(4096))
    gpu.load(result.code).kernel("k").launch(1, lanes, [buffer, struct.pack("<f", 1e20)])
    gpu.synchronize()
    return buffer.bytes()[len(data) :]


REGISTERS = ".reg .b64 %a<9>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .f64 %d<4>; ld.param.u64 %a0, [a]; "


@pytest.mark.parametrize("arch", ARCHS)
def test_each_lane_has_its_own(arch: str) -> None:
    lanes = NUMBERS + [7.0] * (32 - len(NUMBERS))
    body = f"""{REGISTERS} mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1;
    ld.global.f32 %f0, [%a2]; cvt.rzi.s32.f32 %r1, %f0; cvt.rzi.u32.f32 %r2, %f0; cvt.f64.f32 %d0, %f0;
    cvt.rzi.s32.f64 %r3, %d0; st.global.b32 [%a2+128], %r1; st.global.b32 [%a2+256], %r2;
    st.global.b32 [%a2+384], %r3;"""
    words = struct.unpack_from("<96i", results(arch, body, struct.pack("<32f", *lanes)))
    single = [struct.unpack("<f", struct.pack("<f", x))[0] for x in lanes]
    assert list(words[:32]) == [expected(x, *SIGNED) for x in single]
    assert [w & 0xFFFFFFFF for w in words[32:64]] == [expected(x, *UNSIGNED) for x in single]
    of_double = [-(1 << 31) if x != x else expected(x, *SIGNED) for x in single]  # NaN: PTX's rule for f64
    assert list(words[64:]) == of_double


@pytest.mark.parametrize("arch", ARCHS)
def test_several_at_once(arch: str) -> None:
    """LLVM makes vectors of these."""
    lanes = [float(v) for v in range(0, 512, 4)]
    body = f"""{REGISTERS} mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 16; add.u64 %a2, %a0, %a1;
    mul.wide.u32 %a3, %r0, 4; add.u64 %a4, %a0, %a3; ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%a2];
    {"".join(f"fma.rn.f32 %f{i + 4}, %f{i}, 0f3F000000, 0f3F000000; " for i in range(4))}
    {"".join(f"cvt.rzi.u32.f32 %r{i + 4}, %f{i + 4}; " for i in range(4))}
    st.global.v4.u8 [%a4+512], {{%r4, %r5, %r6, %r7}};"""
    found = results(arch, body, struct.pack("<128f", *lanes))[:128]
    assert list(found) == [int(x / 2 + 0.5) & 255 for x in lanes]


@pytest.mark.parametrize("arch", ARCHS)
def test_known_and_shared_numbers(arch: str) -> None:
    """Of the chain: constants that are known at once, only after a loop is unrolled, and a parameter."""
    body = f"""{REGISTERS} .reg .pred %p; ld.param.f32 %f1, [p];
    mov.f32 %f0, 0f60AD78EC; cvt.rzi.s32.f32 %r1, %f0; neg.f32 %f0, %f0; cvt.rzi.s32.f32 %r2, %f0;
    cvt.rzi.u32.f32 %r3, %f0; mov.f32 %f0, 0f7FC00000; cvt.rzi.s32.f32 %r4, %f0; cvt.rzi.s32.f32 %r5, %f1;
    neg.f32 %f1, %f1; cvt.rzi.s32.f32 %r6, %f1; cvt.rzi.u32.f32 %r7, %f1;
    mov.f32 %f2, 0f4B800000; mov.u32 %r9, 0;
    LOOP: mul.f32 %f2, %f2, 0f43800000; add.u32 %r9, %r9, 1; setp.lt.u32 %p, %r9, 3; @%p bra LOOP;
    cvt.rzi.s32.f32 %r8, %f2; cvt.rn.f32.s32 %f3, 2147483647; cvt.rzi.s32.f32 %r9, %f3;
    {"".join(f"st.global.b32 [%a0+{4 * i}], %r{i + 1}; " for i in range(9))}"""
    words = struct.unpack_from("<9i", results(arch, body, b"", 1))
    low, high = SIGNED
    assert words == (high, low, 0, 0, high, low, 0, high, high)


@pytest.mark.parametrize("arch", ARCHS)
def test_it_is_one_instruction(arch: str) -> None:
    body = f"""{REGISTERS} mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1;
    ld.global.f32 %f0, [%a2]; cvt.rzi.s32.f32 %r1, %f0; st.global.b32 [%a2], %r1; st.global.f32 [%a2+256], %f0;"""
    text = f"{HEAD}.visible .entry k(.param .u64 a) {{ {body} ret; }}"
    assembly = translate(text, archs=[arch], mode="module", emit="asm")[0].code.decode()
    assert assembly.count("v_cvt_i32_f32") == 1
    assert "v_cmp" not in assembly and "v_cndmask" not in assembly and "v_mov" not in assembly
