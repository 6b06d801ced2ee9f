"""Threads, contexts and streams on the software GPU: results are right, and what another thread ended under way answers
codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run

HEAD = '''
import threading
cu = Driver().start()
THREADS, ROUNDS = 6, 12


def handle(function, *arguments):
    made = c.c_void_p()
    getattr(cu, function)(c.byref(made), *arguments)
    return made


def in_threads(work):
    failed = []

    def guarded(i):
        try:
            work(i)
        except BaseException as error:
            failed.append(f"{type(error).__name__} {error}")

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def put(function, stream, out, value):
    """One block writes value + thread."""
    cells = (c.c_uint64(out.value), c.c_uint32(value))
    pointers = (c.c_void_p * 2)(*(c.cast(c.byref(cell), c.c_void_p) for cell in cells))
    return cu.error("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, stream, pointers, None)
'''

# Each thread has a context of its own or all use one; two streams, of which the second waits for the first one's event.
WORK = """
shared = handle("cuCtxCreate_v2", 0, 0) if SHARED else None


def work(i):
    context = shared or handle("cuCtxCreate_v2", 0, 0)
    cu.cuCtxSetCurrent(context)
    good = cu.function(cu.load(GOOD), "good")
    first, second, event = handle("cuStreamCreate", 1), handle("cuStreamCreate", 1), handle("cuEventCreate", 2)
    for r in range(ROUNDS):
        out, copy, value = cu.alloc(128), c.create_string_buffer(128), 1000 * i + 40 * r
        assert put(good, first, out, value) == "CUDA_SUCCESS"
        cu.cuEventRecord(event, first)
        cu.cuStreamWaitEvent(second, event, 0)
        cu.cuMemcpyDtoHAsync_v2(copy, out, c.c_size_t(128), second)
        cu.cuStreamSynchronize(second)
        assert struct.unpack("<32I", copy.raw) == tuple(range(value, value + 32)), (i, r)
        cu.cuMemFree_v2(out)
    cu.cuStreamDestroy_v2(first)
    assert cu.error("cuStreamQuery", first) == "CUDA_ERROR_INVALID_HANDLE"
    cu.cuCtxSetCurrent(None)
    if not shared:
        cu.cuCtxDestroy_v2(context)
        assert cu.error("cuCtxPushCurrent_v2", context) == "CUDA_ERROR_INVALID_CONTEXT"


in_threads(work)
still_works(cu)
"""

# One thread destroys the context that the others work in.
ENDED = """
GONE = {"CUDA_SUCCESS", "CUDA_ERROR_CONTEXT_IS_DESTROYED", "CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_HANDLE",
        "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_NOT_READY"}
barrier = threading.Barrier(THREADS)
now = {}


def work(i):
    seen = set()
    for r in range(ROUNDS):
        if i == 0:
            now["context"] = handle("cuCtxCreate_v2", 0, 0)
            now["good"] = cu.function(cu.load(GOOD), "good")
            now["stream"], now["event"] = handle("cuStreamCreate", 1), handle("cuEventCreate", 0)
            now["out"] = cu.alloc(128)
            cu.cuCtxSetCurrent(None)
        barrier.wait()
        context, stream, event, out = (now[name] for name in ("context", "stream", "event", "out"))
        if i == 1:
            seen.add(cu.error("cuCtxDestroy_v2", context))
        else:
            seen.add(cu.error("cuCtxSetCurrent", context))
            seen.add(put(now["good"], stream, out, r))
            seen.add(cu.error("cuEventRecord", event, stream))
            seen.add(cu.error("cuMemsetD8Async", out, 1, c.c_size_t(64), stream))
            seen.add(cu.error("cuStreamGetDevice", stream, c.byref(c.c_int())))
            seen.add(cu.error("cuEventQuery", event))
            seen.add(cu.error("cuStreamSynchronize", stream))
            seen.add(cu.error("cuCtxSynchronize"))
            cu.cuCtxSetCurrent(None)
        barrier.wait()
    assert seen <= GONE, seen - GONE


in_threads(work)
cu.cuCtxSetCurrent(handle("cuDevicePrimaryCtxRetain", 0))
still_works(cu)
"""


@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
def test_results_of_many_threads(shared: bool, tmp_path: Path) -> None:
    done = run(f"{HEAD}\nSHARED = {shared}\n{WORK}", tmp_path)
    assert done.returncode == 0 and "still works" in done.stdout, done.stdout + done.stderr


def test_a_context_that_ends_under_way(tmp_path: Path) -> None:
    done = run(HEAD + ENDED, tmp_path)
    assert done.returncode == 0 and "still works" in done.stdout, done.stdout + done.stderr
