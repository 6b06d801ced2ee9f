"""The language around the instructions, with ptxas as the judge of tests/ptx/snippets.py."""

from __future__ import annotations

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.lower.core.limits import oversized
from ptx2amd.ptx.ast import InitSym, Var
from ptx2amd.ptx.parse import parse_body, parse_module
from tests import oracle
from tests.ptx import snippets, snippets_modules, snippets_operands


def in_body(registers: str, text: str) -> str:
    return f".visible .entry kk() {{ {registers}\n{text}\nL1: ret; }}"


CASES = [  # header, text, whether it is PTX
    *((snippets.HEADER, text, True) for text in snippets.MODULE_ACCEPTED),
    *((snippets.HEADER, text, False) for text in snippets.MODULE_REJECTED),
    *((snippets.HEADER, in_body(snippets.REGISTERS, text), True) for text in snippets.BODY_ACCEPTED),
    *((snippets.HEADER, in_body(snippets.REGISTERS, text), False) for text in snippets.BODY_REJECTED),
    *((snippets_modules.HEADER, text, True) for text in snippets_modules.ACCEPTED),
    *((snippets_modules.HEADER, text, False) for text in snippets_modules.REJECTED),
    *(
        (snippets_operands.HEADER, in_body(snippets_operands.REGISTERS, text), True)
        for text in snippets_operands.ACCEPTED
    ),
    *(
        (snippets_operands.HEADER, in_body(snippets_operands.REGISTERS, text), False)
        for text in snippets_operands.REJECTED
    ),
]
IDS = [text.split("\n")[-2][:60] if "kk" in text else text[:60] for _, text, _ in CASES]


@pytest.mark.parametrize(("header", "text", "accepted"), CASES, ids=IDS)
def test_snippet(header: str, text: str, accepted: bool) -> None:
    try:
        module = parse_module(header + text + "\n")
        for function in module.functions.values():
            if function.text:
                parse_body(module, function)
        verdict = not list(oversized(module))
    except PtxError:
        verdict = False
    assert verdict == accepted


LENIENT = [
    *(in_body(snippets_operands.REGISTERS, text) for text in snippets_operands.LENIENT),
    *(text for text in snippets_modules.LENIENT if not text.startswith(".version")),
]


@pytest.mark.parametrize("text", LENIENT)
def test_lenient(text: str) -> None:
    """The known differences: text that ptxas rejects."""
    module = parse_module(snippets_operands.HEADER + text + "\n")
    for function in module.functions.values():
        if function.text:
            parse_body(module, function)


@pytest.mark.slow
@pytest.mark.parametrize(("header", "text", "accepted"), CASES)
def test_ptxas_says_so(header: str, text: str, accepted: bool) -> None:
    assert oracle.ptxas_accepts(header + text + "\n", "sm_90a")[0] == accepted


def variables(text: str) -> dict[str, Var]:
    return parse_module(snippets.HEADER + text).variables


def test_variables() -> None:
    found = variables(
        ".extern .shared .align 16 .b8 dyn[];\n"
        ".visible .global .attribute(.managed) .align 8 .u64 m[2][3] = {{1, -1}, {0x10}};\n"
        ".const .v2 .f32 v[2] = {{1.0, 0f40000000}};\n"
        ".global .u64 p[3] = {gv, generic(gv)+4, k};\n"
        ".global .u8 bytes[] = {0xff(gv), 0xff00(generic(gv)), 300, -1};\n"
        ".weak .global .s16 a = -2, b[2] = {1}, c;\n"
        ".common .global .align 4 .b8 common[12];\n"
    )
    assert (found["dyn"].count, found["dyn"].align, found["dyn"].linkage) == (0, 16, "extern")
    m = found["m"]
    assert (m.count, m.align, m.attrs, m.linkage, m.init) == (
        6,
        8,
        {"managed": ""},
        "visible",
        [1, 2**64 - 1, 0, 16],  # the rest is zero
    )
    assert (found["v"].vec, found["v"].count) == (2, 2)
    assert found["v"].init == [0x3F800000, 0x40000000]
    assert found["p"].init == [InitSym("gv"), InitSym("gv", 4, True), InitSym("k")]
    assert found["bytes"].init == [InitSym("gv", 0, False, 0xFF), InitSym("gv", 0, True, 0xFF00), 44, 255]
    assert (found["a"].init, found["b"].init, found["c"].init) == ([0xFFFE], [1], None)
    assert (found["common"].linkage, found["common"].count) == ("common", 12)
    assert found["c"].line == 11


def test_functions() -> None:
    module = parse_module(
        "\n\n" + snippets.HEADER + ".visible .func helper() { ret; }\n.visible .func other();\n.alias other, helper;\n"
        ".extern .func (.param .b32 r) ext (.param .align 8 .b8 s[24], .reg .f32 x) .noreturn;\n"
        ".weak .entry e(.param .u64 .ptr .global .align 16 p,\n\t.param .align 4 .b8 q[12])\n"
        ".maxntid 128, 2 .minnctapersm 3\n.pragma \"nounroll\";\n{ ret; }\n\0\0"
    )  # fmt: skip
    ext, e = module.functions["ext"], module.functions["e"]
    assert (ext.kind, ext.linkage, ext.text, ext.proto.noreturn) == ("func", "extern", "", True)
    assert [(v.space, v.type, v.count, v.align) for v in ext.proto.params] == [
        ("param", "b8", 24, 8),
        ("reg", "f32", -1, 0),
    ]
    assert (e.kind, e.linkage, e.directives) == ("entry", "weak", {"maxntid": (128, 2), "minnctapersm": (3,)})
    assert e.pragmas == ["nounroll"]
    assert [(v.name, v.attrs, v.line) for v in e.proto.params] == [
        ("p", {"ptr": "global", "align": "16"}, 12),
        ("q", {}, 13),
    ]
    assert module.aliases == {"other": "helper"}
    assert (module.version, module.target) == ((9, 0), "sm_90a")
    assert len(parse_body(module, e).items) == 1


def test_names_with_unusual_characters() -> None:
    module = parse_module(
        snippets.HEADER + ".global .b32 $str$1;\n.visible .func $f_() { .reg .b32 %a$, _b; .reg .b64 %rd1<12>;\n"
        "mov.u64 %rd111, $str$1; mov.b32 %a$, _b; $L__1: bra $L__1; }\n"
    )
    assert len(parse_body(module, module.functions["$f_"]).items) == 7
