"""Memory: accesses of all sizes and spaces, LDS, copies, atomics, locks, memory order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce

from ptx2amd.selftest.case import Comparison, case, compare
from ptx2amd.selftest.gpu import Buffer, Gpu, unpacked

THREADS = 256
MAX_DYNAMIC_SHARED = 8  # CUfunction_attribute


@case("memory", "sizes and vectors")
def pieces(gpu: Gpu) -> Iterator[Comparison]:
    data = [(n * 167 + 13) & 255 for n in range(16 * THREADS)]
    out = gpu.room(5 * 16 * THREADS)
    gpu.run(gpu.kernel(gpu.load("memory"), "pieces"), 1, THREADS, gpu.buffer("B", data), out)
    for turn, what in enumerate(("4 x 32 bits", "2 x 64 bits", "2 x 32 bits, generic", "16 bits", "bytes")):
        yield compare(what, "B", gpu.bytes(out)[turn * len(data) : (turn + 1) * len(data)], data)


@case("memory", "local arrays, constants, variables")
def spaces(gpu: Gpu) -> Iterator[Comparison]:
    out = gpu.room(16 * THREADS)
    gpu.run(gpu.kernel(gpu.load("memory"), "spaces"), 1, THREADS, out)
    got = gpu.read(out, "I")
    sums = [sum(((i + n & 63) ** 2 + n) * i for i in range(64)) for n in range(THREADS)]
    yield compare("local array", "I", got[0::4], sums)
    yield compare("constants", "I", got[1::4], [(11, 22, 33, 44)[n & 3] for n in range(THREADS)])
    yield compare("variable with a value", "I", got[2::4], [5 + (n & 3) for n in range(THREADS)])
    yield compare("variable with an address", "I", got[3::4], [8] * THREADS)


def turned(gpu: Gpu, size: int) -> Comparison:
    """Fills `size` bytes of LDS with words and reads them in reverse order."""
    data = [n * 2654435761 & 0xFFFFFFFF for n in range(size // 4)]
    kernel, out = gpu.kernel(gpu.load("memory"), "turned"), gpu.room(size)
    gpu.call("cuFuncSetAttribute", kernel, MAX_DYNAMIC_SHARED, size)
    gpu.run(kernel, 1, THREADS, gpu.buffer("I", data), out, size // 4 // THREADS, shared=size)
    return compare(f"{size // 1024} KiB", "I", gpu.read(out, "I"), data[::-1])


@case("memory", "LDS, asynchronous copies")
def shared(gpu: Gpu) -> Iterator[Comparison]:
    for size in (4096, 32768):
        yield turned(gpu, size)


@case("memory", "shared memory beyond the chip's")
def big_shared(gpu: Gpu) -> Iterator[Comparison]:
    yield turned(gpu, 96 * 1024)
    yield turned(gpu, 160 * 1024)


@case("memory", "copies, fills, managed memory")
def copies(gpu: Gpu) -> Iterator[Comparison]:
    data = bytes(n * 31 & 255 for n in range(1 << 16))
    one, two = gpu.room(len(data)), gpu.room(len(data))
    gpu.write(one, data)
    gpu.call("cuMemcpyDtoD_v2", two.at + 4, one.at, len(data) - 4)
    gpu.call("cuMemsetD32_v2", two.at, 0x01020304, 1)
    yield compare("device to device", "B", gpu.bytes(two), b"\4\3\2\1" + data[:-4])
    copy = gpu.ffi.new("CUDA_MEMCPY2D *")
    copy.srcMemoryType = copy.dstMemoryType = 2
    copy.srcDevice, copy.srcPitch, copy.srcXInBytes, copy.srcY = one.at, 256, 16, 3
    copy.dstDevice, copy.dstPitch, copy.WidthInBytes, copy.Height = two.at, 64, 64, 32
    gpu.call("cuMemcpy2D_v2", copy)
    rows = b"".join(data[256 * (y + 3) + 16 :][:64] for y in range(32))
    yield compare("rectangle", "B", gpu.bytes(two)[: len(rows)], rows)
    managed = int(gpu.get("cuMemAllocManaged", "CUdeviceptr *", 4 * THREADS, 1))
    host = gpu.ffi.cast("unsigned int *", managed)
    for n in range(THREADS):
        host[n] = n
    gpu.run(gpu.kernel(gpu.load("launches"), "step"), 1, THREADS, Buffer(managed, 4 * THREADS), 3, 1)
    yield compare("managed memory", "I", [host[n] for n in range(THREADS)], [3 * n + 1 for n in range(THREADS)])


@case("atomics", "global memory")
def updates(gpu: Gpu) -> Iterator[Comparison]:
    blocks, count = 4, 4 * THREADS
    all_bits = 0xFFFFFFFF
    start = [0, 0, all_bits, 1000, 0, 0, all_bits, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0]
    words, seen = gpu.buffer("I", start), gpu.room(4 * count)
    gpu.run(gpu.kernel(gpu.load("atomics"), "updates"), blocks, THREADS, words, seen)
    got, numbers = gpu.read(words, "I"), range(count)
    total = sum(numbers)
    single = [got[0], got[1], got[2], got[3], got[4], got[5], got[6], got[7], got[18]]
    wrapped = count % 10
    expected = [count, count - 1, 0, 100 - (count - 1), all_bits, reduce(int.__xor__, numbers), 0, wrapped, 3 * count]
    yield compare("add max min min or xor and inc cas", "I", single, expected)
    yield compare("what add returns", "I", sorted(gpu.read(seen, "I")), numbers)
    data = gpu.bytes(words)
    yield compare("64 bits: add max", "Q", unpacked("Q", data[32:40] + data[64:72]), [total, count - 1])
    yield compare("f32", "f", unpacked("f", data[40:44]), [float(total)])
    yield compare("f64", "d", unpacked("d", data[48:56]), [float(total)])
    yield compare("exch: all values, once", "I", [int(got[14]) + int(got[15]) & all_bits], [total + 7])


@case("atomics", "LDS")
def histogram(gpu: Gpu) -> Iterator[Comparison]:
    bins, counts = gpu.buffer("I", [0] * 8), Counter(n % 7 for n in range(THREADS))
    gpu.run(gpu.kernel(gpu.load("atomics"), "histogram"), 5, THREADS, bins)
    yield compare("histogram", "I", gpu.read(bins, "I"), [5 * counts[k] for k in range(8)])


@case("locks", "threads of a warp wait for each other")
def locked(gpu: Gpu) -> Iterator[Comparison]:
    words = gpu.buffer("I", [0, 0])
    gpu.run(gpu.kernel(gpu.load("atomics"), "locked"), 3, 64, words)
    yield compare("lock and count", "I", gpu.read(words, "I"), [0, 192])


@case("atomics", "release and acquire between blocks")
def message(gpu: Gpu) -> Iterator[Comparison]:
    kernel = gpu.kernel(gpu.load("atomics"), "message")
    for turn in range(3):
        words, out = gpu.buffer("I", [0] * 128), gpu.room(4 * 16)
        gpu.run(kernel, 16, 64, words, out)
        yield compare(f"message {turn}", "I", gpu.read(out, "I"), [4711] * 16)
