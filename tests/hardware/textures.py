"""Texture fetches: `python -m tests.hardware.textures OUT` asks the libcuda.so.1 that the loader finds, NVIDIA's or
ours, what instructions fetch from arrays of every shape, with every filter and address mode, and writes the results to
OUT (npz: for each case of `cases`, 256 threads by four words).
"""

from __future__ import annotations

import ctypes
import itertools
import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.hardware.driver import Device, DriverError

THREADS = 256
FORMATS = {"u8": (0x01, 1), "u16": (0x02, 2), "u32": (0x03, 4), "s8": (0x08, 1), "s16": (0x09, 2), "s32": (0x0A, 4),
           "f16": (0x10, 2), "f32": (0x20, 4)}  # fmt: skip
WRAP, CLAMP, MIRROR, BORDER = range(4)
INTEGERS, NORMALIZED, SRGB, SEAMLESS = 1, 2, 0x10, 0x40  # CU_TRSF_*
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8  # CUDA_ARRAY3D_*


@dataclass(frozen=True)
class Case:
    """An instruction (with X, Y, Z, L for coordinates) and the texture: its shape (width, height, depth), elements, how
    they are read."""

    instruction: str
    shape: tuple[int, int, int]
    format: str = "f32"
    channels: int = 4
    linear: bool = True
    address: int = CLAMP
    flags: int = NORMALIZED
    kind: int = 0  # of array
    levels: int = 1

    @property
    def title(self) -> str:
        how = f"{'linear' if self.linear else 'point'} address {self.address} flags {self.flags:#x}"
        return f"{self.instruction} of {self.shape} {self.format}x{self.channels} {how} levels {self.levels}"


def cases() -> Iterator[Case]:
    d = "{%d0, %d1, %d2, %d3}"
    plain = {
        (13, 0, 0): f"tex.1d.v4.T.f32 {d}, [%tex, {{X}}];",
        (13, 7, 0): f"tex.2d.v4.T.f32 {d}, [%tex, {{X, Y}}];",
        (6, 5, 4): f"tex.3d.v4.T.f32 {d}, [%tex, {{X, Y, Z, Z}}];",
    }
    ways = [(a, NORMALIZED) for a in range(4)] + [(CLAMP, 0), (BORDER, 0)]
    for (shape, text), (address, flags), linear in itertools.product(plain.items(), ways, (False, True)):
        for kind, channels in (("f32", 1), ("f32", 4), ("f16", 2), ("u8", 4), ("s16", 2), ("u16", 1), ("s8", 4)):
            yield Case(text.replace("T", "f32"), shape, kind, channels, linear, address, flags)
    for (shape, text), address in itertools.product(plain.items(), range(4)):
        for kind, channels in (("u8", 4), ("s16", 2), ("u32", 1), ("s32", 4)):
            typed = text.replace("T", "u32" if kind[0] == "u" else "s32")
            yield Case(typed, shape, kind, channels, False, address, INTEGERS | NORMALIZED)
    for shape, text in plain.items():
        for address in (CLAMP, BORDER):
            whole = text.replace(".T.f32", ".f32.s32").replace("X", "%i0").replace("Y", "%i1").replace("Z", "%i2")
            yield Case(whole, shape, "f32", 4, False, address, 0)
            yield Case(whole, shape, "f32", 4, True, address, 0)
        yield Case(text.replace("T", "f32"), shape, "u8", 4, True, CLAMP, NORMALIZED | SRGB)
        yield Case(text.replace("T", "f32"), shape, "u8", 4, False, WRAP, NORMALIZED | SRGB)
    for address, linear in itertools.product(range(4), (False, True)):
        yield Case(f"tex.a1d.v4.f32.f32 {d}, [%tex, {{%layer, X}}];", (13, 0, 5), linear=linear, address=address,
                   kind=LAYERED)  # fmt: skip
        yield Case(f"tex.a2d.v4.f32.f32 {d}, [%tex, {{%layer, X, Y, Y}}];", (13, 7, 5), linear=linear, address=address,
                   kind=LAYERED)  # fmt: skip
        for component in "rgba":
            yield Case(f"tld4.{component}.2d.v4.f32.f32 {d}, [%tex, {{X, Y}}];", (13, 7, 0), linear=linear,
                       address=address, kind=GATHER)  # fmt: skip
    for linear, seamless in itertools.product((False, True), (0, SEAMLESS)):
        cube = f"tex.cube.v4.f32.f32 {d}, [%tex, {{X, Y, Z, Z}}];"
        yield Case(cube, (8, 8, 6), linear=linear, flags=NORMALIZED | seamless, kind=CUBE)
    for linear, address in itertools.product((False, True), (WRAP, CLAMP, MIRROR, BORDER)):
        for kind, channels in (("f32", 4), ("u8", 4)):
            level = f"tex.level.2d.v4.f32.f32 {d}, [%tex, {{X, Y}}], L;"
            yield Case(level, (16, 8, 0), kind, channels, linear, address, levels=4)
            gradient = f"tex.grad.2d.v4.f32.f32 {d}, [%tex, {{X, Y}}], {{Z, 0f00000000}}, {{0f00000000, L}};"
            yield Case(gradient, (16, 8, 0), kind, channels, linear, address, levels=4)


