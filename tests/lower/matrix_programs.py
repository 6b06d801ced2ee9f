"""PTX programs for matrix operations: one warp, fragments filled from memory, results written lane by lane.
What they have to be follows from the definition of a matrix product and tests/reference/matrix.py."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ptx2amd.isa import matrix as table
from ptx2amd.isa.form import Form
from ptx2amd.isa.syntax import fields
from tests.reference import atomics, matrix, numbers
from tests.reference.conversions import small_number
from tests.reference.numbers import value as exactly

HEAD = ".version 8.8\n.target sm_100\n.address_size 64\n"
LANE = 128  # bytes of a lane's inputs (A, then B at 64, then C at 96) and of its results
AT = {"a": 0, "b": 64, "c": 96}


@dataclass(frozen=True)
class Product:
    """One mma opcode, with its fields."""

    opcode: str
    mods: tuple[tuple[str, str], ...]
    operands: str

    def __getitem__(self, name: str) -> str:
        return dict(self.mods)[name]

    @property
    def shape(self) -> tuple[int, int, int]:
        m, rest = self["shape"][1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    def registers(self, name: str) -> tuple[int, str]:
        """How many registers an operand has, and their PTX type."""
        part = next(p.strip() for p in self.operands.split(",") if p.strip().startswith("{" + name))
        return int(part.split("*")[1].split("}")[0]), part.split(":")[1]


def products() -> Iterator[Product]:
    """Every mma row with every type of A, B and every variant."""
    for form in table.FORMS:
        if form.lower != "mma":
            continue
        for opcode, mods in spelled(form):
            yield Product(opcode, mods, form.operands)


def spelled(form: Form) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Every opcode of a row, with its fields."""
    row = fields(form.syntax)
    variants: list[list[tuple[str, ...]]] = [[]]
    for field in row:
        options = [*field.choices, ()] if field.optional else list(field.choices)
        variants = [[*v, option] for v in variants for option in options]
    for variant in variants:
        mods = tuple((f.name, ".".join(words)) for f, words in zip(row, variant, strict=True) if f.name)
        yield ".".join([form.mnemonic, *(word for words in variant for word in words)]), mods


def kernel(name: str, batch: list[Product]) -> str:
    """`name(in, out)`: product i reads and writes at LANE (lane + 32 i)."""
    lines = [
        f".visible .entry {name}(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .b32 %t; .reg .b64 %in, %out, %at;",
        "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];",
        f"mul.wide.u32 %at, %t, {LANE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;",
    ]
    for i, product in enumerate(batch):
        texts = []
        for x in "dabc":
            count, ptype = product.registers(x)
            size = 8 if ptype == "f64" else 4
            names = [f"%{x}{i}_{k}" for k in range(count)]
            lines.append(f".reg .{ptype} {', '.join(names)};")
            texts.append("{" + ", ".join(names) + "}")
            if x != "d":
                for k, each in enumerate(names):
                    lines.append(f"ld.global.{ptype} {each}, [%in+{32 * LANE * i + AT[x] + size * k}];")
        lines.append(f"{product.opcode} {', '.join(texts)};")
        count, ptype = product.registers("d")
        for k in range(count):
            size = 8 if ptype == "f64" else 4
            lines.append(f"st.global.{ptype} [%out+{32 * LANE * i + size * k}], %d{i}_{k};")
    return "\n".join([*lines, "ret;", "}", ""])


def types(product: Product) -> tuple[str, ...]:
    """Of the elements of A, B and D."""
    return product["at"], product["bt"], product["dt"]


def width(ptype: str) -> int:
    return {"tf32": 32, "bf16": 16, "b1": 1}.get(ptype) or (8 if ptype[0] == "e" else int(ptype[1:]))


def value(bits: int, ptype: str) -> int | float:
    """An element's number."""
    if ptype == "tf32":
        return atomics.to_float(bits & 0xFFFFE000, "f32")
    if ptype in ("f16", "bf16", "f32", "f64"):
        return atomics.to_float(bits, ptype)
    if ptype == "e5m2":
        return atomics.to_float(bits << 8, "f16")
    if ptype == "e4m3":
        sign, exponent, mantissa = bits >> 7, bits >> 3 & 15, bits & 7
        number = (1 + mantissa / 8) * 2.0 ** (exponent - 7) if exponent else mantissa / 8 * 2.0**-6
        return -number if sign else number
    if ptype[0] == "e":  # fewer than 8 bits, in a byte: of e2m1 the middle
        return float(exactly(small_number(bits >> 2 if ptype == "e2m1" else bits, ptype)))
    return atomics.signed(bits, width(ptype)) if ptype[0] == "s" else bits


