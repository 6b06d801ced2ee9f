"""Where our driver answers otherwise than NVIDIA's, the difference and its reason are listed (answers/differences.txt).

Protects: what programs meet beyond the manual's words: values, texts, orders of checks, faults and what follows them. A
difference that is new, and one that is gone and still listed, both fail, so that the list can only become shorter.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import launch, native
from ptx2amd.compat import toolkit
from tests import ROOT
from tests.shim.answers import compare

#: Questions that take a second or two in all.
FAST = ("context.", "stream.")
SLOW = (
    "proc",
    "frees.",
    "device.",
    "memory.",
    "pointer.",
    "module.",
    "graph.",
    "texture.",
    "copies.",
    "fault",
    "capturing.",
    "spoilt",
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    base = tmp_path_factory.mktemp("answers")
    return {
        **os.environ,
        **launch.environment("vgpu:gfx942"),
        "LD_AUDIT": "",
        "PTX2AMD_TRACE": "",
        "PTX2AMD_CACHE_DIR": str(base / "cache"),
        "PTX2AMD_RUNTIME_DIR": str(base / "run"),
        "PTX2AMD_SERVICE_IDLE": "20",
    }


def answers(environment: dict[str, str], only: str, path: Path) -> dict[str, str]:
    library = native.DIRECTORY / "libcuda.so.1"
    command = [sys.executable, "-m", "tests.shim.answers.ask", str(library), str(path), "--only", only]
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=300, check=True)
    return compare.read(path.read_text().splitlines())


@pytest.mark.parametrize("only", [*FAST, *(pytest.param(only, marks=pytest.mark.slow) for only in SLOW)])
def test_each_difference_has_a_reason(environment: dict[str, str], tmp_path: Path, only: str) -> None:
    found = answers(environment, only, tmp_path / "answers.txt")
    assert len(found) > 10
    assert compare.complaints(found) == []
    assert [key for key, answer in found.items() if "crash" in answer and not host_memory_that_is_not(key)] == []


def host_memory_that_is_not(key: str) -> bool:
    """A copy reads what the program says is its own memory."""
    return key.startswith("copies.nowhere") or ("nowhere" in key and key.startswith("spoilt.cuMemcpy"))


@pytest.mark.slow
def test_the_runtime_librarys_differences_have_reasons(environment: dict[str, str], tmp_path: Path) -> None:
    try:
        tools = toolkit.find()
    except Exception as error:  # no CUDA compiler here
        pytest.skip(str(error))
    source = Path(compare.__file__).parent / "runtime.cu"
    program = tmp_path / "runtime"
    command = [str(tools.nvcc), *tools.flags, "-std=c++17", "-w", "-cudart", "static", "-o", str(program), source.name]
    subprocess.run([*command, "-gencode", "arch=compute_75,code=compute_75"], cwd=source.parent, check=True)
    path = tmp_path / "answers.txt"
    command = [sys.executable, "-m", "tests.shim.answers.runtime", str(program), str(path)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=300)
    found = compare.read(path.read_text().splitlines())
    assert len(found) > 300
    assert compare.complaints(found) == []
