"""cuSOLVER's eigenvalues of Hermitian matrices and pairs of them, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.dense import LOWER, NO_VECTORS, REAL, UPPER, VECTORS, Dense, exact, half, spelled

ALL, BY_NUMBER, BY_VALUE = 1001, 1002, 1003
#: How a pair's eigenvalues and vectors are meant: A x = w B x, A B x = w x, B A x = w x.
KINDS = (1, 2, 3)


def values_of_pair(kind: int, a: Array, b: Array) -> Array:
    lower = np.linalg.cholesky(exact(b))
    if kind == 1:
        inverse = np.linalg.inv(lower)
        return np.linalg.eigvalsh(inverse @ exact(a) @ inverse.conj().T)
    return np.linalg.eigvalsh(lower.conj().T @ exact(a) @ lower)


class Eigen(Dense):
    def eigenvectors(self, what: str, letter: str, a: Array, found: Array, values: Array) -> None:
        """Of a matrix."""
        self.orthonormal(what, letter, found)
        self.close(f"{what}: vectors", letter, exact(a) @ exact(found), exact(found) * exact(values), 10 * len(a))

    def vectors_of_pair(
        self, what: str, letter: str, kind: int, a: Array, b: Array, x: Array, values: Array
    ) -> None:  # fmt: skip
        a, b, x = exact(a), exact(b), exact(x)
        left, right = {1: (a @ x, b @ x), 2: (a @ b @ x, x), 3: (b @ a @ x, x)}[kind]
        self.close(f"{what}: vectors", letter, left, right * exact(values), 20 * len(a))

    def all_values(self, letter: str) -> None:
        n, real = 15, REAL[letter]
        for name, extra in (("syevd", ()), ("syevj", (self.jacobi(),))):
            for uplo in (LOWER, UPPER):
                for mode in (VECTORS, NO_VECTORS):
                    a = self.hermitian(letter, n)
                    on, w, info = self.matrix(half(a, uplo)), self.zeros(real, n), self.whole(1)
                    given, full = (mode, uplo, n, on, n, w), spelled(letter, name)
                    work, size = self.work(letter, full, *given, ..., *extra)
                    self.call(full, *given, work, size, info, *extra)
                    what = f"{name} {uplo} {mode}"
                    self.succeeded(what, info)
                    self.unharmed(what, work)
                    self.close(what, letter, w.now(), np.linalg.eigvalsh(exact(a)), n)
                    if mode == VECTORS:
                        self.eigenvectors(what, letter, a, on.now(), w.now())

    def some_values(self, letter: str) -> None:
        n, real, name = 12, REAL[letter], spelled(letter, "syevdx")
        for way in (ALL, BY_NUMBER, BY_VALUE):
            a = self.hermitian(letter, n)
            expected = np.linalg.eigvalsh(exact(a))
            kept = {ALL: slice(n), BY_NUMBER: slice(2, 7), BY_VALUE: slice(3, 8)}[way]
            between = [(expected[i - 1] + expected[i]) / 2 for i in (3, 8)]
            on, w, info, count = self.matrix(a), self.zeros(real, n), self.whole(1), self.ffi.new("int *", -1)
            given = (VECTORS, way, LOWER, n, on, n, *between, 3, 7, count, w)
            work, size = self.work(letter, name, *given, ...)
            self.call(name, *given, work, size, info)
            self.succeeded("syevdx", info)
            self.unharmed("syevdx", work)
            expected = expected[kept]
            self.client.check(f"syevdx {way}: {count[0]} values", count[0] == len(expected))
            self.close(f"syevdx {way}", letter, w.now()[: len(expected)], expected, n)
            self.eigenvectors(f"syevdx {way}", letter, a, on.now()[:, : len(expected)], w.now()[: len(expected)])

    def pairs(self, letter: str) -> None:
        n, real = 10, REAL[letter]
        for name, extra in (("sygvd", ()), ("sygvj", (self.jacobi(),))):
            for kind in KINDS:
                uplo = UPPER if kind == 2 else LOWER
                a, b = self.hermitian(letter, n), self.positive(letter, n)
                on, other, w, info = self.matrix(a), self.matrix(b), self.zeros(real, n), self.whole(1)
                given, full = (kind, VECTORS, uplo, n, on, n, other, n, w), spelled(letter, name)
                work, size = self.work(letter, full, *given, ..., *extra)
                self.call(full, *given, work, size, info, *extra)
                what = f"{name} {kind}"
                self.succeeded(what, info)
                self.unharmed(what, work)
                self.close(what, letter, w.now(), values_of_pair(kind, a, b), 10 * n)
                self.vectors_of_pair(what, letter, kind, a, b, on.now(), w.now())

    def some_of_pairs(self, letter: str) -> None:
        n, real, name = 10, REAL[letter], spelled(letter, "sygvdx")
        a, b = self.hermitian(letter, n), self.positive(letter, n)
        on, other, w, info = self.matrix(a), self.matrix(b), self.zeros(real, n), self.whole(1)
        count = self.ffi.new("int *", -1)
        given = (1, VECTORS, BY_NUMBER, LOWER, n, on, n, other, n, 0, 0, 2, 6, count, w)
        work, size = self.work(letter, name, *given, ...)
        self.call(name, *given, work, size, info)
        self.succeeded("sygvdx", info)
        self.unharmed("sygvdx", work)
        self.client.check(f"sygvdx: {count[0]} values", count[0] == 5)
        self.close("sygvdx", letter, w.now()[:5], values_of_pair(1, a, b)[1:6], 10 * n)
        self.vectors_of_pair("sygvdx", letter, 1, a, b, on.now()[:, :5], w.now()[:5])

    def many(self, letter: str) -> None:
        n, count, real, info = 8, 5, REAL[letter], self.jacobi()
        all_of_it = np.array([self.hermitian(letter, n) for _ in range(count)])
        on, w, done = self.matrix(all_of_it.transpose(1, 2, 0)), self.zeros(real, n, count), self.whole(count)
        given, name = (VECTORS, LOWER, n, on, n, w), f"{spelled(letter, 'syevj')}Batched"
        work, size = self.work(letter, name, *given, ..., info, count)
        self.call(name, *given, work, size, done, info, count)
        self.succeeded("syevjBatched", done)
        self.unharmed("syevjBatched", work)
        for i, a in enumerate(all_of_it):
            self.close("syevjBatched", letter, w.now()[:, i], np.linalg.eigvalsh(exact(a)), n)
            self.eigenvectors("syevjBatched", letter, a, on.now()[:, :, i], w.now()[:, i])

    def jacobi(self) -> Any:
        """Settings of Jacobi's method."""
        info = self.new("syevjInfo_t", "DnCreateSyevjInfo")
        self.ok("DnXsyevjSetMaxSweeps", info, 50)
        self.ok("DnXsyevjSetSortEig", info, 1)
        self.ok("DnXsyevjSetTolerance", info, 0.0)
        return info

    def what_jacobi_did(self) -> None:
        n, info, sweeps, residual = 9, self.jacobi(), self.ffi.new("int *", -1), self.ffi.new("double *", -1)
        a = self.hermitian("D", n)
        on, w, done = self.matrix(a), self.zeros("D", n), self.whole(1)
        work, size = self.work("D", "DnDsyevj", VECTORS, LOWER, n, on, n, w, ..., info)
        self.call("DnDsyevj", VECTORS, LOWER, n, on, n, w, work, size, done, info)
        self.call("DnXsyevjGetSweeps", info, sweeps)
        self.call("DnXsyevjGetResidual", info, residual)
        self.client.check(f"syevj: sweeps {sweeps[0]}", 1 <= sweeps[0] <= 50)
        self.client.check(f"syevj: residual {residual[0]}", 0 <= residual[0] < 1e-10)
        self.ok("DnDestroySyevjInfo", info)

    def check_all(self) -> None:
        self.what_jacobi_did()
        for letter in "SDCZ":
            self.all_values(letter)
            self.some_values(letter)
            self.pairs(letter)
            self.some_of_pairs(letter)
            self.many(letter)
