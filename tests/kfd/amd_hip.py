"""The CUDA samples through libcuda on AMD's own HIP libraries, above the software KFD, and features (amd_hip_features):

    python -m tests.kfd.amd_hip [--release R] [--only KIND] [NAME...]   run, and write docs/support/amd_hip.{json,md}

The page's tables are made from these runs. A sample that fails has its reason in WHY."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuda_samples import build, demo
from ptx2amd import launch, native
from tests import ROOT, rocm
from tests.kfd import amd_hip_features as features
from tests.kfd import amd_hip_programs, same_bytes

RESULTS = ROOT / "docs" / "support" / "amd_hip.json"
PAGE = RESULTS.with_suffix(".md")
CHIP = "gfx942"
LIMIT = 120  # seconds
#: Release: the HIP library's version there.
RELEASES = {"5.7": "5.7.1", "6.4": "6.4.3", "7.2": "7.2.4"}
#: What is run: CUDA samples, those that copy results (same_bytes), the cases of `doctor --selftest`,
#: clients and tests of bad input (amd_hip_programs), the cases of tests/shim/conformance.
KINDS = ("samples", "bytes", "selftest", "programs", "calls")
#: Kind: release: name of a sample, a case or an area: what became of it.
Results = dict[str, dict[str, dict[str, Any]]]
#: Areas of calls, as the page names them, in its order.
AREAS = {
    "context": "devices, contexts", "memory": "memory, pools, virtual memory, external memory", "texture": "arrays, "
    "textures, surfaces, tensor maps", "module": "modules, kernels, launches", "stream": "streams, events", "graph":
    "graphs", "interop": "OpenGL", "absent": "what is not there", "diagnostics": "checkpoints, logs, profilers",
}  # fmt: skip

#: (sample, release): why it fails there.
WHY: dict[tuple[str, str], str] = {}


@dataclass(frozen=True)
class Run:
    passed: bool
    seconds: float
    output: str


def packages(release: str) -> str:
    return f"libamdhip64-{rocm.RELEASES[release].hip}"


def run(prefix: rocm.Prefix, program: Path, *arguments: str, chip: str = CHIP, **settings: str) -> Run:
    """A CUDA program under the release's own loader."""
    environment = {**os.environ, **launch.environment(device=f"kfd:{chip}"), **settings}
    command = prefix.command(program, *arguments, before=(native.DIRECTORY,))
    begin = time.monotonic()
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return Run(False, LIMIT, f"no end after {LIMIT} s")
    passed = done.returncode == 0 and "PASS" in done.stdout.splitlines() and demo.expected(program, done.stdout)
    said = done.stdout + done.stderr
    return Run(passed, time.monotonic() - begin, said or f"exit status {done.returncode}")


def page(results: Results) -> str:
    """The page's text."""
    samples = results["samples"]
    names = sorted({name for runs in samples.values() for name in runs})
    lines = [
        "# CUDA programs on AMD's own HIP libraries",
        "",
        "Made by `python -m tests.kfd.amd_hip`: programs through our libcuda on Debian's libamdhip64 above the",
        f"software KFD ([kfd.md](../kfd.md)), as {CHIP}. Not run on an AMD GPU.",
        "",
        "HIP 5.2 (Debian 12) knows no code objects of version 5 and runs none of ours.",
        "",
        "## Samples",
        "",
        "Every program of cuda_samples/.",
        "",
        *table("sample", names, lambda name, release: cell(name, release, bool(samples[release][name]["passed"]))),
    ]
    counts = [sum(bool(run["passed"]) for run in samples[release].values()) for release in RELEASES]
    lines.append("| **passed** | " + " | ".join(f"{count} of {len(names)}" for count in counts) + " |")
    notes = sorted({note(name, release): why for (name, release), why in WHY.items()}.items())
    lines += [""] * bool(notes) + [f"{number}. {why}" for number, why in notes]
    lines += ["", *bytes_paragraph(results["bytes"])]
    verdicts = results["selftest"]
    titles = list(next(iter(verdicts.values())))
    lines += ["", "## Features", "", "The cases of `ptx2amd doctor --selftest`.", "",
              *table("case", titles, lambda title, release: str(verdicts[release][title]))]  # fmt: skip
    programs = results["programs"]
    lines += ["", "## Programs", "", "Tests that pass, and right cases of clients (tests/clients). Before HIP 7, ROCr",
              "ends programs after a wrong access of a kernel, and so two tests. *ended*: crashed at its end.", "",
              *table("program", list(programs["7.2"]), lambda name, r: answers(programs[r][name]))]  # fmt: skip
    calls = results["calls"]
    lines += ["", "## Calls", "", "Right answers of the driver API's conformance cases (tests/shim/conformance), wrong",
              "arguments included. Functions with an answer that was not right were asked again in a process of",
              "their own. *ended*: the case ended the program. [kfd.md](../kfd.md): what AMD's library does otherwise.",
              "", *table("area", list(AREAS), lambda area, r: answers(calls[r][area]), AREAS), ""]  # fmt: skip
    return "\n".join(lines)


