"""What was proven, as a page:  python -m tests.proofs.page [SECONDS]   proves all cases, for at most SECONDS each (60),
and writes docs/support/proofs.md and docs/support/proofs.json."""

from __future__ import annotations

import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests import ROOT
from tests.lower.alu_programs import Case
from tests.proofs import proving
from tests.proofs.ir import Unknown

RESULTS = ROOT / "docs" / "support" / "proofs.json"
PAGE = RESULTS.with_suffix(".md")
CHIP = "gfx942"
LONG = ("fns", "bfe", "vmad")  # seconds to minutes a case
WITHOUT = {"clmad": "a helper's loop"}  # instructions without a definition -> why
HEAD = """# Proofs

Made by `python -m tests.proofs.page`. For every case of an integer, bit or video instruction, the solver z3 searches
for operands for which the LLVM IR of our lowering differs from the definition in the PTX manual, or for which LLVM
leaves the result open. The definitions (`tests/proofs/definitions.py`) share no code with the lowering. *Proven*:
there are no such operands. The other cases are compared with a reference on chosen and random values
(`tests/lower/test_alu_semantics.py`). Selectors of video instructions and tables of `lop3` are drawn at random, one
or two for each form.

What LLVM makes of the IR, and what the chip makes of the machine code, is not part of the proof.

| instruction | cases | proven | not proven |
| --- | ---: | ---: | --- |
"""


def name(case: Case) -> str:
    """A case in one line: its opcode, and what is chosen within it."""
    chosen = [f"{key}={value}" for key, value in case.mods if key.endswith("sel") or key == "minus"]
    return " ".join([case.opcode, *chosen, *(f"{key}={value}" for key, value in case.constants)])


def result(case: Case, seconds: float = 60) -> tuple[str, str]:
    """(kind, why): "proven", "wrong" with the operands, or "open" with why."""
    try:
        wrong = proving.counterexample(case, CHIP, seconds)
    except TimeoutError:
        return "open", "the solver does not end"
    except Unknown as unknown:
        return "open", f"no meaning of {unknown}"
    return ("wrong", wrong) if wrong else ("proven", "")


def results() -> dict[str, list[dict[str, str]]]:
    """Kind -> cases, as they were last proven."""
    found: dict[str, list[dict[str, str]]] = json.loads(RESULTS.read_text())
    return found


def page() -> str:
    """The page's text."""
    kinds = results()
    cases: Counter[str] = Counter()
    proven: Counter[str] = Counter()
    others: dict[str, list[str]] = {}
    for kind, rows in kinds.items():
        for row in rows:
            mnemonic = row["case"].partition(" ")[0].partition(".")[0]
            cases[mnemonic] += 1
            if kind == "proven":
                proven[mnemonic] += 1
            else:
                others.setdefault(mnemonic, []).append(f"`{row['case']}`: {row['why']}")
    lines = [f"| `{m}` | {cases[m]} | {proven[m]} | {'; '.join(others.get(m, []))} |" for m in sorted(cases)]
    lines.append(f"| all | {cases.total()} | {proven.total()} | |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    seconds = float(sys.argv[1]) if sys.argv[1:] else 60
    cases = proving.cases()
    kinds: dict[str, list[dict[str, str]]] = {"proven": [], "wrong": [], "open": []}
    with ProcessPoolExecutor() as pool:
        for case, (kind, why) in zip(cases, pool.map(result, cases, [seconds] * len(cases)), strict=True):
            kinds[kind].append({"case": name(case), **({"why": why} if why else {})})
            if kind != "proven":
                print(kind, name(case), why, flush=True)
    RESULTS.write_text(json.dumps(kinds, indent=0) + "\n")
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
