"""`ptx2amd trace show`: read what `ptx2amd run --trace` wrote."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from ptx2amd.errors import Ptx2amdError
from ptx2amd.launch import trace_files
from ptx2amd.records import dataclass, field

Event = dict[str, Any]


def read(path: Path) -> Iterator[Event]:
    """The events of a trace, with those that killed processes left beside it. A last line that one left unfinished is
    left out; any other line that is no event raises Ptx2amdError."""
    for file in trace_files(path):
        lines = file.read_text(errors="replace").partition("\0")[0].splitlines()
        for number, line in enumerate(lines, 1):
            try:
                event = json.loads(line)
            except json.JSONDecodeError as error:
                if number < len(lines) or not line.startswith("{"):
                    raise Ptx2amdError(f"{file}:{number}: not a trace: {error}") from None
                continue
            if not (isinstance(event, dict) and "event" in event):
                raise Ptx2amdError(f"{file}:{number}: not a trace: no event")
            yield event


@dataclass
class Function:
    """The calls of one function. Times in ns, on the calling thread."""

    times: list[int] = field(default_factory=list)
    failures: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, event: Event) -> None:
        self.times.append(event.get("ns", 0))
        if event["result"]:
            self.failures[event["result"]] += 1


def functions(events: Iterable[Event]) -> dict[str, Function]:
    """Calls by name."""
    found: dict[str, Function] = defaultdict(Function)
    for event in events:
        if event["event"] == "call":
            found[event["name"]].add(event)
    return dict(found)


def summary(events: list[Event]) -> str:
    """A table of functions, the most expensive first."""
    rows = sorted(functions(events).items(), key=lambda item: -sum(item[1].times))
    out = [f"{'calls':>8} {'total us':>10} {'mean us':>9} {'most us':>9}  function"]
    for name, function in rows:
        total, n = sum(function.times) / 1e3, len(function.times)
        failed = ", ".join(f"{count} x error {code}" for code, count in sorted(function.failures.items()))
        most = max(function.times) / 1e3
        out.append(f"{n:8} {total:10.1f} {total / n:9.2f} {most:9.1f}  {name}" + (f"  ({failed})" if failed else ""))
    return "\n".join(out) + "\n"


def kernels(events: Iterable[Event]) -> str:
    """A table of launches by kernel, grid and block."""
    found: dict[tuple[str, str, str, str], int] = defaultdict(int)
    for event in events:
        if event["event"] == "launch":
            shape = ["x".join(str(n) for n in event[name]) for name in ("grid", "block")]
            found[(event["kernel"], shape[0], shape[1], event["mapping"])] += 1
    if not found:
        return ""
    out = [f"{'launches':>8}  {'grid':>16} {'block':>12} {'mapping':>8}  kernel"]
    for (name, grid, block, mapping), count in sorted(found.items(), key=lambda item: -item[1]):
        out.append(f"{count:8}  {grid:>16} {block:>12} {mapping:>8}  {name}")
    return "\n".join(out) + "\n"


def modules(events: Iterable[Event]) -> str:
    """A table of modules, with the translations that each caused."""
    loaded: dict[str, Event] = {}
    translated: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event["event"] == "module":
            loaded[event["id"]] = event
        elif event["event"] == "translate":
            translated[event["module"]].append(event)
    if not loaded:
        return ""
    out = [f"{'bytes':>10} {'target':>8} {'kernels':>8} {'translated':>10} {'cached':>7}  module"]
    for name, event in loaded.items():
        cached = sum(bool(e["cache"]) for e in translated[name])
        fresh = len(translated[name]) - cached
        out.append(f"{event['bytes']:10} {event['target']:>8} {event['kernels']:8} {fresh:10} {cached:7}  {name}")
    return "\n".join(out) + "\n"


def line(event: Event, begin: float) -> str:
    """An event as one line: milliseconds since the first, what it was."""
    at = f"{event['ms'] - begin:10.3f} "
    if event["event"] == "call":
        arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in event.get("args", {}).items())
        result = f" = {event['result']}" if event["result"] else ""
        return f"{at} {event['name']}({arguments}){result}  {event.get('ns', 0) / 1e3:.1f} us"
    rest = {name: value for name, value in event.items() if name not in ("event", "pid", "ms")}
    return f"{at} [{event['event']}] " + ", ".join(f"{name}={json.dumps(value)}" for name, value in rest.items())


@click.group(short_help="Read a trace.")
def command() -> None:
    """Read what `ptx2amd run --trace` wrote."""


@command.command()
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--calls", is_flag=True, help="Every event, in order, instead of the tables.")
@click.option("--filter", "pattern", metavar="PATTERN", default="*", help="Only these functions: cuMem*, *Async.")
@click.option("--failed", is_flag=True, help="Only calls that failed.")
@click.option("--pid", type=int, help="Only this process.")
def show(path: Path, calls: bool, pattern: str, failed: bool, pid: int | None) -> None:
    """Tables of functions, kernels and modules; or every call.

    Times are those of the calling thread: work that goes on in a stream is in the call that waits for it. The PTX of
    each module lies in FILE.modules.
    """
    events = [event for event in read(path) if pid is None or event["pid"] == pid]
    if failed or pattern != "*":
        events = [
            event
            for event in events
            if event["event"] == "call" and fnmatchcase(event["name"], pattern) and (event["result"] or not failed)
        ]
    if calls:
        begin = min((event["ms"] for event in events), default=0.0)
        for event in sorted(events, key=lambda event: event["ms"]):
            click.echo(line(event, begin))
        return
    tables = [summary(events), kernels(events), modules(events)]
    click.echo("\n".join(table for table in tables if table), nl=False)
