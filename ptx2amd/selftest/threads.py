"""Threads: exchanges within a warp in each mapping, branches, calls, barriers."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.selftest.case import Comparison, case, compare
from ptx2amd.selftest.gpu import Gpu

THREADS = 128
MAPPINGS = {"native": 32, "paired": 64, "padded": 64}  # wave width that each mapping needs


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = 3 * n + 1 if n % 2 else n // 2, steps + 1
    return steps


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def lanes(gpu: Gpu) -> Iterator[Comparison]:
    data = [n * 2654435761 >> 7 & 0xFFFFF for n in range(THREADS)]
    out = gpu.room(48 * THREADS)
    gpu.run(gpu.kernel(gpu.load("threads"), "lanes"), 1, THREADS, gpu.buffer("I", data), out)
    got = gpu.read(out, "I")
    columns: dict[str, list[int]] = {}

    def expect(what: str, n: int, value: int) -> None:
        columns.setdefault(what, []).append(value)

    for n in range(THREADS):
        own, warp = n % 32, data[n - n % 32 :][:32]
        expect("lane", n, own)
        expect("shuffle, next", n, warp[own ^ 1])
        expect("shuffle, halves", n, warp[own ^ 16])
        expect("shuffle up", n, warp[own - 3] if own >= 3 else warp[own])
        expect("shuffle down", n, warp[own + 2] if own < 30 else warp[own])
        expect("shuffle, any lane", n, warp[(own * 7 + 5) % 32])
        expect("ballot", n, sum((value & 1) << k for k, value in enumerate(warp)))
        expect("any", n, any(value & 1 for value in warp))
        expect("all", n, all(value & 1 for value in warp))
        expect("match", n, sum((value & 3 == warp[own] & 3) << k for k, value in enumerate(warp)))
        expect("sum", n, sum(warp))
        expect("shuffles in two branches", n, warp[7 if own % 2 else 4])
    for number, (what, expected) in enumerate(columns.items()):
        yield compare(what, "I", got[number :: len(columns)], expected)


def block(gpu: Gpu) -> Iterator[Comparison]:
    """Interactions of a block's waves."""
    module = gpu.load("threads")
    out = gpu.room(8 * 256)
    gpu.run(gpu.kernel(module, "prefix"), 1, 256, out)
    got = gpu.read(out, "I")
    yield compare("prefix sums", "I", got[0::2], [(n + 1) * (n + 2) // 2 for n in range(256)])
    yield compare("barrier with a count", "I", got[1::2], [128] * 256)
    out = gpu.room(4 * THREADS)
    gpu.run(gpu.kernel(module, "rounds"), 1, THREADS, out)
    yield compare("divergent loop", "I", gpu.read(out, "I"), [collatz(n + 1) for n in range(THREADS)])


for mapping, wave in MAPPINGS.items():
    case("warps", f"exchanges, mapping {mapping}", {"PTX2AMD_MAPPING": mapping}, wave)(lanes)
    case("warps", f"barriers and loops, mapping {mapping}", {"PTX2AMD_MAPPING": mapping}, wave)(block)


@case("control", "recursion, calls by address")
def calls(gpu: Gpu) -> Iterator[Comparison]:
    out = gpu.room(4 * THREADS)
    gpu.run(gpu.kernel(gpu.load("threads"), "calls"), 1, THREADS, out)
    yield compare(
        "calls", "I", gpu.read(out, "I"), [(fibonacci(n & 7) if n & 1 else (n & 7) ** 2) for n in range(THREADS)]
    )


@case("barriers", "named, for producers and consumers")
def named(gpu: Gpu) -> Iterator[Comparison]:
    out = gpu.room(4 * 64)
    gpu.run(gpu.kernel(gpu.load("threads"), "named"), 1, THREADS, out)
    yield compare("sums", "I", gpu.read(out, "I"), [5 * (63 - k) + 10000 for k in range(64)])


@case("barriers", "mbarrier")
def phases(gpu: Gpu) -> Iterator[Comparison]:
    out, values = gpu.room(4 * THREADS), list(range(THREADS))
    gpu.run(gpu.kernel(gpu.load("threads"), "phases"), 1, THREADS, out)
    for turn in range(3):
        values = [values[(n + 1) % THREADS] * 3 + turn for n in range(THREADS)]
    yield compare("values of neighbours", "I", gpu.read(out, "I"), values)
