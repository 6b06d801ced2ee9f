"""Bad PTX: the error names the place and says what was found and what was expected."""

from __future__ import annotations

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.parse import parse_body, parse_module

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"  # three lines
BODY = HEADER + (
    ".global .b32 g[4];\n"
    ".func (.param .b32 r0) callee (.param .b32 p0);\n"
    ".visible .entry k(.param .u64 a)\n{\n"  # line 7 is the brace
    "\t.reg .pred %p<4>;\n\t.reg .b32 %r<9>;\n\t.reg .f32 %f<9>;\n\t.reg .b64 %rd<9>;\n"
)  # statements begin in line 12

# statement(s) from line 12 on, line, column, part of the message
STATEMENTS = [
    ("\tadd.s32 %r1, %r2 %r3;", 12, 19, "found '%r3', expected '+', ',', ';'"),
    ("\tadd.s32 %r1, %r2,;", 12, 19, "found ';', expected"),
    ("\tadd.s32 %r1, , %r2;", 12, 15, "found ',', expected"),
    ("\tadd.s32 %r1, %r2, 089;", 12, 20, "found '089', expected"),
    ("\tadd.s32 %r1, %r2, 0f3f8000;", 12, 20, "found '0f3f8000'"),
    ("\tadd.s32 %r1, %r2, 0x;", 12, 20, "found '0x'"),
    ("\tadd.s32 %r1, %r2, 'a';", 12, 20, "found ''a', expected"),
    ("\tadd.s32 %r1, %r2, 3 +;", 12, 23, "found ';', expected"),
    ("\tld.global.b32 %r1, [%rd1;", 12, 26, "found ';', expected"),
    ("\tld.global.b32 %r1, [%rd1-4];", 12, 26, "found '-'"),
    ("\tld.global.v2.b32 {%r1, %r2, [%rd1];", 12, 36, "found ';', expected"),
    ("\t;", 12, 2, "found ';', expected"),
    ("\tret;\n\tfoo.s32 %r1, %r2;", 13, 2, "unknown instruction 'foo'"),
    ("\tadsd.s32 %r1, %r2, %r3;", 12, 2, "did you mean 'add'?"),
    ("\tadd.s33 %r1, %r2, %r3;", 12, 2, "modifier '.s33' is not allowed in 'add'; expected .s32"),
    ("\tadd.rn.s32 %r1, %r2, %r3;", 12, 2, "modifier '.s32' of 'add.rn.s32' does not go with the others"),
    ("\tadd %r1, %r2, %r3;", 12, 2, "'add' is incomplete; expected one of"),
    ("\tadd.s32 %r1, %r2;", 12, 2, "'add.s32' takes 3 operands (d:t, a:t, b:t), 2 given"),
    ("\tadd.s32 %r1, %r2, %r3, %r4;", 12, 2, "takes 3 operands"),
    ("\tadd.s32 %r1, %r2, [%rd1];", 12, 20, "operand 3 of 'add.s32' (b) must be"),
    ("\tadd.s32 1, %r2, %r3;", 12, 10, "operand 1 of 'add.s32' (d) must be"),
    ("\tadd.s32 %r1, %f2, %r3;", 12, 15, "(a) must be of type .s32, found a .f32 register"),
    ("\tadd.s32 %r1, %r2, %rd3;", 12, 20, "must be of type .s32, found a .b64 register"),
    ("\tadd.f32 %f1, %f2, 1;", 12, 20, "(b) must be a f32 register or constant, found integer constant 1"),
    ("\tadd.s32 %r1, %r2, 1.5;", 12, 20, "found floating-point constant"),
    ("\tadd.s32 %r1, %r2, %tid.x;", 12, 20, "only mov and cvt read them"),
    ("\tmov.u32 %tid.x, 7;", 12, 10, "must not be a special register: these are read only"),
    ("\tadd.s32 _, %r2, %r3;", 12, 10, "must not be discarded"),
    ("\tadd.s32 %r1, %r2, %r9;", 12, 20, "'%r9' is not declared"),
    ("\tadd.s32 %r1, %r2, g;", 12, 20, "found symbol g"),
    ("\tadd.s32 %r1, !%r2, %r3;", 12, 16, "only a predicate can be negated"),
    ("\tadd.s32 %r1, -%r2, %r3;", 12, 15, "found negated register %r2"),
    ("\tmov.u32 %r1, %tid.q;", 12, 19, "found '.q'"),
    ("\tmov.u64 %rd1, nothing;", 12, 16, "is not declared"),
    ("\tmov.u64 %rd1, %f2+4;", 12, 16, "is no symbol"),
    ("\tld.shared.b32 %r1, [g];", 12, 21, "is a variable in .global, not in .shared"),
    ("\tld.global.b32 %r1, [%f1];", 12, 21, "needs an integer register as address"),
    ("\tld.global.b32 %r1, [%r1];", 12, 21, "needs a 64-bit register"),
    ("\tld.global.b32 %r1, %rd1;", 12, 21, "must be an address in brackets, found register %rd1"),
    ("\tld.global.v4.b32 {%r1,%r2}, [%rd1];", 12, 19, "a brace list that fits the vector size"),
    ("\tld.global.v2.b32 {%r1,%rd2}, [%rd1];", 12, 19, "registers of different widths (b32, b64)"),
    ("\t@%r1 ret;", 12, 3, "'%r1' is not a predicate"),
    ("\t@%q1 ret;", 12, 3, "'%q1' is not declared"),
    ("\tbra nowhere;", 12, 6, "'nowhere' is not declared"),
    ("\tbra g;", 12, 6, "must be a label"),
    ("\t{\nL1:\n\tret;\n\t}\n\tbra L1;", 16, 6, "'L1' is not declared"),
    ("L1:\n\tret;\nL1:", 14, 1, "label 'L1' is declared twice"),
    ("\t.reg .b32 %r3;", 12, 12, "'%r3' is declared twice"),
    ("\t.reg .b32 x, x;", 12, 12, "'x' is declared twice"),
    ("\t.reg .b33 x;", 12, 7, "found '.b33', expected"),
    ("\t.reg .b32 x", 13, 1, "found '}'"),
    ("\t.shared .b32 s[];", 12, 15, "'s' has no size"),
    ("\t.local .b32 s[2] = {1, 2};", 12, 2, "no initial value is allowed in state space .local"),
    ("\tcall (%r1), callee, (%r2, %r3);", 12, 14, "'callee' has 1 argument, the call has 2"),
    ("\tcall callee, (%r2);", 12, 7, "'callee' has 1 result, the call has 0"),
    ("\tcall unknown, (%r2);", 12, 7, "is not declared"),
    ("\tcall (%r1) callee, (%r2);", 12, 13, "found 'callee', expected ','"),
    ("\tbrx.idx %r1, L1;\nL1:", 12, 15, "must be a list declared with .branchtargets"),
    ("\tmov.u32 %r1, 1;  mov.u32 %r2, %f1;", 12, 32, "found a .f32 register"),
    ("\t{ .reg .f32 t; mov.u32 %r1, t; }", 12, 30, "found a .f32 register"),
    ("\t/* comment\n over lines */ mov.u32 %r1, %f1;", 13, 29, "found a .f32 register"),
    ("\tmov.u32 %r1,\n\t\t%f1;", 13, 3, "found a .f32 register"),
    ("\tadd.s32 %r1, %r2, 1/0;", 12, 20, "division by zero"),
    ("\t.loc 1 2", 13, 1, "found '}'"),
    ("\t.pragma nounroll;", 12, 10, "found 'nounroll', expected a string"),
    ("\t%r1 = add;", 12, 2, "found '%r1', expected"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), STATEMENTS, ids=[s[0].strip()[:40] for s in STATEMENTS])
