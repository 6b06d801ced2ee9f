"""Copies between a tensor in global memory and a box in shared memory (TMA), by the thread that issues them.

A box consists of rows along dimension 0. Rows follow each other in shared memory; with a swizzle each takes at
least the swizzle's span, and address bits from 7 on flip those of the atoms below. Elements outside of the tensor
are filled in by loads and left out by stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ptx2amd.interface.tensor_map import MAP_IM2COL, MAP_TILED
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.loops import Variable, each, stop, when
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import LLVM_TYPE, Val
from ptx2amd.lower.memory.bulk import own, reduce
from ptx2amd.lower.memory.tensor_map import SHIFTS, TF32, Map
from ptx2amd.lower.scalar.integer import binary, compare, select
from ptx2amd.lower.warp.mbarrier import complete
from ptx2amd.ptx.ast import Addr, Inst
from ptx2amd.ptx.layout import bits_of

CHUNK = 16  # bytes: what is copied at once, and the smallest atom of a swizzle
FILL = 0x7FF7  # each 16 bits of the special NaN, which fma.oob knows
ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32", "f64", "bf16")  # by elemtype
REDUCED = {
    "add": "u32 s32 u64 s64 f16 bf16 f32 f64",
    "min": "u32 s32 u64 s64 f16 bf16",
    "max": "u32 s32 u64 s64 f16 bf16",
    "inc": "u32",
    "dec": "u32",
    "and": "u32 s32 u64 s64",
    "or": "u32 s32 u64 s64",
    "xor": "u32 s32 u64 s64",
}


class Row(NamedTuple):
    """A row of the box: number, whether the tensor has it, and its byte offset from the tensor's start."""

    number: Val
    inside: Val
    offset: Val


