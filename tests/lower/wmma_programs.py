"""PTX programs that load, multiply and store whole matrices through wmma fragments. Fragments are opaque, so
only what comes out counts: the product, in the layouts and with the strides asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptx2amd.isa import wmma as table
from ptx2amd.isa.operands import slots
from tests.lower.matrix_programs import Matrices, matrices_of, product_of, spelled, width

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
MATRIX = 4096  # bytes of a matrix in memory
SPACES = ("", ".global", ".shared")


@dataclass(frozen=True)
class Product:
    """One wmma.mma opcode: its text, fields, and registers (count, type) of d, a, b, c. `number` picks spaces,
    strides and the layouts of c and d."""

    opcode: str
    mods: dict[str, str]
    registers: dict[str, tuple[int, str]]
    number: int

    @property
    def shape(self) -> tuple[int, int, int]:
        m, rest = self.mods["shape"][1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    def layout(self, part: str) -> str:
        chosen = {"a": self.mods.get("alayout", "row"), "b": self.mods.get("blayout", "col")}
        return chosen.get(part) or ("row", "col")[self.number // 2 % 2 if part == "c" else self.number % 2]

    def type(self, part: str) -> str:
        return self.mods[f"{part}t"]

    def size(self, part: str) -> tuple[int, int]:
        """Rows and columns."""
        m, n, k = self.shape
        return {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[part]

    def stride(self, part: str) -> int:
        """Elements between the starts of lines; a multiple of 16 bytes."""
        rows, columns = self.size(part)
        length = columns if self.layout(part) == "row" else rows
        step = max(1, 128 // width(self.type(part)))
        return -(-length // step) * step + step * (self.number % 2)

    def space(self, part: str) -> str:
        return SPACES[(self.number + "abcd".index(part)) % 3]


def products() -> Iterator[Product]:
    number = 0
    for form in table.FORMS:
        if form.lower == "wmma":
            for opcode, fields in spelled(form):
                mods = dict(fields)
                registers = {slot.name: (slot.size or 1, slot.type) for slot in slots(form.operands)}
                yield Product(opcode, {"at": "f16", "bt": "f16", **mods}, registers, number)
                number += 1


def kernel(name: str, batch: list[Product]) -> str:
    """`name(in, out)`: product i reads A, B, C at in + 3 MATRIX i and writes D at out + MATRIX i."""
    lines = [
        f".visible .entry {name}(.param .u64 in, .param .u64 out)",
        "{",
        f".shared .align 32 .b8 sh[{4 * MATRIX}]; .reg .pred %p;",
        ".reg .b32 %t, %k; .reg .b64 %in, %out, %at, %sh, %x, %y, %w;",
        "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];",
    ]
    for i, product in enumerate(batch):
        lines += [  # shared memory gets A, B, C; then a place for D
            "mov.u64 %sh, sh; mul.wide.u32 %at, %t, 16; add.u64 %sh, %sh, %at; add.u64 %x, %in, %at;",
            f"add.u64 %x, %x, {3 * MATRIX * i}; mov.u32 %k, 0;",
            f"copy{i}: ld.global.v2.u64 {{%y, %w}}, [%x]; st.shared.v2.u64 [%sh], {{%y, %w}};",
            "add.u64 %x, %x, 512; add.u64 %sh, %sh, 512; add.u32 %k, %k, 512;",
            f"setp.lt.u32 %p, %k, {3 * MATRIX}; @%p bra copy{i};",
            "bar.warp.sync -1; mov.u64 %sh, sh;",
        ]
        names = {}
        for part, (count, ptype) in product.registers.items():
            registers = [f"%{part}{i}_{k}" for k in range(count)]
            lines.append(f".reg .{ptype} {', '.join(registers)};")
            names[part] = "{" + ", ".join(registers) + "}"
        shape = product.mods["shape"]
        for j, part in enumerate("abc"):
            base = {"": "%in", ".global": "%in", ".shared": "%sh"}[product.space(part)]
            offset = MATRIX * j + (0 if base == "%sh" else 3 * MATRIX * i)
            lines.append(
                f"wmma.load.{part}.sync.aligned.{product.layout(part)}.{shape}{product.space(part)}"
                f".{product.type(part)} {names[part]}, [{base}+{offset}], {product.stride(part)};"
            )
        lines.append(f"{product.opcode} {', '.join(names[x] for x in 'dabc')};")
        lines.append(
            f"wmma.store.d.sync.aligned.{product.layout('d')}.{shape}.global.{product.type('d')} "
            f"[%out+{MATRIX * i}], {names['d']}, {product.stride('d')};"
        )
        lines.append("bar.warp.sync -1;")
    return "\n".join([*lines, "ret;", "}", ""])


def matrices(product: Product) -> Matrices:
    return matrices_of(product.opcode, product.mods, product.shape)


def image(product: Product, part: str, cells: dict[tuple[int, int], int]) -> bytes:
    """A matrix in memory."""
    bits, stride = width(product.type(part)), product.stride(part)
    total = 0
    for (row, column), value in cells.items():
        line, inner = (row, column) if product.layout(part) == "row" else (column, row)
        total |= value << bits * (line * stride + inner)
    return total.to_bytes(MATRIX, "little")


def expected(product: Product, data: Matrices) -> bytes:
    return image(product, "d", product_of(product.mods, product.shape, data))


def two_warps(bound: str) -> str:
    """A kernel in which each warp adds the same product to its sums in rounds of a loop, and stores them."""
    frags = {"a": ("f16", 8, "b32"), "b": ("f16", 8, "b32"), "c": ("f32", 8, "f32")}
    names = {part: "{" + ", ".join(f"%{part}{i}" for i in range(n)) + "}" for part, (_, n, _) in frags.items()}
    loads = "".join(
        f"wmma.load.{part}.sync.aligned.row.m16n16k16.{kind} {names[part]}, [%in+{2048 * i}], 16;"
        for i, (part, (kind, _, _)) in enumerate(frags.items())
    )
    registers = "".join(f".reg .{ty} %{part}<{n}>;" for part, (_, n, ty) in frags.items())
    return f"""{HEAD}.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b64 %in, %out, %at; .reg .b32 %t, %w, %i, %n; .reg .pred %p; {registers}
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %i, 0;
mul.wide.u32 %at, %w, 1024; add.u64 %out, %out, %at; mov.u32 %n, {bound}; {loads}
L: wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {names["c"]}, {names["a"]}, {names["b"]}, {names["c"]};
add.u32 %i, %i, 1; setp.le.u32 %p, %i, %n; @%p bra L;
wmma.store.d.sync.aligned.row.m16n16k16.f32 [%out], {names["c"]}, 16; ret; }}"""
