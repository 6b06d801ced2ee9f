"""Copies of tensors' tiles: `python -m tests.hardware.tensors OUT [CASES]` asks the libcuda.so.1 that the loader finds,
NVIDIA's (from compute capability 9.0 on) or ours, which tensor maps it makes, and what is in shared memory after a tile
was copied there, and in global memory after it was copied, or added, back. Each line
of OUT (json) is a case's title and its answers.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import random
import signal
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.driver import Device, DriverError

TYPES = {"u8": (0, 1), "u16": (1, 2), "u32": (2, 4), "s32": (3, 4), "u64": (4, 8), "f16": (6, 2), "f32": (7, 4),
         "f64": (8, 8), "bf16": (9, 2), "f32.ftz": (10, 4), "tf32": (11, 4)}  # fmt: skip
INTERLEAVE, SWIZZLE = ("none", "16B", "32B"), ("none", "32B", "64B", "128B")
SECONDS = 60  # for one case
TILE = 16384  # bytes of shared memory, the most that a case copies


@dataclass(frozen=True)
class Case:
    """A tensor (sizes innermost first, in elements), a box of it, where it starts; `pixels`: by im2col, (lower, upper
    corners, channels, pixels, offsets)."""

    type: str
    sizes: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    start: tuple[int, ...]
    interleave: int
    swizzle: int
    nan: int
    pixels: tuple[Any, ...] = ()

    @property
    def title(self) -> str:
        how = f"{INTERLEAVE[self.interleave]} {SWIZZLE[self.swizzle]}{' nan' if self.nan else ''}"
        return f"{self.type} {self.sizes} box {self.box} steps {self.steps} at {self.start} {how} {self.pixels}"

    @property
    def size(self) -> int:
        return TYPES[self.type][1]

    @property
    def bytes(self) -> int:
        if self.pixels:
            return self.pixels[2] * self.pixels[3] * self.size
        count = self.size
        for box, step in zip(self.box, self.steps, strict=True):
            count *= -(-box // step)
        return count


def cases(count: int) -> Iterator[Case]:
    draw = random.Random("tensors")
    while count:
        kind = draw.choice(list(TYPES))
        size = TYPES[kind][1]
        im2col = draw.random() < 0.25
        rank = draw.randrange(3, 6) if im2col else draw.randrange(1, 6)
        interleave = draw.choice((0, 0, 0, 1, 2)) if rank >= 3 else 0
        swizzle = draw.choice((0, 0, 1, 2, 3)) if interleave != 2 else 1
        block = (0, 16, 32)[interleave] // size
        span = (0, 32, 64, 128)[swizzle] // size
        inner = block or draw.choice([n for n in (16 // size, 32 // size, 64 // size, 128 // size) if n])
        if span and inner > span:
            inner = span
        sizes = [inner * draw.randrange(1, 4) if not block else inner]
        sizes += [draw.randrange(1, 9) for _ in range(rank - 1)]
        box = [inner, *(draw.randrange(1, n + 2) for n in sizes[1:])]
        steps = [1, *(draw.choice((1, 1, 1, 2, 3)) for _ in sizes[1:])]
        start = [draw.randrange(-n, n + 1) if draw.random() < 0.6 else 0 for n in sizes]
        pixels: tuple[Any, ...] = ()
        if im2col:
            lower = tuple(draw.randrange(-2, 1) for _ in range(rank - 2))
            upper = tuple(draw.randrange(-2, 2) for _ in range(rank - 2))
            offsets = tuple(draw.randrange(0, 3) for _ in range(rank - 2))
            pixels = (lower, upper, inner, draw.randrange(1, 33), offsets)
            start[1:-1] = [draw.randrange(-1, n) for n in sizes[1:-1]]
        start[0] = start[0] * size // 16 * 16 // size  # hardware faults where a row does not begin at 16 bytes
        nan = int(kind[0] in "fbt" and draw.random() < 0.3)
        case = Case(kind, tuple(sizes), tuple(box), tuple(steps), tuple(start), interleave, swizzle, nan, pixels)
        if case.bytes <= TILE and case.bytes % 16 == 0:
            count -= 1
            yield case


HEAD = """.version 8.0
.target sm_90
.address_size 64
"""
LOAD = """.visible .entry load(.param .align 64 .b8 map[128], .param .u64 out, .param .align 4 .b8 at[36]) {
  .shared .align 1024 .b8 tile[SIZE]; .shared .align 8 .b64 bar;
  .reg .b64 %map, %out, %o; .reg .b32 %t, %s, %n, %k, %c<5>, %h<3>; .reg .b16 %b<3>; .reg .pred %p, %q;
AT  mov.b64 %map, map; cvta.param.u64 %map, %map; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; mov.u32 %n, %t;
FILL: st.shared.b32 [%s], 0xEEEEEEEE; add.u32 %s, %s, 512; add.u32 %n, %n, 128; setp.lt.u32 %p, %n, WORDS; @%p bra FILL;
  mov.u32 %n, %k; setp.ne.u32 %q, %t, 0; @%q bra READY;
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;
READY: bar.sync 0; fence.proxy.async; bar.sync 0; mov.u32 %k, 0; @%q bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], %n;
  cp.async.bulk.tensor.RANKd.shared::cluster.global.MODE.mbarrier::complete_tx::bytes [tile], [%map, {START}], [bar]OFF;
WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @%p bra DONE; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 1000000;
  @%p bra WAIT; trap;
DONE: mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; mad.wide.u32 %o, %t, 4, %out; mov.u32 %n, %t;
COPY: ld.shared.b32 %k, [%s]; st.global.b32 [%o], %k; add.u32 %s, %s, 512; add.u64 %o, %o, 512; add.u32 %n, %n, 128;
  setp.lt.u32 %p, %n, WORDS; @%p bra COPY; ret;
}
"""
STORE = """.visible .entry store(.param .align 64 .b8 map[128], .param .u64 in, .param .align 4 .b8 at[36]) {
  .shared .align 1024 .b8 tile[SIZE];
  .reg .b64 %map, %in, %i; .reg .b32 %t, %s, %n, %k, %c<5>, %h<3>; .reg .b16 %b<3>; .reg .pred %p, %q;
AT  mov.b64 %map, map; cvta.param.u64 %map, %map; ld.param.u64 %in, [in]; mov.u32 %t, %tid.x;
  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; mad.wide.u32 %i, %t, 4, %in; mov.u32 %n, %t;
FILL: ld.global.b32 %k, [%i]; st.shared.b32 [%s], %k; add.u32 %s, %s, 512; add.u64 %i, %i, 512; add.u32 %n, %n, 128;
  setp.lt.u32 %p, %n, WORDS; @%p bra FILL;
  fence.proxy.async; bar.sync 0; setp.ne.u32 %q, %t, 0; @%q bra END;
  COPY [%map, {START}], [tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END: ret;
}
"""
AT = (
    "".join(f"  ld.param.b32 %c{i}, [at+{4 * i}];\n" for i in range(5))
    + "".join(f"  ld.param.b32 %h{i}, [at+{20 + 4 * i}]; cvt.u16.u32 %b{i}, %h{i};\n" for i in range(3))
    + "  ld.param.b32 %k, [at+32];\n"
)  # coordinates, offsets, bytes
COPY = {  # how a tile is written
    "store": "cp.async.bulk.tensor.RANKd.global.shared::cta.MODE.bulk_group",
    "add": "cp.reduce.async.bulk.tensor.RANKd.global.shared::cta.add.MODE.bulk_group",
    "max": "cp.reduce.async.bulk.tensor.RANKd.global.shared::cta.max.MODE.bulk_group",
}
MODES = {  # and which elements can be written so
    "store": tuple(TYPES),
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f32.ftz"),
    "max": ("u32", "s32", "u64", "f16", "bf16"),
}


def completed(text: str, rank: int, im2col: bool) -> str:
    mode = "im2col" if im2col else "tile"
    offsets = f", {{{', '.join(f'%b{i}' for i in range(rank - 2))}}}" if im2col else ""
    if "store(" in text:
        mode, offsets = mode.replace("im2col", "im2col_no_offs"), ""
    start = ", ".join(f"%c{i}" for i in range(rank))
    fields = {"AT": AT, "RANK": rank, "MODE": mode, "START": start, "WORDS": TILE // 4, "SIZE": TILE, "OFF": offsets}
    for name, value in fields.items():
        text = text.replace(name, str(value))
    return HEAD + text


@cache
def kernel(device: Device, name: str, rank: int, im2col: bool) -> ctypes.c_void_p:
    text = LOAD if name == "load" else STORE.replace("COPY [", f"{COPY[name]} [")
    module = device.load(completed(text, rank, im2col))
    return device.function(module, "load" if name == "load" else "store")


def place(case: Case) -> bytes:
    """The kernel's argument `at`."""
    offsets = (*(case.pixels[4] if case.pixels else ()), 0, 0, 0)[:3]
    return struct.pack("<9i", *(*case.start, 0, 0, 0, 0, 0)[:5], *offsets, case.bytes)


def content(case: Case, count: int, seed: str) -> bytes:
    draw = np.random.default_rng(abs(hash_of(seed + case.type)))
    kind = case.type
    if kind in ("f16", "f32", "f64"):
        return draw.integers(-99, 99, count).astype(f"<f{case.size}").tobytes()
    if kind in ("f32.ftz", "tf32"):
        return draw.integers(-99, 99, count).astype("<f4").tobytes()
    if kind == "bf16":
        return (draw.integers(-99, 99, count).astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return draw.integers(0, 256, count * case.size, dtype=np.uint8).tobytes()


def hash_of(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def encoded(device: Device, case: Case, address: int) -> tuple[int, bytes]:
    rank, size = len(case.sizes), case.size
    raw = (ctypes.c_char * 256)()
    at = (ctypes.addressof(raw) + 63) & ~63
    numbers = lambda kind, values: (kind * max(len(values), 1))(*values)  # noqa: E731
    strides, total = [], size * case.sizes[0]
    total = (total + 15) // 16 * 16 if not case.interleave else (total + 31) // 32 * 32
    for n in case.sizes[1:]:
        strides.append(total)
        total *= n
    dims, steps = numbers(ctypes.c_uint64, case.sizes), numbers(ctypes.c_uint32, case.steps)
    pitch = numbers(ctypes.c_uint64, strides)
    common = (ctypes.c_void_p(at), TYPES[case.type][0], rank, ctypes.c_uint64(address), dims, pitch)
    tail = (steps, case.interleave, case.swizzle, 0, case.nan)
    if case.pixels:
        lower, upper, channels, pixels, _ = case.pixels
        code = device.lib.cuTensorMapEncodeIm2col(
            *common, numbers(ctypes.c_int, lower), numbers(ctypes.c_int, upper), channels, pixels, *tail
        )
    else:
        code = device.lib.cuTensorMapEncodeTiled(*common, numbers(ctypes.c_uint32, case.box), *tail)
    return code, ctypes.string_at(at, 128)


def whole(case: Case) -> int:
    """Bytes of the tensor, with its rows' padding."""
    total = case.size * case.sizes[0]
    total = (total + 15) // 16 * 16 if not case.interleave else (total + 31) // 32 * 32
    for n in case.sizes[1:]:
        total *= n
    return total


def ask(device: Device, case: Case, name: str) -> int | str:
    """The code of a map that is not made, or what is in shared or global memory afterwards."""
    size = whole(case)
    tensor = device.allocate(size + 4096)
    code, encoding = encoded(device, case, tensor)
    if code:
        return code
    device.write(tensor, content(case, size // case.size, "tensor"))
    buffer = device.allocate(TILE)
    device.write(buffer, content(case, TILE // case.size, "tile") if name != "load" else bytes(TILE))
    function = kernel(device, name, len(case.sizes), bool(case.pixels))
    arguments = [encoding, buffer.to_bytes(8, "little"), place(case)]
    device.launch(function, (1, 1, 1), (128, 1, 1), arguments, 0)
    device.synchronize()
    found = device.read(buffer, TILE) if name == "load" else device.read(tensor, size)
    device.free(buffer)
    device.free(tensor)
    return hashlib.sha256(found).hexdigest()[:16]


Task = tuple[Case, str]


def tasks(count: int) -> list[Task]:
    """Only what the hardware can do: it faults where tiles are stored from negative places on, or by im2col."""
    found = []
    for case in cases(count):
        found.append((case, "load"))
        inside = replace(case, start=tuple(abs(n) for n in case.start))
        if not case.pixels:
            found += [(inside, name) for name, types in MODES.items() if case.type in types]
    return found


def run(todo: list[Task], out: Path) -> None:
    """Appends a line for each task, up to one that faults and takes the context with it."""
    device = Device()
    for case, name in todo:
        signal.alarm(SECONDS)
        try:
            answer = ask(device, case, name)
        except DriverError as error:
            answer = str(error)[:200]
        with out.open("a") as f:
            f.write(json.dumps([f"{name} {case.title}", answer]) + "\n")
        if isinstance(answer, str) and ":" in answer:
            return


def main() -> None:
    out, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300
    part, parts = (int(n) for n in (sys.argv[3] if len(sys.argv) > 3 else "0/1").split("/"))
    mine = tasks(count)[part::parts]
    out.write_text("")
    done = 0
    while done < len(mine):
        child = os.fork()
        if not child:
            try:
                run(mine[done:], out)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        now = len(out.read_text().splitlines())
        if now == done:  # no answer in time, or a crash
            case, name = mine[done]
            with out.open("a") as f:
                f.write(json.dumps([f"{name} {case.title}", "none: no answer"]) + "\n")
            now += 1
        done = now


if __name__ == "__main__":
    main()
