"""Textures: reads of texels, filtered or not, and queries. See lower/texture/image.py."""

from __future__ import annotations

from ptx2amd.interface.texture import KIND_SURFACE, KIND_TEXTURE, TEXTURE_INTEGERS, TEXTURE_NORMALIZED
from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.loops import Variable, each, when
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.integer import binary, compare, select
from ptx2amd.lower.texture.image import (
    FIELDS,
    Convert,
    Image,
    bounded,
    channels,
    filtered,
    footprint,
    index,
    linear_light,
    nearest,
    present,
    real,
    returned,
    scaled,
    weights,
)
from ptx2amd.ptx.ast import Addr, Inst, Reg, Sym

DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "cube": 2}
SIZES = ("width", "height", "depth")


def handle(fn: FunctionLowering, inst: Inst) -> Val:
    """The texture or surface object that an instruction names, as an i64."""
    operand = inst.operands[inst.shape.names.index("a")]
    base = operand.base if isinstance(operand, Addr) else operand
    if isinstance(operand, Addr) and len(operand.rest) > 1:
        fn.refuse(inst, "samplers apart from textures (independent texturing mode)")
    if isinstance(base, Sym):  # a texture reference: the variable is the descriptor
        return fn.cast(fn.symbol_address(base.name, base.offset, "global"), "i64")
    if not isinstance(base, Reg) or (isinstance(operand, Addr) and operand.offset):
        fn.refuse(inst, "this kind of texture operand")
    return fn.value(base, "b64")


def coordinates(fn: FunctionLowering, inst: Inst, count: int, layered: bool, ct: str) -> tuple[Val | None, list[Val]]:
    """The layer, if there is one, and `count` coordinates of PTX type `ct`."""
    operand = inst.operands[inst.shape.names.index("a")]
    assert isinstance(operand, Addr)
    items = [part for item in operand.rest for part in fn.items(item)]
    if len(items) < layered + count:
        fn.refuse(inst, f"{len(items)} coordinates, {layered + count} needed")
    layer = fn.value(items[0], "u32") if layered else None
    return layer, [fn.value(item, ct) for item in items[layered : layered + count]]


def layer_of(image: Image, layer: Val | None, face: Val | None = None) -> Val | None:
    """The slice of a layer, clamped; of a cube's face in it."""
    fn = image.fn
    if face is not None:
        first = binary(fn, "mul", layer, 6) if layer is not None else fn.const("i32", 0)
        layer = binary(fn, "add", first, face)
    if layer is None:
        return None
    last = binary(fn, "sub", fn.call("llvm.umax.i32", "i32", image["layers"], fn.const("i32", 1)), 1)
    return fn.call("llvm.umin.i32", "i32", layer, last)


def cube_face(fn: FunctionLowering, v: list[Val]) -> tuple[Val, list[Val]]:
    """The face that a direction meets (+x -x +y -y +z -z), and the point on it, 0 .. 1. Of axes that are equally
    long, the last one decides."""
    x, _, z = v
    ax, ay, az = (fn.call("llvm.fabs.f32", "float", c) for c in v)
    nx, ny, nz = (fn.op("float", f"fneg {c.t}") for c in v)

    def pick(cond: Val, yes: Val, no: Val) -> Val:
        return fn.op(yes.ty, f"select {cond.t}, {yes.t}, {no.t}")

    def less(a: Val, b: Val) -> Val:
        return fn.op("i1", f"fcmp oge {a.t}, {b}")

    is_z = fn.op("i1", f"and {less(az, ax).t}, {less(az, ay)}")
    is_y = less(ay, ax)
    zero = fn.const("float", 0.0)
    px, py, pz = (fn.op("i1", f"fcmp oge {c.t}, {zero}") for c in v)
    major = pick(is_z, az, pick(is_y, ay, ax))
    s = pick(is_z, pick(pz, x, nx), pick(is_y, x, pick(px, nz, z)))
    t = pick(is_z, ny, pick(is_y, pick(py, z, nz), ny))
    i32 = [fn.const("i32", n) for n in range(6)]
    face = pick(is_z, pick(pz, i32[4], i32[5]), pick(is_y, pick(py, i32[2], i32[3]), pick(px, i32[0], i32[1])))
    half = fn.const("float", 0.5)
    inside = []
    for c in (s, t):
        ratio = fn.op("float", f"fdiv {c.t}, {major}")
        inside.append(fn.call("llvm.fma.f32", "float", ratio, half, half))
    return face, inside


def texel_address(image: Image, indices: list[Val], layer: Val | None) -> Val:
    x = binary(image.fn, "mul", indices[0], image["texel"])
    y = indices[1] if len(indices) > 1 else None
    return image.address(x, y, indices[2] if len(indices) > 2 else layer)


Place = tuple[Val, Val]  # a texel's number along an axis, whether it is outside


