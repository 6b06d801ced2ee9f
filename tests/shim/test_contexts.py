"""Contexts: the stack, primary contexts, context-local storage."""

from __future__ import annotations

import ctypes
import threading
import time
from types import SimpleNamespace

INVALID_VALUE, NOT_INITIALIZED, INVALID_DEVICE, INVALID_CONTEXT, INVALID_HANDLE, DESTROYED = 1, 3, 101, 201, 400, 709
STORAGE = bytes.fromhex("c693336e1121df11a8c368f355d89593")


def current(shim: SimpleNamespace) -> object:
    handle = shim.ffi.new("CUcontext *")
    assert shim.cuda.cuCtxGetCurrent(handle) == 0
    return handle[0]


def create(shim: SimpleNamespace) -> object:
    handle = shim.ffi.new("CUcontext *")
    assert shim.cuda.cuCtxCreate_v2(handle, 0, 0) == 0
    return handle[0]


def test_create_pushes_and_destroy_pops(shim: SimpleNamespace) -> None:
    assert current(shim) == shim.ffi.NULL
    first = create(shim)
    second = create(shim)
    assert current(shim) == second
    popped = shim.ffi.new("CUcontext *")
    assert shim.cuda.cuCtxPopCurrent_v2(popped) == 0 and popped[0] == second
    assert current(shim) == first
    assert shim.cuda.cuCtxPushCurrent_v2(second) == 0
    assert shim.cuda.cuCtxDestroy_v2(second) == 0
    assert current(shim) == first
    assert shim.cuda.cuCtxDestroy_v2(second) == INVALID_CONTEXT
    assert shim.cuda.cuCtxPushCurrent_v2(second) == INVALID_CONTEXT
    assert shim.cuda.cuCtxDestroy_v2(first) == 0
    assert current(shim) == shim.ffi.NULL
    assert shim.cuda.cuCtxPopCurrent_v2(popped) == INVALID_CONTEXT


def test_set_current_replaces_the_top(shim: SimpleNamespace) -> None:
    first, second = create(shim), create(shim)
    assert shim.cuda.cuCtxSetCurrent(first) == 0
    popped = shim.ffi.new("CUcontext *")
    assert shim.cuda.cuCtxPopCurrent_v2(popped) == 0 and popped[0] == first
    assert current(shim) == first
    assert shim.cuda.cuCtxSetCurrent(shim.ffi.NULL) == 0
    assert current(shim) == shim.ffi.NULL
    assert [shim.cuda.cuCtxDestroy_v2(c) for c in (first, second)] == [0, 0]


def test_destroyed_by_another_thread(shim: SimpleNamespace) -> None:
    handle = create(shim)
    thread = threading.Thread(target=lambda: shim.cuda.cuCtxDestroy_v2(handle))
    thread.start()
    thread.join()
    pointer = shim.ffi.new("CUdeviceptr *")
    assert shim.cuda.cuMemAlloc_v2(pointer, 16) == DESTROYED
    assert shim.cuda.cuCtxGetDevice(shim.ffi.new("int *")) == DESTROYED
    shim.cuda.cuCtxSetCurrent(shim.ffi.NULL)


def test_primary_context_counts(shim: SimpleNamespace) -> None:
    flags, active = shim.ffi.new("unsigned *"), shim.ffi.new("int *")
    handles = shim.ffi.new("CUcontext[2]")

    def is_active() -> bool:
        assert shim.cuda.cuDevicePrimaryCtxGetState(0, flags, active) == 0
        return bool(active[0])

    assert not is_active()
    assert shim.cuda.cuDevicePrimaryCtxRelease_v2(0) == INVALID_CONTEXT
    assert shim.cuda.cuDevicePrimaryCtxRetain(handles, 0) == 0
    assert shim.cuda.cuDevicePrimaryCtxRetain(handles + 1, 0) == 0
    assert handles[0] == handles[1] and is_active()
    assert shim.cuda.cuDevicePrimaryCtxRelease_v2(0) == 0 and is_active()
    assert shim.cuda.cuDevicePrimaryCtxRelease_v2(0) == 0 and not is_active()
    assert shim.cuda.cuDevicePrimaryCtxRetain(handles, 7) == INVALID_DEVICE
    assert shim.cuda.cuCtxDestroy_v2(handles[0]) == INVALID_CONTEXT


