"""PTX programs that run every row of the atomic family, and what tests/reference/atomics.py says of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from ptx2amd.isa import atomic
from ptx2amd.isa.form import Form
from ptx2amd.isa.syntax import fields
from tests.reference import atomics

HEAD = ".version 8.8\n.target sm_100\n.address_size 64\n"
CELL = 32  # bytes of a location, of an operand and of a result
COUNT = {"": 1, "v2": 2, "v4": 4, "v8": 8}


@dataclass(frozen=True)
class Operation:
    """One opcode: its operation, PTX type, elements, space ("" generic), and whether it has a policy."""

    opcode: str
    op: str
    type: str
    count: int
    space: str
    policy: bool

    @property
    def bits(self) -> int:
        return atomics.bits_of(self.type)

    @property
    def register(self) -> str:
        return self.type if self.type in ("f32", "f64") else f"b{self.bits}"

    @property
    def returns(self) -> bool:
        return self.opcode.startswith("atom")


def operations() -> Iterator[Operation]:
    """Every row with every operation and type, other modifiers drawn at random."""
    for form in atomic.FORMS:
        if not form.exact.startswith("refused"):
            yield from _of(form)


def _of(form: Form) -> Iterator[Operation]:
    seed = random.Random(form.syntax)
    row = fields(form.syntax)
    for field in row:
        if field.name in ("op", "t"):
            for choice in field.choices:
                chosen = {field.name: choice}
                words, mods = [form.mnemonic], {"op": "cas"}
                for each in row:
                    options = [*each.choices, ()] if each.optional else list(each.choices)
                    picked = chosen.get(each.name) or seed.choice(options)
                    words += picked
                    if each.name:
                        mods[each.name] = ".".join(picked)
                count = COUNT[mods.get("vec", "")]
                space = mods.get("space", "").split("::")[0]
                yield Operation(".".join(words), mods["op"], mods["t"], count, space, bool(mods.get("policy")))


def operands(operation: Operation, thread: int) -> tuple[list[int], list[int], list[int]]:
    """Initial contents, and the elements of operands b and c."""
    seed = random.Random(f"{operation.opcode} {thread}")

    def element() -> int:
        if "f" not in operation.type:
            near = seed.choice((0, 1, 5, (1 << operation.bits) - 1, 1 << operation.bits - 1))
            return seed.choice((near, seed.randrange(1 << operation.bits)))
        kind = operation.type.removesuffix("x2")
        values = [atomics.from_float(seed.randrange(-64, 64) / seed.choice((1, 2, 8)), kind) for _ in range(2)]
        return values[0] | (values[1] << 16 if operation.type.endswith("x2") else 0)

    start = [element() for _ in range(operation.count)]
    b = [s if operation.op in ("cas", "inc", "dec") and seed.randrange(2) else element() for s in start]
    return start, b, [element() for _ in range(operation.count)]


def cell(operation: Operation, elements: list[int]) -> bytes:
    size = operation.bits // 8
    return b"".join(e.to_bytes(size, "little") for e in elements).ljust(CELL, b"\0")


def kernel(name: str, batch: list[Operation], threads: int) -> str:
    """`name(in, out)`, for operation i and thread t: cells of the location, b and c are read from
    in + 3 CELL (t + threads i); what it returns and leaves goes to out + 2 CELL (t + threads i)."""
    lines = [
        f".visible .entry {name}(.param .u64 in, .param .u64 out)",
        "{",
        f".shared .align {CELL} .b8 sh[{CELL * threads}];",
        ".reg .b32 %t; .reg .b64 %in, %out, %at, %sh, %gsh, %w, %policy;",
        "mov.u32 %t, %tid.x; mov.b64 %policy, 0;",
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];",
        f"mul.wide.u32 %at, %t, {3 * CELL}; add.u64 %in, %in, %at;",
        f"mul.wide.u32 %at, %t, {2 * CELL}; add.u64 %out, %out, %at;",
        f"mul.wide.u32 %at, %t, {CELL}; mov.u64 %sh, sh; add.u64 %sh, %sh, %at; cvta.shared.u64 %gsh, %sh;",
    ]
    for i, operation in enumerate(batch):
        count, size = operation.count, operation.bits // 8
        names = {x: [f"%{x}{i}_{k}" for k in range(count)] for x in "dbc"}
        every = [name for group in names.values() for name in group]
        lines.append(f".reg .{operation.register} {', '.join(every)};")
        shared = operation.space == "shared" or (not operation.space and operation.count == 1 and i % 2 == 0)
        space = "shared" if shared else "global"
        inside, where = 3 * CELL * threads * i, 2 * CELL * threads * i
        lines.append(f"add.u64 %at, %out, {where + CELL};")
        own = "%sh" if shared else "%at"
        lines += [f"ld.global.u64 %w, [%in+{inside + k}]; st.{space}.u64 [{own}+{k}], %w;" for k in range(0, CELL, 8)]
        for x, first in (("d", CELL), ("b", CELL), ("c", 2 * CELL)):
            for k in range(count):
                lines.append(f"ld.global.{operation.register} {names[x][k]}, [%in+{inside + first + k * size}];")
        texts = {x: "{" + ", ".join(n) + "}" if count > 1 else n[0] for x, n in names.items()}
        pointer = "[%gsh]" if shared and not operation.space else f"[{own}]"
        sources = [texts["d"]] if operation.returns else []
        sources += [pointer, texts["b"]] + ([texts["c"]] if operation.op == "cas" else [])
        lines.append(f"{operation.opcode} {', '.join(sources + ['%policy'] * operation.policy)};")
        for k in range(count):
            lines.append(f"st.global.{operation.register} [%out+{where + k * size}], {names['d'][k]};")
        if shared:
            lines += [
                f"ld.shared.u64 %w, [%sh+{k}]; st.global.u64 [%out+{where + CELL + k}], %w;" for k in range(0, CELL, 8)
            ]
    return "\n".join([*lines, "ret;", "}", ""])


def expected(operation: Operation, thread: int) -> tuple[bytes, bytes]:
    """What the operation returns (its operand b, for red) and leaves."""
    start, b, c = operands(operation, thread)
    new = [atomics.apply(operation.op, operation.type, *each) for each in zip(start, b, c, strict=True)]
    return cell(operation, start if operation.returns else b), cell(operation, new)
