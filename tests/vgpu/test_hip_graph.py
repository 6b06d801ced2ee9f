"""Graphs and stream capture through the HIP API.

Protects: a graph does what its nodes say in an order its edges allow, however it was made.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import common


@pytest.fixture
def gpu() -> Iterator[hip.Gpu]:
    yield from opened("gfx942")


class Graph:
    """A graph under construction; `after` lists the nodes that a node depends on."""

    def __init__(self, gpu: hip.Gpu, handle: Any = None) -> None:
        self.gpu, self.lib, self.ffi, self.keep = gpu, gpu.library, gpu.library.ffi, []
        if handle is None:
            pointer = self.ffi.new("hipGraph_t *")
            self.lib.hipGraphCreate(pointer, 0)
            handle = pointer[0]
        self.handle = handle

    def add(self, function: str, after: tuple[Any, ...], *params: Any) -> Any:
        node = self.ffi.new("hipGraphNode_t *")
        getattr(self.lib, function)(node, self.handle, list(after), len(after), *params)
        return node[0]

    def kernel_params(self, kernel: hip.Kernel, grid: int, block: int, data: bytes, offsets: list[int]) -> Any:
        p, raw = self.ffi.new("hipKernelNodeParams *"), self.ffi.from_buffer(data)
        base = self.ffi.cast("char *", raw)
        pointers = self.ffi.new("void *[]", [base + offset for offset in offsets])
        self.keep += [raw, data, pointers, p]
        p.func, p.kernelParams = self.ffi.cast("void *", kernel.handle), pointers
        p.gridDim = p.blockDim = (1, 1, 1)
        p.gridDim.x, p.blockDim.x = grid, block
        return p

    def kernel(self, name: str, data: bytes, offsets: list[int], *after: Any) -> Any:
        params = self.kernel_params(common(self.gpu, name), 1, 64, data, offsets)
        return self.add("hipGraphAddKernelNode", after, params)

    def add_one(self, buffer: hip.Buffer, *after: Any) -> Any:
        return self.kernel("add_one", struct.pack("<Qi", buffer.address, 64), [0, 8], *after)

    def fill(self, buffer: hip.Buffer, value: int, *after: Any) -> Any:
        p = self.ffi.new("hipMemsetParams *")
        p.dst, p.elementSize, p.width, p.height, p.value = self.ffi.cast("void *", buffer.address), 4, 64, 1, value
        return self.add("hipGraphAddMemsetNode", after, p)

    def host(self, function: Any, *after: Any) -> Any:
        p = self.ffi.new("hipHostNodeParams *")
        p.fn = callback = self.ffi.callback("void(void *)", lambda _: [function(), None][1])
        self.keep.append(callback)
        return self.add("hipGraphAddHostNode", after, p)

    def instantiate(self) -> Any:
        pointer = self.ffi.new("hipGraphExec_t *")
        self.lib.hipGraphInstantiate(pointer, self.handle, self.ffi.NULL, self.ffi.NULL, 0)
        return pointer[0]

    def run(self) -> None:
        executable = self.instantiate()
        self.lib.hipGraphLaunch(executable, self.ffi.NULL)
        self.gpu.synchronize()
        self.lib.hipGraphExecDestroy(executable)


def words(gpu: hip.Gpu, value: int = 0) -> hip.Buffer:
    return gpu.buffer(np.full(64, value, np.uint32))


def test_nodes_run_in_the_order_of_the_edges(gpu: hip.Gpu) -> None:
    g, a, b, seen = Graph(gpu), words(gpu), words(gpu), []
    end = g.host(lambda: seen.append(g.ffi.cast("uint32_t *", b.address)[3]))
    fill = g.fill(a, 40)
    first = g.add_one(a, fill)
    second = g.add_one(a, first)
    size, kind = 256, g.lib.raw.hipMemcpyDeviceToDevice
    pa, pb = (g.ffi.cast("void *", x.address) for x in (a, b))
    copy = g.add("hipGraphAddMemcpyNode1D", (second,), pb, pa, size, kind)
    g.lib.hipGraphAddDependencies(g.handle, [copy], [end], 1)  # added first, runs last
    for _ in range(2):
        g.run()
    assert seen == [42, 42]


def test_launches_repeat_and_hold_their_own_arguments(gpu: hip.Gpu) -> None:
    g, a, b = Graph(gpu), words(gpu), words(gpu)
    node = g.add_one(a)
    executable = g.instantiate()
    for _ in range(3):
        g.lib.hipGraphLaunch(executable, g.ffi.NULL)
    params = g.kernel_params(common(gpu, "add_one"), 1, 64, struct.pack("<Qi", b.address, 64), [0, 8])
    g.lib.hipGraphExecKernelNodeSetParams(executable, node, params)
    g.lib.hipGraphLaunch(executable, g.ffi.NULL)
    assert (a.numpy() == 3).all() and (b.numpy() == 1).all()
    g.lib.hipGraphNodeSetEnabled(executable, node, 0)
    g.lib.hipGraphLaunch(executable, g.ffi.NULL)
    assert (b.numpy() == 1).all()
    g.lib.hipGraphExecDestroy(executable)
    with fails("hipErrorInvalidValue"):
        g.lib.hipGraphLaunch(executable, g.ffi.NULL)


def test_kernel_parameters_can_be_read_back(gpu: hip.Gpu) -> None:
    g, a = Graph(gpu), words(gpu)
    node, p = g.add_one(a), g.ffi.new("hipKernelNodeParams *")
    g.lib.hipGraphKernelNodeGetParams(node, p)
    assert p.func == common(gpu, "add_one").handle and (p.gridDim.x, p.blockDim.x) == (1, 64)
    assert g.ffi.cast("uint64_t *", p.kernelParams[0])[0] == a.address
    assert g.ffi.cast("int *", p.kernelParams[1])[0] == 64
    kind = g.ffi.new("hipGraphNodeType *")
    for other, expected in ((node, "Kernel"), (g.fill(a, 1), "Memset"), (g.host(print), "Host")):
        g.lib.hipGraphNodeGetType(other, kind)
        assert kind[0] == getattr(g.lib.raw, f"hipGraphNodeType{expected}")


def test_structure_queries(gpu: hip.Gpu) -> None:
    g, a, n = Graph(gpu), words(gpu), gpu.library.ffi.new("size_t *")
    root = g.fill(a, 1)
    left, right = g.add_one(a, root), g.add_one(a, root)
    join = g.add("hipGraphAddEmptyNode", (left, right))
    nodes, other = g.ffi.new("hipGraphNode_t[8]"), g.ffi.new("hipGraphNode_t[8]")

    def listed(function: str, *args: Any) -> set[Any]:
        n[0] = 8
        getattr(g.lib, function)(*args, nodes, n)
        return {nodes[k] for k in range(n[0])}

    assert listed("hipGraphGetNodes", g.handle) == {root, left, right, join}
    assert listed("hipGraphGetRootNodes", g.handle) == {root}
    assert listed("hipGraphNodeGetDependencies", join) == {left, right}
    assert listed("hipGraphNodeGetDependentNodes", root) == {left, right}
    n[0] = 8
    g.lib.hipGraphGetEdges(g.handle, nodes, other, n)
    edges = {(nodes[k], other[k]) for k in range(n[0])}
    assert edges == {(root, left), (root, right), (left, join), (right, join)}
    g.lib.hipGraphDestroyNode(left)
    assert listed("hipGraphNodeGetDependencies", join) == {right}
    g.lib.hipGraphGetNodes(g.handle, g.ffi.NULL, n)
    assert n[0] == 3


def test_cycles_and_bad_edges(gpu: hip.Gpu) -> None:
    g, a = Graph(gpu), words(gpu)
    first, foreign = g.fill(a, 1), Graph(gpu).fill(a, 1)
    second = g.add_one(a, first)
    for start, end in ((first, first), (first, second), (first, foreign)):
        with fails("hipErrorInvalidValue"):
            g.lib.hipGraphAddDependencies(g.handle, [start], [end], 1)
    with fails("hipErrorInvalidValue"):
        g.add_one(a, foreign)
    g.lib.hipGraphAddDependencies(g.handle, [second], [first], 1)
    with fails("hipErrorInvalidValue"):
        g.instantiate()
    g.lib.hipGraphRemoveDependencies(g.handle, [second], [first], 1)
    g.run()
    assert (a.numpy() == 2).all()


def test_child_graphs_and_clones(gpu: hip.Gpu) -> None:
    g, child, a = Graph(gpu), Graph(gpu), words(gpu)
    first = child.add_one(a)
    child.add_one(a, first)
    fill = g.fill(a, 10)
    inner = g.add("hipGraphAddChildGraphNode", (fill,), child.handle)
    g.add_one(a, inner)
    clone, found = g.ffi.new("hipGraph_t *"), g.ffi.new("hipGraphNode_t *")
    g.lib.hipGraphClone(clone, g.handle)
    g.lib.hipGraphNodeFindInClone(found, fill, clone[0])
    g.lib.hipGraphDestroy(child.handle)
    g.lib.hipGraphDestroy(g.handle)
    with fails("hipErrorInvalidValue"):
        g.lib.hipGraphDestroy(g.handle)
    Graph(gpu, clone[0]).run()
    assert (a.numpy() == 13).all()


def test_update_takes_a_graph_of_the_same_shape(gpu: hip.Gpu) -> None:
    a, b = words(gpu), words(gpu)
    one, two, three = Graph(gpu), Graph(gpu), Graph(gpu)
    one.add_one(a)
    two.add_one(b)
    three.fill(b, 7)
    executable, result = one.instantiate(), one.ffi.new("hipGraphExecUpdateResult *")
    one.lib.hipGraphExecUpdate(executable, two.handle, one.ffi.NULL, result)
    one.lib.hipGraphLaunch(executable, one.ffi.NULL)
    assert (a.numpy() == 0).all() and (b.numpy() == 1).all()
    with fails("hipErrorGraphExecUpdateFailure"):
        one.lib.hipGraphExecUpdate(executable, three.handle, one.ffi.NULL, result)
    assert result[0] == one.lib.raw.hipGraphExecUpdateErrorNodeTypeChanged


class Capture:
    """Captures what is submitted to a stream inside the `with` block; `graph` afterwards."""

    def __init__(self, gpu: hip.Gpu, stream: hip.Stream) -> None:
        self.gpu, self.stream = gpu, stream

    def __enter__(self) -> Capture:
        self.gpu.library.hipStreamBeginCapture(self.stream.handle, self.gpu.library.raw.hipStreamCaptureModeGlobal)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.graph = self.end()

    def end(self) -> Graph:
        pointer = self.gpu.library.ffi.new("hipGraph_t *")
        self.gpu.library.hipStreamEndCapture(self.stream.handle, pointer)
        return Graph(self.gpu, pointer[0])


def test_capture_records_and_does_not_run(gpu: hip.Gpu) -> None:
    stream, a, k = gpu.stream(), words(gpu), common(gpu, "add_one")
    lib, ffi, status = gpu.library, gpu.library.ffi, gpu.library.ffi.new("hipStreamCaptureStatus *")
    with Capture(gpu, stream) as capture:
        lib.hipMemsetD32Async(ffi.cast("void *", a.address), 5, 64, stream.handle)
        for _ in range(3):
            k.launch(1, 64, [a, 64], stream=stream)
        lib.hipStreamIsCapturing(stream.handle, status)
        assert status[0] == lib.raw.hipStreamCaptureStatusActive
    assert (a.numpy() == 0).all()
    capture.graph.run()
    assert (a.numpy() == 8).all()
    k.launch(1, 64, [a, 64], stream=stream)
    stream.synchronize()
    assert (a.numpy() == 9).all()


def test_capture_follows_events_into_other_streams(gpu: hip.Gpu) -> None:
    main, side, a, b = gpu.stream(), gpu.stream(), words(gpu), words(gpu, 100)
    fork, join, k = gpu.event(), gpu.event(), common(gpu, "add_one")
    with Capture(gpu, main) as capture:
        k.launch(1, 64, [a, 64], stream=main)
        fork.record(main)
        side.wait(fork)
        k.launch(1, 64, [b, 64], stream=side)
        join.record(side)
        k.launch(1, 64, [a, 64], stream=main)
        main.wait(join)
        k.launch(1, 64, [b, 64], stream=main)
    n = gpu.library.ffi.new("size_t *")
    edges = capture.graph
    edges.lib.hipGraphGetEdges(edges.handle, edges.ffi.NULL, edges.ffi.NULL, n)
    assert n[0] == 4
    edges.run()
    assert (a.numpy() == 2).all() and (b.numpy() == 102).all()


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_stream_that_joined_a_capture_may_be_destroyed(gpu: hip.Gpu, comes_back: bool) -> None:
    main, side, a, b = gpu.stream(), gpu.stream(), words(gpu), words(gpu, 100)
    fork, join, k = gpu.event(), gpu.event(), common(gpu, "add_one")
    capture = Capture(gpu, main).__enter__()
    fork.record(main)
    side.wait(fork)
    k.launch(1, 64, [b, 64], stream=side)
    join.record(side)
    if comes_back:
        main.wait(join)
    del side  # which destroys it
    k.launch(1, 64, [a, 64], stream=main)
    if not comes_back:
        with fails("hipErrorStreamCaptureUnjoined"):
            capture.end()
        return
    capture.end().run()
    assert (a.numpy() == 1).all() and (b.numpy() == 101).all()


#: Modes of the capture, of the thread that frees, and whether that is the thread that captures; whether it may.
MODES = [
    ("Global", "Global", False, False), ("Global", "ThreadLocal", False, True), ("Global", "Relaxed", True, True),
    ("ThreadLocal", "Global", False, True), ("ThreadLocal", "Global", True, False),
    ("ThreadLocal", "ThreadLocal", True, False), ("Relaxed", "Global", True, True), ("Relaxed", "Global", False, True),
]  # fmt: skip


@pytest.mark.parametrize(("captures", "frees", "same", "allowed"), MODES)
def test_what_belongs_to_no_stream(gpu: hip.Gpu, captures: str, frees: str, same: bool, allowed: bool) -> None:
    lib, ffi, stream = gpu.library, gpu.library.ffi, gpu.stream()
    names = {name: getattr(lib.raw, f"hipStreamCaptureMode{name}") for name in ("Global", "ThreadLocal", "Relaxed")}
    kept = ffi.new("void **")
    lib.hipMalloc(kept, 64)

    def attempts() -> list[int]:
        mode = ffi.new("hipStreamCaptureMode *", names[frees])
        lib.hipThreadExchangeStreamCaptureMode(mode)
        made = ffi.new("void **")
        codes = [lib.raw.hipMalloc(made, 64), lib.raw.hipFree(made[0]), lib.raw.hipFree(ffi.NULL)]
        lib.hipThreadExchangeStreamCaptureMode(mode)
        return codes

    lib.hipStreamBeginCapture(stream.handle, names[captures])
    if same:
        codes = attempts()
    else:
        with ThreadPoolExecutor(1) as other:
            codes = other.submit(attempts).result()
    refused = lib.raw.hipErrorStreamCaptureUnsupported
    assert codes == [lib.raw.hipSuccess if allowed else refused] * 3
    ended = lib.raw.hipStreamEndCapture(stream.handle, ffi.new("hipGraph_t *"))
    assert ended == (lib.raw.hipSuccess if allowed else lib.raw.hipErrorStreamCaptureInvalidated)
    lib.hipFree(kept[0])


def test_unjoined_and_forbidden_captures(gpu: hip.Gpu) -> None:
    main, side, event, a = gpu.stream(), gpu.stream(), gpu.event(), words(gpu)
    capture = Capture(gpu, main).__enter__()
    event.record(main)
    side.wait(event)
    common(gpu, "add_one").launch(1, 64, [a, 64], stream=side)
    with fails("hipErrorStreamCaptureUnjoined"):
        capture.end()
    assert side.idle()
    for forbidden in (main.synchronize, main.idle):
        capture = Capture(gpu, main).__enter__()
        with fails("hipErrorStreamCaptureUnsupported"):
            forbidden()
        with fails("hipErrorStreamCaptureInvalidated"):
            capture.end()
    with fails("hipErrorIllegalState"):
        Capture(gpu, main).end()
    with fails("hipErrorStreamCaptureUnsupported"):
        gpu.library.hipStreamBeginCapture(gpu.library.ffi.NULL, gpu.library.raw.hipStreamCaptureModeGlobal)


def test_user_objects_live_as_long_as_a_graph_or_executable_holds_them(gpu: hip.Gpu) -> None:
    lib, ffi, gone = gpu.library, gpu.library.ffi, []
    destroy = ffi.callback("void(void *)", lambda data: gone.append(int(ffi.cast("uintptr_t", data))))
    graph, item, executable, clone = (
        Graph(gpu),
        ffi.new("hipUserObject_t *"),
        ffi.new("hipGraphExec_t *"),
        ffi.new("hipGraph_t *"),
    )
    lib.hipUserObjectCreate(item, ffi.cast("void *", 7), destroy, 2, 1)
    lib.hipGraphRetainUserObject(graph.handle, item[0], 1, 0)
    lib.hipGraphClone(clone, graph.handle)
    lib.hipGraphInstantiate(executable, graph.handle, ffi.NULL, ffi.NULL, 0)
    lib.hipUserObjectRelease(item[0], 2)
    lib.hipGraphReleaseUserObject(graph.handle, item[0], 1)
    with fails("hipErrorInvalidValue"):
        lib.hipGraphReleaseUserObject(graph.handle, item[0], 1)
    lib.hipGraphDestroy(graph.handle)
    lib.hipGraphDestroy(clone[0])
    assert gone == []
    lib.hipGraphExecDestroy(executable[0])
    assert gone == [7]
    with fails("hipErrorInvalidValue"):
        lib.hipUserObjectRetain(item[0], 1)
