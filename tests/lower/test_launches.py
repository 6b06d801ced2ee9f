"""Launches from kernels, as far as the translator has to do with them; tests/shim/test_children.py runs them."""

from __future__ import annotations

import struct

import pytest

from ptx2amd.lower.runtime.launches import ROWS, row
from ptx2amd.translate import module_index, parse, translate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
DECLARED = """.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12],
  .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
"""
CHILDREN = """.visible .entry child(.param .u32 a, .param .u64 b, .param .u16 c) { ret; }
.visible .entry sized(.param .u64 p) .reqntid 8, 4 { ret; }
.visible .entry alone(.param .u64 p) { ret; }
"""
PARENT = """.visible .entry parent(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, child; st.global.u64 [%rd1], %rd2;
  { .param .b32 e; call (e), __cudaCDP2GetLastError, (); ld.param.b32 %r1, [e]; } ret; }
"""
TEXT = HEAD + DECLARED + ".global .u32 before = 1;\n.global .u64 table[2] = {sized, child};\n" + CHILDREN + PARENT


def test_facts_lie_behind_the_variables() -> None:
    index = module_index(parse(TEXT))
    facts = {k.name: k.facts for k in index.kernels}
    assert facts["alone"] == facts["parent"] == -1 and -1 not in (facts["child"], facts["sized"])
    table = next(v.offset for v in index.variables if v.name == "table")
    assert sorted(index.relocs) == [(table, facts["sized"]), (table + 8, facts["child"])]
    assert min(facts["sized"], facts["child"]) >= table + 16
    assert struct.unpack_from("<5I", index.image, facts["child"]) == (18, 1024, 0, 0, 0)
    assert struct.unpack_from("<5I", index.image, facts["sized"]) == (8, 32, 8, 4, 1)


def test_modules_that_launch_nothing_have_no_facts() -> None:
    text = HEAD + CHILDREN + ".visible .entry taking() { .reg .b64 %rd; mov.u64 %rd, child; ret; }"
    module = parse(text)
    assert all(kernel.facts == -1 for kernel in module_index(module).kernels) and module_index(module).segment_size == 0
    [result] = translate(module)
    assert "the address of kernel child, in a module that launches none" in result.kernels["taking"].reason


def test_who_launches_is_known() -> None:
    [result] = translate(TEXT)
    assert all(kernel.ok for kernel in result.kernels.values())
    assert {name for name, kernel in result.kernels.items() if kernel.launches} == {"parent"}
    assert {name for name, kernel in result.kernels.items() if kernel.launch_words} == {"parent"}


def test_whole_modules_are_refused() -> None:
    [result] = translate(TEXT, mode="module")
    assert "child" in result.kernels and result.kernels["child"].ok
    assert "in whole-module code objects; ptx2amd run has it" in result.kernels["parent"].reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cudaDeviceSynchronize", "launch what comes after them into cudaStreamTailLaunch"),
        ("__cudaDeviceSynchronizeDeprecationAvoidance", "launch what comes after them into cudaStreamTailLaunch"),
        ("cudaGraphLaunch", "launch the graph from the host"),
        ("__cudaCDP2FuncGetAttributes", "__cudaCDP2FuncGetAttributes is not supported in kernels"),
        ("somebodyElse", "somebodyElse has no definition in this module"),
    ],
)
def test_what_is_refused_is_named(name: str, reason: str) -> None:
    call = "{ .param .b32 e; call (e), " + name + ", (); }"
    text = f"{HEAD}.extern .func (.param .b32 r) {name}();\n.visible .entry k() {{ {call} ret; }}"
    [result] = translate(text)
    assert reason in result.kernels["k"].reason and "line " in result.kernels["k"].reason


def test_names_of_both_generations() -> None:
    names = ("cudaLaunchDeviceV2", "__cudaCDP2LaunchDeviceV2", "__cudaCDP2LaunchDeviceV2_ptsz", "cudaLaunchDevice")
    assert [row(name) for name in names] == [*[ROWS["LaunchDeviceV2"]] * 3, ROWS["LaunchDevice"]]
    assert row("cudaGraphSetConditional") is None and row("launchDevice") is None


TYPES = {"i32": ".param .b32", "i64": ".param .b64", "dim3": ".param .align 4 .b8"}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_every_function_compiles(name: str, arch: str) -> None:
    found = ROWS[name]
    result = f"({TYPES[found.result]} r)"
    arguments = [f"{TYPES[ty]} a{i}{'[12]' if ty == 'dim3' else ''}" for i, ty in enumerate(found.arguments)]
    passed = ", ".join(f"a{i}" for i in range(len(arguments)))
    declared = "".join(f"{argument}; " for argument in arguments)
    call = f"{{ {TYPES[found.result]} r; {declared}call (r), __cudaCDP2{name}, ({passed}); }}"
    extern = f".extern .func {result} __cudaCDP2{name}({', '.join(arguments)});\n"
    [done] = translate(f"{HEAD}{extern}.visible .entry k() {{ {call} ret; }}", archs=[arch])
    assert done.ok, done.kernels["k"].reason
