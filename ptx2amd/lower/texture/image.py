"""Textures and surfaces in software: what a descriptor holds (interface/texture.py), addressing of
texels, and their conversion. Everything is done with plain loads and stores, on every arch."""

from __future__ import annotations

from collections.abc import Sequence

from ptx2amd.interface.texture import (
    ADDRESS_BORDER,
    ADDRESS_MIRROR,
    ADDRESS_WRAP,
    DESCRIPTOR,
    LEVEL,
    TEXTURE_INTEGERS,
    TEXTURE_NORMALIZED,
    TEXTURE_SRGB,
)
from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.loops import Variable, when
from ptx2amd.lower.scalar.integer import binary, compare, select


def _fields() -> dict[str, tuple[int, str]]:
    """Offset in the descriptor and LLVM type of each field; the address modes are mode0, mode1, mode2."""
    found: dict[str, tuple[int, str]] = {}
    for field in DESCRIPTOR.fields.values():
        many = {f"mode{axis}": field.offset + field.step * axis for axis in range(3)}
        places = many if field.name == "modes" else {field.name: field.offset}
        found |= {name: (at, field.llvm) for name, at in places.items()}
    return found


FIELDS = _fields()
GEOMETRY = tuple(LEVEL.fields)  # what a level has of its own
HALF, FLOAT = 0x10, 0x20
LIMITS = {0x01: 255, 0x02: 65535, 0x08: 127, 0x09: 32767}  # format: the integer that stands for 1.0


class Image:
    """A texture or surface in an instruction: its fields, loaded when asked for."""

    def __init__(self, fn: FunctionLowering, handle: Val) -> None:
        self.fn = fn
        self.pointer = fn.op("ptr addrspace(4)", f"inttoptr {handle.t} to ptr addrspace(4)")
        self.descriptor = self.pointer  # of a level: what all levels share
        self.loaded: dict[str, Val] = {}

    def __getitem__(self, name: str) -> Val:
        if name not in self.loaded:
            offset, ty = FIELDS[name]
            self.loaded[name] = self.load(offset, ty)
        return self.loaded[name]

    def load(self, offset: int, ty: str) -> Val:
        at = self.fn.displace(self.pointer, offset)
        return self.fn.op(ty, f"load {ty}, {at.t}, align 4")

    def preload(self, *names: str) -> None:
        """Load fields here, in a block that dominates their uses."""
        for name in names:
            self[name]

    def flag(self, bit: int) -> Val:
        return compare(self.fn, "ne", binary(self.fn, "and", self["flags"], bit), 0)

    def at_level(self, level: Val) -> Image:
        """The image that a level of a mipmap is."""
        fn = self.fn
        step = binary(fn, "mul", fn.resize(level, 64), LEVEL.size)
        many = compare(fn, "ugt", self["levels"], 1)
        found = Image(fn, select(fn, many, binary(fn, "add", self["table"], step), fn.cast(self.pointer, "i64")))
        found.loaded = {name: v for name, v in self.loaded.items() if name not in GEOMETRY}
        found.descriptor = self.pointer
        found.preload(*GEOMETRY)
        return found

    def address(self, x: Val, y: Val | None, z: Val | None) -> Val:
        """The i64 address of byte x of row y of slice z."""
        fn = self.fn
        at = binary(fn, "add", self["base"], fn.resize(x, 64))
        if y is not None:
            at = binary(fn, "add", at, binary(fn, "mul", fn.resize(y, 64), fn.resize(self["pitch"], 64)))
        if z is not None:
            at = binary(fn, "add", at, binary(fn, "mul", fn.resize(z, 64), self["slice"]))
        return at


def clamped(fn: FunctionLowering, v: Val, low: int, high: Val) -> Val:
    v = fn.call("llvm.smin.i32", "i32", v, high)
    return fn.call("llvm.smax.i32", "i32", v, fn.const("i32", low))


def folded(fn: FunctionLowering, i: Val, period: Val) -> Val:
    """i modulo a period."""
    rest = binary(fn, "srem", i, period)
    return select(fn, compare(fn, "slt", rest, 0), binary(fn, "add", rest, period), rest)


