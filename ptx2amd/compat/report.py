"""What became of the projects: as Markdown, as one HTML file with a picture, and compared with an earlier run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from ptx2amd.compat.picture import Cell, cell, svg
from ptx2amd.compat.runner import RIGHT, Outcome
from ptx2amd.report import page as web

Results = list[Outcome]
Change = tuple[str, str, str, str]  # program, device, what it was, what it is


def page(outcomes: Iterable[Outcome], before: Iterable[Outcome] | None = None) -> str:
    """A table of counts per project and device, then everything that is not right, then what is new since `before`."""
    found = ordered(outcomes)
    verdicts = sorted({o.verdict for o in found} - {RIGHT})
    heads = ["project", "device", "programs", RIGHT, *verdicts, "launches"]
    lines = [row(heads), row(["---", "---", *["---:"] * (len(heads) - 2)])]
    for (project, device), rows in groupby(found, key=lambda o: (o.project, o.device)):
        group = list(rows)
        counts = Counter(o.verdict for o in group)
        numbers = [len(group), counts[RIGHT], *(counts[v] for v in verdicts), sum(o.launches for o in group)]
        lines.append(row([project, device, *map(str, numbers)]))
    if wrong := failures(found):
        lines += ["", row(["program", "device", "", "why"]), row(["---"] * 4), *map(row, wrong)]
    if before is not None:
        lines += ["", row(["program", "device", "before", "now"]), row(["---"] * 4), *map(row, changes(before, found))]
    return "\n".join(lines) + "\n"


def site(outcomes: Iterable[Outcome], before: Iterable[Outcome] | None = None) -> str:
    """The same as an HTML file."""
    found = ordered(outcomes)
    right = sum(o.verdict == RIGHT for o in found)
    causes = Counter(o.verdict for o in found if o.verdict != RIGHT).most_common()
    devices = sorted({o.device for o in found})
    parts = [svg(devices, matrix(found, devices), causes)]
    if before is not None:
        rows = [web.row(("", text) for text in change) for change in changes(before, found)]
        parts += ["<h2>Changed since the run before</h2>", web.table(["program", "device", "before", "now"], rows)]
    if wrong := failures(found):
        rows = [web.row(("", text.replace("\\|", "|")) for text in line) for line in wrong]
        parts += ["<h2>Not right</h2>", web.table(["program", "device", "verdict", "why"], rows)]
    return web.page("CUDA projects", f"{right} of {len(found)} runs are right.", parts)


def ordered(outcomes: Iterable[Outcome]) -> Results:
    return sorted(outcomes, key=lambda o: (o.project, o.device, o.program))


def matrix(found: Results, devices: list[str]) -> list[tuple[str, list[Cell]]]:
    """For each project and device how many programs are right."""
    right = Counter((o.project, o.device) for o in found if o.verdict == RIGHT)
    every = Counter((o.project, o.device) for o in found)
    projects = sorted({o.project for o in found})
    return [(project, [cell(right[project, d], every[project, d]) for d in devices]) for project in projects]


def failures(found: Results) -> list[tuple[str, ...]]:
    """Program, device, verdict and reason of everything that is not right."""
    return [
        (f"{o.project}: {o.program}", o.device, o.verdict, o.known or o.why.replace("|", "\\|"))
        for o in found
        if o.verdict != RIGHT
    ]


def changes(before: Iterable[Outcome], now: Iterable[Outcome]) -> list[Change]:
    """Programs whose verdicts differ, those that were lost first; a program of one run alone has none in the other."""
    old, new = ({(o.project, o.program, o.device): o.verdict for o in run} for run in (before, now))
    differing = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    differing.sort(key=lambda key: old.get(key) != RIGHT)
    return [(f"{key[0]}: {key[1]}", key[2], old.get(key, "not run"), new.get(key, "not run")) for key in differing]


def row(cells: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"
