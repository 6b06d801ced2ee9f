"""cuSOLVER's functions of dense matrices that hipSOLVER lacks, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.dense import (
    DATA_TYPE,
    INVALID_VALUE,
    LOWER,
    NO_VECTORS,
    NOT_INITIALIZED,
    REAL,
    UPPER,
    VECTORS,
    Dense,
    exact,
    half,
)
from tests.libmap.handle import ROUNDING, TYPES

WIDE = {"S": "C", "D": "Z", "C": "C", "Z": "Z"}


def _paired(found: Array, expected: Array) -> float:
    """The largest distance where each number is paired with the nearest of those left."""
    left, worst = list(expected), 0.0
    for one in found:
        at = int(np.argmin([abs(one - other) for other in left]))
        worst = max(worst, abs(one - left.pop(at)))
    return worst


def _unpacked(vectors: Array, values: Array) -> Array:
    """Those of a real matrix: a pair's columns are the real and the imaginary parts of the first."""
    out, k = vectors.astype(np.complex128), 0
    while k < len(values):
        if values[k].imag:
            first, second = vectors[:, k] + 1j * vectors[:, k + 1], vectors[:, k] - 1j * vectors[:, k + 1]
            out[:, k], out[:, k + 1] = first, second
            k += 1
        k += 1
    return out