class Box:
    """What an instruction copies: the map, the coordinates, and the box in shared memory."""

    def __init__(self, fn: FunctionLowering, inst: Inst, tensor: str, shared: str) -> None:
        self.fn, self.mode = fn, inst.shape.mods["mode"] or "tile"
        self.rank = int(inst.shape.mods["dim"][0])
        operand = inst.operands[inst.shape.names.index(tensor)]
        assert isinstance(operand, Addr)
        items = [part for item in operand.rest for part in fn.items(item)]
        if len(items) != (5 if "4" in self.mode else self.rank):
            fn.refuse(inst, f"{len(items)} coordinates")
        self.at = [fn.value(item, "b32") for item in items]
        self.map = Map(fn, fn.pointer(operand.base, operand.offset, ""))
        place = inst.operands[inst.shape.names.index(shared)]
        assert isinstance(place, Addr)
        self.memory = fn.address(inst, shared, "shared")
        self.address = binary(fn, "add", fn.value(place.base, "b32"), place.offset)
        offsets = fn.vec(inst, "c", "b16") if fn.has(inst, "c") else []
        self.shifts = [fn.resize(v, 32) for v in offsets] or [fn.const("i32", 0)] * 3
        self._measure()

    def _measure(self) -> None:
        fn, im2col = self.fn, self.mode.startswith("im2col")
        self.map.check(self.rank, MAP_IM2COL if im2col else MAP_TILED)
        kind = self.map("elemtype")
        twice = binary(fn, "shl", kind, 1)
        self.shift = binary(fn, "and", binary(fn, "lshr", fn.const("i32", SHIFTS), twice), 3)  # log2 of bytes
        self.tf32 = compare(fn, "uge", kind, TF32)
        self.base, self.last = self.map("global_address"), self.map("global_dim", 0)
        self.row_bytes = binary(fn, "shl", self.map("box_dim", 0), self.shift)
        swizzle, atomicity = self.map("swizzle_mode"), self.map("swizzle_atomicity")
        span = select(fn, compare(fn, "eq", swizzle, 0), 0, binary(fn, "shl", fn.const("i32", 16), swizzle))
        self.pitch = fn.call("llvm.umax.i32", "i32", self.row_bytes, span)
        self.atom = fn.call("llvm.umin.i32", "i32", binary(fn, "add", atomicity, 4), fn.const("i32", 6))
        self.atom = select(fn, compare(fn, "eq", atomicity, 2), 5, self.atom)  # log2 of an atom's bytes
        groups = binary(fn, "lshr", span, self.atom)
        self.groups = fn.call("llvm.usub.sat.i32", "i32", groups, fn.const("i32", 1))
        self.flips = compare(fn, "eq", atomicity, 2)
        self.counts: list[Val] = []  # rows of the box along dimensions 1, 2, ...
        if im2col:
            self.rows = self.map("box_dim", 1)
            strides = [self.map("element_stride", i) for i in range(1, self.rank - 1)]
            limits = [self.map("global_dim", i) for i in range(1, self.rank)]
            lower = [self.map("lower", i, True) for i in range(self.rank - 2)]
            upper = [self.map("upper", i, True) for i in range(self.rank - 2)]
            ends = [binary(fn, "add", limit, more) for limit, more in zip(limits, upper, strict=False)]
            self.walk = list(zip(strides, lower, ends, self.shifts, strict=False))
        elif self.rank > 1 and "4" not in self.mode:
            self.counts = [self._count(i) for i in range(1, self.rank)]
            self.rows = self.counts[0]
            for count in self.counts[1:]:
                self.rows = binary(fn, "mul", self.rows, count)
            for i in range(1, self.rank):
                self.map("element_stride", i), self.map("global_dim", i)
        else:
            self.rows = fn.const("i32", 4 if "4" in self.mode else 1)
        for i in range(1, self.rank):
            self.map("global_dim", i), self.map("global_stride", i - 1)
        self.size = binary(fn, "mul", self.rows, self.row_bytes)

    def _count(self, i: int) -> Val:
        """Elements taken along dimension i: the box's extent over the stride, rounded up."""
        fn, stride = self.fn, self.map("element_stride", i)
        most = binary(fn, "add", self.map("box_dim", i), binary(fn, "sub", stride, 1))
        return fn.op("i32", f"udiv {most.t}, {fn.call('llvm.umax.i32', 'i32', stride, fn.const('i32', 1))}")

    def _inside(self, dim: int, c: Val) -> Val:
        fn = self.fn
        below = compare(fn, "ule", c, self.map("global_dim", dim))
        return fn.op("i1", f"and {below.t}, {compare(fn, 'sge', c, 0)}")

    def _place(self, number: Val, coordinates: list[Val]) -> Row:
        """The row at coordinates of dimensions 1, 2, ..."""
        fn, inside, offset = self.fn, self.fn.const("i1", 1), self.fn.const("i64", 0)
        for dim, c in enumerate(coordinates, 1):
            inside = fn.op("i1", f"and {inside.t}, {self._inside(dim, c)}")
            step = binary(fn, "mul", fn.resize(c, 64, True), self.map("global_stride", dim - 1))
            offset = binary(fn, "add", offset, step)
        return Row(number, inside, offset)

    @contextmanager
    def each_row(self) -> Iterator[Row]:
        """The box's rows, in the order in which they lie in shared memory."""
        if self.mode.startswith("im2col"):
            with self._pixels() as row:
                yield row
            return
        fn = self.fn
        with each(fn, self.rows) as number:
            if "4" in self.mode:
                c = self.at[4]
                for which in (2, 1, 0):
                    c = select(fn, compare(fn, "eq", number, which), self.at[which + 1], c)
                yield self._place(number, [c])
            else:
                rest, coordinates = number, []
                for dim, count in enumerate(self.counts, 1):
                    k = fn.op("i32", f"urem {rest.t}, {count}") if dim < self.rank - 1 else rest
                    rest = fn.op("i32", f"udiv {rest.t}, {count}")
                    step = binary(fn, "mul", k, self.map("element_stride", dim))
                    coordinates.append(binary(fn, "add", self.at[dim], step))
                yield self._place(number, coordinates)

    @contextmanager
    def _pixels(self) -> Iterator[Row]:
        """The pixels of a column: from the start along W, H, D within the bounding box, then to the next image."""
        fn = self.fn
        position = [Variable(fn, c) for c in self.at[1:]]
        with each(fn, self.rows) as number:
            now = [variable.get() for variable in position]
            moved = [binary(fn, "add", c, shift) for c, (_, _, _, shift) in zip(now, self.walk, strict=False)]
            yield self._place(number, [*moved, now[-1]])
            carry = fn.const("i1", 1)
            for variable, c, (stride, lower, end, _) in zip(position, now, self.walk, strict=False):
                following = select(fn, carry, binary(fn, "add", c, stride), c)
                carry = fn.op("i1", f"and {carry.t}, {compare(fn, 'sgt', following, end)}")
                variable.set(select(fn, carry, lower, following))
            position[-1].set(binary(fn, "add", now[-1], fn.resize(carry, 32)))

    def swizzled(self, offset: Val) -> Val:
        """The pointer to the byte of shared memory at `offset` of the box."""
        fn = self.fn
        plain = binary(fn, "add", self.address, offset)
        flip = binary(fn, "shl", binary(fn, "and", binary(fn, "lshr", plain, 7), self.groups), self.atom)
        halves = binary(fn, "and", binary(fn, "lshr", plain, 4), 8)
        flip = binary(fn, "xor", flip, select(fn, self.flips, halves, fn.const("i32", 0)))
        moved = binary(fn, "sub", binary(fn, "xor", plain, flip), self.address)
        return fn.op(self.memory.ty, f"getelementptr i8, {self.memory.t}, i32 {moved}")

    def element(self, byte: Val) -> tuple[Val, Val]:
        """Of the element that byte `byte` of a row belongs to: whether the tensor has it, and its coordinate."""
        fn = self.fn
        c = binary(fn, "add", self.at[0], binary(fn, "lshr", byte, self.shift))
        return self._inside(0, c), c

    def far(self, row: Row, byte: Val) -> Val:
        """The address (i64) of byte `byte` of a row in the tensor."""
        fn = self.fn
        start = binary(fn, "shl", fn.resize(self.at[0], 64, True), fn.resize(self.shift, 64))
        offset = binary(fn, "add", binary(fn, "add", row.offset, start), fn.resize(byte, 64))
        return binary(fn, "add", self.base, offset)

    def copy(self, whole: Callable[[Val, Val], None], part: Callable[[Val, Val, Val], None]) -> None:
        """Go over the box: whole(far, near) copies 16 bytes at pointers to both memories, part(inside, far, near)
        one byte at the edge of the tensor, or where the tensor is not aligned."""
        fn = self.fn
        with self.each_row() as row:
            first = binary(fn, "mul", row.number, self.pitch)
            with each(fn, self.row_bytes, CHUNK) as x:
                near, far = binary(fn, "add", first, x), self.far(row, x)
                inside = row.inside
                for byte in (x, binary(fn, "add", x, CHUNK - 1)):
                    inside = fn.op("i1", f"and {inside.t}, {self.element(byte)[0]}")
                aligned = compare(fn, "eq", binary(fn, "and", far, CHUNK - 1), 0)
                fast = fn.op("i1", f"and {inside.t}, {aligned}")
                with when(fn, fast):
                    whole(fn.cast(far, "ptr addrspace(1)"), near)
                with when(fn, fn.op("i1", f"xor {fast.t}, true")), each(fn, fn.const("i32", CHUNK)) as b:
                    has = fn.op("i1", f"and {row.inside.t}, {self.element(binary(fn, 'add', x, b))[0]}")
                    at = binary(fn, "add", far, fn.resize(b, 64))
                    part(has, fn.cast(at, "ptr addrspace(1)"), binary(fn, "add", near, b))

    def wide(self, near: Val) -> tuple[Val, Val]:
        """The pointers to the two halves of 16 bytes at `near` of the box."""
        return self.swizzled(near), self.swizzled(binary(self.fn, "add", near, 8))


