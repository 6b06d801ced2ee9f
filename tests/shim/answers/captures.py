"""What each call answers while a stream captures, and what it does to the capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.shim.answers.script import Answer, parsed, started
from tests.shim.conformance_world import Driver

#: Calls that wait, allocate, use the default stream or another stream, and some that do none of that.
CALLS = """
cuMemAlloc_v2(out, 64)
cuMemFree_v2(data)
cuMemFree_v2(0)
cuMemHostAlloc(out, 64, 0)
cuMemFreeHost(pinned)
cuMemAllocManaged(out, 64, 1)
cuMemAllocPitch_v2(out, out, 64, 2, 4)
cuMemcpyHtoD_v2(data, plain, 64)
cuMemcpyDtoH_v2(plain, data, 64)
cuMemcpyDtoD_v2(data, data2, 64)
cuMemcpy(data, data2, 64)
cuMemcpy2D_v2(copy_2d)
cuMemcpy3D_v2(copy_3d)
cuMemcpyHtoA_v2(array, 0, plain, 64)
cuMemcpyHtoDAsync_v2(data, plain, 64, null)
cuMemcpyHtoDAsync_v2(data, plain, 64, stream2)
cuMemsetD8_v2(data, 1, 64)
cuMemsetD8Async(data, 1, 64, null)
cuMemsetD8Async(data, 1, 64, 2)
cuMemsetD8Async(data, 1, 64, blocking)
cuCtxSynchronize()
cuStreamSynchronize(null)
cuStreamSynchronize(2)
cuStreamSynchronize(stream2)
cuStreamSynchronize(blocking)
cuStreamQuery(null)
cuStreamQuery(stream2)
cuEventQuery(recorded)
cuEventSynchronize(recorded)
cuEventElapsedTime(out, recorded, recorded2)
cuEventRecord(event, null)
cuEventRecord(event, stream2)
cuStreamWaitEvent(null, recorded, 0)
cuStreamWaitEvent(stream2, recorded, 0)
cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null, arguments, null)
cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream2, arguments, null)
cuLaunchHostFunc(null, host_function, null)
cuStreamAddCallback(null, stream_callback, null, 0)
cuStreamAddCallback(stream2, stream_callback, null, 0)
cuStreamCreate(out, 0)
cuStreamCreate(out, 1)
cuStreamDestroy_v2(stream2)
cuEventCreate(out, 0)
cuEventDestroy_v2(event)
cuModuleLoadData(out, ptx)
cuModuleUnload(module)
cuLibraryLoadData(out, ptx, null, null, 0, null, null, 0)
cuModuleGetFunction(out, module, b"scale")
cuModuleGetGlobal_v2(out, out, module, b"table")
cuMemAllocAsync(out, 64, null)
cuMemAllocAsync(out, 64, stream2)
cuMemFreeAsync(pool_memory, null)
cuMemFreeAsync(pool_memory, stream2)
cuMemGetInfo_v2(out, out)
cuMemGetAddressRange_v2(out, out, data)
cuPointerGetAttribute(out, 2, data)
cuPointerSetAttribute(one, 6, data)
cuArrayCreate_v2(out, array_description)
cuArrayDestroy(array)
cuMipmappedArrayCreate(out, array_3d_description, 3)
cuTexObjectCreate(out, array_resource, texture_how, null)
cuMemPoolCreate(out, pool_properties)
cuMemPoolTrimTo(pool, 0)
cuMemPoolDestroy(pool)
cuMemPoolGetAttribute(pool, 4, out)
cuFuncGetAttribute(out, 0, function)
cuFuncSetAttribute(function, 8, 1024)
cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, 128, 0)
cuCtxSetLimit(0, 2048)
cuCtxSetLimit(2, 1 << 26)
cuCtxGetLimit(out, 0)
cuCtxSetCacheConfig(1)
cuCtxCreate_v2(out, 0, 0)
cuCtxDestroy_v2(other_ctx)
cuCtxResetPersistingL2Cache()
cuDevicePrimaryCtxRetain(out, 0)
cuDevicePrimaryCtxReset_v2(0)
cuDeviceGetAttribute(out, 1, 0)
cuDeviceGraphMemTrim(0)
cuMemHostRegister_v2(plain, 4096, 0)
cuMemHostUnregister(registered)
cuMemHostGetDevicePointer_v2(out, pinned, 0)
cuMemCreate(out, 1 << 21, allocation, 0)
cuMemAddressReserve(out, 1 << 21, 0, 0, 0)
cuMemUnmap(mapped, 1 << 21)
cuMemPrefetchAsync(managed, 64, 0, null)
cuMemPrefetchAsync(managed, 64, 0, stream2)
cuMemAdvise(managed, 64, 1, 0)
cuIpcGetMemHandle(out, data)
cuGraphCreate(out, 0)
cuGraphInstantiateWithFlags(out, graph, 0)
cuGraphLaunch(executable, null)
cuGraphLaunch(executable, stream2)
cuGraphUpload(executable, stream2)
cuGraphExecDestroy(executable)
cuStreamBeginCapture_v2(null, 0)
cuStreamBeginCapture_v2(stream2, 0)
cuStreamGetFlags(stream2, out)
cuStreamAttachMemAsync(null, managed, 0, 4)
cuProfilerStart()
cuLinkCreate_v2(0, null, null, out)
"""
MODES = ("global", "thread", "relaxed")


def during(driver: Driver, answer: Answer, mode: int, flags: int, thread: bool) -> None:
    """For each call: its code, the capture's state, the code of the capture's end."""

    for line in CALLS.strip().splitlines():
        world = started(driver, answer)
        symbol, rest = parsed(line)
        try:
            world["blocking"] = world._get("cuStreamCreate", 0)
            arguments = list(eval(f"({rest},)" if rest else "()", {}, world))
            stream = int(world._get("cuStreamCreate", flags))
        except RuntimeError as error:
            answer(f"{line}\t({error})")
            continue
        begin = driver.call("cuStreamBeginCapture_v2", [stream, mode])
        got = world.thread(symbol, *arguments) if thread else driver.call(symbol, arguments)
        state, graph = driver.ffi.new("int *", 9), driver.ffi.new("uint64_t *", 7)
        driver.call("cuStreamIsCapturing", [stream, state])
        end = driver.call("cuStreamEndCapture", [stream, graph])
        answer(f"{line}\t{f'begin {begin} ' if begin else ''}{got}/{state[0]}/{end}")
        for capture in ("stream2", "blocking"):  # what the call began
            driver.call("cuStreamEndCapture", [world[capture], graph])


def questions() -> Iterator[tuple[str, Callable[[Driver, Answer], None]]]:
    for mode, name in enumerate(MODES):
        for flags, kind in ((0, "blocking"), (1, "nonblocking")):
            for thread in (False, True):
                title = f"capturing.{name} {kind}{' other thread' if thread else ''}"
                yield title, partial(during, mode=mode, flags=flags, thread=thread)
