"""Tensor copies against tests/reference/tensors.py: tiles of 1 to 5 dimensions, every element type, swizzle, step
and edge, columns of convolutions, four rows; loads, stores and reductions; changed maps; wrong ones."""

from __future__ import annotations

import operator
import random
import struct
import subprocess
import sys
from functools import cache

import pytest

from ptx2amd.hip import HipError
from tests import ROOT
from tests.lower.device import EVERY, Program, program
from tests.reference.tensors import SIZES, TensorMap

BYTES = 16384  # of the box in shared memory
COMPLETE = "mbarrier::complete_tx::bytes"


def text(dim: str, mode: str, offsets: int, move: str, space: str = "cluster") -> str:
    """k(map, data, coordinates, shared contents): shared memory is filled, one copy made, and read back."""
    count = 5 if "4" in mode else int(dim[0])
    at = ", ".join(f"%c{i}" for i in range(count))
    where = f"[%map, {{{at}}}]"
    info = f", {{{', '.join(f'%o{i}' for i in range(offsets))}}}" if offsets else ""
    if move == "load":
        copy = (
            f"mbarrier.arrive.expect_tx.shared.b64 _, [bar], %n;"
            f"cp.async.bulk.tensor.{dim}.shared::{space}.global.{mode}.{COMPLETE} [sh], {where}, [bar]{info};"
        )
    else:
        name = "cp.async.bulk.tensor" if move == "store" else "cp.reduce.async.bulk.tensor"
        op = "" if move == "store" else f".{move}"
        copy = (
            f"{name}.{dim}.global.shared::cta{op}.{mode}.bulk_group {where}, [sh];"
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mbarrier.arrive.shared.b64 _, [bar];"
        )
    return f"""
.version 8.6\n.target sm_100a\n.address_size 64
.visible .entry k(.param .u64 map, .param .u64 data, .param .u64 where, .param .u64 box) {{
    .shared .align 1024 .b8 sh[{BYTES}]; .shared .align 8 .b64 bar;
    .reg .b64 %map, %where, %box, %at; .reg .b32 %t, %i, %s, %v<4>, %c<5>, %n; .reg .b16 %o<3>; .reg .pred %p, %q;
    ld.param.u64 %map, [map]; ld.param.u64 %where, [where]; ld.param.u64 %box, [box];
    mov.u32 %t, %tid.x; setp.ne.u32 %q, %t, 0; mov.u32 %s, sh;
    @!%q mbarrier.init.shared.b64 [bar], 1;
    {"".join(f"ld.global.b32 %c{i}, [%where+{4 * i}];" for i in range(5))}
    {"".join(f"ld.global.b16 %o{i}, [%where+{20 + 2 * i}];" for i in range(3))}
    ld.global.b32 %n, [%where+28];
    shl.b32 %i, %t, 4;
FILL: cvt.u64.u32 %at, %i; add.u64 %at, %at, %box; ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%at];
    add.u32 %v0, %v0, 0; mov.u32 %s, sh; add.u32 %s, %s, %i; st.shared.v4.b32 [%s], {{%v0, %v1, %v2, %v3}};
    add.u32 %i, %i, 1024; setp.lt.u32 %p, %i, {BYTES}; @%p bra FILL;
    fence.proxy.async; bar.sync 0;
    @%q bra WAIT;
    {copy}
WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra WAIT;
    shl.b32 %i, %t, 4;
BACK: cvt.u64.u32 %at, %i; add.u64 %at, %at, %box; mov.u32 %s, sh; add.u32 %s, %s, %i;
    ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%s]; st.global.v4.b32 [%at], {{%v0, %v1, %v2, %v3}};
    add.u32 %i, %i, 1024; setp.lt.u32 %p, %i, {BYTES}; @%p bra BACK;
    ret; }}
"""