def tf32(fn: FunctionLowering, v: Val) -> Val:
    """The bits of an f32 rounded to tf32, to nearest even; every NaN as one."""
    odd = binary(fn, "and", binary(fn, "lshr", v, 13), 1)
    rounded = binary(fn, "and", binary(fn, "add", binary(fn, "add", v, 0xFFF), odd), 0xFFFFE000)
    magnitude = binary(fn, "and", v, 0x7FFFFFFF)
    finite = compare(fn, "ult", magnitude, 0x7F800000)
    nan = compare(fn, "ugt", magnitude, 0x7F800000)
    return select(fn, nan, 0x7FFFE000, select(fn, finite, rounded, v))


@lowers("tensor_load")
def tensor_load(fn: FunctionLowering, inst: Inst) -> None:
    barrier = fn.address(inst, "m", "shared")
    mask = fn.src(inst, "g") if inst.shape.mods.get("multicast") else fn.const("i16", 1)
    box = Box(fn, inst, "b", "a")
    special = compare(fn, "ne", box.map("fill_mode"), 0)
    low, high = (select(fn, special, byte, fn.const("i32", 0)) for byte in (FILL & 0xFF, FILL >> 8))

    def whole(far: Val, near: Val) -> None:
        parts = [fn.op("i32", f"load i32, {fn.displace(far, 4 * k).t}, align {16 if k == 0 else 4}") for k in range(4)]
        parts = [select(fn, box.tf32, tf32(fn, v), v) for v in parts]
        for k, pointer in enumerate(box.wide(near)):
            half = fn.cast(fn.pack(parts[2 * k : 2 * k + 2], "i64"), "i64")
            fn.do(f"store {half.t}, {pointer.t}, align 8")

    def part(has: Val, far: Val, near: Val) -> None:
        pointer = box.swizzled(near)
        fill = select(fn, compare(fn, "eq", binary(fn, "and", near, 1), 0), low, high)
        byte = Variable(fn, fill)
        with when(fn, has):
            byte.set(fn.resize(fn.op("i8", f"load i8, {far.t}"), 32))
        fn.do(f"store {fn.resize(byte.get(), 8).t}, {pointer.t}")
        quad = compare(fn, "eq", binary(fn, "and", near, 3), 3)  # the last byte of an element
        rounds = fn.op("i1", f"and {fn.op('i1', f'and {quad.t}, {has}').t}, {box.tf32}")
        with when(fn, rounds):
            element = box.swizzled(binary(fn, "and", near, -4))
            fn.do(f"store {tf32(fn, fn.op('i32', f'load i32, {element.t}')).t}, {element.t}")

    with when(fn, own(fn, mask)):
        box.copy(whole, part)
        complete(fn, barrier, box.size)


