"""The report of a self-test: text for people, JSON for issues and comparisons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ptx2amd.records import dataclass
from ptx2amd.selftest.runner import VERDICTS, Outcome

FORMAT = 1  # version of the JSON format; increased when a field changes its meaning
TITLE = 48  # columns


@dataclass(frozen=True, slots=True)
class Report:
    """device: name, chip, software, and `asked`, the value of --device. seconds: of the whole run."""

    machine: dict[str, str]
    device: dict[str, str]
    date: str
    seconds: float
    outcomes: list[Outcome]

    @property
    def passed(self) -> bool:
        """All cases that ran passed, at least one ran, and none was skipped for lack of time."""
        ran = [one for one in self.outcomes if one.verdict != "not run"]
        skipped = [one for one in self.outcomes if one.verdict == "not run" and "lanes" not in one.reason]
        return bool(ran) and not skipped and all(one.verdict == "right" for one in ran)


def line(outcome: Outcome) -> str:
    """One case: verdict, title, seconds, and the reason if it is not right."""
    seconds = f"{outcome.seconds:6.1f} s" if outcome.verdict != "not run" else " " * 8
    return f"{outcome.verdict:8}  {outcome.title:{TITLE}} {seconds}  {outcome.reason}".rstrip()


def summary(report: Report) -> str:
    counts = Counter(one.verdict for one in report.outcomes)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"{said}; {sum(one.compared for one in report.outcomes):,} values compared in {report.seconds:.0f} s"


def text(report: Report) -> str:
    """The whole report."""
    about = {"date": report.date, "device": report.device.get("name", "none"), **report.device, **report.machine}
    about.pop("name", None)
    lines = ["ptx2amd self-test", "", *(f"{name:26}{value}" for name, value in about.items()), ""]
    lines += [*map(line, report.outcomes), "", summary(report)]
    for outcome in report.outcomes:
        if outcome.verdict not in ("right", "not run"):
            lines += ["", *_details(outcome)]
    return "\n".join(lines) + "\n"


def _details(outcome: Outcome) -> Iterator[str]:
    yield f"--- {outcome.title}: {outcome.verdict}"
    for wrong in outcome.wrong:
        yield f"{wrong['what']}: {wrong['wrong']} of {wrong['values']} values are wrong"
        for place, got, expected in wrong["first"]:
            yield f"    [{place}] {got}, expected {expected}"
    if outcome.said:
        yield from ("    | " + part for part in outcome.said.splitlines()[-12:])


def write(report: Report, target: Path) -> tuple[Path, Path]:
    """Writes TARGET.txt and TARGET.json. Raises OSError."""
    paths = target.with_name(target.name + ".txt"), target.with_name(target.name + ".json")
    paths[0].write_text(text(report), encoding="utf-8")
    paths[1].write_text(json.dumps({"format": FORMAT, **asdict(report)}, indent=1) + "\n", encoding="utf-8")
    return paths
