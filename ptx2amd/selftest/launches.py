"""Launches: streams, graphs, kernels that launch kernels, cooperative grids, and host services for kernels."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

from ptx2amd.selftest.case import Comparison, case, compare
from ptx2amd.selftest.gpu import Buffer, Gpu

THREADS, BLOCKS = 64, 8
COUNT = THREADS * BLOCKS
NON_BLOCKING, GLOBAL_CAPTURE, CONDITIONAL, WHILE = 1, 0, 13, 1


@case("launches", "streams, events, host functions")
def streams(gpu: Gpu) -> Iterator[Comparison]:
    step = gpu.kernel(gpu.load("launches"), "step")
    one, two = (gpu.get("cuStreamCreate", "CUstream *", NON_BLOCKING) for _ in range(2))
    event = gpu.get("cuEventCreate", "CUevent *", 2)
    x, order = gpu.buffer("I", range(COUNT)), list[int]()

    note = gpu.ffi.callback("void(void *)", lambda _data: order.append(len(order)))
    for turn in range(8):  # back and forth between two streams, using an event
        here, there = (one, two) if turn % 2 == 0 else (two, one)
        gpu.launch(step, BLOCKS, THREADS, x, 3, turn, stream=here)
        gpu.call("cuLaunchHostFunc", here, note, gpu.ffi.NULL)
        gpu.call("cuEventRecord", event, here)
        gpu.call("cuStreamWaitEvent", there, event, 0)
    gpu.call("cuStreamSynchronize", one)
    gpu.wait()
    expected = list(range(COUNT))
    for turn in range(8):
        expected = [3 * value + turn for value in expected]
    yield compare("kernels in order", "I", gpu.read(x, "I"), expected)
    yield compare("host functions", "I", order, range(8))


@case("launches", "a graph, captured and launched again")
def graphs(gpu: Gpu) -> Iterator[Comparison]:
    step, stream = gpu.kernel(gpu.load("launches"), "step"), gpu.get("cuStreamCreate", "CUstream *", NON_BLOCKING)
    x, y = gpu.buffer("I", range(COUNT)), gpu.room(4 * COUNT)
    gpu.call("cuStreamBeginCapture_v2", stream, GLOBAL_CAPTURE)
    gpu.launch(step, BLOCKS, THREADS, x, 2, 1, stream=stream)
    gpu.call("cuMemcpyDtoDAsync_v2", y.at, x.at, y.size, stream)
    gpu.launch(step, BLOCKS, THREADS, y, 1, 5, stream=stream)
    graph = gpu.ffi.new("CUgraph *")
    gpu.call("cuStreamEndCapture", stream, graph)
    ready = gpu.get("cuGraphInstantiateWithFlags", "CUgraphExec *", graph[0], 0)
    for _ in range(3):
        gpu.call("cuGraphLaunch", ready, stream)
    gpu.call("cuStreamSynchronize", stream)
    expected = [8 * n + 7 for n in range(COUNT)]
    yield compare("kernel three times", "I", gpu.read(x, "I"), expected)
    yield compare("copy and kernel", "I", gpu.read(y, "I"), [value + 5 for value in expected])


@case("launches", "a graph with a loop that a kernel ends")
def conditions(gpu: Gpu) -> Iterator[Comparison]:
    module, null = gpu.load("launches"), gpu.ffi.NULL
    x, left = gpu.buffer("I", [0] * COUNT), gpu.buffer("I", [11])
    graph = gpu.get("cuGraphCreate", "CUgraph *", 0)
    context = gpu.get("cuCtxGetCurrent", "CUcontext *")
    handle = gpu.get("cuGraphConditionalHandleCreate", "CUgraphConditionalHandle *", graph, context, 1, 1)
    node = gpu.ffi.new("CUgraphNodeParams *")
    node.type = CONDITIONAL
    node.conditional.handle, node.conditional.type, node.conditional.size = handle, WHILE, 1
    node.conditional.ctx = context
    gpu.get("cuGraphAddNode", "CUgraphNode *", graph, null, 0, node)
    body, before, kept = node.conditional.phGraph_out[0], null, []
    for name, grid, block, values in (
        ("step", BLOCKS, THREADS, (x, 1, 3)),
        ("count_down", 1, 1, (left, Buffer(int(handle), 0))),
    ):
        parameters, alive = gpu.parameters(*values)
        kept += [parameters, alive]
        kernel = gpu.ffi.new("CUDA_KERNEL_NODE_PARAMS *")
        kernel.func, kernel.kernelParams = gpu.kernel(module, name), parameters
        kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ = grid, 1, 1
        kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ = block, 1, 1
        made = gpu.get("cuGraphAddKernelNode_v2", "CUgraphNode *", body, before, 0 if before == null else 1, kernel)
        before = gpu.ffi.new("CUgraphNode *", made)
    ready = gpu.get("cuGraphInstantiateWithFlags", "CUgraphExec *", graph, 0)
    gpu.call("cuGraphLaunch", ready, null)
    gpu.wait()
    yield compare("rounds", "I", gpu.read(x, "I"), [36] * COUNT)
    yield compare("count", "I", gpu.read(left, "I"), [0])


@case("launches", "kernels that launch kernels")
def children(gpu: Gpu) -> Iterator[Comparison]:
    x = gpu.buffer("I", [1] * 256)
    gpu.run(gpu.kernel(gpu.load("launches"), "parent"), 1, 32, x)
    yield compare("children's words", "I", gpu.read(x, "I"), [n + 1 for n in range(256)])


@case("launches", "a cooperative grid meets")
def cooperative(gpu: Gpu) -> Iterator[Comparison]:
    words, out = gpu.buffer("I", [0]), gpu.room(12 * BLOCKS)
    gpu.run(gpu.kernel(gpu.load("launches"), "grid"), BLOCKS, THREADS, words, out, cooperative=True)
    yield compare("what each block sees", "I", gpu.read(out, "I"), [BLOCKS, 2 * BLOCKS, 3 * BLOCKS] * BLOCKS)


@case("launches", "printf")
def say(gpu: Gpu) -> Iterator[Comparison]:
    kernel = gpu.kernel(gpu.load("launches"), "say")
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            gpu.run(kernel, 1, 40)
        finally:
            os.dup2(before, 1)
            os.close(before)
        file.seek(0)
        got = sorted(file.read().splitlines())
    expected = sorted(f"line {n} {n / 4:.2f}".encode() for n in range(40))
    yield compare("lines", "I", [len(got)], [len(expected)])
    yield compare("text", "B", b"\n".join(got).ljust(1000)[:1000], b"\n".join(expected).ljust(1000)[:1000])


@case("launches", "malloc in kernels")
def heap(gpu: Gpu) -> Iterator[Comparison]:
    out = gpu.room(4 * THREADS)
    gpu.run(gpu.kernel(gpu.load("launches"), "heap"), 1, THREADS, out)
    yield compare("sums", "I", gpu.read(out, "I"), [1600 * n + 120 for n in range(THREADS)])
