"""cuSPARSE's generic functions: descriptors, vectors, products, solutions and conversions, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.handle import TYPES
from tests.libmap.sparse import (
    COLUMNS,
    CONJUGATED,
    DATA_TYPE,
    INDEX_TYPE,
    NOT_SUPPORTED,
    PLAIN,
    ROWS,
    TRANSPOSED,
    Sparse,
    compressed,
    coordinates,
    op,
    restored,
)  # fmt: skip

CSR, CSC, COO = 1, 2, 3
LOWER, UPPER, FILL_MODE, DIAG_TYPE = 0, 1, 0, 1
#: Algorithms of products with vectors and with matrices, by format.
SPMV = {CSR: (0, 2, 3), CSC: (0,), COO: (0, 1, 4)}
SPMM = {CSR: (0, 4, 6, 12), CSC: (0,), COO: (0, 1, 2, 5)}
NAMES = {CSR: "Csr", CSC: "Csc", COO: "Coo"}
#: Types and beta; where that is 0, the result's old values are not read.
WEIGHTS = (*((letter, -0.5 + 1j) for letter in "SDCZ"), ("S", 0), ("C", 0))


class Generic(Sparse):
    def vector(self, values: Array | Device, letter: str) -> tuple[Any, Device]:
        """Descriptor and contents of a dense vector."""
        on = values if isinstance(values, Device) else self.on(values)
        made = self.new("cusparseDnVecDescr_t", "CreateDnVec", len(on.values), on.pointer, DATA_TYPE[letter])
        return made, on

    def dense(self, a: Array, letter: str, order: int = COLUMNS) -> tuple[Any, Device]:
        on = self.on(a.T if order == COLUMNS else a)
        ld = a.shape[0] if order == COLUMNS else a.shape[1]
        made = self.new("cusparseDnMatDescr_t", "CreateDnMat", *a.shape, ld, on.pointer, DATA_TYPE[letter], order)
        return made, on

    def now(self, on: Device, shape: tuple[int, ...], order: int = COLUMNS) -> Array:
        return on.now().reshape(shape[::-1]).T if order == COLUMNS else on.now().reshape(shape)

    def sparse(
        self, a: Array, letter: str, kind: int = CSR, base: int = 0, index: type = np.int32, const: str = ""
    ) -> tuple[Any, list[Device]]:
        """Descriptor and arrays of a sparse matrix."""
        parts = coordinates(a, base, index) if kind == COO else compressed(a.T if kind == CSC else a, base, index)
        on, number = [self.on(part) for part in parts], INDEX_TYPE[np.dtype(index)]
        types = (number,) if kind == COO else (number, number)
        made = self.new(
            f"cusparse{const}SpMatDescr_t", f"Create{const}{NAMES[kind]}", *a.shape, len(parts[2]), *on, *types, base,
            DATA_TYPE[letter],
        )  # fmt: skip
        return made, on

    def old(self, letter: str, weight: complex, *shape: int) -> tuple[Array, Array]:
        """A result's values before a product, and what counts of them."""
        values = self.numbers(letter, *shape)
        return (values, values) if weight else (np.full_like(values, np.nan), np.zeros_like(values))

    # ---- products ----

    def products_with_vectors(self) -> None:
        m, n = 37, 29
        for letter, weight in WEIGHTS:
            a, alpha, beta = self.matrix(letter, m, n), self.scalar(letter, 1.5 - 0.5j), self.scalar(letter, weight)
            for kind, algorithms in SPMV.items():
                for operation in (PLAIN, TRANSPOSED, CONJUGATED):
                    for algorithm in algorithms:
                        index, base = ((np.int32, 0), (np.int64, 1))[algorithm % 2]
                        matrix, _ = self.sparse(a, letter, kind, base, index)
                        turned = op(a, operation)
                        x, (y, before) = self.numbers(letter, turned.shape[1]), self.old(letter, weight, len(turned))
                        (dx, _), (dy, on) = self.vector(x, letter), self.vector(y, letter)
                        given = (operation, alpha, matrix, dx, beta, dy, DATA_TYPE[letter], algorithm)
                        buffer = self.buffer("SpMV_bufferSize", *given)
                        self.call("SpMV_preprocess", *given, buffer)
                        self.call("SpMV", *given, buffer)
                        what = f"SpMV {NAMES[kind]} op {operation} algorithm {algorithm}"
                        self.near(what, letter, on.now(), alpha * (turned @ x) + beta * before, n)
                        self.ok("DestroySpMat", matrix)
                        self.ok("DestroyDnVec", dx)

    def mixed(self) -> None:
        """f16 and 8-bit integers, sums in f32 and 32-bit integers."""
        m, k, n = 20, 24, 8
        for letter, sums in (("H", "S"), ("I", "J"), ("I", "S")):
            whole = self.client.draw.integers(-4, 5, (m, k)) * (self.client.draw.uniform(0, 1, (m, k)) < 0.4)
            a, b = whole.astype(TYPES[letter]), self.client.draw.integers(-3, 4, (k, n)).astype(TYPES[letter])
            one, zero, kind = np.ones(1, TYPES[sums]), np.zeros(1, TYPES[sums]), DATA_TYPE[sums]
            matrix, _ = self.sparse(a, letter)
            exact = a.astype(float) @ b.astype(float)
            (dx, _), (dy, on) = self.vector(b[:, 0], letter), self.vector(np.zeros(m, TYPES[sums]), sums)
            given = (PLAIN, one, matrix, dx, zero, dy, kind, 0)
            self.call("SpMV", *given, self.buffer("SpMV_bufferSize", *given))
            self.near(f"SpMV of {letter}", sums, on.now(), exact[:, 0], k)
            (db, _), (dc, on) = self.dense(b, letter), self.dense(np.zeros((m, n), TYPES[sums]), sums)
            whole_product = (PLAIN, PLAIN, one, matrix, db, zero, dc, kind, 0)
            self.call("SpMM", *whole_product, self.buffer("SpMM_bufferSize", *whole_product))
            self.near(f"SpMM of {letter}", sums, self.now(on, (m, n)), exact, k)
        (dx, _), (dy, _) = self.vector(np.zeros(k, np.float16), "H"), self.vector(np.zeros(m, np.float16), "H")
        matrix, _ = self.sparse(a.astype(np.float16), "H")
        given = (self.handle, PLAIN, one, matrix, dx, zero, dy, DATA_TYPE["S"], 0, self.room(64))
        self.answers("of f16 into f16", NOT_SUPPORTED, "SpMV", *given)

    def products_with_matrices(self) -> None:
        m, k, n = 33, 25, 11
        for letter, weight in WEIGHTS:
            a, alpha = self.matrix(letter, m, k), self.scalar(letter, 1.5 - 0.5j)
            for kind, algorithms in SPMM.items():
                for number, algorithm in enumerate(algorithms):
                    operation = (PLAIN, TRANSPOSED, CONJUGATED)[number % 3] if algorithm in (0, 4) else PLAIN
                    for order in (COLUMNS, ROWS):
                        for op_b in (PLAIN, TRANSPOSED):
                            self.product(letter, (kind, algorithm, operation, op_b, order), a, n, alpha, weight)
                self.product(letter, (kind, 0, TRANSPOSED, PLAIN, ROWS), a, n, alpha, weight)

    def product(
        self, letter: str, case: tuple[int, int, int, int, int], a: Array, n: int, alpha: Array, weight: complex
    ) -> None:
        kind, algorithm, operation, op_b, order = case
        turned, beta = op(a, operation), self.scalar(letter, weight)
        b, (c, before) = self.numbers(letter, turned.shape[1], n), self.old(letter, weight, len(turned), n)
        matrix, _ = self.sparse(a, letter, kind)
        (db, _), (dc, on) = self.dense(b if op_b == PLAIN else b.T, letter, order), self.dense(c, letter, order)
        given = (operation, op_b, alpha, matrix, db, beta, dc, DATA_TYPE[letter], algorithm)
        buffer = self.buffer("SpMM_bufferSize", *given)
        self.call("SpMM_preprocess", *given, buffer)
        self.call("SpMM", *given, buffer)
        what = f"SpMM {NAMES[kind]} algorithm {algorithm} ops {operation} {op_b} order {order}"
        self.near(what, letter, self.now(on, c.shape, order), alpha * (turned @ b) + beta * before, len(b))

    def sampled(self) -> None:
        """A product of dense matrices where a sparse one is not zero."""
        m, k, n = 17, 9, 13
        for letter in "SDCZ":
            s, alpha, beta = self.matrix(letter, m, n), self.scalar(letter, 1.5), self.scalar(letter, -0.5)
            a, b = self.numbers(letter, m, k), self.numbers(letter, k, n)
            for name in ("SDDMM", "ConstrainedGeMM"):
                matrix, on = self.sparse(s, letter)
                (da, _), (db, _) = self.dense(a, letter), self.dense(b, letter)
                given = [PLAIN, PLAIN, alpha, da, db, beta, matrix, DATA_TYPE[letter], 0]
                given = given if name == "SDDMM" else given[:-1]
                buffer = self.buffer(f"{name}_bufferSize", *given)
                if name == "SDDMM":
                    self.call("SDDMM_preprocess", *given, buffer)
                self.call(name, *given, buffer)
                expected = (alpha * (a @ b) + beta * s)[np.nonzero(s)]
                self.near(name, letter, on[2].now(), expected, k)

    def sparse_products(self) -> None:
        m, k, n = 21, 17, 25
        for letter in "SDCZ":
            a, b = self.matrix(letter, m, k, 0.15), self.matrix(letter, k, n, 0.15)
            alpha, beta = self.scalar(letter, 1.5 + 0.5j), self.scalar(letter, 0)
            (da, _), (db, _) = self.sparse(a, letter), self.sparse(b, letter)
            for again in (False, True):
                offsets = self.on(np.zeros(m + 1, np.int32))
                about = (m, n, 0, offsets, self.ffi.NULL, self.ffi.NULL, 2, 2, 0, DATA_TYPE[letter])
                dc = self.new("cusparseSpMatDescr_t", "CreateCsr", *about)
                descr = self.new("cusparseSpGEMMDescr_t", "SpGEMM_createDescr")
                multiply = self.again if again else self.once
                found = multiply(letter, (alpha, da, db, beta, dc, descr), offsets, (m, n))
                expected = alpha * (a @ b)
                self.near(f"SpGEMM, again {again}", letter, found, expected, k)
                self.ok("SpGEMM_destroyDescr", descr)

    def taken(self, dc: Any, offsets: Device, letter: str) -> tuple[Device, Device]:
        """Memory for what a product has."""
        sizes = [self.ffi.new("int64_t *") for _ in range(3)]
        self.ok("SpMatGetSize", dc, *sizes)
        count = sizes[2][0]
        columns, values = self.on(np.zeros(count, np.int32)), self.on(np.zeros(count, TYPES[letter]))
        self.ok("CsrSetPointers", dc, offsets, columns, values)
        return columns, values

    def once(self, letter: str, given: tuple[Any, ...], offsets: Device, shape: tuple[int, int]) -> Array:
        alpha, da, db, beta, dc, descr = given
        whole = (PLAIN, PLAIN, alpha, da, db, beta, dc, DATA_TYPE[letter], 0, descr)
        keep = []
        for step in ("workEstimation", "compute"):
            size = self.ffi.new("size_t *")
            self.call(f"SpGEMM_{step}", *whole, size, self.ffi.NULL)
            keep.append(self.room(size[0]))
            self.call(f"SpGEMM_{step}", *whole, size, keep[-1])
        columns, values = self.taken(dc, offsets, letter)
        self.call("SpGEMM_copy", *whole)
        return restored(shape, offsets.now(), columns.now(), values.now())

    def again(self, letter: str, given: tuple[Any, ...], offsets: Device, shape: tuple[int, int]) -> Array:
        """With a structure that is computed once."""
        alpha, da, db, beta, dc, descr = given
        head, tail = (PLAIN, PLAIN, da, db, dc), (0, descr)
        size = [self.ffi.new("size_t *") for _ in range(5)]
        null = self.ffi.NULL
        self.call("SpGEMMreuse_workEstimation", *head, *tail, size[0], null)
        first = self.room(size[0][0])
        self.call("SpGEMMreuse_workEstimation", *head, *tail, size[0], first)
        self.call("SpGEMMreuse_nnz", *head, *tail, size[1], null, size[2], null, size[3], null)
        rooms = [self.room(one[0]) for one in size[1:4]]
        pairs = [part for pair in zip(size[1:4], rooms, strict=True) for part in pair]
        self.call("SpGEMMreuse_nnz", *head, *tail, *pairs)
        columns, values = self.taken(dc, offsets, letter)
        self.call("SpGEMMreuse_copy", *head, *tail, size[4], null)
        last = self.room(size[4][0])
        self.call("SpGEMMreuse_copy", *head, *tail, size[4], last)
        whole = (PLAIN, PLAIN, alpha, da, db, beta, dc, DATA_TYPE[letter], 0, descr)
        for _ in range(2):
            self.call("SpGEMMreuse_compute", *whole)
        return restored(shape, offsets.now(), columns.now(), values.now())

    # ---- solutions ----

    def attribute(self, matrix: Any, which: int, value: int) -> None:
        place, back = np.array([value], np.int32), np.array([-1], np.int32)
        self.ok("SpMatSetAttribute", matrix, which, place, 4)
        self.ok("SpMatGetAttribute", matrix, which, back, 4)
        self.same("an attribute", back, place)

    def solutions(self) -> None:
        n, count = 31, 7
        for letter in "SDCZ":
            for kind in (CSR, COO):
                for fill in (LOWER, UPPER):
                    for operation in (PLAIN, TRANSPOSED, CONJUGATED):
                        unit = operation == TRANSPOSED
                        a = self.dominant(letter, n) / n
                        matrix, _ = self.sparse(a, letter, kind)
                        self.attribute(matrix, FILL_MODE, fill)
                        self.attribute(matrix, DIAG_TYPE, int(unit))
                        part = np.tril(a) if fill == LOWER else np.triu(a)
                        part = part - np.diag(np.diag(part)) + np.eye(n) if unit else part
                        self.solved(letter, matrix, operation, op(part, operation), kind)
                        self.solved_many(letter, matrix, operation, op(part, operation), count, kind)

    def solved(self, letter: str, matrix: Any, operation: int, a: Array, kind: int) -> None:
        b, alpha = self.numbers(letter, len(a)), self.scalar(letter, 1.5 - 0.5j)
        (dx, _), (dy, on) = self.vector(b, letter), self.vector(np.zeros_like(b), letter)
        descr = self.new("cusparseSpSVDescr_t", "SpSV_createDescr")
        given = (operation, alpha, matrix, dx, dy, DATA_TYPE[letter], 0, descr)
        self.call("SpSV_analysis", *given, self.buffer("SpSV_bufferSize", *given))
        for _ in range(2):
            self.call("SpSV_solve", *given)
        expected = np.linalg.solve(a.astype(np.result_type(a, np.float64)), alpha * b)
        self.near(f"SpSV {NAMES[kind]} op {operation}", letter, on.now(), expected, len(a))
        self.ok("SpSV_destroyDescr", descr)

    def solved_many(self, letter: str, matrix: Any, operation: int, a: Array, count: int, kind: int) -> None:
        alpha = self.scalar(letter, 1.5 - 0.5j)
        for op_b in (PLAIN, TRANSPOSED):
            b = self.numbers(letter, len(a), count)
            source, _ = self.dense(b if op_b == PLAIN else b.T, letter)
            target, on = self.dense(np.zeros_like(b), letter)
            descr = self.new("cusparseSpSMDescr_t", "SpSM_createDescr")
            given = (operation, op_b, alpha, matrix, source, target, DATA_TYPE[letter], 0, descr)
            self.call("SpSM_analysis", *given, self.buffer("SpSM_bufferSize", *given))
            self.call("SpSM_solve", *given)
            expected = np.linalg.solve(a.astype(np.result_type(a, np.float64)), alpha * b)
            self.near(f"SpSM {NAMES[kind]} ops {operation} {op_b}", letter, self.now(on, b.shape), expected, len(a))
            self.ok("SpSM_destroyDescr", descr)

    # ---- vectors ----

    def vectors(self) -> None:
        n = 40
        for letter in "SDCZ":
            for base, index in ((0, np.int32), (1, np.int64)):
                places = np.sort(self.client.draw.permutation(n)[:12]).astype(index)
                x, y = self.numbers(letter, 12), self.numbers(letter, n)
                indices, values = self.on(places + index(base)), self.on(x)
                about = (n, 12, indices, values, INDEX_TYPE[np.dtype(index)], base, DATA_TYPE[letter])
                vx = self.new("cusparseSpVecDescr_t", "CreateSpVec", *about)
                vy, on = self.vector(y, letter)
                self.inner(letter, vx, vy, x, y[places])
                alpha, beta = self.scalar(letter, 1.5 + 1j), self.scalar(letter, 0.25)
                self.call("Axpby", alpha, vx, beta, vy)
                y = beta * y
                y[places] += alpha * x
                self.near("Axpby", letter, on.now(), y)
                self.call("Scatter", vx, vy)
                y[places] = x
                self.near("Scatter", letter, on.now(), y)
                vz, other = self.vector(self.numbers(letter, n), letter)
                self.call("Gather", vz, vx)
                self.same("Gather", values.now(), other.now()[places])
                if letter in "SD":  # of complex numbers the sine's conjugate is another in cuSPARSE and rocSPARSE
                    self.rotated(letter, vx, vy, values, on, places)
                self.ok("DestroySpVec", vx)

    def inner(self, letter: str, vx: Any, vy: Any, x: Array, y: Array) -> None:
        for operation in (PLAIN, CONJUGATED) if letter in "CZ" else (PLAIN,):
            result = self.scalar(letter, 0)
            buffer = self.buffer("SpVV_bufferSize", operation, vx, vy, result, DATA_TYPE[letter])
            self.call("SpVV", operation, vx, vy, result, DATA_TYPE[letter], buffer)
            expected = np.array([(x.conj() if operation == CONJUGATED else x) @ y])
            self.near(f"SpVV op {operation}", letter, result, expected, len(x))

    def rotated(self, letter: str, vx: Any, vy: Any, values: Device, on: Device, places: Array) -> None:
        c, s, x, y = self.scalar(letter, 0.8), self.scalar(letter, 0.6), values.now(), on.now()
        self.call("Rot", c, s, vx, vy)
        picked = y[places]
        self.near("Rot, x", letter, values.now(), c * x + s * picked)
        y[places] = c * picked - s * x
        self.near("Rot, y", letter, on.now(), y)

    # ---- conversions ----

    def conversions(self) -> None:
        m, n = 19, 27
        for letter in "SDCZ":
            for kind in (CSR, CSC, COO):
                for order in (COLUMNS, ROWS):
                    a, what = self.matrix(letter, m, n), f"{NAMES[kind]} of order {order}"
                    matrix, _ = self.sparse(a, letter, kind)
                    dense, on = self.dense(np.ones_like(a), letter, order)
                    self.call(
                        "SparseToDense", matrix, dense, 0, self.buffer("SparseToDense_bufferSize", matrix, dense, 0)
                    )
                    self.same(f"SparseToDense {what}", self.now(on, a.shape, order), a)
                    self.from_dense(letter, kind, dense, a, what)

    def from_dense(self, letter: str, kind: int, dense: Any, a: Array, what: str) -> None:
        """Counted, then stored."""
        null, lines = self.ffi.NULL, a.shape[1] if kind == CSC else a.shape[0]
        offsets = self.on(np.zeros(lines + 1, np.int32))
        first, types = (null, (2,)) if kind == COO else (offsets, (2, 2))
        about = (*a.shape, 0, first, null, null, *types, 0, DATA_TYPE[letter])
        matrix = self.new("cusparseSpMatDescr_t", f"Create{NAMES[kind]}", *about)
        buffer = self.buffer("DenseToSparse_bufferSize", dense, matrix, 0)
        self.call("DenseToSparse_analysis", dense, matrix, 0, buffer)
        sizes = [self.ffi.new("int64_t *") for _ in range(3)]
        self.ok("SpMatGetSize", matrix, *sizes)
        count = sizes[2][0]
        expected = coordinates(a) if kind == COO else compressed(a.T if kind == CSC else a)
        self.client.check(f"{count} numbers of {what}", count == len(expected[2]))
        parts = [self.on(np.zeros_like(part)) for part in expected]
        parts[0] = parts[0] if kind == COO else offsets
        self.ok(f"{NAMES[kind]}SetPointers", matrix, *parts)
        self.call("DenseToSparse_convert", dense, matrix, 0, buffer)
        for found, part in zip(parts, expected, strict=True):
            self.same(f"DenseToSparse {what}", found.now(), part)

    def nothing(self) -> None:
        """A matrix without numbers, whose arrays may be missing."""
        m, n, null = 6, 5, self.ffi.NULL
        one, half = np.ones(1), np.full(1, 0.5)
        for kind in (CSR, CSC, COO):
            lines = self.on(np.zeros((n if kind == CSC else m) + 1, np.int32))
            first, types = (null, (2,)) if kind == COO else (lines, (2, 2))
            about = (m, n, 0, first, null, null, *types, 0, DATA_TYPE["D"])
            matrix = self.new("cusparseSpMatDescr_t", f"Create{NAMES[kind]}", *about)
            x, y, b, c = (self.numbers("D", *shape) for shape in ((n,), (m,), (n, 3), (m, 3)))
            (dx, _), (dy, on) = self.vector(x, "D"), self.vector(y, "D")
            given = (PLAIN, one, matrix, dx, half, dy, DATA_TYPE["D"], 0)
            self.call("SpMV", *given, self.buffer("SpMV_bufferSize", *given))
            self.near(f"SpMV of nothing, {NAMES[kind]}", "D", on.now(), y / 2)
            (db, _), (dc, on) = self.dense(b, "D"), self.dense(c, "D")
            whole = (PLAIN, PLAIN, one, matrix, db, half, dc, DATA_TYPE["D"], 0)
            self.call("SpMM", *whole, self.buffer("SpMM_bufferSize", *whole))
            self.near(f"SpMM of nothing, {NAMES[kind]}", "D", self.now(on, c.shape), c / 2)
            dense, on = self.dense(np.ones((m, n)), "D")
            self.call("SparseToDense", matrix, dense, 0, self.buffer("SparseToDense_bufferSize", matrix, dense, 0))
            self.same(f"SparseToDense of nothing, {NAMES[kind]}", self.now(on, (m, n)), np.zeros((m, n)))
            buffer = self.buffer("DenseToSparse_bufferSize", dense, matrix, 0)
            self.call("DenseToSparse_analysis", dense, matrix, 0, buffer)
            self.call("DenseToSparse_convert", dense, matrix, 0, buffer)
            self.client.check("no offsets", kind == COO or not lines.now().any())

    def check_all(self) -> None:
        self.products_with_vectors()
        self.mixed()
        self.products_with_matrices()
        self.sampled()
        self.sparse_products()
        self.solutions()
        self.vectors()
        self.conversions()
        self.nothing()
