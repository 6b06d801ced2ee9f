"""The environment of a code object: the device variable `__ptx2amd_env`, which the loader of the code object fills.

A kernel's property `cells` says which cells it reads, each by its number."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout, Number

ENVIRONMENT = Layout(
    "environment", "The variable `__ptx2amd_env`.",
    Field("data", "u64", "the module's data segment"),
    Field("output", "u64", "buffer of printf"),
    Field("heap", "u64", "heap of malloc, with the locks of 128-bit atomics"),
    Field("arena", "u64", "arena for shared memory beyond LDS"),
    Field("unused", "u64", "0", count=4),
)  # fmt: skip

CELL_DATA, CELL_OUTPUT, CELL_HEAP, CELL_ARENA = (
    Number(ENVIRONMENT[name].offset // 8, f"the cell `{name}`") for name in ("data", "output", "heap", "arena")
)

#: What a kernel that reads a cell does while that is 0, as in a program that loads the code object by itself.
UNFILLED = {
    CELL_OUTPUT: "what it prints is lost",
    CELL_HEAP: "it finds no memory to allocate, and 128-bit atomics fault",
    CELL_ARENA: "its shared memory, more than LDS holds, is not there: it faults",
}
