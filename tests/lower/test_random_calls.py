"""Random functions that call each other: parameters and results of all kinds (scalars of 8 to 64 bits, structures by
value with any alignment, registers of the old convention), read and written in pieces of other widths, called by name,
through pointers, recursively and by a part of the threads. An interpreter in Python says what each thread gets."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import pytest

from tests import oracle
from tests.lower.device import MAPPINGS, program

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
THREADS = 64
MASK = (1 << 64) - 1
FACTOR = 6364136223846793005
DEPTH = 3  # calls within calls
SCALARS = ("b8", "b16", *(f"{letter}{bits}" for letter in "busf" for bits in (32, 64)))


@dataclass(frozen=True)
class Piece:
    """`count` neighbouring elements of a parameter, accessed as one: each `width` bytes, in registers of `bits`."""

    offset: int
    width: int
    count: int
    bits: int
    signed: bool


@dataclass(frozen=True)
class Param:
    """A parameter: `.type name`, or where `size` is not 0 `.align n .b8 name[size]`."""

    type: str
    align: int
    size: int
    reads: tuple[Piece, ...]
    writes: tuple[Piece, ...]

    @property
    def bytes(self) -> int:
        return self.size or int(self.type[1:]) // 8

    def declare(self, name: str, space: str = ".param") -> str:
        array = f"{space} .align {self.align} .b8 {name}[{self.size}]"
        return array if self.size else f"{space} .{self.type} {name}"


@dataclass(frozen=True)
class Function:
    """Two functions of one signature, `f<n>` and `g<n>`, which differ in a constant. `calls`: what they call where
    bit `bit` of the accumulator is set."""

    params: tuple[Param, ...]
    result: Param | None
    calls: tuple[tuple[int, int, str], ...]  # number, bit, how: "name", "pointer", "table"
    old: bool  # parameters in registers


def pieces(draw: random.Random, size: int, align: int, whole: bool) -> tuple[Piece, ...]:
    """Accesses that cover the bytes of a parameter once, aligned as they must be."""
    found, at = [], 0
    while at < size:
        fits = [
            (width, count)
            for width in (1, 2, 4, 8)
            for count in (1, 2, 4)
            if width * count <= min(align, 16) and at % (width * count) == 0 and at + width * count <= size
        ]
        width, count = (size, 1) if whole else draw.choice(fits)
        bits = draw.choice([n for n in (16, 32, 64) if n >= 8 * width])
        found.append(Piece(at, width, count, bits, draw.random() < 0.4))
        at += width * count
    return tuple(found)


def parameter(draw: random.Random, old: bool) -> Param:
    if old:
        ptype = draw.choice(("b32", "u64", "s32", "b64"))
    elif draw.random() < 0.5:
        align = draw.choice((1, 2, 4, 8, 16))
        size = draw.randrange(1, 41)
        return Param("", align, size, pieces(draw, size, align, False), pieces(draw, size, align, False))
    else:
        ptype = draw.choice(SCALARS)
    n = int(ptype[1:]) // 8
    return Param(ptype, n, 0, pieces(draw, n, n, True), pieces(draw, n, n, True))


def generate(seed: int) -> list[Function]:
    draw = random.Random(seed)
    found = []
    count = draw.randrange(2, 6)
    for n in range(count):
        old = draw.random() < 0.15
        params = tuple(parameter(draw, old) for _ in range(draw.randrange(5)))
        result = parameter(draw, old) if draw.random() < 0.8 else None
        targets = [draw.randrange(n, count) for _ in range(draw.randrange(3))] if n else [1, count - 1]
        calls = tuple((t, draw.randrange(64), draw.choice(("name", "pointer", "table"))) for t in targets)
        found.append(Function(params, result, calls, old))
    return found


# --- PTX ---


def stores(param: Param, name: str, salt: int) -> list[str]:
    """Fill a .param variable from the accumulator."""
    lines = []
    for piece in param.writes:
        registers = []
        for k in range(piece.count):
            registers.append(f"%w{piece.bits}_{k}")
            lines.append(f"mad.lo.u64 %acc, %acc, {FACTOR}, {salt + piece.offset + k};")
            lines.append(f"shr.u64 %v, %acc, 17; cvt.u{piece.bits}.u64 {registers[-1]}, %v;")
        value = registers[0] if piece.count == 1 else "{" + ", ".join(registers) + "}"
        vector = f".v{piece.count}" if piece.count > 1 else ""
        lines.append(f"st.param{vector}.b{8 * piece.width} [{name}+{piece.offset}], {value};")
    return lines


def loads(param: Param, name: str) -> list[str]:
    """Mix a .param variable into the accumulator."""
    lines = []
    for piece in param.reads:
        registers = [f"%w{piece.bits}_{k}" for k in range(piece.count)]
        value = registers[0] if piece.count == 1 else "{" + ", ".join(registers) + "}"
        vector = f".v{piece.count}" if piece.count > 1 else ""
        letter = "s" if piece.signed else "u"
        lines.append(f"ld.param{vector}.{letter}{8 * piece.width} {value}, [{name}+{piece.offset}];")
        for register in registers:
            lines.append(f"cvt.u64.u{piece.bits} %v, {register}; mad.lo.u64 %acc, %acc, {FACTOR}, %v;")
    return lines


def call(functions: list[Function], number: int, how: str, at: int) -> list[str]:
    """A call with arguments made from the accumulator, whose result goes back into it; `at` tells call sites apart."""
    callee = functions[number]
    lines = ["{"]
    arguments = ["%deeper"]
    if callee.old:
        for i, param in enumerate(callee.params):
            lines.append(f".reg .{param.type} %o{i}; mad.lo.u64 %acc, %acc, {FACTOR}, {at + i};")
            lines.append(f"shr.u64 %v, %acc, 17; cvt.{param.type.replace('b', 'u')}.u64 %o{i}, %v;")
            arguments.append(f"%o{i}")
    else:
        lines.append(".param .b32 depth_; st.param.b32 [depth_], %deeper;")
        arguments = ["depth_"]
        for i, param in enumerate(callee.params):
            lines += [f"{param.declare(f'a{i}')};", *stores(param, f"a{i}", at + i)]
            arguments.append(f"a{i}")
    result = ""
    if callee.result:
        result = "%res" if callee.old else "res"
        lines.append(f"{callee.result.declare(result, '.reg' if callee.old else '.param')};")
    target, proto = f"f{number}", ""
    if how != "name":
        space = ".reg" if callee.old else ".param"
        given = ", ".join([f"{space} .b32 _", *(p.declare("_", space) for p in callee.params)])
        back = f"({callee.result.declare('_', space)}) " if callee.result else ""
        lines.append(f"P{at}: .callprototype {back}_ ({given});")
        target, proto = "%callee", f", P{at}"
        lines.append("shr.u64 %v, %acc, 40; and.b64 %v, %v, 1; setp.eq.u64 %which, %v, 1;")
        if how == "pointer":
            lines.append(f"mov.u64 %callee, f{number}; mov.u64 %v, g{number}; selp.b64 %callee, %v, %callee, %which;")
        else:
            lines.append("mov.u64 %callee, table; shl.b64 %v, %v, 3; add.u64 %callee, %callee, %v;")
            lines.append(f"ld.global.u64 %callee, [%callee+{16 * number}];")
    lines.append(f"call {f'({result}), ' if result else ''}{target}, ({', '.join(arguments)}){proto};")
    if callee.result and callee.old:
        bits = callee.result.type[1:]
        lines.append(f"mov.b{bits} %w{bits}_0, %res; cvt.u64.u{bits} %v, %w{bits}_0;")
        lines.append(f"mad.lo.u64 %acc, %acc, {FACTOR}, %v;")
    elif callee.result:
        lines += loads(callee.result, "res")
    return [*lines, "}"]


LOCALS = """.reg .b64 %acc, %v, %callee, %w64_<4>; .reg .b32 %deeper, %w32_<4>; .reg .b16 %w16_<4>;
.reg .pred %which, %deep, %taken;"""


def head(functions: list[Function], number: int, name: str) -> str:
    function = functions[number]
    space = ".reg" if function.old else ".param"
    depth = "%depth" if function.old else "depth"
    prefix = "%" if function.old else ""
    params = [f"{space} .b32 {depth}", *(p.declare(f"{prefix}p{i}", space) for i, p in enumerate(function.params))]
    result = f"({function.result.declare(f'{prefix}r', space)}) " if function.result else ""
    return f".func {result}{name} ({', '.join(params)})"


def definition(functions: list[Function], number: int, name: str) -> str:
    function = functions[number]
    lines = [f"{head(functions, number, name)} {{", LOCALS, f"mov.u64 %acc, {start(number, name)};"]
    if function.old:
        lines.append("mov.b32 %deeper, %depth;")
        for i, param in enumerate(function.params):
            bits = param.type[1:]
            lines.append(f"mov.b{bits} %w{bits}_0, %p{i}; cvt.u64.u{bits} %v, %w{bits}_0;")
            lines.append(f"mad.lo.u64 %acc, %acc, {FACTOR}, %v;")
    else:
        lines.append("ld.param.b32 %deeper, [depth];")
        for i, param in enumerate(function.params):
            lines += loads(param, f"p{i}")
    lines.append("setp.eq.u32 %deep, %deeper, 0; sub.u32 %deeper, %deeper, 1;")
    for i, (target, bit, how) in enumerate(function.calls):
        lines += [f"shr.u64 %v, %acc, {bit}; and.b64 %v, %v, 1; setp.eq.u64 %taken, %v, 0;"]
        lines += [f"@%deep bra S{i}; @%taken bra S{i};", *call(functions, target, how, 100 * i + 1000), f"S{i}:"]
    if function.result and function.old:
        ptype = function.result.type
        lines.append(f"shr.u64 %v, %acc, 17; cvt.{ptype.replace('b', 'u')}.u64 %r, %v;")
    elif function.result:
        lines += stores(function.result, "r", 7)
    return "\n".join([*lines, "ret;", "}", ""])


def text(functions: list[Function]) -> str:
    names = [f"{letter}{n}" for n in range(len(functions)) for letter in "fg"]
    declared = "".join(f"{head(functions, int(name[1:]), name)};\n" for name in names)
    table = f".global .align 8 .u64 table[{len(names)}] = {{{', '.join(names)}}};\n"
    defined = "".join(definition(functions, int(name[1:]), name) for name in names)
    kernel = [
        f".visible .entry k(.param .u64 out) {{ {LOCALS}",
        f".reg .b64 %out; .reg .b32 %t; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %deeper, {DEPTH};",
        f"cvt.u64.u32 %acc, %t; mul.lo.u64 %acc, %acc, {FACTOR};",
        *call(functions, 0, "name", 5000),
        "mul.wide.u32 %v, %t, 8; add.u64 %out, %out, %v; st.global.u64 [%out], %acc; ret; }\n",
    ]
    return HEAD + declared + table + defined + "\n".join(kernel)


# --- the interpreter ---


def start(number: int, name: str) -> int:
    return 77 * number + (name[0] == "g")


def mix(acc: int, value: int) -> int:
    return (acc * FACTOR + value) & MASK


def fill(param: Param, acc: int, salt: int) -> tuple[bytes, int]:
    data = bytearray(param.bytes)
    for piece in param.writes:
        for k in range(piece.count):
            acc = mix(acc, salt + piece.offset + k)
            at = piece.offset + k * piece.width
            data[at : at + piece.width] = (acc >> 17).to_bytes(8, "little")[: piece.width]
    return bytes(data), acc


def take(param: Param, data: bytes, acc: int) -> int:
    for piece in param.reads:
        for k in range(piece.count):
            at = piece.offset + k * piece.width
            value = int.from_bytes(data[at : at + piece.width], "little", signed=piece.signed)
            acc = mix(acc, value & (1 << piece.bits) - 1)
    return acc


def calling(functions: list[Function], number: int, how: str, at: int, acc: int, depth: int) -> int:
    callee, arguments = functions[number], []
    for i, param in enumerate(callee.params):
        if callee.old:
            acc = mix(acc, at + i)
            arguments.append((acc >> 17).to_bytes(8, "little")[: param.bytes])
        else:
            data, acc = fill(param, acc, at + i)
            arguments.append(data)
    name = f"{'g' if how != 'name' and acc >> 40 & 1 else 'f'}{number}"
    result = interpret(functions, number, name, arguments, depth)
    if callee.result and callee.old:
        return mix(acc, int.from_bytes(result, "little"))
    return take(callee.result, result, acc) if callee.result else acc


def interpret(functions: list[Function], number: int, name: str, arguments: list[bytes], depth: int) -> bytes:
    function, acc = functions[number], start(number, name)
    for param, data in zip(function.params, arguments, strict=True):
        acc = mix(acc, int.from_bytes(data, "little")) if function.old else take(param, data, acc)
    for i, (target, bit, how) in enumerate(function.calls):
        if depth and acc >> bit & 1:
            acc = calling(functions, target, how, 100 * i + 1000, acc, depth - 1)
    if function.result is None:
        return b""
    if function.old:
        return (acc >> 17).to_bytes(8, "little")[: function.result.bytes]
    return fill(function.result, acc, 7)[0]


SEEDS = [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in (*range(2, 200), 100037))]
STACK = 8192  # bytes a thread, the least that the driver gives: 100037 needs more than HIP's 1024


@pytest.mark.parametrize("seed", SEEDS)
def test_calls(seed: int) -> None:
    functions = generate(seed)
    source = text(functions)
    wanted = [calling(functions, 0, "name", 5000, t * FACTOR & MASK, DEPTH) for t in range(THREADS)]
    for arch in MAPPINGS:
        device = program(source, arch)
        lib = device.gpu.activate()
        lib.hipDeviceSetLimit(lib.raw.hipLimitStackSize, STACK)
        [out] = device.run("k", THREADS, [8 * THREADS])
        found = struct.unpack(f"<{THREADS}Q", out)
        assert list(found) == wanted, f"{arch}\n{source}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 200, 5))
def test_ptxas_takes_them(seed: int) -> None:
    accepted, output = oracle.run(text(generate(seed)), "sm_75")
    assert accepted, output
