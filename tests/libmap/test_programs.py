"""Unmodified programs with ROCm's libraries in the place of NVIDIA's. Protects: results of programs that users have,
and the counts on the page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rocm
from tests.libmap import clients
from tests.libmap.packages import PACKAGES

KNOWN = json.loads(clients.RECORD.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CTranslate2", "faiss"])
def test_counts_only_go_up(name: str) -> None:
    chip, known = next(iter(KNOWN[name].items()))
    rocm.prefix("7.2", *(package for library in clients.CLIENTS[name].libraries for package in PACKAGES[library]))
    counts, output = clients.run(name, chip, 1800)
    assert counts["passed"] >= known["passed"] and counts["failed"] <= known["failed"], output[-4000:]


def test_counts_are_of_programs() -> None:
    assert KNOWN and set(KNOWN) <= set(clients.CLIENTS)


def test_a_sample_of_tests(tmp_path: Path) -> None:
    (tmp_path / "test_ten.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(10))\ndef test_one(n): pass\n"
    )
    python = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "every_nth", "--every=4", str(tmp_path)]
    environment = {"PYTHONPATH": str(Path(clients.__file__).parent), "PATH": str(Path(sys.executable).parent)}
    done = subprocess.run(python, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert "3 passed" in done.stdout, done.stdout + done.stderr
