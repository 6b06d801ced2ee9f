"""What was proven, as a page:  python -m tests.proofs.page SECONDS [new]   proves all cases, or those that are not
in the results, for at most SECONDS each, and writes docs/support/proofs.md and docs/support/proofs.json."""

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
LONG = ("fns", "bfe", "clmad", "vmad")  # seconds to minutes a case
HEAD = """# Proofs

Made by `python -m tests.proofs.page`. For every case of an integer, bit, comparison or video instruction, and of the
conversions between integers and floats of 16 bits and more, the solver z3 searches for operands for which the LLVM IR
of our lowering differs from the definition in the PTX manual, or for which LLVM leaves the result open. The definitions
(`tests/proofs/definitions.py`, `comparisons.py`, `conversions.py`) share no code with the lowering. *Proven*: there are
no such operands; a float that is NaN may have any bits of NaN. The other cases are compared with a reference on chosen
and random values (`tests/lower/test_alu_semantics.py`). Selectors of video instructions and tables of `lop3` are drawn
at random, one or two for each form. Instructions of f32 are in kernels that keep subnormal numbers.

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
    seconds = float(sys.argv[1])
    kinds = results() if sys.argv[2:] == ["new"] else {}
    known = {row["case"]: (kind, row) for kind, rows in kinds.items() for row in rows}
    cases = proving.cases()
    rest = [case for case in cases if name(case) not in known]
    with ProcessPoolExecutor() as pool:
        for case, (kind, why) in zip(rest, pool.map(result, rest, [seconds] * len(rest)), strict=True):
            known[name(case)] = kind, {"case": name(case), **({"why": why} if why else {})}
            if kind != "proven":
                print(kind, name(case), why, flush=True)
    kinds = {kind: [] for kind in ("proven", "wrong", "open")}
    for case in cases:
        kind, row = known[name(case)]
        kinds[kind].append(row)
    RESULTS.write_text(json.dumps(kinds, indent=0) + "\n")
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
