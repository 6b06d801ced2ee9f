"""Code generation: object, link, note, and what happens to code that must not go out."""

from __future__ import annotations

import json
import struct

import pytest

from ptx2amd.binary import Blob, ContainerError, Elf
from ptx2amd.binary.msgpack import unpack
from ptx2amd.codegen import (
    CodegenError,
    check_symbols,
    emit,
    emit_isolated,
    isolate,
    link,
    sidecar_of,
)
from ptx2amd.errors import LinkError
from ptx2amd.target import target

FLAGS = '\n!0 = !{}\n!llvm.module.flags = !{!1}\n!1 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'
KERNEL = """define protected amdgpu_kernel void @k(ptr addrspace(1) %p) {
  store i32 7, ptr addrspace(1) %p
  ret void
}
"""
UNDOMINATED = """define i32 @f(i1 %c) {
  br i1 %c, label %a, label %b
a:
  %x = add i32 1, 1
  br label %b
b:
  ret i32 %x
}"""
GFX942 = target("gfx942")


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx11-generic"])
def test_linked_code_object_keeps_metadata_and_carries_the_sidecar(arch: str) -> None:
    version = str(100 * target(arch).arch.code_object)
    sidecar = {"arch": arch, "kernels": {"k": {"env": False}}}
    blob = link([Elf(emit(KERNEL + FLAGS.replace("500", version), target(arch)))], sidecar)
    elf = Elf(blob)
    assert struct.unpack_from("<H", blob, 16)[0] == 3  # a shared object
    assert sidecar_of(blob) == sidecar
    assert [k[".symbol"] for k in elf.metadata()["amdhsa.kernels"]] == ["k.kd"]


def test_code_object_without_sidecar() -> None:
    assert sidecar_of(link([Elf(emit(KERNEL + FLAGS, GFX942))])) is None


def test_unknown_intrinsics_are_errors() -> None:
    """LLVM makes a call to an external function of a misspelt intrinsic."""
    ir = KERNEL.replace(" ret", " call void @llvm.amdgcn.no.such.thing()\n ret") + FLAGS
    ir += "declare void @llvm.amdgcn.no.such.thing()\n"
    blob = emit(ir, GFX942)
    with pytest.raises(LinkError, match=r"llvm\.amdgcn\.no\.such\.thing"):
        check_symbols(Elf(blob))
    with pytest.raises(LinkError, match="undefined symbols"):
        link([Elf(blob)])


def test_bad_ir_is_an_error_not_a_crash() -> None:
    with pytest.raises(CodegenError, match="does not accept"):
        emit("define void @f() { ret i32 }", GFX942)
    with pytest.raises(CodegenError, match="does not accept"):
        emit(UNDOMINATED, GFX942)


def test_a_crash_of_llvm_is_an_error_when_isolated() -> None:
    """LLVM ends the process for what it cannot select, here a matrix instruction that gfx900 has not."""
    call = "%v = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> poison, <4 x half> poison, "
    call += "<4 x float> poison, i32 0, i32 0, i32 0)\n store <4 x float> %v, ptr addrspace(1) %p\n ret"
    with pytest.raises(CodegenError, match="LLVM ended with SIGABRT"):
        emit_isolated(KERNEL.replace("ret", call) + FLAGS, target("gfx900"))
    with pytest.raises(CodegenError, match="does not accept"):
        emit_isolated("nonsense", GFX942)
    assert emit_isolated(KERNEL + FLAGS, GFX942) == emit(KERNEL + FLAGS, GFX942)


def test_forms() -> None:
    assert b"define protected amdgpu_kernel void @k" in emit(KERNEL + FLAGS, GFX942, "ll")
    assert b"s_endpgm" in emit(KERNEL + FLAGS, GFX942, "asm")
    assert emit(KERNEL + FLAGS, GFX942, "obj")[:4] == b"\x7fELF"


@pytest.mark.parametrize("text", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(100), b"PK" + bytes(100)])
def test_what_is_no_elf_says_so(text: bytes) -> None:
    with pytest.raises(ContainerError, match="not a 64-bit"):
        Elf(text)


def test_messagepack() -> None:
    """Every tag that AMDGPU metadata can hold, by the MessagePack specification."""
    cases = [
        (b"\x07", 7), (b"\xff", -1), (b"\xc3", True), (b"\xc2", False), (b"\xc0", None),
        (b"\xcc\xc8", 200),
        (b"\xcd\x01\x00", 256), (b"\xce\x00\x01\x00\x00", 65536), (b"\xd0\x80", -128), (b"\xa2ab", "ab"),
        (b"\xd9\x03abc", "abc"), (b"\x92\x01\x02", [1, 2]), (b"\xdc\x00\x01\x05", [5]),
        (b"\x81\xa1k\x01", {"k": 1}),
        (b"\xde\x00\x01\xa1k\x02", {"k": 2}),
    ]  # fmt: skip
    for blob, value in cases:
        assert unpack(Blob(blob, "x")) == (value, len(blob)), json.dumps(blob.hex())


def test_llvm_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> bytes:
        while True:
            pass

    monkeypatch.setattr(isolate, "SECONDS", 1)
    monkeypatch.setattr(isolate, "emit", endless)
    with pytest.raises(CodegenError, match="more than 1 s"):
        emit_isolated(KERNEL + FLAGS, GFX942)
