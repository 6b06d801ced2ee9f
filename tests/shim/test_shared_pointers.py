"""Launches of a kernel that was translated for pointers into different allocations, or for some shapes of blocks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.shim.cache_entries import PTX, write_index, write_kernel
from tests.shim.test_modules import OUT_OF_RESOURCES, launch

IMAGE = PTX + b"// shared pointers\n"
INDEX = """ptx 8 0
target 80
segment_size 0
segment_align 1
kernel k
param 0 8 8
param 8 16 8
"""
MIB, UNKNOWN = 1 << 20, 1 << 41


@pytest.fixture
def kernel(shim: SimpleNamespace, context: object) -> object:
    write_index(shim.cache, IMAGE, INDEX)
    write_kernel(shim.cache, IMAGE, "k", apart="0 16")
    write_kernel(shim.cache, IMAGE, "k", "mapping=padded", mapping="padded", max_threads=512, hazard="line 3: waits")
    module, function = shim.ffi.new("CUmodule *"), shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleLoadData(module, IMAGE) == 0
    assert shim.cuda.cuModuleGetFunction(function, module[0], b"k") == 0
    return function[0]


@pytest.mark.parametrize(
    ("first", "second", "padded"),
    [
        (MIB, 2 * MIB, False),
        (2 * MIB, MIB, False),
        (MIB, 2 * MIB - 4, True),
        (MIB + 64, MIB, True),
        (0, MIB, False),
        (MIB, UNKNOWN, False),
        (UNKNOWN, MIB, False),
        (UNKNOWN, UNKNOWN + MIB, True),
    ],
)
def test_variant(shim: SimpleNamespace, kernel: object, first: int, second: int, padded: bool) -> None:
    values = [("uint64_t *", first), ("uint64_t[2]", [first, second])]
    assert launch(shim, kernel, (96, 2, 1), values=values) == 0
    assert list(shim.stub.stub_last.block) == ([192, 2, 1] if padded else [96, 2, 1])


@pytest.mark.parametrize(
    ("block", "padded"),
    [((32, 8, 1), False), ((16, 4, 1), False), ((1, 33, 1), False), ((64, 4, 1), True), ((24, 2, 1), True)],
)
def test_variant_by_shape(shim: SimpleNamespace, kernel: object, block: tuple[int, ...], padded: bool) -> None:
    write_kernel(shim.cache, IMAGE, "k", rows=32)
    values = [("uint64_t *", MIB), ("uint64_t[2]", [0, MIB])]
    assert launch(shim, kernel, block, values=values) == 0
    x, *others = block
    assert list(shim.stub.stub_last.block) == [2 * x if padded else x, *others]


def test_large_blocks_are_refused_with_the_reason(
    shim: SimpleNamespace, kernel: object, capfd: pytest.CaptureFixture[str]
) -> None:
    apart, same = ([("uint64_t *", MIB), ("uint64_t[2]", [0, n * MIB])] for n in (2, 1))
    assert launch(shim, kernel, (640, 1, 1), values=apart) == 0
    assert launch(shim, kernel, (640, 1, 1), values=same) == OUT_OF_RESOURCES
    assert "640 threads" in (said := capfd.readouterr().err) and "line 3: waits" in said
