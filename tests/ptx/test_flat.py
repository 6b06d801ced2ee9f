"""Names of nested scopes.

Protects: that a name in a body stands for one register, variable or label only, so that the analyses need not know
where it was declared.
"""

from __future__ import annotations

from ptx2amd.middle.printer import statement
from ptx2amd.ptx.ast import BranchTargets, Inst, Label, Scope, Var
from ptx2amd.ptx.flat import flat
from ptx2amd.ptx.parse import parse_body, parse_module

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
.reg .b32 %r<3>; .reg .b64 x; .shared .b32 s;
{ .reg .b32 x; .reg .v2 .f32 v; .shared .b64 s; mov.u32 x, %r1; mov.f32 v.x, v.g;
  A: { .reg .b32 %r<2>; mov.u32 %r1, x; mov.u32 %r2, 1; bra B; } B: st.shared.u32 [s+4], x; }
{ A: t: .branchtargets A, C; brx.idx %r1, t; }
mov.u64 x, s; C: ret; }
"""


def test_names_of_nested_scopes_are_their_own() -> None:
    module = parse_module(TEXT)
    body = parse_body(module, module.functions["k"])
    assert not any(isinstance(item, Scope) for item in body.items)
    assert [statement(item) for item in body.items if isinstance(item, Inst)] == [
        "mov.u32 x$1$, %r1;",
        "mov.f32 v$1$.x, v$1$.y;",
        "mov.u32 %$2$r1, x$1$;",
        "mov.u32 %r2, 1;",
        "bra B$1$;",
        "st.shared.u32 [s$1$.2+4], x$1$;",
        "brx.idx %r1, t$3$;",
        "mov.u64 x, s;",
        "ret;",
    ]
    assert [item.name for item in body.items if isinstance(item, Label)] == ["A$1$", "B$1$", "A$3$", "C"]
    assert [item.targets for item in body.items if isinstance(item, BranchTargets)] == [("A$3$", "C")]
    names = [item.name for item in body.items if isinstance(item, Var)]
    assert names == ["%r", "x", "s", "x$1$", "v$1$", "s$1$.2", "%$2$r"]


def test_a_body_without_scopes_stays_as_it_is() -> None:
    scope = Scope([Var("reg", "b32", "x")])
    assert flat(scope) is scope
