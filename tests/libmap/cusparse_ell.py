"""cuSPARSE's matrices in blocked ELL format, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cusparse_generic import Generic
from tests.libmap.handle import TYPES
from tests.libmap.sparse import (
    COLUMNS,
    DATA_TYPE,
    INDEX_TYPE,
    INVALID_VALUE,
    NOT_SUPPORTED,
    PLAIN,
    ROWS,
    TRANSPOSED,
    op,
)

#: Columns of blocks in each row of blocks, of 4 rows and 5 columns of them; negative: none.
PLACES = np.array([[1, -1, 4], [0, 2, 3], [-1, -1, -1], [4, 0, -1]])
BLOCK = 3
SHAPE = (4 * BLOCK, 5 * BLOCK)


class BlockedEll(Generic):
    def placed(self, letter: str, where: Array, base: int, index: type) -> tuple[Any, Any]:
        """Descriptor and numbers, row after row."""
        columns = np.where(PLACES < 0, -1 + base, PLACES + base).astype(index)
        on = self.on(where)
        kinds = (INDEX_TYPE[np.dtype(index)], base, DATA_TYPE[letter])
        width = PLACES.shape[1] * BLOCK
        return self.new(
            "cusparseSpMatDescr_t", "CreateBlockedEll", *SHAPE, BLOCK, width, self.on(columns), on, *kinds
        ), on

    def filled(self, letter: str) -> tuple[Array, Array]:
        """Numbers as they are in memory, and the dense matrix."""
        values, whole = self.numbers(letter, SHAPE[0], PLACES.shape[1] * BLOCK), np.zeros(SHAPE, TYPES[letter])
        for row, places in enumerate(PLACES):
            for slot, column in enumerate(places):
                rows, part = slice(row * BLOCK, (row + 1) * BLOCK), slice(slot * BLOCK, (slot + 1) * BLOCK)
                if column < 0:
                    values[rows, part] = np.nan  # not read
                else:
                    whole[rows, column * BLOCK : (column + 1) * BLOCK] = values[rows, part]
        return values, whole

    def products(self, letter: str, result: str, sums: str) -> None:
        n = 7
        for base, index in ((0, np.int32), (1, np.int64)):
            values, whole = self.filled(letter)
            matrix, _ = self.placed(letter, values, base, index)
            for op_b, order, weight in ((PLAIN, COLUMNS, 0.0), (TRANSPOSED, COLUMNS, -0.5), (PLAIN, ROWS, 2.0)):
                b = self.numbers(letter, SHAPE[1], n)
                (db, _), old = self.dense(op(b, op_b), letter, order), self.old(result, weight, SHAPE[0], n)
                dc, on = self.dense(old[0], result, order)
                alpha, beta = self.scalar(sums, 1.5), self.scalar(sums, weight)
                given = (PLAIN, op_b, alpha, matrix, db, beta, dc, DATA_TYPE[sums], 13 if base else 0)
                buffer = self.buffer("SpMM_bufferSize", *given)
                self.call("SpMM_preprocess", *given, buffer)
                self.call("SpMM", *given, buffer)
                expected = 1.5 * whole.astype(np.float64) @ b.astype(np.float64) + weight * old[1].astype(np.float64)
                self.near(f"SpMM of ELL {op_b} {order}", result, self.now(on, (SHAPE[0], n), order), expected, SHAPE[1])
            self.ok("DestroySpMat", matrix)

    def factors_on_device(self) -> None:
        (values, whole), b = self.filled("D"), self.numbers("D", SHAPE[1], 2)
        (matrix, _), (db, _) = self.placed("D", values, 0, np.int32), self.dense(b, "D")
        dc, on = self.dense(np.ones((SHAPE[0], 2)), "D")
        self.call("SetPointerMode", 1)
        alpha, beta = self.on(np.array([2.0])), self.on(np.array([3.0]))
        given = (PLAIN, PLAIN, alpha, matrix, db, beta, dc, DATA_TYPE["D"], 0)
        self.call("SpMM", *given, self.buffer("SpMM_bufferSize", *given))
        self.call("SetPointerMode", 0)
        self.near("SpMM with factors on the device", "D", self.now(on, (SHAPE[0], 2)), 2 * whole @ b + 3, SHAPE[1])

    def conversions_of_ell(self, letter: str) -> None:
        values, whole = self.filled(letter)
        for order in (COLUMNS, ROWS):
            for base, index in ((0, np.int32), (1, np.int64)):
                a = self.numbers(letter, *SHAPE)
                (dense, _), (matrix, on) = self.dense(a, letter, order), self.placed(letter, values, base, index)
                given = (dense, matrix, 0)
                buffer = self.buffer("DenseToSparse_bufferSize", *given)
                self.call("DenseToSparse_analysis", *given, buffer)
                self.call("DenseToSparse_convert", *given, buffer)
                expected = np.zeros_like(values)
                for row, places in enumerate(PLACES):
                    for slot, column in enumerate(places):
                        rows = slice(row * BLOCK, (row + 1) * BLOCK)
                        part = a[rows, column * BLOCK : (column + 1) * BLOCK] if column >= 0 else 0
                        expected[rows, slot * BLOCK : (slot + 1) * BLOCK] = part
                self.same(f"ELL from {order} {letter}", on.now(), expected.ravel())
                (back, now), (matrix, _) = self.dense(a, letter, order), self.placed(letter, values, base, index)
                self.call("SparseToDense", matrix, back, 0, self.buffer("SparseToDense_bufferSize", matrix, back, 0))
                self.same(f"ELL to {order} {letter}", self.now(now, SHAPE, order), whole)

    def described(self) -> None:
        values, _ = self.filled("S")
        columns, on = self.on(PLACES.astype(np.int32)), self.on(values)
        for const in ("", "Const"):
            given = (*SHAPE, BLOCK, 9, columns, on, 2, 0, 0)
            matrix = self.new(f"cusparse{const}SpMatDescr_t", f"Create{const}BlockedEll", *given)
            numbers = [self.ffi.new("int64_t *") for _ in range(4)]
            places = [self.ffi.new("void **") for _ in range(2)]
            kinds = [self.ffi.new("int *") for _ in range(3)]
            self.ok(f"{const}BlockedEllGet", matrix, *numbers, *places, *kinds)
            self.client.check("of ELL", [n[0] for n in numbers] == [*SHAPE, BLOCK, 9] and places[1][0] == on.pointer)
            self.client.check("kinds of ELL", [n[0] for n in kinds] == [2, 0, 0])
        name, one, (db, _), (dc, _) = (
            "SpMM_bufferSize",
            self.scalar("S", 1),
            *(self.dense(self.numbers("S", rows, 2), "S") for rows in (SHAPE[1], SHAPE[0])),
        )
        place = self.ffi.new("cusparseSpMatDescr_t *")
        for what, sizes in (("negative", (-3, 6, 3, 3)), ("no block", (6, 6, 0, 3)), ("parts of blocks", (6, 6, 3, 4))):
            given = (place, *sizes, columns, on, 2, 0, 0)
            self.answers(what, INVALID_VALUE, "CreateBlockedEll", *given)
        size = self.ffi.new("size_t *")
        self.answers(
            "transposed", NOT_SUPPORTED, name, self.handle, TRANSPOSED, PLAIN, one, matrix, dc, one, db, 0, 0, size
        )
        self.answers("shapes", INVALID_VALUE, name, self.handle, PLAIN, PLAIN, one, matrix, dc, one, db, 0, 0, size)
        self.answers("types", NOT_SUPPORTED, name, self.handle, PLAIN, PLAIN, one, matrix, db, one, dc, 1, 0, size)
        self.answers(
            "no factor", INVALID_VALUE, name, self.handle, PLAIN, PLAIN, self.ffi.NULL, matrix, db, one, dc, 0, 0, size
        )
        dx, _ = self.vector(self.numbers("S", SHAPE[1]), "S")
        dy, _ = self.vector(self.numbers("S", SHAPE[0]), "S")
        self.answers(
            "a vector", NOT_SUPPORTED, "SpMV_bufferSize", self.handle, PLAIN, one, matrix, dx, one, dy, 0, 0, size
        )
        other, _ = self.dense(self.numbers("D", *SHAPE), "D")
        self.answers("two types", NOT_SUPPORTED, "DenseToSparse_bufferSize", self.handle, other, matrix, 0, size)

    def check_all(self) -> None:
        for kinds in (("S", "S", "S"), ("D", "D", "D"), ("H", "H", "S"), ("H", "S", "S")):
            self.products(*kinds)
        self.factors_on_device()
        for letter in "HSDC":
            self.conversions_of_ell(letter)
        self.described()
