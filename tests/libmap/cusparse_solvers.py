"""cuSPARSE's solvers of earlier releases: triangles, incomplete factors, diagonals, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.handle import TYPES
from tests.libmap.sparse import (
    CONJUGATED,
    INVALID_VALUE,
    NOT_INITIALIZED,
    PLAIN,
    TRANSPOSED,
    ZERO_PIVOT,
    Sparse,
    blocks,
    compressed,
    of_blocks,
    op,
    restored,
)

LOWER, UPPER, NO_LEVEL, LEVEL = 0, 1, 0, 1
SIDE = 3


def incomplete_lu(a: Array) -> Array:
    """Factors in one matrix, without numbers where the matrix has none."""
    out, there = a.astype(np.result_type(a, np.float64)), a != 0
    for i in range(len(a)):
        for k in range(i):
            if there[i, k]:
                out[i, k] /= out[k, k]
                out[i, k + 1 :] -= np.where(there[i, k + 1 :], out[i, k] * out[k, k + 1 :], 0)
    return out


def incomplete_cholesky(a: Array) -> Array:
    """The lower factor, without numbers where the matrix has none."""
    out, there = np.tril(a).astype(np.result_type(a, np.float64)), a != 0
    for k in range(len(a)):
        out[k, k] = np.sqrt(out[k, k].real)
        out[k + 1 :, k] /= out[k, k]
        for j in range(k + 1, len(a)):
            out[j:, j] -= np.where(there[j:, j], out[j:, k] * out[j, k].conj(), 0)
    return out


def block_factor(a: Array, factor: Any) -> Array:
    """As above where zeros inside of blocks count as numbers."""
    parts = a.reshape(len(a) // SIDE, SIDE, len(a) // SIDE, SIDE)
    there = abs(parts).sum(axis=(1, 3))[:, None, :, None] * np.ones((1, SIDE, 1, SIDE)) > 0
    tiny = np.where(there.reshape(a.shape) & (a == 0), 1e-300, a.astype(np.result_type(a, np.float64)))
    return np.asarray(factor(tiny))


class Solvers(Sparse):
    def place(self) -> Array:
        return np.full(1, -2, np.int32)

    def no_pivot(self, name: str, info: Any) -> None:
        """No diagonal number is zero."""
        position = self.place()
        self.call(f"X{name}_zeroPivot", info, position)
        self.client.check(f"{name}: pivot {position}", position[0] == -1)

    def triangles(self, letter: str) -> None:
        n, count = 24, 5
        for fill in (LOWER, UPPER):
            for operation in (PLAIN, TRANSPOSED, CONJUGATED):
                a, unit = self.dominant(letter, n) / n, operation == TRANSPOSED
                part = np.tril(a) if fill == LOWER else np.triu(a)
                part = part - np.diag(np.diag(part)) + np.eye(n) if unit else part
                descr = self.description(fill=fill, diagonal=int(unit))
                offsets, columns, values = map(self.on, compressed(a))
                matrix = (descr, values, offsets, columns)
                turned = op(part, operation).astype(np.result_type(a, np.float64))
                self.one(letter, operation, matrix, turned)
                self.many(letter, operation, matrix, turned, count)

    def one(self, letter: str, operation: int, matrix: tuple[Any, ...], a: Array) -> None:
        n, count, info = len(a), len(matrix[1].values), self.new("csrsv2Info_t", "CreateCsrsv2Info")
        about, f, alpha = (operation, n, count), self.numbers(letter, len(a)), self.scalar(letter, 1.5 - 1j)
        buffer = self.buffer(f"{letter}csrsv2_bufferSize", *about, *matrix, info, kind="int")
        self.buffer(f"{letter}csrsv2_bufferSizeExt", *about, *matrix, info)
        self.call(f"{letter}csrsv2_analysis", *about, *matrix, info, LEVEL, buffer)
        on = self.on(np.zeros_like(f))
        self.call(f"{letter}csrsv2_solve", *about, alpha, *matrix, info, self.on(f), on, LEVEL, buffer)
        self.near(f"csrsv2 op {operation}", letter, on.now(), np.linalg.solve(a, alpha * f), n)
        self.no_pivot("csrsv2", info)
        self.ok("DestroyCsrsv2Info", info)

    def many(self, letter: str, operation: int, matrix: tuple[Any, ...], a: Array, count: int) -> None:
        for op_b in (PLAIN, TRANSPOSED):
            n, total, info = len(a), len(matrix[1].values), self.new("csrsm2Info_t", "CreateCsrsm2Info")
            b, alpha = self.numbers(letter, n, count), self.scalar(letter, 1.5 - 1j)
            on, ld = self.on(b.T if op_b == PLAIN else b), n if op_b == PLAIN else count
            given = (0, operation, op_b, n, count, total, alpha, *matrix, on, ld, info, NO_LEVEL)
            buffer = self.buffer(f"{letter}csrsm2_bufferSizeExt", *given)
            self.call(f"{letter}csrsm2_analysis", *given, buffer)
            self.call(f"{letter}csrsm2_solve", *given, buffer)
            found = on.now().reshape(count, n).T if op_b == PLAIN else on.now().reshape(n, count)
            self.near(f"csrsm2 ops {operation} {op_b}", letter, found, np.linalg.solve(a, alpha * b), n)
            self.no_pivot("csrsm2", info)
            self.ok("DestroyCsrsm2Info", info)

    def block_triangles(self, letter: str) -> None:
        rows, count = 6, 4
        n = rows * SIDE
        for fill in (LOWER, UPPER):
            for operation in (PLAIN, TRANSPOSED):
                for direction in (0, 1):
                    a, descr = self.dominant(letter, n) / n, self.description(fill=fill)
                    part = np.tril(a) if fill == LOWER else np.triu(a)
                    exact = op(part, operation).astype(np.result_type(a, np.float64))
                    offsets, columns, values = map(self.on, blocks(a, SIDE, SIDE, by_column=direction == 1))
                    matrix, total = (descr, values, offsets, columns, SIDE), len(columns.values)
                    alpha, f, info = (
                        self.scalar(letter, 1.5),
                        self.numbers(letter, n),
                        self.new("bsrsv2Info_t", "CreateBsrsv2Info"),
                    )
                    about = (direction, operation, rows, total)
                    buffer = self.buffer(f"{letter}bsrsv2_bufferSize", *about, *matrix, info, kind="int")
                    self.buffer(f"{letter}bsrsv2_bufferSizeExt", *about, *matrix, info)
                    self.call(f"{letter}bsrsv2_analysis", *about, *matrix, info, LEVEL, buffer)
                    on = self.on(np.zeros_like(f))
                    self.call(f"{letter}bsrsv2_solve", *about, alpha, *matrix, info, self.on(f), on, LEVEL, buffer)
                    what = f"op {operation} fill {fill} direction {direction}"
                    self.near(f"bsrsv2 {what}", letter, on.now(), np.linalg.solve(exact, alpha * f), n)
                    self.no_pivot("bsrsv2", info)
                    self.ok("DestroyBsrsv2Info", info)
                    self.block_many(letter, (direction, operation), matrix, exact, count, what)

    def block_many(
        self, letter: str, ways: tuple[int, int], matrix: tuple[Any, ...], a: Array, count: int, what: str
    ) -> None:
        n, info, alpha = len(a), self.new("bsrsm2Info_t", "CreateBsrsm2Info"), self.scalar(letter, 1.5)
        about = (*ways, PLAIN, n // SIDE, count, len(matrix[3].values))
        self.buffer(f"{letter}bsrsm2_bufferSize", *about, *matrix, info, kind="int")
        buffer = self.buffer(f"{letter}bsrsm2_bufferSizeExt", *about, *matrix, info)
        self.call(f"{letter}bsrsm2_analysis", *about, *matrix, info, LEVEL, buffer)
        b = self.numbers(letter, n, count)
        on = self.on(np.zeros_like(b))
        self.call(f"{letter}bsrsm2_solve", *about, alpha, *matrix, info, self.on(b.T), n, on, n, LEVEL, buffer)
        self.near(f"bsrsm2 {what}", letter, on.now().reshape(count, n).T, np.linalg.solve(a, alpha * b), n)
        self.no_pivot("bsrsm2", info)
        self.ok("DestroyBsrsm2Info", info)

    def factors(self, letter: str) -> None:
        n = 20
        for kind, factor in (("csrilu02", incomplete_lu), ("csric02", incomplete_cholesky)):
            title, a = kind.capitalize(), self.dominant(letter, n, positive=True)
            offsets, columns, values = map(self.on, compressed(a))
            info = self.new(f"{kind}Info_t", f"Create{title}Info")
            given = (n, len(columns.values), self.description(), values, offsets, columns, info)
            buffer = self.buffer(f"{letter}{kind}_bufferSize", *given, kind="int")
            self.buffer(f"{letter}{kind}_bufferSizeExt", *given)
            self.call(f"{letter}{kind}_analysis", *given, LEVEL, buffer)
            if kind == "csrilu02":
                self.call(f"{letter}{kind}_numericBoost", info, 0, np.zeros(1), self.scalar(letter, 1))
            self.call(f"{letter}{kind}", *given, LEVEL, buffer)
            found = restored((n, n), offsets.values, columns.values, values.now())
            found = np.tril(found) if kind == "csric02" else found
            self.near(kind, letter, found, factor(a), n)
            self.no_pivot(kind, info)
            self.ok(f"Destroy{title}Info", info)

    def block_factors(self, letter: str) -> None:
        rows = 5
        n = rows * SIDE
        for kind, factor in (("bsrilu02", incomplete_lu), ("bsric02", incomplete_cholesky)):
            for direction in (0, 1):
                title, a = kind.capitalize(), self.dominant(letter, n, positive=True)
                offsets, columns, values = map(self.on, blocks(a, SIDE, SIDE, by_column=direction == 1))
                info, total = self.new(f"{kind}Info_t", f"Create{title}Info"), len(columns.values)
                given = (direction, rows, total, self.description(), values, offsets, columns, SIDE, info)
                self.buffer(f"{letter}{kind}_bufferSize", *given, kind="int")
                buffer = self.buffer(f"{letter}{kind}_bufferSizeExt", *given)
                self.call(f"{letter}{kind}_analysis", *given, LEVEL, buffer)
                if kind == "bsrilu02":
                    self.call(f"{letter}{kind}_numericBoost", info, 0, np.zeros(1), self.scalar(letter, 1))
                self.call(f"{letter}{kind}", *given, LEVEL, buffer)
                found = of_blocks(
                    (rows, rows), offsets.values, columns.values, values.now(), SIDE, SIDE, direction == 1
                )
                found = np.tril(found) if kind == "bsric02" else found
                self.near(f"{kind} direction {direction}", letter, found, block_factor(a, factor), n)
                self.no_pivot(kind, info)
                self.ok(f"Destroy{title}Info", info)

    def zero_pivots(self) -> None:
        """A zero on the diagonal is found, and may be replaced."""
        for boost in (False, True):
            a = np.diag([4.0, 0.0, 5.0])
            offsets, columns = self.on(np.arange(4, dtype=np.int32)), self.on(np.arange(3, dtype=np.int32))
            values, info = self.on(np.diag(a).copy()), self.new("csrilu02Info_t", "CreateCsrilu02Info")
            given = (3, 3, self.description(), values, offsets, columns, info)
            buffer, position = self.buffer("Dcsrilu02_bufferSize", *given, kind="int"), self.place()
            self.call("Dcsrilu02_analysis", *given, LEVEL, buffer)
            if boost:
                self.call("Dcsrilu02_numericBoost", info, 1, np.array([1e-8]), np.array([2.0]))
            self.call("Dcsrilu02", *given, LEVEL, buffer)
            if boost:
                self.same("a pivot that was replaced", values.now(), np.array([4.0, 2.0, 5.0]))
            else:
                self.answers("a zero", ZERO_PIVOT, "Xcsrilu02_zeroPivot", self.handle, info, position)
                self.same("where it is", position, np.array([1]))

    def complex_pivots(self) -> None:
        """The row of a zero in factors of complex numbers; wrong arguments."""
        for letter in "CZ":
            a = np.array([[4, 0, 2j], [0, 0, 0], [-2j, 0, 5]])
            offsets, columns = self.on(np.array([0, 1, 2, 4], np.int32)), self.on(np.array([0, 1, 0, 2], np.int32))
            values = self.on(np.array([a[0, 0], 0, a[2, 0], a[2, 2]], TYPES[letter]))
            info, position = self.new("csric02Info_t", "CreateCsric02Info"), self.place()
            given = (3, 4, self.description(), values, offsets, columns, info)
            buffer = self.buffer(f"{letter}csric02_bufferSize", *given, kind="int")
            self.call(f"{letter}csric02_analysis", *given, NO_LEVEL, buffer)
            self.call(f"{letter}csric02", *given, NO_LEVEL, buffer)
            self.answers("a zero", ZERO_PIVOT, "Xcsric02_zeroPivot", self.handle, info, position)
            self.same("where it is", position, np.array([1]))
            self.near("the other rows", letter, values.now(), np.array([2, 0, -1j, 2]))
            wrong = (*given[:3], self.ffi.NULL, *given[4:])
            self.answers("no numbers", INVALID_VALUE, f"{letter}csric02", self.handle, *wrong, NO_LEVEL, buffer)
            self.answers("no buffer", INVALID_VALUE, f"{letter}csric02", self.handle, *given, NO_LEVEL, self.ffi.NULL)
            self.answers("no policy", INVALID_VALUE, f"{letter}csric02", self.handle, *given, 2, buffer)
            self.answers("no handle", NOT_INITIALIZED, f"{letter}csric02", self.ffi.NULL, *given, NO_LEVEL, buffer)
            blocks = (2, *given[:-1], 2, self.new("bsric02Info_t", "CreateBsric02Info"))
            self.answers("a direction", INVALID_VALUE, f"{letter}bsric02", self.handle, *blocks, NO_LEVEL, buffer)
            self.ok("DestroyCsric02Info", info)

    def diagonals(self, letter: str) -> None:
        """Three diagonals: several right-hand sides, several systems one after the other and interleaved."""
        m, n = 17, 4
        a = self.numbers(letter, 3, n, m)
        a[1] += 4 * np.sign(a[1].real)
        a[0, :, 0] = a[2, :, -1] = 0
        full = [np.diag(a[1, i]) + np.diag(a[0, i, 1:], -1) + np.diag(a[2, i, :-1], 1) for i in range(n)]
        full = [one.astype(np.result_type(one, np.float64)) for one in full]
        b = self.numbers(letter, n, m)
        dl, d, du = (self.on(a[i, 0]) for i in range(3))
        for name in ("gtsv2", "gtsv2_nopivot"):
            on = self.on(b)
            given = (m, n, dl, d, du, on, m)
            self.call(f"{letter}{name}", *given, self.buffer(f"{letter}{name}_bufferSizeExt", *given))
            self.near(name, letter, on.now().reshape(n, m).T, np.linalg.solve(full[0], b.T), m)
        on, expected = self.on(b), np.array([np.linalg.solve(one, x) for one, x in zip(full, b, strict=True)])
        given = (m, *(self.on(a[i]) for i in range(3)), on, n, m)
        self.call(f"{letter}gtsv2StridedBatch", *given, self.buffer(f"{letter}gtsv2StridedBatch_bufferSizeExt", *given))
        self.near("gtsv2StridedBatch", letter, on.now().reshape(n, m), expected, m)
        for algorithm in range(3):
            on = self.on(b.T)
            given = (algorithm, m, *(self.on(a[i].T) for i in range(3)), on, n)
            name = f"{letter}gtsvInterleavedBatch"
            self.call(name, *given, self.buffer(f"{name}_bufferSizeExt", *given))
            self.near(f"gtsvInterleavedBatch {algorithm}", letter, on.now().reshape(m, n).T, expected, m)
        self.five(letter)

    def five(self, letter: str) -> None:
        m, n = 15, 3
        a, b = self.numbers(letter, 5, n, m), self.numbers(letter, n, m)
        a[2] += 6 * np.sign(a[2].real)
        a[0, :, :2] = a[1, :, :1] = a[3, :, -1:] = a[4, :, -2:] = 0
        expected = []
        for i in range(n):
            full = np.diag(a[2, i]).astype(np.result_type(a, np.float64))
            for row, offset in ((0, -2), (1, -1)):
                full += np.diag(a[row, i, -offset:], offset)
            for row, offset in ((3, 1), (4, 2)):
                full += np.diag(a[row, i, :-offset], offset)
            expected.append(np.linalg.solve(full, b[i]))
        on, name = self.on(b.T), f"{letter}gpsvInterleavedBatch"
        given = (0, m, *(self.on(a[i].T) for i in range(5)), on, n)
        self.call(name, *given, self.buffer(f"{name}_bufferSizeExt", *given))
        self.near("gpsvInterleavedBatch", letter, on.now().reshape(m, n).T, np.array(expected), m)

    def check_all(self) -> None:
        self.zero_pivots()
        self.complex_pivots()
        for letter in "SDCZ":
            self.triangles(letter)
            self.block_triangles(letter)
            self.factors(letter)
            self.block_factors(letter)
            self.diagonals(letter)