def bytes_paragraph(found: dict[str, dict[str, Any]]) -> list[str]:
    """How many samples copy the same bytes from the device as with our HIP library."""
    ours = found[same_bytes.OURS]
    same = {release: sum(found[release][name] == ours[name] for name in ours) for release in RELEASES}
    if all(count == len(ours) for count in same.values()):
        all_of_them = f"All {len(ours)} samples whose results have a fixed order copy the same bytes from the device as"
        return [all_of_them, "with our own HIP library."]
    counts = ", ".join(f"{count} with HIP {RELEASES[release]}" for release, count in same.items())
    first = f"Of the {len(ours)} samples whose results have a fixed order, these copy the same bytes from the device as"
    return [first, f"with our own HIP library: {counts}. The others do not pass there."]


def table(
    first: str, names: list[str], text: Callable[[str, str], str], shown: Mapping[str, str] | None = None
) -> list[str]:
    """A line for each name, a column for each release; `text` of name and release fills the cells."""
    head = [f"| {first} | " + " | ".join(f"HIP {version}" for version in RELEASES.values()) + " |"]
    head.append("| --- |" + " --- |" * len(RELEASES))
    cells = (" | ".join([(shown or {}).get(name, name), *(text(name, r) for r in RELEASES)]) for name in names)
    return [*head, *(f"| {line} |" for line in cells)]


def answers(counts: dict[str, Any]) -> str:
    ended = f", {len(counts['ended'])} ended" if counts.get("ended") else ""
    return f"{counts['right']} of {counts['cases']}{ended}"


def cell(name: str, release: str, passed: bool) -> str:
    return "yes" if passed else f"no ({note(name, release)})"


def note(name: str, release: str) -> int:
    """The number of the reason."""
    return list(dict.fromkeys(WHY.values())).index(WHY[name, release]) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the CUDA samples on AMD's HIP libraries.")
    parser.add_argument("--release", choices=RELEASES, action="append", help="default: all")
    parser.add_argument("--only", choices=KINDS, action="append", help="default: all")
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples (default: all)")
    options = parser.parse_args()
    if "bytes" in (options.only or KINDS) and not options.names:
        keep("bytes", same_bytes.OURS, {name: same_bytes.results(name, same_bytes.OURS) for name in same_bytes.names()})
    for release in options.release or RELEASES:
        prefix = rocm.fetch(release, packages(release))
        for kind in options.only or (("samples",) if options.names else KINDS):
            if kind == "samples":
                run_samples(prefix, release, options.names)
            elif kind == "bytes":
                keep(kind, release, {name: same_bytes.results(name, release) for name in same_bytes.names()})
            elif kind == "programs":
                keep(kind, release, amd_hip_programs.programs(prefix, release, CHIP))
            else:
                keep(kind, release, getattr(features, kind)(prefix, CHIP))
    PAGE.write_text(page(json.loads(RESULTS.read_text())))


def run_samples(prefix: rocm.Prefix, release: str, names: list[str]) -> None:
    for name, program in build.build_all(demo.OUT, names or None).items():
        outcome = run(prefix, program)
        print(f"HIP {release} {name:24} {outcome.seconds:6.1f} {outcome.passed or outcome.output[-200:]}", flush=True)
        keep("samples", release, {name: {"passed": outcome.passed, "seconds": round(outcome.seconds, 1)}})


def keep(kind: str, release: str, found: dict[str, Any]) -> None:
    results: Results = json.loads(RESULTS.read_text())
    results.setdefault(kind, {}).setdefault(release, {}).update(found)
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
