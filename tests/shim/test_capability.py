"""The compute capability that is told. Protects: NVIDIA's libraries take their PTX, and not the machine code for chips
that they know, without any setting; programs hear what toolchains know; what is set holds for all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASKING = "int ask(int (*get)(int *, int, int), int *v) { return get(v, 75, 0) + get(v + 1, 76, 0); }\n"
PROGRAM = """
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
assert cuda.cuInit(0) == 0
for library in sys.argv[2:]:
    told = (ctypes.c_int * 2)()
    assert ctypes.CDLL(library).ask(cuda.cuDeviceGetAttribute, told) == 0
    print(*told, end=" ")
"""


@pytest.mark.parametrize(
    ("wanted", "trace", "told"),
    [("", False, "13 0 8 0"), ("", True, "13 0 8 0"), ("8.6", False, "8 6 8 6"), ("x", False, "13 0 8 0")],
)
def test_who_asks(
    wanted: str, trace: bool, told: str, environment: dict[str, str], loaded: object, tmp_path: Path
) -> None:
    libraries = [tmp_path / "libcublasLt.so.13", tmp_path / "libmine.so"]
    source = tmp_path / "asking.c"
    source.write_text(ASKING)
    for library in libraries:
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    settings = {"PTX2AMD_COMPUTE_CAPABILITY": wanted, "PTX2AMD_TRACE": str(tmp_path / "t.jsonl") if trace else ""}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(loaded.path), *map(str, libraries)],  # type: ignore[attr-defined]
        env={**os.environ, **environment, **settings}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout.split() == told.split()
    assert ("expected MAJOR.MINOR" in ran.stderr) == (wanted == "x")
