"""Textures: reads of texels, filtered or not, and queries. See lower/image.py."""

from __future__ import annotations

from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.image import (
    FIELDS,
    NORMALIZED,
    Image,
    channels,
    converted,
    footprint,
    index,
    position,
    whole,
)
from ptx2amd.lower.integer import binary, compare
from ptx2amd.lower.registry import lowers
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
    """The face that a direction meets (+x -x +y -y +z -z), and the point on it, 0 .. 1."""
    x, _, z = v
    ax, ay, az = (fn.call("llvm.fabs.f32", "float", c) for c in v)
    nx, ny, nz = (fn.op("float", f"fneg {c.t}") for c in v)

    def pick(cond: Val, yes: Val, no: Val) -> Val:
        return fn.op(yes.ty, f"select {cond.t}, {yes.t}, {no.t}")

    def less(a: Val, b: Val) -> Val:
        return fn.op("i1", f"fcmp oge {a.t}, {b}")

    is_x = fn.op("i1", f"and {less(ax, ay).t}, {less(ax, az)}")
    is_y = less(ay, az)
    zero = fn.const("float", 0.0)
    px, py, pz = (fn.op("i1", f"fcmp oge {c.t}, {zero}") for c in v)
    major = pick(is_x, ax, pick(is_y, ay, az))
    s = pick(is_x, pick(px, nz, z), pick(is_y, x, pick(pz, x, nx)))
    t = pick(is_x, ny, pick(is_y, pick(py, z, nz), ny))
    i32 = [fn.const("i32", n) for n in range(6)]
    face = pick(is_x, pick(px, i32[0], i32[1]), pick(is_y, pick(py, i32[2], i32[3]), pick(pz, i32[4], i32[5])))
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


Corner = tuple[list[Val], Val]  # indices along each axis, whether it is the border


def corners(image: Image, axes: list[list[tuple[Val, Val]]]) -> list[Corner]:
    """All combinations of the given (index, outside) pairs of each axis, the first axis varying fastest."""
    found: list[Corner] = [([], image.fn.const("i1", 0))]
    for axis in axes:
        found = [
            ([*indices, i], image.fn.op("i1", f"or {border.t}, {outside}"))
            for i, outside in axis
            for indices, border in found
        ]
    return found


def texels(image: Image, at: list[Corner], layer: Val | None) -> list[list[Val]]:
    """The channels of texels, as the instruction returns them (bits)."""
    raw = channels(image, [texel_address(image, indices, layer) for indices, _ in at])
    return [
        [converted(image, v, c, outside) for c, v in enumerate(four)]
        for four, (_, outside) in zip(raw, at, strict=True)
    ]


def linear(image: Image, points: list[Val], sizes: list[Val], layer: Val | None) -> list[Val]:
    """The weighted mean of the 2, 4 or 8 texels around a point."""
    fn = image.fn
    axes, weights = [], []
    for axis, (x, size) in enumerate(zip(points, sizes, strict=True)):
        first, second, weight = footprint(fn, x)
        axes.append([index(image, i, size, axis) for i in (first, second)])
        weights.append(weight)
    values = [[fn.cast(v, "float") for v in four] for four in texels(image, corners(image, axes), layer)]
    for weight in weights:
        other = binary(fn, "fsub", fn.const("float", 1.0), weight)
        values = [
            [
                fn.call("llvm.fma.f32", "float", b, weight, binary(fn, "fmul", a, other))
                for a, b in zip(values[k], values[k + 1], strict=True)
            ]
            for k in range(0, len(values), 2)
        ]
    return [fn.cast(v, "i32") for v in values[0]]


def located(fn: FunctionLowering, inst: Inst, ct: str) -> tuple[Image, list[Val], list[Val], Val | None]:
    """The image of an instruction, its coordinates and sizes along the axes, and its slice."""
    geometry = inst.shape.mods["geom"]
    layered = geometry[0] == "a"
    geometry = geometry.removeprefix("a")
    cube = geometry == "cube"
    dims = DIMENSIONS[geometry]
    image = Image(fn, handle(fn, inst))
    layer, points = coordinates(fn, inst, 3 if cube else dims, layered, ct)
    image.preload(*FIELDS)
    face = None
    if cube:
        face, points = cube_face(fn, points)
    slice_ = layer_of(image, layer, face) if layered or cube else None
    sizes = [fn.call("llvm.umax.i32", "i32", image[name], fn.const("i32", 1)) for name in SIZES[:dims]]
    return image, points, sizes, slice_


