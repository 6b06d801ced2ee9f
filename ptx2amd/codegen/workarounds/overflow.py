"""A work-around for LLVM 22: overflow checks of 64-bit additions.

`s = a + b; s < b` becomes an addition with carry-out of 32-bit halves; where the upper half of `a` is itself a sum (as
in products) and that of `b` zero, LLVM folds the two sums into one, whose carry is another. Hiding that the comparison
is about the sum keeps the two apart."""

from __future__ import annotations

import re

_ADD = re.compile(r"  (%[\w.]+) = add (?:nuw |nsw )*i64 ([^\s,]+), ([^\s,]+)")
_COMPARE = re.compile(r"(  %[\w.]+ = icmp (?:samesign )?(ult|ugt|ule|uge|eq|ne) i64 )([^\s,]+), ([^\s,]+)(.*)", re.S)
_CALL = re.compile(r"(.*@llvm\.uadd\.(?:sat|with\.overflow)\.i64\(i64 )([^\s,]+), i64 ([^\s,)]+)(.*)", re.S)


def separated(ir: str) -> str:
    """Optimised IR text with the sums of overflow checks hidden from their comparisons, and the operands of additions
    with overflow hidden from them; the same text if there are none."""
    sums: dict[str, tuple[str, str]] = {}
    lines = ir.split("\n")
    hidden: list[str] = []

    def hide(value: str, at: list[str]) -> str:
        """Another name for a value, defined in the lines `at`; constants as they are."""
        if value[0] != "%":
            return value
        hidden.append(f"%ptx2amd.sum.{len(hidden)}")
        at.append(f'  {hidden[-1]} = call i64 asm "", "=v,0"(i64 {value})')
        return hidden[-1]

    for at, line in enumerate(lines):
        before: list[str] = []
        if line.startswith("define"):
            sums = {}
        elif found := _ADD.match(line):
            sums[found[1]] = found[2], found[3]
        elif found := _COMPARE.match(line):
            head, relation, one, other, rest = found.groups()
            if _overflow(relation, sums.get(one), other):
                lines[at] = f"{head}{hide(one, before)}, {other}{rest}"
            elif _overflow(relation, sums.get(other), one):
                lines[at] = f"{head}{one}, {hide(other, before)}{rest}"
        elif "@llvm.uadd." in line and (found := _CALL.match(line)):
            head, one, other, rest = found.groups()
            lines[at] = f"{head}{hide(one, before)}, i64 {hide(other, before)}{rest}"
        lines[at] = "\n".join([*before, lines[at]])
    return "\n".join(lines) if hidden else ir


def _overflow(relation: str, terms: tuple[str, str] | None, part: str) -> bool:
    """Whether a sum of these terms is compared with one of them, or one that adds 1 with zero."""
    if terms is None:
        return False
    return (part == "0" and "1" in terms) if relation in ("eq", "ne") else part in terms
