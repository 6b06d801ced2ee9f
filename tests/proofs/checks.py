"""How each form of the instruction table is checked whose operands are values alone, for the support page:
docs/support/checks.json."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lower import sweep
from tests.lower.alu_inputs import CROSSED, DENSE, MIXED, bits, split
from tests.lower.alu_programs import FAMILIES, Case, all_cases
from tests.proofs import page

CHECKS = page.RESULTS.with_name("checks.json")


def samples(case: Case) -> int:
    """Values that tests/lower/test_alu_semantics.py tries; 0: all that there are."""
    if len(case.sources) != 1:
        return MIXED.threads + CROSSED.threads
    [(_, ptype, count)] = case.sources
    if ptype == "pred" or (count == split(ptype)[1] == 1 and bits(ptype) <= 16):
        return 0
    return MIXED.threads + DENSE.threads


def check(case: Case, proven: set[str], swept: set[str]) -> str:
    if page.name(case) in proven:
        return "proven"
    if not case.sources or case.opcode in swept:
        return "exhaustive"
    count = samples(case)
    return f"sampled ({count:,})" if count else "exhaustive"


def checks() -> dict[str, str]:
    """Form -> how its cases are checked, with counts where it is not the same for all."""
    proven = {row["case"] for row in page.results()["proven"]}
    swept = {case.opcode for case in sweep.cases()}
    found: dict[str, dict[str, int]] = {}
    for case in (case for family in FAMILIES for case in all_cases(family)):
        ways = found.setdefault(f"{case.form.syntax} {case.form.operands}", {})
        way = check(case, proven, swept)
        ways[way] = ways.get(way, 0) + 1
    return {
        form: next(iter(ways)) if len(ways) == 1 else ", ".join(f"{n} {way}" for way, n in sorted(ways.items()))
        for form, ways in found.items()
    }


def write(path: Path = CHECKS) -> None:
    path.write_text(json.dumps(checks(), indent=0) + "\n")


if __name__ == "__main__":
    write()
