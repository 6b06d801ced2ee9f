"""Mutants of PTX modules, and what the translator makes of them: a refusal with a place, or LLVM IR.

    python -m tests.fuzz.ptx_mutants FIRST COUNT [--ptxas N] [FILE...]    mutants FIRST ... FIRST+COUNT-1

A mutant is its number: the same one is made again wherever the seeds are the same. With --ptxas each Nth is judged by
ptxas too. FILEs are more modules to mutate."""

from __future__ import annotations

import argparse
import random
import re
import resource
import signal
import time
from collections import Counter
from functools import cache
from pathlib import Path

from ptx2amd.codegen.binding import Module
from ptx2amd.codegen.llvm import head, machine
from ptx2amd.errors import Ptx2amdError, PtxError, Unsupported
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.plan.kernel import Request
from ptx2amd.ptx.verify import problems
from ptx2amd.target import target
from ptx2amd.translate import module_index, parse
from tests import oracle
from tests.ptx import snippets, snippets_modules, snippets_operands
from tests.ptx.differences import KNOWN, MODULES_KNOWN

ARCH = "gfx942"
TESTS = Path(__file__).resolve().parents[1]
SECONDS = 5  # of processor time that a mutant may take
MEMORY = 2 << 30  # bytes that it may take
VERIFIED = 8  # each so many IR is read and verified by LLVM
TOKEN = re.compile(r'\s+|"[^"\n]*"|0[xXfFdD][0-9a-fA-F]+|[A-Za-z_$%.][\w$%.:]*|\d\w*|.', re.S)
JUNK = (
    *("{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", ".", "|", "!", "-", "+", "@", "=", "_", "%", "$", "?"),
    *(
        '"',
        "\\",
        "0",
        "-1",
        "1e999",
        "0x",
        "0f",
        "0f7f80000",
        "99999999999999999999",
        "9223372036854775808",
        "/*",
        "*/",
    ),
    *("4294967295", "2147483648", "//", "\0", "\n", "\r", "é", ".reg", ".v4", ".v2", ".b32", ".x", ".align", ".param"),
    *(".entry", ".func", ".pred", ".version 9.0", ".loc 1 2 3", "call", "WARP_SZ", "generic", ".texref", ".b128"),
)


