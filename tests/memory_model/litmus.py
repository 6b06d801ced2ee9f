"""Litmus tests in herd's format for PTX; kernels.py makes kernels of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.int64]


class NotPtx(Exception):
    """The test has something that PTX has not, or this conversion."""


@dataclass(slots=True)
class Thread:
    """One litmus thread: its place, the initial values of its registers, its instructions."""

    name: str
    cta: int
    gpu: int
    registers: dict[str, int] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Test:
    """variables: name to initial value; same: names of one location; condition: an expression; quantifier: exists,
    ~exists or forall."""

    name: str
    variables: dict[str, int]
    same: dict[str, str]
    threads: list[Thread]
    quantifier: str
    condition: str

    def location(self, name: str) -> str:
        while name in self.same:
            name = self.same[name]
        if name not in self.variables:
            raise NotPtx(f"no variable {name}")
        return name

    @property
    def gpus(self) -> list[int]:
        return sorted({t.gpu for t in self.threads})

    def ctas(self, gpu: int) -> list[list[Thread]]:
        """The threads of each block of a GPU."""
        own = [t for t in self.threads if t.gpu == gpu]
        return [[t for t in own if t.cta == n] for n in sorted({t.cta for t in own})]

    @property
    def outputs(self) -> list[tuple[str, str]]:
        """Registers that the condition names: (thread, register)."""
        found = re.findall(r"\bP?(\d+):(r\d+)", self.condition)
        return list(dict.fromkeys((f"P{n}", r) for n, r in found))


_CONSTANT = re.compile(r"\bcold\b|fence\.proxy\.constant")


def parse(name: str, text: str) -> Test:
    """The test of a file. Raises NotPtx."""
    text = re.sub(r'"[^"]*"', "", text, flags=re.S)
    if _CONSTANT.search(text):
        raise NotPtx("constant memory changes while a kernel reads it, which PTX forbids and has no fence for")
    head, _, rest = text.partition("}")
    test = Test(name, {}, {}, [], "", "")
    initial: dict[tuple[str, str], int] = {}
    for item in filter(None, (part.strip() for part in re.split(r"[;\n]", head.partition("{")[2]))):
        _initial(test, initial, item)
    program, quantifier, condition = _split(rest)
    rows = [[cell.strip() for cell in row.split("|")] for row in program.split(";") if row.strip()]
    for cell in rows[0]:
        if not (m := re.fullmatch(r"(P\d+)\s*@\s*cta\s+(\d+)\s*,\s*gpu\s+(\d+)", cell)):
            raise NotPtx(f"thread {cell!r}")
        test.threads.append(Thread(m[1], int(m[2]), int(m[3])))
    for row in rows[1:]:
        for thread, cell in zip(test.threads, row, strict=False):
            if cell:
                thread.code.append(cell)
    for thread in test.threads:
        thread.registers = {r: value for (t, r), value in initial.items() if t == thread.name}
    test.quantifier, test.condition = quantifier, re.sub(r"\s*:\s*", ":", condition)
    accesses = "|".join(
        text for thread in test.threads for text in thread.code if not text.startswith(("bar", "fence"))
    )
    for name in re.findall(r"\b(?!(?:LC|r)\d)([a-zA-Z]\w*)\b(?=\s*(?:,|$|\|))", accesses):
        if name not in test.same:
            test.variables.setdefault(name, 0)  # of those that are not declared
    return test


def _initial(test: Test, registers: dict[tuple[str, str], int], item: str) -> None:
    if m := re.fullmatch(r"(\w+)\s*=\s*(-?\d+)", item):
        test.variables[m[1]] = int(m[2])
    elif m := re.fullmatch(r"(P\d+)\s*:\s*(\w+)\s*=\s*(-?\d+)", item):
        registers[m[1], m[2]] = int(m[3])
    elif m := re.fullmatch(r"(\w+)\s*@\s*\w+\s+aliases\s+(\w+)", item):
        test.same[m[1]] = m[2]
    else:
        raise NotPtx(f"initial state {item!r}")


def _split(text: str) -> tuple[str, str, str]:
    """Program, quantifier and condition."""
    m = re.search(r"(~\s*exists|exists|forall)\s*(.*)$", text, re.S)
    if not m:
        raise NotPtx("no condition")
    program = re.sub(r"(locations|filter)\b.*$", "", text[: m.start()], flags=re.S)
    return program, m[1].replace(" ", ""), m[2].strip()


# --- conditions -----------------------------------------------------------------------------------------------


def holds(test: Test, values: dict[str, Values]) -> npt.NDArray[np.bool_]:
    """For each instance whether the condition is true. values: variables by name, registers as P0:r1."""
    tokens = re.findall(r"/\\|\\/|[()~]|!=|==|=|-?\d+(?!\s*:)|P?\d+\s*:\s*r\d+|\w+", test.condition)
    at = 0

    def peek() -> str:
        return tokens[at] if at < len(tokens) else ""

    def take() -> str:
        nonlocal at
        at += 1
        return tokens[at - 1]

    def operand() -> Values:
        text = take().replace(" ", "")
        if re.fullmatch(r"-?\d+", text):
            return np.int64(int(text)) + np.zeros(1, np.int64)
        return values[text if text.startswith("P") or ":" not in text else f"P{text}"]

    def term() -> npt.NDArray[np.bool_]:
        if peek() == "~":
            take()
            return ~term()
        if peek() == "(":
            take()
            inside = either()
            if take() != ")":
                raise NotPtx(f"condition {test.condition!r}")
            return inside
        left, how, right = operand(), take(), operand()
        return left != right if how == "!=" else left == right

    def both() -> npt.NDArray[np.bool_]:
        result = term()
        while peek() == "/\\":
            take()
            result = result & term()
        return result

    def either() -> npt.NDArray[np.bool_]:
        result = both()
        while peek() == "\\/":
            take()
            result = result | both()
        return result

    found = either()
    if peek():
        raise NotPtx(f"condition {test.condition!r}")
    return found
