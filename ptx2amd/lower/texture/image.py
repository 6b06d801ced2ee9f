"""Textures and surfaces in software: what a descriptor holds (interface/texture.py), addressing of
texels, and their conversion. Everything is done with plain loads and stores, on every arch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptx2amd.interface.texture import (
    ADDRESS_BORDER,
    ADDRESS_CLAMP,
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
    """Offset in the descriptor and LLVM type of each field; those of arrays are mode0, mode1 .. border3."""
    found: dict[str, tuple[int, str]] = {}
    for field in DESCRIPTOR.fields.values():
        name, count = {"modes": ("mode", 3), "border": ("border", 4)}.get(field.name, ("", 0))
        places = {f"{name}{k}": field.offset + field.step * k for k in range(count)} or {field.name: field.offset}
        found |= {name: (at, field.llvm) for name, at in places.items()}
    return found


FIELDS = _fields()
GEOMETRY = tuple(LEVEL.fields)  # what a level has of its own
HALF, FLOAT = 0x10, 0x20
LIMITS = {0x01: 255, 0x02: 65535, 0x08: 127, 0x09: 32767}  # format: the integer that stands for 1.0
FILTERED = {0x01: 65535, 0x02: 65535, 0x08: 32767, 0x09: 32767}  # the same of the results of linear filtering


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


def bounded(image: Image, i: Val, size: Val, offset: Val | None) -> tuple[Val, Val]:
    """An integer coordinate clamped to 0 .. size-1, and whether it was outside, which gives zeros in every mode."""
    fn = image.fn
    if offset is not None:
        i = fn.call("llvm.sadd.sat.i32", "i32", i, offset)
    inside = fn.call("llvm.umin.i32", "i32", i, binary(fn, "sub", size, 1))
    return inside, compare(fn, "ne", i, inside)


def index(image: Image, i: Val, size: Val, axis: int, far: bool = False) -> tuple[Val, Val]:
    """A texel's number along an axis brought into 0 .. size-1 by the address mode, and whether it is the border.
    Only textures with normalized coordinates wrap or mirror; these come within one size of the range, unless an
    offset has been added to them (`far`)."""
    fn, mode = image.fn, image[f"mode{axis}"]
    if far:
        twice = folded(fn, i, binary(fn, "shl", size, 1))
        near = select(fn, compare(fn, "eq", mode, ADDRESS_MIRROR), twice, folded(fn, i, size))
        i = select(fn, compare(fn, "eq", binary(fn, "and", mode, 1), 1), i, near)  # clamp, border
    below, last = compare(fn, "slt", i, 0), binary(fn, "sub", size, 1)
    above = compare(fn, "sgt", i, last)
    wrapped = select(fn, above, binary(fn, "sub", i, size), i)
    wrapped = select(fn, below, binary(fn, "add", i, size), wrapped)
    mirrored = select(fn, above, binary(fn, "sub", binary(fn, "add", size, last), i), i)
    mirrored = select(fn, below, binary(fn, "xor", i, -1), mirrored)
    wraps, mirrors = (compare(fn, "eq", mode, one) for one in (ADDRESS_WRAP, ADDRESS_MIRROR))
    j = select(fn, mirrors, mirrored, select(fn, wraps, wrapped, i))
    inside = clamped(fn, j, 0, last)
    outside = fn.op("i1", f"and {compare(fn, 'eq', mode, ADDRESS_BORDER).t}, {compare(fn, 'ne', j, inside)}")
    return inside, outside


def scaled(fn: FunctionLowering, x: Val, factor: Val) -> Val:
    """floor(x * factor) as an i32: the nearest one for numbers out of range, 0 for NaN."""
    floor = fn.call("llvm.floor.f32", "float", binary(fn, "fmul", x, factor))
    return fn.call("llvm.fptosi.sat.i32.f32", "i32", floor)


def fixed(image: Image, x: Val, size: Val, axis: int) -> Val:
    """A normalized coordinate in 512ths of a texel, rounded down: wrapped into 0 .. size, or mirrored into
    0 .. 2 size. NVIDIA's GPUs round normalized coordinates down to 21 fraction bits (22 for more than 16384 texels)
    before they multiply them by the size, so that k / size may meet texel k-1."""
    fn, mode = image.fn, image[f"mode{axis}"]
    large = compare(fn, "ugt", size, 16384)

    def either(small: float, other: float) -> Val:
        return fn.op("float", f"select {large.t}, {fn.const('float', other).t}, {fn.const('float', small).t}")

    one, inverse = either(2.0**21, 2.0**22), either(2.0**-21, 2.0**-22)
    mirrors = compare(fn, "eq", mode, ADDRESS_MIRROR)
    two, half = (binary(fn, "fmul", v, fn.const("float", by)) for v, by in ((one, 2.0), (inverse, 0.5)))
    period = fn.op("float", f"select {mirrors.t}, {two.t}, {one.t}")
    inverse = fn.op("float", f"select {mirrors.t}, {half.t}, {inverse.t}")
    whole = fn.call("llvm.floor.f32", "float", binary(fn, "fmul", x, one))
    periods = fn.call("llvm.floor.f32", "float", binary(fn, "fmul", whole, inverse))
    rest = fn.call("llvm.fma.f32", "float", fn.op("float", f"fneg {periods.t}"), period, whole)
    folds = compare(fn, "eq", binary(fn, "and", mode, 1), 0)  # wrap, mirror
    part = fn.call("llvm.fptosi.sat.i32.f32", "i32", fn.op("float", f"select {folds.t}, {rest.t}, {whole.t}"))
    part = clamped(fn, part, -(1 << 23), fn.const("i32", (1 << 23) - 1))
    low, high = (fn.call(f"llvm.amdgcn.{name}.i24", "i32", part, size) for name in ("mul", "mulhi"))
    shift = select(fn, large, 13, fn.const("i32", 12))
    return fn.call("llvm.fshr.i32", "i32", high, low, shift)


def nearest(image: Image, x: Val, size: Val, axis: int, offset: Val | None) -> Val:
    """The number of the texel that a floating-point coordinate is in, moved by an offset."""
    fn = image.fn
    inside = binary(fn, "ashr", fixed(image, x, size, axis), 9)
    i = select(fn, image.flag(TEXTURE_NORMALIZED), inside, scaled(fn, x, fn.const("float", 1.0)))
    return i if offset is None else fn.call("llvm.sadd.sat.i32", "i32", i, offset)


def footprint(
    image: Image, x: Val, size: Val, axis: int, offset: Val | None, clamps: bool = True
) -> tuple[Val, Val, Val]:
    """The two texels that linear filtering takes at x, moved by an offset, and the second one's weight in 256ths (a
    float): the place between their centres, rounded to the nearest 256th and up from the middle. `clamps`: a place
    beyond the centres of the first and the last texel is moved there in clamp mode."""
    fn = image.fn
    plain = scaled(fn, x, fn.const("float", 512.0))
    place = select(fn, image.flag(TEXTURE_NORMALIZED), fixed(image, x, size, axis), plain)
    if offset is not None:
        place = fn.call("llvm.sadd.sat.i32", "i32", place, binary(fn, "shl", offset, 9))
    place = binary(fn, "ashr", fn.call("llvm.ssub.sat.i32", "i32", place, fn.const("i32", 255)), 1)
    if clamps:
        limit = compare(fn, "eq", image[f"mode{axis}"], ADDRESS_CLAMP)
        last = binary(fn, "shl", binary(fn, "sub", size, 1), 8)
        place = fn.call("llvm.smin.i32", "i32", place, select(fn, limit, last, fn.const("i32", (1 << 31) - 1)))
        place = fn.call("llvm.smax.i32", "i32", place, select(fn, limit, 0, fn.const("i32", -(1 << 31))))
    first = binary(fn, "ashr", place, 8)
    weight = fn.op("float", f"uitofp {binary(fn, 'and', place, 255).t} to float")
    return first, binary(fn, "add", first, 1), weight


def split(fn: FunctionLowering, whole: Val, part: Val) -> tuple[Val, Val]:
    """A weight (all in 256ths) shared between the first and the second texel along an axis by the second one's part:
    whole numbers of 256ths, as on NVIDIA's GPUs."""
    scaled = binary(fn, "fmul", part, fn.const("float", 1 / 256))
    second = fn.call("llvm.fma.f32", "float", whole, scaled, fn.const("float", 0.5))
    second = fn.call("llvm.floor.f32", "float", second)
    return binary(fn, "fsub", whole, second), second


