"""A work-around for LLVM 22: bytes and halves of a register that index tables.

LLVM makes `(x >> 6) & 1020` of `((x >> 8) & 255) << 2`, the offset of a table's entry by a byte of x, and code
generation no longer sees the byte: it takes two instructions for what GFX8 to GFX10 do in one (SDWA). The masked shift
becomes a shift of a byte or half again.

Results are the same with and without it."""

from __future__ import annotations

from ptx2amd.codegen.workarounds.records import Function, Module
from ptx2amd.regex import regex

_SHIFT = regex(r"  (%[\w.]+) = (shl|lshr) (?:nuw |nsw |exact )*i32 (%[\w.]+), (\d+)\Z")
_MASK = regex(r"  (%[\w.]+) = and i32 (%[\w.]+), (\d+)\Z")
PARTS = (8, 16)  # bits


def rewrite(module: Module) -> None:
    """Name the byte or half that a masked shift takes."""
    count = 0
    for function in module.functions():
        shifts = _shifts(function)
        for block in function.blocks if shifts else ():
            lines: list[str] = []
            for line in block.lines:
                made = _shifted_part(line, shifts, f"%ptx2amd.part.{count}")
                count += made is not None
                lines += made or [line]
            block.lines = lines


def _shifts(function: Function) -> dict[str, tuple[str, int]]:
    """Result of a shift by a constant -> its operand, and by how many bits to the left."""
    lines = (line for line in function.lines() if " = shl " in line or " = lshr " in line)
    found = filter(None, map(_SHIFT.match, lines))
    return {name: (x, int(bits) if how == "shl" else -int(bits)) for name, how, x, bits in (f.groups() for f in found)}


def _shifted_part(line: str, shifts: dict[str, tuple[str, int]], name: str) -> list[str] | None:
    """The instructions in place of a mask, if that is one of a shifted byte or half. name: for their results."""
    found = _MASK.match(line) if " = and i32 " in line else None
    if found is None or found[2] not in shifts:
        return None
    (x, left), mask = shifts[found[2]], int(found[3])
    up = (mask & -mask).bit_length() - 1  # how far the part is shifted in the result
    bits, start = (mask >> up).bit_length(), up - left
    if not up or bits not in PARTS or mask >> up != (1 << bits) - 1 or start % bits or not 0 <= start <= 32 - bits:
        return None
    lines = [f"  {name}.low = lshr i32 {x}, {start}"] if start else []
    lines.append(f"  {name} = and i32 {(lines and f'{name}.low') or x}, {(1 << bits) - 1}")
    return [*lines, f"  {found[1]} = shl nuw i32 {name}, {up}"]
