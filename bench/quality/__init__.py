"""Code quality: executed instructions and cycles of kernels from CUDA, against HIP code of the same source by clang."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from math import exp, log
from pathlib import Path

from bench.quality import build
from bench.quality.case import Case
from bench.quality.measure import Counts, measured

ARCHS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
GOALS = {"executed": 0.88, "cycles": 0.92, "each": 1.08}
Pair = tuple[Counts, Counts]


def all_cases() -> list[Case]:
    modules = [importlib.import_module(f"bench.quality.{source.stem}") for source in build.SOURCES]
    return [case for module in modules for case in module.cases()]


def geomean(values: list[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def executed(pair: Pair) -> float:
    return pair[0].executed / pair[1].executed


def cycles(pair: Pair) -> float:
    return pair[0].cycles / pair[1].cycles


def compared(archs: tuple[str, ...], names: list[str] | None = None, matrix: str = "") -> dict[str, dict[str, Pair]]:
    """Chip -> kernel -> ours and clang's. matrix: what PTX2AMD_MATRIX says. Raises OSError or CalledProcessError where
    there is no clang."""
    cases = [case for case in all_cases() if not names or case.name in names]
    theirs = {arch: build.hip(arch) for arch in archs}
    ours = build.ours(build.ptx(), archs, [case.name for case in cases], matrix)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for arch in archs:
            mine = {}
            for case in cases:
                mine[case.name] = Path(folder, f"{arch}.{case.name}.hsaco")
                mine[case.name].write_bytes(ours[arch, case.name].code)
            both = {case.name: theirs[arch] for case in cases if arch not in case.lacking}
            left, right = measured(arch, mine, False), measured(arch, both, True)
            found[arch] = {case.name: (left[case.name], right[case.name]) for case in cases if case.name in right}
    return found


def summary(pairs: dict[str, Pair]) -> str:
    by_ratio = sorted(pairs, key=lambda name: -executed(pairs[name]))
    worst = ", ".join(
        f"{name} {executed(pairs[name]):.2f}" for name in by_ratio if executed(pairs[name]) > GOALS["each"]
    )
    wrong = [f"{side} {name}: {counts.wrong}" for name, pair in pairs.items()
             for side, counts in zip(("ours", "clang's"), pair, strict=True) if counts.wrong]  # fmt: skip
    means = [geomean([ratio(pair) for pair in pairs.values()]) for ratio in (executed, cycles)]
    sums = (
        f"executed {means[0]:.3f} of clang's (goal {GOALS['executed']}), cycles {means[1]:.3f} (goal {GOALS['cycles']})"
    )
    bad = f"above {GOALS['each']}: {worst or 'none'}; wrong results: {', '.join(wrong) or 'none'}"
    return f"{len(pairs)} kernels: {sums}; {bad}"


def main() -> None:
    """Print a line a chip."""
    try:
        found = compared(ARCHS)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: no clang for HIP: {getattr(error, 'stderr', None) or error}")
        return
    for arch, pairs in found.items():
        print(f"{arch}: {summary(pairs)}", flush=True)
    sys.stdout.flush()
