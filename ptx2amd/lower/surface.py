"""Surfaces: unformatted loads, stores and reductions. The x coordinate of .b forms counts bytes."""

from __future__ import annotations

from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.image import FIELDS, Image, clamped
from ptx2amd.lower.integer import binary, compare
from ptx2amd.lower.registry import lowers
from ptx2amd.lower.texture import DIMENSIONS, SIZES, coordinates, handle, layer_of
from ptx2amd.lower.value import bits_of
from ptx2amd.ptx.ast import Inst


def place(fn: FunctionLowering, inst: Inst, size: int) -> tuple[Val, Val]:
    """The address of `size` bytes in a surface, clamped into it, and whether the coordinates were inside."""
    mods = inst.shape.mods
    geometry, layered = mods["geom"].removeprefix("a"), mods["geom"][0] == "a"
    dims = DIMENSIONS[geometry]
    image = Image(fn, handle(fn, inst))
    layer, points = coordinates(fn, inst, dims, layered, "s32")
    image.preload(*FIELDS)
    if mods.get("mode") == "p":
        points[0] = binary(fn, "mul", points[0], image["texel"])
    inside = fn.const("i1", 1)
    last = [binary(fn, "sub", binary(fn, "mul", image["width"], image["texel"]), size)]
    last += [binary(fn, "sub", image[name], 1) for name in SIZES[1:dims]]
    for axis, limit in enumerate(last):
        # as unsigned numbers negative coordinates are too large; a row shorter than the access has no inside
        fits = compare(fn, "ule", points[axis], limit)
        fits = fn.op("i1", f"and {fits.t}, {compare(fn, 'sge', limit, 0)}")
        inside = fn.op("i1", f"and {inside.t}, {fits}")
        points[axis] = clamped(fn, points[axis], 0, limit)
    slice_ = layer_of(image, layer) if layered else points[2] if dims == 3 else None
    if layer is not None:
        inside = fn.op("i1", f"and {inside.t}, {compare(fn, 'ult', layer, image['layers'])}")
    address = image.address(points[0], points[1] if dims > 1 else None, slice_)
    return fn.op("ptr addrspace(1)", f"inttoptr {address.t} to ptr addrspace(1)"), inside


def guard(fn: FunctionLowering, inst: Inst, inside: Val) -> Val:
    """What to do outside: trap, nothing, or the access at the nearest place. Returns whether to access."""
    mode = inst.shape.mods["clamp"]
    if mode == "clamp":
        return fn.const("i1", 1)
    if mode == "trap":
        bad, good = fn.block("outside"), fn.block("inside")
        fn.branch(inside, good, bad)
        fn.label(bad)
        fn.trap()
        fn.branch(good)
        fn.label(good)
    return inside


def elements(fn: FunctionLowering, inst: Inst) -> tuple[str, int]:
    """The LLVM type of one element, and how many there are."""
    return f"i{bits_of(inst.shape.mods['t'])}", {"": 1, "v2": 2, "v4": 4}[inst.shape.mods.get("vec", "")]


@lowers("suld")
def suld(fn: FunctionLowering, inst: Inst) -> None:
    """Elements of a row; zero outside."""
    ty, count = elements(fn, inst)
    size = int(ty[1:]) // 8
    pointer, inside = place(fn, inst, size * count)
    inside = guard(fn, inst, inside)
    load, here, join = fn.block("load"), fn.block("from"), fn.block("loaded")
    fn.label(here)
    fn.branch(inside, load, join)
    fn.label(load)
    loaded = [fn.op(ty, f"load {ty}, {fn.displace(pointer, k * size).t}, align {size}") for k in range(count)]
    fn.branch(join)
    fn.label(join)
    fn.put_vec(inst, "d", [fn.op(ty, f"phi {ty} [ {v}, %{load} ], [ 0, %{here} ]") for v in loaded])


@lowers("sust")
def sust(fn: FunctionLowering, inst: Inst) -> None:
    """Elements of a row; nothing outside."""
    ty, count = elements(fn, inst)
    size = int(ty[1:]) // 8
    vals = [fn.resize(v, int(ty[1:])) for v in fn.vec(inst, "b")]
    pointer, inside = place(fn, inst, size * count)
    inside = guard(fn, inst, inside)
    store, join = fn.block("store"), fn.block("stored")
    fn.branch(inside, store, join)
    fn.label(store)
    for k, v in enumerate(vals):
        fn.do(f"store {v.t}, {fn.displace(pointer, k * size).t}, align {size}")
    fn.label(join)


@lowers("sured")
def sured(fn: FunctionLowering, inst: Inst) -> None:
    """An atomic operation on an element; nothing outside."""
    mods = inst.shape.mods
    v = fn.src(inst, "b", f"b{bits_of(mods['t'])}")
    op = mods["op"] if mods["op"] not in ("min", "max") or mods["t"][0] == "s" else f"u{mods['op']}"
    pointer, inside = place(fn, inst, bits_of(mods["t"]) // 8)
    inside = guard(fn, inst, inside)
    reduce, join = fn.block("reduce"), fn.block("reduced")
    fn.branch(inside, reduce, join)
    fn.label(reduce)
    fn.op(v.ty, f'atomicrmw {op} {pointer.t}, {v.t} syncscope("agent-one-as") monotonic')
    fn.label(join)