KERNEL = """.version 8.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 tex, .param .u64 at, .param .u64 out) {
  .reg .b64 %tex, %at, %out; .reg .b32 %t, %i0, %i1, %i2, %layer, %d<4>; .reg .f32 %c<4>;
  ld.param.u64 %tex, [tex]; ld.param.u64 %at, [at]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 16, %at; mad.wide.u32 %out, %t, 16, %out;
  ld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%at];
  cvt.rmi.s32.f32 %i0, %c0; cvt.rmi.s32.f32 %i1, %c1; cvt.rmi.s32.f32 %i2, %c2; and.b32 %layer, %t, 7;
  INSTRUCTION
  st.global.v4.b32 [%out], {%d0, %d1, %d2, %d3}; ret;
}
"""


def kernel(case: Case) -> str:
    text = case.instruction
    for name, register in zip("XYZL", ("%c0", "%c1", "%c2", "%c3"), strict=True):
        text = text.replace(name, register)
    return KERNEL.replace("INSTRUCTION", text)


def coordinates(case: Case) -> bytes:
    """Texels' centres and borders, numbers around them, far outside, zero, and infinity or NaN."""
    draw = random.Random(case.title)
    rows = []
    for i in range(THREADS):
        row = []
        for size in (*case.shape, 4):
            n = max(size, 1)
            near = draw.choice((draw.uniform(-1.5 * n, 2.5 * n), draw.randrange(-n, 2 * n + 1) / 2,
                                draw.randrange(0, n) + draw.randrange(0, 512) / 512))  # fmt: skip
            row.append(near / n if case.flags & NORMALIZED else near)
        if case.kind & CUBE:
            row = [draw.uniform(-1, 1) for _ in row]
        elif case.levels > 1:
            row[2], row[3] = draw.uniform(0, 0.5), draw.choice((draw.uniform(-1, 4), draw.randrange(5), 0.5))
            if ".grad" in case.instruction:
                row[3] = draw.uniform(0, 1)
        if i < 4:
            row[0] = (float("inf"), float("-inf"), float("nan"), -0.0)[i]
        rows.append(struct.pack("<4f", *row))
    return b"".join(rows)


def texels(case: Case, count: int) -> bytes:
    draw = random.Random(f"{case.format} {count}")
    kind, size = case.format, FORMATS[case.format][1]
    if kind[0] == "f":
        return np.array([draw.uniform(-8, 8) for _ in range(count)], f"<f{size}").tobytes()
    return bytes(draw.randrange(256) for _ in range(count * size))


class Array3D(ctypes.Structure):
    _fields_ = [(n, ctypes.c_size_t) for n in ("width", "height", "depth")] + [
        (n, ctypes.c_uint) for n in ("format", "channels", "flags")
    ]


