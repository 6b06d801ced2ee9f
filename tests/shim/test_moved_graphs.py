"""Child graphs that move into their parent on the software GPU: their handles, and those of their nodes, go on naming
what they named, which is now the parent's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run
from tests.shim.graph_world import WORLD

NAMES = '''
CLONE, MOVE, GRAPH, WRONG = 0, 1, 4, "CUDA_ERROR_INVALID_VALUE"

def child_params(child, ownership):
    return c.create_string_buffer(struct.pack("<i12xQi", GRAPH, child.value, ownership), 256)

def add_child(of, before, child, ownership=MOVE):
    return made("cuGraphAddNode", of, *after(before), child_params(child, ownership))

def no_child(of, child, ownership=MOVE):
    return cu.error("cuGraphAddNode", c.byref(c.c_void_p()), of, None, c.c_size_t(0), child_params(child, ownership))

def listed(call, of):
    found, count = (c.c_uint64 * 16)(), c.c_size_t(16)
    getattr(cu, call)(of, found, c.byref(count))
    return found[:count.value]

def asked(call, of, kind=c.c_uint64):
    room = kind()
    getattr(cu, call)(of, c.byref(room))
    return room.value

def values(*handles): return [h.value for h in handles]
def gone(of): return cu.error("cuGraphGetNodes", of, None, c.byref(c.c_size_t())) == WRONG

def parent(ownership=MOVE):
    """value + 1; in a child graph * 2, then + 3; + 100"""
    g, child = graph(), graph()
    double = step(child, [], 2, 0)
    three = step(child, [double], 1, 3)
    numbers.append([asked("cuGraphGetId", child), asked("cuGraphNodeGetLocalId", double)])
    node = add_child(g, [step(g, [], 1, 1)], child, ownership)
    step(g, [node], 1, 100)
    return g, child, double, three, node
numbers = []
'''

HANDLES = """
g, child, double, three, node = parent()
exe = instance(g)
assert result(exe) == 107
assert asked("cuGraphChildGraphNodeGetGraph", node) == child.value
params = c.create_string_buffer(256)
cu.cuGraphNodeGetParams(node, params)
assert struct.unpack_from("<i12xQi", params) == (GRAPH, child.value, -1)
assert listed("cuGraphGetNodes", child) == values(double, three)
assert listed("cuGraphGetRootNodes", child) == values(double)
assert listed("cuGraphNodeGetDependencies", three) == values(double)
assert listed("cuGraphNodeGetDependentNodes", double) == values(three)
starts, ends, count = (c.c_uint64 * 4)(), (c.c_uint64 * 4)(), c.c_size_t(4)
cu.cuGraphGetEdges(child, starts, ends, c.byref(count))
assert (count.value, starts[0], ends[0]) == (1, double.value, three.value)
assert asked("cuGraphNodeGetContainingGraph", three) == child.value
assert [asked("cuGraphGetId", child), asked("cuGraphNodeGetLocalId", double)] == numbers[0]

# what was instantiated
cu.cuGraphExecKernelNodeSetParams_v2(exe, three, kernel(1, 5))
assert result(exe) == 109
cu.cuGraphNodeSetEnabled(exe, double, 0)
assert result(exe) == 107
again = parent()
cu.cuGraphKernelNodeSetParams_v2(again[2], kernel(4, 0))
cu.cuGraphExecUpdate_v2(exe, again[0], c.create_string_buffer(24))
cu.cuGraphNodeSetEnabled(exe, double, 1)
assert result(exe) == 2 * 4 + 3 + 100

