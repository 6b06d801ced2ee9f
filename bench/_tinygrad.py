"""tinygrad's emulator of an AMD GPU on a code object of ours, as a program: `_tinygrad.py SOURCES CODE.hsaco JOB.json`.

SOURCES is tinygrad's source tree (the emulator is part of its tests, which no package has). The job says the kernel,
its grid, block and arguments: integers, or files of float32 arrays. Prints the CPU seconds of the fastest of a few
runs, and writes the arrays back. The emulator does not know cache invalidation; nops stand in for it.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
import time
from pathlib import Path

import numpy as np

SAMPLES = 3
INVALIDATES = [struct.pack("<II", word, 0) for word in (0xE0AC0000, 0xE0B00000)]  # buffer_gl0_inv, gl1
NOPS = struct.pack("<II", 0xBF800000, 0xBF800000)


def load(elf: bytes) -> tuple[np.ndarray, int]:
    """The code object's segments in memory, and the address of its first byte."""
    (at,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    heads = [struct.unpack_from("<IIQQQQQQ", elf, at + k * size) for k in range(count)]
    segments = [h for h in heads if h[0] == 1]
    memory = np.zeros(max(h[3] + h[6] for h in segments) + 8192, np.uint8)
    base = (memory.ctypes.data + 4095) & ~4095
    for _, _, offset, address, _, length, _, _ in segments:
        ctypes.memmove(base + address, elf[offset : offset + length], length)
    return memory, base


def symbol(elf: bytes, wanted: str) -> int:
    (at,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, at + k * size) for k in range(count)]
    table = next(h for h in heads if h[1] == 11)
    names = heads[table[6]][4]
    for k in range(table[4], table[4] + table[5], 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, k)
        if elf[names + name : elf.index(b"\0", names + name)].decode() == wanted:
            return int(value)
    raise KeyError(wanted)


def kernarg(arguments: list[np.ndarray | int], grid: list[int], block: list[int]) -> np.ndarray:
    """Explicit arguments, and the hidden ones of code object version 5 that say the shape."""
    data = b""
    for value in arguments:
        part = struct.pack("<i", value) if isinstance(value, int) else struct.pack("<Q", value.ctypes.data)
        data += b"\0" * (-len(data) % len(part)) + part
    data += b"\0" * (-len(data) % 8)
    data += struct.pack("<IIIHHHHHH", *grid, 1, *block, 1, 0, 0, 0)
    return np.frombuffer(data + bytes(512), np.uint8).copy()


def registers(descriptor: int, arguments: int) -> list[int]:
    """What the descriptor asks for in user SGPRs; only the address of the arguments is there."""
    (wanted,) = struct.unpack("<H", ctypes.string_at(descriptor + 56, 2))
    values: list[int] = []
    for bit, dwords in enumerate((4, 2, 2, 2, 2, 2, 1)):
        if wanted >> bit & 1:
            values += [arguments & 0xFFFFFFFF, arguments >> 32] if bit == 3 else [0] * dwords
    return values


def main() -> None:
    sources, code, job = sys.argv[1:]
    sys.path.insert(0, sources)
    from test.mockgpu.amd.emu import run_asm  # type: ignore[import-not-found]

    elf, what = Path(code).read_bytes(), json.loads(Path(job).read_text())
    for words in INVALIDATES:
        elf = elf.replace(words, NOPS)
    memory, base = load(elf)
    descriptor = base + symbol(elf, what["kernel"] + ".kd")
    (entry,) = struct.unpack("<q", ctypes.string_at(descriptor + 16, 8))
    (rsrc2,) = struct.unpack("<I", ctypes.string_at(descriptor + 52, 4))
    (shared,) = struct.unpack("<I", ctypes.string_at(descriptor, 4))
    rsrc2 |= (shared + 511) // 512 << 15  # which the chip's command processor fills in
    shape = (*what["grid"], 1, *what["block"], 1)
    arrays = [np.load(a) if isinstance(a, str) else a for a in what["arguments"]]
    block = kernarg(arrays, what["grid"], what["block"])
    best = float("inf")
    for _ in range(SAMPLES):
        begin = time.process_time()
        given = registers(descriptor, block.ctypes.data)
        run_asm(descriptor + entry, len(memory), *shape, block.ctypes.data, rsrc2, 0, "rdna3", given)
        best = min(best, time.process_time() - begin)
    for name, value in zip(what["arguments"], arrays, strict=True):
        if isinstance(name, str):
            np.save(name, value)
    print(best)


if __name__ == "__main__":
    main()
