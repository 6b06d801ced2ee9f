"""mma.m8n8k4 of f16: four products at once, each by the eight lanes of a pair of quads (q and q + 16).

With j = lane % 4 (+ 4 in the upper quad), a lane holds row j of A and column j of B (or, of matrices stored the
other way, the elements j % 4 of which make that row or column are spread over its quad). Its accumulators are
row j (f16), or two columns of two rows in two places (f32)."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix.dot import accumulator, dot, finish
from ptx2amd.lower.warp.lanes import quad_permute, read_lane, read_quad
from ptx2amd.ptx.ast import Inst


@lowers("mma_quadpair")
def mma_quadpair(fn: FunctionLowering, inst: Inst) -> None:
    mods = {"at": "f16", "bt": "f16", **inst.shape.mods}
    a, b = fn.vec(inst, "a"), fn.vec(inst, "b")
    if mods["alayout"] == "col":
        a = gathered(fn, a)
    if mods["blayout"] == "row":
        b = gathered(fn, b)
    start = accumulator(fn, fn.vec(inst, "c"), mods)
    if mods["dt"] != mods["ct"]:
        start = two_columns(fn, start)
    wide = mods["dt"] == "f32"
    rows = {0: a, 2: a}
    if wide:  # rows lane % 2 and lane % 2 + 2
        rows = {i: [quad_permute(fn, word, (i, i + 1, i, i + 1)) for word in a] for i in (0, 2)}
    columns: dict[int, list[Val]] = {}
    sums = []
    for i, total in enumerate(start):
        column = i & 5 if wide else i
        if column not in columns:
            columns[column] = column_words(fn, b, column, wide)
        for x, y in zip(rows[i & 2], columns[column], strict=True):
            total = dot(fn, x, y, total, mods)
        sums.append(total)
    fn.put_vec(inst, "d", finish(fn, sums, start, mods))


def two_columns(fn: FunctionLowering, row: list[Val]) -> list[Val]:
    """Accumulators that are a row, as the two columns of two rows in two places that f32 results are."""
    lane = fn.special("%laneid")
    second = fn.op("i1", f"icmp ne i32 {fn.op('i32', f'and {lane.t}, 2')}, 0")
    found = []
    for i in range(8):
        holders = (i & 2, (i & 2) + 1) * 2
        near, far = (quad_permute(fn, row[(i & 5) + more], holders) for more in (0, 2))
        found.append(fn.op("float", f"select {second.t}, {far.t}, {near.t}"))
    return found


def column_words(fn: FunctionLowering, b: list[Val], column: int, wide: bool) -> list[Val]:
    """The words of a column of B, which is `column`, or (wide) that plus the second bit of the lane."""
    lane = fn.special("%laneid")
    base = fn.op("i32", f"and {lane.t}, {14 if wide else 12}")
    holder = fn.op("i32", f"or {base.t}, {column & 3 | (column & 4) << 2}")
    return [read_lane(fn, word, holder) for word in b]


def gathered(fn: FunctionLowering, words: list[Val]) -> list[Val]:
    """Element lane % 4 of each lane of the quad, in order: a 4 x 4 transposition."""
    lane = fn.special("%laneid")
    second = fn.op("i1", f"icmp ne i32 {fn.op('i32', f'and {lane.t}, 2')}, 0")
    shift = fn.op("i32", f"shl {fn.op('i32', f'and {lane.t}, 1').t}, 4")
    halves = []
    for k in range(4):
        low, high = (read_quad(fn, word, k) for word in words)
        word = fn.op("i32", f"select {second.t}, {high.t}, {low.t}")
        halves.append(fn.op("i16", f"trunc {fn.op('i32', f'lshr {word.t}, {shift}').t} to i16"))
    return [fn.pack(halves[i : i + 2], "i32") for i in (0, 2)]
