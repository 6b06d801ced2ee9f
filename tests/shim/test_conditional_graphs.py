"""Graphs with conditional nodes on the software GPU: what is executed, in which order, and what ends when."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run
from tests.shim.graph_world import WORLD
from tests.shim.hip_library import WITHOUT_WAITS, replaced

CHOICES = """
g = graph()
handle = condition(g)
first = step(g, [], 1, 5, 1, handle)
node, [then, other] = choice(g, [first], handle, IF, 2)
step(then, [], 2, 0)
step(other, [], 3, 0)
last = step(g, [node], 1, 100)
exe = instance(g)
assert [result(exe, w1=1), result(exe, w1=0), result(exe, w1=7, on=stream())] == [112, 118, 112]
assert result(exe, w1=1, on=c.c_void_p(2)) == 112          # the thread's own default stream

# a node of four, on a value that a launch begins with, or that the last one left
for flags, wants in ((DEFAULT, [31, 31]), (0, [11, 1])):
    g = graph()
    handle = condition(g, 2, flags)
    node, bodies = choice(g, [], handle, SWITCH, 4)
    for n, body in enumerate(bodies): step(body, [], 1, 10 * (n + 1), 1, handle)
    exe = instance(g)
    assert [result(exe, w1=9) for _ in range(2)] == wants
print("choices")
"""

LOOPS = """
g = graph()
node, _, body, handle = loop(g, [], 1, 1, 1)
exe = instance(g)
assert [result(exe, value=0, w1=n) for n in (0, 5, 30)] == [1, 6, 31]

# a loop in a loop, between nodes of which one does not wait for it; a copy and a fill in the inner body
g = graph()
outer = condition(g, 1, DEFAULT)
first = step(g, [], 1, 1)
side = made("cuGraphAddMemsetNode", g, *after([]), struct.pack("<QQIIQQ", at(9), 0, 77, 4, 1, 1), None)
node, [body] = choice(g, [first], outer, WHILE)
inner = condition(g)
start = step(body, [], 1, 0, 2, inner)          # as often as word 2 says
within, [deep] = choice(body, [start], inner, WHILE)
mul = step(deep, [], 2, 0, 3, inner)
made("cuGraphAddMemsetNode", deep, *after([mul]), struct.pack("<QQIIQQ", at(8), 0, 5, 4, 1, 1), None)
step(body, [within], 1, 1, 1, outer)
step(g, [node, side], 1, 1000)
exe = instance(g)
# (1 + 1), three times: * 2 (word 3 is 0: once), + 1; the second and third time word 2 is 0
assert result(exe, w1=2, w2=1, w3=0, w8=0, w9=0) == ((2 * 2 + 1) + 1 + 1) + 1000, get()
assert get(8) == 5 and get(9) == 77
nodes = c.c_size_t()
cu.cuGraphGetNodes(deep, None, c.byref(nodes))
assert nodes.value == 2
holder, kind = c.c_void_p(), c.c_int()
cu.cuGraphNodeGetContainingGraph(mul, c.byref(holder))
cu.cuGraphNodeGetType(within, c.byref(kind))
assert holder.value == deep.value and kind.value == 13
params = c.create_string_buffer(256)
cu.cuGraphNodeGetParams(within, params)
assert struct.unpack_from("<i12xQiI", params) == (13, inner.value, WHILE, 1)
cu.cuGraphDestroy(g)
assert result(exe, w1=2, w2=1, w3=0) == 1007    # the executable graph needs neither it nor its bodies
assert cu.error("cuGraphGetNodes", deep, None, c.byref(nodes)) == "CUDA_ERROR_INVALID_VALUE"
print("loops")
"""

ORDER = """
g = graph()
_, _, body, _ = loop(g, [], 1, 1, 1)
step(g, [], 1, 0)
exe = instance(g)
main, other, event = stream(), stream(), made("cuEventCreate", 0)
put(0, 0)
for n in range(20):                               # nobody waits for anything
    cu.cuMemsetD32Async(c.c_uint64(at(1)), n, c.c_size_t(1), main)
    cu.cuGraphLaunch(exe, main)