class DenseHost(Dense):
    def __init__(self, client: Any, handle: Any) -> None:
        super().__init__(client, handle)
        self.params = self.new("cusolverDnParams_t", "DnCreateParams")

    def rooms(self, name: str, *given: Any) -> tuple[Any, ...]:
        sizes = [self.ffi.new("size_t *", 1), self.ffi.new("size_t *", 1)]
        self.call(f"{name}_bufferSize", *given, *sizes)
        return self.room(sizes[0][0]), sizes[0][0], self.ffi.NULL, sizes[1][0]

    def matrices(self, letter: str) -> list[tuple[str, Array]]:
        draw, cycle = self.client.draw, np.roll(np.eye(6), 1, axis=0)
        defective = np.diag(np.full(5, 2.0)) + np.diag(np.ones(4), 1)
        found = [("any", self.numbers(letter, n, n)) for n in (1, 2, 3, 9, 40)]
        found += [("symmetric", self.hermitian(letter, 7)), ("a cycle", cycle), ("zero", np.zeros((4, 4)))]
        found += [("triangular", np.triu(self.numbers(letter, 6, 6))), ("defective", defective)]
        apart = np.diag(10.0 ** np.arange(-3, 4)) @ draw.uniform(-1, 1, (7, 7))
        return [*found, ("numbers of all sizes", apart)]

    def eigenvalues(self, letter: str, of_values: str) -> None:
        for what, matrix in self.matrices(letter):
            a, n = matrix.astype(TYPES[letter]), len(matrix)
            ld = n + 3
            padded = np.zeros((ld, n), a.dtype)
            padded[:n] = a
            on, vectors = self.matrix(padded), self.zeros(letter, n + 1, n)
            values, info = self.zeros(of_values, 2 * n), self.whole(1)
            kind = DATA_TYPE[letter]
            before = (n, kind, on, ld, DATA_TYPE[of_values], values, kind, self.ffi.NULL, n, kind)
            given = (self.params, NO_VECTORS, VECTORS, *before, vectors, n + 1, kind)
            self.call("DnXgeev", *given, *self.rooms("DnXgeev", *given), info)
            self.succeeded("Xgeev", info)
            found = values.now()
            w = exact(found[:n]) if of_values == WIDE[letter] else found[:n] + 1j * found[n:]
            v = exact(vectors.now()[:n])
            v = v if letter in "CZ" else _unpacked(v, w)
            size = max(1.0, np.linalg.norm(exact(a)))
            rest = abs(exact(a) @ v - v * w).max()
            limit = 20 * ROUNDING[letter] * n * size
            self.client.check(f"Xgeev {what} {letter}: A v - w v is {rest}", rest <= limit)
            self.close(f"Xgeev {what}: lengths", letter, np.linalg.norm(v, axis=0), np.ones(n))
            if what != "defective":  # whose eigenvalues are wrong by the n-th root of rounding
                error = _paired(w, np.linalg.eigvals(exact(a)))
                self.client.check(f"Xgeev {what} {letter}: values differ by {error}", error <= 50 * limit)
            if letter in "SD":
                pairs = w[w.imag != 0]
                good = np.array_equal(pairs[::2], pairs[1::2].conj()) and (pairs[::2].imag > 0).all()
                self.client.check(f"Xgeev {what} {letter}: pairs {pairs}", good)
            given = (self.params, NO_VECTORS, NO_VECTORS, *before, self.ffi.NULL, n, kind)
            self.call("DnXgeev", *given, *self.rooms("DnXgeev", *given), info)
            self.client.check("Xgeev without vectors", np.array_equal(values.now(), found))

    def no_numbers(self) -> None:
        """Not a number: no eigenvalue is found, and the function ends."""
        for letter in "DZ":
            a, n, kind = np.full((5, 5), np.nan).astype(TYPES[letter]), 5, DATA_TYPE[letter]
            on, values, info, null = self.matrix(a), self.zeros(letter, 2 * n), self.whole(1), self.ffi.NULL
            given = (
                self.params,
                NO_VECTORS,
                NO_VECTORS,
                n,
                kind,
                on,
                n,
                kind,
                values,
                kind,
                null,
                n,
                kind,
                null,
                n,
                kind,
            )
            self.call("DnXgeev", *given, *self.rooms("DnXgeev", *given), info)
            self.client.check(f"Xgeev of NaN {letter}: info {info.now()}", info.now()[0] > 0)

    def symmetric(self, letter: str, uplo: int) -> None:
        """Matrices that need blocks of two rows and exchanges."""
        for n, count in ((1, 1), (2, 3), (11, 2), (24, 4)):
            a = self.numbers(letter, n, n)
            a = ((a + a.T) / 2).astype(TYPES[letter])
            a[np.diag_indices(n)] = 0 if n > 1 else 2  # as a pivot needs a block then
            a[n // 2, n // 2] = 5
            b, info = self.numbers(letter, n, count), self.whole(1)
            on, pivots = self.matrix(a), self.whole(n)
            size = self.ffi.new("int *")
            self.call(f"Dn{letter}sytrf_bufferSize", n, on, n, size)
            self.call(f"Dn{letter}sytrf", uplo, n, on, n, pivots, self.room(16 * size[0]), size[0], info)
            wide, right, kind = self.matrix(pivots.now().astype(np.int64)), self.matrix(b), DATA_TYPE[letter]
            given = (uplo, n, count, kind, on, n, wide, kind, right, n)
            self.call("DnXsytrs", *given, *self.rooms("DnXsytrs", *given), info)
            self.succeeded("Xsytrs", info)
            limit = 50 * n * np.linalg.cond(exact(a))
            self.close(f"Xsytrs {uplo} {n}", letter, right.now(), np.linalg.solve(exact(a), exact(b)), limit)
            self.client.check(f"blocks of two rows {n}", n < 11 or (pivots.now() < 0).any())

    def without_pivots(self, letter: str) -> None:
        n, kind, none = 6, DATA_TYPE[letter], self.ffi.NULL
        for uplo in (LOWER, UPPER):
            factor, d = np.tril(self.numbers(letter, n, n), -1) + np.eye(n), np.diag(self.numbers(letter, n) + 3)
            factor = factor if uplo == LOWER else factor.T
            b, info = self.numbers(letter, n, 2), self.whole(1)
            on, right = self.matrix((factor - np.eye(n) + d).astype(TYPES[letter])), self.matrix(b)
            given = (uplo, n, 2, kind, on, n, none, kind, right, n)
            self.call("DnXsytrs", *given, *self.rooms("DnXsytrs", *given), info)
            whole = exact(factor) @ exact(d) @ exact(factor).T
            self.close("Xsytrs without pivots", letter, whole @ exact(right.now()), exact(b), 10 * n)

    def inverses(self, letter: str) -> None:
        for n, uplo, unit in ((1, LOWER, 0), (13, LOWER, 0), (13, UPPER, 1), (70, UPPER, 0)):
            a, info, kind = self.numbers(letter, n, n) / n + np.eye(n), self.whole(1), DATA_TYPE[letter]
            padded = np.zeros((n + 2, n), TYPES[letter])
            padded[:n] = a
            on = self.matrix(padded)
            given = (uplo, unit, n, kind, on, n + 2)
            self.call("DnXtrtri", *given, *self.rooms("DnXtrtri", *given), info)
            self.succeeded("Xtrtri", info)
            part = half(exact(padded[:n]), uplo)
            part = part - np.diag(np.diag(part)) + np.eye(n) if unit else part
            found = half(on.now()[:n], uplo)
            found = found - np.diag(np.diag(found)) + np.eye(n) if unit else found
            self.close(f"Xtrtri {uplo} {unit} {n}", letter, found, np.linalg.inv(part), n)
        on = self.matrix(np.diag([2.0, 0.0, 3.0]).astype(TYPES[letter]))
        given = (UPPER, 0, 3, DATA_TYPE[letter], on, 3)
        self.call("DnXtrtri", *given, *self.rooms("DnXtrtri", *given), info)
        self.client.check(f"Xtrtri of a zero: {info.now()}", info.now()[0] == 2)

    def first_singular(self, letter: str) -> None:
        for m, n, k, more in ((12, 7, 3, 2), (6, 11, 2, 0), (9, 9, 9, 0)):
            a, info, kind, of_s = self.numbers(letter, m, n), self.whole(1), DATA_TYPE[letter], REAL[letter]
            on, s, u, v = self.matrix(a), self.zeros(of_s, k), self.zeros(letter, m + 1, k), self.zeros(letter, n, k)
            shape, after = (m, n, k, more, 2, kind), (m, DATA_TYPE[of_s], s, kind)
            given = (self.params, ord("S"), ord("S"), *shape, on, *after, u, m + 1, kind, v, n, kind)
            self.call("DnXgesvdr", *given, *self.rooms("DnXgesvdr", *given), info)
            self.succeeded("Xgesvdr", info)
            whole, values, turned = np.linalg.svd(exact(a), full_matrices=False)
            self.close("Xgesvdr", letter, s.now(), values[:k], 10 * m)
            expected = (whole[:, :k] * values[:k]) @ turned[:k]
            self.close(
                "Xgesvdr: product", letter, (exact(u.now()[:m]) * s.now()) @ exact(v.now()).conj().T, expected, 10 * m
            )
            self.orthonormal("Xgesvdr", letter, v.now())
            before, null = s.now(), self.ffi.NULL
            given = (self.params, ord("N"), ord("N"), *shape, self.matrix(a), *after, null, m, kind, null, n, kind)
            self.call("DnXgesvdr", *given, *self.rooms("DnXgesvdr", *given), info)
            self.close("Xgesvdr without vectors", letter, s.now(), exact(before))

    def wrong(self) -> None:
        n, null, info = 3, self.ffi.NULL, self.whole(1)
        on, values = self.matrix(np.eye(n)), self.zeros("D", 2 * n)
        sizes = [self.ffi.new("size_t *"), self.ffi.new("size_t *")]
        for what, left, size, ld, of_values, computed in (
            ("left vectors", VECTORS, n, n, 1, 1),
            ("a negative size", NO_VECTORS, -1, n, 1, 1),
            ("short columns", NO_VECTORS, n, n - 1, 1, 1),
            ("values of another type", NO_VECTORS, n, n, 4, 1),
            ("another computation", NO_VECTORS, n, n, 1, 0),
        ):
            given = (
                self.params,
                left,
                NO_VECTORS,
                size,
                1,
                on,
                ld,
                of_values,
                values,
                1,
                null,
                n,
                1,
                null,
                n,
                computed,
            )
            self.answers(what, INVALID_VALUE, "DnXgeev_bufferSize", self.handle, *given, *sizes)
        given = (self.params, 0, 0, n, 1, on, n, 1, values, 1, null, n, 1, null, n, 1)
        self.answers("no handle", NOT_INITIALIZED, "DnXgeev_bufferSize", null, *given, *sizes)
        self.answers("no place", INVALID_VALUE, "DnXgeev", self.handle, *given, null, 0, null, 0, null)
        pivots = self.matrix(np.array([1, -4, -4], np.int64))
        for what, uplo, at, kind in (
            ("no half", 2, null, 1),
            ("two types", 0, null, 0),
            ("a pivot of no row", 0, pivots, 1),
        ):
            given = (uplo, n, 1, 1, on, n, at, kind, values, n)
            self.answers(what, INVALID_VALUE, "DnXsytrs", self.handle, *given, null, 0, null, 0, info)

        for what, uplo, unit, size, ld in (
            ("no half", 2, 0, n, n),
            ("no diagonal", 0, 2, n, n),
            ("columns", 0, 0, n, 1),
        ):
            self.answers(what, INVALID_VALUE, "DnXtrtri_bufferSize", self.handle, uplo, unit, size, 1, on, ld, *sizes)
        given = (self.params, ord("S"), ord("N"), n, n)
        after = (1, on, n, 1, values, 1, on, n, 1, on, n, 1)
        for what, k, more in (("none", 0, 0), ("too many", n, 1)):
            self.answers(what, INVALID_VALUE, "DnXgesvdr_bufferSize", self.handle, *given, k, more, 0, *after, *sizes)
        given = (self.params, ord("A"), ord("N"), n, n, 1, 0, 0)
        self.answers("all", INVALID_VALUE, "DnXgesvdr_bufferSize", self.handle, *given, *after, *sizes)

    def check_all(self) -> None:
        for letter in "SDCZ":
            self.eigenvalues(letter, letter)
            self.symmetric(letter, LOWER)
            self.symmetric(letter, UPPER)
            self.without_pivots(letter)
            self.inverses(letter)
            self.first_singular(letter)
        self.eigenvalues("S", "C")
        self.eigenvalues("D", "Z")
        self.no_numbers()
        self.wrong()
        self.ok("DnDestroyParams", self.params)
