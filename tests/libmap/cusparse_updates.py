"""cuSPARSE's solves with new numbers after the analysis, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cusparse_generic import COO, CSC, CSR, FILL_MODE, LOWER, NAMES, Generic
from tests.libmap.sparse import (
    DATA_TYPE,
    INVALID_VALUE,
    NOT_INITIALIZED,
    PLAIN,
    TRANSPOSED,
    compressed,
    coordinates,
    op,
)

GENERAL, DIAGONAL = range(2)


def numbers_of(a: Array, kind: int) -> Array:
    """As they are in memory."""
    return coordinates(a)[2] if kind == COO else compressed(a.T if kind == CSC else a)[2]


class Updates(Generic):
    def updated(self, letter: str, kind: int, operation: int, index: type, base: int) -> None:
        """All numbers, then the diagonal; and the diagonal of those at the analysis."""
        n, alpha = 23, self.scalar(letter, 1.5 - 0.5j)
        start = np.tril(self.dominant(letter, n)) / n
        other = (start * self.client.draw.uniform(0.5, 2, start.shape)).astype(start.dtype)
        diagonal = self.numbers(letter, n) + 2
        for steps in ((GENERAL, DIAGONAL), (DIAGONAL,)):
            matrix, _ = self.sparse(start, letter, kind, base, index)
            self.attribute(matrix, FILL_MODE, LOWER)
            for name, columns in (("SpSV", 0), ("SpSM", 3)):
                b = self.numbers(letter, n, columns) if columns else self.numbers(letter, n)
                place = self.dense if columns else self.vector
                (source, _), (target, on) = place(b, letter), place(np.zeros_like(b), letter)
                descr = self.new(f"cusparse{name}Descr_t", f"{name}_createDescr")
                ways = (operation, PLAIN) if columns else (operation,)
                given = (*ways, alpha, matrix, source, target, DATA_TYPE[letter], 0, descr)
                buffer = self.buffer(f"{name}_bufferSize", *given)
                self.call(f"{name}_analysis", *given, buffer)
                now = start.astype(np.result_type(start, np.float64))
                for step in steps:
                    now = (
                        other.astype(now.dtype) if step == GENERAL else now - np.diag(np.diag(now)) + np.diag(diagonal)
                    )
                    self.call(
                        f"{name}_updateMatrix",
                        descr,
                        self.on(numbers_of(other, kind) if step == GENERAL else diagonal),
                        step,
                    )
                    self.call(f"{name}_solve", *given)
                    found = self.now(on, b.shape) if columns else on.now()
                    what = f"{name} {NAMES[kind]} op {operation} updated {step}"
                    self.near(what, letter, found, np.linalg.solve(op(now, operation), alpha * b), n)
                self.ok(f"{name}_destroyDescr", descr)
            self.ok("DestroySpMat", matrix)

    def wrong(self) -> None:
        descr: Any = self.new("cusparseSpSVDescr_t", "SpSV_createDescr")
        values, null = self.on(np.zeros(4)), self.ffi.NULL
        name = "SpSV_updateMatrix"
        self.answers("no handle", NOT_INITIALIZED, name, null, descr, values, GENERAL)
        self.answers("no analysis", INVALID_VALUE, name, self.handle, descr, values, GENERAL)
        self.answers("no descriptor", INVALID_VALUE, name, self.handle, null, values, GENERAL)
        self.ok("SpSV_destroyDescr", descr)

    def check_all(self) -> None:
        for letter in "SDCZ":
            for operation in (PLAIN, TRANSPOSED):
                self.updated(letter, CSR, operation, np.int32, 0)
        self.updated("D", COO, PLAIN, np.int32, 1)
        self.updated("S", CSR, PLAIN, np.int64, 1)
        self.wrong()