class Copy3D(ctypes.Structure):
    _fields_ = [
        *((f"src{n}", ctypes.c_size_t) for n in ("x", "y", "z", "lod")),
        ("src_type", ctypes.c_int), ("src_host", ctypes.c_void_p), ("src_device", ctypes.c_uint64),
        ("src_array", ctypes.c_void_p), ("reserved0", ctypes.c_void_p), ("src_pitch", ctypes.c_size_t),
        ("src_height", ctypes.c_size_t),
        *((f"dst{n}", ctypes.c_size_t) for n in ("x", "y", "z", "lod")),
        ("dst_type", ctypes.c_int), ("dst_host", ctypes.c_void_p), ("dst_device", ctypes.c_uint64),
        ("dst_array", ctypes.c_void_p), ("reserved1", ctypes.c_void_p), ("dst_pitch", ctypes.c_size_t),
        ("dst_height", ctypes.c_size_t),
        *((n, ctypes.c_size_t) for n in ("width", "height", "depth")),
    ]  # fmt: skip


class Resource(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handle", ctypes.c_void_p), ("rest", ctypes.c_int * 30),
                ("flags", ctypes.c_uint)]  # fmt: skip


class Texture(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_int * 3), ("filter", ctypes.c_int), ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint), ("mipmap_filter", ctypes.c_int), ("bias", ctypes.c_float),
        ("least", ctypes.c_float), ("most", ctypes.c_float), ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]  # fmt: skip


def fill(device: Device, array: ctypes.c_void_p, shape: tuple[int, ...], case: Case) -> None:
    width, height, depth = (max(n, 1) for n in shape)
    size = FORMATS[case.format][1] * case.channels
    content = texels(case, width * height * depth * case.channels)
    room = ctypes.create_string_buffer(content, len(content))
    copy = Copy3D(src_type=1, src_host=ctypes.addressof(room), src_pitch=width * size, src_height=height, dst_type=3,
                  dst_array=array, width=width * size, height=height, depth=depth)  # fmt: skip
    device.call("cuMemcpy3D_v2", ctypes.byref(copy))


def made(device: Device, case: Case) -> tuple[str, ctypes.c_void_p, int]:
    """(how to destroy it, array, type of resource)."""
    array, shape = ctypes.c_void_p(), case.shape
    descriptor = Array3D(*shape, FORMATS[case.format][0], case.channels, case.kind)
    if case.levels == 1:
        device.call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(descriptor))
        fill(device, array, shape, case)
        return "cuArrayDestroy", array, 0
    device.call("cuMipmappedArrayCreate", ctypes.byref(array), ctypes.byref(descriptor), case.levels)
    for level in range(case.levels):
        one = ctypes.c_void_p()
        device.call("cuMipmappedArrayGetLevel", ctypes.byref(one), array, level)
        fill(device, one, tuple(n and max(n >> level, 1) for n in shape), case)
    return "cuMipmappedArrayDestroy", array, 1


def fetched(device: Device, case: Case) -> bytes:
    end, array, kind = made(device, case)
    resource = Resource(kind=kind, handle=array)
    how = Texture((case.address,) * 3, int(case.linear), case.flags, 0, int(case.linear), 0, 0, case.levels - 1,
                  (0.25, 0.5, 0.75, 1))  # fmt: skip
    texture = ctypes.c_uint64()
    try:
        device.call("cuTexObjectCreate", ctypes.byref(texture), ctypes.byref(resource), ctypes.byref(how), None)
        module = device.load(kernel(case))
        at, out = device.allocate(16 * THREADS), device.allocate(16 * THREADS)
        device.write(at, coordinates(case))
        arguments = [n.to_bytes(8, "little") for n in (texture.value, at, out)]
        device.launch(device.function(module, "k"), (1, 1, 1), (THREADS, 1, 1), arguments, 0)
        device.synchronize()
        found = device.read(out, 16 * THREADS)
        device.free(at)
        device.free(out)
        device.unload(module)
        device.call("cuTexObjectDestroy", texture)
        return found
    finally:
        device.call(end, array)


def main() -> None:
    device = Device()
    found: dict[str, Any] = {}
    refused = []
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for case in list(cases())[::every]:
        try:
            found[case.title] = np.frombuffer(fetched(device, case), np.uint32).reshape(THREADS, 4)
        except DriverError as error:
            refused.append(f"{case.title}: {error}"[:300])
    titles = sorted(found)
    np.savez_compressed(sys.argv[1], titles=np.array(titles), values=np.stack([found[t] for t in titles]),
                        refused=np.array(refused))  # fmt: skip
    print(len(titles), "cases,", len(refused), "refused", *refused[:5], sep="\n")


if __name__ == "__main__":
    main()
