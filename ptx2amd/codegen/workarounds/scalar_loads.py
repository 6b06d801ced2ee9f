"""A work-around for LLVM 22: scalar loads that no lane asks for.

A load whose address all lanes share becomes a scalar one, which the mask of lanes does not hold back. Where some lanes
may branch to it, a jump leads past it if none does; of short blocks LLVM takes that jump away. Then it loads from where
no lane wanted to: a null pointer that comes with a count of zero, an entry that was not found. Inline assembly in a
block, empty as it is, keeps the jump."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Module

LONGEST = 16  # instructions of a block: the jump past longer ones is worth its time for LLVM too
_TARGETS = re.compile(r"  br i1 .*?, label %([\w.$-]+|\"[^\"\n]+\"), label %([\w.$-]+|\"[^\"\n]+\")")
_LOAD = re.compile(r" = load (?!atomic|volatile)[^\n]*, ptr addrspace\(1\) (?!@)")
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
