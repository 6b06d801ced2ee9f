"""cuSPARSE's functions of earlier releases: vectors, products and sums of matrices, against numpy."""

from __future__ import annotations

import numpy as np

from tests.libmap.sparse import (
    COLUMNS,
    CONJUGATED,
    INVALID_VALUE,
    PLAIN,
    TRANSPOSED,
    Sparse,
    blocks,
    compressed,
    op,
    restored,
)

ROW, COLUMN = 0, 1  # order of the numbers in a block
assert COLUMNS  # of dense matrices: all here lie so


class Products(Sparse):
    def vectors(self, letter: str) -> None:
        n, count = 30, 9
        for base in (0, 1):
            places = np.sort(self.client.draw.permutation(n)[:count])
            x, y, alpha = self.numbers(letter, count), self.numbers(letter, n), self.scalar(letter, 1.5 - 1j)
            on_x, at, on_y = self.on(x), self.on((places + base).astype(np.int32)), self.on(y)
            self.call(f"{letter}axpyi", count, alpha, on_x, at, on_y, base)
            y[places] += alpha * x
            self.near("axpyi", letter, on_y.now(), y)
            self.call(f"{letter}gthr", count, on_y, on_x, at, base)
            self.same(f"{letter}gthr", on_x.now(), on_y.now()[places])
            x = self.numbers(letter, count)
            self.call(f"{letter}sctr", count, self.on(x), at, on_y, base)
            y[places] = x
            self.near("sctr", letter, on_y.now(), y)
            if letter in "SD":
                c, s = self.scalar(letter, 0.8), self.scalar(letter, 0.6)
                other = self.numbers(letter, count)
                on_x = self.on(other)
                self.call(f"{letter}roti", count, on_x, at, on_y, c, s, base)
                self.near("roti, x", letter, on_x.now(), c * other + s * x)
                y[places] = c * x - s * other
                self.near("roti, y", letter, on_y.now(), y)
            self.call(f"{letter}gthrz", count, on_y, on_x, at, base)
            self.near("gthrz, x", letter, on_x.now(), y[places])
            y[places] = 0
            self.near("gthrz, y", letter, on_y.now(), y)

    def sparse_vector(self, letter: str) -> None:
        """A dense matrix by a sparse vector."""
        m, n, count = 14, 20, 6
        a, alpha, beta = self.numbers(letter, m, n), self.scalar(letter, 1.5 - 1j), self.scalar(letter, 0.5)
        for operation in (PLAIN, TRANSPOSED, CONJUGATED):
            turned = op(a, operation)
            places = np.sort(self.client.draw.permutation(turned.shape[1])[:count]).astype(np.int32)
            x, y = self.numbers(letter, count), self.numbers(letter, turned.shape[0])
            on = self.on(y)
            buffer = self.buffer(f"{letter}gemvi_bufferSize", operation, m, n, count, kind="int")
            given = (operation, m, n, alpha, self.on(a.T), m, count, self.on(x), self.on(places), beta, on, 0, buffer)
            self.call(f"{letter}gemvi", *given)
            expected = alpha * (turned[:, places] @ x) + beta * y
            self.near(f"gemvi op {operation}", letter, on.now(), expected, count)
            on, first = self.on(np.full_like(y, np.nan)), self.on(places + 1)
            alone = (operation, m, n, alpha, self.on(a.T), m, count, self.on(x), first, 0 * beta, on, 1, buffer)
            if operation != PLAIN:  # rocSPARSE reads the old result
                self.call(f"{letter}gemvi", *alone)
                self.near(f"gemvi op {operation} alone", letter, on.now(), alpha * (turned[:, places] @ x), count)
                wrong = (*alone[:5], m - 1, *alone[6:])
                self.answers("columns", INVALID_VALUE, f"{letter}gemvi", self.handle, *wrong)
                self.answers("no op", INVALID_VALUE, f"{letter}gemvi", self.handle, 3, *alone[1:])

    def dense_by_sparse(self, letter: str) -> None:
        m, k, n = 9, 14, 11
        a, b, c = self.numbers(letter, m, k), self.matrix(letter, k, n), self.numbers(letter, m, n)
        alpha, beta, on = self.scalar(letter, 1.5 - 1j), self.scalar(letter, 0.5), self.on(c.T)
        offsets, rows, values = map(self.on, compressed(b.T))
        count = len(values.values)
        self.call(f"{letter}gemmi", m, n, k, count, alpha, self.on(a.T), m, values, offsets, rows, beta, on, m)
        self.near("gemmi", letter, on.now().reshape(n, m).T, alpha * (a @ b) + beta * c, k)

    def block_products(self, letter: str) -> None:
        side, rows, columns, n = 3, 5, 7, 6
        alpha, beta, descr = self.scalar(letter, 1.5 - 1j), self.scalar(letter, 0.5), self.description()
        for direction in (ROW, COLUMN):
            a = self.matrix(letter, rows * side, columns * side, 0.1)
            offsets, places, values = map(self.on, blocks(a, side, side, by_column=direction == COLUMN))
            count, x, y = len(places.values), self.numbers(letter, a.shape[1]), self.numbers(letter, a.shape[0])
            on = self.on(y)
            about = (direction, PLAIN, rows, columns, count, alpha, descr, values, offsets, places, side)
            self.call(f"{letter}bsrmv", *about, self.on(x), beta, on)
            self.near(f"bsrmv direction {direction}", letter, on.now(), alpha * (a @ x) + beta * y, len(x))
            for op_b in (PLAIN, TRANSPOSED):
                b, c = self.numbers(letter, a.shape[1], n), self.numbers(letter, a.shape[0], n)
                stored = b if op_b == PLAIN else b.T
                on, head = self.on(c.T), (direction, PLAIN, op_b, rows, n, columns, count, alpha, descr)
                self.call(f"{letter}bsrmm", *head, values, offsets, places, side, self.on(stored.T), len(stored), beta,
                          on, len(c))  # fmt: skip
                found = on.now().reshape(n, -1).T
                self.near(f"bsrmm direction {direction} op {op_b}", letter, found, alpha * (a @ b) + beta * c, len(b))
            mask, on = np.array([0, 3], np.int32), self.on(y)
            ends = self.on(offsets.values[1:])
            self.call(f"{letter}bsrxmv", direction, PLAIN, 2, rows, columns, count, alpha, descr, values, self.on(mask),
                      offsets, ends, places, side, self.on(x), beta, on)  # fmt: skip
            expected = y.copy()
            for row in mask:
                part = slice(row * side, (row + 1) * side)
                expected[part] = alpha * (a[part] @ x) + beta * y[part]
            self.near(f"bsrxmv direction {direction}", letter, on.now(), expected, len(x))

    def sums(self, letter: str) -> None:
        m, n = 13, 17
        a, b = self.matrix(letter, m, n), self.matrix(letter, m, n)
        alpha, beta, descr = self.scalar(letter, 1.5 - 1j), self.scalar(letter, 0.5), self.description()
        (pa, ca, va), (pb, cb, vb) = map(self.on, compressed(a)), map(self.on, compressed(b))
        na, nb, total = len(va.values), len(vb.values), np.zeros(1, np.int32)
        offsets, null = self.on(np.zeros(m + 1, np.int32)), self.ffi.NULL
        numbers = (m, n, alpha, descr, na, va, pa, ca, beta, descr, nb, vb, pb, cb, descr)
        buffer = self.buffer(f"{letter}csrgeam2_bufferSizeExt", *numbers, null, offsets, null)
        self.call("Xcsrgeam2Nnz", m, n, descr, na, pa, ca, descr, nb, pb, cb, descr, offsets, total, buffer)
        columns, values = self.on(np.zeros(total[0], np.int32)), self.on(self.numbers(letter, total[0]))
        self.call(f"{letter}csrgeam2", *numbers, values, offsets, columns, buffer)
        found = restored((m, n), offsets.now(), columns.now(), values.now())
        self.near("csrgeam2", letter, found, alpha * a + beta * b)

    def sparse_products(self, letter: str) -> None:
        """alpha A B + beta D."""
        m, k, n = 12, 15, 10
        a, b, d = self.matrix(letter, m, k, 0.2), self.matrix(letter, k, n, 0.2), self.matrix(letter, m, n, 0.2)
        alpha, beta, descr = self.scalar(letter, 1.5 - 1j), self.scalar(letter, 0.5), self.description()
        info = self.new("csrgemm2Info_t", "CreateCsrgemm2Info")
        parts = [list(map(self.on, compressed(one))) for one in (a, b, d)]
        structure = [(descr, len(v.values), p, c) for p, c, v in parts]
        numbers = [(descr, len(v.values), v, p, c) for p, c, v in parts]
        buffer = self.buffer(f"{letter}csrgemm2_bufferSizeExt", m, n, k, alpha, *structure[0], *structure[1], beta,
                             *structure[2], info)  # fmt: skip
        offsets, total = self.on(np.zeros(m + 1, np.int32)), np.zeros(1, np.int32)
        every = [part for one in structure for part in one]
        self.call("Xcsrgemm2Nnz", m, n, k, *every, descr, offsets, total, info, buffer)
        columns, values = self.on(np.zeros(total[0], np.int32)), self.on(self.numbers(letter, total[0]))
        self.call(f"{letter}csrgemm2", m, n, k, alpha, *numbers[0], *numbers[1], beta, *numbers[2], descr, values,
                  offsets, columns, info, buffer)  # fmt: skip
        found = restored((m, n), offsets.now(), columns.now(), values.now())
        self.near("csrgemm2", letter, found, alpha * (a @ b) + beta * d, k)
        self.ok("DestroyCsrgemm2Info", info)

    def descriptions(self) -> None:
        """Those of matrices, and what they say."""
        made = self.description(base=1, matrix_type=3, fill=1, diagonal=1)
        copy, library = self.description(), self.client.library
        self.ok("CopyMatDescr", copy, made)
        for one in (made, copy):
            names = ("MatIndexBase", "MatType", "MatFillMode", "MatDiagType")
            found = [getattr(library, f"cusparseGet{name}")(one) for name in names]
            self.client.check(f"a description: {found}", found == [1, 3, 1, 1])
            self.ok("DestroyMatDescr", one)

    def check_all(self) -> None:
        self.descriptions()
        for letter in "SDCZ":
            self.vectors(letter)
            self.sparse_vector(letter)
            self.dense_by_sparse(letter)
            self.block_products(letter)
            self.sums(letter)
            self.sparse_products(letter)
