"""Values are followed through local variables, also where it is not known which bytes of them are accessed."""

from __future__ import annotations

import pytest

from ptx2amd.middle.analyses.hazards import Hazard
from ptx2amd.middle.analyses.own_memory import stored, stored_at_known_places
from ptx2amd.middle.body import Body
from ptx2amd.middle.summary import body
from ptx2amd.translate import parse, translate
from tests.middle.test_hazards import hazards

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.global .u64 kept;
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {{
  .local .align 8 .b8 own[64]; .local .align 8 .b8 other[64];
  .reg .b32 %v, %c, %n, %i; .reg .b64 %p, %q, %at, %by, %to, %from; .reg .pred %go, %one;
  ld.param.u64 %p, [p]; ld.param.u64 %q, [q]; ld.param.u32 %n, [n];
  and.b32 %i, %n, 7; mul.wide.u32 %by, %i, 4; setp.eq.u32 %one, %n, 1;
  {pointers}
  L: ld.volatile.global.u32 %v, [%p];
  {through}
  setp.eq.u32 %go, %c, 0;
  @%go bra L;
  st.volatile.global.u32 [%p], 1;
  ret;
}}
"""
OWN = "mov.u64 %at, own; "
TO = {
    "known": (OWN + "cvta.local.u64 %to, %at;", "st.u32 [%to+8], %v;"),
    "index": (OWN + "add.u64 %to, %at, %by;", "st.local.u32 [%to], %v;"),
    "index, generic": (OWN + "cvta.local.u64 %to, %at; add.u64 %to, %to, %by;", "st.u32 [%to], %v;"),
    "one of two": (OWN + "mov.u64 %to, other; @%one mov.u64 %to, %at;", "st.local.u32 [%to+8], %v;"),
    "by memory": (OWN + "st.global.u64 [kept], %at; ld.global.u64 %to, [kept];", "st.local.u32 [%to+8], %v;"),
    "in two parts": (
        OWN + "{ .reg .b32 %a, %b; mov.b64 {%a, %b}, %at; mov.b64 %to, {%a, %b}; }",
        "st.local.u32 [%to+8], %v;",
    ),
    "on some path": (OWN + "add.u64 %to, %at, %by;", "@%one st.local.u32 [%to], %v; st.local.u32 [%to+4], %n;"),
}
FROM = {
    "known": ("", "ld.local.u32 %c, [own+8];"),
    "index": ("mov.u64 %from, own; add.u64 %from, %from, %by;", "ld.local.u32 %c, [%from];"),
}
ELSEWHERE = {
    "another variable": ("mov.u64 %at, other; add.u64 %to, %at, %by;", "st.local.u32 [%to], %v;"),
    "a parameter's": (OWN + "add.u64 %to, %q, %by;", "st.u32 [%to], %v;"),
    "other bytes": ("", "st.local.u32 [own+12], %v;"),
}


def made(to: tuple[str, str], of: tuple[str, str], before: str = "") -> str:
    """A loop that stores what it polls, and ends by what it loads from the variable."""
    return KERNEL.format(pointers=to[0] + of[0], through=before + to[1] + of[1])


def found(text: str) -> list[Hazard]:
    return hazards(parse(text, "own.ptx"))


@pytest.mark.parametrize("of", FROM)
@pytest.mark.parametrize("to", TO)
def test_waits_are_seen(to: str, of: str) -> None:
    text = made(TO[to], FROM[of])
    assert [hazard.what[:30] for hazard in found(text)] == ["a loop waits for a value that "]
    [result] = translate(text, "own.ptx", ["gfx942"])
    assert result.kernels["k"].mapping == "padded"


@pytest.mark.parametrize("to", ELSEWHERE)
def test_stores_elsewhere_are_no_waits(to: str) -> None:
    before = "sub.u32 %n, %n, 1; st.local.u32 [own+8], %n;"
    assert found(made(ELSEWHERE[to], FROM["known"], before)) == []


def test_a_counter_is_not_made_of_what_may_be_stored_there() -> None:
    """A loop ends by itself only if it certainly counts: here the counter may be what the index of the store is made
    of, but what the loop ends by is what was polled."""
    counts = "ld.local.u32 %i, [own]; add.u32 %i, %i, 1; st.local.u32 [own], %i; mul.wide.u32 %by, %i, 4;"
    text = made((OWN, "add.u64 %to, %at, %by; st.local.u32 [%to], %v;"), FROM["known"], counts)
    assert len(found(text)) == 1


def test_a_store_at_an_unknown_place_overwrites_nothing() -> None:
    module = parse(made(TO["index"], FROM["known"], "st.local.u32 [own+8], %n;"), "own.ptx")
    flow = Body(body(module, module.functions["k"]))
    [certain], [possible] = stored_at_known_places(flow).values(), stored(flow).values()
    assert [len(certain), len(possible)] == [1, 2] and certain < possible


LOCK = """.version 8.0
.target sm_80
.address_size 64
.global .u32 held;
.visible .entry k(.param .u64 p, .param .u32 n) {
  .local .align 8 .b8 own[64]; .reg .b32 %c, %n; .reg .b64 %p, %at, %by; .reg .pred %go;
  ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; and.b32 %n, %n, 7; mul.wide.u32 %by, %n, 4;
  mov.u64 %at, own; add.u64 %at, %at, %by;
  L: atom.global.cas.b32 %c, [held], 0, 1;
  st.local.u32 [%at], %c; ld.local.u32 %c, [own+8];
  setp.ne.u32 %go, %c, 0;
  @%go bra L;
  ld.global.u32 %c, [%p]; add.u32 %c, %c, 1; st.global.u32 [%p], %c;
  membar.gl; atom.global.exch.b32 %c, [held], 0;
  ret;
}
"""


def test_locks_are_seen() -> None:
    """Whose outcome lies at an unknown place: no lane waits for another of its warp for ever."""
    assert found(LOCK) == []
    [result] = translate(LOCK, "own.ptx", ["gfx942"])
    assert not result.kernels["k"].warnings
