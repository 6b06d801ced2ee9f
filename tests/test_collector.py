"""Processes that translate set Python's collector before they import what they need: it takes a sixth of their start.

Protects: the time that a first kernel takes.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from ptx2amd.collector import AFTER

COMMAND = """
import gc, sys
from ptx2amd import cli
early = "click" in sys.modules
sys.argv[1:] = ["--help"]
try:
    cli.main()
except SystemExit:
    print(early, gc.get_threshold()[0], gc.get_freeze_count() > 0)
"""
SERVICE = """
import gc, importlib.util, runpy, sys
def find_spec(name, *_):
    if name == "ptx2amd.service.server":
        raise SystemExit(f"{gc.get_threshold()[0]}")
sys.meta_path.insert(0, type("Finder", (), {"find_spec": staticmethod(find_spec)}))
runpy.run_module("ptx2amd.service", run_name="__main__")
"""


@pytest.mark.parametrize(("script", "said"), [(COMMAND, f"False {AFTER} True"), (SERVICE, str(AFTER))])
def test_it_is_set_first(script: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout + done.stderr).splitlines()[-1] == said
