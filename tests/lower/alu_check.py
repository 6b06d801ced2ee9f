"""Comparison of an ALU program's output with the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from alu_programs import SLOT, THREADS, Case, Program, register_class, values
from reference import conversions, floats, integers
from reference.numbers import FORMATS, decode
from reference.numbers import value as number

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
        mods["flush64"] = "ftz"
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


@cache
def expected(case: Case, thread: int) -> dict[str, object]:
    """The reference's results for one thread, by destination name."""
    constants, places = arguments(case)
    v = dict(constants)
    for name, ptype, position in places:
        v[name] = values(ptype, position)[thread]
    types = {name: ptype for name, ptype, _ in case.operands}
    mnemonic = case.form.mnemonic
    words = case.opcode.split(".")
    if mnemonic in ("addc", "subc", "madc"):
        v["carry"] = values("u32", 6)[thread] + values("u32", 7)[thread] >> 32
    if "cc" in words and mnemonic in ("add", "sub"):
        return integers.starting(facts(case), v, types)
    if "cc" in words and mnemonic == "mad":
        return integers.madc(facts(case), {**v, "carry": 0}, types)
    return REFERENCE[mnemonic](facts(case), v, types)


def agrees(got: int, want: object, ptype: str) -> bool:
    """Whether a result is what the reference says."""
    if isinstance(want, floats.Either):
        return got in want
    if isinstance(want, tuple) and not isinstance(want, floats.Approx):
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
    if isinstance(want, floats.Approx):
        distance = abs(number(x) - want.value)
        return distance <= max(abs(want.value) * want.relative, want.absolute) + _half_unit(want.value, ptype)
    return got == want or x.kind == "nan" == decode(want, ptype).kind


def _half_unit(v: float, ptype: str) -> float:
    """Room for the rounding of the exact value to the type, where the manual's bound is tighter than that."""
    return abs(v) * 2.0 ** -(FORMATS[ptype][1] + 1)


def mismatches(program: Program, output: bytes) -> Iterator[str]:
    """A line for each wrong result, at most one per output array."""
    by_case: dict[int, list[tuple[int, str, int]]] = {}
    for index, (case, name, element) in enumerate(program.outputs):
        by_case.setdefault(id(case), []).append((index, name, element))
    for case in program.batch:
        wrong: set[str] = set()
        for thread in range(THREADS):
            want = expected(case, thread)
            for index, name, element in by_case[id(case)]:
                types = {n: (t, c) for n, t, c in case.operands}
                ptype, count = types.get(name, ("u32", 1))
                which = f"{name}{element}" if count > 1 else name
                if which in wrong:
                    continue
                n = 32 if ptype == "pred" else int(re.findall(r"\d+", register_class(_stored(ptype, count)))[0])
                at = (index * THREADS + thread) * SLOT
                got = int.from_bytes(output[at : at + n // 8], "little")
                if not agrees(got, want[which], ptype):
                    wrong.add(which)
                    found = f"{which} = {got:#x}, expected {_text(want[which])}"
                    yield f"{case.opcode} {_sources(case, thread)}: {found}"


def _stored(ptype: str, count: int) -> str:
    return f"{ptype[0]}16" if count == 1 and ptype in ("u8", "s8") else ptype


def _sources(case: Case, thread: int) -> str:
    constants, places = arguments(case)
    named = [f"{name}={values(ptype, position)[thread]:#x}" for name, ptype, position in places]
    if case.form.mnemonic in ("addc", "subc", "madc"):
        named.append(f"carry={values('u32', 6)[thread] + values('u32', 7)[thread] >> 32}")
    return " ".join([*named, *(f"{name}={n}" for name, n in constants.items())])


def _text(want: object) -> str:
    return hex(want) if isinstance(want, int) else str(want)
