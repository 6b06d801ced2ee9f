"""A work-around for LLVM 22: phis with incoming values that cost no instruction.

An incoming value of a phi may cost nothing: an element of a vector, the lower half of 64 bits, an address with an
offset. When LLVM structurises control flow, it hoists such an instruction above the branch and uses its value for other
incoming edges too. llvm-project pull request 183792 corrects this for phis with three or more incoming edges; phis with
two are wrong as well, unless they merge the two sides of one branch. LLVM does not hoist an instruction that has an
operand of the same block: a freeze of a freeze has one, and produces no machine code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.codegen.workarounds.records import Block, Function, Module
from ptx2amd.regex import regex

_DEFINITION = regex(r"  (%[^ ]+) = (?:tail |notail |musttail )?(\w+) ")
_INCOMING = regex(r"\[ (%[^ ,]+), %([^ ]+) \]")
_LABEL = regex(r"label %([\w.$-]+|\"[^\"\n]+\")")
_NAME = regex(r"%[\w.$-]+|%\"[^\"\n]+\"")
_FLAGS = regex(r" (?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast)(?= )")
_FREE_CALL = "@llvm.fabs."
#: Instructions that have a cost on every chip; all others may be free.
_COSTS = {
    *("phi", "load", "atomicrmw", "cmpxchg", "alloca", "call", "icmp", "fcmp", "select"),
    *("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"),
    *("fadd", "fsub", "fmul", "fdiv", "frem", "fptosi", "fptoui", "sitofp", "uitofp"),
}


def rewrite(module: Module) -> None:
    """Freeze such values twice in the blocks that they come from, but those with an operand of that block."""
    for function in module.functions():
        _rewrite(function)


def _rewrite(function: Function) -> None:
    blocks = {block.label: block for block in function.blocks}
    before: dict[str, set[str]] = {}  # blocks, by the label of one that they lead to
    for block in function.blocks:
        for label in _LABEL.findall(block.lines[-1]):
            before.setdefault(label, set()).add(block.label)
    meetings = [
        block
        for block in function.blocks
        if " = phi " in block.lines[0] and len(before.get(block.label, ())) > 1 and not _two_sides(block.label, before)
    ]
    free = {name: place for block in function.blocks for name, place in _free(block)} if meetings else {}
    made = 0
    for block in meetings:
        for at, line in enumerate(block.lines):
            head, separator, values = line.partition(" [ ")
            if " = phi " not in head:
                break
            kind = _FLAGS.sub("", head.partition(" = phi")[2]).strip()

            def frozen(incoming: re.Match[str], kind: str = kind, target: str = block.label) -> str:
                nonlocal made
                value, label = incoming.groups()
                source = blocks.get(label)
                if source is None or free.get(value, label) == label or not _leads_only(source, target):
                    return incoming[0]
                first, second = f"%arrives.{made}", f"%arrives.{made + 1}"
                made += 2
                source.lines[-1:-1] = [f"  {first} = freeze {kind} {value}", f"  {second} = freeze {kind} {first}"]
                return f"[ {second}, %{label} ]"

            block.lines[at] = head + _INCOMING.sub(frozen, separator + values)


def _two_sides(label: str, before: dict[str, set[str]]) -> bool:
    """Whether only the two sides of one branch meet in a block, one of which may be empty."""
    if len(before[label]) != 2:
        return False
    one, other = before[label]
    ways = before.get(one, set()), before.get(other, set())
    return (len(ways[0]) == 1 and ways[0] == ways[1]) or ways[0] == {other} or ways[1] == {one}


def _free(block: Block) -> Iterator[tuple[str, str]]:
    """Values of a block that may cost nothing, and the block's label if they have an operand of it."""
    own: set[str] = set()
    for line in block.lines:
        if found := _DEFINITION.match(line):
            if not _has_cost(found[2], line):
                yield found[1], "" if own.isdisjoint(_NAME.findall(line)) else block.label
            own.add(found[1])


def _has_cost(operation: str, line: str) -> bool:
    return operation in _COSTS and not (operation == "call" and _FREE_CALL in line)


def _leads_only(block: Block, target: str) -> bool:
    """Whether the block ends with a jump there."""
    return re.match(rf"  br label %{re.escape(target)}(?:,|$)", block.lines[-1]) is not None
