"""Variables as declared: array dimensions, counts and initial values, checked."""

from __future__ import annotations

import math
from typing import Any

from ptx2amd.ptx import constants
from ptx2amd.ptx.ast import Imm, InitSym, Var
from ptx2amd.records import replace

MOST_ALIGNED = 1 << 30  # bytes; ptxas has no more
MOST_ZEROS = 1 << 24  # elements without a value, between others that have one
MOST_BYTES = 1 << 48  # of a variable: what an address may reach


def set_dimensions(var: Var, sizes: list[int | None]) -> None:
    """Set `count` from array dimensions: their product, 0 when the first is open, -1 without any."""
    if not sizes:
        return
    if None in sizes[1:]:
        raise ValueError(f"only the first dimension of '{var.name}' may be left open")
    product = 1
    for size in sizes:
        product *= size or 0
    if product * var.vec * max(1, width(var.type) // 8) > MOST_BYTES:
        raise ValueError(f"'{var.name}' has {product} elements, more than any memory")
    var.count = product


def register_count(name: str, count: int) -> int:
    """The count of `%r<count>`. Raises ValueError for more than any program has (the largest have some 30,000)."""
    if not 0 <= count <= 1 << 22:
        raise ValueError(f"{count} registers '{name}'")
    return count


def numbered(var: Var) -> list[Var]:
    """The variables that `.param .b64 p<2>` declares, p0 and p1; registers stay one range."""
    if not var.regs or var.space == "reg":
        return [var]
    return [replace(var, name=f"{var.name}{i}", regs=0, attrs=dict(var.attrs)) for i in range(var.regs)]


_BITS = {"f16x2": 32, "pred": 1}


MASKS = [0xFF << 8 * byte for byte in range(8)]


def width(ptx_type: str) -> int:
    """Bits of a variable's type; 0 for opaque types."""
    digits = ptx_type[1:]
    return _BITS.get(ptx_type) or (int(digits) if digits.isdigit() else 0)


def initialise(var: Var, sizes: list[int | None], initial: Any) -> list[int | InitSym] | None:
    """Raw elements of an initialiser, flat, up to the last that it names: the rest of the variable is zero. An open
    first dimension gets its size."""
    if var.space not in ("global", "const"):
        raise ValueError(f"'{var.name}': no initial value is allowed in state space .{var.space}")
    if isinstance(initial, dict):  # sampler and texture state
        var.attrs |= initial
        return None
    if sizes and sizes[0] is None and isinstance(initial, list):
        sizes = [len(initial), *sizes[1:]]
        set_dimensions(var, sizes)
    shape = [size or 0 for size in sizes] + ([var.vec] if var.vec > 1 else [])
    return _flat(var, shape, initial)


def _flat(var: Var, shape: list[int], initial: Any) -> list[int | InitSym]:
    if not shape:
        if isinstance(initial, list):
            raise ValueError(f"'{var.name}': the initial value has more braces than dimensions")
        return [raw(var, initial)]
    if not isinstance(initial, list):
        raise ValueError(f"'{var.name}': the initial value of an array needs braces")
    if len(initial) > shape[0] or (var.vec > 1 and len(shape) == 1 and len(initial) < shape[0]):
        raise ValueError(f"'{var.name}': {len(initial)} initial values for {shape[0]} elements")
    inner = math.prod(shape[1:])
    flat: list[int | InitSym] = []
    for number, item in enumerate(initial):
        gap = number * inner - len(flat)
        if gap > MOST_ZEROS:
            raise ValueError(f"'{var.name}': {gap} zeros between initial values; {MOST_ZEROS} can be had")
        flat += [0] * gap
        flat += _flat(var, shape[1:], item)
    return flat


def raw(var: Var, value: Imm | InitSym) -> int | InitSym:
    """One initial value as raw bits of the variable's type."""
    bits = width(var.type)
    if isinstance(value, InitSym):
        if value.mask not in (0, *MASKS):
            raise ValueError(f"'{var.name}': {value.mask:#x} is no mask of a byte of an address")
        if var.type[0] not in "bsu" or (bits != 8 if value.mask else bits not in (32, 64)):
            what = "a byte of an address" if value.mask else "an address"
            raise ValueError(f"'{var.name}': {what} as initial value of type .{var.type}")
        return value
    if not bits or var.type in ("f16", "f16x2", "pred"):
        raise ValueError(f"'{var.name}': no initial value is allowed for type .{var.type}")
    is_float = value.kind[0] == "f"
    if var.type[0] == "f":
        if not is_float:
            raise ValueError(f"'{var.name}': integer as initial value of type .{var.type}")
        return constants.as_type(value, var.type).bits
    if is_float:
        if var.type[0] != "b":
            raise ValueError(f"'{var.name}': floating-point initial value of type .{var.type}")
        return constants.wrap(constants.as_type(value, "f32").bits if bits == 32 else value.bits, bits, False)
    return constants.wrap(value.bits, bits, False)
