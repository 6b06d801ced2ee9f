"""What NVIDIA's hardware computed of the operand sets of tests/lower/alu_inputs.py, recorded by tests/hardware/alu.py.

A digest covers the results of all threads, where every NaN counts as the same.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.lower.alu_inputs import split
from tests.lower.alu_programs import SLOT, Case, Program

RECORDED = Path(__file__).with_name("alu.json.xz")
#: Results in which the H100 departs from the PTX manual, or the manual leaves open; the reasons stand there.
DIFFERENCES = Path(__file__).with_name("alu_differences.txt")
NAN = {"f16": ("<u2", 0x7C00), "bf16": ("<u2", 0x7F80), "f32": ("<u4", 0x7F800000), "f64": ("<u8", 0x7FF << 52)}


def title(case: Case, name: str, element: int) -> str:
    """A name for one result of an instruction, which stays when rows are added."""
    chosen = " ".join(f"{k}={v}" for k, v in case.mods if k.endswith("sel") or k == "minus")
    constants = " ".join(f"{k}={v}" for k, v in case.constants)
    operands = ",".join(f"{n}*{count}" if count > 1 else n for n, _, count in case.operands)
    return " ".join(filter(None, (case.opcode, operands, chosen, constants, f"{name}{element}")))


def results(program: Program, output: bytes) -> Iterator[tuple[Case, str, np.ndarray[Any, Any]]]:
    """(case, title, bits with canonical NaNs as rows of bytes) of each output array."""
    table = np.frombuffer(output, np.uint8).reshape(len(program.outputs), program.data.threads, SLOT)
    for (case, name, element), column in zip(program.outputs, table, strict=True):
        types = {n: t for n, t, _ in case.operands}
        ptype = types.get(name, "u32")
        kind, count = split(ptype)
        values = column.copy()
        if kind in NAN and count * np.dtype(NAN[kind][0]).itemsize <= SLOT:
            dtype, infinity = NAN[kind]
            words = values.view(dtype)
            sign = np.array(1 << 8 * words.dtype.itemsize - 1, dtype)
            words[(words & ~sign) > np.array(infinity, dtype)] = ~np.array(0, dtype)
        yield case, title(case, name, element), values


def digest(values: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(values.tobytes()).hexdigest()[:10]


@cache
def recorded() -> dict[str, Any]:
    return dict(json.loads(lzma.decompress(RECORDED.read_bytes())))


@cache
def differences() -> frozenset[str]:
    lines = (line.partition("#")[0].strip() for line in DIFFERENCES.read_text().splitlines())
    return frozenset(filter(None, lines))


def different(program: Program, output: bytes) -> Iterator[str]:
    """The exact instructions whose results are not those of the hardware."""
    digests = recorded()["digests"].get(program.data.name, {})
    for case, name, values in results(program, output):
        if not case.form.exact.startswith("approx") and name in digests and digests[name] != digest(values):
            yield name


def disagreements(program: Program, output: bytes) -> Iterator[str]:
    """A line for each instruction that unexpectedly has other results than the hardware."""
    for name in different(program, output):
        if name not in differences():
            yield f"{name}: not what {recorded()['from']['card']} computes"
