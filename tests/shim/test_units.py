"""Units: kernels that see addresses of functions share one code object, and variables get the addresses that its
table has. Over ready-made cache entries."""

from __future__ import annotations

import struct
from types import SimpleNamespace

from cache_entries import PTX, write_index, write_kernel
from test_modules import launch

INDEX = """ptx 8 0
target sm_75
segment 32 8
kernel first
unit 1
kernel other
kernel second
unit 1
global table 0 32 global
function_cell 8 1
function_cell 24 0
"""
INITIAL = struct.pack("<4Q", 7, 0, 9, 0)


def load(shim: SimpleNamespace, text: bytes, index: str, kernels: dict[str, dict]) -> object:
    image, handle = PTX + text, shim.ffi.new("CUmodule *")
    write_index(shim.cache, image, index, INITIAL)
    for name, values in kernels.items():
        write_kernel(shim.cache, image, name, **values)
    assert shim.cuda.cuModuleLoadData(handle, image) == 0
    return handle[0]


def table(shim: SimpleNamespace, module: object) -> tuple[int, ...]:
    address, got = shim.ffi.new("CUdeviceptr *"), shim.ffi.new("uint64_t[4]")
    assert shim.cuda.cuModuleGetGlobal_v2(address, shim.ffi.NULL, module, b"table") == 0
    assert shim.cuda.cuMemcpyDtoH_v2(got, address[0], 32) == 0
    return tuple(got)


def kernel(shim: SimpleNamespace, module: object, name: bytes) -> object:
    handle = shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleGetFunction(handle, module, name) == 0
    return handle[0]


def test_one_code_object_for_the_unit(shim: SimpleNamespace, context: object) -> None:
    module = load(shim, b"// unit\n", INDEX, {"first": {"env": 1}, "other": {"env": 1}, "second": {}})
    before = shim.stub.stub_loads
    for name, loads in ((b"first", 1), (b"second", 1), (b"other", 2)):
        assert launch(shim, kernel(shim, module, name)) == 0
        assert shim.stub.stub_loads == before + loads
    assert table(shim, module) == (7, 0xF100, 9, 0xF000)
    assert shim.cuda.cuModuleUnload(module) == 0


def test_the_host_reads_addresses_before_any_launch(shim: SimpleNamespace, context: object) -> None:
    """As programs do that pass a device function to a kernel; a kernel of the unit that fails does not matter."""
    index = INDEX.replace("unit 1\nkernel other", "unit 1\nrefused first why not\nkernel other")
    module = load(shim, b"// read first\n", index, {"other": {}, "second": {}})
    assert table(shim, module) == (7, 0xF100, 9, 0xF000)
    assert launch(shim, kernel(shim, module, b"other")) == 0


def test_an_index_beyond_the_table(shim: SimpleNamespace, context: object) -> None:
    index = INDEX.replace("function_cell 24 0", "function_cell 24 2")
    module = load(shim, b"// short table\n", index, {"first": {}, "second": {}})
    assert launch(shim, kernel(shim, module, b"first")) == 200
    assert table(shim, module) == (7, 0, 9, 0)


def test_heap(shim: SimpleNamespace, context: object) -> None:
    """The heap is made for the first kernel that uses it, as large as the limit says, which is fixed then."""
    assert shim.cuda.cuCtxSetLimit(2, 1 << 20) == 0
    assert shim.cuda.cuCtxSetLimit(2, 1 << 40) == 1
    module = load(shim, b"// heap\n", INDEX, {"other": {"env": 1, "heap": 1}, "first": {}, "second": {}})
    assert launch(shim, kernel(shim, module, b"other")) == 0
    heap = shim.stub.stub_environment(2)
    head = shim.ffi.cast("uint64_t *", heap)
    assert heap and (head[0], head[1], head[8]) == (1 << 20, 1088, 0)
    assert shim.cuda.cuCtxSetLimit(2, 2 << 20) == 1