class Case:
    """One copy on a device, and what it leaves in the tensor's memory and in the box."""

    def __init__(
        self,
        tensor: TensorMap,
        arch: str,
        move: str = "load",
        mode: str = "tile",
        offsets: int = 0,
        space: str = "cluster",
    ) -> None:
        self.tensor, self.mode, self.move = tensor, mode, move
        dim = f"{len(tensor.sizes)}d"
        self.device = program(text(dim, mode, offsets, move, space), arch)
        draw = random.Random(f"{tensor}")
        size = max([SIZES[tensor.elemtype] * tensor.sizes[0], *map(int.__mul__, tensor.strides, tensor.sizes[1:])])
        self.memory, self.box = draw.randbytes(size), draw.randbytes(BYTES)

    def run(self, at: tuple[int, ...], count: int = 0, offsets: tuple[int, ...] = ()) -> tuple[bytes, bytes]:
        gpu = self.device.gpu
        memory, box = gpu.buffer(self.memory), gpu.buffer(self.box)
        self.tensor.address = memory.address
        words = struct.pack("<5i3HxxI", *[*at, 0, 0, 0, 0][:5], *[*offsets, 0, 0, 0][:3], count)
        described, where = gpu.buffer(self.tensor.encoded()), gpu.buffer(words)
        self.device.launch("k", 1, 64, [described, memory, where, box])
        gpu.synchronize()
        return memory.bytes(), box.bytes()

    def load(self, at: tuple[int, ...], offsets: tuple[int, ...] = ()) -> None:
        want = bytearray(self.box)
        more = {"offsets": offsets, "four": "4" in self.mode}
        count = self.tensor.loaded(self.memory, want, 0, at, **more)
        memory, box = self.run(at, count, offsets)
        assert memory == self.memory
        wrong = [i for i in range(BYTES) if box[i] != want[i]]
        assert not wrong, (self.tensor, at, wrong[:8])

    def store(self, at: tuple[int, ...]) -> None:
        want = bytearray(self.memory)
        self.tensor.stored(want, self.box, 0, at, four="4" in self.mode)
        memory, box = self.run(at)
        assert box == self.box
        wrong = [i for i in range(len(want)) if memory[i] != want[i]]
        assert not wrong, (self.tensor, at, wrong[:8])


