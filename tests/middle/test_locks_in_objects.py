"""A lock is recognised by its address also where that lies in an object in the thread's own memory, as methods and
functions with parameters by reference keep it, or where a function computes it."""

from __future__ import annotations

import pytest

from ptx2amd.middle.analyses.hazards import Hazard
from ptx2amd.middle.analyses.own_memory import kept
from ptx2amd.middle.body import Body
from ptx2amd.middle.summary import body
from ptx2amd.translate import parse
from tests.middle.test_hazards import hazards

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.global .u32 held[4];
.func (.param .b64 r) place_of(.param .b64 n) {{
  .reg .b64 %a, %n; ld.param.b64 %n, [n]; mov.u64 %a, held; add.u64 %a, %a, %n; st.param.b64 [r], %a; ret;
}}
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 n) {{
  .local .align 16 .b8 one[64]; .local .align 16 .b8 two[64]; .local .align 16 .b8 three[64];
  .reg .b64 %lock, %again, %at, %p, %q, %n, %by, %x<8>; .reg .b32 %old, %c; .reg .pred %go, %if;
  ld.param.u64 %p, [p]; ld.param.u64 %q, [q]; ld.param.u64 %n, [n];
  and.b64 %by, %n, 7; setp.eq.u64 %if, %n, 3; {before}
  L: {take}
  atom.cas.b32 %old, [%lock], 0, 1;
  setp.ne.u32 %go, %old, 0;
  @%go bra L;
  ld.volatile.u32 %c, [%q]; add.u32 %c, %c, 1; st.volatile.u32 [%q], %c; membar.gl;
  {between}
  {give}
  atom.exch.b32 %old, [%again], 0;
  ret;
}}
"""
CALL = "{{ .param .b64 x; .param .b64 y; st.param.b64 [x], %n; call (y), place_of, (x); ld.param.b64 {to}, [y]; }}"
#: How the lock's address is put somewhere, and how it is found again.
HELD = {
    "an object": ("st.local.u64 [one+8], %p;", "ld.local.u64 {to}, [one+8];"),
    "two values at once": ("st.local.v2.b64 [one+16], {{%q, %p}};", "ld.local.u64 {to}, [one+24];"),
    "loaded at once": (
        "st.local.u64 [one], %q; st.local.u64 [one+8], %p;",
        "ld.local.v2.u64 {{%x6, {to}}}, [one];",
    ),
    "an object that holds an object": (
        "st.local.u64 [one], %p; mov.u64 %x1, one; cvta.local.u64 %x1, %x1; st.local.u64 [two+8], %x1;",
        "ld.local.u64 %x2, [two+8]; ld.u64 {to}, [%x2];",
    ),
    "three objects": (
        "st.local.u64 [one], %p; mov.u64 %x1, one; cvta.local.u64 %x1, %x1; st.local.u64 [two+8], %x1;"
        "mov.u64 %x3, two; cvta.local.u64 %x3, %x3; add.u64 %x3, %x3, 8; st.local.u64 [three], %x3;",
        "ld.local.u64 %x4, [three]; ld.u64 %x4, [%x4]; ld.u64 {to}, [%x4];",
    ),
    "a place in an array": (
        "st.local.u64 [one], %p;",
        "ld.local.u64 {to}, [one]; add.u64 {to}, {to}, 64;",
    ),
    "a function": ("", CALL),
}
#: What makes it another lock, or perhaps another one, in an object.
OTHERS = {
    "another object is overwritten": ("st.local.u64 [two+32], %q;", False),
    "other bytes are overwritten": ("st.local.u64 [one+40], %q;", False),
    "the caller's memory is": ("st.u64 [%q], %q;", False),
    "it is overwritten": ("st.local.u64 [one+8], %q;", True),
    "a part is": ("st.local.u32 [one+12], %c;", True),
    "on one path": ("@%if st.local.u64 [one+8], %q;", True),
    "at an unknown place": ("mov.u64 %x5, one; add.u64 %x5, %x5, %by; st.local.u64 [%x5], %q;", True),
}


def waits(text: str) -> list[Hazard]:
    """What lanes of one warp wait for without help."""
    return [hazard for hazard in hazards(parse(text, "objects.ptx")) if hazard.lanes]


def made(before: str, take: str, give: str, between: str = "") -> str:
    found = {"take": take.format(to="%lock"), "give": give.format(to="%again")}
    return KERNEL.format(before=before.format(), between=between, **found)


@pytest.mark.parametrize("name", HELD)
def test_recognised(name: str) -> None:
    before, load = HELD[name]
    assert waits(made(before, load, load)) == []


@pytest.mark.parametrize("name", HELD)
def test_the_address_itself(name: str) -> None:
    """Taken by what is found in an object, given by the pointer that was put there."""
    before, load = HELD[name]
    same = name not in ("a place in an array", "a function")
    assert bool(waits(made(before, load, "mov.u64 {to}, %p;"))) != same


@pytest.mark.parametrize(("before", "known"), [("", 0), ("st.local.u64 [one], %p;", 0), (None, 1)])
def test_an_address_that_was_stored_in_the_round_before(before: str | None, known: int) -> None:
    """In a loop, a pointer that moves on is not what is loaded of it in the next round."""
    load, store = "ld.local.u64 {to}, [one];", "st.local.u64 [one], %p;"
    take = store + load if before is None else load + store
    text = made(before or "", take + "add.u64 %p, %p, 4;", "mov.u64 {to}, %q;")
    module = parse(text, "objects.ptx")
    assert len(kept(Body(body(module, module.functions["k"])))) == known


@pytest.mark.parametrize("name", OTHERS)
def test_another_lock(name: str) -> None:
    before, load = HELD["an object"]
    between, other = OTHERS[name]
    assert bool(waits(made(before, load, load, between))) == other


FOREVER = """.version 8.0
.target sm_80
.address_size 64
.global .u32 held;
.visible .entry k(.param .u64 q) {{
  .reg .b64 %q; .reg .b32 %old, %c; .reg .pred %go, %never;
  ld.param.u64 %q, [q];
  HEAD: {never}
  {leave}
  atom.global.cas.b32 %old, [held], 0, 1;
  setp.eq.u32 %go, %old, 0;
  @%go bra DONE;
  bra HEAD;
  DONE: ld.volatile.u32 %c, [%q]; add.u32 %c, %c, 1; st.volatile.u32 [%q], %c; membar.gl;
  GIVE: atom.global.exch.b32 %old, [held], 0;
  ret;
}}
"""
#: How a loop seems to be left at its head, and whether it is.
HEADS = {
    "never": ("mov.pred %never, 0;", "@%never bra GIVE;", False),
    "never, negated": ("mov.pred %never, 1;", "@!%never bra GIVE;", False),
    "perhaps": ("setp.eq.u64 %never, %q, 0;", "@%never bra GIVE;", True),
    "written twice": ("mov.pred %never, 0; @%go mov.pred %never, 1;", "@%never bra GIVE;", True),
    "always": ("mov.pred %never, 1;", "@%never bra L; bra GIVE; L:", False),
}


@pytest.mark.parametrize("name", HEADS)
def test_loops_without_end(name: str) -> None:
    """As debug builds write `while (true)`: a branch on a constant is no way out of the loop for who has no lock."""
    never, leave, left = HEADS[name]
    assert bool(waits(FOREVER.format(never=never, leave=leave))) == left
