"""LLVM names of PTX functions."""

from __future__ import annotations

from ptx2amd.plan.kernel import KernelPlan
from ptx2amd.ptx.ast import Function


def llvm_name(function: Function, plan: KernelPlan) -> str:
    """The LLVM name of a .func that a kernel with this plan calls."""
    return function.proto.name + flavour(plan)


def flavour(plan: KernelPlan) -> str:
    """What tells copies of a function apart: there is one for each denormal mode and warp mapping that its
    callers run in, and for each kernel with a plan of shared memory or barriers of its own."""
    flush, padded = ".flush" if plan.denormals == "flush" else "", ".padded" if plan.mapping == "padded" else ""
    return flush + padded + (f".in.{plan.owner}" if plan.owner else "")
