"""Kernels made of rows: each thread applies every row's instruction to its own operands."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence

from ptx2amd.records import dataclass
from ptx2amd.selftest.case import Comparison, compare
from ptx2amd.selftest.gpu import Gpu, Number

#: Letter of struct -> PTX's type in registers and memory, bytes.
TYPES = {"H": "b16", "h": "b16", "e": "b16", "I": "b32", "i": "b32", "f": "f32", "Q": "b64", "q": "b64", "d": "f64"}
SIZES = {letter: struct.calcsize(letter) for letter in TYPES}
THREADS = 128  # at least two waves of 64 lanes, and four warps


@dataclass(frozen=True, slots=True)
class Row:
    """text: instructions with {d}, {a}, {b}, {c} for registers, {p}, {q} for predicates, {t}, {u} for 32-bit registers.
    types: of the result, ":", of the operands, as letters of struct. expect: computes the result from the operands;
    integers may have any number of bits. within: see `compare`."""

    text: str
    types: str
    expect: Callable[..., Number]
    within: float = 0

    @property
    def label(self) -> str:
        return self.text.replace("{", "").replace("}", "").rstrip("; ")

    @property
    def result(self) -> str:
        return self.types[0]

    @property
    def operands(self) -> str:
        return self.types[2:]


def inputs(letter: str, turn: int) -> list[Number]:
    """THREADS operands of a type: combinations of limits and special values, then arbitrary ones. turn: index of the
    operand."""
    state = 0x9E3779B97F4A7C15 * (turn + 1) & (1 << 64) - 1
    found: list[Number] = []
    edges = EDGES[letter]
    for n in range(THREADS):
        state = (state * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        if n < len(edges) * 2:
            found.append(edges[(n * (turn + 1) + n // len(edges) * turn) % len(edges)])
        else:
            found.append(_arbitrary(letter, state >> 11))
    return found


def _arbitrary(letter: str, bits: int) -> Number:
    if letter in "efd":
        scale = math.ldexp(1, bits % 13 - 6)
        number = ((bits >> 8) % 200001 - 100000) / 65536 * scale
        return float(struct.unpack(f"<{letter}", struct.pack(f"<{letter}", number))[0])
    width = 8 * SIZES[letter]
    value = bits * 0x2545F4914F6CDD1D >> 7 & (1 << width) - 1
    return signed(value, width) if letter.islower() else value


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 3.0, 1023.0, -7.75]
EDGES: dict[str, list[Number]] = {
    "H": [0, 1, 2, 0x7FFF, 0x8000, 0xFFFF, 17],
    "h": [0, 1, -1, 0x7FFF, -0x8000, 17],
    "I": [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xFF00FF00],
    "i": [0, 1, -1, 2, 31, 0x7FFFFFFF, -0x80000000, -0x7FFFFFFF, 1000, -17],
    "Q": [0, 1, 63, 64, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0],
    "q": [0, 1, -1, 1 << 32, (1 << 63) - 1, -(1 << 63), 10**12, -17],
    "e": [*_FLOATS, 65504.0, 2.0**-24, -(2.0**-15)],
    "f": [*_FLOATS, 3.4028234663852886e38, 2.0**-126, 2.0**-149, -(2.0**-140), 16777215.0, 2147483648.0],
    "d": [*_FLOATS, 1.7976931348623157e308, 2.0**-1022, 5e-324, 2.0**53 + 2, 1e300],
}


def module(rows: Sequence[Row]) -> str:
    """A module with the kernel `rows`, whose parameters are the buffers of the operand columns and of the results."""
    columns = sorted({(letter, place) for row in rows for place, letter in enumerate(row.operands)})
    lines = [
        f".visible .entry rows({', '.join(f'.param .u64 {_name(*c)}' for c in columns)}, .param .u64 out) {{",
        "  .reg .b64 %at, %out; .reg .b32 %n;",
        "  mov.u32 %n, %tid.x; ld.param.u64 %out, [out];",
    ]
    for letter, place in columns:
        register, kind = f"%{_name(letter, place)}", TYPES[letter]
        lines.append(
            f"  .reg .{kind} {register}; ld.param.u64 %at, [{_name(letter, place)}];"
            f" mad.wide.u32 %at, %n, {SIZES[letter]}, %at; ld.global.{kind} {register}, [%at];"
        )
    lines.append("  mad.wide.u32 %out, %n, 8, %out;")
    for number, row in enumerate(rows):
        kind = TYPES[row.result]
        names = {key: f"%{_name(letter, n)}" for n, (letter, key) in enumerate(zip(row.operands, "abc", strict=False))}
        text = row.text.format(d="%d", p="%p", q="%q", t="%t", u="%u", **names)
        lines.append(
            f"  {{ .reg .{kind} %d; .reg .pred %p, %q; .reg .b32 %t, %u; {text}"
            f" st.global.{kind} [%out+{number * 8 * THREADS}], %d; }}"
        )
    return "\n".join([*lines, "  ret; }", ""])


def _name(letter: str, place: int) -> str:
    return f"{'s' if letter.islower() else 'u'}{letter.lower()}{place}"


def run_rows(gpu: Gpu, rows: Sequence[Row]) -> Iterator[Comparison]:
    """One comparison for each row."""
    columns = sorted({(letter, place) for row in rows for place, letter in enumerate(row.operands)})
    out = gpu.room(8 * THREADS * len(rows))
    kernel = gpu.kernel(gpu.load_text(module(rows)), "rows")
    gpu.run(kernel, 1, THREADS, *(gpu.buffer(letter, inputs(letter, place)) for letter, place in columns), out)
    data = gpu.bytes(out)
    for number, row in enumerate(rows):
        size = SIZES[row.result]
        cells = (data[8 * n : 8 * n + size] for n in range(number * THREADS, (number + 1) * THREADS))
        got = [struct.unpack(f"<{row.result}", cell)[0] for cell in cells]
        operands = [inputs(letter, place) for place, letter in enumerate(row.operands)]
        if row.result.islower() or row.result in "efd":
            expected = [row.expect(*values) for values in zip(*operands, strict=True)]
        else:
            expected = [int(row.expect(*values)) for values in zip(*operands, strict=True)]
        yield compare(row.label, row.result, got, expected, row.within)
