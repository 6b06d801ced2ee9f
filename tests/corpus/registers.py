"""Compare the register counts that the driver reports (ptx2amd/plan/registers.py) with ptxas's, and fit the model.

    python -m tests.corpus.registers WORK/registers WORK/ptx/*/*.ptx

The facts about each file's kernels are kept in WORK/registers. Equal kernels count once. Files are dealt into fifths:
the first line of errors is of each fifth by coefficients from the other four."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from ptx2amd.plan.registers import FEATURES, LEAST, LEAST_WITH_CALLS, MODEL, limit, pressure
from ptx2amd.translate import parse

SECONDS = 600  # for ptxas and a file
USED = re.compile(r"entry function '([^']+)' for.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)
PARTS, ROUNDS = 5, 40
CLOSE = 0.25  # the error that is asked for, as a part of ptxas's number


@dataclass(frozen=True)
class Kernel:
    """A kernel; spilled: bytes that ptxas stored for want of registers."""

    file: str
    name: str
    features: tuple[float, ...]
    calls: bool
    limit: int
    registers: int
    spilled: int

    def error(self, model: tuple[float, ...]) -> float:
        found = sum(weight * value for weight, value in zip(model, self.features, strict=True))
        least = LEAST_WITH_CALLS if self.calls else LEAST
        return min(self.limit, max(least, round(found))) / self.registers - 1


def measured(path: Path, folder: Path) -> list[Kernel]:
    """The kernels of a file that ptxas takes."""
    kept = folder / f"{path.parent.name}__{path.stem}.json"
    if not kept.exists():
        kept.write_text(json.dumps([asdict(kernel) for kernel in _kernels(path)]))
    rows = json.loads(kept.read_text())
    return [Kernel(**{**row, "features": tuple(row["features"])}) for row in rows]


def _kernels(path: Path) -> Iterator[Kernel]:
    command = [toolkit.find().ptxas, "-v", "-arch=sm_80", path, "-o", "/dev/null"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False).stderr
        module = parse(path.read_text(), path.name)
    except (subprocess.TimeoutExpired, Ptx2amdError) as problem:
        print(f"{path}: {problem}")
        return
    for name, spilled, registers in USED.findall(said):
        function = module.functions[name]
        known = pressure(module, function)
        yield Kernel(path.name, name, known.features, known.calls, limit(function), int(registers), int(spilled))


def fitted(kernels: list[Kernel]) -> tuple[float, ...]:
    """The coefficients with the least sum of relative errors (least squares, weighted again and again), over kernels
    that no limit cuts off."""
    rows = [k for k in kernels if k.registers < 0.97 * k.limit and not k.spilled]
    weights = [1 / k.registers**2 for k in rows]
    model: tuple[float, ...] = ()
    for _ in range(ROUNDS):
        model = _least_squares([k.features for k in rows], [k.registers for k in rows], weights)
        found = [sum(w * v for w, v in zip(model, k.features, strict=True)) for k in rows]
        errors = [abs(value / k.registers - 1) for value, k in zip(found, rows, strict=True)]
        weights = [1 / max(error, 0.05) / k.registers**2 for error, k in zip(errors, rows, strict=True)]
    return tuple(round(coefficient, 3) for coefficient in model)


def _least_squares(rows: list[tuple[float, ...]], wanted: list[int], weights: list[float]) -> tuple[float, ...]:
    """By the normal equations, which are solved by elimination."""
    n = len(rows[0])
    system = [[0.0] * (n + 1) for _ in range(n)]
    for row, value, weight in zip(rows, wanted, weights, strict=True):
        for i in range(n):
            for j, other in enumerate((*row, value)):
                system[i][j] += weight * row[i] * other
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(system[r][i]))
        system[i], system[pivot] = system[pivot], system[i]
        for r in range(n):
            if r != i:
                factor = system[r][i] / system[i][i]
                system[r] = [a - factor * b for a, b in zip(system[r], system[i], strict=True)]
    return tuple(system[i][n] / system[i][i] for i in range(n))


def shares(errors: list[float]) -> str:
    """What a list of relative errors looks like."""
    close = sum(abs(error) <= CLOSE for error in errors) / len(errors)
    above = sum(error > CLOSE for error in errors) / len(errors)
    middle = sorted(map(abs, errors))[len(errors) // 2]
    mean = sum(map(abs, errors)) / len(errors)
    return (
        f"{close:.1%} of {len(errors)} within {CLOSE:.0%}, {above:.1%} above, {1 - close - above:.1%} below; "
        f"mean {mean:.1%}, median {middle:.1%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    found = [kernel for path in options.files for kernel in measured(path, options.folder)]
    kernels = list({(k.name, k.features, k.registers): k for k in found}.values())
    parts = [[k for k in kernels if crc32(k.file.encode()) % PARTS == part] for part in range(PARTS)]
    models = [fitted([k for other in parts if other is not part for k in other]) for part in parts]
    left_out = [kernel.error(model) for model, part in zip(models, parts, strict=True) for kernel in part]
    print("each fifth by the others:", shares(left_out))
    print("coefficients:", dict(zip(FEATURES, fitted(kernels), strict=True)))
    print("with the coefficients in use:", shares([k.error(MODEL) for k in kernels]))


if __name__ == "__main__":
    main()
