"""Which functions want a current context, against what cuda.h says of the errors that each returns.

Protects: a function that works without one on NVIDIA's driver, such as cuStreamGetCtx of a stream that was created, is
not given a check by habit; each departure from the manual has its reason in ptx2amd/api/driver/contexts.py.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from ptx2amd.api.driver import Function, functions
from ptx2amd.api.driver.contexts import WANT_ONE, WORK_ALONE

HEADER = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "include" / "cuda.h"
FUNCTION = re.compile(
    r"/\*\*(.*?)\*/\s*(?:#if[^\n]*\n\s*)?(?:__CUDA_DEPRECATED\s+)?CUresult\s+CUDAAPI\s+(\w+)\s*\(", re.S
)


def documented() -> dict[str, bool]:
    """Whether a function's list of return values has CUDA_ERROR_INVALID_CONTEXT."""
    found = {}
    for comment, symbol in FUNCTION.findall(HEADER.read_text(errors="replace")):
        _, returns, rest = comment.partition("\\return")
        if returns:
            found[symbol] = "INVALID_CONTEXT" in rest.split("\\note")[0].split("\\sa")[0]
    return found


def departures() -> tuple[list[Function], list[Function]]:
    """Rows that work alone though the list has the error, and rows that want a context though it does not."""
    manual, alone, wanting = documented(), list[Function](), list[Function]()
    for row in functions():
        says = manual.get(row.symbol, manual.get(row.name, manual.get(f"{row.symbol}_v2")))
        if says is None or row.disposition == "refused" or row.early:
            continue
        if says and row.context != "current":
            alone.append(row)
        elif not says and row.context == "current":
            wanting.append(row)
    return alone, wanting


def without_a_reason(found: Iterable[Function], groups: dict[str, tuple[str, ...]]) -> list[str]:
    patterns = [pattern for names in groups.values() for pattern in names]
    return [row.symbol for row in found if not any(fnmatchcase(n, p) for n in (row.symbol, row.name) for p in patterns)]


def test_each_departure_from_the_manual_has_a_reason() -> None:
    alone, wanting = departures()
    assert len(documented()) > 450
    assert without_a_reason(alone, WORK_ALONE) == []
    assert without_a_reason(wanting, WANT_ONE) == []


def test_each_reason_is_one_for_some_function() -> None:
    for found, groups in zip(departures(), (WORK_ALONE, WANT_ONE), strict=True):
        for names in groups.values():
            for name in names:
                assert any(fnmatchcase(n, name) for row in found for n in (row.symbol, row.name)), name


def test_contexts_are_what_parameters_lead_to() -> None:
    for row in functions():
        if row.owner:
            assert row.context in row.named, row.symbol
        elif row.context == "current" and row.disposition != "refused":
            assert all(p.type != "CUstream" for p in row.takes), f"{row.symbol} has a stream, whose context it can take"
