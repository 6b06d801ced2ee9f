"""Linking: symbols of several modules meet by name, private ones stay apart."""

from __future__ import annotations

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Loc
from ptx2amd.ptx.link import link
from ptx2amd.ptx.parse import parse_body, parse_module
from ptx2amd.service.translation import index_entry
from ptx2amd.translate import module_index, translate

HEAD = ".version {version}\n.target {target}\n.address_size 64\n"


def linked(*texts: str):
    modules = [
        parse_module(HEAD.format(version=f"8.{n}", target=f"sm_{70 + 10 * n}") + text, f"m{n}")
        for n, text in enumerate(texts)
    ]
    return link(modules, "program")


def test_declarations_meet_definitions_in_either_order() -> None:
    user = ".extern .func (.param .b32 r) twice (.param .b32 a);\n.extern .global .u32 counter;\n"
    user += ".visible .entry k() { ret; }"
    maker = ".visible .func (.param .b32 r) twice (.param .b32 a) { ret; }\n.visible .global .u32 counter = 7;"
    for module in (linked(user, maker), linked(maker, user)):
        assert module.functions["twice"].text
        assert module.variables["counter"].init == [7]
        assert set(module.functions) == {"twice", "k"}
    assert (linked(user, maker).version, linked(user, maker).target) == ((8, 1), "sm_80")


def test_kernels_keep_what_their_part_was_compiled_for() -> None:
    """CUB picks its launch shapes by it, and has none for the target of libcudadevrt, which all -rdc programs have."""
    index = module_index(linked(".visible .entry old() { ret; }", ".visible .entry new() { ret; }"))
    assert {kernel.name: kernel.target or index.target for kernel in index.kernels} == {"old": 70, "new": 80}
    assert "kernel old\nmax_threads 1024\nstatic_shared 0\nfacts -1\ntarget 70\n" in index_entry(index).text


def test_private_names_stay_apart() -> None:
    part = (
        ".global .u32 own = {0};\n.global .u64 there = generic(own);\n"
        ".func helper() {{ .reg .b32 %r1; ld.global.u32 %r1, [own+0]; ret; }}\n"
        ".visible .entry k{0}() {{ call.uni helper; ret; }}"
    )
    module = linked(part.format(1), part.format(2))
    assert sorted(var.init[0] for name, var in module.variables.items() if name.startswith("own")) == [1, 2]
    assert len(module.variables) == 4 and len(module.functions) == 4
    for name, function in module.functions.items():
        assert function.proto.name == name
        parse_body(module, function)  # its names are known in the linked module
    pointed = {var.init[0].name for name, var in module.variables.items() if name.startswith("there")}
    assert pointed == {name for name in module.variables if name.startswith("own")}


def test_source_lines_keep_their_files() -> None:
    """Each module counts its files from 1."""
    part = '.file 1 "{0}.cu"\n.file 2 "common.h"\n.visible .entry {0}() {{\n.loc 1 7 1\nbar.sync 0;\n'
    part += ".loc 2 8 1, function_name $f, inlined_at 1 7 1\nbar.sync 0;\nret;\n}}"
    module = linked(part.format("a"), part.format("b"), '.file 1 "common.h"')
    found = {}
    for name, function in module.functions.items():
        parse_body(module, function)
        assert function.scope is not None
        found[name] = [(module.files[item.file], item.line) for item in function.scope.items if isinstance(item, Loc)]
    assert found == {name: [(f"{name}.cu", 7), ("common.h", 8)] for name in "ab"}


def test_a_parameter_hides_a_private_symbol() -> None:
    other = ".global .u32 x;"
    module = linked(
        other, ".global .u32 x;\n.visible .entry k(.param .u64 x) { .reg .b64 %d; ld.param.u64 %d, [x]; ret; }"
    )
    parse_body(module, module.functions["k"])
    assert "[x]" in module.functions["k"].text


def test_weak_and_common_symbols() -> None:
    weak = ".weak .func f() { ret; }\n.weak .global .u32 w = 1;\n.common .global .b8 c[4];"
    strong = ".visible .func f() { bar.sync 0; ret; }\n.visible .global .u32 w = 2;\n.common .global .b8 c[16];"
    for module in (linked(weak, strong), linked(strong, weak)):
        assert "bar.sync" in module.functions["f"].text
        assert module.variables["w"].init == [2]
        assert module.variables["c"].count == 16
    assert linked(weak, weak).variables["w"].init == [1]


def test_a_function_may_be_declared_with_a_result_that_it_has_not() -> None:
    """numba declares functions of C so, which return nothing."""
    user = ".extern .func (.param .b32 r) f(.param .b32 a);\n.visible .entry k() { .reg .b32 %r; mov.u32 %r, 1;"
    user += " { .param .b32 a, r; st.param.b32 [a], %r; call.uni (r), f, (a); ld.param.b32 %r, [r]; } ret; }"
    maker = ".visible .func f(.param .b32 a) { bar.sync 0; ret; }"
    [result] = translate(linked(user, maker), "program", ["gfx942"])
    assert result.ok, result.kernels["k"].reason
    one = HEAD.format(version="8.0", target="sm_80") + maker + user.partition("\n")[2]
    [result] = translate(one, "one module", ["gfx942"])
    assert result.kernels["k"].reason.endswith("'f' has 0 results, the call has 1")


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (".visible .func f() { ret; }", ".visible .func f() { ret; }", "'f' is defined in several modules"),
        (".visible .entry f() { ret; }", ".visible .entry f() { ret; }", "'f' is defined in several modules"),
        (".visible .global .u32 v;", ".visible .global .u32 v;", "'v' is defined in several modules"),
        (".visible .global .u32 v;", ".visible .func v() { ret; }", "a function here and a variable"),
        (".extern .const .u32 v;", ".visible .global .u32 v;", ".global here and in .const"),
    ],
)
def test_contradictions_are_told(one: str, two: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        linked(one, two)
