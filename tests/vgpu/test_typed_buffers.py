"""Buffer loads and stores in formats, into LDS, with the flag for missing pages, by LLVM, against numpy.

Protects: the descriptor's and the instruction's formats, component order, range checks, halves.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.vgpu import texels
from tests.vgpu.descriptors import FORMATS, IDENTITY, buffer, generation, texel_bytes, typed
from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text
from tests.vgpu.test_image_sampling import N, compiled

ARCHS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200")
#: What buffers may have; 3 components of 32 bits are theirs alone.
BUFFERS = [f for f in FORMATS if not f.endswith("srgb") and f != "5_6_5_unorm"]
_HEAD = """
define amdgpu_kernel void @k(ptr addrspace(1) inreg noalias %desc, ptr addrspace(1) noalias %out) #0 {{
  %s = load <4 x i32>, ptr addrspace(1) %desc, align 16
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %q = getelementptr {t}, ptr addrspace(1) %out, i32 %id
{body}
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="64,64" }}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 500}}
!llvm.module.flags = !{{!0}}
"""


def loaded(arch: str, name: str, t: str, operands: str) -> str:
    call = f"  %r = call {t} @llvm.amdgcn.struct.{name}(<4 x i32> %s, i32 %id, i32 0, i32 0, {operands})\n"
    return _HEAD.format(t=t, body=call + f"  store {t} %r, ptr addrspace(1) %q")


def stored(arch: str, name: str, t: str, operands: str) -> str:
    load = f"  %v = load {t}, ptr addrspace(1) %q\n"
    call = f"  call void @llvm.amdgcn.struct.{name}({t} %v, <4 x i32> %s, i32 %id, i32 0, i32 0, {operands})"
    return _HEAD.format(t=t, body=load + call)


def declared(ir: str, name: str, result: str, data: str, n: int) -> str:
    first = f"{data}, " if data else ""
    return ir + f"declare {result} @llvm.amdgcn.struct.{name}({first}<4 x i32>, i32, i32, i32{', i32' * n})\n"


def run(arch: str, ir: str, descriptor: np.ndarray, out: np.ndarray, data: np.ndarray) -> None:
    room = np.zeros(32, np.uint32)
    aligned = room[-room.ctypes.data % 64 // 4 :][:16]
    aligned[:4] = descriptor
    compiled(arch, ir).run("k", [1], [N], [aligned, out, data])


def filled(fmt: str, records: int) -> np.ndarray:
    rng = np.random.default_rng(len(fmt))
    data = rng.integers(0, 256, (records, texel_bytes(fmt)), np.uint8)
    widths = texels.fields(fmt)[0]
    if fmt.endswith("float") and set(widths) <= {16, 32}:
        data[:] = rng.normal(size=(records, len(widths))).astype(f"f{widths[0] // 8}").view(np.uint8)
    return data


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("by", ["descriptor", "instruction"])
@pytest.mark.parametrize("fmt", BUFFERS)
def test_formats(arch: str, by: str, fmt: str) -> None:
    """The last records are out of range: they read zero (and what the descriptor selects), and writes are dropped."""
    records, select = N - 4, (6, 5, 4, 1) if by == "descriptor" else IDENTITY
    if by == "descriptor" and len(texels.fields(fmt)[0]) < 3:
        select = IDENTITY
    data = filled(fmt, N)
    name = "buffer.load.format.v4f32" if by == "descriptor" else "tbuffer.load.v4f32"
    operands = "i32 0" if by == "descriptor" else f"i32 {typed(arch, fmt)}, i32 0"
    ir = declared(loaded(arch, name, "<4 x float>", operands), name, "<4 x float>", "", operands.count("i32"))
    out = np.zeros((N, 4), np.uint32)
    run(arch, ir, buffer(arch, data.ctypes.data, fmt, records, select), out, data)
    want = texels.texels(data, fmt)
    want[records:] = 0
    one = np.ones_like(want[:, 0])
    picked = np.stack([want[:, s - 4] if s >= 4 else one * s for s in select], 1)
    if texels.integer(fmt):
        np.testing.assert_array_equal(out.view(np.int32), picked.astype(np.int64).astype(np.int32))
    else:
        np.testing.assert_array_equal(out.view(np.float32), picked.astype(np.float32))
    back = np.zeros_like(data)
    name = name.replace("load", "store")
    ir = declared(stored(arch, name, "<4 x float>", operands), name, "void", "<4 x float>", operands.count("i32"))
    run(arch, ir, buffer(arch, back.ctypes.data, fmt, records, select), out, back)
    again = texels.texels(back, fmt)
    lost = [] if select == IDENTITY else [3] * (len(texels.fields(fmt)[0]) > 3)
    again[:, lost] = want[:, lost] = 0
    np.testing.assert_array_equal(np.nan_to_num(again[:records], nan=7), np.nan_to_num(want[:records], nan=7))
    assert not back[records:].any()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1200"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("by", ["descriptor", "instruction"])
def test_fewer_components(arch: str, n: int, by: str) -> None:
    check_components(arch, n, by, "32_32_32_32_float", "float", "f32", np.float32)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("by", ["descriptor", "instruction"])
def test_halves(arch: str, n: int, by: str) -> None:
    check_components(arch, n, by, "16_16_16_16_float", "half", "f16", np.float16)


def check_components(arch: str, n: int, by: str, fmt: str, one: str, mangled: str, dtype: type) -> None:
    """Loads and stores of the first n of four. Stores fill up what they are not given: with zeros, from GFX10 on with
    the first component. one, mangled: an element's type in LLVM, and in names of intrinsics."""
    t, m = (f"<{n} x {one}>", f"v{n}{mangled}") if n > 1 else (one, mangled)
    data = filled(fmt, N)
    name = f"buffer.load.format.{m}" if by == "descriptor" else f"tbuffer.load.{m}"
    operands = "i32 0" if by == "descriptor" else f"i32 {typed(arch, fmt)}, i32 0"
    out = np.zeros((N, 4 if n == 3 else n), dtype)  # as vectors lie in memory
    ir = declared(loaded(arch, name, t, operands), name, t, "", operands.count("i32"))
    run(arch, ir, buffer(arch, data.ctypes.data, fmt, N), out, data)
    np.testing.assert_array_equal(out[:, :n], data.view(dtype)[:, :n])
    back, name = np.zeros_like(data), name.replace("load", "store")
    ir = declared(stored(arch, name, t, operands), name, "void", t, operands.count("i32"))
    run(arch, ir, buffer(arch, back.ctypes.data, fmt, N), out, back)
    rest = np.zeros((N, 4 - n)) if generation(arch) == 0 else np.repeat(out[:, :1], 4 - n, 1)
    np.testing.assert_array_equal(back.view(dtype), np.concatenate([out[:, :n], rest], 1))


