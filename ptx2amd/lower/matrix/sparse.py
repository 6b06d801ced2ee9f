"""mma.sp: A has two elements of four in a row (one of two tf32, two pairs of four pairs of 4-bit integers), and
metadata that says which. A word of it stands for two words of a dense row, and meets the bytes of two words of B that
belong to its elements: what A leaves out is never multiplied, so B may have infinities and NaN there.

Of a quad's four lanes some hold the metadata, which the sparsity selector names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix.dot import accumulator, dot, finish
from ptx2amd.lower.matrix.matrix import position
from ptx2amd.lower.warp.lanes import read_lane, read_quad
from ptx2amd.ptx.ast import Imm, Inst

WIDE = ("f16", "bf16", "tf32")  # elements whose rows of 16 bits of metadata lie side by side in a lane


@lowers("mma_sparse")
def mma_sparse(fn: FunctionLowering, inst: Inst) -> None:
    a, b, c = (fn.vec(inst, name) for name in "abc")
    fn.put_vec(inst, "d", multiply(fn, inst, a, b, c, inst.shape.mods))


def multiply(
    fn: FunctionLowering, inst: Inst, a: list[Val], b: list[Val], c: list[Val], mods: dict[str, str]
) -> list[Val]:
    """As matrix.multiply, for 16 rows of a sparse A, with the metadata and selector of `inst`."""
    start = accumulator(fn, c, mods)

    def term(left: Val, right: Val, total: Val) -> Val:
        return dot(fn, left, right, total, mods)

    return finish(fn, added(fn, inst, a, b, start, range(2 * len(a)), term), start, mods)


def added(
    fn: FunctionLowering,
    inst: Inst,
    a: list[Val],
    b: list[Val],
    sums: list[Val],
    steps: Iterable[int],
    term: Callable[[Val, Val, Val], Val],
) -> list[Val]:
    """`sums` and the products of a part of K. steps: numbers of a quad's words of a row of A, from left to right;
    term: a word of A, what it meets, a sum -> the new sum."""
    sums = list(sums)
    column = fn.op("i32", f"shl {position(fn)[1].t}, 3")
    chosen = selector(fn, inst, len(a) // 2)
    for part, numbers in groupby(steps, lambda step: step // 4):
        places = [places_of(fn, inst, part, row, chosen) for row in range(2)]
        for k in (number % 4 for number in numbers):
            words = b[2 * part + k // 2]
            lanes = [fn.op("i32", f"or {column.t}, {4 * n + 2 * (k % 2)}") for n in range(2)]
            pairs = [
                (read_lane(fn, words, lane), read_lane(fn, words, fn.op("i32", f"or {lane.t}, 1"))) for lane in lanes
            ]
            for i in range(4):
                row, (low, high) = i // 2, pairs[i % 2]
                order = read_quad(fn, places[row], k)
                meets = fn.call("llvm.amdgcn.perm", "i32", high, low, order)
                sums[i] = term(read_quad(fn, a[2 * part + row], k), meets, sums[i])
    return sums


def selector(fn: FunctionLowering, inst: Inst, parts: int) -> int:
    """The sparsity selector: a lane of the quad, or a pair of lanes, or 0 where all have metadata."""
    operand = inst.get("n")
    assert isinstance(operand, Imm)
    holders = parts if inst.shape.mods["at"] in WIDE else 2 * parts
    if not 0 <= operand.bits < 4 // holders:
        fn.refuse(inst, f"sparsity selector {operand.bits}, where there are {4 // holders}")
    return operand.bits * holders


def places_of(fn: FunctionLowering, inst: Inst, part: int, row: int, first: int) -> Val:
    """Which bytes of two words of B the elements of the lane's word of A meet, as v_perm takes them."""
    kind, metadata, thread = inst.shape.mods["at"], fn.src(inst, "m"), position(fn)[1]
    if kind in WIDE:  # 4 bits a word: two places among four f16
        bits = fn.op("i32", f"lshr {read_quad(fn, metadata, first + part).t}, {16 * row}")
        code = fn.op("i32", f"lshr {bits.t}, {fn.op('i32', f'shl {thread.t}, 2')}")
        if kind == "tf32":
            second = fn.op("i1", f"icmp ne i32 {fn.op('i32', f'and {code.t}, 2')}, 0")
            return fn.op("i32", f"select {second.t}, i32 {0x07060504}, i32 {0x03020100}")
        places = _field(fn, code, 0, 0x0202), _field(fn, code, 2, 0x02020000)
        return fn.op("i32", f"add {fn.op('i32', f'or {places[0].t}, {places[1]}').t}, {0x01000100}")
    code = fn.op(
        "i32", f"lshr {read_quad(fn, metadata, first + 2 * part + row).t}, {fn.op('i32', f'shl {thread.t}, 3')}"
    )
    total = fn.const("i32", 0x04040000)
    for i in range(4):
        total = fn.op("i32", f"or {total.t}, {_field(fn, code, 2 * i, 1 << 8 * i)}")
    return total


def _field(fn: FunctionLowering, code: Val, at: int, factor: int) -> Val:
    """Two bits of the metadata, times `factor`."""
    bits = fn.op("i32", f"and {fn.op('i32', f'lshr {code.t}, {at}').t}, 3")
    return fn.op("i32", f"mul {bits.t}, {factor}")