# the graph itself: nodes that change, come and go
cu.cuGraphKernelNodeSetParams_v2(double, kernel(3, 0))
assert result(instance(g)) == 109
ten = step(child, [three], 10, 0)
assert listed("cuGraphGetNodes", child) == values(double, three, ten) and result(instance(g)) == 190
cu.cuGraphDestroyNode(three)
cu.cuGraphAddDependencies(child, *(c.byref(n) for n in (double, ten)), c.c_size_t(1))
assert listed("cuGraphGetNodes", child) == values(double, ten) and result(instance(g)) == 160
assert result(instance(made("cuGraphClone", g))) == 160
print("handles")
"""

RESTRICTIONS = """
g, child, double, three, node = parent()
free = graph()
assert no_child(free, child) == no_child(free, child, CLONE) == WRONG
assert cu.error("cuGraphAddChildGraphNode", c.byref(c.c_void_p()), free, None, c.c_size_t(0), child) == WRONG
assert cu.error("cuGraphInstantiateWithFlags", c.byref(c.c_void_p()), child, c.c_uint64(0)) == WRONG
assert cu.error("cuGraphInstantiateWithParams", c.byref(c.c_void_p()), child, c.create_string_buffer(32)) == WRONG
assert cu.error("cuGraphDestroy", child) == WRONG
assert cu.error("cuGraphExecUpdate_v2", instance(g), child, c.create_string_buffer(24)) == WRONG
memory = c.create_string_buffer(struct.pack("<iiii", 1, 0, 1, 0), 256)       # pinned memory of device 0
struct.pack_into("<Q", memory, 104, 4096)
allocates = made("cuGraphAddMemAllocNode", free, None, c.c_size_t(0), memory)
address = c.c_uint64(struct.unpack_from("<Q", memory, 112)[0])
assert cu.error("cuGraphAddMemAllocNode", c.byref(c.c_void_p()), child, None, c.c_size_t(0), memory) == WRONG
assert cu.error("cuGraphAddMemFreeNode", c.byref(c.c_void_p()), child, None, c.c_size_t(0), address) == WRONG
UNSUPPORTED = "CUDA_ERROR_NOT_SUPPORTED"                                      # memory moves only
assert no_child(graph(), free, CLONE) == UNSUPPORTED
one_word = struct.pack("<QQIIQQ", address.value, 0, 7, 4, 1, 1)
fills = made("cuGraphAddMemsetNode", free, *after([allocates]), one_word, None)
cu.cuGraphAddMemFreeNode(c.byref(c.c_void_p()), free, c.byref(fills), c.c_size_t(1), address)
whole = graph()
step(whole, [add_child(whole, [], free)], 1, 1)
exe = instance(whole)
assert [result(exe) for _ in range(2)] == [2, 2]
deep = graph()
add_child(deep, [], whole)
assert no_child(graph(), deep, CLONE) == UNSUPPORTED
free = graph()
assert no_child(g, g) == no_child(child, g) == WRONG                         # into itself
assert [no_child(g, free, ownership) for ownership in (-1, 2)] == [WRONG, WRONG]
assert no_child(g, c.c_void_p(asked("cuGraphChildGraphNodeGetGraph", add_child(free, [], graph(), CLONE)))) == WRONG
assert result(instance(g)) == 107

# a clone is another graph: the child is the program's as before
g, child, double, three, node = parent(CLONE)
exe = instance(g)
assert asked("cuGraphChildGraphNodeGetGraph", node) != child.value
assert cu.error("cuGraphExecKernelNodeSetParams_v2", exe, three, kernel(1, 5)) == WRONG
assert result(instance(child)) == 5
cu.cuGraphDestroy(child)
assert result(exe) == 107
print("restrictions")
"""

ENDS = """
# a parent that moves on, twice, takes along what moved into it
g, child, double, three, node = parent()
middle, top = graph(), graph()
outer = add_child(middle, [step(middle, [], 7, 0)], g)
outermost = add_child(top, [], middle)
exe = instance(top)
assert result(exe) == (7 + 1) * 2 + 3 + 100
for made_of, held in ((outermost, middle), (outer, g), (node, child)):
    assert asked("cuGraphChildGraphNodeGetGraph", made_of) == held.value