class Request:
    """A texture request: the texture, the coordinates and their type."""

    def __init__(self, fn: FunctionLowering, inst: Inst, ct: str) -> None:
        geometry = inst.shape.mods["geom"]
        layered, self.ct = geometry[0] == "a", ct
        geometry = geometry.removeprefix("a")
        self.cube = geometry == "cube"
        self.dims = DIMENSIONS[geometry]
        self.image = Image(fn, handle(fn, inst))
        layer, self.points = coordinates(fn, inst, 3 if self.cube else self.dims, layered, ct)
        self.direction = self.points
        self.offsets = offsets(fn, inst, self.dims)
        self.image.preload(*FIELDS)
        face = None
        if self.cube:
            face, self.points = cube_face(fn, self.points)
        self.slice = layer_of(self.image, layer, face) if layered or self.cube else None
        self.missing = compare(fn, "uge", layer, self.image["layers"]) if layer is not None else fn.const("i1", 0)
        self.floats = inst.shape.mods["t"][0] == "f"

    def sizes(self, image: Image) -> list[Val]:
        fn = image.fn
        return [fn.call("llvm.umax.i32", "i32", image[name], fn.const("i32", 1)) for name in SIZES[: self.dims]]

    def texels(self, image: Image, axes: list[list[Place]], convert: Convert) -> list[list[Val]]:
        """The channels of the texels at all combinations of places of each axis, the first axis varying fastest."""
        fn = image.fn
        found: list[tuple[list[Val], Val]] = [([], fn.const("i1", 0))]
        for places in axes:
            found = [
                ([*indices, i], fn.op("i1", f"or {border.t}, {outside}"))
                for i, outside in places
                for indices, border in found
            ]
        at = [(texel_address(image, indices, self.slice), outside) for indices, outside in found]
        return channels(image, at, convert)

    def axes(self, image: Image) -> list[tuple[int, Val, Val]]:
        """(number, coordinate, size) of each axis."""
        return [(k, x, size) for k, (x, size) in enumerate(zip(self.points, self.sizes(image), strict=True))]

    def offset(self, axis: int) -> Val | None:
        return self.offsets[axis] if self.offsets else None

    def placed(self, image: Image, i: Val, size: Val, axis: int) -> Place:
        """Where the address mode puts a texel's number."""
        return index(image, i, size, axis, far=bool(self.offsets))

    def fetch(self, image: Image) -> list[Val]:
        """The texel at integer coordinates; outside of the texture there are zeros."""
        fn = image.fn
        at, outside = [], self.missing
        for k, x, size in self.axes(image):
            i, beyond = bounded(image, x, size, self.offset(k))
            at.append(i)
            outside = fn.op("i1", f"or {outside.t}, {beyond}")
        four = channels(image, [(texel_address(image, at, self.slice), None)], returned)[0]
        return [select(fn, outside, 0, v) for v in self.lit(image, [four])[0]]

    def lit(self, image: Image, texels: list[list[Val]]) -> list[list[Val]]:
        return linear_light(image, texels) if self.floats else texels

    def nearest(self, image: Image) -> list[Val]:
        """The texel at floating-point coordinates."""
        found = [(nearest(image, x, size, k, self.offset(k)), size, k) for k, x, size in self.axes(image)]
        axes = [[self.placed(image, *one)] for one in found]
        return self.lit(image, self.texels(image, axes, returned))[0]

    def linear(self, image: Image, share: Val | None = None) -> list[Val]:
        """The weighted sum of the 2, 4 or 8 texels around a point, as floats that `filtered` makes results. Their
        weights add up to 1, or to a share in 256ths."""
        fn = image.fn
        around, parts = [], []
        for k, x, size in self.axes(image):
            *pair, weight = footprint(image, x, size, k, self.offset(k))
            around.append([self.placed(image, i, size, k) for i in pair])
            parts.append(weight)
        values = linear_light(image, self.texels(image, around, real), 255.0)
        sums: list[Val] = []
        for weight, four in zip(weights(fn, parts, share), values, strict=True):
            sums = [
                fn.call("llvm.fma.f32", "float", v, weight, sums[c]) if sums else binary(fn, "fmul", v, weight)
                for c, v in enumerate(four)
            ]
        return sums

    def sample(self, image: Image, share: Val | None = None) -> list[Val]:
        """One texel, or with floating-point coordinates in a filtering texture the mean of its neighbours. With a
        share, that of the sum: a level's part."""
        if self.ct == "s32":
            return present(image, self.fetch(image))
        fn = image.fn
        filters = compare(fn, "ne", image["filter"], 0)
        near, mean, pointed, meant, join = (fn.block(n) for n in ("point", "linear", "pointed", "filtered", "texture"))
        fn.branch(filters, mean, near)
        fn.label(near)
        one = self.nearest(image)
        fn.label(pointed)
        fn.branch(join)
        fn.label(mean)
        many = self.linear(image, share)
        many = [fn.cast(v, "i32") for v in many] if share is not None else filtered(image, many)
        fn.label(meant)
        fn.branch(join)
        fn.label(join)
        four = [fn.op("i32", f"phi i32 [ {a}, %{pointed} ], [ {b}, %{meant} ]") for a, b in zip(one, many, strict=True)]
        return four if share is not None else present(image, four)


