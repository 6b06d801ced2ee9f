"""Graphs that allocate, batches, external semaphores and memory: what they do to bytes, on the software GPU."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import cffi
import pytest

from ptx2amd import hip, native

DECLARATIONS = """
int hipGetDevice(int *);
int hipMalloc(uint64_t *, size_t); int hipFree(uint64_t); int hipMemcpyDtoH(void *, uint64_t, size_t);
int hipMemcpy(uint64_t, void *, size_t, int);
int hipStreamCreateWithFlags(void **, unsigned); int hipStreamSynchronize(void *); int hipStreamQuery(void *);
int hipStreamBeginCapture(void *, int); int hipStreamEndCapture(void *, void **); int hipDeviceSynchronize(void);
int hipStreamBeginCaptureToGraph(void *, void *, void *, void *, size_t, int);
int hipMallocAsync(uint64_t *, size_t, void *); int hipFreeAsync(uint64_t, void *);
int hipMemsetD8Async(uint64_t, unsigned char, size_t, void *);
int hipMemcpyDtoDAsync(uint64_t, uint64_t, size_t, void *);
int hipGraphCreate(void **, unsigned); int hipGraphDestroy(void *);
int hipGraphInstantiateWithFlags(void **, void *, unsigned long long);
int hipGraphLaunch(void *, void *); int hipGraphExecDestroy(void *); int hipGraphGetNodes(void *, void **, size_t *);
int hipGraphNodeGetType(void *, int *); int hipGraphDebugDotPrint(void *, const char *, unsigned);
int hipGraphAddChildGraphNode(void **, void *, void **, size_t, void *);
int hipGraphExecChildGraphNodeSetParams(void *, void *, void *);
int hipDeviceGetGraphMemAttribute(int, int, uint64_t *);
int hipStreamBatchMemOp(void *, unsigned, uint64_t *, unsigned);
int hipGraphAddBatchMemOpNode(void **, void *, void **, size_t, uint64_t *);
int hipGraphExecBatchMemOpNodeSetParams(void *, void *, uint64_t *);
int hipImportExternalMemory(void **, uint64_t *); int hipDestroyExternalMemory(void *);
int hipExternalMemoryGetMappedBuffer(uint64_t *, void *, uint64_t *);
int hipImportExternalSemaphore(void **, uint64_t *); int hipDestroyExternalSemaphore(void *);
int hipSignalExternalSemaphoresAsync(void **, void *, unsigned, void *);
int hipWaitExternalSemaphoresAsync(void **, void *, unsigned, void *);
"""
ALLOC, FREE = 10, 11
USED = 0


@pytest.fixture
def gpu() -> Iterator[SimpleNamespace]:
    opened = hip.open("vgpu:gfx942")
    opened.activate()
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    library = ffi.dlopen(str(native.DIRECTORY / "libptx2amd_vgpu.so"))

    def make(name: str, *arguments: object) -> object:
        kind = "uint64_t *" if "Malloc" in name or "Buffer" in name else "void **"
        out = ffi.new(kind)
        assert getattr(library, name)(out, *arguments) == 0
        return out[0]

    def data(at: int, size: int) -> bytes:
        assert library.hipDeviceSynchronize() == 0
        room = ffi.new("char[]", size)
        assert library.hipMemcpyDtoH(room, at, size) == 0
        return bytes(ffi.buffer(room))

    stream = make("hipStreamCreateWithFlags", 1)
    yield SimpleNamespace(ffi=ffi, lib=library, make=make, data=data, stream=stream, null=ffi.NULL)
    opened.reset()


def used(gpu: SimpleNamespace) -> int:
    value, device = gpu.ffi.new("uint64_t *"), gpu.ffi.new("int *")
    assert gpu.lib.hipGetDevice(device) == gpu.lib.hipDeviceGetGraphMemAttribute(device[0], USED, value) == 0
    return int(value[0])


def captured(gpu: SimpleNamespace, out: object, free: bool, value: int = 7) -> object:
    """A graph that allocates 4096 bytes, fills them, copies them to `out`, and perhaps frees them."""
    assert gpu.lib.hipStreamBeginCapture(gpu.stream, 0) == 0
    inner = gpu.make("hipMallocAsync", 4096, gpu.stream)
    assert gpu.lib.hipMemsetD8Async(inner, value, 4096, gpu.stream) == 0
    assert gpu.lib.hipMemcpyDtoDAsync(out, inner, 4096, gpu.stream) == 0
    if free:
        assert gpu.lib.hipFreeAsync(inner, gpu.stream) == 0
    graph = gpu.ffi.new("void **")
    assert gpu.lib.hipStreamEndCapture(gpu.stream, graph) == 0
    return SimpleNamespace(graph=graph[0], memory=inner)


def test_captured_allocations_are_nodes(gpu: SimpleNamespace) -> None:
    out = gpu.make("hipMalloc", 4096)
    made = captured(gpu, out, free=True)
    count, nodes = gpu.ffi.new("size_t *", 8), gpu.ffi.new("void *[8]")
    assert gpu.lib.hipGraphGetNodes(made.graph, nodes, count) == 0
    kinds = []
    for node in nodes[0 : count[0]]:
        kind = gpu.ffi.new("int *")
        gpu.lib.hipGraphNodeGetType(node, kind)
        kinds.append(kind[0])
    assert kinds == [ALLOC, 2, 1, FREE]
    executable = gpu.make("hipGraphInstantiateWithFlags", made.graph, 0)
    for _ in range(3):
        assert gpu.lib.hipGraphLaunch(executable, gpu.stream) == 0
    assert gpu.lib.hipStreamSynchronize(gpu.stream) == 0
    assert gpu.data(out, 4096) == b"\7" * 4096 and used(gpu) == 0
    assert gpu.lib.hipGraphExecDestroy(executable) == gpu.lib.hipGraphDestroy(made.graph) == 0


def test_memory_that_a_launch_leaves_allocated(gpu: SimpleNamespace) -> None:
    """It can be used and freed like any other; until then the graph cannot run again, unless it was told so."""
    out = gpu.make("hipMalloc", 4096)
    made = captured(gpu, out, free=False)
    executable = gpu.make("hipGraphInstantiateWithFlags", made.graph, 0)
    assert gpu.lib.hipGraphLaunch(executable, gpu.stream) == 0
    assert gpu.lib.hipGraphLaunch(executable, gpu.stream) == 1
    assert gpu.data(made.memory, 4096) == b"\7" * 4096 and used(gpu) == 4096
    assert gpu.lib.hipFree(made.memory) == 0 and used(gpu) == 0
    assert gpu.lib.hipGraphLaunch(executable, gpu.stream) == 0
    assert gpu.lib.hipFreeAsync(made.memory, gpu.stream) == gpu.lib.hipStreamSynchronize(gpu.stream) == 0
    again = gpu.make("hipGraphInstantiateWithFlags", made.graph, 1)
    for _ in range(3):
        assert gpu.lib.hipGraphLaunch(again, gpu.stream) == 0
    assert gpu.lib.hipGraphExecDestroy(executable) == gpu.lib.hipGraphExecDestroy(again) == 0
    assert gpu.lib.hipGraphDestroy(made.graph) == 0
    assert gpu.data(made.memory, 1) == b"\7", "it lives on"
    assert gpu.lib.hipFree(made.memory) == 0
    assert gpu.lib.hipFree(made.memory) == 1


def test_a_child_takes_another_graph(gpu: SimpleNamespace) -> None:
    out, graph = gpu.make("hipMalloc", 4096), gpu.make("hipGraphCreate", 0)
    first, second = captured(gpu, out, free=True), captured(gpu, out, free=True, value=9)
    child = gpu.make("hipGraphAddChildGraphNode", graph, gpu.null, 0, first.graph)
    executable = gpu.make("hipGraphInstantiateWithFlags", graph, 0)
    assert gpu.lib.hipGraphExecChildGraphNodeSetParams(executable, child, second.graph) == 0
    assert gpu.lib.hipGraphLaunch(executable, gpu.stream) == gpu.lib.hipStreamSynchronize(gpu.stream) == 0
    assert gpu.data(out, 4096) == b"\x09" * 4096
    assert gpu.lib.hipGraphExecChildGraphNodeSetParams(executable, child, gpu.make("hipGraphCreate", 0)) == 910


def test_capture_into_a_graph_and_its_picture(gpu: SimpleNamespace, tmp_path: Path) -> None:
    out, graph = gpu.make("hipMalloc", 16), gpu.make("hipGraphCreate", 0)
    assert gpu.lib.hipStreamBeginCaptureToGraph(gpu.stream, graph, gpu.null, gpu.null, 0, 0) == 0
    assert gpu.lib.hipMemsetD8Async(out, 1, 16, gpu.stream) == gpu.lib.hipMemsetD8Async(out, 2, 8, gpu.stream) == 0
    same = gpu.ffi.new("void **")
    assert gpu.lib.hipStreamEndCapture(gpu.stream, same) == 0 and same[0] == graph
    assert gpu.lib.hipGraphDebugDotPrint(graph, str(tmp_path / "g.dot").encode(), 0) == 0
    text = (tmp_path / "g.dot").read_text()
    assert text.count("memset") == 2 and len(re.findall("->", text)) == 1


def test_batches(gpu: SimpleNamespace) -> None:
    at = gpu.make("hipMalloc", 64)
    assert gpu.lib.hipMemcpy(at, gpu.ffi.new("char[64]"), 64, 1) == 0
    write32, write64, wait32 = 2, 5, 1
    words = [write32, at, 5, 0, 0, 0, wait32, at, 5, 1, 0, 0, write64, at + 8, 1 << 40]
    operations = gpu.ffi.new("uint64_t[18]", words)
    assert gpu.lib.hipStreamBatchMemOp(gpu.stream, 3, operations, 0) == 0
    assert gpu.lib.hipStreamSynchronize(gpu.stream) == 0
    assert gpu.data(at, 16) == (5).to_bytes(8, "little") + (1 << 40).to_bytes(8, "little")
    operations[1] = 0x1000
    assert gpu.lib.hipStreamBatchMemOp(gpu.stream, 3, operations, 0) == 1
    graph = gpu.make("hipGraphCreate", 0)
    one = gpu.ffi.new("uint64_t[6]", [write32, at, 6])
    address = int(gpu.ffi.cast("uintptr_t", one))
    node = gpu.make("hipGraphAddBatchMemOpNode", graph, gpu.null, 0, gpu.ffi.new("uint64_t[4]", [0, 1, address, 0]))
    executable = gpu.make("hipGraphInstantiateWithFlags", graph, 0)
    one[2] = 8
    for expected in (6, 8):
        assert gpu.lib.hipGraphLaunch(executable, gpu.stream) == gpu.lib.hipStreamSynchronize(gpu.stream) == 0
        assert gpu.data(at, 1)[0] == expected
        new = gpu.ffi.new("uint64_t[4]", [0, 1, address, 0])
        assert gpu.lib.hipGraphExecBatchMemOpNodeSetParams(executable, node, new) == 0


def test_external_memory_is_shared(gpu: SimpleNamespace) -> None:
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, 8192)
    mine = os.dup(descriptor)
    memory = gpu.make("hipImportExternalMemory", gpu.ffi.new("uint64_t[20]", [1, descriptor, 0, 8192]))
    at = gpu.make("hipExternalMemoryGetMappedBuffer", memory, gpu.ffi.new("uint64_t[12]", [4096, 4096]))
    os.pwrite(mine, b"outside", 4096)
    assert gpu.data(at, 7) == b"outside"
    assert gpu.lib.hipMemcpy(at, gpu.ffi.new("char[]", b"inside"), 6, 1) == 0
    assert os.pread(mine, 7, 4096) == b"insidee"
    assert gpu.lib.hipFree(at) == 0  # the buffer goes, the memory stays
    assert gpu.lib.hipMemcpy(at, gpu.ffi.new("char[8]"), 1, 1) == 1
    assert gpu.lib.hipFree(at) == 1
    at = gpu.make("hipExternalMemoryGetMappedBuffer", memory, gpu.ffi.new("uint64_t[12]", [4096, 4096]))
    assert gpu.lib.hipDestroyExternalMemory(memory) == 0
    assert gpu.lib.hipMemcpy(at, gpu.ffi.new("char[8]"), 1, 1) == 1
    os.close(mine)


def test_external_semaphores_order_streams(gpu: SimpleNamespace) -> None:
    """A stream waits until somebody writes the eventfd, and tells somebody by writing it."""
    descriptor = os.eventfd(0)
    mine = os.dup(descriptor)
    semaphore = gpu.make("hipImportExternalSemaphore", gpu.ffi.new("uint64_t[14]", [1, descriptor]))
    handles, parameters = gpu.ffi.new("void *[1]", [semaphore]), gpu.ffi.new("char[1024]")
    assert gpu.lib.hipWaitExternalSemaphoresAsync(handles, parameters, 1, gpu.stream) == 0
    assert gpu.lib.hipStreamQuery(gpu.stream) == 600
    timer = threading.Timer(0.05, os.eventfd_write, (mine, 1))
    timer.start()
    assert gpu.lib.hipStreamSynchronize(gpu.stream) == 0
    timer.join()
    assert gpu.lib.hipSignalExternalSemaphoresAsync(handles, parameters, 1, gpu.stream) == 0
    assert gpu.lib.hipStreamSynchronize(gpu.stream) == 0 and os.eventfd_read(mine) == 1
    assert gpu.lib.hipDestroyExternalSemaphore(semaphore) == 0
    os.close(mine)
