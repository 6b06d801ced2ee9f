"""Cells of a code object's environment, the variable `__ptx2amd_env`, which the loader fills (docs/architecture.md)."""

from __future__ import annotations

DATA, OUTPUT, HEAP, ARENA = range(4)

#: What a kernel that reads a cell does while that is 0, as in a program that loads the code object by itself.
UNFILLED = {
    OUTPUT: "what it prints is lost",
    HEAP: "it finds no memory to allocate, and 128-bit atomics fault",
    ARENA: "its shared memory, more than LDS holds, is not there: it faults",
}
