"""PTX that nvcc makes of C++: everything parses, and the quick way through the front end and the plain one through
the grammar give the same result."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptx2amd.compat import toolkit
from ptx2amd.ptx.ast import Inst, Scope
from ptx2amd.ptx.flat import flat
from ptx2amd.ptx.parse import parse_body, parse_module
from tests.ptx import by_grammar

PROGRAMS = Path(__file__).with_name("programs")
SAMPLES = Path(__file__).resolve().parents[2] / "cuda_samples"


def compile_ptx(source: Path, folder: Path, *options: str) -> str:
    tools = toolkit.find()
    out = folder / "m.ptx"
    command = [tools.nvcc, *tools.flags, "-std=c++17", "-w", "-ptx", *options, str(source), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return out.read_text()


def options_of(source: Path) -> list[str]:
    """What a sample says that nvcc needs, without the libraries."""
    linked = re.search(r"^// link:(.*)$", source.read_text(), re.M)
    return [word for word in linked[1].split() if not word.startswith("-l")] if linked else []


def count(scope: Scope) -> int:
    return sum(isinstance(i, Inst) for i in scope.items)


def check(text: str) -> int:
    """Parse all bodies both ways; the number of instructions."""
    module = parse_module(text, "m.ptx")
    plain = by_grammar.bodies(parse_module(text, "m.ptx"), text)
    total = 0
    for name, function in module.functions.items():
        if function.text:
            scope = parse_body(module, function)
            assert scope == flat(plain[name])
            total += count(scope)
    return total


@pytest.mark.parametrize(
    ("name", "options", "least"),
    [
        ("language", ("-arch=sm_80",), 250),
        ("language", ("-arch=sm_80", "-G"), 400),
        ("language", ("-arch=sm_90", "-lineinfo", "-rdc=true"), 250),
        ("numeric", ("-arch=sm_80", "-lineinfo"), 800),
        ("numeric", ("-arch=sm_100",), 800),
        pytest.param("numeric", ("-arch=sm_90", "-G"), 3000, marks=pytest.mark.slow),
        pytest.param("library", ("-arch=sm_80",), 5000, marks=pytest.mark.slow),
        pytest.param("library", ("-arch=sm_120", "-lineinfo"), 5000, marks=pytest.mark.slow),
    ],
)
def test_program(name: str, options: tuple[str, ...], least: int, tmp_path: Path) -> None:
    assert check(compile_ptx(PROGRAMS / f"{name}.cu", tmp_path, *options)) >= least


@pytest.mark.parametrize("source", [
    pytest.param(path, marks=[] if path.stem in ("device_printf", "integer_mix") else pytest.mark.slow)
    for path in sorted(SAMPLES.glob("*.cu"))
    if "__global__" in path.read_text()
], ids=lambda path: path.stem)  # fmt: skip
def test_sample(source: Path, tmp_path: Path) -> None:
    assert check(compile_ptx(source, tmp_path, "-arch=sm_80", *options_of(source))) > 0
