"""The parser's tables: the build writes those that the grammar gives, they are found stale when it changes, and nothing
that is loaded from a file can be code (Lark's own cache is a pickle: who can write to it runs what they like)."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from lark.grammar import Rule
from lark.lexer import TerminalDef

import ptx2amd
from ptx2amd.ptx import grammar

PACKAGE = Path(ptx2amd.__file__).parent
SHIM = PACKAGE.parent / "shim"


def test_the_build_has_the_tables_of_this_grammar() -> None:
    text = grammar._text()
    tables = json.loads(grammar.TABLES.read_bytes(), object_hook=grammar._numbered)
    assert tables["grammar"] == grammar._digest(text), "run `python -m ptx2amd.native`"
    data, memo = grammar._make(text).memo_serialize([TerminalDef, Rule])
    assert sorted(tables["data"]["parser"]["parser"]["states"]) == sorted(data["parser"]["parser"]["states"])
    assert len(tables["memo"]) == len(memo)


@pytest.mark.parametrize("damage", ["missing", "cut", "stale", "a folder"])
def test_without_good_tables_the_parser_is_made_anew(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grammar.json"
    grammar.write_tables(path)
    whole = path.read_bytes()
    if damage in ("missing", "a folder"):
        path.unlink()
    if damage == "a folder":
        path.mkdir()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    if damage == "stale":
        path.write_bytes(whole.replace(grammar._digest(grammar._text()).encode(), b"0" * 32))
    monkeypatch.setattr(grammar, "TABLES", path)
    parser = grammar.lark.__wrapped__()
    assert parser.parse(".version 8.0", start="version") == grammar.parse(".version 8.0", "version")


def test_a_build_renews_stale_tables_and_leaves_good_ones(tmp_path: Path) -> None:
    path = tmp_path / "grammar.json"
    grammar.write_tables(path)
    before = path.stat()
    grammar.write_tables(path)
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    path.write_text('{"grammar": "of another grammar"}')
    grammar.write_tables(path)
    assert json.loads(path.read_bytes())["grammar"] == grammar._digest(grammar._text())


def _imports(source: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_nothing_of_ours_loads_code_from_data() -> None:
    for source in [*PACKAGE.rglob("*.py"), *SHIM.rglob("*.py")]:
        found = _imports(source) & {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
        assert not found, f"{source}: {found}"
        calls = (node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call))
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id == "Lark":
                assert not {word.arg for word in call.keywords} & {"cache", "cache_grammar"}, source
