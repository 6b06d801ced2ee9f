"""A work-around for LLVM 22: the time that constant addresses in LDS take.

LLVM writes an address such as 64 bytes into a variable as a constant expression, and code generation makes each an
instruction before its user. Every insertion discards the numbers of the block's instructions, and the next one numbers
them again: with thousands of addresses in a block of tens of thousands of instructions this takes minutes. Here the
same instructions are written at once."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Module
from ptx2amd.regex import regex

_ADDRESS = regex(r"getelementptr ([a-z ]*)\((i8, ptr addrspace\(3\) [^,()]+, i32 -?\d+)\)")
_MARK = "(i8, ptr addrspace(3) "  # in all of them


def rewrite(module: Module) -> None:
    """Make constant addresses instructions, but for those of phis, whose instructions belong into other blocks, and
    those in other constants."""
    for function in module.functions():
        number = 0
        for block in function.blocks:
            lines: list[str] = []
            for line in block.lines:
                if _MARK not in line or " = phi " in line:
                    lines.append(line)
                    continue
                found = [address for address in _ADDRESS.finditer(line) if not _in_constant(address)]
                for address in reversed(found):
                    name = f"%lds.address.{number}"
                    number += 1
                    lines.append(f"  {name} = getelementptr {address[1]}{address[2]}")
                    line = f"{line[: address.start()]}{name}{line[address.end() :]}"
                lines.append(line)
            block.lines = lines


def _in_constant(address: re.Match[str]) -> bool:
    """Whether an address is a part of a constant, `ptrtoint (ptr addrspace(3) ...` or a vector. The parenthesis of a
    call's arguments follows its function without a space."""
    before, depth = address.string[: address.start()], 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] in ")>]}") - (before[at] in "(<[{")
        if depth < 0:
            return before[at] != "(" or before[at - 1] == " "
    return False
