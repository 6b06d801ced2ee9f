"""Sparse matrices as numpy has them, for calls of libcusparse: arrays of each format, numbers of each type, checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.handle import TYPES, Handle

DATA_TYPE = {"S": 0, "D": 1, "H": 2, "I": 3, "C": 4, "Z": 5, "J": 10}
INDEX_TYPE = {np.dtype(np.int32): 2, np.dtype(np.int64): 3}
PLAIN, TRANSPOSED, CONJUGATED = range(3)
COLUMNS, ROWS = 1, 2  # orders of dense matrices
NOT_INITIALIZED, INVALID_VALUE, ZERO_PIVOT, NOT_SUPPORTED = 1, 3, 9, 10


def op(a: Array, operation: int) -> Array:
    return a if operation == PLAIN else a.T if operation == TRANSPOSED else a.conj().T


def compressed(a: Array, base: int = 0, index: type = np.int32) -> tuple[Array, Array, Array]:
    """Row offsets, columns and values of what is not zero, row by row."""
    rows, columns = np.nonzero(a)
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(a, axis=1))])
    return (offsets + base).astype(index), (columns + base).astype(index), a[rows, columns]


def coordinates(a: Array, base: int = 0, index: type = np.int32) -> tuple[Array, Array, Array]:
    """Rows, columns and values of what is not zero, row by row."""
    rows, columns = np.nonzero(a)
    return (rows + base).astype(index), (columns + base).astype(index), a[rows, columns]


def blocks(
    a: Array, height: int, width: int, base: int = 0, by_column: bool = False, where: Array | None = None
) -> tuple[Array, Array, Array]:
    """Row offsets, columns and values of the blocks that are not zero (or not so in `where`); in a block by rows or
    columns."""

    def split(one: Array) -> Array:
        return one.reshape(len(one) // height, height, one.shape[1] // width, width).transpose(0, 2, 1, 3)

    there = split(a != 0 if where is None else where).any(axis=(2, 3))
    offsets, columns, _ = compressed(there, base)
    kept = split(a)[np.nonzero(there)]
    return offsets, columns, np.ascontiguousarray(kept.transpose(0, 2, 1) if by_column else kept).ravel()


def restored(shape: tuple[int, int], offsets: Array, columns: Array, values: Array, base: int = 0) -> Array:
    """The matrix of rows that are compressed."""
    out = np.zeros(shape, values.dtype)
    for i in range(shape[0]):
        at = slice(offsets[i] - base, offsets[i + 1] - base)
        out[i, columns[at] - base] += values[at]
    return out


def of_blocks(
    shape: tuple[int, int], offsets: Array, columns: Array, values: Array, height: int, width: int,
    by_column: bool = False,
) -> Array:  # fmt: skip
    """The matrix of compressed rows of blocks, from 0 on; its shape is in blocks."""
    parts = values.reshape(-1, width, height).transpose(0, 2, 1) if by_column else values.reshape(-1, height, width)
    out = np.zeros((shape[0], height, shape[1], width), values.dtype)
    for i in range(shape[0]):
        for at in range(offsets[i], offsets[i + 1]):
            out[i, :, columns[at], :] = parts[at]
    return out.reshape(shape[0] * height, shape[1] * width)


class Sparse(Handle):
    prefix = "cusparse"

    def matrix(self, letter: str, rows: int, columns: int, share: float = 0.3) -> Array:
        """A matrix of which that share is not zero, one number in each row at least."""
        there = self.client.draw.uniform(0, 1, (rows, columns)) < share
        there[np.arange(rows), np.arange(rows) % columns] = True
        return np.where(there, self.numbers(letter, rows, columns), 0).astype(TYPES[letter])

    def dominant(self, letter: str, n: int, positive: bool = False) -> Array:
        """One that can be factored and solved in any order; positive: and is Hermitian and positive definite."""
        a = self.matrix(letter, n, n) / 4
        a = a + a.conj().T if positive else a
        return (a - np.diag(np.diag(a)) + n * np.eye(n)).astype(TYPES[letter])

    def description(self, base: int = 0, matrix_type: int = 0, fill: int = 0, diagonal: int = 0) -> Any:
        made = self.new("cusparseMatDescr_t", "CreateMatDescr")
        self.ok("SetMatIndexBase", made, base)
        self.ok("SetMatType", made, matrix_type)
        self.ok("SetMatFillMode", made, fill)
        self.ok("SetMatDiagType", made, diagonal)
        return made
