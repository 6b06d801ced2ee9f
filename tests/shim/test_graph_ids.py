"""Numbers of graphs and nodes, which graph has a node, and what a node was given, on the software GPU."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import run

CODE = """
cu = Driver().start()
NONE, WRONG = "CUDA_SUCCESS", "CUDA_ERROR_INVALID_VALUE"


def handle(function, *arguments):
    made = c.c_void_p()
    getattr(cu, function)(c.byref(made), *arguments)
    return made


def number(function, what, kind=c.c_uint32):
    room = kind()
    getattr(cu, function)(what, c.byref(room))
    return room.value


def graph_of(node):
    found = c.c_void_p()
    cu.cuGraphNodeGetContainingGraph(node, c.byref(found))
    return found.value


outer, inner = (handle("cuGraphCreate", 0) for _ in range(2))
a, b = (handle("cuGraphAddEmptyNode", inner, None, c.c_size_t(0)) for _ in range(2))
child = handle("cuGraphAddChildGraphNode", outer, None, c.c_size_t(0), inner)
nested = c.c_void_p()
cu.cuGraphChildGraphNodeGetGraph(child, c.byref(nested))
nodes, count = (c.c_void_p * 2)(), c.c_size_t(2)
cu.cuGraphGetNodes(nested, nodes, c.byref(count))
copies = [c.c_void_p(node) for node in nodes]
assert [graph_of(node) for node in (a, b, child, *copies)] == [x.value for x in (inner, inner, outer, nested, nested)]

exe = handle("cuGraphInstantiateWithFlags", outer, c.c_uint64(0))
ids = [number("cuGraphGetId", graph) for graph in (outer, inner, nested)] + [number("cuGraphExecGetId", exe)]
local = [number("cuGraphNodeGetLocalId", node) for node in (a, b, child, *copies)]
tools = [number("cuGraphNodeGetToolsId", node, c.c_uint64) for node in (a, b, child, *copies)]
assert len(set(ids)) == 4 and len(set(local)) == 5 and len(set(tools)) == 5
assert ids[0] == number("cuGraphGetId", outer) and local[0] == number("cuGraphNodeGetLocalId", a)

stream = handle("cuStreamCreate", 1)
memory = cu.alloc(64)
cu.cuStreamBeginCapture_v2(stream, 0)
cu.cuMemsetD32Async(memory, 7, c.c_size_t(16), stream)
captured = c.c_void_p()
cu.cuStreamEndCapture(stream, c.byref(captured))
count.value = 1
cu.cuGraphGetNodes(captured, nodes, c.byref(count))
fill = c.c_void_p(nodes[0])
assert graph_of(fill) == captured.value
params = c.create_string_buffer(256)
cu.cuGraphNodeGetParams(fill, params)
kind, at, value, element, width, height = struct.unpack_from("<i12xQ8xIIQQ", params)
assert (kind, at, value, element, width, height) == (2, memory.value, 7, 4, 16, 1)
cu.cuGraphNodeGetParams(child, params)
assert struct.unpack_from("<i12xQ", params) == (4, nested.value)

clone = handle("cuGraphClone", captured)
assert number("cuGraphGetId", clone) not in [*ids, number("cuGraphGetId", captured)]
room = c.c_uint32()
cu.cuGraphExecDestroy(exe)
cu.cuGraphDestroyNode(a)
assert cu.error("cuGraphNodeGetLocalId", a, c.byref(room)) == WRONG
cu.cuGraphDestroy(outer)
for gone in (child, *copies):
    assert cu.error("cuGraphNodeGetContainingGraph", gone, c.byref(captured)) == WRONG
assert cu.error("cuGraphGetId", outer, c.byref(room)) == WRONG
# numbers are not used again, though handles may be
again = handle("cuGraphCreate", 0)
assert number("cuGraphGetId", again) not in ids
assert number("cuGraphNodeGetLocalId", handle("cuGraphAddEmptyNode", again, None, c.c_size_t(0))) not in local
print("numbered")
"""


def test_numbers_and_places(tmp_path: Path) -> None:
    done = run(CODE, tmp_path)
    assert done.returncode == 0 and "numbered" in done.stdout, done.stdout + done.stderr
