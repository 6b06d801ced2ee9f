"""Every form of constant, alone and in expressions."""

from __future__ import annotations

import struct

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Imm, Inst
from ptx2amd.ptx.by_grammar import build
from ptx2amd.ptx.constants import as_type, literal
from ptx2amd.ptx.parse import parse_body, parse_module


def double(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


LITERALS = [
    ("0", "s", 0),
    ("42", "s", 42),
    ("42U", "u", 42),
    ("18446744073709551616", "s", 0),  # more than 64 bits wrap
    ("0x1FFFFFFFFFFFFFFF5", "u", 0xFFFFFFFFFFFFFFF5),
    ("0x1F", "s", 31),
    ("0X1fU", "u", 31),
    ("017", "s", 15),
    ("0b1011", "s", 11),
    ("0B11U", "u", 3),
    ("9223372036854775807", "s", 2**63 - 1),
    ("9223372036854775808", "u", 2**63),
    ("0xffffffffffffffff", "u", 2**64 - 1),
    ("0f3F800000", "f32", 0x3F800000),
    ("0F7fc00000", "f32", 0x7FC00000),
    ("0d3FF8000000000000", "f64", 0x3FF8000000000000),
    ("0DFFF0000000000000", "f64", 0xFFF0000000000000),
    ("1.5", "f64", double(1.5)),
    ("1.", "f64", double(1)),
    (".25", "f64", double(0.25)),
    ("1e3", "f64", double(1e3)),
    ("2.5E-3", "f64", double(2.5e-3)),
    ("WARP_SZ", "s", 32),
]
EXPRESSIONS = [
    ("-7", "s", -7),
    ("+7", "s", 7),
    ("~5", "s", -6),
    ("!5", "s", 0),
    ("!0", "s", 1),
    ("1+2*3", "s", 7),
    ("(1+2)*3", "s", 9),
    ("7-2-1", "s", 4),
    ("-7/2", "s", -3),
    ("-7%3", "s", -1),
    ("7%3", "s", 1),
    ("1<<4|3", "s", 19),
    ("0xF0&0x3C^1", "s", 0x31),
    ("1 < 2", "s", 1),
    ("3 <= 2", "s", 0),
    ("4 == 4 && 1 != 2", "s", 1),
    ("0 || 0", "s", 0),
    ("5 > 3 ? 7 : 9", "s", 7),
    ("0 ? 1 : 0 ? 2 : 3", "s", 3),
    ("WARP_SZ-1", "s", 31),
    ("(.u64)-1", "u", 2**64 - 1),
    ("(.s64)0xffffffffffffffff", "s", -1),
    ("1U-2", "u", 2**64 - 1),
    ("0x7fffffffffffffff+1", "s", -(2**63)),
    ("-8>>1", "s", -4),
    ("1.0+2.5", "f64", double(3.5)),
    ("-1.5", "f64", double(-1.5)),
    ("1.0 < 2.0", "s", 1),
]


@pytest.mark.parametrize(("text", "kind", "bits"), LITERALS + EXPRESSIONS)
def test_constant(text: str, kind: str, bits: int) -> None:
    assert build(text, "operand") == Imm(kind, bits)


@pytest.mark.parametrize(("text", "kind", "bits"), [row for row in LITERALS if row[0][0] != "." and "." not in row[0]])
def test_quick_literals_agree(text: str, kind: str, bits: int) -> None:
    """The regular expressions of the quick way know a literal as the grammar does, or leave it to it."""
    assert literal(text) in (None, Imm(kind, bits))


NO_CONSTANTS = (
    *("089", "0x", "0b2", "1u", "1.5f", "0f3f80", "0d3f800000", "0f3f8000000", "1e", "'a'", "1 +", "1/0", "1%0"),
    *("1<<64", "1.5|2", "-0f3f800000"),
)


@pytest.mark.parametrize("text", NO_CONSTANTS)
def test_no_constant(text: str) -> None:
    with pytest.raises(PtxError):
        build(text, "operand")


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("mov.u32 %r1, 4294967297;", Imm("s", 1)),
        ("mov.u32 %r1, -1;", Imm("s", -1)),
        ("mov.u16 %h1, 70000;", Imm("s", 4464)),
        ("add.f32 %f1, %f1, 1.5;", Imm("f32", 0x3FC00000)),
        ("add.f64 %d1, %d1, 0f3fc00000;", Imm("f64", double(1.5))),
        ("add.s32 %r1, %r1, WARP_SZ;", Imm("s", 32)),
        ("add.s32 %r1, %r1, (2+3)*4;", Imm("s", 20)),
        ("mov.b32 %r1, 0f3f800000;", Imm("f32", 0x3F800000)),
    ],
)
def test_constants_take_the_operand_type(statement: str, value: Imm) -> None:
    """Integers are cut to the width of the operand, decimal floats rounded to f32."""
    text = (
        ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 %r<2>; .reg .b16 %h<2>;"
        f" .reg .f32 %f<2>; .reg .f64 %d<2>;\n{statement} }}"
    )
    module = parse_module(text)
    inst = parse_body(module, module.functions["k"]).items[-1]
    assert isinstance(inst, Inst)
    assert inst.operands[-1] == value


def test_rounding_to_f32() -> None:
    assert as_type(Imm("f64", double(0.1)), "f32").bits == 0x3DCCCCCD
    assert as_type(Imm("f64", double(1e300)), "f32").bits == 0x7F800000
    assert as_type(Imm("f64", double(-1e300)), "f32").bits == 0xFF800000
