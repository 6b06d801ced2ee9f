"""Runs one case and writes its findings immediately: `python -m ptx2amd.selftest.child MODULE TITLE RESULTS`.

RESULTS gets one JSON object per line: {"device": ...}, then one for each comparison, {"error": ...} if a driver call
failed, {"done": true} at the end. The end of the file shows how far a case got."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ptx2amd.selftest.case import CASES
from ptx2amd.selftest.gpu import CallFailed, Gpu

#: CUresult codes of faults in a kernel: illegal address, time-out, and those between illegal address and launch failed.
FAULTS = range(700, 720)


def execute(title: str, write: Callable[[dict[str, Any]], None]) -> None:
    """Runs the case and reports each finding at once."""
    try:
        gpu = Gpu()
        write({"device": True})
        for comparison in CASES[title].body(gpu):
            write(asdict(comparison))
        write({"done": True})
    except CallFailed as error:
        write({"error": str(error), "fault": error.code in FAULTS})


def main() -> None:
    module, title, results = sys.argv[1:]
    importlib.import_module(module)
    with Path(results).open("w", encoding="utf-8") as file:

        def write(line: dict[str, Any]) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        execute(title, write)


if __name__ == "__main__":
    main()
