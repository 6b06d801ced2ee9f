"""The table's columns of PTX versions and targets, with ptxas as the judge: each row has a form that is PTX in the
version and for the target that the row names, and no form of it is PTX one version or one target before.

The front end takes statements whatever the module's .version and .target say (docs/support/differences.md)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from ptx2amd.isa.form import Form
from ptx2amd.isa.match import candidates
from ptx2amd.isa.syntax import fields
from tests import oracle
from tests.ptx import forms
from tests.ptx.test_rows import filled

Version = tuple[int, int]

# Targets and the versions that brought them; ptxas judges no PTX before 3.1.
TARGETS = {20: (3, 1), 30: (3, 1), 32: (4, 0), 35: (3, 1), 50: (4, 0), 52: (4, 1), 53: (4, 2), 60: (5, 0), 61: (5, 0),
           62: (5, 0), 70: (6, 0), 72: (6, 1), 75: (6, 3), 80: (7, 0), 86: (7, 1), 87: (7, 4), 89: (7, 8), 90: (8, 0),
           100: (8, 6), 103: (8, 8), 120: (8, 7)}  # fmt: skip
LAST = {3: 2, 4: 3, 5: 0, 6: 5, 7: 8, 8: 8, 9: 4}
VERSIONS = [(major, minor) for major, last in LAST.items() for minor in range(last + 1)]
VERSIONS = [v for v in VERSIONS if v >= (3, 1)]

EARLIER = re.compile(  # what ptxas takes before the manual has it
    r"membar\.proxy\.alias;|fence\.(acquire|release)\.(cta|cluster|gpu|sys);|cvt\.r[nz]\.satfinite\.f16\.f32 "
    r"|cvt\.\S*\b(bf16\.f32|f32\.bf16) |cvt\.rn\.satfinite\.(relu\.)?e\dm\dx2\.b?f16x2 "
    r"|cp\.async\.bulk\.(?!.*relaxed).*\.b128 "
)


class Judged(NamedTuple):
    form: Form
    text: str
    when: str  # "at", or what is too early: "version", "target"


def statements(form: Form) -> Iterator[str]:
    """Each choice of each field, without optional fields and operands, and with them."""
    row = fields(form.syntax)
    for chosen in forms.choices(form):
        bare = {i: "" if row[i].optional else word for i, word in chosen.items()}
        yield forms.statement(form, bare, False)
        yield forms.statement(form, chosen)


def target_of(form: Form) -> int:
    return min(t for t in TARGETS if t >= form.sm)


def settings(form: Form, text: str) -> Iterator[tuple[str, Version, int]]:
    """Where to judge a statement. Too early is what no row that has the statement allows."""
    target = target_of(form)
    yield "at", max(form.since, TARGETS[target], (3, 1)), target
    rows = [row for row, _ in candidates(text.rstrip(";").split()[0])]
    since, first = min(row.since for row in rows), min(target_of(row) for row in rows)
    before = [v for v in VERSIONS if v < since]
    if before and before[-1] >= TARGETS[first]:
        yield "version", before[-1], first
    if lower := [t for t in TARGETS if t < first]:  # chips of sm_10x have things that those of sm_12x lack
        yield "target", (9, 4) if form.since > (9, 0) else (9, 0), 90 if first == 120 else lower[-1]


def declarations(texts: list[str]) -> str:
    """What the statements need: types of registers, and callees, have a first version too."""
    used = {ptype for text in texts for ptype in re.findall(r"\b([a-z]+\d*(?:x\d)?)_\d+\b", text)}
    parts = [p.strip() for p in forms.DECLARATIONS.split(";") if p.strip()]
    parts = [p for p in parts if ".reg" not in p or p.split()[1].lstrip(".") in used]
    absent = [f"{name}:" for name in ("TARGETS", "PROTO") if not any(name in text for text in texts)]
    return " ".join(f"{p};" for p in parts if not p.startswith(tuple(absent)))


def accepted(rows: list[Form]) -> Iterator[tuple[Judged, bool]]:
    groups: dict[tuple, list[Judged]] = defaultdict(list)
    for form in rows:
        for text in dict.fromkeys(statements(form)):
            kind = next((word for word in ("b128", "f16x2", "f16") if f"{word}_" in text), "")
            for when, version, target in settings(form, text):
                groups[version, target, kind].append(Judged(form, text, when))
    for (version, target, _), items in groups.items():
        name = f"sm_{target}" + "a" * (target >= 90)
        setting = f"{version[0]}.{version[1]}", name, name if target >= 75 else "sm_75"
        texts = [item.text for item in items]
        verdicts = oracle.verdicts(texts, declarations(texts), setting, forms.MODULE)
        yield from ((item, not verdict) for item, verdict in zip(items, verdicts, strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not oracle.newest(), reason="needs ptxas 13.5 (the wheel nvidia-cuda-nvcc)")
def test_versions_and_targets() -> None:
    rows = [*filled(), *filled(new=True)]
    begun, early, judged = set(), [], 0
    for item, is_ptx in accepted(rows):
        if item.when == "at":
            begun |= {id(item.form)} if is_ptx else set()
            continue
        judged += 1
        if is_ptx and not EARLIER.match(item.text):
            early.append(f"{item.form.since} {item.form.sm} not this {item.when}: {item.text}")
    late = [f"{form.since} {form.sm}: {form.syntax}" for form in rows if id(form) not in begun]
    assert (early, late) == ([], []), "\n".join([*early, *late])
    assert judged > 5000
