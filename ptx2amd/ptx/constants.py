"""Literals and constant expressions: PTX text -> Imm. Integers are 64-bit and wrap, floats are doubles."""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Callable
from functools import lru_cache

from ptx2amd.ptx.ast import Imm
from ptx2amd.regex import regex

WARP_SIZE = Imm("s", 32)

_INT = regex(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?\Z", re.A)
_HEX = regex(r"0([fF])([0-9a-fA-F]{8})\Z|0([dD])([0-9a-fA-F]{16})\Z")


@lru_cache(maxsize=1 << 14)
def literal(text: str) -> Imm | None:
    """The Imm of one literal (an integer may carry a minus), or None when the text is none."""
    if _INT.match(text):
        try:
            return neg(integer(text[1:])) if text[0] == "-" else integer(text)
        except ValueError:  # too large: an error whose place the grammar knows
            return None
    found = _HEX.match(text)
    if found:
        return Imm("f32", int(found[2], 16)) if found[1] else Imm("f64", int(found[4], 16))
    return None


def integer(text: str) -> Imm:
    """`12`, `0x1f`, `017`, `0b101`, each perhaps with U."""
    unsigned = text[-1] == "U"
    digits = text.rstrip("U")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
    elif digits[:2] in ("0b", "0B"):
        value = int(digits, 2)
    else:
        value = int(digits, 8 if digits[0] == "0" else 10)
    value &= (1 << 64) - 1  # what does not fit wraps, as in ptxas
    return Imm("u" if unsigned or value >> 63 else "s", value)


def hex_float(text: str) -> Imm:
    return Imm("f32", int(text[2:], 16))


def hex_double(text: str) -> Imm:
    return Imm("f64", int(text[2:], 16))


def decimal(text: str) -> Imm:
    return _double(float(text))


def _double(value: float) -> Imm:
    return Imm("f64", struct.unpack("<Q", struct.pack("<d", value))[0])


def number(imm: Imm) -> float | int:
    """The value: an int, or a float for both float kinds."""
    if imm.kind == "f32":
        return float(struct.unpack("<f", struct.pack("<I", imm.bits))[0])
    if imm.kind == "f64":
        return float(struct.unpack("<d", struct.pack("<Q", imm.bits))[0])
    return imm.bits


def wrap(value: int, bits: int, signed: bool) -> int:
    """A value cut to a width."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def as_type(imm: Imm, ptx_type: str) -> Imm:
    """A constant as an operand of an instruction type: integers cut to its width, floats rounded to f32 or
    widened to f64."""
    kind, digits = ptx_type[:1], ptx_type[1:]
    if imm.kind in ("s", "u"):
        if kind in ("b", "s", "u") and digits.isdigit():
            return Imm(imm.kind, wrap(imm.bits, int(digits), imm.bits < 0))
        return imm
    if ptx_type == "f32" and imm.kind == "f64":
        return Imm("f32", float_bits(number(imm)))
    if ptx_type == "f64" and imm.kind == "f32":
        return _double(number(imm))
    return imm


def float_bits(value: float) -> int:
    """The bits of the nearest f32."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def _arithmetic(on_numbers: Callable[[float | int, float | int], float | int]) -> Callable[[Imm, Imm], Imm]:
    def apply(a: Imm, b: Imm) -> Imm:
        value = on_numbers(*_alike(a, b))
        if isinstance(value, float):
            return _double(value)
        unsigned = "u" in (a.kind, b.kind)
        return Imm("u" if unsigned else "s", wrap(value, 64, not unsigned))

    return apply


def _integers(on_ints: Callable[[int, int], int]) -> Callable[[Imm, Imm], Imm]:
    def apply(a: Imm, b: Imm) -> Imm:
        _whole(a, b)
        unsigned = "u" in (a.kind, b.kind)
        return Imm("u" if unsigned else "s", wrap(on_ints(a.bits, b.bits), 64, not unsigned))

    return apply


def _compare(test: Callable[[float | int, float | int], bool]) -> Callable[[Imm, Imm], Imm]:
    return lambda a, b: Imm("s", int(test(*_alike(a, b))))


def _logical(test: Callable[[int, int], bool]) -> Callable[[Imm, Imm], Imm]:
    return lambda a, b: Imm("s", int(test(*_whole(a, b))))


def _alike(a: Imm, b: Imm) -> tuple[float | int, float | int]:
    """The values of operands that must be of one kind."""
    if (a.kind[0] == "f") != (b.kind[0] == "f"):
        raise ValueError("integers and floating-point numbers are mixed in a constant expression")
    return number(a), number(b)


def _whole(*operands: Imm) -> list[int]:
    """The values of operands that must be integers."""
    if any(operand.kind[0] == "f" for operand in operands):
        raise ValueError("an integer is needed in this constant expression")
    return [operand.bits for operand in operands]


def _divide(a: float | int, b: float | int) -> float | int:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    if b == 0:
        raise ValueError("division by zero in a constant expression")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift(a: int, b: int, right: bool) -> int:
    if not 0 <= b < 64:
        raise ValueError(f"shift by {b} in a constant expression")
    return a >> b if right else a << b


def neg(a: Imm) -> Imm:
    if a.kind == "f32":
        raise ValueError("a hexadecimal floating-point constant takes no minus")
    return _double(-number(a)) if a.kind[0] == "f" else Imm(a.kind, wrap(-a.bits, 64, a.kind == "s"))


def choose(condition: Imm, yes: Imm, no: Imm) -> Imm:
    _whole(yes, no)
    return yes if _whole(condition)[0] else no


def cast(text: str, a: Imm) -> Imm:
    """`(.s64) a` and `(.u64) a`."""
    signed = "s64" in text
    return Imm("s" if signed else "u", wrap(int(number(a)), 64, signed))


# rule of grammar/ptx.lark -> function on Imms
OPERATORS: dict[str, Callable[..., Imm]] = {
    "add": _arithmetic(operator.add),
    "sub": _arithmetic(operator.sub),
    "mul": _arithmetic(operator.mul),
    "div": _arithmetic(_divide),
    "rem": _integers(lambda a, b: a - b * int(_divide(a, b))),
    "shl": _integers(lambda a, b: _shift(a, b, False)),
    "shr": _integers(lambda a, b: _shift(a, b, True)),
    "and_": _integers(operator.and_),
    "or_": _integers(operator.or_),
    "xor": _integers(operator.xor),
    "lt": _compare(operator.lt),
    "gt": _compare(operator.gt),
    "le": _compare(operator.le),
    "ge": _compare(operator.ge),
    "eq": _compare(operator.eq),
    "ne": _compare(operator.ne),
    "log_and": _logical(lambda a, b: bool(a) and bool(b)),
    "log_or": _logical(lambda a, b: bool(a) or bool(b)),
    "pos": lambda a: a,
    "neg": neg,
    "inv": lambda a: _integers(lambda x, _: ~x)(a, a),
    "not_": lambda a: Imm("s", int(not _whole(a)[0])),
    "choose": choose,
    "cast": cast,
}
