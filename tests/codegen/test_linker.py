"""Our linker against ld.lld: what is loaded must be the same, byte for byte. What it does not know it has to name.

Objects are LLVM's, of PTX with all that modules have (variables, tables of functions, debug information), and of
assembler for what our translator does not emit: groups, weak symbols, a GOT."""

from __future__ import annotations

import struct
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from ptx2amd import codegen
from ptx2amd.binary import Elf
from ptx2amd.binary.elf import HEADER, SECTION
from ptx2amd.codegen.linker import link_shared
from ptx2amd.codegen.linker.relocate import KINDS
from ptx2amd.errors import LinkError, Ptx2amdError
from ptx2amd.target import target
from ptx2amd.translate import translate
from tests import ROOT

linking = import_module("ptx2amd.codegen.link")  # the package has a function of that name
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
PT_LOAD = 1
ZIG = (sys.executable, "-m", "ziglang")
FILETESTS = ROOT / "tests" / "filetests"
PTX = [FILETESTS / "lower" / name for name in ("indirect.ptx", "variables.ptx", "calls.ptx")]
PTX += [FILETESTS / "isa" / name for name in ("atomic.ptx", "texture.ptx", "float.ptx")]

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.protected k
.p2align 8
.type k,@function
k:
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, near@rel32@lo+4
  s_addc_u32 s3, s3, near@rel32@hi+12
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, far@gotpcrel32@lo+4
  s_addc_u32 s5, s5, far@gotpcrel32@hi+12
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, shared@gotpcrel32@lo+4
  s_addc_u32 s5, s5, shared@gotpcrel32@hi+12
  s_branch other
  s_endpgm
.size k, .-k
.section .text.other,"ax",@progbits
.hidden other
.globl other
other:
  s_endpgm
.data
.globl table
.protected table
.type table,@object
table:
  .quad near
  .quad near+8
  .quad far
  .quad shared+24
  .quad number
.size table, .-table
.weak shared
.type shared,@object
shared:
  .quad 7
.size shared, .-shared
.globl number
.hidden number
.set number, 0x123456789
.bss
.p2align 5
near: .skip 40
.section .rodata,"a",@progbits
.quad near - .
"""
HALVES = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.globl number
.hidden number
.set number, 0x123456789
.section .halves,"a",@progbits
.long number@abs32@lo
.long number@abs32@hi
"""
OTHER = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.section .rodata.far,"a",@progbits
.globl far
.hidden far
.p2align 14
far: .quad 5
.data
.globl shared
.type shared,@object
.p2align 6
shared: .quad 9, 8, 7, 6
.size shared, .-shared
.section .data.rel.ro,"aw",@progbits
.quad far
"""
GROUP = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.section .text.inline,"axG",@progbits,inline,comdat
.weak inline
.protected inline
.type inline,@function
inline:
  s_nop {n}
  s_endpgm
.size inline, .-inline
.data
.quad inline
.section .debug_info,"",@progbits
.quad .text.inline
.section .debug_ranges,"",@progbits
.quad .text.inline
"""


@cache
def assembled(text: str, chip: str = "gfx942") -> bytes:
    """A relocatable object."""
    command = [*ZIG, "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={chip}", "-c", "-x", "assembler", "-", "-o", "-"]
    text = text.replace("gfx942", chip)
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def lld(objects: list[bytes], folder: Path, *options: str) -> bytes:
    paths = []
    for number, blob in enumerate(objects):
        (folder / f"{number}.o").write_bytes(blob)
        paths.append(str(folder / f"{number}.o"))
    command = [*ZIG, "ld.lld", "-m", "elf64_amdgpu", "-shared", *options, *paths, "-o", str(folder / "lld")]
    subprocess.run(command, check=True)
    return (folder / "lld").read_bytes()


def segments(image: bytes) -> list[tuple[int, ...]]:
    header = HEADER.unpack_from(image)
    rows = [PROGRAM_HEADER.unpack_from(image, header[5] + i * PROGRAM_HEADER.size) for i in range(header[10])]
    return [(*row[:2], *row[2:]) for row in rows]


def loaded(image: bytes) -> list[bytes]:
    """What a loader maps, without the parts of the ELF header that say where the sections' headers are."""
    head = bytearray(image[: HEADER.size])
    head[40:48], head[60:64] = bytes(8), bytes(4)
    image = bytes(head) + image[HEADER.size :]
    return [image[at : at + size] for kind, _, at, _, _, size, _, _ in segments(image) if kind == PT_LOAD]


def other_sections(image: bytes) -> dict[str, bytes]:
    """Sections that are not loaded, without those that list names."""
    names = (".comment", ".symtab", ".strtab", ".shstrtab")
    rest = [section for section in Elf(image).sections[1:] if not section.flags & 2 and section.name not in names]
    return {section.name: section.data for section in rest}


def assert_alike(objects: list[bytes], folder: Path) -> bytes:
    ours, theirs = link_shared(objects), lld(objects, folder)
    assert segments(ours) == segments(theirs)
    assert loaded(ours) == loaded(theirs)
    assert other_sections(ours) == other_sections(theirs)
    assert sorted(Elf(ours).symbols()) == sorted(s for s in Elf(theirs).symbols() if s[0] != "_DYNAMIC")
    return ours


