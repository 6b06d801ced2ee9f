"""The device heap of kernels that allocate."""

from __future__ import annotations

from types import SimpleNamespace

from tests.shim.cache_entries import PTX, write_index, write_kernel
from tests.shim.test_modules import launch

IMAGE = PTX + b"// heap\n"


def test_heap(shim: SimpleNamespace, context: object) -> None:
    """The heap is made for the first kernel that uses it, as large as the limit says, which is fixed then."""
    assert shim.cuda.cuCtxSetLimit(2, 5 << 20) == 0
    assert shim.cuda.cuCtxSetLimit(2, 1 << 40) == 1
    write_index(shim.cache, IMAGE, "ptx 8 0\ntarget 75\nsegment_size 0\nsegment_align 1\nkernel k\n")
    write_kernel(shim.cache, IMAGE, "k", cells="2")
    module, kernel = shim.ffi.new("CUmodule *"), shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleLoadData(module, IMAGE) == 0
    assert shim.cuda.cuModuleGetFunction(kernel, module[0], b"k") == 0
    assert launch(shim, kernel[0]) == 0
    heap = shim.stub.stub_environment(2)
    head = shim.ffi.cast("uint64_t *", heap)
    assert heap and (head[0], head[1], head[8]) == (5 << 20, 1088, 0)
    assert shim.cuda.cuCtxSetLimit(2, 2 << 20) == 1