def index(image: Image, i: Val, size: Val, axis: int, offset: Val | None = None) -> tuple[Val, Val]:
    """A texel's number along an axis brought into 0 .. size-1 by the address mode, and whether it is the border.
    Wrapping and mirroring are for normalized coordinates, which come within one size of the range, unless there is
    an offset."""
    fn, mode = image.fn, image[f"mode{axis}"]
    if offset is not None:
        i = fn.call("llvm.sadd.sat.i32", "i32", i, offset)
        twice = folded(fn, i, binary(fn, "shl", size, 1))
        far = select(fn, compare(fn, "eq", mode, ADDRESS_MIRROR), twice, folded(fn, i, size))
        clamps = fn.op("i1", f"xor {image.flag(TEXTURE_NORMALIZED).t}, true")
        bounded = fn.op("i1", f"or {clamps.t}, {compare(fn, 'eq', binary(fn, 'and', mode, 1), 1)}")  # clamp, border
        i = select(fn, bounded, i, far)
    below, last = compare(fn, "slt", i, 0), binary(fn, "sub", size, 1)
    above = compare(fn, "sgt", i, last)
    wrapped = select(fn, above, binary(fn, "sub", i, size), i)
    wrapped = select(fn, below, binary(fn, "add", i, size), wrapped)
    mirrored = select(fn, above, binary(fn, "sub", binary(fn, "add", size, last), i), i)
    mirrored = select(fn, below, binary(fn, "xor", i, -1), mirrored)
    normalized = image.flag(TEXTURE_NORMALIZED)
    wraps = fn.op("i1", f"and {compare(fn, 'eq', mode, ADDRESS_WRAP).t}, {normalized}")
    mirrors = fn.op("i1", f"and {compare(fn, 'eq', mode, ADDRESS_MIRROR).t}, {normalized}")
    j = select(fn, mirrors, mirrored, select(fn, wraps, wrapped, i))
    inside = clamped(fn, j, 0, last)
    outside = fn.op("i1", f"and {compare(fn, 'eq', mode, ADDRESS_BORDER).t}, {compare(fn, 'ne', j, inside)}")
    return inside, outside


def position(image: Image, x: Val, size: Val, axis: int, far: bool = False) -> Val:
    """A floating-point coordinate in texels. Normalized ones are wrapped or mirrored into 0 .. 1 first; `far`: those
    to be mirrored into 0 .. 2 only, as an offset will be added."""
    fn, mode = image.fn, image[f"mode{axis}"]
    floor = fn.call("llvm.floor.f32", "float", x)
    part = binary(fn, "fsub", x, floor)
    half = fn.call("llvm.floor.f32", "float", binary(fn, "fmul", floor, fn.const("float", 0.5)))
    odd = fn.op("i1", f"fcmp une float {binary(fn, 'fmul', half, fn.const('float', 2.0))}, {floor}")
    ahead, one = binary(fn, "fadd", part, fn.const("float", 1.0)), fn.const("float", 1.0)
    back = ahead if far else fn.op("float", f"fsub {one.t}, {part}")
    mirrored = fn.op("float", f"select i1 {odd}, {back.t}, {part.t}")
    v = fn.op("float", f"select {compare(fn, 'eq', mode, ADDRESS_WRAP).t}, {part.t}, {x.t}")
    v = fn.op("float", f"select {compare(fn, 'eq', mode, ADDRESS_MIRROR).t}, {mirrored.t}, {v.t}")
    scaled = binary(fn, "fmul", v, fn.op("float", f"uitofp {size.t} to float"))
    return fn.op("float", f"select {image.flag(TEXTURE_NORMALIZED).t}, {scaled.t}, {x.t}")


def whole(fn: FunctionLowering, x: Val) -> Val:
    """floor(x) as an i32; NaN gives 0."""
    return fn.call("llvm.fptosi.sat.i32.f32", "i32", fn.call("llvm.floor.f32", "float", x))


def footprint(fn: FunctionLowering, x: Val) -> tuple[Val, Val, Val]:
    """The two texels that linear filtering takes at x, and the second one's weight, a multiple of 1/256."""
    centred = binary(fn, "fsub", x, fn.const("float", 0.5))
    floor = fn.call("llvm.floor.f32", "float", centred)
    part = binary(fn, "fmul", binary(fn, "fsub", centred, floor), fn.const("float", 256.0))
    weight = binary(fn, "fmul", fn.call("llvm.roundeven.f32", "float", part), fn.const("float", 1 / 256))
    first = fn.call("llvm.fptosi.sat.i32.f32", "i32", floor)
    return first, fn.call("llvm.sadd.sat.i32", "i32", first, fn.const("i32", 1)), weight


