"""Launches with more shared memory than the chip has, and the words that launches append to the parameters."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.shim.cache_entries import PTX, write_index, write_kernel
from tests.shim.test_modules import INVALID_VALUE, launch
from tests.shim.test_threads import THREADS, in_threads

IMAGE = PTX + b"// shared memory\n"
INDEX = """ptx 8 0
target 80
segment_size 0
segment_align 1
kernel big
param 0 8 8
param 8 1 1
static_shared 1024
kernel grid
param 0 4 4
"""
MAX_DYNAMIC, DYNAMIC = 8, 200000
TOO_LARGE = 720
SLOTS = 4  # of a device with one processor


@pytest.fixture
def functions(shim: SimpleNamespace, context: object) -> Iterator[dict[str, object]]:
    write_index(shim.cache, IMAGE, INDEX)
    write_kernel(shim.cache, IMAGE, "big", static_shared=1024)
    write_kernel(shim.cache, IMAGE, "big", options="shared=spilled", static_shared=1040, cells="3", spilled=1,
                 launch_words=1)  # fmt: skip
    write_kernel(shim.cache, IMAGE, "grid", launch_words=1)
    module = shim.ffi.new("CUmodule *")
    assert shim.cuda.cuModuleLoadData(module, IMAGE) == 0
    found = {}
    for name in ("big", "grid"):
        function = shim.ffi.new("CUfunction *")
        assert shim.cuda.cuModuleGetFunction(function, module[0], name.encode()) == 0
        found[name] = function[0]
    yield found
    assert shim.cuda.cuModuleUnload(module[0]) == 0


ARGUMENTS = [("uint64_t *", 0x1122334455667788), ("uint8_t *", 0x7F)]


def words(shim: SimpleNamespace) -> tuple[int, int]:
    last = shim.stub.stub_last
    assert last.size == 32 or last.size == 24
    return struct.unpack("<2Q", bytes(shim.stub_ffi.buffer(last.bytes))[last.size - 16 : last.size])


def test_a_request_beyond_lds_takes_the_spilled_code(shim: SimpleNamespace, functions: dict[str, object]) -> None:
    big = functions["big"]
    assert launch(shim, big, shared=DYNAMIC, values=ARGUMENTS) == INVALID_VALUE  # the program did not opt in
    assert shim.cuda.cuFuncSetAttribute(big, MAX_DYNAMIC, 232448 - 1024 + 1) == INVALID_VALUE
    assert shim.cuda.cuFuncSetAttribute(big, MAX_DYNAMIC, DYNAMIC) == 0
    assert launch(shim, big, shared=60000, values=ARGUMENTS) == 0
    in_lds = shim.stub.stub_last.function
    assert (shim.stub.stub_last.shared, shim.stub.stub_last.size) == (60000, 9)
    assert launch(shim, big, shared=DYNAMIC, values=ARGUMENTS) == 0
    assert shim.stub.stub_last.function != in_lds
    assert shim.stub.stub_last.shared == 65536 // SLOTS - 1040  # with its own LDS a quarter of the processor's
    assert words(shim) == (0, DYNAMIC)
    assert launch(shim, big, shared=64, values=ARGUMENTS) == 0
    assert shim.stub.stub_last.function == in_lds


def test_the_arena_has_a_header(shim: SimpleNamespace, functions: dict[str, object]) -> None:
    assert shim.cuda.cuFuncSetAttribute(functions["big"], MAX_DYNAMIC, DYNAMIC) == 0
    assert launch(shim, functions["big"], shared=DYNAMIC, values=ARGUMENTS) == 0
    arena = shim.stub.stub_environment(3)
    header = bytes(shim.ffi.buffer(shim.ffi.cast("char *", arena), 256))
    assert struct.unpack_from("<2IQ", header) == (SLOTS, SLOTS - 1, 4096)
    assert struct.unpack_from("<I60xI60x5I", header, 64) == (0, SLOTS, 1, 2, 3, 4, 0)


def test_occupancy_counts_slots(shim: SimpleNamespace, functions: dict[str, object]) -> None:
    blocks = shim.ffi.new("int *")
    occupancy = shim.cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
    assert occupancy(blocks, functions["big"], 32, DYNAMIC) == 0
    assert blocks[0] == 0  # the program did not opt in
    assert shim.cuda.cuFuncSetAttribute(functions["big"], MAX_DYNAMIC, DYNAMIC) == 0
    for dynamic, want in ((100, 32), (DYNAMIC, SLOTS), (232448, 0)):
        assert occupancy(blocks, functions["big"], 32, dynamic) == 0
        assert blocks[0] == want


def test_cooperative_grids_have_workspaces(shim: SimpleNamespace, functions: dict[str, object]) -> None:
    ffi, grid = shim.ffi, functions["grid"]
    value = ffi.new("uint32_t *", 5)
    params = ffi.new("void *[]", [ffi.cast("void *", value)])
    assert launch(shim, grid, values=[("uint32_t *", 5)]) == 0
    assert words(shim) == (0, 0)
    found = []
    for _ in range(2):
        assert shim.cuda.cuLaunchCooperativeKernel(grid, 3, 1, 1, 32, 1, 1, 100, ffi.NULL, params) == 0
        first, *given = struct.unpack("<I4x2Q", bytes(shim.stub_ffi.buffer(shim.stub.stub_last.bytes))[:24])
        assert (first, given[1], shim.stub.stub_last.shared) == (5, 100, 100)
        assert bytes(ffi.buffer(ffi.cast("char *", given[0]), 64)) == bytes(64)
        found.append(given[0])
    assert abs(found[1] - found[0]) >= 64


@pytest.mark.parametrize("cooperative", [False, True])
def test_no_lock_is_held_over_a_launch(
    shim: SimpleNamespace, context: object, functions: dict[str, object], cooperative: bool
) -> None:
    """HIP's launch returns when all threads are in it: each on its own stream, of a kernel with and without shared
    memory beyond LDS."""
    cuda, ffi = shim.cuda, shim.ffi
    big, grid = functions["big"], functions["grid"]
    assert cuda.cuFuncSetAttribute(big, MAX_DYNAMIC, DYNAMIC) == 0
    assert launch(shim, big, shared=DYNAMIC, values=ARGUMENTS) == launch(shim, grid, values=[("uint32_t *", 5)]) == 0

    def work(i: int) -> None:
        stream, value = ffi.new("CUstream *"), ffi.new("uint32_t *", 5)
        assert cuda.cuCtxSetCurrent(context) == cuda.cuStreamCreate(stream, 1) == 0
        params = ffi.new("void *[]", [ffi.cast("void *", value)])
        if cooperative:
            assert cuda.cuLaunchCooperativeKernel(grid, 1, 1, 1, 32, 1, 1, 0, stream[0], params) == 0
        elif i % 2:
            assert launch(shim, big, shared=DYNAMIC, values=ARGUMENTS, stream=stream[0]) == 0
        else:
            assert launch(shim, grid, values=[("uint32_t *", 5)], stream=stream[0]) == 0
        assert cuda.cuStreamDestroy_v2(stream[0]) == 0

    shim.stub.stub_under_way, shim.stub.stub_together = 0, THREADS
    try:
        in_threads(work)
    finally:
        shim.stub.stub_together = 0


def test_a_cooperative_grid_needs_a_slot_for_each_block(shim: SimpleNamespace, functions: dict[str, object]) -> None:
    ffi, big = shim.ffi, functions["big"]
    assert shim.cuda.cuFuncSetAttribute(big, MAX_DYNAMIC, DYNAMIC) == 0
    cells = [ffi.new(kind, value) for kind, value in ARGUMENTS]
    params = ffi.new("void *[]", [ffi.cast("void *", cell) for cell in cells])
    for blocks, want in ((SLOTS, 0), (SLOTS + 1, TOO_LARGE)):
        result = shim.cuda.cuLaunchCooperativeKernel(big, blocks, 1, 1, 32, 1, 1, DYNAMIC, ffi.NULL, params)
        assert result == want