def test_statement(text: str, line: int, column: int, message: str) -> None:
    module = parse_module(BODY + text + "\n}\n", "bad.ptx")
    with pytest.raises(PtxError) as caught:
        parse_body(module, module.functions["k"])
    error = caught.value
    assert message in error.message
    assert (error.source, error.line, error.column) == ("bad.ptx", line, column)
    assert str(error).startswith(f"bad.ptx:{line}:{column}: error: ")


MODULES = [
    ("", 1, 1, "a module begins with .version"),
    ("\n\n.target sm_80\n", 3, 1, "a module begins with .version"),
    (".version 9\n.target sm_80\n", 1, 10, "found '9', expected a version (MAJOR.MINOR)"),
    (".version 9.0\n.address_size 64\n", 2, 1, "expected .target"),
    (HEADER + ".version 9.0\n", 4, 1, "may only stand at the beginning"),
    (HEADER.replace("64", "48"), 3, 1, "address size 48"),
    (HEADER + "foo\n", 4, 1, "found 'foo', expected a directive"),
    (HEADER + ".global .b32 x[2] = {1, 2, 3};\n", 4, 1, "'x': 3 initial values for 2 elements"),
    (HEADER + ".global .b32 x[2] = {1, };\n", 4, 25, "found '}', expected"),
    (HEADER + ".global .b32 x = {1};\n", 4, 1, "more braces than dimensions"),
    (HEADER + ".global .b32 x[2] = 1;\n", 4, 1, "needs braces"),
    (HEADER + ".global .f32 x = 1;\n", 4, 1, "integer as initial value of type .f32"),
    (HEADER + ".global .u32 x = 1.0;\n", 4, 1, "floating-point initial value"),
    (HEADER + ".global .align 3 .b32 x;\n", 4, 1, "alignment 3 is not a power of two"),
    (HEADER + ".global .b32 x;\n.global .b32 x;\n", 5, 1, "'x' is declared twice"),
    (HEADER + ".shared .b32 x = 1;\n", 4, 1, "no initial value is allowed in state space .shared"),
    (HEADER + ".shared .b32 x[];\n", 4, 1, "has no size"),
    (HEADER + ".local .b32 x;\n", 4, 1, "where .local has no place"),
    (HEADER + ".global .pred x;\n", 4, 1, "a predicate, which must be a register"),
    (HEADER + ".global .b32 x\n", 4, 1, "found '.global', expected a directive"),
    (HEADER + ".entry k(.param .b32 a,) { ret; }\n", 4, 24, "found ')'"),
    (HEADER + ".entry k(.param .b33 a) { ret; }\n", 4, 17, "found '.b33', expected"),
    (HEADER + ".entry k(.reg .b32 a) { ret; }\n", 4, 1, "must be in .param"),
    (HEADER + ".entry k() .maxntid { ret; }\n", 4, 20, "expected an integer"),
    (HEADER + ".func f() { ret; }\n.func f() { ret; }\n", 5, 1, "'f' is declared twice"),
    (HEADER + ".func f();\n.entry f() { ret; }\n", 5, 1, "'f' was declared as .func"),
    (HEADER + ".alias a, b;\n", 4, 1, "'a' is not declared as a function"),
    (HEADER + ".section .debug_str { .b8 1,,2 }\n", 4, 29, "found ','"),
    (HEADER + "}\n", 4, 1, "found '}', expected a directive"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), MODULES, ids=[m[0][-40:].strip() for m in MODULES])