def weights(fn: FunctionLowering, axes: list[Val], share: Val | None = None) -> list[Val]:
    """The weights of 2, 4 or 8 texels, the first axis varying fastest, from the second texel's weight along each
    axis. They add up to a share of the whole; it and the axes' are in 256ths."""
    whole = fn.const("float", 256.0)
    x, *rest = axes
    planes = [whole if share is None else share]
    if len(rest) == 2:
        planes = [*split(fn, planes[0], rest[1])]
    found = []
    for plane in planes:
        left, right = split(fn, plane, x)
        if not rest:
            found += [left, right]
            continue
        upper, lower = split(fn, right, rest[0])
        last, first = split(fn, left, binary(fn, "fsub", whole, rest[0]))  # the left first texel is the rounded one
        found += [first, upper, last, lower]
    return [binary(fn, "fmul", w, fn.const("float", 1 / 256)) for w in found]


Convert = Callable[[Image, int, Val], Val]  # of a channel's bytes: their number, their value zero-extended to i32


def channels(image: Image, places: Sequence[tuple[Val, Val | None]], convert: Convert) -> list[list[Val]]:
    """Four channels of texels, converted. A place is an address, and whether the border's colour stands for it.
    Channels that the format lacks are copies of the last one, see `present`."""
    fn = image.fn
    size = image["size"]
    last = binary(fn, "sub", image["channels"], 1)
    border = [image[f"border{c}"] for c in range(4)]
    join = fn.block("texels")
    blocks = {n: fn.block(f"bytes{n}") for n in (1, 2, 4)}
    fn.do(f"switch {size.t}, label %{blocks[4]} [ i32 1, label %{blocks[1]} i32 2, label %{blocks[2]} ]")
    found: dict[int, list[Val]] = {}
    for n, block in blocks.items():
        fn.label(block)
        found[n] = []
        for address, outside in places:
            for c in range(4):
                offset = fn.resize(binary(fn, "mul", fn.call("llvm.umin.i32", "i32", last, fn.const("i32", c)), n), 64)
                at = fn.op("ptr addrspace(1)", f"inttoptr {binary(fn, 'add', address, offset).t} to ptr addrspace(1)")
                raw = fn.resize(fn.op(f"i{8 * n}", f"load i{8 * n}, {at.t}, align {n}"), 32)
                raw = raw if outside is None else select(fn, outside, border[c], raw)
                found[n].append(convert(image, n, raw))
        fn.do(f"br label %{join}")
    fn.label(join)
    flat = []
    for k in range(4 * len(places)):
        ty = found[4][k].ty
        flat.append(fn.op(ty, f"phi {ty} " + ", ".join(f"[ {found[n][k]}, %{block} ]" for n, block in blocks.items())))
    return [flat[k : k + 4] for k in range(0, len(flat), 4)]


