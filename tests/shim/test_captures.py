"""Stream capture through our libcuda: events that others see, what a capture forbids, and kernels that are loaded by
their first launch while a stream captures."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import run

WORLD = '''
PTX = HEAD + b"""
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[4] = {72, 105, 10, 0};
.global .align 4 .u32 counter = 40;
.visible .entry count(.param .u64 at)
{
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [at];
  atom.global.add.u32 %r1, [counter], 1;
  st.global.u32 [%rd1], %r1;
  mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2;
  { .param .b64 f; st.param.b64 [f], %rd2; .param .b64 a; st.param.b64 [a], 0; .param .b32 r;
    call.uni (r), vprintf, (f, a); }
  ret;
}
.visible .entry nothing() { ret; }
"""
cu = Driver().start()
module = cu.load(PTX)
word = cu.alloc(4)
keep = []

def made(call, *arguments):
    handle = c.c_void_p()
    getattr(cu, call)(c.byref(handle), *arguments)
    return handle

def launch(on):
    pointers = (c.c_void_p * 1)(c.addressof(word))
    keep.append(pointers)
    cu.cuLaunchKernel(cu.function(module, "count"), 1, 1, 1, 1, 1, 1, 0, on, pointers, None)

def ended(stream):
    graph = c.c_void_p()
    cu.cuStreamEndCapture(stream, c.byref(graph))
    exe = c.c_void_p()
    cu.cuGraphInstantiateWithFlags(c.byref(exe), graph, c.c_uint64(0))
    return graph, exe

def kinds(graph):
    count = c.c_size_t()
    cu.cuGraphGetNodes(graph, None, c.byref(count))
    nodes, kind, found = (c.c_void_p * count.value)(), c.c_int(), []
    cu.cuGraphGetNodes(graph, nodes, c.byref(count))
    for node in nodes:
        cu.cuGraphNodeGetType(c.c_void_p(node), c.byref(kind))
        found.append(kind.value)
    return sorted(found)

KERNEL, WAITS, RECORDS = 0, 6, 7
first, second = (made("cuStreamCreate", 1) for _ in range(2))
'''

EXTERNAL = """
start, end = (made("cuEventCreate", 0) for _ in range(2))
cu.cuStreamBeginCapture_v2(first, 0)
cu.cuEventRecordWithFlags(start, first, 1)
launch(first)                                   # loads the kernel, its data and what it prints to
cu.cuEventRecordWithFlags(end, first, 1)
graph, recording = ended(first)
assert kinds(graph) == [KERNEL, RECORDS, RECORDS]
cu.cuStreamBeginCapture_v2(first, 0)
cu.cuStreamWaitEvent(first, end, 1)
launch(first)
graph, waiting = ended(first)
assert kinds(graph) == [KERNEL, WAITS]
for n in range(3):
    cu.cuGraphLaunch(recording, first)
    cu.cuGraphLaunch(waiting, second)
    cu.cuStreamSynchronize(second)
    assert struct.unpack("<I", cu.read(word, 4))[0] == 41 + 2 * n
cu.cuStreamSynchronize(first)
time = c.c_float()
cu.cuEventElapsedTime(c.byref(time), start, end)
assert time.value > 0
for call in (("cuEventRecordWithFlags", start, first, 1), ("cuStreamWaitEvent", second, start, 1)):
    assert cu.error(*call) == "CUDA_ERROR_ILLEGAL_STATE"  # outside of a capture
print("seen")
"""


def test_external_events_are_nodes_that_others_see(tmp_path: Path) -> None:
    done = run(WORLD + EXTERNAL, tmp_path)
    assert done.returncode == 0 and "seen" in done.stdout, done.stdout + done.stderr


FORBIDDEN = """
UNSUPPORTED, INVALIDATED = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
more, graph = c.c_uint64(), c.c_void_p()
for attempt in (lambda: cu.error("cuMemFree_v2", c.c_uint64(0)), lambda: cu.error("cuMemFree_v2", word),
                lambda: cu.error("cuMemAlloc_v2", c.byref(more), c.c_size_t(64))):
    cu.cuStreamBeginCapture_v2(first, 1)
    assert attempt() == UNSUPPORTED
    assert cu.error("cuStreamEndCapture", first, c.byref(graph)) == INVALIDATED
cu.cuStreamBeginCapture_v2(first, 2)
cu.cuMemAlloc_v2(c.byref(more), c.c_size_t(64))
cu.cuMemFree_v2(more)
cu.cuStreamEndCapture(first, c.byref(graph))
print("forbidden")
"""


def test_memory_is_not_allocated_or_freed_while_a_stream_captures(tmp_path: Path) -> None:
    done = run(WORLD + FORBIDDEN, tmp_path)
    assert done.returncode == 0 and "forbidden" in done.stdout, done.stdout + done.stderr


REGISTERS = """
registers = c.c_int()
cu.cuFuncGetAttribute(c.byref(registers), 4, cu.function(module, "nothing"))
assert registers.value > 0
print("some")
"""


def test_a_kernel_that_needs_no_registers_has_one(tmp_path: Path) -> None:
    """Programs divide the registers of a processor by it."""
    done = run(WORLD + REGISTERS, tmp_path)
    assert done.returncode == 0 and "some" in done.stdout, done.stdout + done.stderr


CONTEXTS = """
def context():
    return made("cuCtxCreate_v2", 0, 0)

main = c.c_void_p()
cu.cuCtxGetCurrent(c.byref(main))
cu.cuMemsetD32_v2(word, 41, c.c_size_t(1))
stream = made("cuStreamCreate", 1)
for captures in (main, None):
    other = context()                                  # it is current
    if captures: cu.cuCtxSetCurrent(captures)
    within = stream if captures else made("cuStreamCreate", 1)
    cu.cuStreamBeginCapture_v2(within, 0)
    if captures: launch(within)
    cu.cuCtxDestroy_v2(other)
    cu.cuCtxSetCurrent(main)
    if captures: ended(within)
    assert cu.alloc(64).value and struct.unpack("<I", cu.read(word, 4)) == (41,)
print("contexts")
"""


def test_a_context_ends_while_a_stream_captures(tmp_path: Path) -> None:
    """A stream of another context, whose memory stays, or its own, whose capture ends with it."""
    done = run(WORLD + CONTEXTS, tmp_path)
    assert done.returncode == 0 and "contexts" in done.stdout, done.stdout + done.stderr
