"""Carry chains as big-integer code has them: sums as operands of additions with carry, words that are zero."""

from __future__ import annotations

import random
import struct

import pytest

from tests.lower.device import MAPPINGS, program

THREADS = 128
WORDS = 6
OPERATIONS = (
    *("add", "sub", "add.cc", "addc.cc", "addc.cc", "addc", "sub.cc", "subc.cc", "subc", "mad.lo.cc", "madc.hi.cc"),
)
EDGE = (0, 0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)


def statements(seed: int) -> list[tuple[str, int, list[int | None]]]:
    """(operation, destination, operands): registers 0 to WORDS - 1, None for the constant 0."""
    draw = random.Random(seed)

    def operand() -> int | None:
        return None if draw.random() < 0.3 else draw.randrange(WORDS)

    found = []
    for _ in range(30):
        op = draw.choice(OPERATIONS)
        found.append((op, draw.randrange(WORDS), [operand() for _ in range(3 if op.startswith("mad") else 2)]))
    return found


def interpret(words: list[int], rows: list[tuple[str, int, list[int | None]]], bits: int) -> list[int]:
    mask, flag = (1 << bits) - 1, 0
    for op, to, operands in rows:
        x = [words[n] if n is not None else 0 for n in operands]
        name = op.split(".")[0]
        chained = flag if name in ("addc", "madc") else 0
        if name.startswith("sub"):
            total = x[0] - x[1] - ((1 - flag) if name == "subc" else 0)
            out = int(total >= 0)
        else:
            if name.startswith("mad"):
                product = x[0] * x[1]
                x = [product & mask if ".lo" in op else product >> bits, x[2]]
            total = x[0] + x[1] + chained
            out = total >> bits
        if op.endswith(".cc"):
            flag = out
        words[to] = total & mask
    return [*words, flag]


def text(rows: list[tuple[str, int, list[int | None]]], bits: int) -> str:
    size = bits // 8
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {",
        f".reg .b64 %p, %o; .reg .b32 %t; .reg .b{bits} %w<{WORDS}>, %f;",
        f"ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, {(WORDS + 1) * size}; add.u64 %p, %p, %o;",
        *(f"ld.global.u{bits} %w{n}, [%p+{n * size}];" for n in range(WORDS)),
        f"add.cc.u{bits} %f, 0, 0;",
    ]
    for op, to, operands in rows:
        names = ", ".join("0" if n is None else f"%w{n}" for n in operands)
        lines.append(f"{op}.u{bits} %w{to}, {names};")
    lines.append(f"addc.u{bits} %f, 0, 0;")
    lines += [f"st.global.u{bits} [%p+{n * size}], %w{n};" for n in range(WORDS)]
    lines.append(f"st.global.u{bits} [%p+{WORDS * size}], %f;\nret; }}\n")
    return "\n".join(lines)


SEEDS = [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 60))]


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("seed", SEEDS)
def test_chain(seed: int, bits: int, arch: str) -> None:
    draw, rows = random.Random(seed), statements(seed)
    letter, mask = ("I", 0xFFFFFFFF) if bits == 32 else ("Q", (1 << 64) - 1)
    edges = [e | (e >> 31) * (mask & ~0xFFFFFFFF) for e in EDGE]
    given = [[draw.choice((*edges, draw.getrandbits(bits))) for _ in range(WORDS)] for _ in range(THREADS)]
    data = b"".join(struct.pack(f"<{WORDS + 1}{letter}", *words, 0) for words in given)
    [out] = program(text(rows, bits), arch).run("k", THREADS, [data])
    found = list(struct.iter_unpack(f"<{WORDS + 1}{letter}", out))
    for thread, words in enumerate(given):
        assert list(found[thread]) == interpret(list(words), rows, bits), (thread, words)
