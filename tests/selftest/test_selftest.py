"""`ptx2amd doctor --selftest`: all is right on the software GPU, and what is broken is told from what is right."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from ptx2amd.selftest import floats, report, runner
from tests.selftest.broken_cases import BROKEN, FLIPPED

FAST = ("gfx942",)
SLOW = ("gfx1100", "gfx90a", "gfx1201", "gfx803")


@pytest.mark.parametrize(
    "arch",
    [
        *FAST,
        *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
    ],
)
def test_every_case_is_right(arch: str, tmp_path: Path) -> None:
    target = tmp_path / "report"
    command = [
        sys.executable,
        "-m",
        "ptx2amd.cli",
        "doctor",
        "--selftest",
        "--device",
        f"vgpu:{arch}",
        "--report",
        target,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    made = json.loads(target.with_suffix(".json").read_text())
    assert made["device"]["chip"] == arch and made["device"]["software"] == "yes" and made["machine"]["ptx2amd"]
    outcomes = {one["title"]: one for one in made["outcomes"]}
    assert {title for title, one in outcomes.items() if one["verdict"] == "not run"} == {
        case.title for case in runner.cases() if case.waves and case.waves not in runner._waves(arch)
    } - BROKEN.keys() - FLIPPED.keys()
    text = target.with_suffix(".txt").read_text()
    assert all(title in text for title in outcomes) and "values compared" in text


def outcomes(*titles: str, limit: float = 60) -> dict[str, runner.Outcome]:
    chosen = [{**BROKEN, **FLIPPED}[title] for title in titles]
    about, found = runner.run(chosen, "vgpu:gfx942", lambda outcome: None, limit)
    assert about["chip"] == "gfx942"
    return {one.title: one for one in found}


def test_titles_fit_their_column() -> None:
    titles = {case.title for case in runner.cases()} - BROKEN.keys() - FLIPPED.keys()
    assert max(map(len, titles)) <= report.TITLE


def test_broken_cases() -> None:
    found = outcomes(*(title for title in BROKEN if "no end" not in title))
    verdicts = {title.removeprefix("broken: "): one.verdict for title, one in found.items()}
    assert verdicts == {
        "wrong value": "wrong",
        "fault in a kernel": "crash",
        "signal": "crash",
        "refused call": "wrong",
        "nothing compared": "wrong",
    }
    [first] = found["broken: wrong value"].wrong
    assert first["first"] == [[0, "0x00000005", "0x00000006"]]
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in found["broken: fault in a kernel"].reason
    assert "SIGSEGV, after “before”" in found["broken: signal"].reason
    assert "CUDA_ERROR_NOT_FOUND" in found["broken: refused call"].reason
    made = report.Report({}, {"name": "GPU"}, "today", 1.0, list(found.values()))
    assert not made.passed and "[0] 0x00000005, expected 0x00000006" in report.text(made)


def test_no_end_is_a_time_out_and_loses_no_other_case() -> None:
    found = outcomes("broken: no end", "broken: wrong value", limit=8)
    assert [one.verdict for one in found.values()] == ["time-out", "wrong"]
    assert "after “before”" in found["broken: no end"].reason


def flipped(which: list[str]) -> None:
    found = outcomes(*which)
    ran = {title: one.verdict for title, one in found.items() if one.verdict != "not run"}
    assert ran and set(ran.values()) == {"wrong"}, ran


def test_one_wrong_bit_is_found() -> None:
    flipped([title for title in FLIPPED if "atomics" in title])


@pytest.mark.slow
def test_one_wrong_bit_is_found_in_every_case() -> None:
    flipped([title for title in FLIPPED if "atomics" not in title])


@pytest.mark.parametrize("letter", ["e", "f"])
def test_rounding_of_the_expected_values(letter: str) -> None:
    """Against struct, which rounds to the nearest, and against the neighbours for directed roundings."""
    source = random.Random(7)
    for _ in range(3000):
        value = source.uniform(-2, 2) * 2.0 ** source.randint(-30, 14)
        nearest = struct.unpack(f"<{letter}", struct.pack(f"<{letter}", value))[0]
        assert floats.rounded(value, letter) == nearest
        low, high = (floats.rounded(value, letter, mode) for mode in ("rm", "rp"))
        assert Fraction(low) <= Fraction(value) <= Fraction(high) and nearest in (low, high)
        assert floats.rounded(value, letter, "rz") == (low if value > 0 else high)
