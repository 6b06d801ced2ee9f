"""Branches past a few instructions, on two conditions.

A wave executes what such a branch skips with the mask of the lanes that do not skip it: the inverted condition. Where
the branch is on two comparisons, LLVM inverts what `or` and `and` make of them by comparing again in each such block,
and a `xor` by an instruction of its own. Here comparisons are inverted once, where they are made, and the branch's
targets change places. Sorting networks and the guards of unrolled loops consist of such branches."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Block, Function, Module
from ptx2amd.regex import regex

_BRANCH = regex(r"  br i1 (%\S+), (label %\S+), (label %\S+)")
_BOTH = regex(r"  (%\S+) = (xor|or|and) (?:disjoint )?i1 (%\S+), (%\S+)")
_COMPARISON = regex(r"  (%\S+) = ([if]cmp) ((?:[a-z]+ )*?)([a-z]+) ((?:i\d+|half|float|double|ptr.*) .*)")
_NAME = regex(r"%[\w.$-]+")
_INTEGER = {"eq": "ne", "slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
_FLOAT = {"oeq": "une", "olt": "uge", "ogt": "ule", "ole": "ugt", "oge": "ult", "one": "ueq", "ord": "uno"}
_INVERSE = {
    kind: {**pairs, **{b: a for a, b in pairs.items()}} for kind, pairs in (("icmp", _INTEGER), ("fcmp", _FLOAT))
}
_OTHER = {"or": "and", "and": "or", "xor": "xor"}


def may_apply(ir: str) -> bool:
    return "br i1" in ir and (" = xor i1" in ir or " = or i1" in ir or " = and i1" in ir)


def rewrite(module: Module) -> None:
    for function in module.functions():
        if any(" i1 %" in line and _BOTH.fullmatch(line) for line in function.lines()):
            _rewrite(function)


def _rewrite(function: Function) -> None:
    blocks = {block.label: block for block in function.blocks}
    defined = {line.strip().partition(" = ")[0]: line for line in function.lines()}
    uses: dict[str, int] = {}
    for line in function.lines():
        for used in _NAME.findall(line.partition(" = ")[2] or line):
            uses[used] = uses.get(used, 0) + 1
    new: dict[str, list[str]] = {}  # by the line in whose place they come
    for block in function.blocks:
        branch = _BRANCH.fullmatch(block.lines[-1])
        if not branch or uses[branch[1]] != 1 or not _skips(blocks, branch):
            continue
        both = _BOTH.fullmatch(defined.get(branch[1], ""))
        if both and (line := _inverted(both, defined, new)):
            new[both[0]] = [line]
            block.lines[-1] = f"  br i1 {branch[1]}, {branch[3]}, {branch[2]}"
    for block in function.blocks:
        block.lines = [line for old in block.lines for line in new.get(old, [old])]


def _inverted(both: re.Match[str], defined: dict[str, str], new: dict[str, list[str]]) -> str:
    """The line that makes the inverse of two conditions; "" if it needs one that is no comparison."""
    name, operation, *operands = both.groups()
    compared = {operand: _COMPARISON.fullmatch(defined.get(operand, "")) for operand in operands}
    known = [operand for operand in operands if (c := compared[operand]) and c[4] in _INVERSE[c[2]]]
    if len(known) < (1 if operation == "xor" else 2):
        return ""
    for operand in known[: 1 if operation == "xor" else 2]:
        comparison = compared[operand]
        assert comparison
        _, kind, flags, relation, rest = comparison.groups()
        inverse = f"%ptx2amd.not.{operand[1:]}"
        new[comparison[0]] = [comparison[0], f"  {inverse} = {kind} {flags}{_INVERSE[kind][relation]} {rest}"]
        operands[operands.index(operand)] = inverse
    return f"  {name} = {_OTHER[operation]} i1 {', '.join(operands)}"


def _skips(blocks: dict[str, Block], branch: re.Match[str]) -> bool:
    """Whether what the branch goes to otherwise leads to its target."""
    other = blocks.get(branch[3].removeprefix("label %"))
    return other is not None and other.lines[-1] == f"  br {branch[2]}"
