"""The main job, shown: build every sample with nvcc, run each unmodified on the software GPU as a chip
with 64-lane waves and as one with 32-lane waves. `python -m cuda_samples.demo [--arch A,B] [NAME...]`; exit
status 1 when a sample fails."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from cuda_samples import build

HERE = Path(__file__).resolve().parent

ARCHS = ("gfx942", "gfx1100")
OUT = HERE.parent / "build" / "samples"
LIMIT = 120  # seconds for one program


@dataclass(slots=True)
class Outcome:
    """What one run of one program did, from its own output and our trace."""

    passed: bool
    message: str
    seconds: float
    device: str = ""
    launches: int = 0
    mappings: dict[str, str] = field(default_factory=dict)  # kernel -> mapping
    translated: dict[str, float] = field(default_factory=dict)  # kernel -> ms; 0 for a cache hit


def run(program: Path, arch: str) -> Outcome:
    """Run one program under `ptx2amd run` and read its trace."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", f"vgpu:{arch}", "--trace", str(trace)]
        begin = time.perf_counter()
        try:
            done = subprocess.run([*command, "--", str(program)], capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return Outcome(False, f"no end after {LIMIT} s", LIMIT)
        seconds = time.perf_counter() - begin
        lines = (done.stdout + done.stderr).strip().splitlines()
        passed = done.returncode == 0 and "PASS" in done.stdout.splitlines() and expected(program, done.stdout)
        outcome = Outcome(passed, "" if passed else lines[-1] if lines else f"exit status {done.returncode}", seconds)
        events = trace.read_text().splitlines() if trace.exists() else []
    for event in map(json.loads, events):
        match event["event"]:
            case "device":
                outcome.device = f"{event['name']}, {event['arch']}"
            case "translate" if event["kernel"]:
                outcome.translated[event["kernel"]] = 0.0 if event["cache"] else event["time_ms"]
            case "launch":
                outcome.launches += 1
                outcome.mappings[event["kernel"]] = event["mapping"]
    return outcome


def expected(program: Path, output: str) -> bool:
    """Programs that print have an .expected file: the same lines; warps may print in any order."""
    expected = HERE / f"{program.name}.expected"
    return not expected.exists() or sorted(output.splitlines()) == sorted(expected.read_text().splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the CUDA samples on the software GPU.")
    parser.add_argument("--arch", default=",".join(ARCHS), help="comma-separated archs (default: %(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples (default: all)")
    options = parser.parse_args()
    programs = build.build_all(OUT, options.names or None)
    failed = 0
    archs = options.arch.split(",")
    for arch in archs:
        header_shown = False
        for name, program in programs.items():
            outcome = run(program, arch)
            if not header_shown:
                print(f"\n{outcome.device or arch}")
                print(f"{'program':22} {'result':6} {'seconds':>7}  {'launches':>8}  kernels: mapping, translation")
                header_shown = True
            kernels = ", ".join(
                f"{kernel} ({mapping}, {_time(outcome.translated[kernel])})"
                for kernel, mapping in outcome.mappings.items()
            )
            print(
                f"{name:22} {'PASS' if outcome.passed else 'FAIL':6} {outcome.seconds:7.2f}  {outcome.launches:8}"
                f"  {kernels}{'  ' + outcome.message if outcome.message else ''}",
                flush=True,
            )
            failed += not outcome.passed
    total = len(programs) * len(archs)
    print(f"\n{total - failed} of {total} passed")
    return 1 if failed else 0


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds else "cached"


if __name__ == "__main__":
    sys.exit(main())
