"""Shared memory beyond LDS: the same program with the same result, and every slot given back."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys

import pytest

from ptx2amd import hip
from ptx2amd.interface.arena import SLOT_BYTES
from ptx2amd.translate import translate
from tests import ROOT
from tests.lower.arena_programs import EXITS, LATE_STORES, LAUNCH_WORDS, THROUGH_ADDRESSES, WORDS, everything

ARCHS = ("gfx942", "gfx1100")
RING_AT = 192


class Arena:
    """An arena with its header, as docs/internals/abi.md has it."""

    def __init__(self, gpu: hip.Gpu, slots: int) -> None:
        self.slots, self.ring = slots, 1 << (slots - 1).bit_length()
        first = -(-(RING_AT + 4 * self.ring) // 4096) * 4096
        header = bytearray(first)
        struct.pack_into("<2IQ", header, 0, slots, self.ring - 1, first)
        struct.pack_into("<I", header, 128, slots)
        struct.pack_into(f"<{slots}I", header, RING_AT, *range(1, slots + 1))
        self.memory = gpu.buffer(bytes(header) + bytes(slots * SLOT_BYTES))

    def free(self) -> list[int]:
        """The tickets of the slots that are free."""
        ring = struct.unpack_from(f"<{self.ring}I", self.memory.bytes(), RING_AT)
        return sorted(ticket for ticket in ring if ticket)

    def taken(self) -> int:
        """How often a slot was taken."""
        return struct.unpack_from("<I", self.memory.bytes(), 64)[0]


class Loaded:
    """A kernel, with an arena where it needs one."""

    def __init__(
        self, text: str, kernel: str, arch: str, shared: str = "lds", slots: int = 2, segment: int = 0
    ) -> None:
        arch, _, mapping = arch.partition(":")
        [result] = translate(text, "arena.ptx", [arch], [kernel], shared=shared, mapping=mapping)
        self.result = result.kernels[kernel]
        assert self.result.ok, self.result.reason
        self.spread = 2 if self.result.mapping == "padded" else 1
        self.gpu = hip.open(f"vgpu:{arch}")
        module = self.gpu.load(result.code)
        self.arena = Arena(self.gpu, slots) if self.result.spilled else None
        if self.arena:
            environment = struct.pack("<8Q", segment, 0, 0, int(self.arena.memory), 0, 0, 0, 0)
            module.variable("__ptx2amd_env").write(environment)
        self.module, self.kernel = module, module.kernel(kernel)

    def launch(
        self,
        grid: int,
        block: tuple[int, ...],
        args: list,
        shared: int = 0,
        workspace: int = 0,
        stream: hip.Stream | None = None,
    ) -> None:
        """Launch with `shared` bytes of dynamic shared memory."""
        block = (block[0] * self.spread, *block[1:])
        words = [struct.pack("<Q", word) for word in (workspace, shared) if self.result.launch_words]
        self.kernel.launch(grid, block, [*args, *words], 0 if self.arena else shared, stream)

    def run(self, grid: int, block: tuple[int, ...], args: list, shared: int = 0, workspace: int = 0) -> None:
        self.launch(grid, block, args, shared, workspace)
        self.gpu.synchronize()
        if self.arena:
            assert self.arena.free() == list(range(1, self.arena.slots + 1))


def run_everything(text: str, arch: str, shared: str, grid: int, block: int, dynamic: int) -> tuple[Loaded, bytes]:
    loaded = Loaded(text, "everything", arch, shared)
    data = random.Random(block).randbytes(16 * block)
    out = loaded.gpu.buffer(bytes(4 * WORDS * grid * block))
    loaded.run(grid, (block,), [loaded.gpu.buffer(data), out], dynamic)
    return loaded, out.bytes()


@pytest.mark.parametrize("which", ["dynamic", "both", "static", "statics"])
@pytest.mark.parametrize("arch", ARCHS)
def test_a_slot_is_like_lds(arch: str, which: str) -> None:
    """Accesses of all widths, atomics, asynchronous copies, matrices, barrier objects and generic addresses,
    in more blocks than there are slots."""
    fits, beyond = 40000, 150000
    static = which.startswith("static")
    for grid, block in ((7, 256), (3, 64)):
        _, want = run_everything(everything(which, fits), arch, "lds", grid, block, 0 if static else fits)
        variant = "lds" if static else "spilled"
        loaded, found = run_everything(everything(which, beyond), arch, variant, grid, block, 0)
        assert loaded.arena is not None and loaded.arena.taken() == grid
        assert loaded.result.slot == (150528 if static else 0)
        first = next((i for i, (a, b) in enumerate(zip(found, want, strict=True)) if a != b), None)
        assert first is None, f"byte {first % (4 * WORDS)} of thread {first // (4 * WORDS)}"
        assert any(want[64:76])


@pytest.mark.parametrize("block", [(1,), (32,), (33,), (96,), (7, 9), (256,), (1024,)])
@pytest.mark.parametrize("arch", [*ARCHS, "gfx942:padded"])
def test_every_way_out_gives_the_slot_back(arch: str, block: tuple[int, ...]) -> None:
    loaded = Loaded(EXITS, "exits", arch, "spilled", slots=3)
    if block == (1024,) and loaded.spread == 2:
        pytest.skip("padded blocks have 512 threads at most")
    grid, threads = 40, block[0] * (block[1] if len(block) > 1 else 1)
    out = loaded.gpu.buffer(bytes(4 * grid))
    for turn in (1, 2):
        loaded.run(grid, block, [out])
        assert list(struct.unpack(f"<{grid}I", out.bytes())) == [turn * threads] * grid
    assert loaded.arena is not None and loaded.arena.taken() == 2 * grid


@pytest.mark.parametrize("slots", [1, 2, 5, 8, 64])
def test_any_number_of_slots(slots: int) -> None:
    """Rings that are larger than the number of slots, and slots that nobody needs."""
    loaded = Loaded(EXITS, "exits", "gfx942", "spilled", slots)
    out = loaded.gpu.buffer(bytes(4 * 50))
    loaded.run(50, (64,), [out])
    assert list(struct.unpack("<50I", out.bytes())) == [64] * 50


def test_launches_in_two_streams_share_the_arena() -> None:
    loaded = Loaded(EXITS, "exits", "gfx942", "spilled", slots=2)
    streams = [loaded.gpu.stream() for _ in range(2)]
    outs = [loaded.gpu.buffer(bytes(4 * 30)) for _ in range(2)]
    for _ in range(3):
        for stream, out in zip(streams, outs, strict=True):
            loaded.launch(30, (128,), [out], stream=stream)
    loaded.gpu.synchronize()
    assert loaded.arena is not None and loaded.arena.free() == [1, 2]
    for out in outs:
        assert list(struct.unpack("<30I", out.bytes())) == [3 * 128] * 30


@pytest.mark.parametrize("shared", ["lds", "spilled"])
@pytest.mark.parametrize("arch", ARCHS)
def test_words_of_the_launch(arch: str, shared: str) -> None:
    """The grid's workspace, and the size of dynamic shared memory that HIP was not asked for."""
    loaded = Loaded(LAUNCH_WORDS, "words", arch, shared)
    assert loaded.result.launch_words
    out = loaded.gpu.buffer(bytes(32))
    workspace, size = 0x123456789ABCDEF0, 4096 if shared == "lds" else 200000
    loaded.run(1, (1,), [out, b"\7"], size, workspace)
    total = -(-size // 128) * 128
    assert struct.unpack("<2Q4I", out.bytes()) == (workspace, workspace, size, total, 7, size)


@pytest.mark.parametrize("arch", [*ARCHS, "gfx942:padded"])
def test_functions_behind_addresses(arch: str) -> None:
    """Addresses that another code object has stored; the functions find the slot of the kernel that calls them."""
    gpu = hip.open(f"vgpu:{arch.partition(':')[0]}")
    table = gpu.buffer(bytes(16))
    fill = Loaded(THROUGH_ADDRESSES, "fill", arch)
    fill.module.variable("__ptx2amd_env").write(struct.pack("<Q", int(table)))
    fill.run(1, (1,), [table])
    ask = Loaded(THROUGH_ADDRESSES, "ask", arch, "spilled", segment=int(table))
    grid, block = 9, 96
    out = gpu.buffer(bytes(8 * grid * block))
    ask.run(grid, (block,), [out])
    want = [(i ^ 1, 0 if i == 7 else 2 * (1000 + i) + 9) for i in range(block)] * grid  # thread 7 exits in a function
    assert list(struct.iter_unpack("<2I", out.bytes())) == want


def late_stores(arch: str) -> int:
    """How many threads saw a value that another block had stored."""
    loaded = Loaded(LATE_STORES, "late", arch, "spilled")
    out = loaded.gpu.buffer(bytes(4))
    for _ in range(3):
        loaded.run(40, (128,), [out])
    [wrong] = struct.unpack("<I", out.bytes())
    return int(wrong)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_stores_are_complete_when_a_slot_is_given_back(arch: str) -> None:
    """In the weak-memory mode: stores of all waves of a block, not only of the one that gives the slot back."""
    program = f"from tests.lower.test_arena import late_stores; print(late_stores({arch!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "PTX2AMD_WEAK": "1"},
                          capture_output=True, text=True, timeout=100)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n" and "weak" not in done.stderr
