"""No module of the package imports itself by way of others, not even for types alone, and layers import downwards:
whoever reads a file needs what it imports, and nothing that is built upon it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ptx2amd

PACKAGE = Path(ptx2amd.__file__).parent


#: What packages must not import: what is built upon them.
ABOVE = {
    "isa": ("target", "middle", "plan", "lower", "codegen"),
    "ptx": ("target", "middle", "plan", "lower", "codegen"),
    "target": ("isa", "ptx", "middle", "plan", "lower", "codegen"),
    "middle": ("lower", "codegen"),
    "plan": ("lower", "codegen"),
    "lower": ("service", "cli"),
}


#: Writes a page about what is built upon its package.
PAGES = {"ptx2amd.isa.support"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def graph() -> dict[str, set[str]]:
    """The modules that each imports anywhere in it."""
    files = {name_of(path): path for path in PACKAGE.rglob("*.py")}
    return {name: set(imported(path, files.keys())) - {name} for name, path in files.items()}


def imported(path: Path, known: set[str] | dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert not node.level, f"{path}: relative import"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
            inner = [module for module in modules if module in known]
            yield from inner
            if len(inner) < len(modules) and node.module in known:
                yield node.module


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other."""
    left = {name: {target for target in targets if target in edges} for name, targets in edges.items()}
    while True:
        users = {target for targets in left.values() for target in targets}
        free = {name for name, targets in left.items() if not targets or name not in users}
        if not free:
            break
        left = {name: targets - free for name, targets in left.items() if name not in free}
    return [sorted(left)] if left else []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_import_circle() -> None:
    assert circles(graph()) == []


@pytest.mark.parametrize("package", ABOVE)
def test_layers_import_downwards(package: str) -> None:
    found = {
        name: targets for name, targets in graph().items() if name.split(".")[1:2] == [package] and name not in PAGES
    }
    assert found
    above = {(name, target) for name in found for target in found[name] if target.split(".")[1] in ABOVE[package]}
    assert not above


#: What takes a tenth of the start's time or more, and what no start needs.
SLOW = {"dataclasses", "inspect", "tempfile", "shutil", "traceback", "secrets", "random", "string", "tomllib", "lark"}
MOST = 205  # modules of ours for a small kernel


@pytest.mark.parametrize("module", ["ptx2amd.service.server", "ptx2amd.translate"])
def test_a_start_imports_nothing_slow(module: str) -> None:
    program = f"import sys, {module}, ptx2amd.service.translation as t; t.warm_up(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not SLOW & set(loaded)
    assert len([name for name in loaded if name.startswith("ptx2amd.")]) <= MOST


def test_help_and_the_version_do_without_the_translator() -> None:
    for option in ("--help", "--version"):
        program = f"import sys; sys.argv = ['ptx2amd', {option!r}]\ntry:\n from ptx2amd import cli; cli.main()\n"
        program += "finally:\n print(*(name for name in sys.modules if name.startswith('ptx2amd')), file=sys.stderr)"
        loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr.split()
        own = {"ptx2amd.cli.commands", "ptx2amd.collector", "ptx2amd.errors"}
        assert set(loaded) == {"ptx2amd", "ptx2amd.cli", *own}
