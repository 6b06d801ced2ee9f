"""What the software GPU counted for `ptx2amd run --profile`, and as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ptx2amd.records import dataclass

Kernel = dict[str, Any]  # a kernel's counters, as profile.c of the software GPU writes them


def collect(prefix: Path) -> list[Kernel]:
    """The kernels of all processes that wrote PREFIX.PID, added up, largest first. The files are removed."""
    found: dict[tuple[str, str], Kernel] = {}
    for path in sorted(prefix.parent.glob(prefix.name + ".*")):
        if not path.suffix[1:].isdigit():
            continue
        for kernel in json.loads(path.read_text())["kernels"]:
            opcodes: Counter[str] = Counter()
            for name, count in kernel["opcodes"]:
                opcodes[name] += count
            kernel["opcodes"] = opcodes
            key = kernel["name"], kernel["arch"]
            found[key] = _sum(found[key], kernel) if key in found else kernel
        path.unlink()
    return sorted(found.values(), key=total, reverse=True)


def _sum(a: Kernel, b: Kernel) -> Kernel:
    result = dict(b)
    for name in ("launches", "blocks", "lanes_active", "lanes_all", "requests", "transactions", "lds_requests",
                 "lds_conflicts"):  # fmt: skip
        result[name] = a[name] + b[name]
    result["opcodes"] = Counter(a["opcodes"]) + Counter(b["opcodes"])
    result["instructions"] = {name: n + a["instructions"][name] for name, n in b["instructions"].items()}
    return result


def total(kernel: Kernel) -> int:
    """Executed wave instructions."""
    return sum(kernel["instructions"].values())


def share(part: int, whole: int) -> float:
    """part / whole, and 1 of nothing."""
    return part / whole if whole else 1.0


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    meaning: str
    value: Callable[[Kernel], float]
    text: str = "{:,.0f}"

    def of(self, kernel: Kernel) -> str:
        return self.text.format(self.value(kernel))


COLUMNS = (
    Column("launches", "how often it was launched", lambda k: k["launches"]),
    Column("instructions", "executed by waves", total),
    Column("vector", "share of vector and matrix arithmetic in the instructions",
           lambda k: 100 * share(k["instructions"]["valu"] + k["instructions"]["matrix"], total(k)), "{:.0f}%"),
    Column("memory", "share of global, shared and local memory accesses in the instructions",
           lambda k: 100 * share(sum(k["instructions"][n] for n in ("global", "lds", "scratch", "smem")), total(k)),
           "{:.0f}%"),
    Column("lanes", "active lanes in vector instructions: the rest is divergence",
           lambda k: 100 * share(k["lanes_active"], k["lanes_all"]), "{:.0f}%"),
    Column("lines/access", "128-byte lines that one global access of a wave touches",
           lambda k: share(k["transactions"], k["requests"]), "{:.1f}"),
    Column("conflicts", "extra cycles of an access to shared memory, as lanes meet in a bank",
           lambda k: k["lds_conflicts"] / k["lds_requests"] if k["lds_requests"] else 0, "{:.1f}"),
    Column("occupancy", "resident waves of what a compute unit can hold",
           lambda k: 100 * share(k["resident"], k["most"]), "{:.0f}%"),
)  # fmt: skip


def table(kernels: Iterable[Kernel]) -> str:
    """One line a kernel."""
    rows = [["kernel", *(c.title for c in COLUMNS)]]
    rows += [[k["name"], *(c.of(k) for c in COLUMNS)] for k in kernels]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ("  ".join([row[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(row[1:], widths[1:], strict=True))])
             for row in rows)  # fmt: skip
    return "\n".join(lines) + "\n"
