"""What executed instructions cost: their classes, and the cycles in which a wave's instruction keeps its unit busy.

A cycle is the time of a plain 32-bit vector instruction of a wave: four clocks on CDNA, one on RDNA. Vector
instructions have the rates of LLVM's scheduling models (SISchedule.td: one over the operations a cycle); matrix
instructions the passes or clocks that AMD's ISA manuals give. LLVM's models have latencies of memory alone, so a memory
instruction counts a cycle for each dword that a lane moves. Scalar instructions, branches and waits count one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from ptx2amd.explain.assembly import group_of

CLASSES = ("valu", "matrix", "salu", "branch", "smem", "vmem", "lds", "wait")
HINT = re.compile(r"s_(delay_alu|clause|nop|inst_prefetch|set_inst_prefetch\w*|code_end|wait_alu|sleep|waitcnt_depctr)")
CLASS = {"matrix": "matrix", "vector": "valu", "scalar memory": "smem", "branches": "branch", "barriers": "branch",
         "waits": "wait", "scalar": "salu", "LDS": "lds", "scratch": "vmem", "memory": "vmem"}  # fmt: skip

#: Cycles of vector instructions on CDNA 2 and 3, RDNA 2, RDNA 3 and 4; others take one.
RATES = (
    (re.compile(r"v_(rcp|rsq|sqrt)_f64"), (4, 20, 36)),
    (re.compile(r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_"), (4, 4, 4)),
    (re.compile(r"v_\w*_f64"), (1, 18, 34)),
    (re.compile(r"v_cvt_"), (4, 1, 1)),
    (re.compile(r"v_(mul_lo_u32|mul_hi_[iu]32|mad_u64_u32|mad_co_u64_u32|mad_i64_i32|mad_co_i64_i32)"), (1, 4, 4)),
    (re.compile(r"v_\w+[biu]64"), (1, 2, 2)),
)
#: Cycles of matrix instructions by chip: CDNA's passes, RDNA's clocks.
MATRIX = {
    "gfx90a": ((r"f64_4x4", 4), (r"f64_16x16", 16), (r"32_4x4", 2), (r"32_16x16", 8), (r"32_32x32", 16)),
    "gfx942": ((r"f64_4x4", 4), (r"f64_16x16", 16), (r"32_4x4", 2), (r"32_16x16x(8|16|32)", 4), (r"32_16x16", 8),
               (r"32_32x32x(4_?xf|8|16)", 8), (r"32_32x32", 16)),
    "gfx1100": ((r"wmma", 32),),
    "gfx1201": ((r"wmma", 16),),
}  # fmt: skip


@cache
def class_of(name: str) -> str:
    """One of CLASSES; "" for hints to the hardware."""
    if HINT.match(name):
        return ""
    return CLASS[group_of(name)]


@cache
def cycles(name: str, arch: str, wave: int) -> int:
    """Of one instruction of a wave of that many lanes."""
    kind = class_of(name)
    if kind == "matrix":
        return next(n for pattern, n in MATRIX[arch] if re.search(pattern, name))
    if kind == "valu":
        column = 0 if arch.startswith("gfx9") else 1 if arch.startswith("gfx10") else 2
        passes = 2 if column and wave == 64 else 1
        return passes * next((rates[column] for pattern, rates in RATES if pattern.match(name)), 1)
    if kind in ("vmem", "lds"):
        return dwords(name)
    return 1 if kind else 0


def dwords(name: str) -> int:
    """That a lane moves: of global_load_dwordx4, ds_read2_b64, ds_load_b128 ..."""
    both = 2 if re.match(r"ds_(read|load|write|store)2|ds_(load|store)_2addr", name) else 1
    if found := re.search(r"dwordx(\d)", name):
        return int(found[1])
    found = re.search(r"_b(\d+)", name)
    return both * max(1, int(found[1]) // 32 if found else 1)


def by_class(opcodes: Iterable[tuple[str, int]]) -> Counter[str]:
    """Executed instructions of each class."""
    total: Counter[str] = Counter()
    for name, count in opcodes:
        total[class_of(name)] += count
    del total[""]
    return total


def weighted(opcodes: Iterable[tuple[str, int]], arch: str, wave: int, conflicts: int) -> int:
    """Cycles of all, and those that lanes meeting in a bank of LDS add."""
    return sum(count * cycles(name, arch, wave) for name, count in opcodes) + conflicts