def test_the_primary_context_may_be_current_before_it_is_retained(shim: SimpleNamespace) -> None:
    """NVIDIA's runtime does it in this order; that of 11.8 (cudaGetDevice) asks for the device before it retains."""
    handle, device, pointer = shim.ffi.new("CUcontext *"), shim.ffi.new("int *"), shim.ffi.new("CUdeviceptr *")
    shim.cuda.cuDevicePrimaryCtxRetain(handle, 0)
    shim.cuda.cuDevicePrimaryCtxRelease_v2(0)
    assert shim.cuda.cuCtxSetCurrent(handle[0]) == 0
    assert shim.cuda.cuMemAlloc_v2(pointer, 16) == DESTROYED
    device[0] = 5
    assert shim.cuda.cuCtxGetDevice(device) == 0 and device[0] == 0
    assert shim.cuda.cuDevicePrimaryCtxRetain(handle, 0) == 0
    assert shim.cuda.cuCtxGetDevice(device) == 0
    assert shim.cuda.cuMemAlloc_v2(pointer, 16) == 0 and shim.cuda.cuMemFree_v2(pointer[0]) == 0
    shim.cuda.cuCtxSetCurrent(shim.ffi.NULL)
    shim.cuda.cuDevicePrimaryCtxRelease_v2(0)


def test_calls_need_a_context(shim: SimpleNamespace) -> None:
    pointer, stream = shim.ffi.new("CUdeviceptr *"), shim.ffi.new("CUstream *")
    assert shim.cuda.cuMemAlloc_v2(pointer, 16) == INVALID_CONTEXT
    assert shim.cuda.cuStreamCreate(stream, 0) == INVALID_CONTEXT
    assert shim.cuda.cuCtxSynchronize() == INVALID_CONTEXT


def test_streams_and_events_go_with_their_context(shim: SimpleNamespace) -> None:
    handle = create(shim)
    stream, event = shim.ffi.new("CUstream *"), shim.ffi.new("CUevent *")
    assert shim.cuda.cuStreamCreate(stream, 1) == 0 and shim.cuda.cuEventCreate(event, 0) == 0
    assert shim.cuda.cuEventRecord(event[0], stream[0]) == 0
    assert shim.cuda.cuEventQuery(event[0]) == 600
    shim.cuda.cuCtxDestroy_v2(handle)
    other = create(shim)
    assert shim.cuda.cuStreamSynchronize(stream[0]) == INVALID_HANDLE
    assert shim.cuda.cuEventRecord(event[0], shim.ffi.NULL) == INVALID_HANDLE
    assert shim.cuda.cuEventRecord(shim.ffi.cast("CUevent", 0x1230), shim.ffi.NULL) == INVALID_HANDLE
    shim.cuda.cuCtxDestroy_v2(other)


def test_stream_facts(shim: SimpleNamespace, context: object) -> None:
    stream, flags, owner = shim.ffi.new("CUstream *"), shim.ffi.new("unsigned *"), shim.ffi.new("CUcontext *")
    ids = shim.ffi.new("unsigned long long[3]")
    assert shim.cuda.cuStreamCreate(stream, 1) == 0
    assert shim.cuda.cuStreamGetFlags(stream[0], flags) == 0 and flags[0] == 1
    assert shim.cuda.cuStreamGetCtx(stream[0], owner) == 0 and owner[0] == context
    for i, s in enumerate((stream[0], shim.ffi.NULL, shim.ffi.cast("CUstream", 2))):
        assert shim.cuda.cuStreamGetId(s, ids + i) == 0
    assert len(set(ids)) == 3
    assert shim.cuda.cuStreamCreate(stream, 9) == INVALID_VALUE


def test_limits_and_preferences(shim: SimpleNamespace, context: object) -> None:
    value = shim.ffi.new("size_t *")
    assert shim.cuda.cuCtxSetLimit(1, 1 << 21) == 0
    assert shim.cuda.cuCtxGetLimit(value, 1) == 0 and value[0] == 1 << 21
    assert shim.cuda.cuCtxGetLimit(value, 99) == INVALID_VALUE
    assert shim.cuda.cuCtxGetLimit(value, 8) == 0 and value[0] == 0  # cuBLAS gives up without an answer
    assert shim.cuda.cuCtxGetLimit(value, 9) == 215


# ---- context-local storage ----

DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def storage(shim: SimpleNamespace) -> tuple:
    out = shim.ffi.new("void **")
    assert (
        shim.cuda.cuGetExportTable(shim.ffi.cast("const void **", out), shim.ffi.new("CUuuid *", {"bytes": STORAGE}))
        == 0
    )
    words = ctypes.cast(int(shim.ffi.cast("uintptr_t", out[0])), ctypes.POINTER(ctypes.c_void_p))
    p, i = ctypes.c_void_p, ctypes.c_int
    return (
        ctypes.CFUNCTYPE(i, p, p, p, p)(words[0]),
        ctypes.CFUNCTYPE(i, p, p)(words[1]),
        ctypes.CFUNCTYPE(i, ctypes.POINTER(p), p, p)(words[2]),
    )