def offsets(fn: FunctionLowering, inst: Inst, dims: int) -> list[Val]:
    """The texels to add along each axis; none without such an operand."""
    if not fn.has(inst, "b"):
        return []
    parts = fn.vec(inst, "b", "b32")
    if len(parts) < dims:
        fn.refuse(inst, f"an offset of {len(parts)} elements")
    return parts[:dims]


def deliver(fn: FunctionLowering, inst: Inst, four: list[Val]) -> None:
    """Write four channels (bits) in the type of the instruction; all texels are resident."""
    t = inst.shape.mods["t"]
    if t in ("f16", "f16x2"):
        halves = [fn.op("half", f"fptrunc {fn.cast(v, 'float').t} to half") for v in four]
        words = [fn.cast(v, "i16") for v in halves]
        four = words if t == "f16" else [fn.pack(words[k : k + 2], "i32") for k in (0, 2)]
    fn.put_vec(inst, "d", four)
    fn.put(inst, "p", fn.const("i1", 1))


@lowers("tex")
def tex(fn: FunctionLowering, inst: Inst) -> None:
    request = Request(fn, inst, inst.shape.mods["ct"])
    deliver(fn, inst, request.sample(request.image))


@lowers("tex_level")
def tex_level(fn: FunctionLowering, inst: Inst) -> None:
    """From a level of a mipmap, or between two: the level is an operand, or what gradients lead to."""
    request = Request(fn, inst, inst.shape.mods["ct"])
    image = request.image
    last = fn.call("llvm.usub.sat.i32", "i32", image["levels"], fn.const("i32", 1))
    if request.ct == "s32":
        level = fn.call("llvm.smax.i32", "i32", fn.src(inst, "l"), fn.const("i32", 0))
        deliver(fn, inst, request.sample(image.at_level(fn.call("llvm.umin.i32", "i32", level, last))))
        return
    detail = fn.src(inst, "l", "f32") if fn.has(inst, "l") else gradient(fn, inst, request)
    numbers = (detail, image["bias"], image["most"], image["least"])
    fixed, bias, most, least = (scaled(fn, v, fn.const("float", 256.0)) for v in numbers)
    fixed = fn.call("llvm.sadd.sat.i32", "i32", fixed, bias)
    limits = ((most, "smin"), (least, "smax"), (fn.const("i32", 0), "smax"), (binary(fn, "shl", last, 8), "smin"))
    for limit, name in limits:
        fixed = fn.call(f"llvm.{name}.i32", "i32", fixed, limit)
    blends = compare(fn, "ne", image["blend"], 0)
    fixed = select(fn, blends, fixed, binary(fn, "add", fixed, 128))
    number = binary(fn, "lshr", fixed, 8)
    part = fn.op("float", f"uitofp {binary(fn, 'and', fixed, 255).t} to float")
    between = fn.op("i1", f"fcmp ogt {part.t}, {fn.const('float', 0.0)}")
    mixes = fn.op("i1", f"and {between.t}, {fn.op('i1', f'and {blends.t}, {float_results(image)}')}")
    filters, whole = compare(fn, "ne", image["filter"], 0), fn.const("float", 256.0)
    far = fn.op("float", f"select {mixes.t}, {part.t}, {fn.const('float', 0.0).t}")
    near = binary(fn, "fsub", whole, far)
    sums = [Variable(fn, fn.const("i32", 0)) for _ in range(4)]
    with each(fn, select(fn, mixes, 2, fn.const("i32", 1))) as i:
        level = fn.call("llvm.umin.i32", "i32", binary(fn, "add", number, i), last)
        share = fn.op("float", f"select {compare(fn, 'eq', i, 0).t}, {near.t}, {far.t}")
        four = request.sample(image.at_level(level), share)
        factor = fn.op("float", f"select {filters.t}, {whole.t}, {share.t}")  # linear filtering has multiplied by it
        factor = binary(fn, "fmul", factor, fn.const("float", 1 / 256))
        for total, v in zip(sums, four, strict=True):
            mixed = fn.call("llvm.fma.f32", "float", fn.cast(v, "float"), factor, fn.cast(total.get(), "float"))
            total.set(select(fn, mixes, fn.cast(mixed, "i32"), v))
    with when(fn, filters):
        for total, v in zip(sums, filtered(image, [fn.cast(t.get(), "float") for t in sums]), strict=True):
            total.set(v)
    deliver(fn, inst, present(image, [total.get() for total in sums]))


