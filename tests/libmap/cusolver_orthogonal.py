"""cuSOLVER's orthogonal factors, against numpy: QR, bidiagonal and tridiagonal forms, products with their factors."""

from __future__ import annotations

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.dense import CONJUGATED, LEFT, LOWER, PLAIN, REAL, RIGHT, TRANSPOSED, UPPER, Dense, exact, op, spelled


class Orthogonal(Dense):
    def factored(self, letter: str, a: Array) -> tuple[Device, Device]:
        """The matrix's QR factors as LAPACK has them, and their scalars."""
        m, n = a.shape
        on, tau, info = self.matrix(a), self.zeros(letter, min(m, n)), self.whole(1)
        work, size = self.work(letter, f"Dn{letter}geqrf", m, n, on, m, ...)
        self.call(f"Dn{letter}geqrf", m, n, on, m, tau, work, size, info)
        self.succeeded("geqrf", info)
        self.unharmed("geqrf", work)
        return on, tau

    def generated(self, letter: str, m: int, n: int, factors: Array, tau: Device) -> Array:
        """The orthogonal factor, or its first columns."""
        k, name, info = len(tau.values), spelled(letter, "orgqr"), self.whole(1)
        on = self.matrix(np.ascontiguousarray(factors[:, :n]))
        work, size = self.work(letter, name, m, n, k, on, m, tau, ...)
        self.call(name, m, n, k, on, m, tau, work, size, info)
        self.succeeded("orgqr", info)
        self.unharmed("orgqr", work)
        return on.now()

    def qr(self, letter: str) -> None:
        for m, n in ((16, 9), (9, 14), (11, 11)):
            a = self.numbers(letter, m, n)
            on, tau = self.factored(letter, a)
            k, found = min(m, n), on.now()
            q = self.generated(letter, m, k, found, tau)
            self.orthonormal(f"orgqr {m}x{n}", letter, q)
            self.close(f"geqrf {m}x{n}", letter, exact(q) @ np.triu(exact(found[:k])), exact(a), m)
            if m >= n:
                self.times(letter, found, tau)

    def times(self, letter: str, factors: Array, tau: Device) -> None:
        """Products with the whole orthogonal factor, which those with the identity are compared with."""
        m, k, name = len(factors), len(tau.values), spelled(letter, "ormqr")
        on = self.matrix(np.ascontiguousarray(factors[:, :k]))
        turned = CONJUGATED if letter in "CZ" else TRANSPOSED
        q = np.eye(m)
        for side, operation in ((LEFT, PLAIN), (LEFT, turned), (RIGHT, PLAIN), (RIGHT, turned)):
            c = np.eye(m) if operation == PLAIN and side == LEFT else self.numbers(letter, m, m)
            right, info = self.matrix(c.astype(tau.values.dtype)), self.whole(1)
            given = (side, operation, m, m, k, on, m, tau, right, m)
            work, size = self.work(letter, name, *given, ...)
            self.call(name, *given, work, size, info)
            self.succeeded("ormqr", info)
            self.unharmed("ormqr", work)
            found = exact(right.now())
            if operation == PLAIN and side == LEFT:
                q = found
                self.orthonormal("ormqr", letter, q)
                self.close("ormqr", letter, q[:, :k], exact(self.generated(letter, m, k, factors, tau)), m)
            else:
                expected = op(q, operation) @ c if side == LEFT else c @ op(q, operation)
                self.close(f"ormqr {side} {operation}", letter, found, expected, m)

    def bidiagonal(self, letter: str) -> None:
        m, n, real = 14, 9, REAL[letter]
        a = self.numbers(letter, m, n)
        on, d, e, info = self.matrix(a), self.zeros(real, n), self.zeros(real, n), self.whole(1)
        left, right = self.zeros(letter, n), self.zeros(letter, n)
        work, size = self.work(letter, f"Dn{letter}gebrd", m, n, ...)
        self.call(f"Dn{letter}gebrd", m, n, on, m, d, e, left, right, work, size, info)
        self.succeeded("gebrd", info)
        self.unharmed("gebrd", work)
        name, parts = spelled(letter, "orgbr"), []
        for side, tau, shape in ((LEFT, left, (m, n, n)), (RIGHT, right, (n, n, m))):
            part = self.matrix(np.ascontiguousarray(on.now()[: shape[0]]))
            work, size = self.work(letter, name, side, *shape, part, shape[0], tau, ...)
            self.call(name, side, *shape, part, shape[0], tau, work, size, info)
            self.succeeded("orgbr", info)
            self.unharmed("orgbr", work)
            parts.append(exact(part.now()))
        middle = np.diag(exact(d.now())) + np.diag(exact(e.now())[: n - 1], 1)
        self.close("gebrd", letter, parts[0] @ middle @ parts[1], exact(a), m)
        self.orthonormal("orgbr", letter, parts[0])
        self.orthonormal("orgbr of rows", letter, parts[1].conj().T)

    def tridiagonal(self, letter: str) -> None:
        n, real = 13, REAL[letter]
        for uplo in (LOWER, UPPER):
            a, name = self.hermitian(letter, n), spelled(letter, "sytrd")
            on, d, e, tau, info = (
                self.matrix(a), self.zeros(real, n), self.zeros(real, n), self.zeros(letter, n), self.whole(1),
            )  # fmt: skip
            work, size = self.work(letter, name, uplo, n, on, n, d, e, tau, ...)
            self.call(name, uplo, n, on, n, d, e, tau, work, size, info)
            self.succeeded("sytrd", info)
            self.unharmed("sytrd", work)
            beside = exact(e.now())[: n - 1]
            middle = np.diag(exact(d.now())) + np.diag(beside, 1) + np.diag(beside, -1)
            factors, name = on.now(), spelled(letter, "orgtr")
            work, size = self.work(letter, name, uplo, n, on, n, tau, ...)
            self.call(name, uplo, n, on, n, tau, work, size, info)
            self.succeeded("orgtr", info)
            self.unharmed("orgtr", work)
            q = exact(on.now())
            self.orthonormal("orgtr", letter, q)
            self.close(f"sytrd {uplo}", letter, q @ middle @ q.conj().T, exact(a), n)
            self.times_tridiagonal(letter, uplo, factors, tau, q)

    def times_tridiagonal(self, letter: str, uplo: int, factors: Array, tau: Device, q: Array) -> None:
        n, on, name = len(factors), self.matrix(factors), spelled(letter, "ormtr")
        turned = CONJUGATED if letter in "CZ" else TRANSPOSED
        for side in (LEFT, RIGHT):
            for operation in (PLAIN, turned):
                c, info = self.numbers(letter, n, n), self.whole(1)
                right = self.matrix(c)
                given = (side, uplo, operation, n, n, on, n, tau, right, n)
                work, size = self.work(letter, name, *given, ...)
                self.call(name, *given, work, size, info)
                self.succeeded("ormtr", info)
                self.unharmed("ormtr", work)
                expected = op(q, operation) @ c if side == LEFT else c @ op(q, operation)
                self.close(f"ormtr {side} {uplo} {operation}", letter, right.now(), expected, n)

    def check_all(self) -> None:
        for letter in "SDCZ":
            self.qr(letter)
            self.bidiagonal(letter)
            self.tridiagonal(letter)
