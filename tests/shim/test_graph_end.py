"""Executable graphs are destroyed behind their launches: no call waits for those, and what a graph holds is let go of.

AMD's library hangs where this is not kept to: tests/kfd/test_amd_hip.py has conditional_graphs there."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import run
from tests.shim.graph_world import WORLD

ENDS = """
import time
ended = []
note = c.CFUNCTYPE(None, c.c_void_p)(ended.append)

def holding(number):
    g = graph()
    step(g, [], 1, 1)
    held = made("cuUserObjectCreate", c.c_void_p(number), note, 1, 1)
    cu.cuGraphRetainUserObject(g, held, 1, 1)
    exe = instance(g)
    cu.cuGraphDestroy(g)
    return exe

def wait_for(*numbers):
    until = time.monotonic() + 20
    while sorted(ended) != sorted(numbers) and time.monotonic() < until: time.sleep(0.001)
    assert sorted(ended) == sorted(numbers), ended

never, main, other = holding(1), stream(), stream()
cu.cuGraphExecDestroy(never)                       # one that was not launched
wait_for(1)
done = holding(2)
assert result(done, value=5, on=main) == 6
cu.cuGraphExecDestroy(done)
wait_for(1, 2)

gate, busy = cu.alloc(8), holding(3)
cu.cuMemsetD32_v2(gate, 0, c.c_size_t(2))
put(0, 0)
for on in (main, other):
    cu.cuStreamWaitValue32_v2(on, gate, 1, 0)
    cu.cuGraphLaunch(busy, on)
cu.cuGraphExecDestroy(busy)                        # behind launches that have not begun
assert cu.error("cuGraphExecDestroy", busy) == "CUDA_ERROR_INVALID_VALUE"
time.sleep(0.05)
assert 3 not in ended
assert cu.error("cuStreamQuery", main) == "CUDA_ERROR_NOT_READY"
cu.cuStreamWriteValue32_v2(stream(), gate, 1, 0)
for on in (main, other): cu.cuStreamSynchronize(on)
assert get() == 2, get()
wait_for(1, 2, 3)

gone = holding(4)                                  # launched in a stream that is gone
cu.cuGraphLaunch(gone, other)
cu.cuStreamDestroy_v2(other)
cu.cuGraphExecDestroy(gone)
wait_for(1, 2, 3, 4)
print("ends")
"""


def test_graphs_end_behind_their_launches(tmp_path: Path) -> None:
    done = run(WORLD + ENDS, tmp_path)
    assert done.returncode == 0 and done.stdout == "ends\n", done.stdout + done.stderr