@cache
def seeds(files: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Modules to mutate: what the tests of the front end have, the filetests of the lowering, and `files`."""
    bodies = [
        (snippets.HEADER, snippets.REGISTERS, text) for text in (*snippets.BODY_ACCEPTED, *snippets.BODY_REJECTED)
    ] + [
        (snippets_operands.HEADER, snippets_operands.REGISTERS, text)
        for text in (*snippets_operands.ACCEPTED, *snippets_operands.REJECTED)
    ]
    small = [
        *(snippets_modules.HEADER + text for text in (*snippets_modules.ACCEPTED, *snippets_modules.CALLS)),
        *(snippets.HEADER + text for text in (*snippets.MODULE_ACCEPTED, *snippets.MODULE_REJECTED)),
        *(f"{header}.entry kk() {{ {registers}\n{text}\nL1: ret; }}" for header, registers, text in bodies),
    ]
    kernels = [path.read_text() for path in sorted((TESTS / "filetests" / "lower").glob("*.ptx"))]
    large = kernels + [Path(file).read_text() for file in files]
    return (*small, *large * (len(small) // len(large) // 2))  # a third of the mutants are of whole kernels


@cache
def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def _kind(token: str) -> str:
    """Registers, names, numbers and opcodes are each of a kind, and all else."""
    first = token[:1]
    return "0" if first.isdigit() else "a" if first.isalpha() else "%" if first == "%" else token


def mutant(number: int, files: tuple[str, ...] = ()) -> str:
    """A module with a few tokens dropped, doubled, swapped, or replaced by those of others or junk."""
    draw = random.Random(f"ptx {number}")
    tokens, other = list(_tokens(draw.choice(seeds(files)))), _tokens(draw.choice(seeds(files)))
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        at = draw.randrange(len(tokens))
        change = draw.randrange(9)
        if change == 0:
            tokens[at] = ""
        elif change == 1:
            tokens[at] *= 2
        elif change == 2:
            to = draw.randrange(len(tokens))
            tokens[at], tokens[to] = tokens[to], tokens[at]
        elif change == 3:
            tokens[at] = draw.choice(JUNK)
        elif change == 4:
            tokens[at] = draw.choice(other)
        elif change == 5:
            tokens[at] = draw.choice(tokens)
        elif change in (6, 7):
            tokens[at] = draw.choice([token for token in tokens if _kind(token) == _kind(tokens[at])])
        else:
            end = min(len(tokens), at + draw.randrange(1, 30))
            tokens[at:at] = tokens[at:end] * draw.choice((1, 1, 1, 40))
    text = "".join(tokens)
    return text[: draw.randrange(len(text))] if draw.random() < 0.02 else text


@cache
def _head() -> str:
    return head(machine(target(ARCH)))


def translated(text: str, verify: bool = False) -> str:
    """What becomes of a module: "refused" (no PTX), "unsupported" (a kernel is refused by name), or "lowered".

    Anything but that, or an error without a line, is a defect and raises."""
    try:
        module = parse(text, "mutant")
        found = problems(module)
        if found:
            raise found[0]
        module_index(module)
    except PtxError as error:
        assert error.line >= 1 and error.column >= 1, error
        return "refused"
    outcome = "lowered"
    for name, function in list(module.functions.items()):
        if function.kind != "entry":
            continue
        lowering = ModuleLowering(module, Request(target(ARCH), choose=True))
        try:
            lowering.kernel(name)
        except Unsupported as error:
            assert "internal error" not in error.reason, error
            outcome = "unsupported"
            continue
        except Ptx2amdError:
            outcome = "unsupported"
            continue
        ir = lowering.ir()
        if verify:
            Module(_head() + ir).verify()
    return outcome


class Late(Exception):
    """A mutant that takes too long."""


def _late(*_: object) -> None:
    raise Late


def run(first: int, count: int, files: tuple[str, ...] = ()) -> tuple[Counter[str], list[str]]:
    """Translate mutants under limits of time and memory: how many became what, and the defects."""
    outcomes: Counter[str] = Counter()
    defects = []
    before = signal.signal(signal.SIGVTALRM, _late)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    try:
        for number in range(first, first + count):
            text = mutant(number, files)
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                outcomes[translated(text, number % VERIFIED == 0)] += 1
            except Exception as error:  # whatever it is, it is a defect
                defects.append(f"mutant {number}: {type(error).__name__}: {str(error)[:300]}")
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGVTALRM, before)
    return outcomes, defects


def disagreement(text: str) -> str:
    """ "" where ptxas and the front end say the same of a module, or its difference is known."""
    accepted, output = oracle.run(text, "sm_90a")
    ours = ""
    try:
        ours = "".join(str(error) for error in problems(parse(text, "mutant"))[:1])
    except PtxError as error:
        ours = str(error)
    undecided = re.search("Memory allocation|requires|not supported|out of range|ABI|crash|Unresolved", output)
    if bool(ours) != accepted or undecided or KNOWN.search(text) or MODULES_KNOWN.search(text):
        return ""
    return f"we say: {ours or 'accepted'}\n    ptxas says: {output.strip() or 'accepted'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--ptxas", type=int, default=0)
    parser.add_argument("files", nargs="*")
    given = parser.parse_intermixed_args()
    files, total, judged, differ = tuple(given.files), Counter[str](), 0, 0
    begin = time.process_time()
    for first in range(given.first, given.first + given.count, 100):
        outcomes, defects = run(first, min(100, given.first + given.count - first), files)
        total += outcomes
        for defect in defects:
            print(defect, flush=True)
        total["defects"] += len(defects)
        for number in range(first, first + 100) if given.ptxas else ():
            if number % given.ptxas == 0:
                judged += 1
                if difference := disagreement(mutant(number, files)):
                    differ += 1
                    print(f"mutant {number}: {difference}", flush=True)
        if first % 1000 == 0:
            print(f"# {first + 100 - given.first}: {dict(total)}, {judged} judged, {differ} differ, "
                  f"{time.process_time() - begin:.0f} s", flush=True)  # fmt: skip
    print(f"# all {given.count}: {dict(total)}, {judged} judged, {differ} differ", flush=True)


if __name__ == "__main__":
    main()
