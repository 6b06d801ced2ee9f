"""Another driver's answers beside those of NVIDIA's (nvidia.txt), and the reasons of what differs (differences.txt).

    python -m tests.shim.answers.compare ANSWERS        prints each difference that has no reason, and wrong counts
    python -m tests.shim.answers.compare ANSWERS --all  prints every difference
    python -m tests.shim.answers.compare ANSWERS --counts        writes how many keys of each pattern differ now
    python -m tests.shim.answers.compare ANSWERS --record "NVIDIA H100 ..." writes nvidia.txt

An answer's key is its question's name, and its place or name in it: "device.limits: stack[3]". A line of
differences.txt is a pattern of keys and how many of them differ; lines before it with # are their reason.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN, DIFFERENCES = HERE / "nvidia.txt", HERE / "differences.txt"
#: Nothing that the driver answered.
NOT_ANSWERED = ("(not asked)", "?", "(timeout)", "timeout", "absent")
NAMED = re.compile(r"(\S+):(\S+)")


def elements(line: str) -> Iterator[tuple[str, str]]:
    """Key and answer of each element of a line."""
    name, _, text = line.rstrip("\n").partition("\t")
    if name.startswith("spoilt."):
        for token in text.split():
            what, _, code = token.rpartition(":")
            yield f"{name} {what}", code
    elif " | " in text:
        answers = text.split(" | ")
        labels = [answer.partition("=")[0] if "=" in answer else str(k) for k, answer in enumerate(answers)]
        if len(set(labels)) < len(labels):
            labels = list(map(str, range(len(answers))))
        yield from ((f"{name}[{label}]", answer) for label, answer in zip(labels, answers, strict=True))
    else:
        yield name, text


def read(lines: Iterable[str]) -> dict[str, str]:
    return {key: answer for line in lines if not line.startswith("#") for key, answer in elements(line)}


def differing(ours: dict[str, str], theirs: dict[str, str]) -> list[tuple[str, str, str]]:
    """Keys that both answered, with both answers."""
    return [
        (key, theirs[key], answer)
        for key, answer in ours.items()
        if key in theirs and theirs[key] != answer and theirs[key] not in NOT_ANSWERED and answer not in NOT_ANSWERED
    ]


def reasons() -> dict[str, tuple[int, str]]:
    """Pattern -> number of keys, reason."""
    found, reason, ended = dict[str, tuple[int, str]](), "", False
    for line in DIFFERENCES.read_text().splitlines() if DIFFERENCES.exists() else ():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip() if ended else f"{reason} {line.removeprefix('#').strip()}".strip()
            ended = False
        elif not line.strip():
            reason, ended = "", False
        else:
            pattern, _, count = line.rpartition("\t")
            found[pattern] = (int(count), reason)
            ended = True
    return found


def matches(key: str, pattern: str) -> bool:
    return fnmatchcase(key, pattern.replace("[", "[[]"))


def complaints(ours: dict[str, str], only: str = "") -> list[str]:
    """What differs without a reason, and reasons for more or fewer keys than differ."""
    theirs, listed = read(GOLDEN.read_text().splitlines()), reasons()
    found, counts = list[str](), Counter[str]()
    for key, real, answer in differing(ours, theirs):
        pattern = next((p for p in listed if matches(key, p)), None)
        if pattern is None:
            found.append(f"{key}: NVIDIA's driver {real}, ours {answer}")
        else:
            counts[pattern] += 1
    asked = {pattern for pattern in listed if any(matches(key, pattern) for key in ours)}
    for pattern in asked:
        count, reason = listed[pattern]
        if counts[pattern] != count:
            found.append(f"{pattern}: {counts[pattern]} differ, {count} are listed ({reason})")
    return found


def count_again(ours: dict[str, str]) -> str:
    """differences.txt with the numbers of now; patterns of what was not asked keep theirs."""
    theirs, listed = read(GOLDEN.read_text().splitlines()), reasons()
    counts = Counter(next((p for p in listed if matches(key, p)), "") for key, _, _ in differing(ours, theirs))
    lines = []
    for line in DIFFERENCES.read_text().splitlines():
        pattern = line.rpartition("\t")[0]
        if pattern in listed and any(matches(key, pattern) for key in ours):
            line = f"{pattern}\t{counts[pattern]}"
            if not counts[pattern]:
                continue
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--record", metavar="WHERE")
    options = parser.parse_args()
    lines = [line for path in options.answers for line in path.read_text().splitlines()]
    if options.record:
        GOLDEN.write_text(f"# {options.record}\n" + "".join(f"{line}\n" for line in sorted(lines)))
    elif options.counts:
        DIFFERENCES.write_text(count_again(read(lines)))
    elif options.all:
        theirs = read(GOLDEN.read_text().splitlines())
        for key, real, answer in differing(read(lines), theirs):
            print(f"{key}\t{real}\t{answer}")
    else:
        print("\n".join(complaints(read(lines))))


if __name__ == "__main__":
    main()
