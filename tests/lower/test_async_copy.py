"""cp.async copies, with sources that end early or are ignored; what lies behind their end is not read."""

from __future__ import annotations

import random

import pytest

from tests.lower.device import EVERY, program

SIZES = [(cop, n) for cop, n in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16))]
SLOT = 16


def copies() -> list[tuple[str, int, int]]:
    """(PTX of the operands behind the addresses, bytes, bytes taken); %s is the thread's number modulo 20."""
    found = []
    for cop, n in SIZES:
        head = f"cp.async.{cop}.shared.global"
        found += [(f"{head} TO, FROM, {n}", n, n), (f"{head}.L2::128B TO, FROM, {n}, {n}", n, n)]
        found += [(f"{head} TO, FROM, {n}, {k}", n, k) for k in (0, 1, n - 1)]
        found += [(f"{head} TO, FROM, {n}, %s", n, -1)]
        found += [(f"{head} TO, FROM, {n}, %odd", n, -2), (f"{head} TO, FROM, {n}, !%odd", n, -3)]
        found += [(f"{head}.L2::cache_hint TO, FROM, {n}, %s, %policy", n, -1)]
    return found


def taken(copy: tuple[str, int, int], thread: int) -> int:
    """Bytes that thread copies."""
    _, n, rule = copy
    if rule >= 0:
        return rule
    return min(thread % 20, n) if rule == -1 else n * ((thread % 2 == 0) == (rule == -2))


def text(threads: int) -> str:
    """`k(in, out)`: a slot a thread is copied to shared memory and, after the wait, from there to out."""
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64",
        ".visible .entry k(.param .u64 in, .param .u64 out) {",
        f".shared .align 16 .b8 sh[{SLOT * threads}]; .reg .b32 %t, %s, %x, %to, %next, %w<4>; .reg .pred %odd;",
        ".reg .b64 %in, %out, %at, %policy;",
        "mov.u32 %t, %tid.x; rem.u32 %s, %t, 20; min.u32 %s, %s, 16;",
        "and.b32 %x, %t, 1; setp.ne.u32 %odd, %x, 0;",
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mul.wide.u32 %at, %t, 16; mov.b64 %policy, 0;",
        "add.u64 %in, %in, %at; add.u64 %out, %out, %at; mov.u32 %to, sh; mad.lo.u32 %to, %t, 16, %to;",
    ]
    for i, (operands, _, _) in enumerate(copies()):
        where = operands.replace("TO", "[%to]").replace("FROM", "[%in]")
        wait = ("cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;")[i % 2]
        lines += [
            "st.shared.v4.u32 [%to], {-1, -1, -1, -1};",
            f"{where}; {wait} bar.sync 0;",
            "ld.shared.v4.u32 {%w0, %w1, %w2, %w3}, [%to];",
            f"st.global.v4.u32 [%out+{SLOT * threads * i}], {{%w0, %w1, %w2, %w3}}; bar.sync 0;",
        ]
    return "\n".join([*lines, "ret; }", ""])


@pytest.mark.parametrize("arch", EVERY)
def test_copies(arch: str) -> None:
    threads = 40
    data = random.Random("async").randbytes(SLOT * threads)
    _, out = program(text(threads), arch).run("k", threads, [data, SLOT * threads * len(copies())])
    for i, copy in enumerate(copies()):
        for t in range(threads):
            n = min(taken(copy, t), copy[1])
            want = (data[SLOT * t : SLOT * t + n] + bytes(copy[1] - n)).ljust(SLOT, b"\xff")
            at = SLOT * (t + threads * i)
            assert out[at : at + SLOT] == want, f"{copy} thread {t}"
