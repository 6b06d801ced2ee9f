"""Starts a child process for each case, waits for it up to a limit, and judges the outcome."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ptx2amd import launch
from ptx2amd.records import dataclass, field
from ptx2amd.selftest.case import CASES, Case
from ptx2amd.target import UnknownArch, arch

MODULES = ("arithmetic", "conversions", "memory", "threads", "matrix", "images", "launches")
LIMIT, TOTAL = 30.0, 170.0  # seconds: limit of one case, of all cases
SAID = 2000  # bytes of a child's messages that are kept
VERDICTS = ("right", "wrong", "crash", "time-out", "not run")


@dataclass(frozen=True, slots=True)
class Outcome:
    """verdict: one of VERDICTS; "not run": for other chips, or out of time. reason: one line, "" if right. wrong:
    failed comparisons (see Comparison). compared: number of values. said: the end of the child's messages."""

    title: str
    verdict: str
    seconds: float = 0.0
    reason: str = ""
    compared: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)
    said: str = ""


def cases() -> list[Case]:
    """All cases of the package, in order."""
    for name in MODULES:
        importlib.import_module(f"ptx2amd.selftest.{name}")
    return list(CASES.values())


def judge(title: str, lines: list[dict[str, Any]], status: int | None, seconds: float, said: str) -> Outcome:
    """The outcome from a child's results and exit status. status: None if it did not end."""
    found = [line for line in lines if "what" in line]
    wrong, compared = [line for line in found if line["wrong"]], sum(line["values"] for line in found)
    error = next((line for line in lines if "error" in line), None)
    after = f"after “{found[-1]['what']}”" if found else "before the first result"
    if status is None:
        verdict, reason = "time-out", f"no end after {seconds:.0f} s, {after}"
    elif error is not None:
        verdict, reason = "crash" if error["fault"] else "wrong", f"{error['error']}, {after}"
    elif status < 0:
        verdict, reason = "crash", f"{_signal(-status)}, {after}"
    elif status or not any("done" in line for line in lines):
        verdict, reason = "crash", f"exit status {status}, {after}"
    elif wrong or not compared:
        first = wrong[0] if wrong else None
        reason = f"{first['what']}: {first['wrong']} of {first['values']} values" if first else "nothing was compared"
        verdict = "wrong"
    else:
        verdict, reason = "right", ""
    return Outcome(title, verdict, round(seconds, 2), reason, compared, wrong, said[-SAID:])


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run_case(case: Case, environment: dict[str, str], limit: float = LIMIT) -> Outcome:
    """Run one case in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="ptx2amd-") as folder, tempfile.TemporaryFile() as messages:
        results = Path(folder) / "results"
        command = [sys.executable, "-m", "ptx2amd.selftest.child", case.body.__module__, case.title, str(results)]
        begin = time.monotonic()
        child = subprocess.Popen(command, env={**environment, **case.settings}, stdin=subprocess.DEVNULL,
                                 stdout=messages, stderr=messages, start_new_session=True)  # fmt: skip
        status: int | None = None
        try:
            status = child.wait(limit)
        except subprocess.TimeoutExpired:
            child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # a process inside a driver call may not end: leave it
                child.wait(5)
        seconds = time.monotonic() - begin
        messages.seek(0)
        said = messages.read().decode(errors="replace")
        text = results.read_text(encoding="utf-8") if results.exists() else ""
    complete = text[: text.rfind("\n") + 1]
    return judge(case.title, [json.loads(line) for line in complete.splitlines()], status, seconds, said)


def run(
    chosen: Iterable[Case], device: str | None, note: Callable[[Outcome], None], limit: float = LIMIT
) -> tuple[dict[str, str], list[Outcome]]:
    """Runs cases one after the other; `note` receives each outcome. Returns the device ("name", "chip", "software") and
    the outcomes. Uses a cache of its own, so that this build's translation is tested. Raises Ptx2amdError as
    `environment`."""
    with tempfile.TemporaryDirectory(prefix="ptx2amd-") as cache:
        environment = {**os.environ, **launch.environment(device), **_own_service(Path(cache))}
        about = _device(environment, Path(cache) / "trace", limit)
        outcomes, end = [], time.monotonic() + TOTAL
        for case in chosen:
            if not about:
                outcome = Outcome(case.title, "not run", reason="no device")
            elif case.waves and case.waves not in _waves(about["chip"]):
                outcome = Outcome(case.title, "not run", reason=f"{about['chip']} has no waves of {case.waves} lanes")
            elif time.monotonic() >= end:
                outcome = Outcome(case.title, "not run", reason=f"the {TOTAL:.0f} s for all cases were over")
            else:
                outcome = run_case(case, environment, min(limit, max(1.0, end - time.monotonic())))
            outcomes.append(outcome)
            note(outcome)
    return about, outcomes


def _own_service(folder: Path) -> dict[str, str]:
    """Settings of a translation service that serves only this run and exits soon after it."""
    return {
        "PTX2AMD_CACHE_DIR": str(folder / "cache"),
        "PTX2AMD_RUNTIME_DIR": str(folder / "run"),
        "PTX2AMD_SERVICE_IDLE": "20s",
    }


def _device(environment: dict[str, str], trace: Path, limit: float) -> dict[str, str]:
    """libcuda's description of the device; {} if there is none."""
    command = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"]
    try:
        subprocess.run(command, env={**environment, "PTX2AMD_TRACE": str(trace)}, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {}
    for line in trace.read_text().splitlines() if trace.exists() else []:
        event = json.loads(line)
        if event.get("event") == "device":
            return {"name": event["name"], "chip": event["arch"], "software": "yes" if event["software"] else "no"}
    return {}


def _waves(chip: str) -> tuple[int, ...]:
    try:
        return tuple(arch(chip.partition(":")[0]).waves)
    except UnknownArch:
        return ()
