"""Asks a driver the questions of scripts/*.txt and sweeps.py, each in a process of its own.

    python -m tests.shim.answers.ask LIBRARY OUT [--workers N] [--only BEGINNING ...] [--seconds N]

LIBRARY: a libcuda.so.1, NVIDIA's too. OUT gets a line per question: name, tab, the answers.

A script is a title and indented Python statements. What an expression gives is an answer: the code of a call, or a
value. Names are those of tests/shim/conformance_world.py, a driver's function by its symbol, and those of `Script`.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.shim.answers import captures, faults, memory, sweeps
from tests.shim.answers.script import Answer, started
from tests.shim.conformance_world import Driver, declarations

SCRIPTS = Path(__file__).resolve().parent / "scripts"
SECONDS = 60  # of a question


def scripts() -> dict[str, str]:
    """The statements of each title."""
    found = dict[str, str]()
    for path in sorted(SCRIPTS.glob("*.txt")):
        title = ""
        for line in path.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if not line.startswith(" "):
                title = f"{path.stem}.{line.strip()}"
                assert title not in found, title
                found[title] = ""
            else:
                found[title] += line.removeprefix("  ") + "\n"
    return found


def asked(driver: Driver, answer: Answer, statements: str) -> None:
    try:
        started(driver, answer).run(statements)
    except RuntimeError as error:
        answer(f"({error})")


Question = tuple[str, Callable[[Driver, Answer], None]]
#: Questions with these beginnings share a process and a context while neither is spoilt.
SHARE = ("texture.", "stream.capture", "pointer.", "copies.", "capturing.")


def questions() -> Iterator[Question]:
    for title, statements in scripts().items():
        yield title, partial(asked, statements=statements)
    for module in (memory, captures, sweeps, faults):
        yield from module.questions()


def child(driver: Driver, questions: list[Question], path: Path) -> None:
    """Answers them; path gets a line with the number of each question before it, and its answers."""
    with path.open("w", buffering=1) as file, (path.parent / "errors").open("a") as errors:
        os.dup2(errors.fileno(), 2)
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        for number, (title, question) in enumerate(questions):
            print(f"@{number}", file=file, flush=True)
            signal.alarm(SECONDS)
            try:
                question(driver, lambda text: print(text, file=file, flush=True))
            except BaseException as error:  # the question's own fault is seen in its answers
                print(f"({type(error).__name__}: {error})", file=file, flush=True)
                print(title, repr(error), file=errors, flush=True)
        print(f"@{len(questions)}", file=file, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)  # no exit handlers of a driver that may have faulted


def answered(text: str, status: int) -> list[list[str]]:
    """The answers of each question that the child came to; how it ended, if it did not come to the end of the last."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("@"):
            found.append([])
        else:
            found[-1].append(line)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return found[:-1]
    found[-1].append("(timeout)" if code == -signal.SIGALRM else f"(crash {code})")
    return found


def groups(only: tuple[str, ...]) -> list[list[Question]]:
    """Questions by process."""
    found = dict[str, list[Question]]()
    for number, question in enumerate(questions()):
        title = question[0]
        if title.startswith(only):
            key = next((beginning for beginning in SHARE if title.startswith(beginning)), str(number))
            found.setdefault(key, []).append(question)
    return list(found.values())


def ask(library: str, out: Path, only: tuple[str, ...] = ("",), workers: int = 2, seconds: float = 1e9) -> None:
    """Writes a line for each question as it is answered."""
    driver = Driver(library, declarations())
    base, until = Path(tempfile.mkdtemp()), time.monotonic() + seconds
    waiting, number = groups(only), 0
    running = dict[int, tuple[list[Question], Path]]()
    with out.open("a", buffering=1) as file:
        while waiting or running:
            while waiting and len(running) < workers and time.monotonic() < until:
                group, path, number = waiting.pop(0), base / str(number), number + 1
                pid = os.fork()
                if not pid:
                    child(driver, group, path)
                running[pid] = (group, path)
            if not running:
                break
            pid, status = os.wait()
            group, path = running.pop(pid)
            done = answered(path.read_text(errors="replace"), status)
            for (title, _), answers in zip(group, done, strict=False):
                if answers and "\t" in answers[0]:  # a line each
                    file.writelines(f"{title}.{answer}\n" for answer in answers)
                else:
                    file.write(f"{title}\t{' | '.join(answers)}\n")
            if group[len(done) :]:
                waiting.insert(0, group[len(done) :])
        file.writelines(f"{title}\t(not asked)\n" for group in waiting for title, _ in group)
    print((base / "errors").read_text()[-2000:] if (base / "errors").exists() else "", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[""], metavar="BEGINNING")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    ask(options.library, options.out, tuple(options.only), options.workers, options.seconds)


if __name__ == "__main__":
    main()
