"""LLVM names of PTX functions."""

from __future__ import annotations

from ptx2amd.plan.kernel import KernelPlan
from ptx2amd.ptx.ast import Function


def llvm_name(function: Function, plan: KernelPlan) -> str:
    """The LLVM name of a .func that a kernel with this plan calls."""
    return function.proto.name + flavour(plan)


def flavour(plan: KernelPlan) -> str:
    """The part of a function's name that distinguishes its copies: there is one for each denormal mode and warp
    mapping of its callers, and for each kernel with its own plan of shared memory or barriers."""
    flush, padded = ".flush" if plan.denormals == "flush" else "", ".padded" if plan.mapping == "padded" else ""
    return flush + padded + (f".in.{plan.owner}" if plan.owner else "")
