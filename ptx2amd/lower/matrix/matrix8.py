"""ldmatrix and stmatrix of 8-bit elements, and of 4 and 6 bits that become bytes: rows of 16 elements, of 16 bytes
each (the packed ones fill the first 8 or 12).

A lane gets four elements of row g (m8n16), or, transposed, of columns g and g + 8 (m16n16). It gives two rows two
elements each (stmatrix, m16n8, transposed)."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix.matrix import at, position, row_of, row_pointers
from ptx2amd.ptx.ast import Inst

BITS = {"b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}


def byte(fn: FunctionLowering, row: Val, offset: Val, count: int = 1) -> Val:
    """`count` bytes of a row, as an i32."""
    start = at(fn, row, offset)
    found = fn.const("i32", 0)
    for i in range(count):
        each = fn.op("i8", f"load i8, {fn.displace(start, i).t}, align 1")
        wide = fn.op("i32", f"zext {each.t} to i32")
        found = fn.op("i32", f"or {found.t}, {fn.op('i32', f'shl {wide.t}, {8 * i}')}")
    return found


def joined(fn: FunctionLowering, elements: list[Val]) -> Val:
    """Elements in the bytes of a word."""
    total = elements[0]
    for i, element in enumerate(elements[1:], 1):
        total = fn.op("i32", f"or {total.t}, {fn.op('i32', f'shl {element.t}, {8 * i}')}")
    return total


@lowers("ldmatrix_bytes")
def load(fn: FunctionLowering, inst: Inst) -> None:
    """m8n16: lane 8i + r has the address of row r of matrix i; elements 4c to 4c + 3 of row g."""
    bits = BITS[inst.shape.mods["t"]]
    rows = row_pointers(fn, inst)
    g, c = position(fn)
    found = []
    for i in range(int(inst.shape.mods["num"][1:])):
        row = row_of(fn, rows, fn.op("i32", f"or {g.t}, {8 * i}"))
        word = byte(fn, row, fn.op("i32", f"mul {c.t}, {bits // 2}"), bits // 2)
        elements = [fn.op("i32", f"lshr {word.t}, {bits * k}") for k in range(4)]
        found.append(joined(fn, [fn.op("i32", f"and {e.t}, {(1 << bits) - 1}") for e in elements]))
    fn.put_vec(inst, "d", found)


@lowers("ldmatrix_bytes_trans")
def load_transposed(fn: FunctionLowering, inst: Inst) -> None:
    """m16n16: lane 16i + r has the address of row r of matrix i; element g (g + 8) of rows 4c to 4c + 3."""
    bits = BITS[inst.shape.mods["t"]]
    rows = row_pointers(fn, inst)
    g, c = position(fn)
    first = fn.op("i32", f"shl {c.t}, 2")
    found = []
    for i in range(int(inst.shape.mods["num"][1:])):
        for half in range(2):
            bit = fn.op("i32", f"mul {fn.op('i32', f'or {g.t}, {8 * half}').t}, {bits}")
            offset, shift = fn.op("i32", f"lshr {bit.t}, 3"), fn.op("i32", f"and {bit.t}, 7")
            elements = []
            for k in range(4):
                row = row_of(fn, rows, fn.op("i32", f"or {first.t}, {16 * i + k}"))
                word = byte(fn, row, offset, 2 if bits == 6 else 1)
                element = fn.op("i32", f"lshr {word.t}, {shift}")
                elements.append(fn.op("i32", f"and {element.t}, {(1 << bits) - 1}"))
            found.append(joined(fn, elements))
    fn.put_vec(inst, "d", found)


@lowers("stmatrix_bytes_trans")
def store_transposed(fn: FunctionLowering, inst: Inst) -> None:
    """m16n8: lane 8i + r has the address of row r of matrix i, as it is stored; the bytes of a word go to columns g
    of rows 2c and 2c + 1, then to columns g + 8."""
    rows = row_pointers(fn, inst)
    g, c = position(fn)
    first = fn.op("i32", f"shl {c.t}, 1")
    for i, word in enumerate(fn.vec(inst, "b")):
        for k in range(4):
            row = row_of(fn, rows, fn.op("i32", f"or {first.t}, {8 * i + k % 2}"))
            place = at(fn, row, fn.op("i32", f"or {g.t}, {8 * (k // 2)}"))
            part = fn.op("i8", f"trunc {fn.op('i32', f'lshr {word.t}, {8 * k}').t} to i8")
            fn.do(f"store {part.t}, {place.t}, align 1")