def random_map(dims: int, draw: random.Random) -> TensorMap:
    """A tiled map whose box fits, of any type, swizzle and step."""
    elemtype = draw.randrange(13)
    size = SIZES[elemtype]
    swizzle, atomicity = draw.choice([(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)])
    most = {0: 256, 1: 32, 2: 64, 3: 128}[swizzle]
    inner = 16 * draw.randint(1, most // 16) // size
    sizes = (draw.randint(1, 40), *(draw.randint(1, 6) for _ in range(dims - 1)))
    steps = (1, *(draw.choice((1, 1, 2, 3)) for _ in range(dims - 1)))
    box, rows = [min(inner, 256)], 1
    for _ in range(dims - 1):
        extent = draw.randint(1, max(1, min(5, 40 // rows)))
        box.append(extent)
        rows *= extent
    strides, stride = [], -(-sizes[0] * size // 16) * 16
    for s in sizes[1:]:
        stride += 16 * draw.choice((0, 0, 1))
        strides.append(stride)
        stride *= s
    nan = draw.random() < 0.3 and elemtype >= 6
    return TensorMap(sizes, tuple(strides), tuple(box), steps, elemtype, swizzle, atomicity, nan)


@cache
def cases(dims: int, count: int) -> list[tuple[TensorMap, list[tuple[int, ...]]]]:
    draw = random.Random(f"tensor {dims}")
    maps = [random_map(dims, draw) for _ in range(count)]
    return [(m, [tuple(draw.randint(-b, s) for s, b in zip(m.sizes, m.box, strict=True)), (0,) * dims]) for m in maps]


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("dims", range(1, 6))
def test_tiles(dims: int, arch: str) -> None:
    for tensor, places in cases(dims, 5):
        for at, space in zip(places, ("cluster", "cta"), strict=True):
            Case(tensor, arch, space=space).load(at)
            Case(tensor, arch, "store").store(tuple(map(abs, at)))


@pytest.mark.slow
@pytest.mark.parametrize("dims", range(1, 6))
def test_many_tiles(dims: int) -> None:
    for tensor, places in cases(dims, 150):
        for at in places:
            Case(tensor, "gfx942").load(at)
            Case(tensor, "gfx1100", "store").store(tuple(map(abs, at)))


def convolution(dims: int, draw: random.Random) -> TensorMap:
    """A map of pixels: channels, then W, H, D, then images."""
    elemtype, swizzle = draw.choice((6, 7, 10)), draw.choice((0, 1, 2, 3))
    size = SIZES[elemtype]
    channels = min({0: 64, 1: 32, 2: 64, 3: 128}[swizzle], 128) // size
    spatial = [draw.randint(3, 6) for _ in range(dims - 2)]
    sizes = (draw.choice((channels, channels - 1, 2 * channels)), *spatial, 2)
    strides, stride = [], -(-sizes[0] * size // 16) * 16
    for s in sizes[1:]:
        strides.append(stride)
        stride *= s
    lower = tuple(draw.choice((-1, 0)) for _ in spatial)
    upper = tuple(draw.choice((-1, 0)) for _ in spatial)
    steps = (1, *(draw.choice((1, 1, 2)) for _ in spatial), 1)
    return TensorMap(
        sizes, tuple(strides), (channels, draw.randint(1, 70)), steps, elemtype, swizzle, 0, draw.random() < 0.3, True,
        lower, upper,
    )  # fmt: skip


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("dims", (3, 4, 5))
def test_convolutions(dims: int, arch: str) -> None:
    draw = random.Random(f"im2col {dims}")
    for space in ("cluster", "cta", "cluster", "cta"):
        tensor = convolution(dims, draw)
        spatial = range(1, dims - 1)
        at = [draw.choice((0, 0, 1))]
        for i in spatial:
            last = (tensor.sizes[i] - 1 + tensor.upper[i - 1] - tensor.lower[i - 1]) // tensor.steps[i]
            at.append(tensor.lower[i - 1] + tensor.steps[i] * draw.randint(0, max(last, 0)))
        at.append(draw.choice((0, 1)))
        offsets = tuple(draw.randint(0, 2) for _ in spatial)
        Case(tensor, arch, "load", "im2col", dims - 2, space).load(tuple(at), offsets)
        Case(tensor, arch, "store", "im2col_no_offs").store(tuple(at))


@pytest.mark.parametrize("arch", EVERY)
def test_four_rows(arch: str) -> None:
    tensor = TensorMap((24, 9), (96,), (16, 1), (1, 1), 7, 2)
    for at, space in (((0, 3, 8, 0, 5), "cluster"), ((12, 1, 9, -1, 2), "cta")):
        Case(tensor, arch, "load", "tile::gather4", space=space).load(at)
        Case(tensor, arch, "store", "tile::scatter4").store(tuple(map(abs, at)))


OPERATIONS = {"add": operator.add, "min": min, "max": max, "and": int.__and__, "xor": int.__xor__, "or": int.__or__}
CODES = {2: "I", 3: "i", 4: "Q", 5: "q", 6: "e", 7: "f", 9: "d"}


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("op", ["add", "min", "max", "inc", "dec", "and", "or", "xor"])
def test_reductions(op: str, arch: str) -> None:
    """Every operation on the types that have it; small floats, so that sums are exact."""
    kinds = {"add": (2, 3, 4, 5, 6, 7, 9), "min": (2, 3, 4, 5, 6), "max": (2, 3, 4, 5, 6), "inc": (2,), "dec": (2,)}
    for kind in kinds.get(op, (2, 4)):
        tensor = TensorMap((20, 5), (160,), (16, 4), (1, 1), kind, 0)
        case = Case(tensor, arch, op)
        code, size = CODES[kind], SIZES[kind]
        draw = random.Random(f"{op} {kind}")
        for name, count in (("memory", len(case.memory)), ("box", BYTES)):
            values = [
                draw.randint(-64, 64) / 4 if code in "efd" else draw.randrange(1 << 8 * size - 1)
                for _ in range(count // size)
            ]
            setattr(case, name, struct.pack(f"<{count // size}{code}", *values))
        want = bytearray(case.memory)
        places = [(p, t) for p, t in tensor.pieces(0, (7, 2)) if t is not None and t % size == 0]
        for place, there in places:
            [old], [new] = struct.unpack_from(code, case.memory, there), struct.unpack_from(code, case.box, place)
            if op in ("inc", "dec"):
                result = (0 if old >= new else old + 1) if op == "inc" else (new if old == 0 or old > new else old - 1)
            else:
                result = OPERATIONS[op](old, new)
            if code not in "efd":
                mask = (1 << 8 * size) - 1
                want[there : there + size] = (result & mask).to_bytes(size, "little")
            else:
                struct.pack_into(code, want, there, result)
        assert case.run((7, 2))[0] == want, (op, kind)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("dims", [2, 3, 4, 5])
def test_reductions_of_rows_and_pixels(dims: int, arch: str) -> None:
    """Four rows of a plane, or columns of a convolution: each element once for each time that the box has it."""
    if dims == 2:
        tensor, mode = TensorMap((24, 9), (96,), (16, 1), (1, 1), 2, 0), "tile::scatter4"
        at: tuple[int, ...] = (4, 1, 8, 0, 5)
    else:
        spatial = dims - 2
        sizes = (8, *(4,) * spatial, 2)
        strides = tuple(32 * 4**i for i in range(spatial + 1))
        zeros = (0,) * spatial
        tensor = TensorMap(sizes, strides, (8, 70), (1,) * dims, 2, 0, 0, False, True, zeros, zeros)
        mode, at = "im2col_no_offs", (0, *(1,) * spatial, 0)
    case = Case(tensor, arch, "add", mode)
    want = bytearray(case.memory)
    tensor.reduced(want, case.box, 0, at, operator.add, four=dims == 2)
    assert case.run(at)[0] == want


@pytest.mark.parametrize("arch", EVERY)
def test_prefetches(arch: str) -> None:
    """Prefetches of every mode change nothing."""
    head = "cp.async.bulk.prefetch.tensor"
    lines = [f"{head}.{n}d.L2.global.tile [%m, {{{', '.join(['%x'] * n)}}}];" for n in range(1, 6)]
    lines.append(f"{head}.2d.L2.global.tile::gather4 [%m, {{%x, %x, %x, %x, %x}}];")
    for n in (3, 4, 5):
        place, offsets = ", ".join(["%x"] * n), ", ".join(["%o"] * (n - 2))
        lines.append(f"{head}.{n}d.L2.global.im2col [%m, {{{place}}}], {{{offsets}}};")
    lines.append("cp.async.bulk.prefetch.L2.global [%m], 16;")
    kernel = f""".version 8.6\n.target sm_100a\n.address_size 64
.visible .entry k(.param .u64 map) {{
    .reg .b64 %m; .reg .b32 %x; .reg .b16 %o; ld.param.u64 %m, [map]; mov.b32 %x, 0; mov.b16 %o, 0;
    {" ".join(lines)}
    st.global.b32 [%m+128], 7; ret; }}
"""
    content = TensorMap((8, 8), (32,), (8, 8)).encoded()
    [after] = program(kernel, arch).run("k", 1, [content + bytes(4)])
    assert after == content + struct.pack("<I", 7)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("first", [TensorMap((8, 8), (32,), (8, 8)).encoded(), bytes(128)], ids=["map", "zeros"])
def test_changed_map(first: bytes, arch: str) -> None:
    """tensormap.replace of every field of a map in shared memory, published to global memory and used there."""
    other = TensorMap((30, 6), (128,), (32, 4), (1, 2), 6, 2, 0, True)
    fields = [("global_address", "b64", "%data"), ("rank", "b32", "1"), ("elemtype", "b32", "6")]
    fields += [("swizzle_mode", "b32", "2"), ("swizzle_atomicity", "b32", "0"), ("fill_mode", "b32", "1")]
    fields += [("interleave_layout", "b32", "0"), ("global_stride", "b64", "0, 128")]
    for name, values in (("global_dim", other.sizes), ("box_dim", other.box), ("element_stride", other.steps)):
        fields += [(name, "b32", f"{i}, {v}") for i, v in enumerate(values)]
    edits = "".join(f"@!%q tensormap.replace.tile.{f}.shared::cta.b1024.{t} [tm], {v};" for f, t, v in fields)
    base = text("2d", "tile", 0, "load")
    base = base.replace(".shared .align 8 .b64 bar;", ".shared .align 8 .b64 bar; .shared .align 128 .b8 tm[128];")
    base = base.replace("%map,", "%map, %data, %word,", 1)
    copy_in = "".join(f"ld.global.b64 %word, [%map+{k}]; st.shared.b64 [tm+{k}], %word;" for k in range(0, 128, 8))
    publish = (
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [tm], 128;"
        "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;"
    )
    setup = f"ld.param.u64 %data, [data]; {copy_in} bar.sync 0; {edits} bar.sync 0; {publish}"
    base = base.replace("fence.proxy.async; bar.sync 0;", setup + "bar.sync 0;")
    device = program(base, arch)
    draw = random.Random("changed")
    memory, box = draw.randbytes(1024), draw.randbytes(BYTES)
    want = bytearray(box)
    count = other.loaded(memory, want, 0, (2, 1))
    gpu = device.gpu
    data, shared = gpu.buffer(memory), gpu.buffer(box)
    where = gpu.buffer(struct.pack("<5i3HxxI", 2, 1, 0, 0, 0, 0, 0, 0, count))
    device.launch("k", 1, 64, [gpu.buffer(first), data, where, shared])
    gpu.synchronize()
    assert shared.bytes() == want


WRONG = [{"im2col": True}, {"interleave": 1}, {"elemtype": 13}, {"sizes": (8, 8, 8)}, {}]


def wrong_maps() -> None:
    """Copy through maps that do not fit the instruction; after each fault the device starts anew."""
    for wrong in WRONG:
        tensor = TensorMap(**{"sizes": (8, 8), "strides": (32,), "box": (8, 8), **wrong})
        device = Program(text("2d", "tile", 0, "load"), "gfx1100")
        blob = tensor.encoded() if wrong else bytes(128)
        arguments = [device.gpu.buffer(blob), *(device.gpu.buffer(BYTES) for _ in range(3))]
        with pytest.raises(HipError, match="hipErrorIllegalAddress"):
            device.launch("k", 1, 64, arguments)
            device.gpu.synchronize()
        device.gpu.reset()


def test_wrong_maps() -> None:
    """A map of another kind than the instruction's, or bytes that are none, end the launch: no wrong data."""
    command = [sys.executable, "-c", "from tests.lower import test_tensor_copy as t; t.wrong_maps()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arch", EVERY)
def test_factors_outside(arch: str) -> None:
    """fma.oob makes 0 of the NaN that loads fill with, as a factor and by either sign; other NaNs stay."""
    kernel = """.version 8.1\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .b64 %in, %out; .reg .b16 %a, %b, %c, %d; .reg .b32 %p, %q, %r;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.global.b16 %a, [%in]; ld.global.b16 %b, [%in+2];
    ld.global.b16 %c, [%in+4];
    fma.rn.oob.f16 %d, %a, %b, %b; st.global.b16 [%out], %d;
    fma.rn.oob.relu.f16 %d, %b, %a, %b; st.global.b16 [%out+2], %d;
    fma.rn.oob.f16 %d, %b, %b, %a; st.global.b16 [%out+4], %d;
    fma.rn.oob.bf16 %d, %c, %b, %b; st.global.b16 [%out+6], %d;
    mov.b32 %p, {%a, %b}; mov.b32 %q, {%b, %b}; fma.rn.oob.f16x2 %r, %p, %q, %q; st.global.b32 [%out+8], %r;
    ret; }
"""
    _, out = program(kernel, arch).run("k", 1, [struct.pack("<3H", 0x7FF7, 0x3C00, 0xFFF7), 12])
    first, second, third, fourth, pair = struct.unpack("<4HI", out)
    assert (first, second, fourth, pair) == (0, 0, 0, 0x40000000)
    assert third & 0x7FFF > 0x7C00
