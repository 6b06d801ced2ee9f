"""A work-around for LLVM 22: overflow checks of 64-bit additions.

`s = a + b; s < b` becomes an addition with carry-out of 32-bit halves; where the upper half of `a` is itself a sum (as
in products) and that of `b` zero, LLVM folds the two sums into one, which has a different carry. The fold does not
happen if LLVM cannot see that the comparison uses the sum."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Module
from ptx2amd.regex import regex

_ADD = regex(r"  (%[\w.]+) = add (?:nuw |nsw )*i64 ([^\s,]+), ([^\s,]+)")
_COMPARE = regex(r"(  %[\w.]+ = icmp (?:samesign )?(ult|ugt|ule|uge|eq|ne) i64 )([^\s,]+), ([^\s,]+)(.*)", re.S)
_CALL = regex(r"(.*@llvm\.uadd\.(?:sat|with\.overflow)\.i64\(i64 )([^\s,]+), i64 ([^\s,)]+)(.*)", re.S)


def rewrite(module: Module) -> None:
    """Hide the sums of overflow checks from their comparisons, and the operands of additions with overflow."""
    count = 0

    def hide(value: str, at: list[str]) -> str:
        """Another name for a value, defined in the lines `at`; constants as they are."""
        nonlocal count
        if value[0] != "%":
            return value
        count += 1
        at.append(f'  %ptx2amd.sum.{count} = call i64 asm "", "=v,0"(i64 {value})')
        return f"%ptx2amd.sum.{count}"

    for function in module.functions():
        found = (_ADD.match(line) for line in function.lines() if " = add " in line)
        sums = {add[1]: (add[2], add[3]) for add in found if add}
        for block in function.blocks:
            lines: list[str] = []
            for line in block.lines:
                if " = icmp " in line and (compare := _COMPARE.match(line)):
                    head, relation, one, other, rest = compare.groups()
                    if _overflow(relation, sums.get(one), other):
                        line = f"{head}{hide(one, lines)}, {other}{rest}"
                    elif _overflow(relation, sums.get(other), one):
                        line = f"{head}{one}, {hide(other, lines)}{rest}"
                elif "@llvm.uadd." in line and (call := _CALL.match(line)):
                    head, one, other, rest = call.groups()
                    line = f"{head}{hide(one, lines)}, i64 {hide(other, lines)}{rest}"
                lines.append(line)
            block.lines = lines


def _overflow(relation: str, terms: tuple[str, str] | None, part: str) -> bool:
    """Whether a sum of these terms is compared with one of them, or one that adds 1 with zero."""
    if terms is None:
        return False
    return (part == "0" and "1" in terms) if relation in ("eq", "ne") else part in terms