def test_storage_keeps_values_per_context_and_runs_destructors(shim: SimpleNamespace) -> None:
    put, drop, get = storage(shim)
    dropped: list[tuple[int, int]] = []
    destructor = DESTRUCTOR(lambda context, key, value: dropped.append((key, value)))
    handle = create(shim)
    context, value = int(shim.ffi.cast("uintptr_t", handle)), ctypes.c_void_p()
    assert get(ctypes.byref(value), context, 16) == INVALID_HANDLE
    for key in range(1, 101):
        assert put(context, 16 * key, key, ctypes.cast(destructor, ctypes.c_void_p)) == 0
    assert get(ctypes.byref(value), None, 16 * 77) == 0 and value.value == 77  # NULL is the current context
    assert drop(context, 16 * 77) == 0 and drop(context, 16 * 77) == INVALID_HANDLE
    assert get(ctypes.byref(value), context, 16 * 77) == INVALID_HANDLE
    assert get(ctypes.byref(value), 0x1234, 16) == INVALID_CONTEXT
    shim.cuda.cuCtxDestroy_v2(handle)
    assert sorted(dropped) == [(16 * key, key) for key in range(1, 101) if key != 77]


def test_storage_under_threads(shim: SimpleNamespace, context: object) -> None:
    put, drop, get = storage(shim)
    wrong: list[int] = []
    address, stop = int(shim.ffi.cast("uintptr_t", context)), time.monotonic() + 0.3

    def work(key: int) -> None:
        value = ctypes.c_void_p()
        while time.monotonic() < stop:
            put(address, key, key + 1, None)
            if get(ctypes.byref(value), address, key) or value.value != key + 1 or drop(address, key):
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(4096 * i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_pointers_are_known_without_a_context(shim: SimpleNamespace) -> None:
    """cudaPointerGetAttributes asks so before the runtime has made a context."""
    ffi, attributes = shim.ffi, [2, 9, 8]  # memory type, device, managed
    values = [ffi.new("uint64_t *", 77) for _ in attributes]
    places = ffi.new("void *[]", [ffi.cast("void *", value) for value in values])
    assert current(shim) == ffi.NULL
    arguments = (ffi.new("CUpointer_attribute[]", attributes), places, 0x1230)
    assert shim.cuda.cuPointerGetAttributes(len(attributes), *arguments) == 0
    assert values[0][0] == 77 >> 32 << 32 and int(ffi.cast("int", values[1][0])) == -2
    assert shim.cuda.cuPointerGetAttribute(places[0], 2, 0x1230) == INVALID_VALUE


def test_objects_work_in_their_own_context(shim: SimpleNamespace) -> None:
    """A thread that has no context asks a stream for its own, as DALI does, and has none afterwards either."""
    own = create(shim)
    stream, of_stream, event = shim.ffi.new("CUstream *"), shim.ffi.new("CUcontext *"), shim.ffi.new("CUevent *")
    pointer, device = shim.ffi.new("CUdeviceptr *"), shim.ffi.new("CUdevice *", 77)
    assert shim.cuda.cuStreamCreate(stream, 0) == 0 and shim.cuda.cuEventCreate(event, 0) == 0
    assert shim.cuda.cuMemAlloc_v2(pointer, 64) == 0
    assert shim.cuda.cuCtxSetCurrent(shim.ffi.NULL) == 0
    assert shim.cuda.cuStreamGetCtx(stream[0], of_stream) == 0 and of_stream[0] == own
    assert shim.cuda.cuStreamGetDevice(stream[0], device) == 0 and device[0] == 0
    assert shim.cuda.cuEventRecord(event[0], stream[0]) == 0
    assert shim.cuda.cuStreamSynchronize(stream[0]) == 0
    assert shim.cuda.cuMemFree_v2(pointer[0]) == 0
    assert current(shim) == shim.ffi.NULL
    for default in (0, 1, 2):
        handle = shim.ffi.cast("CUstream", default)
        assert shim.cuda.cuStreamGetCtx(handle, of_stream) == INVALID_CONTEXT
        assert shim.cuda.cuStreamSynchronize(handle) == INVALID_CONTEXT
    assert shim.cuda.cuMemAlloc_v2(pointer, 64) == INVALID_CONTEXT
    assert shim.cuda.cuLaunchKernelEx(*[shim.ffi.NULL] * 4) == INVALID_CONTEXT
    assert shim.cuda.cuCtxDestroy_v2(own) == 0
    assert shim.cuda.cuStreamGetCtx(stream[0], of_stream) == INVALID_HANDLE
