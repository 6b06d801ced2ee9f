"""What is read without the grammar is what the grammar reads, and small kernels get by without Lark. Protects the short
cuts of ptx/plain.py: that they agree with the grammar wherever they answer, and that they do answer for nvcc's text."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx import grammar, plain
from ptx2amd.ptx.ast import Var
from ptx2amd.ptx.by_grammar import build

KERNEL = """//
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .global .align 4 .u32 total;

.visible .entry sum(
	.param .u64 .ptr .align 1 sum_param_0,
	.param .align 8 .b8 sum_param_1[16],
	.param .u32 sum_param_2
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<4>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<4>;

	ld.param.u64 	%rd1, [sum_param_0];
	ld.param.u32 	%r1, [sum_param_1+8];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r2, %tid.x;
	setp.ge.s32 	%p1, %r2, %r1;
	@%p1 bra 	$L__BB0_2;
	mul.wide.s32 	%rd3, %r2, 4;
	add.s64 	%rd2, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd2+-4];
	fma.rn.f32 	%f2, %f1, 0f40000000, %f1;
	mov.b32 	%r3, %f2;
	shfl.sync.down.b32 	%r4|%p2, %r3, 16, 31, -1;
	{ .reg .f16 low,high; mov.b32 {low,high}, %r4; mov.b32 %r5, {high,low}; }
	st.global.v2.u32 	[%rd2], {%r4, %r5};
	bar.sync 	0;
$L__BB0_2:
	ret;
}
"""
LINKAGE = ("", ".visible ", ".extern ", ".weak ", ".common ")
SPACES = (".reg ", ".global ", ".const ", ".local ", ".shared ", ".param ", ".tex ", ".sreg ")
ALIGN = ("", ".align 4 ", ".align 16 ", ".align 3 ", ".align 0 ", ".align 08 ", ".align 0x8 ")
VECTOR = ("", ".v2 ", ".v4 ", ".v8 ")
TYPES = (".pred ", ".b8 ", ".u64 ", ".b128 ", ".f16x2 ", ".f64 ", ".texref ", ".bf16 ", ".b12 ")
POINTERS = ("", ".ptr ", ".ptr .align 1 ", ".ptr .global ", ".ptr .shared .align 8 ", ".ptr .align 3 ", ".ptr .reg ")
QUALIFIERS = {
    "declaration": ["".join(parts) for parts in product(LINKAGE, SPACES, ALIGN, VECTOR, TYPES)],
    "parameter": ["".join(parts) for parts in product(SPACES, ALIGN, TYPES, POINTERS)],
}
HEADERS = {
    "version": (plain.version, (".version 8.0", ".version  7.8", ".version 8", ".version x.1", ".version 10.2")),
    "target_line": (plain.targets, (".target sm_80", ".target sm_90a, debug", ".target sm_80,", ".target 80")),
    "address_size": (plain.address_size, (".address_size 64", ".address_size 32", ".address_size 16")),
}


def by_grammar(qualifiers: str, start: str) -> Var | None:
    try:
        found = build(qualifiers + ("x;" if start == "declaration" else "x"), start)
    except PtxError:
        return None
    return found[0] if start == "declaration" else found


@pytest.mark.parametrize("start", QUALIFIERS)
def test_qualifiers_are_what_the_grammar_reads(start: str) -> None:
    answered = 0
    for qualifiers in QUALIFIERS[start][:: 7 if start == "declaration" else 1]:
        if (found := plain.declared(qualifiers, start)) is not None:
            answered += 1
            assert found == by_grammar(qualifiers, start), qualifiers
    assert answered > 100


@pytest.mark.parametrize("start", HEADERS)
def test_headers_are_what_the_grammar_reads(start: str) -> None:
    read, texts = HEADERS[start]
    for text in texts:
        if (found := read(text)) is not None:
            tree = [str(child) for child in grammar.parse(text, start).children]
            assert found == {"version": tuple(map(int, tree[0].split("."))) if start == "version" else None,
                             "target_line": tree, "address_size": tree[0]}[start]  # fmt: skip
    assert read(texts[0]) is not None


@pytest.mark.parametrize("text", ["!%p1", "%r1|%p2", "a|b", "%p1", "!%p1|%p2", "!5", "1|2", "!%p1.x", "%r1 | %p2"])
def test_operands_are_what_the_grammar_reads(text: str) -> None:
    found = plain.operand(text)
    assert found is None or found == build(text, "operand")


PARTS = ("x", "-x", "!x", "x|x", "{x, x}|x", "{x,x}", "{-x, x}", "[x]", "[x+4]", "[x+-4]", "[x, {x, x}]", "[x, x, {x}]",
         "(x)", "()", "(x, x)", "x+4", "[x,x]", "{}", "[x|x]", "x|{x}", "[-x]", "{x|x}", "--x", "x[x]")  # fmt: skip


@pytest.mark.parametrize("text", [".reg .f16 low,high;", ".reg .b32 a, b , %c;", ".reg .pred p;", ".reg .b32 a,;",
                                  ".reg .v2 .b32 a, b;", ".reg .u4 a, b;"])  # fmt: skip
def test_registers_are_what_the_grammar_reads(text: str) -> None:
    found = plain.registers(text, 1)
    assert found == build(text, "declaration") if found else text not in (".reg .f16 low,high;", ".reg .b32 a, b , %c;")


def test_layouts_are_right_to_the_grammar() -> None:
    """A layout that needs no look by the grammar is one that it takes, alone and beside others."""
    plainly = [part for part in PARTS if plain.layout(False, (part.replace("4", "x"),))]
    assert len(plainly) >= 12
    for parts in [*((part,) for part in plainly), *product(plainly, plainly[:4])]:
        grammar.parse(f"op.b32 {', '.join(parts)};", "item")
    for parts in product(("x", "(x)", "()", "(x, -x)"), repeat=3):
        if plain.layout(True, parts):
            grammar.parse(f"call.uni {', '.join(parts)};", "item")
    assert plain.layout(True, ("(x)", "x", "(x, x)")) and not plain.layout(True, ("x", "(x)", "(x)"))


def test_what_compilers_print_needs_no_lark() -> None:
    """A user's kernel as nvcc prints it, translated by a new process."""
    code = f"""
import sys
from ptx2amd.translate import translate
[result] = translate({KERNEL!r})
assert result.ok
assert "lark" not in sys.modules and "llvmlite" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
