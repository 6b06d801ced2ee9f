"""The correctness matrix of warp operations: each operation and type, in each warp mapping, divergence pattern,
member mask and block shape. `python
tests/lower/warp_matrix.py` runs all of it and writes docs/support/warp.md."""

from __future__ import annotations

import re
import struct
import sys
from collections import Counter
from functools import cache
from math import prod
from pathlib import Path

from tests.lower import warp_programs
from tests.lower.device import Program, chunks
from tests.lower.warp_programs import Case

PAGE = Path(__file__).parents[2] / "docs" / "support" / "warp.md"
MAPPINGS = {
    "gfx1100": "native (gfx1100)",
    "gfx942": "paired (gfx942)",
    "gfx942:padded": "padded (gfx942)",
    "gfx1100:paired": "paired (gfx1100)",
}
SHAPES: tuple[tuple[int, ...], ...] = (
    *((1,), (31,), (32,), (33,), (64,), (96,), (8, 4), (5, 7, 3), (1, 1, 64), (16, 16), (500,), (1024,)),
)
PADDED_LIMIT = 512
PATTERNS = (*warp_programs.REGIONS, "exited")
WHAT = {
    "all": "all threads",
    "odd": "odd threads",
    "third": "every third thread",
    "second_warp": "every other warp, its neighbour idle",
    "uneven": "a few threads, other ones in each warp",
    "one": "one thread of each warp",
    "exited": "all that have not exited before (every fifth has)",
}


def operation(case: Case) -> str:
    """The instruction of a case."""
    match = re.search(r"\b(shfl|vote|match|redux|activemask|elect)[.\w]*", case.ptx)
    assert match
    return match[0]


@cache
def batches(every: bool, exited: bool) -> list[list[Case]]:
    """All cases in modules' worth; after exits the threads that are left do everything together."""
    cases = [case for case in warp_programs.cases(every) if not exited or case.region == "all"]
    return chunks(cases, 64)


@cache
def load(arch: str, every: bool, exited: bool, index: int) -> Program:
    text = warp_programs.HEAD + warp_programs.kernel("k", batches(every, exited)[index], exited)
    return Program(text, arch)


@cache
def wanted(every: bool, exited: bool, index: int, threads: int) -> list[list[tuple[int | None, int | None]]]:
    data = warp_programs.inputs(threads)
    return [warp_programs.expected(case, data, exited) for case in batches(every, exited)[index]]


def allowed(arch: str, shape: tuple[int, ...]) -> bool:
    return not arch.endswith(":padded") or prod(shape) <= PADDED_LIMIT


def run(arch: str, shape: tuple[int, ...], exited: bool, every: bool = False) -> list[str]:
    """Run the cases in one block shape; the failures."""
    threads, failures = prod(shape), []
    data = warp_programs.inputs(threads)
    image = b"".join(struct.pack(f"<{warp_programs.WORDS}I", *words) for words in data)
    for index, batch in enumerate(batches(every, exited)):
        program = load(arch, every, exited, index)
        memory = [program.gpu.buffer(image), program.gpu.buffer(bytes(8 * threads * len(batch)))]
        program.launch("k", 1, shape, memory)
        out = memory[1].bytes()
        for i, case in enumerate(batch):
            found = list(struct.iter_unpack("<2I", out[8 * threads * i : 8 * threads * (i + 1)]))
            for t, (want, got) in enumerate(zip(wanted(every, exited, index, threads)[i], found, strict=True)):
                if not all(matches(w, g) for w, g in zip(want, got, strict=True)):
                    pattern = "exited" if exited else case.region
                    failures.append(
                        f"{arch}, block {shape}, {case.ptx} ({pattern}, {case.mask} mask): thread {t} has {got}, "
                        f"not {want}"
                    )
                    break
    return failures


def matches(want: int | None, got: int) -> bool:
    return want is None or want == got


def checks(arch: str) -> Counter[tuple[str, str]]:
    """How many cases the full matrix has: (operation, pattern) -> cases times block shapes."""
    shapes = sum(allowed(arch, shape) for shape in SHAPES)
    count: Counter[tuple[str, str]] = Counter()
    for exited in (False, True):
        for batch in batches(True, exited):
            for case in batch:
                count[operation(case), "exited" if exited else case.region] += shapes
    return count


def page(failed: Counter[tuple[str, str, str]] | None = None) -> str:
    """docs/support/warp.md. failed: (arch, operation, pattern) -> failures, none by default."""
    lines = [
        "# Warp operations: the correctness matrix",
        "",
        "Written by `tests/lower/warp_matrix.py`, which runs every case on the software GPU and compares",
        "each thread's results with a model of the PTX manual (`tests/reference/warp.py`). A cell says how many",
        "cases pass: operands (all shuffle distances in all segment widths, constant and in registers) x member",
        "masks (all active lanes; but for shuffles also every other lane, and all 32 where all threads take part) x "
        "block",
        f"shapes ({', '.join('x'.join(map(str, shape)) for shape in SHAPES)}; padded: up to {PADDED_LIMIT}",
        "threads). What PTX leaves undefined (the value of a lane that does not take part) is not compared.",
        "`bar.warp.sync`, nested divergence, and operations whose lanes come by different branches are covered by",
        "random programs (`tests/lower/test_warp_random.py`).",
        "",
        "Divergence patterns:",
        "",
        *(f"- `{name}`: {WHAT[name]}" for name in PATTERNS),
        "",
    ]
    for arch, title in MAPPINGS.items():
        lines += [
            f"## {title}",
            "",
            "| operation | " + " | ".join(PATTERNS) + " |",
            "| --- |" + " ---: |" * len(PATTERNS),
        ]
        count = checks(arch)
        for name in dict.fromkeys(name for name, _ in count):
            cells = []
            for pattern in PATTERNS:
                bad = failed[arch, name, pattern] if failed else 0
                cells.append(f"{count[name, pattern] - bad}" + (f" (**{bad} fail**)" if bad else ""))
            lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    failed: Counter[tuple[str, str, str]] = Counter()
    for arch in MAPPINGS:
        for exited in (False, True):
            for shape in SHAPES:
                if not allowed(arch, shape):
                    continue
                for failure in run(arch, shape, exited, every=True):
                    print(failure)
                    match = re.search(r"\b(shfl|vote|match|redux|activemask|elect)[.\w]*", failure)
                    pattern = re.search(r"\((\w+), \w+ mask\)", failure)
                    assert match and pattern
                    failed[arch, match[0], pattern[1]] += 1
                print(arch, shape, "exited" if exited else "", flush=True)
    PAGE.write_text(page(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
