"""The build id: cache entries belong to the translator that asks for them, so it changes with all that translates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.service import build_id as module
from ptx2amd.service.build_id import PACKAGE, PARTS, build_id

#: Loaded for a translation, but without a say in what comes out of it.
AROUND = {"__init__.py", "environment.py", "errors.py", "service/__init__.py", "service/cache.py", "service/folder.py",
          "service/place.py", "service/protocol.py", "service/shared.py",
          "settings/__init__.py", "settings/values.py"}  # fmt: skip


def test_everything_that_translates_is_in_it() -> None:
    program = "import sys, ptx2amd.service.translation as t; t.warm_up()\n"
    program += "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'ptx2amd'))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    files = {path.removeprefix(f"{PACKAGE}/") for path in loaded} - AROUND
    assert len(files) > 50
    assert not {file for file in files if file not in PARTS and file.partition("/")[0] not in PARTS}
    assert all((PACKAGE / part).exists() for part in PARTS)


def test_line_tables_make_another_translator() -> None:
    assert build_id(debug="1") != build_id(debug="0")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A translator of one file, whose build id is kept beside it."""
    (tmp_path / "one.py").write_text("x = 1")
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    monkeypatch.setattr(module, "PARTS", ("one.py",))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def test_a_kept_build_id_is_used(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = tree / "known.json"
    found = {mode: build_id(mode, known) for mode in ("0", "1")}
    monkeypatch.setattr(module, "_computed", None)
    assert {mode: build_id(mode, known) for mode in ("0", "1")} == found


@pytest.mark.parametrize("text", ["x = 2", "x = 10"])
def test_a_kept_build_id_ends_with_a_change(tree: Path, text: str) -> None:
    file, known = tree / "one.py", tree / "known.json"
    first, before = build_id("0", known), file.stat()
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as after an installation that sets all times
    assert build_id("0", known) != first
    file.write_text("x = 1")
    assert build_id("0", known) == first


@pytest.mark.parametrize("content", ["", "{", "[]", '{"of": 1, "ids": {"0": "wrong"}}'])
def test_a_damaged_file_is_written_again(tree: Path, content: str) -> None:
    known = tree / "known.json"
    known.write_text(content)
    assert build_id("0", known) == build_id("0", tree / "none" / "known.json")
    assert '"0"' in known.read_text() and "wrong" not in known.read_text()


def test_a_folder_that_cannot_be_written_costs_time_only(tree: Path) -> None:
    assert len(build_id("0", tree / "none" / "known.json")) == 32