cu.cuEventRecord(event, main)
cu.cuStreamWaitEvent(other, event, 0)
cu.cuMemcpyDtoDAsync_v2(c.c_uint64(at(5)), c.c_uint64(at(0)), c.c_size_t(4), other)
assert cu.error("cuGraphInstantiateWithFlags", c.byref(c.c_void_p()), g, c.c_uint64(0)) == "CUDA_ERROR_INVALID_VALUE"
cu.cuGraphExecDestroy(exe)                        # while it runs
cu.cuGraphDestroy(g)
cu.cuStreamSynchronize(other)
assert get(5) == sum(range(1, 21)), get(5)

# launches behind something that this thread does later: in two streams, and in the default one
g = graph()
loop(g, [], 1, 1, 1)
exe = instance(g)
gate = cu.alloc(8)
cu.cuMemsetD32_v2(gate, 0, c.c_size_t(2))
for word in (0, 1): put(word, 0)
for on in (main, other, None):
    cu.cuStreamWaitValue32_v2(on, gate, 1, 0)
    cu.cuGraphLaunch(exe, on)
assert cu.error("cuStreamQuery", main) == cu.error("cuStreamQuery", other) == "CUDA_ERROR_NOT_READY"
cu.cuStreamWriteValue32_v2(stream(), gate, 1, 0)
cu.cuCtxSynchronize()
assert get() == 3, get()
print("order")
"""

CHANGES = """
def build(plus, kind=WHILE, extra=0):
    g = graph()
    handle = condition(g, 1, DEFAULT)
    first = step(g, [], 1, plus)
    node, [body] = choice(g, [first], handle, kind)
    inner = step(body, [], 1, 10 * plus, 1, handle)
    for _ in range(extra): step(body, [inner], 1, 0)
    return g, first, node, inner, step(g, [node], 1, 100 * plus), handle

def update(exe, g):
    info = c.create_string_buffer(24)
    name = cu.error("cuGraphExecUpdate_v2", exe, g, info)
    return name, *struct.unpack_from("<i4xQ", info)