def channels(image: Image, addresses: Sequence[Val]) -> list[list[Val]]:
    """The four channels of the texels at some addresses, zero-extended to i32; those that texels lack are
    copies of the last one."""
    fn = image.fn
    size = image["size"]
    last = binary(fn, "sub", image["channels"], 1)
    join = fn.block("texels")
    blocks = {n: fn.block(f"bytes{n}") for n in (1, 2, 4)}
    fn.do(f"switch {size.t}, label %{blocks[4]} [ i32 1, label %{blocks[1]} i32 2, label %{blocks[2]} ]")
    found: dict[int, list[Val]] = {}
    for n, block in blocks.items():
        fn.label(block)
        found[n] = []
        for address in addresses:
            for c in range(4):
                offset = fn.resize(binary(fn, "mul", fn.call("llvm.umin.i32", "i32", last, fn.const("i32", c)), n), 64)
                at = fn.op("ptr addrspace(1)", f"inttoptr {binary(fn, 'add', address, offset).t} to ptr addrspace(1)")
                found[n].append(fn.resize(fn.op(f"i{8 * n}", f"load i{8 * n}, {at.t}, align {n}"), 32))
        fn.do(f"br label %{join}")
    fn.label(join)
    flat = [
        fn.op("i32", "phi i32 " + ", ".join(f"[ {found[n][k]}, %{block} ]" for n, block in blocks.items()))
        for k in range(4 * len(addresses))
    ]
    return [flat[k : k + 4] for k in range(0, len(flat), 4)]


def converted(image: Image, raw: Val, channel: int, outside: Val) -> Val:
    """A channel as the instruction returns it, as bits: an integer, or a float where the texture gives floats."""
    fn, form = image.fn, image["format"]
    signed = compare(fn, "ne", binary(fn, "and", form, 8), 0)
    up = binary(fn, "and", fn.op("i32", f"sub i32 32, {binary(fn, 'shl', image['size'], 3)}"), 31)
    extended = binary(fn, "ashr", binary(fn, "shl", raw, up), up)
    number = select(fn, signed, extended, raw)
    as_half = fn.cast(fn.resize(raw, 16), "half")
    of_half = fn.cast(fn.op("float", f"fpext {as_half.t} to float"), "i32")
    as_float = select(
        fn,
        signed,
        fn.cast(fn.op("float", f"sitofp {number.t} to float"), "i32"),
        fn.cast(fn.op("float", f"uitofp {number.t} to float"), "i32"),
    )
    one, inverse = fn.const("float", 1.0), fn.const("float", 1.0)
    for code, limit in LIMITS.items():
        this = compare(fn, "eq", form, code)
        one = fn.op("float", f"select {this.t}, {fn.const('float', limit).t}, {one.t}")
        inverse = fn.op("float", f"select {this.t}, {fn.const('float', 1 / limit).t}, {inverse.t}")
    bits = select(fn, compare(fn, "eq", form, HALF), of_half, number)
    small = compare(fn, "ne", fn.cast(one, "i32"), 0x3F800000)
    integer = image.flag(TEXTURE_INTEGERS)
    scaled = fn.op("i1", f"and {small.t}, {fn.op('i1', f'xor {integer.t}, true')}")
    bits = select(fn, scaled, normalized(fn, fn.cast(as_float, "float"), one, inverse), bits)
    if channel:
        absent = select(fn, integer, 1, fn.const("i32", 0x3F800000)) if channel == 3 else fn.const("i32", 0)
        bits = select(fn, compare(fn, "ugt", image["channels"], channel), bits, absent)
    at = fn.displace(image.descriptor, FIELDS["border"][0] + 4 * channel)
    border = fn.op("i32", f"load i32, {at.t}, align 4")
    return select(fn, outside, border, bits)


def linear_light(image: Image, texels: list[list[Val]]) -> list[list[Val]]:
    """The colours of texels (bits of floats) as they are, or, of sRGB textures, made linear."""
    fn = image.fn
    colours = [[Variable(fn, v) for v in four[:3]] for four in texels]
    with when(fn, image.flag(TEXTURE_SRGB)):
        for variable in (v for three in colours for v in three):
            c = fn.cast(variable.get(), "float")
            low = binary(fn, "fmul", c, fn.const("float", 1 / 12.92))
            moved = fn.call("llvm.fma.f32", "float", c, *(fn.const("float", v) for v in (1 / 1.055, 0.055 / 1.055)))
            power = binary(fn, "fmul", fn.call("llvm.log2.f32", "float", moved), fn.const("float", 2.4))
            high = fn.call("llvm.exp2.f32", "float", power)
            small = fn.op("i1", f"fcmp ole {c.t}, {fn.const('float', 0.04045)}")
            variable.set(fn.cast(fn.op("float", f"select {small.t}, {low.t}, {high.t}"), "i32"))
    return [[*(v.get() for v in three), four[3]] for three, four in zip(colours, texels, strict=True)]


def normalized(fn: FunctionLowering, v: Val, one: Val, inverse: Val) -> Val:
    """v / one, correctly rounded and at least -1, as bits."""
    q = binary(fn, "fmul", v, inverse)
    rest = fn.call("llvm.fma.f32", "float", fn.op("float", f"fneg {q.t}"), one, v)
    q = fn.call("llvm.fma.f32", "float", rest, inverse, q)
    return fn.cast(fn.call("llvm.maxnum.f32", "float", q, fn.const("float", -1.0)), "i32")