def deliver(fn: FunctionLowering, inst: Inst, four: list[Val]) -> None:
    """Write four channels (bits) in the type of the instruction."""
    t = inst.shape.mods["t"]
    if t in ("f16", "f16x2"):
        halves = [fn.op("half", f"fptrunc {fn.cast(v, 'float').t} to half") for v in four]
        words = [fn.cast(v, "i16") for v in halves]
        four = words if t == "f16" else [fn.pack(words[k : k + 2], "i32") for k in (0, 2)]
    fn.put_vec(inst, "d", four)


@lowers("tex")
def tex(fn: FunctionLowering, inst: Inst) -> None:
    """One texel, or with floating-point coordinates in a filtering texture the mean of its neighbours."""
    ct = inst.shape.mods["ct"]
    image, points, sizes, slice_ = located(fn, inst, ct)
    if ct == "s32":
        at = corners(image, [[index(image, x, size, i)] for i, (x, size) in enumerate(zip(points, sizes, strict=True))])
        [four] = texels(image, at, slice_)
        deliver(fn, inst, four)
        return
    points = [position(image, x, size, i) for i, (x, size) in enumerate(zip(points, sizes, strict=True))]
    filters = compare(fn, "ne", image["filter"], 0)
    near, mean, nearest, meant, join = (fn.block(n) for n in ("point", "linear", "pointed", "filtered", "texture"))
    fn.branch(filters, mean, near)
    fn.label(near)
    at = corners(
        image, [[index(image, whole(fn, x), size, i)] for i, (x, size) in enumerate(zip(points, sizes, strict=True))]
    )
    [one] = texels(image, at, slice_)
    fn.label(nearest)
    fn.branch(join)
    fn.label(mean)
    many = linear(image, points, sizes, slice_)
    fn.label(meant)
    fn.branch(join)
    fn.label(join)
    four = [
        fn.op("i32", f"phi i32 [ {a}, %{nearest} ], [ {b}, %{meant} ]") for a, b in zip(one, many, strict=True)
    ]
    deliver(fn, inst, four)


@lowers("tld4")
def tld4(fn: FunctionLowering, inst: Inst) -> None:
    """One channel of the four texels that linear filtering would take."""
    image, points, sizes, slice_ = located(fn, inst, "f32")
    points = [position(image, x, size, i) for i, (x, size) in enumerate(zip(points, sizes, strict=True))]
    axes = []
    for axis, (x, size) in enumerate(zip(points, sizes, strict=True)):
        first, second, _ = footprint(fn, x)
        axes.append([index(image, i, size, axis) for i in (first, second)])
    four = texels(image, corners(image, axes), slice_)
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
}


@lowers("image_query")
def image_query(fn: FunctionLowering, inst: Inst) -> None:
    """txq, suq: fields of the descriptor; textures have one level and one sample."""
    query = inst.shape.mods["query"]
    image = Image(fn, handle(fn, inst))
    if query in QUERIES:
        v = image[QUERIES[query]]
    elif query in ("num_mipmap_levels", "num_samples"):
        v = fn.const("i32", 1)
    elif query == "normalized_coords":
        v = fn.resize(image.flag(NORMALIZED), 32)
    else:
        fn.refuse(inst, f"the query .{query}")
    fn.put(inst, "d", v)


KINDS = {"texref": 1, "surfref": 2}


@lowers("istypep")
def istypep(fn: FunctionLowering, inst: Inst) -> None:
    """Whether a handle is of a kind; samplers are no objects of their own here."""
    kind = KINDS.get(inst.shape.mods["t"])
    image = Image(fn, handle(fn, inst))
    fn.put(inst, "p", compare(fn, "eq", image["kind"], kind) if kind else fn.const("i1", 0))


