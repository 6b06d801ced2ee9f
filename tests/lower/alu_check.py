"""Comparison of an ALU program's output with the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tests.lower.alu_inputs import Inputs
from tests.lower.alu_programs import SLOT, Case, Program, register_class
from tests.reference import approximate, conversions, floats, integers
from tests.reference.numbers import FORMATS, decode

REFERENCE = {**integers.REFERENCE, **floats.REFERENCE, "cvt": conversions.cvt}


def facts(case: Case) -> dict[str, str]:
    """The field values, and what the reference needs of the opcode beside them."""
    words = case.opcode.split(".")
    mods = dict(case.mods)
    mods["name"], mods["words"] = case.form.mnemonic, case.opcode
    if case.form.mnemonic in ("mul", "mad", "madc"):
        mods["part"] = next((w for w in words if w in ("lo", "hi", "wide")), "")
    mods["kind"] = next((w for w in words if w in ("approx", "full", "pack")), "rn")
    if "ftz" in words:
        mods.setdefault("ftz", "ftz")
    for word in ("NaN", "abs", "satfinite", "sat"):
        if word in words and word != case.form.mnemonic:
            mods.setdefault({"NaN": "nan"}.get(word, word), word)
    elements = {name: count for name, _, count in case.operands}
    if case.form.mnemonic == "mov" and elements.get("d", 1) > 1:
        mods["d0"] = str(elements["d"])
    return mods


def arguments(case: Case) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    """Constants by name, and for each register source: its key, type and input position."""
    places = []
    position = 0
    for name, ptype, count in case.sources:
        width8 = count == 1 and ptype in ("u8", "s8")
        for i in range(count):
            places.append((f"{name}{i}" if count > 1 else name, f"{ptype[0]}16" if width8 else ptype, position))
            position += 1
    return dict(case.constants), places


@lru_cache(200)
def expected(case: Case, data: Inputs) -> list[dict[str, object]]:
    """The reference's results for each thread, by destination name."""
    constants, places = arguments(case)
    columns = {name: data.values(ptype, position) for name, ptype, position in places}
    types = {name: ptype for name, ptype, _ in case.operands}
    mnemonic, words, mods = case.form.mnemonic, case.opcode.split("."), facts(case)
    reference = REFERENCE[mnemonic]
    if "cc" in words and mnemonic in ("add", "sub"):
        reference = integers.starting
    elif "cc" in words and mnemonic == "mad":
        reference, constants = integers.madc, {**constants, "carry": 0}
    elif mnemonic in ("addc", "subc", "madc"):
        low, high = data.values("u32", 6), data.values("u32", 7)
        columns["carry"] = [a + b >> 32 for a, b in zip(low, high, strict=True)]
    results = []
    known: dict[tuple[int, ...], dict[str, object]] = {}
    for row in zip(*columns.values(), strict=True) if columns else [()] * data.threads:
        if row not in known:
            known[row] = reference(mods, {**constants, **dict(zip(columns, row, strict=True))}, types)
        results.append(known[row])
    return results


def agrees(got: int, want: object, ptype: str) -> bool:
    """Whether a result is what the reference says."""
    if isinstance(want, floats.Either):
        return got in want
    if isinstance(want, approximate.Near):
        return want.permits(got)
    if isinstance(want, tuple):
        low, high, n = want
        part = ptype.removesuffix("x2")
        return agrees(got & (1 << n) - 1, low, part) and agrees(got >> n, high, part)
    if want == "anything":
        return True
    if ptype not in FORMATS:
        return want is None or got == want
    x = decode(got, ptype)
    if want is None:
        return x.kind == "nan"
    return got == want


def mismatches(program: Program, output: bytes) -> Iterator[str]:
    """A line for each wrong result, at most one per output array."""
    by_case: dict[int, list[tuple[int, str, int]]] = {}
    for index, (case, name, element) in enumerate(program.outputs):
        by_case.setdefault(id(case), []).append((index, name, element))
    threads = program.data.threads
    for case in program.batch:
        wanted = expected(case, program.data)
        types = {n: (t, c) for n, t, c in case.operands}
        for index, name, element in by_case[id(case)]:
            ptype, count = types.get(name, ("u32", 1))
            which = f"{name}{element}" if count > 1 else name
            n = 32 if ptype == "pred" else int(re.findall(r"\d+", register_class(_stored(ptype, count)))[0])
            for thread in range(threads):
                at = (index * threads + thread) * SLOT
                got = int.from_bytes(output[at : at + n // 8], "little")
                want = wanted[thread][which]
                if got != want and not agrees(got, want, ptype):
                    found = f"{which} = {got:#x}, expected {_text(want)}"
                    yield f"{case.opcode} {_sources(case, program.data, thread)}: {found}"
                    break


def _stored(ptype: str, count: int) -> str:
    return f"{ptype[0]}16" if count == 1 and ptype in ("u8", "s8") else ptype


def _sources(case: Case, data: Inputs, thread: int) -> str:
    constants, places = arguments(case)
    named = [f"{name}={data.values(ptype, position)[thread]:#x}" for name, ptype, position in places]
    if case.form.mnemonic in ("addc", "subc", "madc"):
        named.append(f"carry={data.values('u32', 6)[thread] + data.values('u32', 7)[thread] >> 32}")
    parts = [f"{name[:-3]}.{part}" for name, part in case.mods if name.endswith("sel")]
    return " ".join([*named, *(f"{name}={n:#x}" for name, n in constants.items()), *parts])


def _text(want: object) -> str:
    return hex(want) if isinstance(want, int) else str(want)