@pytest.mark.parametrize("arch", ["gfx900", "gfx942", "gfx1030"])
def test_load_to_lds(arch: str) -> None:
    """Each lane's dword to M0 + 4 * lane; lanes out of range bring zeros."""
    data, out = np.random.default_rng(1).integers(0, 1 << 32, N, np.uint32), np.zeros(N, np.uint32)
    lanes = 64 if arch.startswith("gfx9") else 32
    add = "v_lshlrev_b32 v2, 2, v1"
    body = "\n".join([
        "s_load_dwordx4 s[4:7], s[0:1], 0", "s_load_dwordx2 s[8:9], s[0:1], 16", "s_waitcnt lgkmcnt(0)",
        "s_load_dwordx4 s[12:15], s[4:5], 0", "v_and_b32 v1, 0x3ff, v0", add, "s_waitcnt lgkmcnt(0)",
        "s_mov_b32 m0, 64",
        "buffer_load_dword v2, s[12:15], 0 offen lds", "s_waitcnt vmcnt(0)", "ds_read_b32 v3, v2 offset:64",
        "s_waitcnt lgkmcnt(0)", "global_store_dword v2, v3, s[6:7]",
    ])  # fmt: skip
    code = CodeObject(assemble_code_object(kernel_text(body, arch, kernarg=24, lds=1024), arch), arch)
    room = np.zeros(32, np.uint32)
    aligned = room[-room.ctypes.data % 64 // 4 :][:16]
    aligned[:4] = [data.ctypes.data & 0xFFFFFFFF, data.ctypes.data >> 32, 4 * (lanes - 3), 0]
    code.run("k", [1], [lanes], [aligned, out, data])
    want = np.where(np.arange(N) < lanes - 3, data, 0)
    np.testing.assert_array_equal(out[:lanes], want[:lanes])


@pytest.mark.parametrize("arch", ["gfx900", "gfx1030", "gfx1100", "gfx1200"])
def test_missing_pages(arch: str) -> None:
    """TFE: the dword behind the data says that all pages are there."""
    fmt = "32_32_float"
    data = filled(fmt, N)
    t = "{ <2 x float>, i32 }"
    name = "buffer.load.format.sl_v2f32i32s"
    call = f"  %r = call {t} @llvm.amdgcn.struct.{name}(<4 x i32> %s, i32 %id, i32 0, i32 0, i32 0)\n"
    text = _HEAD.format(t="<4 x i32>", body=call + "\n".join([
        f"  %a = extractvalue {t} %r, 0", f"  %b = extractvalue {t} %r, 1",
        "  %c = bitcast <2 x float> %a to <2 x i32>",
        "  %d = shufflevector <2 x i32> %c, <2 x i32> undef, <4 x i32> <i32 0, i32 1, i32 undef, i32 undef>",
        "  %e = insertelement <4 x i32> %d, i32 %b, i32 2", "  %f = insertelement <4 x i32> %e, i32 5, i32 3",
        "  store <4 x i32> %f, ptr addrspace(1) %q"]))  # fmt: skip
    out = np.full((N, 4), 9, np.uint32)
    run(arch, declared(text, name, t, "", 1), buffer(arch, data.ctypes.data, fmt, N), out, data)
    np.testing.assert_array_equal(out[:, :2].view(np.float32), data.view(np.float32))
    assert not out[:, 2].any()


@pytest.mark.parametrize("arch", ["gfx1030", "gfx1100", "gfx1200"])
def test_address_from_the_lane(arch: str) -> None:
    """global_load_addtid and its store: scalar address + offset + 4 * lane."""
    load = (
        "global_load_dword_addtid v1, s[4:5] offset:16"
        if arch == "gfx1030"
        else "global_load_addtid_b32 v1, s[4:5] offset:16"
    )
    store = load.replace("load", "store").replace("s[4:5] offset:16", "s[6:7] offset:8")
    s_load, wait = ("s_load_dwordx4", "s_waitcnt 0") if arch == "gfx1030" else ("s_load_b128", "s_nop 0")
    body = f"{s_load} s[4:7], s[0:1], 0\n{wait}\n{load}\n{wait}\n{store}"
    data, out = np.arange(40, dtype=np.uint32) * 7, np.zeros(40, np.uint32)
    CodeObject(assemble_code_object(kernel_text(body, arch), arch), arch).run("k", [1], [32], [data, out])
    np.testing.assert_array_equal(out[2:34], data[4:36])
    assert not out[:2].any() and not out[34:].any()