@lowers("tensor_store")
def tensor_store(fn: FunctionLowering, inst: Inst) -> None:
    box = Box(fn, inst, "a", "b")

    def whole(far: Val, near: Val) -> None:
        halves = [fn.op("i64", f"load i64, {pointer.t}, align 8") for pointer in box.wide(near)]
        fn.do(f"store {fn.pack(halves, '<2 x i64>').t}, {far.t}, align 16")

    def part(has: Val, far: Val, near: Val) -> None:
        with when(fn, has):
            fn.do(f"store {fn.op('i8', f'load i8, {box.swizzled(near).t}').t}, {far.t}")

    box.copy(whole, part)


@lowers("tensor_reduce")
def tensor_reduce(fn: FunctionLowering, inst: Inst) -> None:
    """Element by element, each operation atomic, as the map's type says; a type without the operation traps."""
    op = inst.shape.mods["op"]
    box = Box(fn, inst, "a", "b")
    kinds = {n: t for n, t in enumerate(ELEMENTS) if t in REDUCED[op].split()}
    kind = box.map("elemtype")
    with box.each_row() as row:
        first = binary(fn, "mul", row.number, box.pitch)
        with when(fn, row.inside):
            count = binary(fn, "lshr", box.row_bytes, box.shift)
            with each(fn, count) as k:
                x = binary(fn, "shl", k, box.shift)
                near, far = box.swizzled(binary(fn, "add", first, x)), box.far(row, x)
                with when(fn, box.element(x)[0]):
                    far = fn.cast(far, "ptr addrspace(1)")
                    done, other = fn.block("reduced"), fn.block("other")
                    blocks = {n: fn.block(t) for n, t in kinds.items()}
                    cases = " ".join(f"i32 {n}, label %{block}" for n, block in blocks.items())
                    fn.do(f"switch {kind.t}, label %{other} [ {cases} ]")
                    for n, block in blocks.items():
                        t = kinds[n]
                        ty = LLVM_TYPE[t][0]
                        fn.label(block)
                        value = fn.op(ty, f"load {ty}, {near.t}, align {bits_of(t) // 8}")
                        reduce(fn, op, t, far, value, "gpu")
                        fn.branch(done)
                    fn.label(other)
                    stop(fn)
                    fn.label(done)
