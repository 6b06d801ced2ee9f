"""The weak-memory mode and racecheck agree: a program in which racecheck finds no race has one result, whatever the
seed; one that has several has a race.

Protects: both tools. Neither knows of the other.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.translate import translate
from tests.vgpu import race_programs


def run(folder: Path, chip: str, **mode: str) -> tuple[dict[str, list[int]], str]:
    """What each program left, and what the process reported."""
    result = folder / "result"
    command = [sys.executable, "-m", "tests.vgpu.race_programs", str(folder), str(result), chip]
    done = subprocess.run(command, env=os.environ | mode, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    left: dict[str, list[int]] = json.loads(result.read_text())
    return left, done.stderr


def compare(folder: Path, chip: str, programs: range, seeds: int) -> tuple[int, int]:
    """How many programs have a race, and how many of these show it."""
    text = race_programs.HEAD + "".join(race_programs.draw(n).kernel(f"k{n}") for n in programs)
    [made] = translate(text, "races.ptx", [chip], mode="module")
    assert made.code, made
    (folder / "code").write_bytes(made.code)
    (folder / "seeds").write_text(json.dumps(list(programs)))
    normal, report = run(folder, chip, PTX2AMD_RACECHECK="1")
    racy = set(re.findall(r"in kernel k(\d+)\b", report))
    results = {n: {tuple(left)} for n, left in normal.items()}
    for seed in range(1, seeds + 1):
        left, report = run(folder, chip, PTX2AMD_WEAK=str(seed))
        assert "register" not in report, f"seed {seed}: {report}"
        for n, words in left.items():
            results[n].add(tuple(words))
    several = {n for n, found in results.items() if len(found) > 1}
    assert not several - racy, f"several results, and no race: {[race_programs.draw(int(n)) for n in several - racy]}"
    return len(racy), len(several)


def test_agreement(tmp_path: Path) -> None:
    racy, shown = compare(tmp_path, "gfx1100", range(16), 6)
    assert racy >= 3 and shown >= 2, (racy, shown)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_agreement_at_length(chip: str, tmp_path: Path) -> None:
    racy, shown = compare(tmp_path, chip, range(100, 200), 20)
    assert racy >= 20 and shown >= 10, (racy, shown)
