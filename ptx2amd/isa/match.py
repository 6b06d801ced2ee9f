"""Matching of opcode text and operands against the instruction table: the statement's Shape, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ptx2amd.errors import Ptx2amdError
from ptx2amd.isa import table
from ptx2amd.isa.form import Form
from ptx2amd.isa.operands import Slot, align, fits, resolve, slots
from ptx2amd.isa.syntax import Field, any_order, fields, in_order, takes
from ptx2amd.ptx.ast import Addr, Imm, Operand, Pair, Reg, Shape, Sym, Vec

Candidate = tuple[Form, dict[str, str]]


class MatchError(Ptx2amdError):
    """No row fits. `operand` is the index of the operand at fault, or -1 for the opcode or the count."""

    def __init__(self, message: str, operand: int = -1) -> None:
        self.message, self.operand = message, operand
        super().__init__(message)


def match(opcode: str, operands: tuple[Operand, ...]) -> Shape:
    """The Shape of a statement: `opcode` as written ("ld.global.v4.u32"), operands as parsed (destination
    pairs as Pair; the Shape's names count their parts, as `ast.flatten` does).

    Raises MatchError: unknown mnemonic, modifier, operand count or kind."""
    for shape in matches(opcode, operands):
        return shape
    raise AssertionError("matches() raises when there is none")


def matches(opcode: str, operands: tuple[Operand, ...]) -> list[Shape]:
    """All rows that match, best first; register types decide between them (ptx/check.py).

    Raises MatchError like match."""
    rows = candidates(opcode)
    found = []
    for form, mods in rows:
        aligned = align(slots(form.operands), operands, mods)
        if aligned is not None:
            names = tuple(slot.name for slot, _ in aligned)
            types = tuple(resolve(slot.type, mods) for slot, _ in aligned)
            found.append(Shape(opcode, form, mods, names, types))
    if not found:
        raise _operand_error(opcode, rows, operands)
    return found


@cache
def candidates(opcode: str) -> tuple[Candidate, ...]:
    """The rows whose syntax the opcode has, with field values: those in the row's order before the others.

    Raises MatchError when there is none."""
    mnemonic, *rest = opcode.split(".")
    words = tuple(rest)
    forms = table.forms(mnemonic)
    if not forms:
        close = _close(mnemonic, table.mnemonics(), 1)
        raise MatchError(f"unknown instruction '{mnemonic}'" + (f"; did you mean '{close[0]}'?" if close else ""))
    taking = [form for form in forms if takes(form.syntax, words)]
    ordered = [(form, in_order(fields(form.syntax), words)) for form in taking]
    other = [(form, any_order(fields(form.syntax), words, form.name_words)) for form, mods in ordered if mods is None]
    found = tuple((form, mods) for form, mods in ordered + other if mods is not None)
    if not found:
        raise _modifier_error(opcode, mnemonic, words, forms)
    return found


def _modifier_error(opcode: str, mnemonic: str, words: tuple[str, ...], forms: tuple[Form, ...]) -> MatchError:
    known = {word for form in forms for field in fields(form.syntax) for choice in field.choices for word in choice}
    for word in words:
        if word not in known:
            near = _close(word, known, 3)
            return MatchError(
                f"modifier '.{word}' is not allowed in '{mnemonic}'; expected {_one_of(near or sorted(known))}"
            )
    at, expected = max((_reach(fields(form.syntax), words) for form in forms), key=lambda reach: reach[0])
    expected = sorted(
        {word for form in forms for n, list_ in [_reach(fields(form.syntax), words)] if n == at for word in list_}
    )
    if at < len(words):
        wanted = f"; expected {_one_of(expected)} there" if expected else "; nothing may follow there"
        return MatchError(f"modifier '.{words[at]}' of '{opcode}' does not go with the others{wanted}")
    return MatchError(f"'{opcode}' is incomplete; expected {_one_of(expected)}")


def _reach(syntax: tuple[Field, ...], words: tuple[str, ...]) -> tuple[int, list[str]]:
    """How many words fit in order, and what the row could take next."""
    best: tuple[int, list[str]] = (0, [])

    def walk(index: int, at: int, skipped: list[str]) -> None:
        nonlocal best
        if index == len(syntax):
            if at > best[0]:
                best = (at, skipped)
            return
        field = syntax[index]
        here = skipped + [".".join(choice) for choice in field.choices]
        for choice in field.choices:
            if words[at : at + len(choice)] == choice:
                walk(index + 1, at + len(choice), [])
        if field.optional:
            walk(index + 1, at, here)
        elif at > best[0] or not best[1]:
            best = (at, here)

    walk(0, 0, [])
    return best


def _close(word: str, known: Iterable[str], most: int) -> list[str]:
    """Words that may have been meant."""
    from difflib import get_close_matches  # which only errors need

    return get_close_matches(word, known, most)


def _one_of(words: list[str]) -> str:
    shown = [f".{word}" for word in words[:12]] + (["..."] if len(words) > 12 else [])
    return shown[0] if len(shown) == 1 else "one of " + ", ".join(shown)


def _operand_error(opcode: str, rows: tuple[Candidate, ...], operands: tuple[Operand, ...]) -> MatchError:
    counts = set()
    for form, _ in rows:
        row = slots(form.operands)
        counts |= set(range(sum(not slot.optional for slot in row), len(row) + 1))
    if len(operands) not in counts:
        form = rows[0][0]
        wanted = " or ".join(str(count) for count in sorted(counts))
        plural = "" if wanted == "1" else "s"
        return MatchError(f"'{opcode}' takes {wanted} operand{plural} ({form.operands}), {len(operands)} given")
    worst = max((_first_misfit(slots(form.operands), operands, mods) for form, mods in rows), key=lambda m: m[0])
    index, slot, mods = worst
    index = min(index, len(operands) - 1)
    if slot is None:
        return MatchError(f"'{opcode}' does not take {describe(operands[index])} as operand {index + 1}", index)
    wanted = slot._replace(type=resolve(slot.type, mods)).expected
    if slot.kind == "vec" and not slot.size:
        wanted = (
            "a brace list that fits the vector size" if mods.get("vec") else f"a {resolve(slot.type, mods)} register"
        )
    return MatchError(
        f"operand {index + 1} of '{opcode}' ({slot.name}) must be {wanted}, found {describe(operands[index])}",
        index,
    )


def _first_misfit(
    row: tuple[Slot, ...], operands: tuple[Operand, ...], mods: dict[str, str]
) -> tuple[int, Slot | None, dict[str, str]]:
    at = 0
    for slot in row:
        if at == len(operands):
            break
        if align((slot._replace(optional=False),), (operands[at],), mods) is None:
            if slot.optional:
                continue
            return at, slot if slot.kind != "pair" else None, mods
        at += 1
    return at, None, mods


def describe(operand: Operand) -> str:
    """An operand in words, for messages."""
    match operand:
        case Reg(name, negated):
            return f"{'negated ' if negated else ''}register {name}"
        case Imm(kind, bits):
            return f"{'floating-point' if kind[0] == 'f' else 'integer'} constant" + (
                f" {bits}" if kind[0] != "f" else ""
            )
        case Sym(name, _):
            return f"symbol {name}"
        case Addr():
            return "an address"
        case Vec(items):
            return f"a list of {len(items)}"
        case Pair():
            return "a register pair"
    return repr(operand)


__all__ = ["MatchError", "candidates", "describe", "fits", "match", "matches"]
