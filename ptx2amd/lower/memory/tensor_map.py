"""Tensor maps: 128 bytes that describe a tensor in global memory and the box that one copy takes from it. CUDA's
are opaque; these are ours, as the loader's cuTensorMapEncode functions write them (interface/tensor_map.py)."""

from __future__ import annotations

from ptx2amd.interface.tensor_map import MAP, MAP_TAG
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.loops import each, trap_unless
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory.memory import space_of
from ptx2amd.lower.memory.order import fence
from ptx2amd.ptx.ast import Imm, Inst

F32_TYPES, TF32, LAST_TYPE = (7, 8), 11, 12  # of elemtype: what is copied as it is ends with 12
# log2 of an element's bytes, 2 bits for each elemtype
SHIFTS = sum(n << 2 * i for i, n in enumerate((0, 1, 2, 2, 3, 3, 1, 2, 2, 3, 1, 2, 2)))


class Map:
    """A tensor map in an instruction; fields are loaded where they are asked for first."""

    def __init__(self, fn: FunctionLowering, pointer: Val) -> None:
        self.fn, self.pointer = fn, pointer
        self.loaded: dict[tuple[str, int], Val] = {}

    def __call__(self, name: str, index: int = 0, signed: bool = False) -> Val:
        """A field, or an element of one, as an i32 (addresses and strides as i64)."""
        if (name, index) not in self.loaded:
            ty = MAP[name].llvm
            at = self.fn.displace(self.pointer, MAP[name].offset + MAP[name].step * index)
            v = self.fn.op(ty, f"load {ty}, {at.t}")
            self.loaded[name, index] = v if ty == "i64" else self.fn.resize(v, 32, signed)
        return self.loaded[name, index]

    def check(self, rank: int, mode: int) -> None:
        """End the launch unless this is a valid map of that rank and mode."""
        fn, good = self.fn, self.fn.const("i1", 1)
        wanted = {"tag": MAP_TAG, "rank": rank - 1, "mode": mode, "interleave_layout": 0}
        for name, want in wanted.items():
            v = self(name)
            good = fn.op("i1", f"and {good.t}, {fn.op('i1', f'icmp eq {v.t}, {want}')}")
        plain = fn.op("i1", f"icmp ule {self('elemtype').t}, {LAST_TYPE}")
        trap_unless(fn, fn.op("i1", f"and {good.t}, {plain}"))


@lowers("tensormap_replace")
def replace(fn: FunctionLowering, inst: Inst) -> None:
    """Write a field. Before PTX 8.5 strides are in units of 16 bytes. A map that is built from zeros becomes valid
    when it is given a rank."""
    field = inst.shape.mods["field"]
    offset, ty, step = MAP[field].offset, MAP[field].llvm, MAP[field].step
    index = inst.get("n")
    if index is not None:
        assert isinstance(index, Imm)
        offset += step * index.bits
        if index.bits >= {"global_stride": 4}.get(field, 5):
            fn.refuse(inst, f"no dimension {index.bits}")
    at = fn.displace(fn.address(inst, "a", space_of(inst)), offset)
    operand = inst.get("b")
    v = fn.const("i32", operand.bits) if isinstance(operand, Imm) and ty != "i64" else fn.src(inst, "b")
    if field == "global_dim":
        v = fn.op("i32", f"sub {v.t}, 1")
    elif field == "global_stride" and fn.module.module.version < (8, 5):
        v = fn.op("i64", f"shl {v.t}, 4")
    fn.do(f"store {fn.resize(v, int(ty[1:])).t}, {at.t}")
    if field == "rank":
        tag = fn.displace(at, MAP["tag"].offset - offset)
        fn.do(f"store i32 {MAP_TAG}, {tag.t}, align 4")


@lowers("tensormap_publish")
def publish(fn: FunctionLowering, inst: Inst) -> None:
    """Copy a map to global memory and release it; the whole warp executes this, and each thread writes the same."""
    size = inst.get("n")
    if not isinstance(size, Imm) or size.bits != MAP.size:
        fn.refuse(inst, f"the size of a tensor map is {MAP.size}")
    to, source = fn.address(inst, "a", "global"), fn.address(inst, "b", "shared")
    with each(fn, fn.const("i32", MAP.size), 8) as i:
        here, there = (fn.op(p.ty, f"getelementptr i8, {p.t}, i32 {i}") for p in (source, to))
        fn.do(f"store {fn.op('i64', f'load i64, {here.t}').t}, {there.t}")
    fence(fn, "release", inst.shape.mods["scope"])