@pytest.mark.parametrize("chip", ["gfx942", "gfx1030", "gfx1201", "gfx11-generic"])
@pytest.mark.parametrize("path", PTX, ids=lambda path: path.stem)
def test_modules(path: Path, chip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[bytes]] = []

    def note(objects: list[bytes]) -> bytes:
        seen.append(objects)
        return link_shared(objects)

    monkeypatch.setattr(linking, "link_shared", note)
    for mode in ("kernel", "module"):
        translate(path.read_text(), path.name, [chip], mode=mode)
    assert seen, "nothing was linked"
    for objects in seen:
        assert_alike(objects, tmp_path)


def test_several_objects_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of large modules are compiled apart; the metadata of all is one note."""
    files = [Elf(codegen.emit(_kernel(name), target("gfx942"))) for name in ("a", "b", "c")]
    seen: list[list[bytes]] = []
    monkeypatch.setattr(linking, "link_shared", lambda objects: seen.append(objects) or link_shared(objects))
    image = linking.link(files, {"x": 1})
    assert [kernel[".name"] for kernel in Elf(image).metadata()["amdhsa.kernels"]] == ["a", "b", "c"]
    assert_alike(seen[0], tmp_path)


def _kernel(name: str) -> str:
    ir = f"define protected amdgpu_kernel void @{name}(ptr addrspace(1) %p) {{"
    ir += " store i32 7, ptr addrspace(1) %p\n ret void }"
    return ir + '\n!llvm.module.flags = !{!1}\n!1 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'


def test_every_relocation(tmp_path: Path) -> None:
    """A GOT, addresses for the loader, symbols that it may replace, an alignment above a page's."""
    objects = [assembled(KERNEL), assembled(OTHER)]
    used = set()
    for blob in objects:
        for section in Elf(blob).sections:
            if section.type == 4:
                used |= {info & 0xFFFFFFFF for _, info, _ in struct.iter_unpack("<QQq", section.data)}
    assert {3, 5, 8, 9, 10, 11, 14} <= used
    assert used <= set(KINDS)
    assert_alike(objects, tmp_path)
    assert_alike(objects[::-1], tmp_path)


def test_halves_of_a_number() -> None:
    """ld.lld does not know these two."""
    assert {s.name: s.data for s in Elf(link_shared([assembled(HALVES)])).sections}[".halves"] == struct.pack(
        "<Q", 0x123456789
    )


def test_the_first_of_equal_groups_is_taken(tmp_path: Path) -> None:
    objects = [assembled(GROUP.format(n=n)) for n in (1, 2)]
    assert_alike(objects, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".data\n.globl x\n.quad x", "undefined symbols in the generated code: x"),
        (".data\n.weak x\n.quad x", "undefined symbols in the generated code: x"),
        (".data\n.globl shared\nshared: .quad 0\n", "shared is defined twice"),
        (".comm c,8,8", "symbol c lies in the special section 0xfff2"),
        ('.section .init_array,"aw",@init_array\n.quad 0', "section .init_array has type 0xe"),
        ('.section .tdata,"awT",@progbits\n.quad 0', "section .tdata has flags 0x400"),
        (".text\ns_mov_b32 s0, shared@abs32@lo", "R_AMDGPU_ABS32_LO cannot be linked: shared has an address"),
        ('.section .rodata,"a"\n.quad shared', "R_AMDGPU_ABS64 cannot be linked: shared has an address"),
        (".text\ns_getpc_b64 s[2:3]\ns_add_u32 s2, s2, shared@rel32@lo", "REL32_LO cannot be linked: shared is at no"),
    ],
)
def test_what_is_not_known_is_named(text: str, message: str) -> None:
    """The other object defines `shared`, which a loader may replace."""
    with pytest.raises(LinkError, match=message.replace("(", r"\(")):
        link_shared([assembled(OTHER), assembled('.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n' + text + "\n")])


def test_objects_for_different_chips_do_not_go_together() -> None:
    with pytest.raises(LinkError, match="different chips"):
        link_shared([assembled(OTHER), assembled(GROUP.format(n=1), "gfx90a")])


def test_an_unknown_relocation_is_named() -> None:
    blob = bytearray(assembled(OTHER))
    [at] = [section.at for section in Elf(bytes(blob)).sections if section.name == ".rela.data.rel.ro"]
    struct.pack_into("<I", blob, at + 8, 99)
    with pytest.raises(LinkError, match=r"\.data\.rel\.ro has a relocation of type 99"):
        link_shared([bytes(blob)])


def test_a_linker_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PTX2AMD_LD is taken, and one that is not there is named."""
    called = tmp_path / "ld"
    called.write_text(f'#!/bin/sh\nexec {" ".join(ZIG)} ld.lld "$@"\n')
    called.chmod(0o755)
    blob = Elf(codegen.emit(_kernel("a"), target("gfx942")))
    ours = linking.link([blob])
    monkeypatch.setenv("PTX2AMD_LD", str(called))
    theirs = linking.link([blob])
    assert ours != theirs
    assert loaded(ours) == loaded(theirs)
    monkeypatch.setenv("PTX2AMD_LD", "/nowhere/ld")
    with pytest.raises(LinkError, match="/nowhere/ld cannot be run"):
        linking.link([blob])


def test_damaged_objects_are_errors_of_ours() -> None:
    """Each byte of the headers and tables in turn is another one; the linker says no, or links what is there."""
    blob = assembled(OTHER)
    start = HEADER.unpack_from(blob)[6]
    refused = 0
    for at in range(start, len(blob), 3):
        for value in (0, 0xFF):
            damaged = bytearray(blob)
            damaged[at] = value
            try:
                link_shared([bytes(damaged)])
            except Ptx2amdError:
                refused += 1
    assert refused > SECTION.size // 4
