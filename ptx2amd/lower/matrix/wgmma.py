"""wgmma: each warp of a warp group computes its own 16 rows, as tiles of 8 columns, when the instruction is issued.

A word of a fragment is read from shared memory where the descriptor says that it lies (manual: "Shared Memory Matrix
Layout"). Descriptor: bits 0-13 address, 16-29 leading and 32-45 stride dimension offset, all in units of 16 bytes;
49-51 base offset; 62-63 swizzle: none, 128, 64, 32 bytes. Swizzling exchanges 16-byte chunks within rows of that many
bytes, by the number of the 128 bytes in which they are."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.matrix import sparse
from ptx2amd.lower.matrix.matrix import multiply, position
from ptx2amd.lower.memory import window
from ptx2amd.lower.warp import named
from ptx2amd.ptx.ast import Imm, Inst

SIGNS = {"f16": 0x80008000, "bf16": 0x80008000, "tf32": 0x80000000, "e4m3": 0x80808080, "e5m2": 0x80808080}


class Shared:
    """A matrix in shared memory: its descriptor (i64) taken apart. `lines` are rows of A or columns of B, `words`
    the 4-byte steps along K; across: whether lines, not K, run along memory."""

    def __init__(self, fn: FunctionLowering, descriptor: Val, across: bool) -> None:
        self.fn, self.across = fn, across
        self.start = self._field(descriptor, 0, 14, 4)
        leading, stride = self._field(descriptor, 16, 14, 4), self._field(descriptor, 32, 14, 4)
        mode = self._field(descriptor, 62, 2, 0)
        self.plain = fn.op("i1", f"icmp eq i32 {mode}, 0")
        width = fn.op("i32", f"sub i32 8, {mode}")
        self.width = self._pick(fn.const("i32", 4), width)  # log2 of the bytes of a row that is swizzled
        chunks = fn.op("i32", f"lshr i32 16, {mode}")
        mask = fn.op("i32", f"sub {chunks.t}, 1")
        self.mask = self._pick(fn.const("i32", 0), mask)
        self.base = self._field(descriptor, 49, 3, 0)
        if across:
            self.lines, self.deep = self._pick(stride, leading), self._pick(leading, stride)
        else:
            self.lines, self.deep = stride, self._pick(leading, fn.const("i32", 16))

    def _field(self, descriptor: Val, at: int, bits: int, scale: int) -> Val:
        fn = self.fn
        v = fn.op("i32", f"trunc {fn.op('i64', f'lshr {descriptor.t}, {at}').t} to i32")
        v = fn.op("i32", f"and {v.t}, {(1 << bits) - 1}")
        return fn.op("i32", f"shl {v.t}, {scale}") if scale else v

    def _pick(self, plain: Val, swizzled: Val) -> Val:
        return self.fn.op("i32", f"select {self.plain.t}, {plain.t}, {swizzled.t}")

    def _sum(self, *parts: Val) -> Val:
        total = parts[0]
        for part in parts[1:]:
            total = self.fn.op("i32", f"add {total.t}, {part}")
        return total

    def word(self, block: Val, part: int) -> Val:
        """The lane's word of a fragment: line 8 `block` + g, words 4 `part` + c of K."""
        fn = self.fn
        g, c = position(fn)
        if not self.across:
            row = fn.op("i32", f"shl {g.t}, {self.width}")
            far = fn.op("i32", f"mul {block.t}, {self.lines}")
            deep = fn.op("i32", f"mul {self.deep.t}, {part}")
            place = self._sum(self.start, row, far, deep, fn.op("i32", f"shl {c.t}, 2"))
            return self.load("i32", place)
        line = fn.op("i32", f"or disjoint {fn.op('i32', f'shl {block.t}, 3').t}, {g}")
        bytes_ = fn.op("i32", f"shl {line.t}, 1")
        row = fn.op("i32", f"lshr {bytes_.t}, {self.width}")
        inside = fn.op("i32", f"sub {bytes_.t}, {fn.op('i32', f'shl {row.t}, {self.width}')}")
        far = fn.op("i32", f"mul {row.t}, {self.lines}")
        deep = fn.op("i32", f"mul {self.deep.t}, {part}")
        halves = []
        for k in range(2):
            line = fn.op("i32", f"or {fn.op('i32', f'shl {c.t}, 1').t}, {k}")
            line = fn.op("i32", f"shl {line.t}, {self.width}")
            halves.append(self.load("i16", self._sum(self.start, inside, far, deep, line)))
        return fn.pack(halves, "i32")

    def load(self, ty: str, place: Val) -> Val:
        fn = self.fn
        number = fn.op("i32", f"sub {fn.op('i32', f'lshr {place.t}, 7').t}, {self.base}")
        moved = fn.op("i32", f"shl {fn.op('i32', f'and {number.t}, {self.mask}').t}, 4")
        place = fn.op("i32", f"xor {place.t}, {moved}")
        if fn.slot is not None:
            pointer = window.flat(fn, place)
        else:
            pointer = fn.op("ptr addrspace(3)", f"inttoptr {place.t} to ptr addrspace(3)")
        return fn.op(ty, f"load {ty}, {pointer.t}, align {2 if ty == 'i16' else 4}")