g, first, node, inner, last, handle = build(1)
exe = instance(g)
assert result(exe, value=0, w1=1) == 121
cu.cuGraphExecKernelNodeSetParams_v2(exe, last, kernel(1, 500))
cu.cuGraphExecKernelNodeSetParams_v2(exe, inner, kernel(1, 20, 1, handle))
assert result(exe, value=0, w1=1) == 541
cu.cuGraphNodeSetEnabled(exe, first, 0)
assert result(exe, value=0, w1=1) == 540
assert cu.error("cuGraphExecKernelNodeSetParams_v2", exe, node, kernel(1, 1)) == "CUDA_ERROR_INVALID_VALUE"
same = build(3)
assert update(exe, same[0]) == ("CUDA_SUCCESS", 0, 0)
assert result(exe, value=0, w1=1) == 360               # the first node stays off
cu.cuGraphNodeSetEnabled(exe, first, 1)                # nodes of the first graph keep naming it
assert result(exe, value=0, w1=1) == 363
FAILED = "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"
other_kind, longer = build(4, IF), build(4, extra=1)
assert update(exe, other_kind[0]) == (FAILED, 5, other_kind[2].value)
assert update(exe, longer[0])[:2] == (FAILED, 2)
alone = graph()
step(alone, [], 1, 1)
assert update(exe, alone)[:2] == (FAILED, 2) and update(instance(alone), same[0])[:2] == (FAILED, 3)
assert result(exe, value=0, w1=1) == 363
print("changes")
"""

CAPTURES = '''
def info(of):
    status, number, g, nodes, count = c.c_int(), c.c_uint64(), c.c_void_p(), c.c_void_p(), c.c_size_t()
    cu.cuStreamGetCaptureInfo_v2(of, c.byref(status), c.byref(number), c.byref(g), c.byref(nodes), c.byref(count))
    return g, [c.c_void_p(x) for x in (c.c_uint64 * count.value).from_address(nodes.value)] if count.value else []

def launch(on, *arguments):
    pointers = struct.unpack("<Q7I4xQQQQ", kernel(*arguments))[8]
    cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, on, c.c_void_p(pointers), None)

def begin(on):
    """A captured kernel and a loop behind it."""
    cu.cuStreamBeginCapture_v2(on, 0)
    launch(on, 1, 1)
    g, before = info(on)
    handle = condition(g, 1, DEFAULT)
    node, [body] = choice(g, before, handle, WHILE)
    cu.cuStreamUpdateCaptureDependencies(on, *after([node]), 1)
    launch(on, 2, 0)
    return body, handle

main, side, g = stream(), stream(), c.c_void_p()
body, handle = begin(main)
cu.cuStreamEndCapture(main, c.byref(g))
cu.cuStreamBeginCaptureToGraph(side, body, None, None, c.c_size_t(0), 0)
launch(side, 1, 10, 1, handle)
cu.cuStreamEndCapture(side, None)
exe = instance(g)
assert result(exe, value=0, w1=2, on=main) == 62

# a capture that fails takes its nodes along: those that come to their places are what they are
event = made("cuEventCreate", 0)
for n in range(3):
    begin(main)
    cu.cuEventRecord(event, main)
    cu.cuStreamWaitEvent(side, event, 0)
    launch(side, 1, 1)                                 # never joined
    assert cu.error("cuStreamEndCapture", main, c.byref(g)) != "CUDA_SUCCESS"
    g, kind = graph(), c.c_int()
    for _ in range(8):
        cu.cuGraphNodeGetType(made("cuGraphAddEmptyNode", g, *after([])), c.byref(kind))
        assert kind.value == 5
print("captures")
'''


@pytest.mark.parametrize(
    ("code", "word"),
    [(CHOICES, "choices"), (LOOPS, "loops"), (ORDER, "order"), (CHANGES, "changes"), (CAPTURES, "captures")],
    ids=lambda value: value if len(value) < 10 else "",
)
def test_what_is_executed(tmp_path: Path, code: str, word: str) -> None:
    done = run(WORLD + code, tmp_path)
    assert done.returncode == 0 and word in done.stdout, done.stdout + done.stderr


def test_streams_that_cannot_wait_for_values(tmp_path: Path) -> None:
    library = replaced(tmp_path, WITHOUT_WAITS)
    done = run(WORLD + CHOICES + LOOPS, tmp_path, PTX2AMD_HIP_LIBRARY=str(library))
    assert done.returncode == 0 and "loops" in done.stdout, done.stdout + done.stderr


#: A captured node between two, in a graph that was there; and what is no graph or node of it.
INTO = """
main, g = stream(), graph()
first = step(g, [], 1, 1)
def into(of, nodes, count): return cu.error("cuStreamBeginCaptureToGraph", main, of, nodes, None, c.c_size_t(count), 0)
assert into(None, None, 0) != "CUDA_SUCCESS" and into(g, None, 1) == "CUDA_ERROR_INVALID_VALUE"
assert into(g, (c.c_void_p * 1)(step(graph(), [], 1, 1)), 1) == "CUDA_ERROR_INVALID_VALUE"
assert into(g, (c.c_void_p * 1)(first), 1) == "CUDA_SUCCESS"
launch(main, 6, 0)
ended = c.c_void_p()
cu.cuStreamEndCapture(main, c.byref(ended))
assert ended.value == (g.value if hasattr(g, "value") else g)
exe = instance(g)
assert result(exe, value=1, on=main) == 12
assert into(g, None, 0) == "CUDA_SUCCESS"              # nothing is captured
cu.cuStreamEndCapture(main, None)
for _ in range(2):
    other = stream()
    assert cu.error("cuStreamBeginCaptureToGraph", other, g, None, None, c.c_size_t(0), 0) == "CUDA_SUCCESS"
    launch(other, 1, 1)
    cu.cuStreamDestroy_v2(other)                       # with its capture: the next stream may have its address
