"""LLVM names of PTX functions."""

from __future__ import annotations

from ptx2amd.ptx.ast import Function


def llvm_name(function: Function, mode: str, mapping: str, owner: str = "") -> str:
    """The LLVM name of a .func."""
    return function.proto.name + flavour(mode, mapping, owner)


def flavour(mode: str, mapping: str, owner: str = "") -> str:
    """What tells copies of a function apart: there is one for each denormal mode and warp mapping that its
    callers run in, and for each kernel (`owner`) with a plan of shared memory or barriers of its own."""
    flush, padded = ".flush" if mode == "flush" else "", ".padded" if mapping == "padded" else ""
    return flush + padded + (f".in.{owner}" if owner else "")
