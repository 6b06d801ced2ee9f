"""The programs of tests/reference/lock_programs.py as PTX kernels, run in a warp mapping and compared with the machine.
`python -m tests.lower.lock_random FIRST COUNT ARCH...` runs programs of the slow tier; a program that
hangs ends by PTX2AMD_VGPU_DEADLOCK and PTX2AMD_VGPU_TIMEOUT."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection

from ptx2amd.hip import HipError
from tests.lower.device import Program as Loaded
from tests.lower.lock_kernel import (
    ACC,
    COUNT,
    ERRORS,
    FIRST_LOCK,
    FIRST_WORD,
    LOCK_BYTES,
    NEXT,
    PLACES,
    RECORD,
    SLOTS,
    THREADS,
    kernel,
)
from tests.reference import lock_machine
from tests.reference.lock_machine import Result
from tests.reference.lock_programs import LOCKS, Program, Relay, Turns, generate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
MORE = 10000  # numbers from here on are of programs with more in them


def program(number: int) -> Program:
    return generate(number, more=number >= MORE)


def found(program: Program, memory: bytes) -> Result:
    """What a kernel has left in memory, by the machine's names."""
    word = lambda at: struct.unpack_from("<I", memory, at)[0]  # noqa: E731
    result = Result(word(ERRORS), [word(ACC + 4 * g) for g in range(program.threads * program.blocks)])

    def record(name: tuple, at: int) -> None:
        taken = word(at) if not word(at + NEXT) else word(at) - word(at + NEXT)
        result.words[name] = taken
        parts = {(*name, "count"): COUNT, **{(*name, "slot", i): SLOTS + 4 * i for i in range(THREADS)}}
        result.words.update({part: value for part, where in parts.items() if (value := word(at + where))})

    shared = ACC + 4 * program.threads * program.blocks
    tables = {("lock",): FIRST_LOCK, **{("shared", b): shared + b * LOCK_BYTES for b in range(program.blocks)}}
    for name, at in tables.items():
        for lock in range(LOCKS):
            for which in range(2):
                record((*name, lock, which), at + (2 * lock + which) * RECORD)
    for statement in program.body:
        if isinstance(statement, Turns | Relay):
            at = FIRST_WORD + statement.word * PLACES * RECORD
            if isinstance(statement, Turns):
                record(("turns", statement.word), at)
            else:
                result.words.update({("relay", statement.word, n): word(at + n * RECORD) for n in range(PLACES)})
    return result


def compare(number: int, program: Program, arch: str) -> str:
    """Run a program; what differs from the machine, "" for nothing."""
    text = HEAD + kernel("k", program, known=bool(number % 3))
    try:
        loaded = Loaded(text, arch)
        size = ACC + program.blocks * (4 * program.threads + LOCK_BYTES)
        [memory] = loaded.run("k", program.threads, [size], grid=program.blocks)
    except (HipError, AssertionError) as error:  # that it hangs, that it is not translated
        return f"program {number} on {arch}: {error}\n{text}"
    here, wanted = found(program, memory), lock_machine.run(program)
    names = here.words.keys() | wanted.words.keys()
    differ = [
        (name, here.words.get(name, 0), wanted.words.get(name, 0))
        for name in names
        if name[-1] != "owner" and here.words.get(name, 0) != wanted.words.get(name, 0)
    ]
    threads = [g for g, acc in enumerate(here.acc) if acc != wanted.acc[g]]
    if here.errors or differ or threads:
        return f"program {number} on {arch}: {here.errors} errors, words {differ}, threads {threads}\n{text}"
    return ""


def sweep(programs: dict[int, Program], archs: list[str]) -> Iterator[str]:
    """What differs of programs, in processes that end with a program that hangs."""
    work = [(number, program, arch) for number, program in programs.items() for arch in archs]
    while work:
        mine, theirs = Pipe(duplex=False)
        child = get_context("fork").Process(target=_some, args=(work, theirs))
        child.start()
        theirs.close()
        try:
            wrong = ""
            while work and not ended(wrong):
                wrong = mine.recv()
                del work[0]
                if wrong:
                    yield wrong
        except EOFError:
            number, _, arch = work.pop(0)
            yield f"program {number} on {arch}: the process ended"
        child.join()


def _some(work: list[tuple[int, Program, str]], results: Connection) -> None:
    """Programs up to the first that fails in the run time."""
    for number, program, arch in work:
        wrong = compare(number, program, arch)
        results.send(wrong)
        if ended(wrong):
            return


def ended(wrong: str) -> bool:
    """Whether a program has failed in the run time, which then goes on failing."""
    return "hipError" in wrong


def main(first: int, count: int, archs: list[str]) -> int:
    bad = 0
    for wrong in sweep({n: program(n) for n in range(first, first + count)}, archs):
        bad += 1
        print(wrong.split("\n")[0], flush=True)
    print(f"{first} to {first + count - 1}: {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
