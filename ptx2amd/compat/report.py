"""What became of the projects, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from ptx2amd.compat.runner import RIGHT, Outcome


def page(outcomes: Iterable[Outcome]) -> str:
    """A table of counts per project and device, then everything that is not right."""
    found = sorted(outcomes, key=lambda o: (o.project, o.device, o.program))
    verdicts = sorted({o.verdict for o in found} - {RIGHT})
    heads = ["project", "device", "programs", RIGHT, *verdicts, "launches"]
    lines = [_row(heads), _row(["---", "---", *["---:"] * (len(heads) - 2)])]
    for (project, device), rows in groupby(found, key=lambda o: (o.project, o.device)):
        group = list(rows)
        counts = Counter(o.verdict for o in group)
        numbers = [len(group), counts[RIGHT], *(counts[v] for v in verdicts), sum(o.launches for o in group)]
        lines.append(_row([project, device, *map(str, numbers)]))
    wrong = [o for o in found if o.verdict != RIGHT]
    if wrong:
        lines += ["", _row(["program", "device", "", "why"]), _row(["---"] * 4)]
        lines += [
            _row([f"{o.project}: {o.program}", o.device, o.verdict, o.known or o.why.replace("|", "\\|")])
            for o in wrong
        ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
