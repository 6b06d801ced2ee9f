"""Matrix products by the chip's instructions, or None where software has to do them."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val, width
from ptx2amd.lower.matrix import mfma, wave32
from ptx2amd.lower.matrix.dot import accumulator, finish
from ptx2amd.lower.matrix.matrix_unit import Mods, Unit
from ptx2amd.lower.matrix.tile import Tile

KEPT = 64  # registers for sums that stay where the instruction left them


def unit(fn: FunctionLowering, mods: Mods, tall: int) -> Unit | None:
    """What computes products of these types on the chip."""
    if fn.target.matrix == "software" or mods.get("rnd", "rn") not in ("", "rn"):
        return None
    if fn.target.wave_size == 64:
        found = mfma.instruction(fn.target, mods)
        return mfma.Mfma(fn, mods, tall, found) if found else None
    found = wave32.instruction(fn.target, mods)
    return wave32.Wmma(fn, mods, tall, found) if found else None


def multiply(fn: FunctionLowering, a: list[Val], b: list[Val], c: list[Val], tall: int, mods: Mods) -> list[Val] | None:
    """A B + C, of fragments as matrix.multiply takes them. A product that adds to the result of another one in the
    same block goes on with its sums where the instruction left them; f32 are added in the order of the program."""
    chip = unit(fn, mods, tall)
    if chip is None:
        return None
    known = fn.tiles.get(tuple(v.ref for v in c))
    before = known[1] if known is not None and known[0] == fn.blocks else None
    start = accumulator(fn, c, mods)
    if mods["at"] == "f64":  # every sum is one FMA
        tile = Tile(chip.product(a, b, before.sums if before else chip.into(c)), [])
        results = chip.out(tile.sums)
    elif mods["dt"] == "s32":
        tile = Tile(chip.product(a, b, before.sums if before else None), before.start if before else start)
        results = _added(fn, tile.start, chip.out(tile.sums), "add")
    elif before:
        sums = before.sums
        if before.start:
            sums = _added(fn, sums, chip.into(before.start), "fadd")
        tile = Tile(chip.product(a, b, sums), [])
        results = chip.out(tile.sums)
    else:
        tile = Tile(chip.product(a, b, None), start)
        results = _added(fn, start, chip.out(tile.sums), "fadd")
    if fn.target.wave_size == 64:  # LLVM cannot spill registers of the whole wave: few products at a time
        fn.do("call void @llvm.amdgcn.sched.barrier(i32 0)")
    if mods.get("sat") or mods["dt"] == "f16":
        return finish(fn, results, start, mods)
    keep(fn, results, tile)
    return results


def keep(fn: FunctionLowering, results: list[Val], tile: Tile) -> None:
    """Remember the sums behind results, and forget the oldest."""
    fn.tiles[tuple(v.ref for v in results)] = fn.blocks, tile
    size = sum(width(v.ty) for v in tile.sums) // 32
    while len(fn.tiles) * size > KEPT:
        del fn.tiles[next(iter(fn.tiles))]


def _added(fn: FunctionLowering, left: list[Val], right: list[Val], how: str) -> list[Val]:
    return [fn.op(x.ty, f"{how} {x.t}, {y}") for x, y in zip(left, right, strict=True)]
