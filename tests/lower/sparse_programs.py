"""PTX programs for mma.sp: random sparse matrices, stored as PTX says (manual: "Sparse matrix storage")."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ptx2amd.isa import sparse as table
from tests.lower.matrix_programs import (
    AT,
    LANE,
    Matrices,
    Product,
    _accumulators,
    matrices_of,
    product_of,
    spelled,
    width,
)
from tests.reference import matrix
from tests.reference.sparse import metadata, selectors

META = 120  # where a lane's metadata lie


def products() -> Iterator[Product]:
    for form in table.FORMS:
        for opcode, mods in spelled(form):
            yield Product(opcode, mods, form.operands)


def kernel(name: str, product: Product, selector: int) -> str:
    """`name(in, out)`."""
    lines, texts = [], []
    for x in "dabc":
        count, ptype = product.registers(x)
        names = [f"%{x}{k}" for k in range(count)]
        lines.append(f".reg .{ptype} {', '.join(names)};")
        texts.append("{" + ", ".join(names) + "}")
        if x != "d":
            lines += [f"ld.global.{ptype} {r}, [%in+{AT[x] + 4 * k}];" for k, r in enumerate(names)]
    count, ptype = product.registers("d")
    stores = "\n".join(f"st.global.{ptype} [%out+{4 * k}], %d{k};" for k in range(count))
    loads = "\n".join(lines)
    return f"""
.visible .entry {name}(.param .u64 in, .param .u64 out)
{{
.reg .b32 %t, %m; .reg .b64 %in, %out, %at;
mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mul.wide.u32 %at, %t, {LANE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
{loads}
ld.global.b32 %m, [%in+{META}];
{product.opcode} {", ".join(texts)}, %m, {selector};
{stores}
ret;
}}
"""


def kept_columns(kind: str, k: int, seed: random.Random) -> list[int]:
    """Columns that a random row of a sparse A has."""
    columns: list[int] = []
    group = {"tf32": 2, "u4": 8, "s4": 8}.get(kind, 4)
    for first in range(0, k, group):
        if kind == "tf32":
            columns.append(first + seed.randrange(2))
        elif group == 8:  # pairs
            columns += [first + 2 * p + i for p in sorted(seed.sample(range(4), 2)) for i in range(2)]
        else:
            columns += [first + p for p in sorted(seed.sample(range(4), 2))]
    return columns


class Case:
    """A product with its matrices: `kept`: the columns of A that each row has, in order."""

    def __init__(self, product: Product, selector: int) -> None:
        self.product, self.selector = product, selector
        kind = product["at"]
        seed = random.Random(f"{product.opcode} {selector}")
        m, _, k = product.shape
        data = matrices_of(product.opcode, dict(product.mods), product.shape)
        self.kept: dict[int, list[int]] = {}
        for row in range(m):
            self.kept[row] = kept_columns(kind, k, seed)
        dense = {(r, c): data.a[r, c] if c in self.kept[r] else 0 for r, c in data.a}
        self.data = Matrices(dense, data.b, data.c)

    def inputs(self) -> bytes:
        image = bytearray(32 * LANE)
        m, n, k = self.product.shape
        bits = width(self.product["at"])
        per_word = 32 // bits
        packed = {
            (row, i): self.data.a[row, column] for row, columns in self.kept.items() for i, column in enumerate(columns)
        }
        for name, places, cells in (
            ("a", matrix.a_fragment(m, k // 2, per_word), packed),
            ("b", matrix.b_fragment(k, n, per_word), self.data.b),
        ):
            for lane, register, position, row, column in places:
                at = LANE * lane + AT[name] + 4 * register
                word = int.from_bytes(image[at : at + 4], "little") | cells[row, column] << bits * position
                image[at : at + 4] = word.to_bytes(4, "little")
        _accumulators(image, self.product["ct"], self.data.c, m, AT["c"])
        for lane, word in enumerate(metadata(self.product["at"], k, self.kept, self.selector)):
            image[LANE * lane + META : LANE * lane + META + 4] = word.to_bytes(4, "little")
        return bytes(image)

    def expected(self) -> bytes:
        image = bytearray(32 * LANE)
        result = product_of(dict(self.product.mods), self.product.shape, self.data)
        _accumulators(image, self.product["dt"], result, 16, 0)
        return bytes(image)


def cases() -> list[Case]:
    """Every product, its selectors in turn."""
    found = []
    for i, product in enumerate(products()):
        choices = selectors(product["at"], product.shape[2])
        found.append(Case(product, choices[i % len(choices)]))
    return found
