"""Branches past a few instructions, on whether two conditions differ.

A wave executes what such a branch skips with the mask of the lanes that do not skip it: the inverted condition. LLVM
inverts a comparison for nothing, but a `xor` of two by another instruction, each time. Here one of the two comparisons
is inverted, and the branch's targets change places. Sorting networks consist of such branches."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Block, Function, Module
from ptx2amd.regex import regex

_BRANCH = regex(r"  br i1 (%\S+), (label %\S+), (label %\S+)((?:, !.*)?)")
_XOR = regex(r"  (%\S+) = xor i1 (%\S+), (%\S+)")
_COMPARISON = regex(r"  (%\S+) = ([if]cmp) ((?:[a-z]+ )*?)([a-z]+) ((?:i\d+|half|float|double|ptr.*) .*)")
_NAME = regex(r"%[\w.$-]+")
_INTEGER = {"eq": "ne", "slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
_FLOAT = {"oeq": "une", "olt": "uge", "ogt": "ule", "ole": "ugt", "oge": "ult", "one": "ueq", "ord": "uno"}
_INVERSE = {
    kind: {**pairs, **{b: a for a, b in pairs.items()}} for kind, pairs in (("icmp", _INTEGER), ("fcmp", _FLOAT))
}


def may_apply(ir: str) -> bool:
    return "br i1" in ir and " = xor i1" in ir


def rewrite(module: Module) -> None:
    for function in module.functions():
        if any(" = xor i1" in line for line in function.lines()):
            _rewrite(function)


def _rewrite(function: Function) -> None:
    blocks = {block.label: block for block in function.blocks}
    uses: dict[str, int] = {}
    places: dict[str, tuple[list[str], int]] = {}
    for block in function.blocks:
        for number, line in enumerate(block.lines):
            name, _, text = line.strip().partition(" = ")
            places[name] = block.lines, number
            for used in _NAME.findall(text or line):
                uses[used] = uses.get(used, 0) + 1

    def once(pattern: re.Pattern[str], name: str) -> re.Match[str] | None:
        """The definition of a name that is used once, if it has the pattern."""
        lines, number = places.get(name, ([], 0))
        return pattern.fullmatch(lines[number]) if lines and uses.get(name) == 1 else None

    for block in function.blocks:
        branch = _BRANCH.fullmatch(block.lines[-1])
        differ = branch and not branch[4] and once(_XOR, branch[1])
        if not branch or not differ or not _skips(blocks, branch):
            continue
        for operand in differ.group(2, 3):
            if (comparison := once(_COMPARISON, operand)) and comparison[4] in _INVERSE[comparison[2]]:
                name, kind, flags, relation, rest = comparison.groups()
                lines, number = places[name]
                lines[number] = f"  {name} = {kind} {flags}{_INVERSE[kind][relation]} {rest}"
                block.lines[-1] = f"  br i1 {branch[1]}, {branch[3]}, {branch[2]}"
                break


def _skips(blocks: dict[str, Block], branch: re.Match[str]) -> bool:
    """Whether what the branch goes to otherwise leads to its target."""
    other = blocks.get(branch[3].removeprefix("label %"))
    return other is not None and other.lines[-1] == f"  br {branch[2]}"