def test_module(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        parse_module(text, "bad.ptx")
    error = caught.value
    assert message in error.message
    assert (error.line, error.column) == (line, column)


def test_bad_kernel_does_not_lose_the_others() -> None:
    """Unknown instructions, braces that don't pair and missing ends stay within their function."""
    bad = {
        "bad": "{ frobnicate; }",
        "worse": "{ mov.u32 %r1, {{; }",
        "open": "{ ret;",
        "shut": "{ ret; } }",
        "empty": "{",
    }
    module = parse_module(
        HEADER + "".join(f".entry {n}()\n{b}\n.entry good_{n}() {{ ret; }}\n" for n, b in bad.items())
    )
    for name in bad:
        assert len(parse_body(module, module.functions[f"good_{name}"]).items) == 1
        with pytest.raises(PtxError) as caught:
            parse_body(module, module.functions[name])
        assert caught.value.line >= module.functions[name].line
    with pytest.raises(PtxError, match="expected '}'"):
        module = parse_module(HEADER + ".entry k() {\n ret;\n")
        parse_body(module, module.functions["k"])
    with pytest.raises(PtxError, match="has no body"):
        parse_body(*(lambda m: (m, m.functions["f"]))(parse_module(HEADER + ".func f();")))


ENTRY = HEADER + ".visible .entry k() {{ {} ret; }}\n"
TOO_MUCH = {  # what has no end in sight: an error with its place, in no time
    "initial values": HEADER + f".global .u32 g[1] = {'{' * 5000}1{'}' * 5000};\n",
    "an initial sum": HEADER + f".global .u32 g = {'1+' * 5000}1;\n",
    "choices": ENTRY.format(f".reg .u32 r; mov.u32 r, {'1?2:' * 5000}3;"),
    "signs": ENTRY.format(f".reg .u32 r; mov.u32 r, {'-' * 5000}1;"),
    "lists": ENTRY.format(f".reg .u32 r; mov.u32 r, {'{' * 5000}1{'}' * 5000};"),
    "scopes": ENTRY.format("{" * 100_000 + "}" * 100_000),
    "alignment": HEADER + ".global .align 9223372036854775808 .b32 x;\n",
    "alignment of a parameter": HEADER + ".entry k(.param .align 2147483648 .b32 x) { ret; }\n",
    "elements": HEADER + ".global .b64 x[4294967296][4294967296] = {{1}};\n",
    "zeros between values": HEADER + ".global .b8 x[2][4294967296] = {{1}, {2}};\n",
    "elements of a parameter": HEADER + ".entry k(.param .b8 x[9223372036854775808]) { ret; }\n",
    "elements of a function's parameter": HEADER + ".func f(.param .b8 x[9223372036854775808]) { ret; }\n",
    "local elements": ENTRY.format(".local .b8 x[9223372036854775808];"),
    "parameters": HEADER + ".entry k(.param .b8 x[32765]) { ret; }\n",
    "registers": ENTRY.format(".reg .b32 r<9223372036854775807>;"),
    "digits": ENTRY.format(f".reg .u32 r; mov.u32 r, {'1' * 5000};"),
    "digits of a version": f".version {'9' * 5000}.0\n.target sm_80\n{{\n",
    "textures in registers": ENTRY.format(".reg .texref s<4>;"),
}


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much(text: str) -> None:
    with pytest.raises(PtxError) as caught:
        module = parse_module(text, "bad.ptx")
        parse_body(module, module.functions["k"])
    assert caught.value.line >= 1 and caught.value.column >= 1 and len(caught.value.message) < 200
