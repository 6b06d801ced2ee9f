"""What a kernel's fault answers, and every call after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.shim.answers.ptx import ASSERT, BODIES, HEAP, RECURSION, fault
from tests.shim.answers.script import Answer, parsed, started
from tests.shim.conformance_world import Driver

#: Calls after a fault, in this order.
AFTER = """
cuCtxSynchronize()
cuCtxSynchronize()
cuStreamSynchronize(null)
cuStreamSynchronize(stream)
cuStreamQuery(stream)
cuEventQuery(recorded)
cuEventSynchronize(recorded)
cuEventRecord(recorded, null)
cuEventElapsedTime(out, recorded, recorded2)
cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null, arguments, null)
cuMemAlloc_v2(out, 64)
cuMemAllocAsync(out, 64, null)
cuMemHostAlloc(out, 64, 0)
cuMemAllocManaged(out, 64, 1)
cuMemGetInfo_v2(out, out)
cuMemGetAddressRange_v2(out, out, data)
cuPointerGetAttribute(out, 2, data)
cuMemcpyHtoD_v2(data, plain, 64)
cuMemcpyDtoH_v2(plain, data, 64)
cuMemsetD8_v2(data, 1, 64)
cuMemsetD8Async(data, 1, 64, stream)
cuModuleLoadData(out, ptx)
cuModuleGetFunction(out, module, b"scale")
cuModuleGetGlobal_v2(out, out, module, b"table")
cuFuncGetAttribute(out, 0, function)
cuFuncSetAttribute(function, 8, 1024)
cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, 128, 0)
cuStreamCreate(out, 0)
cuEventCreate(out, 0)
cuStreamGetFlags(stream, out)
cuStreamGetPriority(stream, out)
cuStreamBeginCapture_v2(stream, 0)
cuStreamIsCapturing(stream, out)
cuStreamEndCapture(stream, out)
cuLaunchHostFunc(stream, host_function, null)
cuGraphCreate(out, 0)
cuGraphAddEmptyNode(out, graph, null, 0)
cuGraphInstantiateWithFlags(out, graph, 0)
cuGraphLaunch(executable, stream)
cuCtxGetLimit(out, 0)
cuCtxSetLimit(0, 2048)
cuCtxGetDevice(out)
cuCtxGetFlags(out)
cuCtxGetApiVersion(ctx, out)
cuCtxGetStreamPriorityRange(out, out)
cuDeviceGetAttribute(out, 1, 0)
cuDeviceGet(out, 0)
cuMemPoolCreate(out, pool_properties)
cuArrayCreate_v2(out, array_description)
cuTexObjectDestroy(texture)
cuMemHostRegister_v2(plain, 4096, 0)
cuDevicePrimaryCtxRetain(out, 0)
cuStreamDestroy_v2(stream)
cuEventDestroy_v2(recorded)
cuMemFree_v2(data)
cuMemFreeHost(pinned)
cuModuleUnload(module)
cuGraphDestroy(graph)
"""
SPECIAL = {
    "assert": (ASSERT, "fails", 0), "stack_50": (RECURSION, "recurse", 50), "stack_5000": (RECURSION, "recurse", 5000),
    "stack_200000": (RECURSION, "recurse", 200000), "free_wild": (HEAP, "release", 0x123456780),
    "free_null": (HEAP, "release", 0), "malloc_huge": (HEAP, "grab", 1 << 40), "malloc_zero": (HEAP, "grab", 0),
    "malloc_heap": (HEAP, "grab", 8 << 20), "malloc_half": (HEAP, "grab", 4 << 20),
}  # fmt: skip


#: After these, what becomes of other contexts.
ALL = ("store_low", "trap", "assert", "misaligned_store")


def program(name: str) -> tuple[str, str, int]:
    return SPECIAL.get(name) or (fault(name), name, 1 << 10)


def _arguments(world: Any, line: str) -> tuple[str, list[Any]]:
    symbol, rest = parsed(line)
    return symbol, list(eval(f"({rest},)" if rest else "()", {}, world))


def faulted(driver: Driver, answer: Answer, name: str) -> None:

    lib, ffi = driver.lib, driver.ffi
    world = started(driver, answer)
    text, entry, n = program(name)
    code = driver.call("cuModuleLoadData", [world._room(), world.image(text)])
    if code:
        return answer(f"load:{code}")
    function = world._get("cuModuleGetFunction", world.load(text), entry.encode())
    calls = [(line, *_arguments(world, line)) for line in AFTER.strip().splitlines()]
    at = world["data2"]
    answer(f"launch:{world.launch(function, at, n)}")
    code = lib.cuCtxSynchronize()
    answer(f"sync:{code}")
    if code == 0:
        room = world._words(0)
        driver.call("cuMemcpyDtoH_v2", [room, at, 8])
        answer(f"word:{world.word(room) if 'malloc' not in name else bool(world.word(room))}")
        return None
    for _, symbol, arguments in calls:
        answer(f"{symbol}:{driver.call(symbol, arguments)}")
    if name not in ALL:
        return None
    other = ffi.new("CUcontext *")
    code = lib.cuCtxCreate_v2(other, 0, 0)
    answer(f"another context:{code}")
    if code == 0:
        answer(f"alloc there:{driver.call('cuMemAlloc_v2', [world._room(), 64])}")
        answer(f"sync there:{lib.cuCtxSynchronize()}")
        answer(f"destroy it:{lib.cuCtxDestroy_v2(other[0])}")
    answer(f"destroy:{driver.call('cuCtxDestroy_v2', [world['ctx']])}")
    code = lib.cuCtxCreate_v2(other, 0, 0)
    answer(f"new context:{code}")
    if code == 0:
        answer(f"alloc there:{driver.call('cuMemAlloc_v2', [world._room(), 64])}")
        answer(f"sync there:{lib.cuCtxSynchronize()}")
    answer(f"reset:{lib.cuDevicePrimaryCtxReset_v2(0)}")
    answer(f"retain:{driver.call('cuDevicePrimaryCtxRetain', [other, 0])}")
    answer(f"set:{driver.call('cuCtxSetCurrent', [other[0]])}")
    answer(f"alloc in it:{driver.call('cuMemAlloc_v2', [world._room(), 64])}")
    answer(f"count:{driver.call('cuDeviceGetCount', [world._room()])}")
    return None


def reported(driver: Driver, answer: Answer, name: str, first: str) -> None:
    """Which call is the first to say so."""
    world = started(driver, answer)
    text, entry, n = program(name)
    function = world._get("cuModuleGetFunction", world.load(text), entry.encode())
    symbol, arguments = _arguments(world, first)
    answer(f"launch:{world.launch(function, world['data2'], n)}")
    time.sleep(0.3)
    answer(f"{symbol}:{driver.call(symbol, arguments)}")
    answer(f"again:{driver.call(symbol, arguments)}")
    answer(f"sync:{driver.lib.cuCtxSynchronize()}")


FIRST = tuple(line for line in AFTER.strip().splitlines() if line.partition("(")[0] in (
    "cuStreamSynchronize", "cuStreamQuery", "cuEventQuery", "cuEventRecord", "cuLaunchKernel", "cuMemAlloc_v2",
    "cuMemcpyDtoH_v2", "cuMemsetD8Async", "cuModuleLoadData", "cuStreamCreate", "cuMemFree_v2", "cuStreamDestroy_v2",
    "cuModuleUnload", "cuGraphLaunch", "cuLaunchHostFunc", "cuMemGetInfo_v2", "cuMemHostAlloc",
    "cuPointerGetAttribute", "cuFuncGetAttribute", "cuCtxGetLimit", "cuStreamBeginCapture_v2"))  # fmt: skip


def questions() -> Iterator[tuple[str, Callable[[Driver, Answer], None]]]:
    for name in (*BODIES, *SPECIAL):
        yield f"fault.{name}", partial(faulted, name=name)
    for first in dict.fromkeys((*FIRST, "cuCtxDestroy_v2(ctx)", "cuDevicePrimaryCtxReset_v2(0)")):
        yield f"fault first seen.{first}", partial(reported, name="store_low", first=first)
