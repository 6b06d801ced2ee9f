"""Tests of other folders through libcuda on AMD's HIP libraries above the software KFD: bad input (tests/bad_input),
and the clients of tests/clients that need nothing but a driver. amd_hip.py makes the page from it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from typing import Any

from ptx2amd import launch, native
from tests import ROOT, rocm
from tests.clients.test_clients import CLIENTS, HERE

BAD_INPUT = "tests of bad input (tests/bad_input)"


def bad_input(release: str) -> dict[str, int]:
    """Numbers of tests, and of those that pass."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/bad_input"]
    environment = {**os.environ, "BAD_INPUT_ON_HIP": release}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}
    if not counts.get("passed"):
        raise RuntimeError(done.stdout[-1000:] + done.stderr[-1000:])
    return {
        "right": counts["passed"],
        "cases": sum(counts.get(what, 0) for what in ("passed", "failed", "skipped")),
    }


def client(prefix: rocm.Prefix, chip: str, script: str) -> dict[str, Any]:
    """Numbers of cases, and of those that are right; whether the program ended by a signal behind them."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ, **launch.environment(device=f"kfd:{chip}"), **CLIENTS[script], "LD_AUDIT": "", "HOME": home,
            "XDG_CACHE_HOME": home,
        }  # fmt: skip
        command = prefix.command(sys.executable, HERE / script, before=(native.DIRECTORY,))
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    lines = done.stdout.splitlines()
    right, wrong = (sum(line.startswith(verdict) for line in lines) for verdict in ("ok", "FAIL"))
    if "cases pass" not in done.stdout:
        raise RuntimeError(f"{script}: {done.stdout[-500:]}{done.stderr[-500:]}")
    ended = ["at its end"] if done.returncode != wrong else []
    return {"right": right, "cases": right + wrong, "ended": ended}


def programs(prefix: rocm.Prefix, release: str, chip: str) -> dict[str, dict[str, Any]]:
    """By the page's titles."""
    clients = {script.removesuffix("_ops.py"): client(prefix, chip, script) for script in CLIENTS}
    return {BAD_INPUT: bad_input(release), **clients}
