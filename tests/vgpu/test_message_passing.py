"""racecheck on messages: data, then a flag. Each way of PTX to order the two, between blocks and between the warps of
one, brings no report and ends; and the same programs with one step missing or out of order are reported.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import product

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests import ROOT

ARCHS = ("gfx942", "gfx1100")
BLOCKS, THREADS = 6, 64
#: How a flag is read (%v), what comes after that; what comes before it is written, and how (%n). Of global memory.
FORMS = {
    "volatile": ("ld.volatile{s}.u32 %v, [{f}];", "membar.gl;", "membar.gl;", "st.volatile{s}.u32 [{f}], %n;"),
    "volatile, all": ("ld.volatile{s}.u32 %v, [{f}];", "membar.sys;", "membar.sys;", "st.volatile{s}.u32 [{f}], %n;"),
    "relaxed": ("ld.relaxed.gpu{s}.u32 %v, [{f}];", "fence.acq_rel.gpu;", "fence.acq_rel.gpu;",
                "st.relaxed.gpu{s}.u32 [{f}], %n;"),
    "sc": ("ld.relaxed.sys{s}.u32 %v, [{f}];", "fence.sc.sys;", "fence.sc.sys;", "st.relaxed.sys{s}.u32 [{f}], %n;"),
    "acquire": ("ld.acquire.gpu{s}.u32 %v, [{f}];", "", "", "st.release.gpu{s}.u32 [{f}], %n;"),
    "atomics": ("atom{s}.add.u32 %v, [{f}], 0;", "membar.gl;", "membar.gl;", "atom{s}.exch.b32 %z, [{f}], %n;"),
    "atomics with an order": (
        "atom.acquire.gpu{s}.cas.b32 %v, [{f}], 0, 0;", "", "", "red.release.gpu{s}.max.u32 [{f}], %n;",
    ),
    "both": ("ld.acquire.gpu{s}.u32 %v, [{f}];", "", "membar.gl;", "atom{s}.exch.b32 %z, [{f}], %n;"),
}  # fmt: skip
IN_A_BLOCK = {
    "volatile": ("ld.volatile{s}.u32 %v, [{f}];", "membar.cta;", "membar.cta;", "st.volatile{s}.u32 [{f}], %n;"),
    "relaxed": ("ld.relaxed.cta{s}.u32 %v, [{f}];", "fence.acq_rel.cta;", "fence.acq_rel.cta;",
                "st.relaxed.cta{s}.u32 [{f}], %n;"),
    "acquire": ("ld.acquire.cta{s}.u32 %v, [{f}];", "", "", "st.release.cta{s}.u32 [{f}], %n;"),
    "atomics": ("atom{s}.add.u32 %v, [{f}], 0;", "membar.cta;", "membar.cta;", "atom{s}.exch.b32 %z, [{f}], %n;"),
}  # fmt: skip
BREAKS = ("no wait", "read before the wait", "flag before the data")

HEAD = """
.reg .b64 %x, %f, %at, %a; .reg .b32 %b, %t, %n, %v, %y, %z, %i, %j, %w; .reg .pred %first, %lead, %p;
ld.param.u64 %x, [x]; ld.param.u64 %f, [flags]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %z, 0;
"""


def entry(name: str, body: str) -> str:
    return f".visible .entry {name}(.param .u64 x, .param .u64 flags, .param .u32 n) {{{HEAD}{body}\nret;\n}}\n"


def chain(name: str, form: tuple[str, str, str, str], broken: str = "") -> str:
    """Block b adds 1 to what block b - 1 wrote, whose flag its first thread waits for."""
    poll, after, before, publish = (text.format(s=".global", f="%a") for text in form)
    wait = f"@!%lead bra JOIN;\nWAIT:\n{poll}\nsetp.lt.u32 %p, %v, %n;\n@%p bra WAIT;\n{after}\nJOIN:\nbar.sync 0;"
    read = "ld.global.u32 %y, [%at];"
    write, flag = "st.global.u32 [%at], %y;\nbar.sync 0;", f"@!%lead bra OUT;\n{before}\n{publish}\nOUT:"
    begin = {"no wait": read, "read before the wait": f"{read}\n{wait}"}.get(broken, f"{wait}\n{read}")
    end = f"{flag}\n{write}" if broken == "flag before the data" else f"{write}\n{flag}"
    return entry(name, f"""
      mov.u32 %b, %ctaid.x; setp.eq.u32 %first, %b, 0; setp.eq.u32 %lead, %t, 0;
      mov.u32 %y, %n;
      @%first bra MINE;
      sub.u32 %i, %b, 1; mul.wide.u32 %a, %i, 4; add.u64 %a, %f, %a;
      xor.b32 %j, %t, 33; mad.lo.u32 %j, %i, {THREADS}, %j; mul.wide.u32 %at, %j, 4; add.u64 %at, %x, %at;
      {begin}
    MINE:
      add.u32 %y, %y, 1;
      mad.lo.u32 %j, %b, {THREADS}, %t; mul.wide.u32 %at, %j, 4; add.u64 %at, %x, %at;
      mul.wide.u32 %a, %b, 4; add.u64 %a, %f, %a;
      {end}
    """)  # fmt: skip


def warps(name: str, form: tuple[str, str, str, str], flags: str, data: str) -> str:
    """The same between the warps of a block, with flags and data in shared or global memory."""
    poll, after, before, publish = (text.format(s=f".{flags}", f="%w" if flags == "shared" else "%a") for text in form)
    where = "[%i]" if data == "shared" else "[%at]"
    place = "mul.wide.u32 %at, %j, 4; add.u64 %at, %x, %at; shl.b32 %i, %j, 2; mov.u32 %v, words; add.u32 %i, %i, %v;"
    flag = "mul.wide.u32 %a, %w, 4; add.u64 %a, %f, %a; shl.b32 %w, %w, 2; mov.u32 %v, marks; add.u32 %w, %w, %v;"
    return entry(name, f"""
      .shared .b32 words[{THREADS * 4}]; .shared .b32 marks[{BLOCKS * 4}];
      setp.lt.u32 %p, %t, {BLOCKS * 4}; shl.b32 %i, %t, 2; mov.u32 %v, marks; add.u32 %i, %i, %v;
      @%p st.shared.u32 [%i], 0;
      bar.sync 0;
      shr.u32 %b, %t, 5; setp.eq.u32 %first, %b, 0; and.b32 %j, %t, 31; setp.eq.u32 %lead, %j, 0;
      mov.u32 %y, %n;
      @%first bra MINE;
      sub.u32 %w, %b, 1; {flag}
      sub.u32 %j, %t, 32; xor.b32 %j, %j, 1; {place}
      @!%lead bra JOIN;
    WAIT:
      {poll}
      setp.lt.u32 %p, %v, %n;
      @%p bra WAIT;
      {after}
    JOIN:
      bar.warp.sync -1;
      ld.{data}.u32 %y, {where};
    MINE:
      add.u32 %y, %y, 1; mov.u32 %j, %t; {place}
      st.{data}.u32 {where}, %y;
      bar.warp.sync -1;
      mul.wide.u32 %at, %t, 4; add.u64 %at, %x, %at;
      @!%lead bra OUT;
      mov.u32 %w, %b; {flag}
      {before}
      {publish}
    OUT:
      {"st.global.u32 [%at], %y;" if data == "shared" else ""}
    """)  # fmt: skip


def grid_barrier(name: str, form: tuple[str, str, str, str]) -> str:
    """All blocks write, meet at a counter, and read what another one wrote."""
    poll, after, before, _ = (text.format(s=".global", f="%f") for text in form)
    return entry(name, f"""
      mov.u32 %b, %ctaid.x; setp.eq.u32 %lead, %t, 0;
      mad.lo.u32 %j, %b, {THREADS}, %t; mul.wide.u32 %at, %j, 4; add.u64 %at, %x, %at;
      add.u32 %y, %n, %b; st.global.u32 [%at], %y;
      bar.sync 0;
      @!%lead bra JOIN;
      {before or "membar.gl;"}
      atom.global.add.u32 %v, [%f], 1;
      mul.lo.u32 %i, %n, {BLOCKS};
    WAIT:
      {poll}
      setp.lt.u32 %p, %v, %i;
      @%p bra WAIT;
      {after or "membar.gl;"}
    JOIN:
      bar.sync 0;
      add.u32 %b, %b, 1; rem.u32 %b, %b, {BLOCKS};
      mad.lo.u32 %j, %b, {THREADS}, %t; mul.wide.u32 %a, %j, 4; add.u64 %a, %x, %a;
      ld.global.u32 %y, [%a]; st.global.u32 [%at+{4 * BLOCKS * THREADS}], %y;
    """)  # fmt: skip


def ordered() -> dict[str, tuple[str, int, int]]:
    """By kernel: its text, blocks, threads of a block."""
    out = {}
    for k, form in enumerate(FORMS.values()):
        out[f"chain{k}"] = chain(f"chain{k}", form), BLOCKS, THREADS
        out[f"grid{k}"] = grid_barrier(f"grid{k}", form), BLOCKS, THREADS
    for k, (form, flags, data) in enumerate(product(IN_A_BLOCK.values(), ("global", "shared"), ("global", "shared"))):
        out[f"warps{k}"] = warps(f"warps{k}", form, flags, data), 1, 32 * BLOCKS
    return out


def racing() -> dict[str, tuple[str, int, int]]:
    pairs = product(enumerate(FORMS.values()), enumerate(BREAKS))
    names = {f"race{k}_{j}": chain(f"race{k}_{j}", form, broken) for (k, form), (j, broken) in pairs}
    return {name: (text, BLOCKS, THREADS) for name, text in names.items()}


def launched(arch: str, kind: str, times: int) -> None:
    """Launches each kernel of a kind, and says which had another result than it should have."""
    import numpy as np

    kernels = {"ordered": ordered, "racing": racing}[kind]()
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    [result] = translate(head + "".join(text for text, _, _ in kernels.values()), "messages.ptx", [arch])
    assert result.ok, [kernel.error for kernel in result.kernels.values()]
    gpu = hip.open(f"vgpu:{arch}")
    module = gpu.load(result.code)
    for name, (_, blocks, threads) in kernels.items():
        kernel, padded = module.kernel(name), result.kernels[name].mapping == "padded"
        x, flags = gpu.buffer(np.zeros(4096, np.uint32)), gpu.buffer(np.zeros(64, np.uint32))
        for n in range(1, times + 1):
            kernel.launch(blocks, threads * (1 + padded), [x, flags, n])
            gpu.synchronize()
            words = x.numpy()[: BLOCKS * THREADS]
            if name.startswith("chain"):
                want = n + 1 + np.arange(BLOCKS * THREADS) // THREADS
            elif name.startswith("grid"):
                words = x.numpy()[BLOCKS * THREADS : 2 * BLOCKS * THREADS]
                want = n + (np.arange(BLOCKS * THREADS) // THREADS + 1) % BLOCKS
            else:
                words, want = words[: 32 * BLOCKS], n + 1 + np.arange(32 * BLOCKS) // 32
            if not name.startswith("race") and not (words == want).all():
                print(f"wrong {name}")


def reports(arch: str, kind: str, times: int) -> tuple[str, dict[str, int]]:
    """What was wrong, and how many kinds of reports racecheck has of each kernel."""
    code = f"from tests.vgpu import test_message_passing as t; t.launched({arch!r}, {kind!r}, {times})"
    setting = {"PYTHONPATH": str(ROOT), "PTX2AMD_RACECHECK": "1", "PTX2AMD_DEBUG": "1"}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **setting}, capture_output=True, text=True,
                          timeout=100 + 10 * times)  # fmt: skip
    assert done.returncode == 0 and "racecheck: " in done.stderr, done.stderr
    found: dict[str, int] = {}
    for name in re.findall(r"in kernel (\w+)", done.stderr):
        found[name] = found.get(name, 0) + 1
    return done.stdout, found


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("times", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_messages_are_no_races(arch: str, times: int) -> None:
    assert reports(arch, "ordered", times) == ("", {})


@pytest.mark.parametrize("arch", ARCHS)
def test_broken_messages_are_races(arch: str) -> None:
    _, found = reports(arch, "racing", 2)
    assert set(found) == set(racing())
