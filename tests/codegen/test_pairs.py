"""SLP vectorisation runs where it may find pairs for the chip's packed instructions, and where it may not it would
have changed nothing for the better."""

from __future__ import annotations

import pytest

from ptx2amd.codegen import emit, llvm
from ptx2amd.target import ARCHS, target

#: Type -> two of its operations, on values that come from memory and go there.
OPERATIONS = {
    "float": "call float @llvm.fma.f32(float {0}, float {0}, float {0})",
    "half": "fadd half {0}, {0}",
    "i16": "mul i16 {0}, {0}",
    "i32": "xor i32 {0}, 77",
}
BYTES = {"float": 4, "half": 2, "i16": 2, "i32": 4}


def kernel(kind: str, code_object: int = 5) -> str:
    operation = OPERATIONS[kind]
    return f"""declare float @llvm.fma.f32(float, float, float)
define amdgpu_kernel void @k(ptr addrspace(1) align 16 %p) {{
  %q = getelementptr i8, ptr addrspace(1) %p, i64 {BYTES[kind]}
  %a = load {kind}, ptr addrspace(1) %p, align {2 * BYTES[kind]}
  %b = load {kind}, ptr addrspace(1) %q
  %x = {operation.format("%a")}
  %y = {operation.format("%b")}
  store {kind} %x, ptr addrspace(1) %p, align {2 * BYTES[kind]}
  store {kind} %y, ptr addrspace(1) %q
  ret void
}}
!0 = !{{}}
!llvm.module.flags = !{{!1}}
!1 = !{{i32 1, !"amdhsa_code_object_version", i32 {100 * code_object}}}
"""


@pytest.mark.parametrize("name", ARCHS)
def test_the_table_says_what_packs_f32(name: str) -> None:
    arch = ARCHS[name]
    code = emit(kernel("float", arch.code_object), target(name), "asm").decode()
    assert ("v_pk_fma_f32" in code) == arch.packed_f32


@pytest.mark.parametrize("name", ["gfx942", "gfx1030", "gfx1100"])
@pytest.mark.parametrize(("kind", "packed"), [("half", "v_pk_add_f16"), ("i16", "v_pk_mul_lo_u16")])
def test_16_bits_are_packed(name: str, kind: str, packed: str) -> None:
    assert packed in emit(kernel(kind), target(name), "asm").decode()


@pytest.mark.parametrize("kind", ["float", "i32"])
def test_nothing_is_lost_where_it_does_not_run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arch = target("gfx1100")
    without = emit(kernel(kind), arch, "asm")
    monkeypatch.setattr(llvm, "_has_pairs", lambda *_: True)
    assert emit(kernel(kind), arch, "asm") == without
