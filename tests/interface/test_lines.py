"""Entries' lines: the driver's generated reader takes what the translator writes and gives the same values back, under
ASan and UBSan; lines that are damaged are refused with their name, or have another valid value, and never more."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ptx2amd.interface import generate, page
from ptx2amd.interface.generate import RECORDS, c_name
from ptx2amd.interface.kernel import KernelProperties
from ptx2amd.interface.lines import Row, entry_text, note, rows_of

HERE = Path(__file__).resolve().parent
WHOLE = [record for records in RECORDS.values() for record in records if generate.read_rows(record)]
Read = Callable[[type, str], list[str]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines_reader")
    headers = "".join(f'#include "interface_{name}.h"\n' for name in RECORDS)
    rows = "".join(f"{{&{c_name(r)}_lines, sizeof(struct {c_name(r)})}}, " for r in WHOLE)
    known = f"static const struct {{ const struct line_table *table; size_t size; }} tables[] = {{{rows}}};\n"
    (folder / "tables.h").write_text(headers + known)
    sources = [HERE / "lines_reader.c", *generate.write(folder)]
    flags = ["-std=gnu11", "-O1", "-g1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{generate.SOURCES}"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", *flags, *map(str, sources), "-o", str(folder / "reader")], check=True)
    return folder / "reader"


@pytest.fixture
def read(program: Path) -> Iterator[Read]:
    process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    stdin, stdout = process.stdin, process.stdout

    def ask(record: type, text: str) -> list[str]:
        blob = text.encode(errors="surrogateescape")
        stdin.write(f"{c_name(record)} {len(blob)}\n".encode() + blob)
        stdin.flush()
        lines = iter(lambda: stdout.readline().decode(errors="surrogateescape").rstrip("\n"), "end")
        return list(lines)

    yield ask
    stdin.close()
    assert process.wait(60) == 0


def value_of(row: Row, chosen: random.Random) -> Any:
    """Any value that a row can have."""
    if row.is_list:
        return [element_of(row, chosen) for _ in range(chosen.choice((0, 1, 2, 3, 9)))]
    return element_of(row, chosen)


def element_of(row: Row, chosen: random.Random) -> Any:
    if row.record:
        return sample(row.record, chosen)
    if row.columns:
        return tuple(number(row.c, chosen) for _ in row.columns)
    if row.choices:
        return chosen.choice(row.choices)
    if row.element == frozenset[int]:
        return frozenset(chosen.sample(range(32), chosen.randrange(4)))
    if row.element is int:
        return number(row.c, chosen)
    words = ("", "line 7: a loop", "k_1") if row.is_list or "TEXT" in row.meaning else ("name", "_Z3fooi$")
    return {str: lambda: chosen.choice(words), bool: lambda: chosen.random() < 0.5, float: lambda: 1.5}[row.element]()


def number(c: str, chosen: random.Random) -> int:
    most = {"int": 1 << 31, "uint32_t": 1 << 32, "uint64_t": 1 << 64, "int64_t": 1 << 63}[c] - 1
    return chosen.choice((0, 1, 32, most, chosen.randrange(most), *([-1, -most] if c == "int64_t" else [])))


def sample(record: type, chosen: random.Random) -> Any:
    return record(**{row.name: value_of(row, chosen) for row in rows_of(record)})


def driver_lines(record: Any) -> list[str]:
    """The lines of a record that the driver reads."""
    people = {row.key for row in rows_of(type(record)) if "driver" not in row.readers}
    return [line.rstrip() for line in entry_text(record).splitlines() if line.split()[0] not in people]


def without_zeros(lines: list[str]) -> list[str]:
    """Lines that say no more than their absence."""
    return [line for line in lines if set(line.split()[1:]) - {"0"} or len(line.split()) < 3]


@pytest.mark.parametrize("record", WHOLE)
@pytest.mark.parametrize("seed", range(40))
def test_the_driver_reads_what_is_written(record: type, seed: int, read: Read) -> None:
    written = sample(record, random.Random(seed))
    first, *found = (line.rstrip() for line in read(record, entry_text(written)))
    assert first == "read" and without_zeros(found) == without_zeros(driver_lines(written))


def flip(text: str, chosen: random.Random) -> str:
    at = chosen.randrange(len(text))
    return text[:at] + chosen.choice("0 9-\n~x\x7f") + text[at + 1 :]


def lost(text: str, chosen: random.Random) -> str:
    at = chosen.randrange(len(text))
    return text[:at] + text[at + chosen.randrange(1, 30) :]


def doubled(text: str, chosen: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(chosen.choices(lines, k=len(lines) * 2))


@pytest.mark.parametrize("record", WHOLE)
@pytest.mark.parametrize("damage", [flip, lost, doubled])
def test_damaged_lines_do_no_harm(record: type, damage: Callable[[str, random.Random], str], read: Read) -> None:
    """The sanitizers see what is read; a refusal names the line or the record."""
    chosen, refused = random.Random(1), 0
    for _ in range(400):
        text = damage(entry_text(sample(record, chosen)) + "\n", chosen)
        first, *_ = read(record, text)
        refused += first != "read"
        assert first == "read" or first.startswith((f"{c_name(record)} has no line ", 'line "')), first
    assert refused or damage is doubled


BAD = ["{name}", "{name} ", "{name} x", "{name} 1x", "{name} 0x1", "{name} 99999999999999999999", "{name} 1 1 1 1 1"]


@pytest.mark.parametrize("record", WHOLE)
def test_wrong_values_are_refused_by_name(record: type, read: Read) -> None:
    rows = [row for row in rows_of(record) if "driver" in row.readers]
    for row in rows:
        texts = row.type in (str, list[str]) and not row.choices
        for line in BAD if not (texts or row.record or row.type == frozenset[int]) else []:
            answer = read(record, line.format(name=row.key) + "\n")
            assert answer == [f'line "{row.key}" of {c_name(record)} has a wrong value'], line
    for row in rows:
        if row.type is bool:
            assert read(record, f"{row.name} 2\n") == [f'line "{row.name}" of {c_name(record)} has a wrong value']
    assert read(record, "no_such_line 1\n") == [f'{c_name(record)} has no line "no_such_line"']


def test_the_note_has_the_rows_that_say_so() -> None:
    for record in WHOLE:
        assert list(note(sample(record, random.Random(3)))) == [r.name for r in rows_of(record) if "note" in r.readers]


def test_the_note_begins_with_the_mapping() -> None:
    """The software GPU's loader finds it right behind a kernel's name."""
    assert next(iter(note(KernelProperties()))) == "mapping"


def test_the_page_is_what_the_rows_say() -> None:
    assert page.PAGE.read_text() == page.page(), "run python -m ptx2amd.interface.page"