def element(ptype: str, seed: random.Random) -> int:
    """Random bits of an element; of floating-point ones, numbers whose sums are exact."""
    n = width(ptype)
    if ptype == "e5m2":
        return seed.choice((0x00, 0x3C, 0x40, 0x44, 0xBC, 0xC2, 0x38))
    if ptype == "e4m3":
        return seed.choice((0x00, 0x38, 0x40, 0x44, 0xB8, 0xC2, 0x30, 0x08, 0x01))
    if ptype == "tf32":
        return atomics.from_float(seed.randrange(-8, 8) / 2, "f32") | seed.randrange(1 << 13)
    if ptype[0] == "e":
        return seed.randrange(16) << 2 if ptype == "e2m1" else seed.randrange(64)
    if "f" in ptype:
        return atomics.from_float(seed.randrange(-8, 8) / 2, ptype)
    return seed.randrange(1 << n)


@dataclass
class Matrices:
    a: dict[tuple[int, int], int]
    b: dict[tuple[int, int], int]
    c: dict[tuple[int, int], int]


def matrices(product: Product) -> Matrices:
    return matrices_of(product.opcode, dict(product.mods), product.shape)


def matrices_of(name: str, mods: dict[str, str], shape: tuple[int, int, int]) -> Matrices:
    """Random matrices of the types `at`, `bt`, `ct`; integers sometimes such that sums overflow."""
    seed = random.Random(name)
    m, n, k = shape
    top = seed.choice((0, 0x7FFFFFF0)) if mods["ct"] == "s32" else 0
    if mods.get("rnd"):  # sums that are rounded
        return Matrices(
            *({(i, j): atomics.from_float(seed.gauss(0, 1), "f64") for i in range(x) for j in range(y)} for x, y in
              ((m, k), (k, n), (m, n)))
        )  # fmt: skip
    return Matrices(
        {(i, j): element(mods["at"], seed) for i in range(m) for j in range(k)},
        {(i, j): element(mods["bt"], seed) for i in range(k) for j in range(n)},
        {(i, j): element(mods["ct"], seed) if not top else top - seed.randrange(8) for i in range(m) for j in range(n)},
    )


def fragments(product: Product, data: Matrices) -> bytes:
    """The lanes' inputs."""
    image = bytearray(32 * LANE)
    m, n, k = product.shape
    double = product["at"] == "f64"
    bits = width(product["at"])
    per_word = 1 if double else 32 // bits
    for name, places, cells in (
        ("a", matrix.a_fragment(m, k, per_word), data.a),
        ("b", matrix.b_fragment(k, n, per_word), data.b),
    ):
        for lane, register, position, row, column in places:
            at = LANE * lane + AT[name] + (8 if double else 4) * register
            size = 8 if double else 4
            word = int.from_bytes(image[at : at + size], "little") | cells[row, column] << bits * position
            image[at : at + size] = word.to_bytes(size, "little")
    _accumulators(image, product["ct"], data.c, m, AT["c"])
    return bytes(image)


def _accumulators(image: bytearray, ptype: str, cells: dict[tuple[int, int], int], m: int, first: int) -> None:
    size = width(ptype) // 8
    for lane, index, row, column in matrix.c_fragment(m, 8):
        at = LANE * lane + first + size * index
        image[at : at + size] = cells[row, column].to_bytes(size, "little")


def expected(product: Product, data: Matrices) -> bytes:
    """The lanes' results."""
    image = bytearray(32 * LANE)
    result = product_of(dict(product.mods), product.shape, data)
    _accumulators(image, product["dt"], result, product.shape[0], 0)
    return bytes(image)


def product_of(mods: dict[str, str], shape: tuple[int, int, int], data: Matrices) -> dict[tuple[int, int], int]:
    """A B + C, in the elements of `dt`. (The numbers are such that sums in f64 are exact.)"""
    if mods.get("rnd"):
        return rounded_product(mods["rnd"], shape[2], data)
    a, b, c = (
        {at: value(bits, mods[ptype]) for at, bits in cells.items()}
        for cells, ptype in ((data.a, "at"), (data.b, "bt"), (data.c, "ct"))
    )
    term = _term(mods)
    result = {}
    for i, j in c:
        total = c[i, j] + sum(term(a[i, x], b[x, j]) for x in range(shape[2]))
        if mods["dt"] == "s32":
            if mods.get("sat"):
                total = max(-(1 << 31), min((1 << 31) - 1, total))
            result[i, j] = int(total) & 0xFFFFFFFF
        else:
            result[i, j] = atomics.from_float(float(total), mods["dt"])
    return result


