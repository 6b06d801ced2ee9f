"""The programs of toolkit_programs.py that compile in seconds; the others are a row of suites.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests.clients import toolkit_programs


@pytest.fixture(scope="module", params=toolkit_programs.LIGHT)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    return toolkit_programs.build(request.param, tmp_path_factory.mktemp("toolkit"))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_every_case_is_right(program: Path, arch: str) -> None:
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", "--", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    assert done.returncode == 0 and "FAIL" not in text and text.count("ok ") == 9, text
