"""The check of whole modules finds what parsing each body finds, though it parses each statement once; errors go on
after the first; and its cost a line is a part of parsing's."""

from __future__ import annotations

import dataclasses
import random
import re

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.lower.core.limits import oversized
from ptx2amd.ptx.ast import Module
from ptx2amd.ptx.condense import Condenser, _below
from ptx2amd.ptx.parse import parse_body, parse_module
from ptx2amd.ptx.verify import MOST, characters, problems, undefined, unresolved
from tests import oracle

HEAD = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
"""
STATEMENTS = (
    "add.s32 %r1, %r2, %r3;",
    "mul.wide.u32 %rd1, %r4, 4;",
    "ld.global.v2.f32 {%f1, %f2}, [%rd3+8];",
    "mov.u32 %r1, %tid.x;",
    "@%p1 st.shared.f32 [%r1], %f3;",
    "setp.lt.u32 %p1, %r1, 7;",
    "selp.f32 %f1, %f2, 0f3F800000, !%p2;",
    "bra.uni $L1;",
    "{\n.reg .b32 t;\nmov.b32 t, %r1;\nadd.s32 %r2, t, 1;\n}",
    ".loc 1 7 3",
    "call (q), vprintf,\n(\nx,\nx\n);",
    "fma.rn.f32 %f1, %f2, %f3, %f4;",
    "mov.b64 %rd1, x;",
    "@!%p1 bra $L1;",
    "cvt.rn.f32.s32 %f1, %r5;",
    "ret;",
)


def function(name: str, draw: random.Random, count: int) -> str:
    """A body as compilers lay it out, with statements in any order and any registers."""
    lines = [".reg .pred %p<4>;", ".reg .b32 %r<300>;", ".reg .f32 %f<20>;", ".reg .b64 %rd<9>;"]
    lines += [".param .b64 x;", ".param .b32 q;"]
    for _ in range(count):
        text = draw.choice(STATEMENTS)
        lines.append(re.sub(r"%r\d+", lambda _: f"%r{draw.randrange(300)}", text))
    body = "\n".join(f"\t{line}" for line in "\n".join([*lines, "$L1:", "ret;"]).split("\n"))
    return f".visible .entry {name}()\n{{\n{body}\n}}\n"


def first_error(module: Module) -> PtxError | None:
    for f in module.functions.values():
        try:
            if f.text:
                parse_body(module, f)
        except PtxError as error:
            return error
    return None


@pytest.mark.parametrize("seed", range(5))
def test_the_same_verdicts(seed: int) -> None:
    """On sound modules, and on modules with one token of a body changed: no error that parsing would not find, and
    each error that it finds, at its place."""
    draw = random.Random(seed)
    wrong = 0
    for _ in range(60):
        text = HEAD + function("a", draw, 60) + function("b", draw, 60)
        tokens = re.findall(r"\s+|[%$.\w]+|.", text)
        if draw.random() < 0.9:
            at = draw.randrange(len(tokens) // 3, len(tokens))
            tokens[at] = draw.choice([*tokens[-200:], "%r300", "%r299", "%f20", "%q1", "", "add.s33", "{", "}"])
        text = "".join(tokens)
        try:
            found = problems(parse_module(text))
        except PtxError:
            continue
        expected = first_error(parse_module(text))
        assert (found[0].args if found else None) == (expected.args if expected else None), text
        wrong += bool(found)
    assert 10 < wrong < 55


def test_each_statement_is_left_once() -> None:
    text = function("k", random.Random(1), 2000)
    body = text[text.index("{") :]
    left = [line for line in Condenser().condensed(body).split("\n") if line.strip()]
    assert 30 < len(left) < body.count("\n") / 3 and left[-1] == "}"
    condenser = Condenser()
    condenser.condensed(body)
    condenser.right()
    assert len([line for line in condenser.condensed(body).split("\n") if line.strip()]) < len(left)
    out = body.replace("%r299", "%r300")
    assert "%r300" in Condenser().condensed(out)


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11, 20, 99, 100, 101, 297, 1000, 1001])
def test_numbers_below(count: int) -> None:
    pattern = re.compile(rf"(?:{_below(count)})\Z")
    assert [n for n in range(1200) if pattern.match(str(n))] == list(range(min(count, 1200)))
    assert not pattern.match("00") and not pattern.match("01")


def test_errors_go_on() -> None:
    body = "{\n.reg .b32 %r<4>;\nfoo %r1;\nadd.s32 %r1, %r2;\n{\n mov.b32 %r1, %r9;\n}\nbra nowhere;\n.reg .b33 x;\n"
    body += "ret;\n}\n"
    found = problems(parse_module(f"{HEAD}.entry k()\n{body}.func f()\n{body}"))
    lines = [error.line for error in found]
    assert lines == [8, 9, 11, 14, 13, 20, 21, 23, 26, 25], found  # names that are never declared come last
    many = problems(parse_module(HEAD + ".entry k() { " + "foo;\n" * 1000 + "}"))
    assert len(many) == MOST and (many[-1].line, many[-1].column) == (5 + MOST - 1, 1)


def test_what_others_have_to_define() -> None:
    text = (
        ".extern .func used(); .extern .func unused(); .extern .func held();\n"
        ".extern .global .b32 v[]; .extern .shared .b8 s[]; .global .u64 p = held;\n"
        ".entry k() { .param .b64 a; .param .b32 b; call used, (); call (b), vprintf, (a, a); ret; }\n"
    )
    module = parse_module(HEAD + text)
    assert [name for _, name, _ in undefined(module)] == ["v", "used", "held"]
    assert [error.line for error in unresolved(module)] == [6, 5, 5]
    defined = dataclasses.replace(parse_module(HEAD), variables={})
    assert list(undefined(defined)) == []


def test_characters() -> None:
    assert characters(HEAD, "m") == []
    [error] = characters(HEAD + "// 20 \u00b0C\n", "m")
    assert (error.line, error.column) == (5, 7) and "\\xb0" in error.message
    [error] = characters(".version\0 8.0", "m")
    assert (error.line, error.column) == (1, 9)


STORE = "st.shared.u32 [{}], 1; ret;"
LIMITS = {  # whether ptxas takes it for sm_80
    ".entry k() { .shared .b8 a[49152]; ret; }": True,
    ".entry k() { .shared .b8 a[49153]; ret; }": False,
    f".shared .b8 a[49153]; .entry k() {{ {STORE.format('a')} }}": False,
    f".shared .b8 a[30000]; .shared .b8 b[30000]; .entry j() {{ {STORE.format('a')} }} "
    f".entry k() {{ {STORE.format('b')} }}": True,
    f".shared .b8 a[60000]; .func f() {{ {STORE.format('a')} }} .entry k() {{ .shared .b8 b[49152]; ret; }}": True,
    f".shared .b8 a[30000]; .func f() {{ {STORE.format('a')} }} "
    ".entry k() { .shared .b8 b[30000]; call f; ret; }": False,
    f".extern .shared .b8 d[]; .entry k() {{ .shared .align 16 .b8 a[49152]; {STORE.format('d')} }}": True,
    ".entry k() { { .shared .b8 a[30000]; } { .shared .b8 a[30000]; } ret; }": False,
    ".const .b8 a[40000]; .const .b8 b[25536];": True,
    ".const .b8 a[40000]; .const .b8 b[25537];": False,
}  # fmt: skip


@pytest.mark.parametrize(("text", "taken"), LIMITS.items())
def test_limits_of_memory(text: str, taken: bool) -> None:
    assert (not list(oversized(parse_module(HEAD + text)))) == taken


@pytest.mark.slow
@pytest.mark.parametrize(("text", "taken"), LIMITS.items())
def test_ptxas_has_these_limits(text: str, taken: bool) -> None:
    assert oracle.run(HEAD + text, "sm_80", whole=True)[0] == taken
