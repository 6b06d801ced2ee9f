"""Work-arounds for faults of LLVM 22 as rewrites of IR text: one a file, whose head says what LLVM does wrong.

tests/codegen/test_workarounds.py runs a program for each that is wrong without it, and so says when LLVM no longer
needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptx2amd.codegen.workarounds import (
    apertures,
    byte_parts,
    copies,
    lds_addresses,
    overflow,
    products,
    records,
    scalar_loads,
    zeros,
)
from ptx2amd.codegen.workarounds.records import Module
from ptx2amd.records import dataclass
from ptx2amd.target import Target

LONG = 4000  # lines of IR
Rewrite = Callable[[Module], None]


@dataclass(frozen=True, slots=True)
class Workaround:
    """rewrite: of IR as records, in place; may_apply: a quick look at our own IR, before LLVM has optimised it;
    optimised: whether it rewrites the optimised IR, or our own."""

    name: str
    rewrite: Rewrite
    may_apply: Callable[[str, Target], bool]
    optimised: bool = True


def _has_pairs(ir: str, target: Target) -> bool:
    return "half" in ir or "bfloat" in ir or "i16" in ir


def _has_conditions(ir: str, target: Target) -> bool:
    return "icmp u" in ir or "br i1" in ir or _has_pairs(ir, target)


def _is_long_with_lds(ir: str, target: Target) -> bool:
    return "addrspace(3)" in ir and ir.count("\n") > LONG


def _has_paths(ir: str, target: Target) -> bool:
    return "br i1" in ir or "switch " in ir


def _has_masked_shifts(ir: str, target: Target) -> bool:
    return target.arch.major <= 10 and " = and i32" in ir and (" = shl " in ir or " = lshr " in ir)


#: In the order in which they are applied.
ALL = (
    Workaround("apertures", apertures.rewrite, lambda ir, target: not target.arch.apertures, optimised=False),
    Workaround("zeros", zeros.rewrite, _has_pairs),
    Workaround("products", products.rewrite, _has_pairs),
    Workaround("overflow", overflow.rewrite, _has_conditions),
    Workaround("scalar_loads", scalar_loads.rewrite, _has_conditions),
    Workaround("copies", copies.rewrite, _has_paths),
    Workaround("byte_parts", byte_parts.rewrite, _has_masked_shifts),
    Workaround("lds_addresses", lds_addresses.rewrite, _is_long_with_lds),
)


def needed(ir: str, target: Target, optimised: bool) -> list[Rewrite]:
    """The rewrites of work-arounds that may apply to IR."""
    return [w.rewrite for w in ALL if w.optimised == optimised and w.may_apply(ir, target)]


def rewritten(ir: str, rewrites: Iterable[Rewrite]) -> str:
    """IR text after rewrites; the same object if none applies."""
    module = records.parse(ir)
    before = module.text()
    for rewrite in rewrites:
        rewrite(module)
    after = module.text()
    return ir if after == before else after
