"""Streams and events: order, overlap, HIP's rules for the null stream, stale handles, fork.

Protects: work runs in the order HIP promises and beside the host, and nothing hangs.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ptx2amd import hip
from tests import ROOT
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import common

NON_BLOCKING = 1


@pytest.fixture
def gpu() -> Iterator[hip.Gpu]:
    yield from opened("gfx1100")


class Host:
    """Host functions in streams: `note(x)` appends x to `seen`, `gate()` blocks the stream until `open`."""

    def __init__(self, gpu: hip.Gpu) -> None:
        self.gpu, self.open = gpu, threading.Event()
        self.seen: list[Any] = []
        self.keep: list[Any] = []

    def call(self, function: Any, stream: hip.Stream | None) -> None:
        ffi = self.gpu.library.ffi
        callback = ffi.callback("void(void *)", lambda _: [function(), None][1])
        self.keep.append(callback)
        self.gpu.activate().hipLaunchHostFunc(stream.handle if stream else ffi.NULL, callback, ffi.NULL)

    def note(self, what: Any, stream: hip.Stream | None = None) -> None:
        self.call(lambda: self.seen.append(what), stream)

    def gate(self, stream: hip.Stream | None = None) -> None:
        self.call(lambda: self.open.wait(20), stream)


def test_a_stream_works_in_order_and_beside_the_host(gpu: hip.Gpu) -> None:
    host, stream = Host(gpu), gpu.stream()
    p = gpu.buffer(np.zeros(64, np.uint32))
    host.gate(stream)
    for k in range(5):
        common(gpu, "add_one").launch(1, 64, [p, 64], stream=stream)
        host.note(k, stream)
    assert not stream.idle() and host.seen == []  # the calls returned, the work waits
    host.open.set()
    stream.synchronize()
    assert stream.idle() and host.seen == list(range(5)) and (p.numpy() == 5).all()


def test_streams_are_independent(gpu: hip.Gpu) -> None:
    host, a, b = Host(gpu), gpu.stream(), gpu.stream()
    host.gate(a)
    host.note("b", b)
    b.synchronize()
    assert host.seen == ["b"] and not a.idle()
    host.open.set()
    a.synchronize()


def test_null_stream_waits_for_blocking_streams(gpu: hip.Gpu) -> None:
    host, a, free = Host(gpu), gpu.stream(), gpu.stream(NON_BLOCKING)
    host.gate(a)
    host.note("a", a)
    host.note("null")
    host.note("free", free)
    free.synchronize()
    assert host.seen == ["free"]
    host.note("behind null", a)
    host.open.set()
    gpu.synchronize()
    assert host.seen == ["free", "a", "null", "behind null"]


def test_blocking_streams_wait_for_the_null_stream(gpu: hip.Gpu) -> None:
    host, a, free = Host(gpu), gpu.stream(), gpu.stream(NON_BLOCKING)
    host.gate()
    host.note("a", a)
    host.note("free", free)
    free.synchronize()
    assert host.seen == ["free"] and not a.idle()
    host.open.set()
    gpu.synchronize()
    assert host.seen == ["free", "a"]


def test_synchronous_copy_waits_for_blocking_streams(gpu: hip.Gpu) -> None:
    host, stream, p = Host(gpu), gpu.stream(), gpu.buffer(np.zeros(64, np.uint32))
    host.gate(stream)
    common(gpu, "add_one").launch(1, 64, [p, 64], stream=stream)
    threading.Timer(0.05, host.open.set).start()
    assert (p.numpy() == 1).all()


def test_events_order_streams(gpu: hip.Gpu) -> None:
    host, a, b, event = Host(gpu), gpu.stream(NON_BLOCKING), gpu.stream(NON_BLOCKING), gpu.event()
    assert event.done()  # never recorded
    host.gate(a)
    host.note("a", a)
    event.record(a)
    b.wait(event)
    host.note("b", b)
    assert not event.done()
    host.open.set()
    b.synchronize()
    assert host.seen == ["a", "b"] and event.done()


def test_event_times(gpu: hip.Gpu) -> None:
    stream, start, stop = gpu.stream(), gpu.event(), gpu.event()
    with fails("hipErrorInvalidHandle"):
        stop.milliseconds_since(start)  # not recorded
    host = Host(gpu)
    start.record(stream)
    host.call(lambda: time.sleep(0.03), stream)
    stop.record(stream)
    with fails("hipErrorNotReady"):
        stop.milliseconds_since(start)
    stop.synchronize()
    assert 29 < stop.milliseconds_since(start) < 5000
    assert start.milliseconds_since(stop) == -stop.milliseconds_since(start)


def test_callbacks_learn_of_errors(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    lib, ffi, stream, seen = gpu.library, gpu.library.ffi, gpu.stream(), []
    callback = ffi.callback("void(hipStream_t, hipError_t, void *)", lambda s, e, _: seen.append((s, e)))
    lib.hipStreamAddCallback(stream.handle, callback, ffi.NULL, 0)
    common(gpu, "store").launch(1, 32, [64, 0, 1], stream=stream)
    stream_error = lib.raw.hipErrorIllegalAddress
    lib.hipStreamAddCallback(stream.handle, callback, ffi.NULL, 0)
    with fails("hipErrorIllegalAddress"):
        stream.synchronize()
    assert seen == [(stream.handle, 0), (stream.handle, stream_error)]
    assert "store" in capfd.readouterr().err


def test_work_behind_a_fault_is_dropped(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    host, stream, p = Host(gpu), gpu.stream(), gpu.buffer(np.zeros(32, np.uint32))
    host.gate(stream)
    common(gpu, "store").launch(1, 32, [64, 0, 1], stream=stream)
    common(gpu, "add_one").launch(1, 32, [p, 32], stream=stream)
    host.note("dropped", stream)
    host.open.set()
    with fails("hipErrorIllegalAddress"):
        stream.synchronize()
    assert host.seen == [] and not any(p.peek())


def test_waiting_for_and_writing_values(gpu: hip.Gpu) -> None:
    lib, ffi, host = gpu.library, gpu.library.ffi, Host(gpu)
    a, b, cell = gpu.stream(NON_BLOCKING), gpu.stream(NON_BLOCKING), gpu.buffer(np.zeros(2, np.uint64))
    p = ffi.cast("void *", cell.address)
    lib.hipStreamWaitValue32(a.handle, p, 5, 0, 0xFFFFFFFF)  # greater or equal
    lib.hipStreamWaitValue64(a.handle, p + 8, 1 << 40, 1, (1 << 64) - 1)  # equal
    host.note("a", a)
    lib.hipStreamWriteValue32(b.handle, p, 6, 0)
    b.synchronize()
    assert host.seen == []
    lib.hipStreamWriteValue64(b.handle, p + 8, 1 << 40, 0)
    a.synchronize()
    assert host.seen == ["a"]


def test_default_streams_have_handles(gpu: hip.Gpu) -> None:
    lib, ffi, value = gpu.library, gpu.library.ffi, gpu.library.ffi.new("unsigned *")
    for special in (0, 1, 2):
        lib.hipStreamGetFlags(ffi.cast("hipStream_t", special), value)
        lib.hipStreamSynchronize(ffi.cast("hipStream_t", special))
        with fails("hipErrorInvalidHandle"):
            lib.hipStreamDestroy(ffi.cast("hipStream_t", special))


def test_stale_handles_are_errors(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.library, gpu.library.ffi
    stream, event = ffi.new("hipStream_t *"), ffi.new("hipEvent_t *")
    lib.hipStreamCreate(stream)
    lib.hipEventCreate(event)
    lib.hipStreamDestroy(stream[0])
    lib.hipEventDestroy(event[0])
    for call in (lib.hipStreamSynchronize, lib.hipStreamDestroy, lib.hipStreamQuery):
        for handle in (stream[0], ffi.cast("hipStream_t", 0x7777)):
            with fails("hipErrorInvalidHandle"):
                call(handle)
    for call in (lib.hipEventSynchronize, lib.hipEventDestroy, lib.hipEventQuery):
        with fails("hipErrorInvalidHandle"):
            call(event[0])
    with fails("hipErrorInvalidHandle"):
        lib.hipEventRecord(event[0], ffi.NULL)


def test_destroying_a_stream_finishes_its_work(gpu: hip.Gpu) -> None:
    host, stream = Host(gpu), gpu.stream()
    host.call(lambda: time.sleep(0.02), stream)
    host.note("done", stream)
    del stream
    assert host.seen == ["done"]


def test_many_streams_come_and_go(gpu: hip.Gpu) -> None:
    p, k = gpu.buffer(np.zeros(64, np.uint32)), common(gpu, "add_one")
    previous = gpu.event()
    for _ in range(60):
        stream, event = gpu.stream(NON_BLOCKING), gpu.event()
        stream.wait(previous)
        k.launch(1, 64, [p, 64], stream=stream)
        event.record(stream)
        previous = event
    previous.synchronize()
    assert (p.numpy() == 60).all()


def test_waiting_inside_a_host_function_is_an_error_and_no_deadlock(gpu: hip.Gpu) -> None:
    host, stream, errors = Host(gpu), gpu.stream(), []
    raw, null = gpu.library.raw, gpu.library.ffi.NULL
    memory = gpu.library.ffi.cast("void *", gpu.buffer(4).address)
    for wait, *args in ((raw.hipDeviceSynchronize,), (raw.hipStreamSynchronize, null), (raw.hipFree, memory)):
        host.call(lambda wait=wait, args=args: errors.append(wait(*args)), stream)
    stream.synchronize()
    assert errors == [raw.hipErrorIllegalState] * 3


FORK = """
import os, sys
from ptx2amd import hip
gpu = hip.open("vgpu")
gpu.buffer(100)
child = os.fork()
if child == 0:
    try:
        gpu.synchronize()
    except hip.HipError as error:
        os._exit(7 if error.code == 3 else 8)
    os._exit(9)
_, status = os.waitpid(child, 0)
gpu.synchronize()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_gets_an_error() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert done.returncode == 7, done.stderr
    assert done.stderr.count("before fork()") == 1


def test_exit_with_work_pending_does_not_hang() -> None:
    code = (
        "from ptx2amd import hip; import os; from tests.vgpu.hipcc import common;"
        " g = hip.open('vgpu:gfx942'); p = g.buffer(bytes(4));"
        "[common(g, 'slow').launch(1, 64, [p, 100000]) for _ in range(200)]; os._exit(5)"
    )
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 5, done.stderr
    assert time.monotonic() - start < 30