cu.cuGraphExecKernelNodeSetParams_v2(exe, three, kernel(1, 5))
assert result(exe) == (7 + 1) * 2 + 5 + 100
late = step(child, [three], 1, 1000)
assert listed("cuGraphGetNodes", child) == values(double, three, late) and result(instance(top)) == 1119
assert asked("cuGraphGetId", child) == numbers[0][0] and asked("cuGraphNodeGetLocalId", double) == numbers[0][1]
cu.cuGraphDestroyNode(node)
assert gone(child) and not gone(g) and result(instance(top)) == 7 + 1 + 100
cu.cuGraphDestroy(top)
assert gone(top) and gone(middle) and gone(g)
assert result(exe) == (7 + 1) * 2 + 5 + 100

# others that come to their places are what they are
for _ in range(8):
    g = graph()
    nodes = [made("cuGraphAddEmptyNode", g, None, c.c_size_t(0)) for _ in range(8)]
    assert listed("cuGraphGetNodes", g) == values(*nodes)

# a capture that fails takes its graph along, and what moved into it
main, side, event, child = stream(), stream(), made("cuEventCreate", 0), graph()
cu.cuStreamBeginCapture_v2(main, 0)
status, number, g, count = c.c_int(), c.c_uint64(), c.c_void_p(), c.c_size_t()
cu.cuStreamGetCaptureInfo_v2(main, c.byref(status), c.byref(number), c.byref(g), None, c.byref(count))
add_child(g, [], child)
cu.cuEventRecord(event, main)
cu.cuStreamWaitEvent(side, event, 0)
cu.cuMemsetD32Async(words, 1, c.c_size_t(1), side)                # never joined
assert cu.error("cuStreamEndCapture", main, c.byref(g)) != "CUDA_SUCCESS" and gone(child)

# captures into a moved graph
g, child, double, three, node = parent()
cu.cuStreamBeginCaptureToGraph(side, child, c.byref(three), None, c.c_size_t(1), 0)
cu.cuMemsetD32Async(words, 50, c.c_size_t(1), side)
cu.cuStreamEndCapture(side, None)
assert result(instance(g)) == 150 and asked("cuGraphNodeGetContainingGraph", three) == child.value
cu.cuGraphDestroy(g)
assert gone(child)
print("ends")
"""

BODIES = """
g = graph()
_, _, body, handle = loop(g, [], 1, 1, 1)
child = graph()
inner = step(child, [], 1, 10)
moved = add_child(body, [c.c_void_p(n) for n in listed("cuGraphGetNodes", body)], child)
beside = graph()
double = step(beside, [], 2, 0)
add_child(g, [], beside)
exe = instance(g)
assert result(exe, value=1, w1=1) == 1 * 2 + 2 * 11
cu.cuGraphExecKernelNodeSetParams_v2(exe, inner, kernel(1, 20))
cu.cuGraphExecKernelNodeSetParams_v2(exe, double, kernel(3, 0))
assert result(exe, value=1, w1=1) == 1 * 3 + 2 * 21
assert asked("cuGraphChildGraphNodeGetGraph", moved) == child.value
assert cu.error("cuGraphAddNode", c.byref(c.c_void_p()), graph(), None, c.c_size_t(0),
                child_params(body, MOVE)) == WRONG
# parts of the graph are clones
cu.cuGraphExecDestroy(exe)
step(g, [c.c_void_p(n) for n in listed("cuGraphGetNodes", g)], 1, 500)
exe = instance(g)
cu.cuGraphExecKernelNodeSetParams_v2(exe, double, kernel(4, 0))
assert result(exe, value=1, w1=1) == 1 * 4 + 2 * 11 + 500
print("bodies")
"""


@pytest.mark.parametrize(
    "code", [HANDLES, RESTRICTIONS, ENDS, BODIES], ids=["handles", "restrictions", "ends", "bodies"]
)
def test_moved_graphs(tmp_path: Path, code: str) -> None:
    done = run(WORLD + NAMES + code, tmp_path)
    assert done.returncode == 0 and done.stdout, done.stdout + done.stderr
