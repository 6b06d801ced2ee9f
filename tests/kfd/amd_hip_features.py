"""What libcuda does on AMD's HIP libraries above the software KFD: the cases of `doctor --selftest`, and those of the
driver API's conformance (tests/shim/conformance). amd_hip.py makes the page from it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ptx2amd import launch, native
from tests import ROOT, rocm
from tests.shim.conformance_run import TABLES, all_cases

#: Seconds in which a case has to end. One that does not is ended, as is one that ends the program.
STUCK = 20.0
#: Of the self-test, for busy machines: of a case, of all.
LIMIT, TOTAL = 120.0, 2000.0


def python(prefix: rocm.Prefix, folder: Path) -> Path:
    """This interpreter, as a program that the release's loader starts: its children are of the same kind."""
    loader, *rest = prefix.command(sys.executable, before=(native.DIRECTORY,))
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([loader, "--argv0", sys.executable, *rest])} "$@"\n')
    program.chmod(0o755)
    return program


def selftest(prefix: rocm.Prefix, chip: str, only: str = "") -> dict[str, str]:
    """Title of a case: its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        program, report = python(prefix, Path(folder)), Path(folder) / "report"
        words = ["doctor", "--selftest", "--device", f"kfd:{chip}", "--report", str(report), "--only", only]
        words += ["--limit", str(LIMIT)]
        code = (
            f"import sys; sys.executable = {str(program)!r}; sys.argv[1:] = {words}\n"
            f"from ptx2amd.selftest import runner; runner.TOTAL = {TOTAL}; import ptx2amd.cli.__main__"
        )
        done = subprocess.run([program, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=TOTAL + LIMIT)
        if not (made := report.with_suffix(".json")).exists():
            raise RuntimeError(done.stdout + done.stderr)
        return {case["title"]: case["verdict"] for case in json.loads(made.read_text())["outcomes"]}


@cache
def areas() -> dict[str, str]:
    """Symbol: the table that has its cases."""
    found: dict[str, str] = {}
    for path in sorted(TABLES.glob("*.txt")):
        for line in path.read_text().splitlines():
            found.setdefault(line.partition("(")[0], path.stem)
    return found


def calls(prefix: rocm.Prefix, chip: str) -> dict[str, dict[str, Any]]:
    """Area: numbers of cases and of right ones, and the titles of those that were wrong or ended the program. Functions
    that were not right are asked again in a process of their own: a wrong call often leaves something wrong behind."""
    cases, got = all_cases(), list[object]()
    while len(got) < len(cases):
        got += (answer for _, answer in answers(prefix, chip, "--from", str(len(got))))
        got += [None] if len(got) < len(cases) else []
    wrong = {case.symbol for case, answer in zip(cases, got, strict=True) if answer not in case.expected}
    again = dict(pair for symbol in wrong for pair in answers(prefix, chip, "--only", f"{symbol}("))
    found: dict[str, dict[str, Any]] = {}
    for case, first in zip(cases, got, strict=True):
        if (area := areas().get(case.symbol)) is None:  # refused by libcuda, whatever is below it
            continue
        answer = first if first in case.expected else again.get(case.title, first)
        counts = found.setdefault(area, {"cases": 0, "right": 0, "wrong": [], "ended": []})
        counts["cases"] += 1
        counts["right"] += answer in case.expected
        if answer not in case.expected:
            counts["ended" if answer is None else "wrong"].append(case.title)
    return found


def answers(prefix: rocm.Prefix, chip: str, *options: str) -> Iterator[tuple[str, object]]:
    """Titles of cases with what they answered, until one ends the program or is stuck."""
    environment = {**os.environ, **launch.environment(device=f"kfd:{chip}"), "LD_AUDIT": ""}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as out:
        program = python(prefix, Path(folder))
        code = (
            f"import runpy, sys; sys.executable, sys.argv = {str(program)!r}, "
            f"{['', str(native.DIRECTORY / 'libcuda.so.1'), *options]}\n"
            "runpy.run_module('tests.shim.conformance_run', run_name='__main__')"
        )
        command = [str(program), "-c", code]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.DEVNULL)
        size, since = 0, time.monotonic()
        while process.poll() is None:
            time.sleep(0.1)
            if (now := os.fstat(out.fileno()).st_size) != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > STUCK:
                process.kill()
                process.wait()
        out.seek(0)
        for line in out:
            if line.startswith("[") and line.endswith("]\n"):
                title, _, got = json.loads(line)
                yield title, got
