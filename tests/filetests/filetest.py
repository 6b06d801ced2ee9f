"""The notation of filetests: PTX modules that say in comments how to run them and what must come out.

    // RUN: execute gfx942 gfx1100:padded    launch the kernels on these chips of the software GPU (and mapping)
    // RUN: ir gfx942                        the LLVM IR as lowered has what CHECK-IR lines say (FileCheck's notation)
    // RUN: asm gfx942 gfx1100               the same of each chip's machine code, CHECK-GFX942 and CHECK-GFX1100
    // RUN: after merge-exchanges            the same of the functions as a pass leaves them, CHECK-AFTER
    // RUN: before merge-exchanges           or finds them, CHECK-BEFORE
    // RUN: compile gfx1100                  all kernels can be translated
    // RUN: asm gfx942 --implicit-check-not=v_fma_f32      and what stands nowhere in it
    // REFUSED kernel: text                  with `RUN: refuse gfx942`: the translator's reason has that text

    // LAUNCH kernel block=32 grid=1 shared=0
    // LET name = expression                 a name for the expressions below
    // VALUE n u32: expression               a parameter; a list is an array
    // INPUT in u32: a = [1, 2]; b = lane    what a buffer has, a row of these columns for each thread of a block
    // DESCRIPTOR t of in: expression        a parameter: the bytes that the expression makes of a buffer's address
    // EXPECT out u32: a + b                 one more column of what a buffer must have afterwards, whatever it had

Expressions are Python. They see `lane` (the threads of a block), the columns of INPUT, numpy as `np`, `reduce`, and,
of tests/reference, `fragments`, `images` and `TensorMap`. Columns of integers are arrays of Python's integers, so that
nothing overflows on the way; results are cut to the type. Columns of floats are arrays of numpy's. A list has one
element for each thread; alone in its buffer, as many as it likes. Floats are compared bit by bit, or with `EXPECT out
f32 +-2**-20:` so far from the value, absolutely where it is below 1, else as a part of it; a NaN is then as good as
any other. A buffer with INPUT alone must keep what it has."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.reference import fragments, images
from tests.reference.tensors import TensorMap

LINE = re.compile(r"//\s*(RUN:|REFUSED|LAUNCH|LET|VALUE|INPUT|DESCRIPTOR|EXPECT)\s*(.*)")
COLUMN = re.compile(r"(?P<name>\w+) (?P<type>[busf]\d+)(?: \+-(?P<within>[\d.*-]+))?:\s*(?P<values>.*)")
NEVER = "--implicit-check-not="
OLD = 0xA5  # what a buffer has that only results go to


@dataclass
class Column:
    """Values of one type, a row each thread, and how far results may be from them."""

    values: np.ndarray
    within: float | None = None

    def differs(self, found: np.ndarray) -> np.ndarray:
        """Which elements are not as they have to be."""
        if self.within is None:
            return found.view(f"u{found.itemsize}") != self.values.view(f"u{found.itemsize}")
        with np.errstate(invalid="ignore"):
            apart = np.abs(found.astype("f8") - self.values.astype("f8"))
            near = apart <= self.within * np.maximum(1, np.abs(self.values.astype("f8")))
        return ~(near | (found == self.values) | (np.isnan(found) & np.isnan(self.values)))


@dataclass
class Launch:
    kernel: str
    block: int
    grid: int = 1
    shared: int = 0
    values: dict[str, bytes] = field(default_factory=dict)
    inputs: dict[str, list[Column]] = field(default_factory=lambda: defaultdict(list))
    expected: dict[str, list[Column]] = field(default_factory=lambda: defaultdict(list))
    descriptors: dict[str, tuple[str, Callable[[int], bytes]]] = field(default_factory=dict)  # of a buffer, the bytes
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names |= {
            "np": np,
            "reduce": reduce,
            "fragments": fragments,
            "images": images,
            "TensorMap": TensorMap,
            "lane": np.arange(self.block),
        }

    def evaluated(self, expression: str, kind: str) -> np.ndarray:
        with np.errstate(all="ignore"):
            value = eval(expression, self.names)
        return elements(value if isinstance(value, list | np.ndarray) else [value] * self.block, kind)

    def add(self, word: str, rest: str) -> None:
        """Take in one line."""
        if word == "LET":
            name, expression = rest.split("=", 1)
            self.names[name.strip()] = eval(expression, self.names)
            return
        if word == "DESCRIPTOR":
            name, buffer, expression = re.fullmatch(r"(\w+) of (\w+): (.*)", rest).groups()
            self.descriptors[name] = buffer, eval(expression, self.names)
            return
        found = COLUMN.fullmatch(rest.strip())
        assert found, f"this is no {word} line: {rest}"
        name, kind = found["name"], found["type"]
        if word == "VALUE":
            value = eval(found["values"], self.names)
            self.values[name] = elements(value if isinstance(value, list) else [value], kind).tobytes()
        elif word == "EXPECT":
            self.expected[name].append(Column(self.evaluated(found["values"], kind), eval(found["within"] or "None")))
        else:
            for part in found["values"].split("; "):
                column, expression = part.split("=", 1)
                values = self.evaluated(expression, kind)
                self.inputs[name].append(Column(values))
                own = values.view(values.dtype.str.replace("u", "i")) if kind[0] == "s" else values
                self.names[column.strip()] = own if kind[0] == "f" else np.array(own.tolist(), object)


class Run(NamedTuple):
    """What one RUN line asks; on: a chip, or the name of a pass; never: what must not be in the output."""

    verb: str
    on: str
    never: list[str]


@dataclass
class Filetest:
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def runs(self) -> list[Run]:
        found = []
        for rest in (rest for word, rest in self.lines if word == "RUN:"):
            verb, *more = shlex.split(rest)
            never = [option.removeprefix(NEVER) for option in more if option.startswith(NEVER)]
            found += [Run(verb, on, never) for on in more if not on.startswith(NEVER)]
        return found

    @cached_property
    def refused(self) -> dict[str, str]:
        """Kernels, and what the reason says for which they are refused."""
        pairs = (rest.split(":", 1) for word, rest in self.lines if word == "REFUSED")
        return {kernel.strip(): reason.strip() for kernel, reason in pairs}

    @cached_property
    def launches(self) -> list[Launch]:
        """AssertionError: a line is not in this notation."""
        found: list[Launch] = []
        for word, rest in self.lines:
            if word == "LAUNCH":
                kernel, *options = rest.split()
                found.append(Launch(kernel, **{k: int(v) for k, v in (option.split("=") for option in options)}))
            elif word in ("LET", "VALUE", "INPUT", "DESCRIPTOR", "EXPECT"):
                found[-1].add(word, rest)
        return found

    @cached_property
    def lines(self) -> list[tuple[str, str]]:
        return LINE.findall(self.text)


def elements(values: Any, kind: str) -> np.ndarray:
    """An array of a PTX type: integers are cut to its width."""
    bits = int(kind[1:])
    if kind[0] == "f":
        with np.errstate(over="ignore"):
            return np.array(values, f"f{bits // 8}")
    return np.array([int(value) % (1 << bits) for value in values], f"u{bits // 8}")


def packed(columns: list[Column]) -> bytes:
    """The bytes of a buffer: the columns' elements, thread by thread."""
    if len(columns) == 1:
        return columns[0].values.tobytes()
    assert len({len(column.values) for column in columns}) == 1, "columns of different lengths"
    return b"".join(column.values[row].tobytes() for row in range(len(columns[0].values)) for column in columns)


def differences(columns: list[Column], found: bytes) -> list[str]:
    """Where a buffer has not what it must have, in words."""
    width = sum(column.values.itemsize for column in columns)
    rows, at, wrong = np.frombuffer(found, np.uint8).reshape(-1, width), 0, []
    for number, column in enumerate(columns):
        own = np.ascontiguousarray(rows[:, at : at + column.values.itemsize]).view(column.values.dtype)[:, 0]
        at += column.values.itemsize
        for row in np.flatnonzero(column.differs(own)):
            wrong.append(f"column {number}, row {row}: {own[row]!r} (must be {column.values[row]!r})")
    return wrong