print("into")
"""


@pytest.mark.parametrize("version", ["", "60131921"], ids=["", "HIP 6.1"])
def test_captures_into_graphs(version: str, tmp_path: Path) -> None:
    """Before HIP 6.2, which has them not, what is captured becomes a child graph."""
    older = f"int hipRuntimeGetVersion(int *version) {{ *version = {version or 0}; return 0; }}"
    settings = {"PTX2AMD_HIP_LIBRARY": str(replaced(tmp_path, older))} if version else {}
    done = run(WORLD + CAPTURES + INTO, tmp_path, **settings)
    assert done.returncode == 0 and done.stdout == "captures\ninto\n", done.stdout + done.stderr


FAULT = """
g = graph()
node, [body] = choice(g, [], condition(g, 1, DEFAULT), WHILE)
step(body, [], 1, 1, 1, c.c_uint64(0x1000))            # sets a condition that is none
exe, main = instance(g), stream()
cu.cuGraphLaunch(exe, main)
assert cu.error("cuStreamSynchronize", main) == cu.error("cuGraphLaunch", exe, main) == "CUDA_ERROR_ILLEGAL_ADDRESS"
cu.cuGraphExecDestroy(exe)
cu.cuGraphDestroy(g)
print("fault")
"""


def test_a_fault_in_a_body_ends_the_launch(tmp_path: Path) -> None:
    done = run(WORLD + FAULT, tmp_path)
    assert done.returncode == 0 and done.stdout == "fault\n" and "at 0x1000" in done.stderr, done.stdout + done.stderr


FOREVER = """
g = graph()
loop(g, [], 1, 1, 1)
exe = instance(g)
put(1, 1 << 30)
cu.cuGraphLaunch(exe, stream())
print("leaves")
"""


def test_the_process_may_end_while_a_loop_runs(tmp_path: Path) -> None:
    done = run(WORLD + FOREVER, tmp_path)
    assert done.returncode == 0 and done.stdout == "leaves\n" and not done.stderr, done.stdout + done.stderr


#: The end of a graph's own stream takes its time.
SLOW_ENDS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static _Atomic int inside;
static void end(void) {
  if (inside) fputs("the library is taken down while a thread is in it\\n", stderr);
}
__attribute__((constructor)) static void begin(void) { atexit(end); }
int hipStreamDestroy(void *stream) {
  int (*really)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "hipStreamDestroy");
  inside++;
  usleep(300000);
  int error = really(stream);
  inside--;
  return error;
}
"""

ENDS = """
for n in range(3):
    g = graph()
    loop(g, [], 1, 1, 1)
    exe = instance(g)
    put(1, 1)
    cu.cuGraphLaunch(exe, stream())
    cu.cuGraphExecDestroy(exe)         # its thread does it, after the launch
print("leaves")
"""


def test_the_process_ends_after_graphs_that_end(tmp_path: Path) -> None:
    """No thread of ours is in a HIP library that is taken down: AMD's crashed there now and then."""
    done = run(WORLD + ENDS, tmp_path, PTX2AMD_HIP_LIBRARY=str(replaced(tmp_path, SLOW_ENDS)))
    assert done.returncode == 0 and done.stdout == "leaves\n" and not done.stderr, done.stdout + done.stderr


#: A stream comes past a launch when the library is being taken down.
LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void (*late)(void *), *with;
static _Atomic int ended;
static void end(void) {
  ended = 1;
  late(with);
  usleep(300000);
}
__attribute__((constructor)) static void begin(void) { atexit(end); }
int hipLaunchHostFunc(void *stream, void (*function)(void *), void *data) { return late = function, with = data, 0; }
int hipSetDevice(int device) {
  int (*really)(int) = (int (*)(int))dlsym(RTLD_NEXT, "hipSetDevice");
  if (ended) fputs("a call of the library that is taken down\\n", stderr);
  return really(device);
}
"""

LAUNCHED = """
g = graph()
step(g, [], 1, 1)
exe = instance(g)
assert result(exe, value=1) == 2
cu.cuGraphExecDestroy(exe)
print("leaves")
"""


def test_nothing_begins_when_the_process_ends(tmp_path: Path) -> None:
    done = run(WORLD + LAUNCHED, tmp_path, PTX2AMD_HIP_LIBRARY=str(replaced(tmp_path, LATE)))
    assert done.returncode == 0 and done.stdout == "leaves\n" and not done.stderr, done.stdout + done.stderr
