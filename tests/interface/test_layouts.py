"""Layouts of memory: offsets are as documented for those who read them elsewhere, and the helpers in LLVM IR name what
there is. That C agrees is checked by the compiler (static asserts)."""

from __future__ import annotations

import re
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from ptx2amd.interface import arena, environment, generate, heap, launch_words, launches, printf, tensor_map, texture
from ptx2amd.interface.layout import Field, Layout, layouts, numbers
from ptx2amd.lower.runtime import helpers


@pytest.mark.parametrize(
    ("layout", "offsets", "size"),
    [
        (environment.ENVIRONMENT, {"data": 0, "output": 8, "heap": 16, "arena": 24}, 64),
        (launch_words.LAUNCH_WORDS, {"records": 0, "workspace": 8, "shared": 16}, 24),
        (arena.ARENA, {"slots": 0, "mask": 4, "first": 8, "taken": 64, "given": 128, "ring": 192}, 192),
        (heap.HEAP, {"size": 0, "used": 8, "locks": 32, "lists": 64}, 1088),
        (printf.BUFFER, {"capacity": 0, "position": 4}, 8),
        (printf.RECORD, {"size": 0, "kind": 4, "format": 8}, 16),
        (launches.RECORD, {"kernel": 0, "kind": 8, "grid": 16, "block": 28, "shared": 40, "stream": 48, "who": 56}, 64),
        (launches.RECORDS, {"errors": 48, "next_stream": 64, "attributes": 88, "limits": 104}, 256),
        (launches.COMMAND, {"to": 0, "source": 16, "height": 40}, 48),
        (texture.LEVEL, {"base": 0, "slice": 8, "pitch": 16, "depth": 28}, 32),
        (texture.DESCRIPTOR, {"modes": 48, "border": 68, "kind": 84, "table": 96, "blend": 116}, 128),
        (tensor_map.MAP, {"tag": 28, "global_stride": 32, "rank": 79, "lower": 88, "upper": 94}, 128),
    ],
    ids=lambda value: value.name if isinstance(value, Layout) else "",
)
def test_offsets_that_others_rely_on(layout: Layout, offsets: dict[str, int], size: int) -> None:
    """Programs that load code objects by themselves fill the environment; textures' references hold descriptors."""
    assert {name: layout[name].offset for name in offsets} == offsets and layout.size == size


def test_a_level_is_how_a_descriptor_begins() -> None:
    begin = list(texture.DESCRIPTOR.fields.values())[: len(texture.LEVEL.fields)]
    assert begin == list(texture.LEVEL.fields.values())


def test_fields_do_not_overlap() -> None:
    with pytest.raises(AssertionError):
        Layout("wrong", "", Field("a", "u64", ""), Field("b", "u32", "", at=4))
    with pytest.raises(AssertionError):
        Layout("wrong", "", Field("a", "u64", "", at=4))


def test_packing() -> None:
    packed = launches.FACTS.pack(bytes=18, most=1024, block=(8, 4, 1))
    assert packed == b"".join(n.to_bytes(4, "little") for n in (18, 1024, 8, 4, 1)) + bytes(44)


def test_helpers_name_what_there_is() -> None:
    for file in files(helpers).iterdir():
        if file.name.endswith(".ll"):
            assert not re.search(r"\{\w", helpers.helper_text(file.name[:-3])), file.name


def test_a_moved_field_is_an_error_of_the_compiler(tmp_path: Path) -> None:
    generate.write(tmp_path)
    header = tmp_path / "interface_texture.h"
    program = tmp_path / "program.c"
    program.write_text('#include "interface_texture.h"\n')
    command = ["gcc", "-std=gnu11", "-fsyntax-only", f"-I{tmp_path}", str(program)]
    assert subprocess.run(command).returncode == 0
    header.write_text(header.read_text().replace("  uint32_t pitch;", "  uint32_t pitch, more;"))
    assert "static assertion failed" in subprocess.run(command, capture_output=True, text=True).stderr


def test_names_are_unique_in_c() -> None:
    modules = generate.LAYOUTS
    names = [name for module in modules for name in (*numbers(module), *(layout.name for layout in layouts(module)))]
    assert len(names) == len(set(names))