def rounded_product(rnd: str, depth: int, data: Matrices) -> dict[tuple[int, int], int]:
    """A B + C in f64, rounded after each term."""
    result = {}
    for (i, j), total in data.c.items():
        for x in range(depth):
            term = numbers.mul(numbers.decode(data.a[i, x], "f64"), numbers.decode(data.b[x, j], "f64"))
            exact = numbers.add(term, numbers.decode(total, "f64"), rnd)
            total = numbers.encode(exact, "f64", rnd)
        result[i, j] = total
    return result


def _term(mods: dict[str, str]) -> Callable[[int | float, int | float], int | float]:
    if mods["at"] != "b1":
        return operator.mul
    return operator.xor if mods["op"] == "xor.popc" else operator.and_


# ldmatrix, stmatrix, movmatrix: shared memory holds four matrices; row r of matrix i lies at ROW (8 i + r)

ROW = 48


def move_kernel() -> str:
    """`moves(in, out)`: for each variant, what it loads (stores: shared memory after)."""
    lines = [
        ".visible .entry moves(.param .u64 in, .param .u64 out)",
        "{",
        f".shared .align 16 .b8 sh[{ROW * 32}];",
        ".reg .b32 %t, %own, %sh, %d<4>, %s<4>; .reg .b64 %in, %out, %at, %g;",
        "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %sh, sh;",
        f"mad.lo.u32 %own, %t, {ROW}, %sh; cvt.u64.u32 %g, %own; cvta.shared.u64 %g, %g;",
        "mul.wide.u32 %at, %t, 16; add.u64 %in, %in, %at; add.u64 %out, %out, %at;",
        "ld.global.v4.u32 {%s0, %s1, %s2, %s3}, [%in]; st.shared.v4.u32 [%own], {%s0, %s1, %s2, %s3};",
        "bar.warp.sync -1;",
    ]
    for i, (kind, count, trans, generic) in enumerate(MOVES):
        registers = ", ".join(f"%{'s' if kind == 'stmatrix' else 'd'}{k}" for k in range(count))
        where = "[%g]" if generic else "[%own]"
        space = "" if generic else ".shared"
        tail = f"{'.trans' if trans else ''}{space}.b16"
        lines.append("mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;")
        if kind == "movmatrix":
            lines.append("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s2;")
        elif kind == "ldmatrix":
            lines.append(f"ldmatrix.sync.aligned.m8n8.x{count}{tail} {{{registers}}}, {where};")
        else:
            lines.append(f"stmatrix.sync.aligned.m8n8.x{count}{tail} {where}, {{{registers}}};")
            lines.append("bar.warp.sync -1; ld.shared.v4.u32 {%d0, %d1, %d2, %d3}, [%own];")
        lines.append(f"st.global.v4.u32 [%out+{512 * i}], {{%d0, %d1, %d2, %d3}};")
        if kind == "stmatrix":
            lines.append("bar.warp.sync -1; st.shared.v4.u32 [%own], {%s0, %s1, %s2, %s3}; bar.warp.sync -1;")
    return "\n".join([*lines, "ret;", "}", ""])


MOVES = [
    *(("ldmatrix", n, trans, generic) for n in (1, 2, 4) for trans in (False, True) for generic in (False, True)),
    ("movmatrix", 1, True, False),
    *(("stmatrix", n, trans, generic) for n in (1, 2, 4) for trans in (False, True) for generic in (False, True)),
]


def moved(kind: str, count: int, trans: bool, data: bytes) -> bytes:
    """What a move writes, given 16 bytes for each lane (a row of eight b16, or four registers)."""

    def half(lane: int, index: int) -> bytes:
        return data[16 * lane + 2 * index : 16 * lane + 2 * index + 2]

    result = bytearray(data if kind == "stmatrix" else bytes(512))
    for lane in range(32):
        for i in range(count):
            for position, (row, column) in enumerate(matrix.matrix_8x8(lane)):
                r, c = (column, row) if trans else (row, column)
                mine = 16 * lane + 4 * i + 2 * position
                if kind == "ldmatrix":
                    result[mine : mine + 2] = half(8 * i + r, c)
                elif kind == "stmatrix":
                    at = 16 * (8 * i + r) + 2 * c
                    result[at : at + 2] = data[mine : mine + 2]
                else:  # register 2 of the lane that holds (column, row)
                    other = 4 * r + c // 2
                    result[mine : mine + 2] = half(other, 4 + c % 2)
    return bytes(result)
