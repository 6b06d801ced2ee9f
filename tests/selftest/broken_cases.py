"""Cases that must not be right, for the self-test's tests: run by children as those of the package are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

from ptx2amd.selftest import runner
from ptx2amd.selftest.case import CASES, Body, Comparison, case, compare
from ptx2amd.selftest.gpu import Buffer, Gpu

STORE = ".visible .entry k(.param .u64 out) { .reg .b64 %o; ld.param.u64 %o, [out]; st.global.u32 [%o], 5; ret; }"
SPIN = ".visible .entry k() { .reg .b32 %r; AGAIN: add.u32 %r, %r, 1; bra AGAIN; }"


@case("broken", "wrong value")
def wrong_value(gpu: Gpu) -> Iterator[Comparison]:
    out = gpu.room(4)
    gpu.run(gpu.kernel(gpu.load_text(STORE), "k"), 1, 1, out)
    yield compare("the value", "I", gpu.read(out, "I"), [6])


@case("broken", "fault in a kernel")
def fault(gpu: Gpu) -> Iterator[Comparison]:
    yield compare("before", "I", [1], [1])
    gpu.run(gpu.kernel(gpu.load_text(STORE), "k"), 1, 1, Buffer(4096, 4))
    yield compare("never", "I", [1], [1])


@case("broken", "signal")
def dies(gpu: Gpu) -> Iterator[Comparison]:
    yield compare("before", "I", [1], [1])
    os.kill(os.getpid(), signal.SIGSEGV)


@case("broken", "no end")
def endless(gpu: Gpu) -> Iterator[Comparison]:
    yield compare("before", "I", [1], [1])
    gpu.run(gpu.kernel(gpu.load_text(SPIN), "k"), 1, 1)


@case("broken", "refused call")
def refused(gpu: Gpu) -> Iterator[Comparison]:
    gpu.kernel(gpu.load_text(STORE), "absent")
    yield compare("never", "I", [1], [1])


@case("broken", "nothing compared")
def nothing(gpu: Gpu) -> Iterator[Comparison]:
    yield from ()


def flipped(body: Body) -> Body:
    """The case on a device whose memory has one wrong bit in the last byte of whatever is read."""

    def run(gpu: Gpu) -> Iterator[Comparison]:
        read = gpu.bytes
        gpu.bytes = lambda buffer: (data := read(buffer))[:-1] + bytes([data[-1] ^ 1])  # type: ignore[method-assign]
        return body(gpu)

    run.__module__ = __name__
    return run


#: Cases whose results do not come from memory of the device.
ELSEWHERE = {"launches: printf"}

for whole in runner.cases():
    if whole.family != "broken" and not whole.family.startswith("flipped ") and whole.title not in ELSEWHERE:
        case(f"flipped {whole.family}", whole.name, whole.settings, whole.waves)(flipped(whole.body))
BROKEN = {title: made for title, made in CASES.items() if made.family == "broken"}
FLIPPED = {title: made for title, made in CASES.items() if made.family.startswith("flipped ")}
