"""wmma: products of whole matrices. Their fragments are opaque in PTX, so that they have the layout of the chip's
matrix instructions where those do the product (quads.py, wmma_rows.py); else that of mma, tile by tile. Accumulators
of a shape have one layout, whatever their type."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix import fragment, quads, wmma_rows
from ptx2amd.lower.matrix.dot import accumulator, finish
from ptx2amd.lower.matrix.fragment import Layout, bits_of, sizes
from ptx2amd.lower.matrix.matrix import multiply
from ptx2amd.ptx.ast import Inst


def native(fn: FunctionLowering, shape: str) -> quads.Quads | wmma_rows.Rows | None:
    """How a shape lies on the chip's instructions, where they do its products."""
    target = fn.target
    if target.matrix == "software":
        return None
    return quads.native(target.arch, shape) if target.wave_size == 64 else wmma_rows.native(target.arch, shape)


def layout(fn: FunctionLowering, inst: Inst) -> Layout:
    """Of the fragment that an instruction loads or stores."""
    mods = inst.shape.mods
    part = "c" if mods["part"] == "d" else mods["part"]
    found = native(fn, mods["shape"])
    return found.layout(part, mods["t"]) if found else fragment.default(part, mods["shape"], mods["t"])


@lowers("wmma_load")
def load(fn: FunctionLowering, inst: Inst) -> None:
    fragment.load(fn, inst, layout(fn, inst))


@lowers("wmma_store")
def store(fn: FunctionLowering, inst: Inst) -> None:
    fragment.store(fn, inst, layout(fn, inst))


@lowers("wmma")
def wmma(fn: FunctionLowering, inst: Inst) -> None:
    mods = {"at": "f16", "bt": "f16", **inst.shape.mods}
    a, b, c = (fn.vec(inst, name) for name in "abc")
    found = native(fn, mods["shape"])
    if found is None:
        fn.put_vec(inst, "d", by_tiles(fn, mods, a, b, c))
        return
    start = accumulator(fn, c, mods)
    if isinstance(found, quads.Quads):
        sums = found.multiply(fn, mods, a, b, start, whole=fn.target.paired and not fn.block_uniform(inst))
    else:
        sums = found.multiply(fn, mods, a, b, start)
    fn.put_vec(inst, "d", finish(fn, sums, start, mods))


def by_tiles(fn: FunctionLowering, mods: dict[str, str], a: list[Val], b: list[Val], c: list[Val]) -> list[Val]:
    """The product as mma's."""
    m, n, k = sizes(mods["shape"])
    deep = k * bits_of(mods["at"]) // 128 or 1  # registers of a row of A, or of a column of B
    if mods["at"] == "f64":
        deep = 1
    tall = min(m, 16) // 8
    each = 2 * tall // (2 if mods["ct"] == "f16" else 1)  # registers of a tile's accumulators
    found: list[Val] = []
    for row in range(m // (8 * tall)):
        for column in range(n // 8):
            tile = row * (n // 8) + column
            rows = a[row * tall * deep : (row + 1) * tall * deep]
            columns = b[column * deep : (column + 1) * deep]
            found += multiply(fn, rows, columns, c[tile * each : (tile + 1) * each], tall, mods)
    return found
