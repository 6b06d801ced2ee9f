"""What is decided about a kernel is decided before it is lowered, by its own text alone, and stays."""

from __future__ import annotations

from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.lower.core.registry import load
from ptx2amd.lower.runtime.launches import ROWS
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.passes import Pipeline
from ptx2amd.plan.kernel import KernelPlan, Request
from ptx2amd.plan.launch_library import NAMES
from ptx2amd.target import target
from ptx2amd.translate import parse

TEXT = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) cudaStreamDestroy(.param .b64 s);
.entry plain(.param .u64 p) { .reg .f32 %f<3>; add.ftz.f32 %f1, %f0, %f2; ret; }
.entry sized(.param .u32 a, .param .u64 p) .reqntid 64, 2 { .shared .align 16 .b8 s[40]; bar.sync 1, 64; ret; }
.entry big() { .shared .b8 s[100000]; ret; }
.entry launches() { .param .b32 r; .param .b64 s; call (r), cudaStreamDestroy, (s); ret; }
.entry grid() { .reg .b32 %r; mov.b32 %r, %envreg2; ret; }
"""


def plans(mode: str = "kernel") -> dict[str, KernelPlan]:
    module = parse(TEXT)
    pipeline = Pipeline(CallGraph(module))
    names = [name for name, function in module.functions.items() if function.kind == "entry"]
    request = Request(target("gfx942"), mode)
    return {name: pipeline.kernel(module.functions[name], request)[0] for name in names}


def test_what_is_decided() -> None:
    found = plans()
    assert [plan.denormals for plan in found.values()] == ["flush", *["ieee"] * 4]
    assert found["sized"].params == ((0, 4, 4), (8, 8, 8)) and found["sized"].block == (64, 2, 1)
    assert (found["sized"].max_threads, found["sized"].static_shared) == (128, 40)
    assert found["sized"].partial_barriers == {1} and found["sized"].owner == "sized"
    assert {name for name, plan in found.items() if plan.shared is not None} == {"big"}
    assert {name for name, plan in found.items() if plan.launches} == {"launches"}
    assert {name for name, plan in found.items() if plan.launch_words} == {"big", "launches", "grid"}
    assert not any(plan.launch_words or plan.launches for plan in plans("module").values())


def test_a_plan_is_the_same_whatever_was_lowered_before() -> None:
    module = parse(TEXT)
    lowering = ModuleLowering(module, Request(target("gfx942")))
    for name in ("big", "sized", "plain", "grid", "launches"):
        lowering.kernel(name)
    assert lowering.plans == plans()


def test_the_launch_library_is_what_is_lowered() -> None:
    load()
    assert ROWS.keys() == NAMES