@lowers("wgmma_order")
def order(fn: FunctionLowering, inst: Inst) -> None:
    """A warp group computes together: a warp must not read shared memory before the others have written it, nor
    go on to write it before the others have read it. Else all is done when it is issued."""
    if inst.shape.mods.get("op") != "commit_group":
        named.meet_group(fn)


@lowers("wgmma")
def wgmma(fn: FunctionLowering, inst: Inst) -> None:
    mods = {"op": "", **inst.shape.mods, "ct": inst.shape.mods["dt"]}
    parts = 4 if mods.get("sparse") else 2
    a = rows_of(fn, inst)
    b = Shared(fn, fn.src(inst, "b"), flag(inst, "w"))
    if flag(inst, "x", -1):
        a = negated(fn, a, mods["at"])
    keep = fn.src(inst, "c")
    old = fn.vec(inst, "u")
    zero = Val(old[0].ty, "zeroinitializer")
    start = [fn.op(v.ty, f"select {keep.t}, {v.t}, {zero.t}") for v in old]
    each = 2 if mods["dt"] == "f16" else 4
    results: list[Val] = []
    for tile in range(len(start) // each):
        words = [b.word(fn.const("i32", tile), part) for part in range(parts)]
        if flag(inst, "y", -1):
            words = negated(fn, words, mods["bt"])
        c = start[each * tile : each * (tile + 1)]
        if parts == 4:
            results += sparse.multiply(fn, inst, a, words, c, mods)
        else:
            results += multiply(fn, a, words, c, 2, mods)
    fn.put_vec(inst, "u", results)


def rows_of(fn: FunctionLowering, inst: Inst) -> list[Val]:
    """The warp's fragment of A, from registers or shared memory."""
    a = fn.vec(inst, "a")
    if len(a) > 1:
        return a
    matrix = Shared(fn, a[0], flag(inst, "z"))
    warp = fn.op("i32", f"and {fn.special('%warpid').t}, 3")
    blocks = [fn.op("i32", f"or {fn.op('i32', f'shl {warp.t}, 1').t}, {half}") for half in range(2)]
    return [matrix.word(block, part) for part in range(2) for block in blocks]


def flag(inst: Inst, name: str, value: int = 1) -> bool:
    """Whether the constant `name` is there and has a value."""
    if name not in inst.shape.names:
        return False
    operand = inst.get(name)
    assert isinstance(operand, Imm)
    return operand.bits & 0xFFFFFFFF == value & 0xFFFFFFFF


def negated(fn: FunctionLowering, words: list[Val], kind: str) -> list[Val]:
    return [fn.op("i32", f"xor {word.t}, {SIGNS[kind]}") for word in words]
