"""Queues of kernels: packets, code that changes, faults."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np
import pytest

from ptx2amd.translate import translate
from tests.kfd import software_kfd as kfd

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry number(.param .u64 out, .param .u32 add) {
  .reg .b64 %rd<3>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [add];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd1, %rd1, %rd2; add.u32 %r5, %r5, %r1; add.u32 %r5, %r5, VALUE;
  st.global.u32 [%rd1], %r5; ret; }
"""


@cache
def elf(value: int = 0) -> bytes:
    [result] = translate(PTX.replace("VALUE", str(value)), "number.ptx", [kfd.CHIP])
    assert result.code
    return result.code


class Launch:
    """Sends the kernel with arguments of its own."""

    def __init__(self, code: kfd.Loaded, block: int = 64) -> None:
        self.code, self.block, self.out, self.arguments = code, block, kfd.Memory(1 << 16), kfd.Memory(4096)

    def packet(self, items: int, add: int, completion: int = 0) -> bytes:
        hidden = struct.pack("<IIIHHHHHH", items // self.block, 1, 1, self.block, 1, 1, items % self.block, 0, 0)
        arguments = struct.pack("<QI4x", self.out.va, add) + hidden
        self.arguments.bytes[: len(arguments)] = np.frombuffer(arguments, np.uint8)
        return kfd.dispatch(self.code.kernel("number"), self.arguments.va, [items], [self.block], completion)


def test_a_kernel_with_a_last_group_that_is_smaller() -> None:
    queue, launch, done = kfd.Queue(kfd.AQL), Launch(kfd.Loaded(elf())), kfd.Signal(1)
    queue.send(launch.packet(1000, 5, done.handle))
    assert kfd.until(lambda: done.value == 0)
    out = launch.out.view(np.uint32)
    assert np.array_equal(out[:1000], np.arange(1000) + 5) and not out[1000:].any()
    assert 0 < done.words[4] <= done.words[5]
    queue.destroy()


def test_packets_run_in_their_order_beyond_the_ring() -> None:
    """Each kernel reads arguments that are changed when it is done; 300 packets go through a ring of 64."""
    queue, launch = kfd.Queue(kfd.AQL), Launch(kfd.Loaded(elf()))
    for k in range(300):
        done = kfd.Signal(1)
        queue.send(launch.packet(64, k), kfd.barrier(completion=done.handle))
        assert kfd.until(lambda done=done: done.value == 0)
        assert launch.out.view(np.uint32)[0] == k
        done.memory.free()
    queue.destroy()


@pytest.mark.parametrize("any_of", [False, True])
def test_barriers(any_of: bool) -> None:
    queue, done = kfd.Queue(kfd.AQL), kfd.Signal(1)
    signals = [kfd.Signal(1) for _ in range(3)]
    queue.send(kfd.barrier([signal.handle for signal in signals], done.handle, any_of))
    for k, signal in enumerate(signals):
        assert not kfd.until(lambda: done.value == 0, 0.02)
        signal.words[1] = 0
        if any_of or k == 2:
            break
    assert kfd.until(lambda: done.value == 0)
    queue.destroy()


@pytest.mark.parametrize(
    ("condition", "value", "not_met", "met"), [(0, 5, 4, 5), (1, 5, 5, 6), (2, 5, 5, -1), (3, 5, 4, 5)]
)
def test_barriers_that_compare(condition: int, value: int, not_met: int, met: int) -> None:
    queue, signal, done = kfd.Queue(kfd.AQL), kfd.Signal(not_met), kfd.Signal(1)
    queue.send(kfd.barrier_value(signal.handle, value, condition, completion=done.handle))
    assert not kfd.until(lambda: done.value == 0, 0.02)
    signal.words[1] = met
    assert kfd.until(lambda: done.value == 0)
    queue.destroy()


def run(queue: kfd.Queue, launch: Launch) -> int:
    done = kfd.Signal(1)
    queue.send(launch.packet(64, 0, done.handle))
    assert kfd.until(lambda: done.value == 0)
    return int(launch.out.view(np.uint32)[0])


def test_code_that_is_replaced() -> None:
    """By invalidation where it lies, and by freeing its memory: the runtime uses the same addresses again."""
    queue = kfd.Queue(kfd.AQL)
    first = kfd.Loaded(elf(1000))
    assert run(queue, Launch(first)) == 1000
    second = kfd.Loaded(elf(2000), first.memory)
    done = kfd.Signal(1)
    queue.send(kfd.invalidate(done.handle))
    assert kfd.until(lambda: done.value == 0)
    assert run(queue, Launch(second)) == 2000
    va, size = second.memory.va, second.memory.size
    second.memory.free()
    again = kfd.Memory(size, kfd.VRAM | kfd.EXECUTABLE, va)
    assert run(queue, Launch(kfd.Loaded(elf(3000), again))) == 3000
    queue.destroy()


def test_a_wrong_access_is_a_memory_exception(capfd: pytest.CaptureFixture[str]) -> None:
    event = kfd.event(False, kind=8)
    queue, launch = kfd.Queue(kfd.AQL), Launch(kfd.Loaded(elf()))
    packet = launch.packet(64, 0)
    launch.out.free()
    queue.send(packet)
    done, [words] = kfd.wait([event], milliseconds=20000)
    assert done and words[0] & 0xFFFFFFFF == 1, "the page is not there"
    assert words[2] == launch.out.va and words[3] & 0xFFFFFFFF == kfd.gpu()
    assert "memory access fault: kernel number: " in capfd.readouterr().err
    kfd.request("destroy_event", "II", event, 0)
    queue.destroy()


@pytest.mark.parametrize(
    ("packet", "error"),
    [(kfd.dispatch(8, 0, [64], [64]), 0x2), (b"", 0x40000000)],
    ids=["no kernel there", "unknown instruction"],
)
def test_other_faults_stop_the_queue(packet: bytes, error: int) -> None:
    queue, launch = kfd.Queue(kfd.AQL), Launch(kfd.Loaded(elf()))
    if not packet:
        packet = launch.packet(64, 0)
        descriptor = launch.code.kernel("number") - launch.code.memory.va
        (entry,) = struct.unpack_from("<q", launch.code.memory.bytes, descriptor + 16)
        launch.code.memory.bytes[descriptor + entry :][:8] = 0xFF
    queue.send(packet)
    assert kfd.until(lambda: queue.inactive.value == error)
    queue.destroy()
