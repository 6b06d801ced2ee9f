"""Run by suites.py under `ptx2amd run`: Quadrants, which Taichi became, on Taichi's cases."""

import runpy
import sys
from pathlib import Path

import quadrants

sys.modules["taichi"] = quadrants
runpy.run_path(str(Path(__file__).with_name("taichi_ops.py")), run_name="__main__")
