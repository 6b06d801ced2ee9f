"""The test tree itself. Protects: tests of different folders run in one call of pytest, which puts all their folders on
the import path: a module that shares its name with another is not imported, or shadows it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path


def test_modules_have_names_of_their_own() -> None:
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []
