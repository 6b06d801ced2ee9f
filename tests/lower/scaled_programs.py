"""PTX programs for matrices with elements of 4, 6 and 8 bits, and scales for blocks of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from ptx2amd.isa import scaled as table
from tests.lower.matrix_programs import AT, LANE, Product, _accumulators, spelled, value
from tests.lower.sparse_programs import META, kept_columns
from tests.reference import atomics, matrix
from tests.reference.sparse import metadata

SCALES = {"A": 112, "B": 116}  # where a lane's words of scales lie
FORMATS = {"e3m2": (3, 2, 3), "e2m3": (2, 3, 1), "e2m1": (2, 1, 1)}  # bits of exponent and mantissa, bias
LARGE = {"e4m3": (0x00, 0x38, 0x40, 0xB4, 0xC2, 0x01, 0x08), "e5m2": (0x00, 0x3C, 0x40, 0xB4, 0xC2, 0x38, 0x01)}


def number(code: int, kind: str) -> float:
    """An element's number."""
    if kind in LARGE:
        return float(value(code, kind))
    exponent, mantissa, bias = FORMATS[kind]
    sign = -1 if code >> exponent + mantissa else 1
    e, m = code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
    return sign * (m / (1 << mantissa) * 2.0 ** (1 - bias) if e == 0 else (1 + m / (1 << mantissa)) * 2.0 ** (e - bias))


def scale(code: int, kind: str) -> float:
    return 2.0 ** (code - 127) if kind == "ue8m0" else float(value(code, "e4m3"))


class Case:
    """A product with random matrices and scales."""

    sparse = False

    def __init__(self, product: Product) -> None:
        self.product = product
        self.mods = dict(product.mods)
        self.st = self.mods.get("st", "")
        seed = self.seed = random.Random(product.opcode)
        self.m, self.n, self.k = product.shape
        self.packed = "mxf4" in self.mods["kind"]
        size = self.mods.get("size", "")
        self.blocks = (int(size[-2]) if size else 2 if self.packed else 1) if self.st else 0
        self.a = {(r, c): self.code(self.mods["at"]) for r in range(self.m) for c in range(self.k)}
        self.b = {(r, c): self.code(self.mods["bt"]) for r in range(self.k) for c in range(self.n)}
        self.c = {(r, c): seed.randrange(-8, 8) / 2 for r in range(self.m) for c in range(self.n)}
        firsts = {1: (0, 1, 2, 3), 2: (0, 2)}.get(self.blocks, (0,))
        self.bytes = [seed.choice(firsts) for _ in "AB"]
        self.threads = [seed.randrange(2), seed.randrange(4)]
        self.rows = {(r, i): self.scale_code() for r in range(self.m) for i in range(self.blocks)}
        self.columns = {(r, i): self.scale_code() for r in range(self.n) for i in range(self.blocks)}

    def code(self, kind: str) -> int:
        return self.seed.choice(LARGE[kind]) if kind in LARGE else self.seed.randrange(1 << sum(FORMATS[kind][:2]) + 1)

    def scale_code(self) -> int:
        return self.seed.randrange(120, 134) if self.st == "ue8m0" else self.seed.choice((0x38, 0x40, 0x01, 0x77))

    def inputs(self) -> bytes:
        image = bytearray(32 * LANE)
        per_word = 8 if self.packed else 4
        for name, places, cells in (
            ("a", self.places_of_a(per_word), self.stored_a()),
            ("b", matrix.b_fragment(self.k, self.n, per_word), self.b),
        ):
            small = self.mods[f"{name}t"] == "e2m1" and not self.packed
            for lane, register, position, row, column in places:
                at = LANE * lane + AT[name] + 4 * register
                code = cells[row, column] << (2 if small else 0)
                word = int.from_bytes(image[at : at + 4], "little") | code << 32 // per_word * position
                image[at : at + 4] = word.to_bytes(4, "little")
        c = {at: atomics.from_float(v, self.mods["ct"]) for at, v in self.c.items()}
        _accumulators(image, self.mods["ct"], c, self.m, AT["c"])
        self.put_metadata(image)
        for lane in range(32) if self.blocks else ():
            group, thread = divmod(lane, 4)
            first, second = (self.seed.randbytes(4) for _ in "AB")
            if thread // 2 == self.threads[0]:  # rows g and g + 8
                first = self.placed(first, self.bytes[0], self.rows, group + 8 * (thread % 2))
            if thread == self.threads[1]:
                second = self.placed(second, self.bytes[1], self.columns, group)
            image[LANE * lane + 112 : LANE * lane + 120] = first + second
        return bytes(image)

    def places_of_a(self, per_word: int) -> Iterator[matrix.Place]:
        return matrix.a_fragment(self.m, self.k, per_word)

    def stored_a(self) -> Mapping[tuple[int, int], int]:
        return self.a

    def put_metadata(self, image: bytearray) -> None:
        """A dense A has none."""

    def placed(self, word: bytes, first: int, codes: dict[tuple[int, int], int], line: int) -> bytes:
        found = bytearray(word)
        for i in range(self.blocks):
            found[first + i] = codes[line, i]
        return bytes(found)

    def wrong(self, out: bytes) -> list[tuple[int, int]]:
        """The elements of D that are not what they should be."""
        found = []
        kind = self.mods["dt"]
        size = 2 if kind == "f16" else 4
        for lane, index, row, column in matrix.c_fragment(self.m, self.n):
            at = LANE * lane + size * index
            got = float(value(int.from_bytes(out[at : at + size], "little"), kind))
            terms = [self.c[row, column]]
            for x in range(self.k):
                term = number(self.a[row, x], self.mods["at"]) * number(self.b[x, column], self.mods["bt"])
                if self.blocks:
                    i = x * self.blocks // self.k
                    term *= scale(self.rows[row, i], self.st) * scale(self.columns[column, i], self.st)
                terms.append(term)
            bound = 2.0**-19 * sum(map(abs, terms)) + (2.0**-11 * abs(sum(terms)) + 2.0**-24 if kind == "f16" else 0)
            if not abs(got - sum(terms)) <= bound:
                found.append((row, column))
        return found

    def kernel(self, name: str) -> str:
        """`name(in, out)`."""
        lines, texts = [], []
        for x in "dabc":
            count, ptype = self.product.registers(x)
            names = [f"%{x}{k}" for k in range(count)]
            lines.append(f".reg .{ptype} {', '.join(names)};")
            texts.append("{" + ", ".join(names) + "}")
            if x != "d":
                lines += [f"ld.global.{ptype} {r}, [%in+{AT[x] + 4 * k}];" for k, r in enumerate(names)]
        if self.sparse:
            texts += ["%m", "0"]
            lines.append(f"ld.global.b32 %m, [%in+{META}];")
        if self.blocks:
            texts += ["%s", f"{{{self.bytes[0]}, {self.threads[0]}}}", "%t", f"{{{self.bytes[1]}, {self.threads[1]}}}"]
        count, ptype = self.product.registers("d")
        stores = "\n".join(f"st.global.{ptype} [%out+{4 * k}], %d{k};" for k in range(count))
        loads = "\n".join(lines)
        return f"""
.visible .entry {name}(.param .u64 in, .param .u64 out)
{{
.reg .b32 %x, %s, %t, %m; .reg .b64 %in, %out, %at;
mov.u32 %x, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mul.wide.u32 %at, %x, {LANE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
{loads}
ld.global.b32 %s, [%in+{SCALES["A"]}]; ld.global.b32 %t, [%in+{SCALES["B"]}];
{self.product.opcode} {", ".join(texts)};
{stores}
ret;
}}
"""


class SparseCase(Case):
    """The same where each row of A has half of its columns."""

    sparse = True

    def __init__(self, product: Product) -> None:
        super().__init__(product)
        self.kind = "s4" if self.packed else "s8"  # which integers' places the elements have
        self.kept = {row: kept_columns(self.kind, self.k, self.seed) for row in range(self.m)}
        self.a = {(r, c): code if c in self.kept[r] else 0 for (r, c), code in self.a.items()}

    def places_of_a(self, per_word: int) -> Iterator[matrix.Place]:
        return matrix.a_fragment(self.m, self.k // 2, per_word)

    def stored_a(self) -> Mapping[tuple[int, int], int]:
        return {(r, i): self.a[r, c] for r, columns in self.kept.items() for i, c in enumerate(columns)}

    def put_metadata(self, image: bytearray) -> None:
        for lane, word in enumerate(metadata(self.kind, self.k, self.kept, 0)):
            image[LANE * lane + META : LANE * lane + META + 4] = word.to_bytes(4, "little")


def cases() -> Iterator[Case]:
    for form in table.FORMS:
        case = SparseCase if "sp::" in form.syntax else Case
        for opcode, mods in spelled(form):
            yield case(Product(opcode, mods, form.operands))
