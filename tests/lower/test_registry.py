"""Lowerings are imported when one is needed. Protects that the build's index is a hint alone: every lowering is found
with it, without it, and with one of another state."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.lower.core import registry


def test_the_build_has_the_index_of_this_state(tmp_path: Path) -> None:
    registry.write_index(tmp_path / "index")
    assert json.loads((tmp_path / "index").read_bytes()) == json.loads(registry.INDEX.read_bytes())


@pytest.mark.parametrize("index", ["", "[]", '{"selp": "no.such"}', '{"selp": "scalar.move", "shfl": 3}', "good"])
def test_all_are_found_whatever_the_index(index: str, tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_bytes(registry.INDEX.read_bytes() if index == "good" else index.encode())
    code = f"""
from pathlib import Path
from ptx2amd.lower.core import registry
registry.INDEX = Path({str(path)!r})
assert all(registry.lowering(name) is not None for name in {sorted(registry.load())!r})
assert registry.lowering("no_such") is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)