def present(image: Image, four: list[Val]) -> list[Val]:
    """Channels that the format lacks are zero, the fourth too."""
    fn = image.fn
    has = [compare(fn, "ugt", image["channels"], c) for c in range(1, 4)]
    return [four[0], *(select(fn, h, v, fn.const("i32", 0)) for h, v in zip(has, four[1:], strict=True))]


def number(image: Image, n: int, raw: Val) -> Val:
    """The integer that a channel of n bytes holds."""
    fn = image.fn
    signed = compare(fn, "ne", binary(fn, "and", image["format"], 8), 0)
    sign = select(fn, signed, 1 << 8 * n - 1, fn.const("i32", 0))
    return binary(fn, "sub", binary(fn, "xor", raw, sign), sign)


def real(image: Image, n: int, raw: Val) -> Val:
    """A channel as linear filtering takes it, as a float: small integers are not yet between -1 and 1."""
    fn = image.fn
    if n == 4:
        return fn.cast(raw, "float")
    v = fn.op("float", f"sitofp {number(image, n, raw).t} to float")
    if n == 1:
        return v
    half = fn.op("float", f"fpext {fn.cast(fn.resize(raw, 16), 'half').t} to float")
    return fn.op("float", f"select {compare(fn, 'eq', image['format'], HALF).t}, {half.t}, {v.t}")


