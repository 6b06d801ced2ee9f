"""A CUDA program with a mistake, under `ptx2amd run --memcheck` and `--racecheck`: the report says what and where."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.compat import toolkit

SOURCE = Path(__file__).with_name("mistakes.cu")
#: Name -> what the report says of it.
MEMCHECK = {
    "past_the_end": r"write of 4 bytes at 0x[0-9a-f]+ .*past the end of the 256-byte device allocation",
    "freed": r"read of 4 bytes at 0x[0-9a-f]+ .*280-byte device allocation.*that was freed",
    "unwritten_global": r"read of uninitialised memory: 4 bytes at 0x[0-9a-f]+, .*280-byte device",
    "unwritten_shared": r"read of uninitialised memory: 4 bytes at offset 0x[0-9a-f]+ of shared memory",
    "unwritten_local": r"read of uninitialised memory: 4 bytes at offset 0x[0-9a-f]+ of local memory",
    "misaligned": r"misaligned access: 4 bytes at 0x[0-9a-f]+",
}
RACECHECK = {
    "global_race": r"race in global memory: write by warp \d+ after a write by warp \d+ of block \(\d,0,0\), "
    r"at 0x[0-9a-f]+, .*256-byte device allocation",
    "shared_race": r"race in shared memory: read by warp \d at offset 0x[0-9a-f]+, after a write by warp \d",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tools, path = toolkit.find(), tmp_path_factory.mktemp("mistakes") / "mistakes"
    subprocess.run([tools.nvcc, *tools.flags, "-lineinfo", "-o", str(path), str(SOURCE)], check=True)
    return path


def report(program: Path, name: str, arch: str, option: str) -> str:
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", option, "--", str(program), name]
    return subprocess.run(command, capture_output=True, text=True, timeout=120).stderr


@pytest.mark.parametrize("name", [*MEMCHECK, *RACECHECK])
@pytest.mark.parametrize("arch", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.slow)])
def test_mistake(name: str, arch: str, program: Path) -> None:
    text = report(program, name, arch, "--memcheck" if name in MEMCHECK else "--racecheck")
    line = next(n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if text.endswith(f"// {name}"))
    assert re.search({**MEMCHECK, **RACECHECK}[name], text), text
    assert re.search(rf"kernel \w*{name}\w*", text) and re.search(r"PTX line \d+", text), text
    assert f"mistakes.cu:{line}" in text, text
    assert re.search(r"block \(\d,0,0\) thread \(\d+,0,0\)", text), text


def test_leak(program: Path) -> None:
    assert "1 allocations of 4000 bytes were not freed" in report(program, "leak", "gfx942", "--memcheck")