def float_results(image: Image) -> Val:
    return image.fn.op("i1", f"xor {image.flag(TEXTURE_INTEGERS).t}, true")


def gradient(fn: FunctionLowering, inst: Inst, request: Request) -> Val:
    """The level of detail at which the longer of two gradients is one texel long."""
    image = request.image
    sizes = [fn.op("float", f"uitofp {size.t} to float") for size in request.sizes(image)]
    one = fn.const("float", 1.0)
    scales = [fn.op("float", f"select {image.flag(TEXTURE_NORMALIZED).t}, {size.t}, {one.t}") for size in sizes]
    if request.cube:  # a direction's part across the face, over twice its length along the axis
        axes = [fn.call("llvm.fabs.f32", "float", c) for c in request.direction]
        major = fn.call("llvm.maxnum.f32", "float", fn.call("llvm.maxnum.f32", "float", axes[0], axes[1]), axes[2])
        scales = [fn.op("float", f"fdiv {sizes[0].t}, {binary(fn, 'fadd', major, major)}")] * 3
    longest = fn.const("float", 0.0)
    for name in "gh":
        moved = [binary(fn, "fmul", c, scale) for c, scale in zip(fn.vec(inst, name, "f32"), scales, strict=False)]
        longest = fn.call("llvm.maxnum.f32", "float", longest, length(fn, moved))
    return fn.call("llvm.log2.f32", "float", longest)


def length(fn: FunctionLowering, vector: list[Val]) -> Val:
    """About a vector's length. In two dimensions the longer part and 0.3475 of the other, as on NVIDIA's GPUs."""
    parts = [fn.call("llvm.fabs.f32", "float", v) for v in vector]
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        longer, shorter = (fn.call(f"llvm.{name}.f32", "float", *parts) for name in ("maxnum", "minnum"))
        return fn.call("llvm.fma.f32", "float", shorter, fn.const("float", 0.3475), longer)
    squares = fn.const("float", 0.0)
    for v in parts:
        squares = fn.call("llvm.fma.f32", "float", v, v, squares)
    return fn.call("llvm.sqrt.f32", "float", squares)


@lowers("tld4")
def tld4(fn: FunctionLowering, inst: Inst) -> None:
    """One channel of the four texels that linear filtering would take."""
    request = Request(fn, inst, "f32")
    image = request.image
    around = []
    for k, x, size in request.axes(image):
        first, second, _ = footprint(image, x, size, k, request.offset(k), clamps=False)
        around.append([request.placed(image, i, size, k) for i in (first, second)])
    four = [present(image, texel) for texel in request.lit(image, request.texels(image, around, returned))]
    channel = "rgba".index(inst.shape.mods["comp"])
    deliver(fn, inst, [four[k][channel] for k in (2, 3, 1, 0)])


QUERIES = {
    "width": "width",
    "height": "height",
    "depth": "depth",
    "array_size": "layers",
    "filter_mode": "filter",
    "addr_mode_0": "mode0",
    "addr_mode_1": "mode1",
    "addr_mode_2": "mode2",
    "channel_data_type": "format",
    "channel_order": "channels",
}


@lowers("image_query")
def image_query(fn: FunctionLowering, inst: Inst) -> None:
    """txq, suq: fields of the descriptor. Types of channels are CUarray_format's, their order is their number."""
    query = inst.shape.mods["query"]
    image = Image(fn, handle(fn, inst))
    if fn.has(inst, "l"):
        last = fn.call("llvm.usub.sat.i32", "i32", image["levels"], fn.const("i32", 1))
        image = image.at_level(fn.call("llvm.umin.i32", "i32", fn.src(inst, "l"), last))
    if query in QUERIES:
        v = image[QUERIES[query]]
    elif query == "num_mipmap_levels":
        v = fn.call("llvm.umax.i32", "i32", image["levels"], fn.const("i32", 1))
    elif query in ("num_samples", "memory_layout"):  # one sample; arrays are not linear memory
        v = fn.const("i32", int(query == "num_samples"))
    elif query == "normalized_coords":
        v = fn.resize(image.flag(TEXTURE_NORMALIZED), 32)
    else:
        fn.refuse(inst, f"the query .{query}")
    fn.put(inst, "d", v)


KINDS = {"texref": KIND_TEXTURE, "surfref": KIND_SURFACE}


@lowers("istypep")
def istypep(fn: FunctionLowering, inst: Inst) -> None:
    """Whether a handle is of a kind; samplers are no objects of their own here."""
    kind = KINDS.get(inst.shape.mods["t"])
    image = Image(fn, handle(fn, inst))
    fn.put(inst, "p", compare(fn, "eq", image["kind"], kind) if kind else fn.const("i1", 0))
