"""The tests are packages under one root: `python -m tests.shim.conformance_run`, `from tests.lower import device`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # on the import path of every process that runs a module of the tests
