"""A work-around for LLVM 22: scalar loads in blocks that no lane executes.

A load from a uniform address becomes a scalar load, which is executed whatever EXEC contains. If only some lanes may
branch to its block, a jump skips the block when none does; LLVM removes that jump for short blocks. The load then
accesses an address that no lane would have used: a null pointer with a count of zero, an entry that was not found.
Empty inline assembly in the block keeps the jump."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Module
from ptx2amd.regex import regex

LONGEST = 16  # instructions of a block: the jump past longer ones is worth its time for LLVM too
_TARGETS = regex(r"  br i1 .*?, label %([\w.$-]+|\"[^\"\n]+\"), label %([\w.$-]+|\"[^\"\n]+\")")
_LOAD = regex(r" = load (?!atomic|volatile)[^\n]*, ptr addrspace\(1\) (?!@)")
_KEPT = '  call void asm sideeffect "", ""()'


def rewrite(module: Module) -> None:
    """Keep the jump past short blocks with loads from global memory: blocks that a conditional branch leads to, but not
    loops of one block."""
    for function in module.functions():
        ends = (_TARGETS.match(block.lines[-1]) for block in function.blocks)
        targets = {label for end in ends if end for label in end.groups()}
        for block in function.blocks:
            if block.label not in targets or len(block.lines) > LONGEST or not any(map(_LOAD.search, block.lines)):
                continue
            if not re.search(rf"label %{re.escape(block.label)}(?:,|\n|$)", block.lines[-1]):
                block.lines.insert(-1, _KEPT)
