"""LLVM's assembly text, taken apart: instructions with the PTX line of each, and their classes."""

from __future__ import annotations

import re

from ptx2amd.records import dataclass

LOC = re.compile(r"\s+\.loc\s+\d+\s+(\d+)")
FUNCTION = re.compile(r'\s+\.type\s+("[^"]+"|\S+),@function')
LOCAL = re.compile(r"(\.LBB\d+_\d+):")
INSTRUCTION = re.compile(r"\s+([a-z]\w+)(?:\s+([^;]*))?")

#: Classes of instructions, by how their names begin: the first that fits counts.
GROUPS = (
    ("matrix", ("v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_")),
    ("vector", ("v_",)),
    ("scalar memory", ("s_load_", "s_buffer_load_", "s_store_", "s_atomic_", "s_dcache_", "s_prefetch_")),
    ("branches", ("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm")),
    ("waits", ("s_wait", "s_nop", "s_delay_alu", "s_sleep")),
    ("barriers", ("s_barrier", "s_ttracedata")),
    ("scalar", ("s_",)),
    ("LDS", ("ds_",)),
    ("scratch", ("scratch_",)),
    ("memory", ("global_", "flat_", "buffer_", "image_", "tensor_", "cluster_")),
)


@dataclass(frozen=True, slots=True)
class Located:
    """A line of code: function's name, PTX line (0: none), text."""

    function: str
    line: int
    text: str


def instructions(text: str) -> list[Located]:
    """The instructions and labels of assembly, in the order of addresses."""
    found: list[Located] = []
    function, line = "", 0
    for row in text.splitlines():
        if start := FUNCTION.match(row):
            function, line = start[1].strip('"'), 0
        elif row.startswith(".Lfunc_end"):
            function = ""
        elif loc := LOC.match(row):
            line = int(loc[1])
        elif function and (label := LOCAL.match(row)):
            found.append(Located(function, line, f"{label[1]}:"))
        elif function and (instruction := INSTRUCTION.match(row)):
            found.append(Located(function, line, " ".join(filter(None, (instruction[1], instruction[2]))).strip()))
    return found


def group_of(instruction: str) -> str:
    """The class of an instruction."""
    return next((name for name, starts in GROUPS if instruction.startswith(starts)), "other")
