"""Kernels and variables behind host symbols, as compiled HIP programs register them.

Protects: `<<<>>>` programs: launches, attributes, occupancy, graph nodes and copies by host symbol, on every device;
and that a program without code for the chip is told so.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import ARCHS, compile_hip
from tests.vgpu.test_hip_module import bundle

SOURCE = r"""
DEVICE u32 factor = 3;
DEVICE u32 *shared_value = 0;            /* of a managed variable: its memory's address */
GLOBAL void scale(u32 *out, u32 n) {
  u32 i = BX * NX + TX;
  if (i < n) out[i] = i * factor;
}
GLOBAL void count(u32 *out) { out[BX] = *shared_value += 1; }
"""
DEFAULT_KIND = 4


class Program:
    """A program with kernels of SOURCE, one host symbol each."""

    def __init__(self, gpu: hip.Gpu, code: bytes) -> None:
        self.lib, ffi = gpu.library, gpu.library.ffi
        self.code = ffi.new("char[]", code.ljust(4096, b"\0"))
        self.wrapper = ffi.new("char[]", struct.pack("<IIQQ", 0x48495046, 1, int(ffi.cast("uintptr_t", self.code)), 0))
        self.handle = self.call("RegisterFatBinary", self.wrapper)
        null = ffi.NULL
        self.symbols = {name: ffi.new("char[8]") for name in ("scale", "count", "missing", "factor")}
        for name in ("scale", "count", "missing"):
            text = ffi.new("char[]", name.encode())
            self.call(
                "RegisterFunction",
                self.handle,
                self.symbols[name],
                text,
                text,
                0xFFFFFFFF,
                null,
                null,
                null,
                null,
                null,
            )
        name = ffi.new("char[]", b"factor")
        self.call("RegisterVar", self.handle, self.symbols["factor"], name, name, 0, 4, 0, 0)
        self.managed, start = ffi.new("void **"), ffi.new("uint32_t *", 7)
        self.call("RegisterManagedVar", self.handle, self.managed, start, ffi.new("char[]", b"shared_value"), 4, 4)

    def call(self, name: str, *args: Any) -> Any:
        """One of the functions of registration, whose names Python would change within a class."""
        return getattr(self.lib.raw, f"__hip{name}")(*args)

    def launch(self, name: str, grid: int, block: int, *args: Any) -> None:
        ffi = self.lib.ffi
        kept = [ffi.new("uint64_t *", value) for value in args]
        pointers = ffi.new("void *[]", [ffi.cast("void *", value) for value in kept] or [ffi.NULL])
        dim = [(count, 1, 1) for count in (grid, block)]
        self.lib.hipLaunchKernel(self.symbols[name], *dim, pointers, 0, ffi.NULL)

    def unregister(self) -> None:
        self.call("UnregisterFatBinary", self.handle)


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> Iterator[hip.Gpu]:
    yield from opened(request.param)


def everything() -> bytes:
    return bundle({f"hipv4-amdgcn-amd-amdhsa--{arch}": compile_hip(SOURCE, arch) for arch in ARCHS})


@pytest.fixture
def program(gpu: hip.Gpu) -> Iterator[Program]:
    program = Program(gpu, everything())
    yield program
    program.unregister()


def result(gpu: hip.Gpu, buffer: hip.Buffer) -> list[int]:
    gpu.synchronize()
    return [int(value) for value in buffer.numpy()]


def test_launches_and_variables_by_host_symbol(gpu: hip.Gpu, program: Program) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    out = gpu.buffer(np.zeros(100, np.uint32))
    program.launch("scale", 4, 32, out.address, 100)
    assert result(gpu, out) == [3 * k for k in range(100)]
    lib.hipMemcpyToSymbol(program.symbols["factor"], ffi.new("uint32_t *", 5), 4, 0, DEFAULT_KIND)
    program.launch("scale", 4, 32, out.address, 100)
    assert result(gpu, out) == [5 * k for k in range(100)]
    value, size, address = ffi.new("uint32_t *"), ffi.new("size_t *"), ffi.new("void **")
    lib.hipMemcpyFromSymbol(value, program.symbols["factor"], 2, 2, DEFAULT_KIND)
    lib.hipGetSymbolSize(size, program.symbols["factor"])
    lib.hipGetSymbolAddress(address, program.symbols["factor"])
    assert (value[0], size[0], ffi.cast("uint32_t *", address[0])[0]) == (0, 4, 5)
    for offset, length in ((4, 1), (1, 4), (2**64 - 1, 2)):
        with fails("hipErrorInvalidValue"):
            lib.hipMemcpyToSymbol(program.symbols["factor"], value, length, offset, DEFAULT_KIND)


def test_a_managed_variable_is_the_same_on_both_sides(gpu: hip.Gpu, program: Program) -> None:
    value = gpu.library.ffi.cast("uint32_t *", program.managed[0])
    assert value[0] == 7  # as it was compiled
    out = gpu.buffer(np.zeros(1, np.uint32))
    program.launch("count", 1, 1, out.address)
    assert (result(gpu, out), value[0]) == ([8], 8)
    value[0] = 20
    program.launch("count", 1, 1, out.address)
    assert result(gpu, out) == [21]


def test_what_is_asked_of_a_kernel_by_its_host_function(gpu: hip.Gpu, program: Program) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    host, function = program.symbols["scale"], ffi.new("hipFunction_t *")
    lib.hipGetFuncBySymbol(function, host)
    attributes = [ffi.new("hipFuncAttributes *") for _ in range(2)]
    lib.hipFuncGetAttributes(attributes[0], host)
    lib.hipFuncGetAttributes(attributes[1], function[0])
    assert bytes(ffi.buffer(attributes[0])) == bytes(ffi.buffer(attributes[1])) and attributes[0].numRegs > 0
    lib.hipFuncSetAttribute(host, 8, 4096)
    lib.hipFuncGetAttributes(attributes[0], function[0])
    assert attributes[0].maxDynamicSharedSizeBytes == 4096
    lib.hipFuncSetCacheConfig(host, 1)
    blocks, same, grid, block = (ffi.new("int *") for _ in range(4))
    lib.hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, 256, 0)
    lib.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(same, function[0], 256, 0)
    lib.hipOccupancyMaxPotentialBlockSize(grid, block, host, 0, 0)
    assert blocks[0] == same[0] > 0 and grid[0] > 0 and block[0] == 1024
    assert ffi.string(lib.raw.hipKernelNameRefByPtr(host, ffi.NULL)) == b"scale"


def test_graph_nodes_and_cooperative_launches(gpu: hip.Gpu, program: Program) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    out = gpu.buffer(np.zeros(8, np.uint32))
    address, n = ffi.new("uint64_t *", out.address), ffi.new("uint32_t *", 8)
    args = ffi.new("void *[]", [address, n])
    node = ffi.new("hipKernelNodeParams *", {"blockDim": (8, 1, 1), "gridDim": (1, 1, 1), "kernelParams": args})
    node.func = program.symbols["scale"]
    graph, added, exec_ = ffi.new("hipGraph_t *"), ffi.new("hipGraphNode_t *"), ffi.new("hipGraphExec_t *")
    lib.hipGraphCreate(graph, 0)
    lib.hipGraphAddKernelNode(added, graph[0], ffi.NULL, 0, node)
    lib.hipGraphInstantiateWithFlags(exec_, graph[0], 0)
    lib.hipGraphLaunch(exec_[0], ffi.NULL)
    assert result(gpu, out) == [3 * k for k in range(8)]
    n[0] = 0
    lib.hipGraphExecKernelNodeSetParams(exec_[0], added[0], node)
    lib.hipLaunchCooperativeKernel(program.symbols["scale"], (1, 1, 1), (4, 1, 1), args, 0, ffi.NULL)
    lib.hipGraphExecDestroy(exec_[0])
    lib.hipGraphDestroy(graph[0])


def test_configurations_are_a_stack(gpu: hip.Gpu) -> None:
    """`f<<<1, 2>>>(g())`, where g launches too."""
    lib, ffi = gpu.library, gpu.library.ffi
    dims, shared, stream = [ffi.new("dim3 *") for _ in range(2)], ffi.new("size_t *"), ffi.new("hipStream_t *")
    for k in (1, 2):
        lib.raw.__hipPushCallConfiguration((k, 1, 1), (10 * k, 1, 1), 100 * k, ffi.NULL)
    for k in (2, 1):
        assert lib.raw.__hipPopCallConfiguration(*dims, shared, stream) == 0
        assert (dims[0].x, dims[1].x, shared[0]) == (k, 10 * k, 100 * k)
    assert lib.raw.__hipPopCallConfiguration(*dims, shared, stream) == 52  # hipErrorMissingConfiguration


def test_every_device_has_its_own_copy(program: Program, gpu: hip.Gpu) -> None:
    """A launch on another device loads the code there; so does one into a stream of that device."""
    other = hip.open(f"vgpu:{next(arch for arch in ARCHS if arch != gpu.arch)}")
    try:
        for each in (gpu, other):
            each.activate()
            out = each.buffer(np.zeros(4, np.uint32))
            program.launch("scale", 1, 4, out.address, 4)
            assert result(each, out) == [0, 3, 6, 9]
            factor = each.library.ffi.new("uint32_t *", 9)
            each.library.hipMemcpyToSymbol(program.symbols["factor"], factor, 4, 0, DEFAULT_KIND)
    finally:
        other.reset()
        gpu.activate()


def test_unknown_and_missing_kernels(gpu: hip.Gpu, program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    with fails("hipErrorInvalidDeviceFunction"):
        program.launch("missing", 1, 1)
    assert f"for {gpu.arch} has no kernel missing" in capfd.readouterr().err
    program.symbols["stranger"] = gpu.library.ffi.new("char[8]")
    with fails("hipErrorInvalidDeviceFunction"):
        program.launch("stranger", 1, 1)
    with fails("hipErrorInvalidSymbol"):
        gpu.library.hipGetSymbolSize(gpu.library.ffi.new("size_t *"), program.symbols["scale"])


def test_unregistered_symbols_are_forgotten_and_may_come_back(gpu: hip.Gpu) -> None:
    """A plug-in is closed and opened again at the same addresses."""
    code = everything()
    first = Program(gpu, code)
    out = gpu.buffer(np.zeros(4, np.uint32))
    first.launch("scale", 1, 4, out.address, 4)
    first.unregister()
    with fails("hipErrorInvalidDeviceFunction"):
        first.launch("scale", 1, 4, out.address, 4)
    second = Program(gpu, code)
    text = gpu.library.ffi.new("char[]", b"scale")
    nothing = [gpu.library.ffi.NULL] * 5
    gpu.library.raw.__hipRegisterFunction(second.handle, first.symbols["scale"], text, text, 0, *nothing)
    first.launch("scale", 1, 4, out.address, 4)
    assert result(gpu, out) == [0, 3, 6, 9]
    second.unregister()


def test_a_program_without_code_for_the_chip(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    other = next(arch for arch in ARCHS if arch != gpu.arch)
    program = Program(gpu, bundle({f"hipv4-amdgcn-amd-amdhsa--{other}": compile_hip(SOURCE, other)}))
    for _ in range(2):
        with fails("hipErrorNoBinaryForGpu"):
            program.launch("scale", 1, 1, 0, 0)
    assert capfd.readouterr().err.count(f"no code for {gpu.arch}") == 1
    program.unregister()


FEATURES = [
    dict(zip(("xnack", "sramecc"), signs, strict=True)) for signs in itertools.product(("", "+", "-"), repeat=2)
]


def test_code_for_the_features_of_the_chip_is_chosen() -> None:
    """gfx942 here has ECC and no XNACK: of all combinations the one that says so exactly, wherever in the bundle."""
    for gpu in opened("gfx942"):
        codes = {}
        for number, signs in enumerate(FEATURES):
            suffix = "".join(f":{name}{sign}" for name, sign in sorted(signs.items()) if sign)
            codes[f"hipv4-amdgcn-amd-amdhsa--gfx942{suffix}"] = compile_hip(
                f"DEVICE u32 which = {number};" + SOURCE, "gfx942"
            )
        fitting = [n for n, s in enumerate(FEATURES) if s["xnack"] != "+" and s["sramecc"] != "-"]
        best = FEATURES.index({"xnack": "-", "sramecc": "+"})
        for order in (list(codes), list(reversed(codes))):
            assert which(gpu, {name: codes[name] for name in order}) == best
        for number, (name, code) in enumerate(codes.items()):
            if number in fitting:
                assert which(gpu, {name: code}) == number
            else:
                with fails("hipErrorNoBinaryForGpu"):
                    which(gpu, {name: code})


def which(gpu: hip.Gpu, codes: dict[str, bytes]) -> int:
    return int(gpu.load(bundle(codes)).variable("which").numpy(np.uint32)[0])
