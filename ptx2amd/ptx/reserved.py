"""The shared memory that CUDA reserves in each block for its own libraries, which read where it is from special
registers: cooperative groups has the barriers of tiles above 32 threads in it. Here it is a shared variable."""

from __future__ import annotations

from ptx2amd.ptx.ast import Function, Module, Var

NAME = "%reserved_smem"  # which no PTX symbol can have beside the special registers
BYTES = 1024  # as on NVIDIA's GPUs
OFFSETS = {"begin": 0, "0": 0, "1": BYTES // 2, "end": BYTES}  # special register -> what it adds to the address


def reserve(module: Module, function: Function) -> None:
    """Declare the variable if the function asks for its address. Linked modules share one."""
    if f"{NAME}_offset" in function.text and NAME not in module.variables:
        module.variables[NAME] = Var("shared", "b8", NAME, count=BYTES, align=16, linkage="weak")
