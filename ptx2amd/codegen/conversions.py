"""Floats to integers by the machine's instruction, which drops the fraction and saturates; NaN gives 0.

llvm.fptosi.sat and llvm.fptoui.sat say the same, but LLVM 22 compares and selects in four more instructions. Its fptosi
and fptoui become the one instruction; their results beyond the limits are poison, which LLVM may make use of until the
IR is optimised. So the lowering writes the first, and once the IR is optimised they become the second, frozen."""

from __future__ import annotations

from itertools import count

from ptx2amd.codegen.workarounds.records import Module
from ptx2amd.regex import regex

_MARK = "i.sat."
_CALL = regex(
    r"  (%\S+) = (?:tail )?call .*?(i32|<\d+ x i32>) @llvm\.fpto([su])i\.sat\.(?:v\d+)?i32\.\w+"
    r"\(((?:float|double|<\d+ x (?:float|double)>) [^%()]*%[^\s()]+)\).*"
)


def may_apply(ir: str) -> bool:
    return _MARK in ir


def rewrite(module: Module) -> None:
    """Rewrite such conversions to 32 bits, except those of constants."""
    numbers = count()

    def change(line: str) -> list[str]:
        if _MARK not in line or not (call := _CALL.fullmatch(line)):
            return [line]
        name, ty, sign, value = call.groups()
        whole = f"%ptx2amd.whole.{next(numbers)}"
        return [f"  {whole} = fpto{sign}i {value} to {ty}", f"  {name} = freeze {ty} {whole}"]

    module.replace(change)


__all__ = ["may_apply", "rewrite"]
