"""What PTX says of atomic operations on one location, in plain Python on bit patterns: the reference of
tests/lower."""

from __future__ import annotations

import struct

FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def bits_of(ptype: str) -> int:
    """Width of a scalar type, or of a pair (f16x2)."""
    element, pair, _ = ptype.partition("x2")
    return int(element.strip("bfsu")) * (2 if pair else 1)


def to_float(bits: int, ptype: str) -> float:
    if ptype == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return struct.unpack(FORMATS[ptype], bits.to_bytes(bits_of(ptype) // 8, "little"))[0]


def from_float(value: float, ptype: str) -> int:
    """The nearest value of a format, ties to even, as bits. `value` is exact in f64."""
    if ptype == "bf16":  # round to odd in f32 first, then to even
        single = struct.pack("<f", value)
        bits = struct.unpack("<I", single)[0]
        assert struct.unpack("<f", single)[0] == value, "not exact in f32"
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return int.from_bytes(struct.pack(FORMATS[ptype], value), "little")


def signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits


def apply(op: str, ptype: str, old: int, b: int, c: int = 0) -> int:
    """The new contents of a location that held `old`."""
    if ptype.endswith("x2"):
        low, high = (apply(op, ptype[:-2], old >> s & 0xFFFF, b >> s & 0xFFFF) for s in (0, 16))
        return low | high << 16
    width = bits_of(ptype)
    ones = (1 << width) - 1
    if "f" in ptype and op in ("add", "min", "max"):
        x, y = to_float(old, ptype), to_float(b, ptype)
        if op == "add":
            return from_float(x + y, ptype)
        return b if (y < x) == (op == "min") and x != y else old
    match op:
        case "add":
            return (old + b) & ones
        case "and":
            return old & b
        case "or":
            return old | b
        case "xor":
            return old ^ b
        case "exch":
            return b
        case "cas":
            return c if old == b else old
        case "inc":
            return 0 if old >= b else old + 1
        case "dec":
            return b if old == 0 or old > b else old - 1
        case "min" | "max":
            pick = min if op == "min" else max
            return pick(old, b, key=(lambda v: signed(v, width)) if ptype[0] == "s" else int)
    raise ValueError(op)
