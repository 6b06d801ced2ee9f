"""A work-around for LLVM 22: scalar loads that no lane asks for.

A load whose address all lanes share becomes a scalar one, which the mask of lanes does not hold back. Where some lanes
may branch to it, a jump leads past it if none does; of short blocks LLVM takes that jump away. Then it loads from where
no lane wanted to: a null pointer that comes with a count of zero, an entry that was not found. Inline assembly in a
block, empty as it is, keeps the jump."""

from __future__ import annotations

import re

LONGEST = 16  # instructions of a block: the jump past longer ones is worth its time for LLVM too
_BLOCK = re.compile(r"^(?:([\w.$-]+|\"[^\"\n]+\"):[^\n]*\n)?((?:  .*\n)+)", re.M)
_TARGETS = re.compile(r"^  br i1 [^\n]*?, label %([\w.$-]+|\"[^\"\n]+\"), label %([\w.$-]+|\"[^\"\n]+\")", re.M)
_END = re.compile(r"^  (?:br|switch|ret|unreachable)\b[^\n]*\n(?:(?:    .*|  \])\n)*\Z", re.M)
_LOAD = re.compile(r" = load (?!atomic|volatile)[^\n]*, ptr addrspace\(1\) (?!@)")
_KEPT = '  call void asm sideeffect "", ""()\n'


def guarded(ir: str) -> str:
    """Optimised IR text whose short blocks with loads from global memory keep the jump past them; the same text if
    there are none. Blocks are those that a conditional branch leads to, but not loops of one block."""
    if not _LOAD.search(ir):
        return ir
    functions = re.split(r"(?m)^(?=define )", ir)
    return "".join([functions[0], *map(_guarded, functions[1:])])


def _guarded(function: str) -> str:
    targets = {label for found in _TARGETS.finditer(function) for label in found.groups()}

    def keep(block: re.Match[str]) -> str:
        label, body = block.groups()
        if label not in targets or body.count("\n") > LONGEST or not _LOAD.search(body):
            return block[0]
        end = _END.search(body)
        if end is None or f"label %{label}," in end[0] or f"label %{label}\n" in end[0]:
            return block[0]
        return block[0][: len(block[0]) - len(end[0])] + _KEPT + end[0]

    return _BLOCK.sub(keep, function)
