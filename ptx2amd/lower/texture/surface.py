"""Surfaces: unformatted loads, stores and reductions. The x coordinate of .b forms counts bytes."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.loops import when
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.integer import binary, compare, select
from ptx2amd.lower.texture.image import FIELDS, HALF, Image, clamped
from ptx2amd.lower.texture.texture import DIMENSIONS, SIZES, coordinates, handle, layer_of
from ptx2amd.ptx.ast import Inst
from ptx2amd.ptx.layout import bits_of


def place(fn: FunctionLowering, inst: Inst, size: int | None) -> tuple[Image, Val, Val]:
    """A surface, the address of `size` bytes in it (None: of a texel), clamped into it, and whether the coordinates
    were inside."""
    mods = inst.shape.mods
    geometry, layered = mods["geom"].removeprefix("a"), mods["geom"][0] == "a"
    dims = DIMENSIONS[geometry]
    image = Image(fn, handle(fn, inst))
    layer, points = coordinates(fn, inst, dims, layered, "s32")
    image.preload(*FIELDS)
    if mods.get("mode") == "p":
        points[0] = binary(fn, "mul", points[0], image["texel"])
    inside = fn.const("i1", 1)
    taken = image["texel"] if size is None else size
    last = [binary(fn, "sub", binary(fn, "mul", image["width"], image["texel"]), taken)]
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
    return image, fn.op("ptr addrspace(1)", f"inttoptr {address.t} to ptr addrspace(1)"), inside


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
    _, pointer, inside = place(fn, inst, size * count)
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
    _, pointer, inside = place(fn, inst, size * count)
    inside = guard(fn, inst, inside)
    store, join = fn.block("store"), fn.block("stored")
    fn.branch(inside, store, join)
    fn.label(store)
    for k, v in enumerate(vals):
        fn.do(f"store {v.t}, {fn.displace(pointer, k * size).t}, align {size}")
    fn.label(join)


@lowers("sust_formatted")
def sust_formatted(fn: FunctionLowering, inst: Inst) -> None:
    """The channels of a texel from 32-bit values: floats become halves, integers are clamped to the format."""
    vals = [fn.cast(v, "i32") for v in fn.vec(inst, "b")]
    image, pointer, inside = place(fn, inst, None)
    inside = guard(fn, inst, inside)
    form, size = image["format"], image["size"]
    bits = fn.call("llvm.umin.i32", "i32", binary(fn, "shl", size, 3), fn.const("i32", 31))
    top = fn.op("i32", f"shl i32 1, {binary(fn, 'sub', bits, 1)}")
    signed = compare(fn, "ne", binary(fn, "and", form, 8), 0)
    narrow, half = compare(fn, "ult", size, 4), compare(fn, "eq", form, HALF)
    most = binary(fn, "sub", fn.op("i32", f"shl i32 1, {bits}"), 1)
    for c, v in enumerate(vals):
        low = clamped(fn, v, 0, binary(fn, "sub", top, 1))
        least = fn.call("llvm.smax.i32", "i32", v, fn.op("i32", f"sub i32 0, {top}"))
        low = select(fn, compare(fn, "slt", v, 0), least, low)
        whole = select(fn, signed, low, fn.call("llvm.umin.i32", "i32", v, most))
        as_half = fn.op("half", f"fptrunc {fn.cast(v, 'float').t} to half")
        whole = select(fn, half, fn.resize(fn.cast(as_half, "i16"), 32), whole)
        word = select(fn, narrow, whole, v)
        has = fn.op("i1", f"and {inside.t}, {compare(fn, 'ugt', image['channels'], c)}")
        at = fn.op(pointer.ty, f"getelementptr i8, {pointer.t}, i32 {binary(fn, 'mul', size, c)}")
        for n in (1, 2, 4):
            with when(fn, fn.op("i1", f"and {has.t}, {compare(fn, 'eq', size, n)}")):
                fn.do(f"store {fn.resize(word, 8 * n).t}, {at.t}, align {n}")


@lowers("sured")
def sured(fn: FunctionLowering, inst: Inst) -> None:
    """An atomic operation on an element; nothing outside. Untyped minima and maxima are of the surface's type."""
    mods = inst.shape.mods
    v = fn.src(inst, "b", f"b{bits_of(mods['t'])}")
    op, t = mods["op"], mods["t"]
    image, pointer, inside = place(fn, inst, bits_of(t) // 8)
    inside = guard(fn, inst, inside)
    signed = compare(fn, "ne", binary(fn, "and", image["format"], 8), 0)

    def reduce(name: str) -> None:
        fn.op(v.ty, f'atomicrmw {name} {pointer.t}, {v.t} syncscope("agent-one-as") monotonic')

    with when(fn, inside):
        if op not in ("min", "max") or t[0] in "us":
            reduce(f"u{op}" if op in ("min", "max") and t[0] == "u" else op)
        else:
            with when(fn, signed):
                reduce(op)
            with when(fn, fn.op("i1", f"xor {signed.t}, true")):
                reduce(f"u{op}")
