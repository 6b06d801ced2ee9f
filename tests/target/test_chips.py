"""The table of chips: every key is explained and used, code objects carry its numbers, the
page shows it."""

from __future__ import annotations

import re
import struct
from dataclasses import fields
from pathlib import Path

import pytest

from ptx2amd.codegen import emit
from ptx2amd.target import ARCHS, Arch, chips, page, target
from ptx2amd.vgpu import gen_chips
from ptx2amd.vgpu.isa import encoding

EMPTY = """define amdgpu_kernel void @k() {{
  ret void
}}
!0 = !{{}}
!llvm.module.flags = !{{!1}}
!1 = !{{i32 1, !"amdhsa_code_object_version", i32 {}}}
"""


def test_the_head_explains_every_key() -> None:
    head = chips.TABLE.read_text().split("\n[", 1)[0]
    for name, table in chips.tables().items():
        for key in table:
            assert re.search(rf"\b{key}\b", head), f"{name}: {key} is not explained at the head of {chips.TABLE.name}"


def test_every_key_is_read() -> None:
    read = {field.name for field in fields(Arch)} | {"like", "layouts"}
    # The topology of the software GPU's kernel driver.
    read |= {"memory", "family_id", "shader_arrays", "arrays_per_engine", "units_per_array", "sdma_engines", "xccs"}
    text = "".join(path.read_text() for path in map(Path, (chips.__file__, gen_chips.__file__, encoding.__file__)))
    unread = {key for table in chips.tables().values() for key in table if key not in read and f'"{key}"' not in text}
    assert not unread


def test_what_a_table_is_like_stands_above_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = tmp_path / "chips.toml"
    table.write_text('[gfx1]\nlike = "gfx2"\n')
    monkeypatch.setattr(chips, "TABLE", table)
    with pytest.raises(chips.Ptx2amdError, match="gfx1 is like 'gfx2'"):
        chips.tables.__wrapped__()


@pytest.mark.parametrize("name", ARCHS)
def test_llvm_writes_the_number_of_the_table(name: str) -> None:
    code = emit(EMPTY.format(100 * ARCHS[name].code_object), target(name))
    assert struct.unpack_from("<I", code, 48)[0] & 0xFF == chips.chips()[name]["mach"]


def test_the_page_is_of_this_table() -> None:
    assert page.PAGE.read_text() == page.page(), "run `python -m ptx2amd.target.page`"
    assert f"any of {len(chips.devices())} chips" in (page.PAGE.parents[2] / "README.md").read_text()


@pytest.mark.parametrize("damage", ["", "{}", '{"of": 1, "tables": {}}', "missing"])
def test_the_build_only_saves_reading_the_table(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the build read is used while it is the table's; else the table itself is."""
    expected = chips._parsed(chips.TABLE.read_text("utf-8"))
    chips.write(tmp_path / "chips.json")
    monkeypatch.setattr(chips, "READ", tmp_path / "chips.json")
    with monkeypatch.context() as context:
        context.setattr(chips, "_parsed", lambda text: pytest.fail("the build's table was not used"))
        assert chips._read() == expected
    (tmp_path / "chips.json").unlink() if damage == "missing" else (tmp_path / "chips.json").write_text(damage)
    assert chips._read() == expected
