"""A work-around for LLVM 22: the time that constant addresses in LDS take.

LLVM writes an address such as 64 bytes into a variable as a constant expression, and code generation makes each an
instruction before its user. Every insertion discards the numbers of the block's instructions, and the next one numbers
them again: with thousands of addresses in a block of tens of thousands of instructions this takes minutes. Here the
same instructions are written at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.codegen.workarounds.records import Module

_ADDRESS = re.compile(r"getelementptr ([a-z ]*)\((i8, ptr addrspace\(3\) [^,()]+, i32 -?\d+)\)")


def rewrite(module: Module) -> None:
    """Make constant addresses instructions, but for those of phis, whose instructions belong into other blocks."""
    for function in module.functions():
        number = 0

        def separated(line: str) -> Iterator[str]:
            nonlocal number
            while (address := _ADDRESS.search(line)) is not None and " = phi " not in line:
                name = f"%lds.address.{number}"
                number += 1
                yield f"  {name} = getelementptr {address[1]}{address[2]}"
                line = f"{line[: address.start()]}{name}{line[address.end() :]}"
            yield line

        for block in function.blocks:
            block.lines[:] = [part for line in block.lines for part in separated(line)]
