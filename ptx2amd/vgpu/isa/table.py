"""All rows of the AMDGPU instruction tables, and the C names made from them."""

from __future__ import annotations

import importlib
from collections import Counter
from functools import cache

from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.op import GENERATIONS, Op, opcodes

#: Modules of this package with a function ops().
SCALAR_FAMILIES = ("sop", "sop_float", "sopp", "smem")
MEMORY_FAMILIES = ("ds", "flat", "buffer", "image")
VECTOR_FAMILIES = ("vop1", "vop2", "vop3", "vop3p", "vopc", "fp8", "mfma", "wmma", "sparse", "scaled")


def _rows(families: tuple[str, ...]) -> list[Op]:
    return [op for name in families for op in importlib.import_module(f"ptx2amd.vgpu.isa.{name}").ops()]


@cache
def scalar_ops() -> tuple[Op, ...]:
    return tuple(_rows(SCALAR_FAMILIES))


@cache
def memory_ops() -> tuple[Op, ...]:
    return tuple(_rows(MEMORY_FAMILIES))


@cache
def vector_ops() -> tuple[Op, ...]:
    return tuple(_rows(VECTOR_FAMILIES))


@cache
def known_ops() -> tuple[Op, ...]:
    """Rows for instructions that are only in opcodes.tsv: without meaning, so that faults can name them."""
    rows = scalar_ops() + memory_ops() + vector_ops()
    covered = {
        ("VOP3P" if op.format == "VOP3P_MAI" else op.format, op.mnemonic(arch), arch)
        for op in rows
        for arch in DECODERS
        if op.opcode(arch) is not None
    }
    found = []
    for (fmt, name), numbers in opcodes().items():
        archs = tuple(arch for arch in numbers if (fmt, name, arch) not in covered)
        if archs:
            found.append(Op(name, fmt, archs=archs))
    return tuple(found)


@cache
def all_ops() -> tuple[Op, ...]:
    return scalar_ops() + memory_ops() + vector_ops() + known_ops()


@cache
def symbols() -> dict[int, str]:
    """id(row) -> C identifier: the mnemonic; with format and first generation (or arch) if several rows share it."""
    rows = scalar_ops() + memory_ops() + vector_ops()
    names = Counter(op.name for op in rows)
    pairs = Counter((op.name, op.format) for op in rows)
    result = {id(op): f"known_{op.format}_{op.name}" for op in known_ops()}
    for op in rows:
        name = op.name
        if names[op.name] > 1:
            name += f"_{op.format.lower()}"
        if pairs[op.name, op.format] > 1:
            name += "_" + next(a for a in (*GENERATIONS, *DECODERS) if op.opcode(a) is not None)
        result[id(op)] = name
    if len(set(result.values())) != len(result):
        twice = [n for n, k in Counter(result.values()).items() if k > 1]
        raise ValueError(f"rows that cannot be told apart: {twice}")
    return result


def symbol(op: Op) -> str:
    """The C identifier of a row's handler (VG() adds the build's suffix)."""
    return symbols()[id(op)]
