"""Variables in .global and .const inside functions: one for all threads and launches, of their own scope, with initial
values, beside variables of the same name; shared variables of one name in several scopes."""

from __future__ import annotations

import struct

import pytest

from ptx2amd.ptx.link import link
from ptx2amd.translate import module_index, parse, translate
from tests.lower.device import MAPPINGS, program

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
TEXT = (
    HEAD
    + """
.global .u32 x = 100;
.func (.param .u32 r) counted() {
  .reg .u32 a; .global .u32 x = 7;
  atom.global.add.u32 a, [x], 1; st.param.u32 [r], a; ret; }
.visible .entry k(.param .u64 out) {
  .reg .u32 a<12>; .reg .u64 o, p<4>;
  ld.param.u64 o, [out];
  ld.global.u32 a0, [x];
  .global .align 8 .u32 x[3] = {1, 2, 3}, y = 40;
  .const .u16 c[] = {500, 600, 700};
  .global .u64 pointer = x+8;
  ld.global.u32 a1, [x+4];
  ld.global.u32 a2, [y];
  ld.const.u16 a3, [c+2];
  ld.global.u64 p0, [pointer]; ld.u32 a4, [p0];
AGAIN: {
    .global .u32 x = 9;
    .global .u64 own = x;
    cvta.global.u64 p1, x; ld.u32 a5, [p1];
    ld.global.u64 p2, [own]; ld.global.u32 a6, [p2];
    st.global.u32 [x], 10;
  }
  mov.u32 a10, 2; ld.global.u32 a7, [x + 4 + 4]; ld.global.u32 a11, x[a10];
  { .param .u32 r; call (r), counted; ld.param.u32 a8, [r]; }
  { .param .u32 r; call (r), counted; ld.param.u32 a9, [r]; }
"""
    + "".join(f"st.global.u32 [o+{4 * i}], a{i};" for i in (*range(10), 11))
    + "ret; }\n"
)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_values(arch: str) -> None:
    """Twice: what the first launch left in the variables is there in the second one."""
    loaded = program(TEXT, arch)
    first, again = (struct.unpack("<12I", loaded.run("k", 1, [48])[0]) for _ in range(2))
    assert first == (100, 2, 40, 600, 3, 9, 9, 3, 7, 8, 0, 3)
    assert again == (100, 2, 40, 600, 3, 10, 10, 3, 9, 10, 0, 3)


def test_the_data_segment_has_them_before_any_body_is_parsed() -> None:
    index = module_index(parse(TEXT))
    where = {v.name: v.offset for v in index.variables}
    assert list(where) == ["x", "counted::x", "k::x", "k::y", "k::c", "k::pointer", "k::x::1", "k::own"]
    values = [struct.unpack_from("<I", index.image, where[name])[0] for name in ("x", "counted::x", "k::y", "k::x::1")]
    assert values == [100, 7, 40, 9]
    assert index.relocs == [(where["k::pointer"], where["k::x"] + 8), (where["k::own"], where["k::x::1"])]
    module = parse(TEXT)
    [result] = translate(TEXT, archs=["gfx942"], kernels=["k"])
    assert result.ok and module_index(module) == index


def test_functions_of_linked_modules_keep_their_own() -> None:
    one = parse(HEAD + ".func f() { .global .u32 x = 1; .reg .u32 a; ld.global.u32 a, [x]; ret; }\n", whole=False)
    two = parse(HEAD + ".func f() { .global .u32 x = 2; .reg .u32 a; ld.global.u32 a, [x]; ret; }\n", whole=False)
    index = module_index(link([one, two], "linked"))
    assert {index.image[v.offset] for v in index.variables} == {1, 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".global .texref t;", "must stand at module level"),
        (".global .u32 x[];", "has no size"),
        (".global .pred x;", "predicate"),
        (".global .u32 x; .global .u32 x;", "declared twice"),
        (".global .u32 x = {1};", "more braces than dimensions"),
    ],
)
def test_wrong_ones_lose_their_function_only(text: str, message: str) -> None:
    good = ".visible .entry good() { .global .u32 x; ret; }\n"
    [result] = translate(f"{HEAD}.visible .entry bad() {{ {text} ret; }}\n{good}", archs=["gfx942"])
    assert result.kernels["good"].ok and not result.kernels["bad"].ok
    assert message in result.kernels["bad"].reason


SCOPES = (
    HEAD
    + """
.const .u32 c = 5;
.visible .entry k(.param .u64 out) {
  .reg .u32 a<9>; .reg .u64 o, p; .reg .pred q;
  ld.param.u64 o, [out];
  .shared .u32 x;
  { .reg .u32 c; mov.u32 c, 1; st.shared.u32 [x], c;
    cvta.global.u64 p, o; isspacep.const q, p; selp.u32 a7, 1, 0, q; }
  { .shared .align 16 .u32 x[30]; st.shared.u32 [x], 2; st.shared.u32 [x+116], 4; ld.shared.u32 a1, [x]; mov.u32 a4, x;
    { .shared .u32 x; st.shared.u32 [x], 3; ld.shared.u32 a2, [x]; mov.u32 a5, x; }
    ld.shared.u32 a3, [x]; ld.shared.u32 a6, x[29]; }
  ld.shared.u32 a0, [x];
"""
    + "".join(f"st.global.u32 [o+{4 * i}], a{i};" for i in range(8))
    + "ret; }\n"
)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_shared_variables_of_one_name(arch: str) -> None:
    found = struct.unpack("<8I", program(SCOPES, arch).run("k", 1, [32])[0])
    assert found[:4] == (1, 2, 3, 2) and found[6:] == (4, 0)
    assert found[4] % 16 == 0 and found[4] != found[5]
