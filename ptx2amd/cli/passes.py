"""`ptx2amd translate --print-after PASS` and `--print-passes`: the pipeline between PTX and LLVM IR, looked at."""

from __future__ import annotations

import time
from collections import Counter

import click

from ptx2amd.middle.passes import PASSES, Pass, PlanPass
from ptx2amd.middle.printer import printed
from ptx2amd.middle.unit import Unit
from ptx2amd.ptx.ast import Module
from ptx2amd.translate import observed


class PassReport:
    """Takes kernels through the passes. after: prints each function behind this pass; times: prints a table of all
    passes at the end. Raises click.BadParameter for a pass that does not exist."""

    def __init__(self, after: str | None, times: bool) -> None:
        names = [step.name for step in PASSES]
        if after is not None and after not in names:
            raise click.BadParameter(
                f"no pass {after!r}; the passes are {', '.join(names)}", param_hint="--print-after"
            )
        self.after, self.times = after, times
        self.seconds: dict[str, float] = dict.fromkeys(names, 0.0)
        self.functions: Counter[str] = Counter()
        self.lowering = 0.0

    def add(self, module: Module, arch: str, kernels: tuple[str, ...] | None, mapping: str) -> list[tuple[str, str]]:
        """Take kernels of a module through the passes (None: all). Returns those that are refused, with the reason."""
        known = [name for name, function in module.functions.items() if function.kind == "entry"]
        start = time.process_time()
        results = observed(module, arch, [n for n in known if kernels is None or n in kernels], mapping, self._observe)
        self.lowering += time.process_time() - start
        return [(result.name, result.reason) for result in results.values() if not result.ok]

    def _observe(self, step: Pass | PlanPass, unit: Unit, seconds: float) -> None:
        self.seconds[step.name] += seconds
        self.functions[step.name] += 1
        if step.name == self.after:
            start = time.process_time()
            click.echo(printed(unit))
            self.lowering -= time.process_time() - start

    def finish(self) -> None:
        """Print the table."""
        if not self.times:
            return
        measured = bool(self.functions)
        for step in PASSES:
            click.echo(f"{self._time(self.seconds[step.name], measured)}{step.name:<22}{step.what}")
        if measured:
            rest = self.lowering - sum(self.seconds.values())
            click.echo(f"{self._time(rest, True)}{'':<22}parsing of bodies, and lowering to LLVM IR")

    def _time(self, seconds: float, measured: bool) -> str:
        return f"{1000 * seconds:9.1f} ms  " if measured else ""


__all__ = ["PassReport"]
