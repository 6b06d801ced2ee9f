"""Where PTX keeps the elements of matrix fragments (manual: "Warp-level Matrix Instructions",
"ldmatrix"), element by element as the formulas there give them: the reference of tests/lower.

A fragment element is (register, position in the register); positions count from the low end."""

from __future__ import annotations

from collections.abc import Iterator

Place = tuple[int, int, int, int, int]  # lane, register, position, row, column


def a_fragment(m: int, k: int, per_word: int) -> Iterator[Place]:
    """Matrix A (m x k), `per_word` elements a register."""
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        registers = m * k // 32 // per_word
        for register in range(registers):
            for position in range(per_word):
                row = group + (8 if m == 16 and register % 2 else 0)
                step = register // 2 if m == 16 else register
                column = thread * per_word + position + step * 4 * per_word
                yield lane, register, position, row, column


def b_fragment(k: int, n: int, per_word: int) -> Iterator[Place]:
    """Matrix B (k x n)."""
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        for register in range(k * n // 32 // per_word):
            for position in range(per_word):
                yield lane, register, position, thread * per_word + position + register * 4 * per_word, group


def c_fragment(m: int, n: int) -> Iterator[tuple[int, int, int, int]]:
    """Accumulators (m x n): lane, element, row, column."""
    assert n == 8
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        for element in range(m * n // 32):
            yield lane, element, group + (8 if element >= 2 else 0), thread * 2 + element % 2


def matrix_8x8(lane: int) -> list[tuple[int, int]]:
    """The two elements (row, column) of an 8x8 matrix of b16 that a lane holds (ldmatrix, movmatrix)."""
    return [(lane // 4, 2 * (lane % 4)), (lane // 4, 2 * (lane % 4) + 1)]


def quadpair(operand: str, major: str, ptype: str) -> Iterator[tuple[int, int, int, int, int]]:
    """mma.m8n8k4 of f16: product (0 to 3), lane, element, row, column of matrix "a", "b" or "c"."""
    for lane in range(32):
        upper = 4 if lane >= 16 else 0
        for i in range(8 if operand == "c" else 4):
            if operand == "c" and ptype == "f32":
                row, column = (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)
            elif operand == "c":
                row, column = lane % 4 + upper, i
            elif operand == "a":
                row, column = (lane % 4 + upper, i) if major == "row" else (i % 4 + upper, lane % 4)
            else:
                row, column = (lane % 4, i + upper) if major == "row" else (i, lane % 4 + upper)
            yield lane // 4 % 4, lane, i, row, column