def returned(image: Image, n: int, raw: Val) -> Val:
    """A channel as the instruction returns it, as bits: an integer, or a float where the texture gives floats."""
    fn = image.fn
    if n == 4:
        return raw
    v = real(image, n, raw)
    small = normalized(fn, v, *limits(image, LIMITS))
    if n == 2:
        small = select(fn, compare(fn, "eq", image["format"], HALF), fn.cast(v, "i32"), small)
    return select(fn, image.flag(TEXTURE_INTEGERS), number(image, n, raw), small)


def limits(image: Image, table: dict[int, int]) -> tuple[Val, Val]:
    """The number that stands for 1.0 in the format, and its inverse."""
    fn = image.fn
    one, inverse = fn.const("float", 1.0), fn.const("float", 1.0)
    for code, limit in table.items():
        this = compare(fn, "eq", image["format"], code)
        one = fn.op("float", f"select {this.t}, {fn.const('float', limit).t}, {one.t}")
        inverse = fn.op("float", f"select {this.t}, {fn.const('float', 1 / limit).t}, {inverse.t}")
    return one, inverse


def filtered(image: Image, four: list[Val]) -> list[Val]:
    """Means of `real` channels as the instruction returns them, as bits: those of small integers have 16 bits, those
    of half floats are half floats."""
    fn = image.fn
    found = [Variable(fn, fn.cast(v, "i32")) for v in four]
    with when(fn, compare(fn, "ne", image["size"], 4)):
        one, inverse = limits(image, FILTERED)
        factor = fn.const("float", 1.0)
        for code, limit in LIMITS.items():
            this = compare(fn, "eq", image["format"], code)
            ratio = fn.const("float", FILTERED[code] / limit)
            factor = fn.op("float", f"select {this.t}, {ratio.t}, {factor.t}")
        halves = compare(fn, "eq", image["format"], HALF)
        halves = fn.op("i1", f"or {halves.t}, {image.flag(TEXTURE_SRGB)}")
        for variable in found:
            v = fn.cast(variable.get(), "float")
            rounded = fn.call("llvm.fma.f32", "float", v, factor, fn.const("float", 0.5))
            small = normalized(fn, fn.call("llvm.floor.f32", "float", rounded), one, inverse)
            half = fn.op("float", f"fpext {fn.op('half', f'fptrunc {v.t} to half').t} to float")
            variable.set(select(fn, halves, fn.cast(half, "i32"), small))
    return [v.get() for v in found]


def linear_light(image: Image, texels: list[list[Val]], limit: float = 1.0) -> list[list[Val]]:
    """The channels of texels as they are, or, of sRGB textures, made linear: the first, and of four the next two.
    `limit` is what stands for 1.0 in them."""
    fn = image.fn
    found = [[Variable(fn, v) for v in four] for four in texels]
    with when(fn, image.flag(TEXTURE_SRGB)):
        many = compare(fn, "eq", image["channels"], 4)
        for k, variable in ((k, v) for four in found for k, v in enumerate(four)):
            c = fn.cast(variable.get(), "float")
            if limit != 1.0:
                c = binary(fn, "fmul", c, fn.const("float", 1 / limit))
            if k < 3:
                low = binary(fn, "fmul", c, fn.const("float", 1 / 12.92))
                moved = fn.call("llvm.fma.f32", "float", c, *(fn.const("float", v) for v in (1 / 1.055, 0.055 / 1.055)))
                power = binary(fn, "fmul", fn.call("llvm.log2.f32", "float", moved), fn.const("float", 2.4))
                high = fn.call("llvm.exp2.f32", "float", power)
                small = fn.op("i1", f"fcmp ole {c.t}, {fn.const('float', 0.04045)}")
                light = fn.op("float", f"select {small.t}, {low.t}, {high.t}")
                c = fn.op("float", f"select {many.t}, {light.t}, {c.t}") if k else light
            variable.set(fn.cast(c, variable.ty))
    return [[v.get() for v in four] for four in found]


def normalized(fn: FunctionLowering, v: Val, one: Val, inverse: Val) -> Val:
    """v / one, correctly rounded and at least -1, as bits."""
    q = binary(fn, "fmul", v, inverse)
    rest = fn.call("llvm.fma.f32", "float", fn.op("float", f"fneg {q.t}"), one, v)
    q = fn.call("llvm.fma.f32", "float", rest, inverse, q)
    return fn.cast(fn.call("llvm.maxnum.f32", "float", q, fn.const("float", -1.0)), "i32")
