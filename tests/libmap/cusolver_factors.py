"""cuSOLVER's factors and what is solved with them, against numpy: LU, Cholesky, Bunch-Kaufman, systems at once."""

from __future__ import annotations

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.dense import CONJUGATED, LOWER, PLAIN, TRANSPOSED, UPPER, Dense, exact, half, op
from tests.libmap.handle import TYPES

#: Precisions that a system may be given for its factors.
LOWER_PRECISIONS = {"D": "DSHBX", "S": "SHBX", "Z": "ZCKEY", "C": "CKEY"}


def exchanged(n: int, pivots: Array) -> Array:
    """The matrix of row exchanges, numbered from 1."""
    rows = np.eye(n)
    for i, pivot in enumerate(pivots):
        rows[[i, pivot - 1]] = rows[[pivot - 1, i]]
    return rows.T


def product_of_lu(lu: Array, pivots: Array) -> Array:
    m, n = lu.shape
    k, lu = min(m, n), exact(lu)
    lower = np.tril(lu[:, :k], -1) + np.eye(m, k)
    return np.asarray(exchanged(m, pivots) @ lower @ np.triu(lu[:k]))


def product_of_diagonal_blocks(a: Array, pivots: Array, uplo: int) -> Array:
    """The symmetric matrix of LAPACK's xSYTRF."""
    n = len(a)
    whole, middle, factor = exact(a), np.zeros((n, n), exact(a).dtype), np.eye(n, dtype=exact(a).dtype)
    k = 0 if uplo == LOWER else n - 1
    while 0 <= k < n:
        wide = pivots[k] < 0
        block = [k] if not wide else [k, k + 1] if uplo == LOWER else [k - 1, k]
        rest = np.arange(block[-1] + 1, n) if uplo == LOWER else np.arange(block[0])
        swap, column = np.eye(n), np.eye(n, dtype=whole.dtype)
        moved = block[-1] if uplo == LOWER else block[0]
        other = abs(pivots[k]) - 1
        swap[[moved, other]] = swap[[other, moved]]
        column[np.ix_(rest, block)] = whole[np.ix_(rest, block)]
        part = half(whole[np.ix_(block, block)], uplo)
        middle[np.ix_(block, block)] = part + part.T - np.diag(np.diag(part))
        factor = factor @ swap @ column
        k += len(block) if uplo == LOWER else -len(block)
    return np.asarray(factor @ middle @ factor.T)


class Factors(Dense):
    def lu(self, letter: str) -> None:
        for m, n in ((13, 13), (9, 14), (14, 9)):
            a = self.numbers(letter, m, n)
            on, pivots, info = self.matrix(a), self.whole(min(m, n)), self.whole(1)
            work, _ = self.work(letter, f"Dn{letter}getrf", m, n, on, m, ...)
            self.call(f"Dn{letter}getrf", m, n, on, m, work, pivots, info)
            self.close(f"getrf {m}x{n}", letter, product_of_lu(on.now(), pivots.now()), exact(a), n)
            self.succeeded("getrf", info)
            self.unharmed("getrf", work)
            if m == n:
                self.solved_by_lu(letter, a, on, pivots)

    def solved_by_lu(self, letter: str, a: Array, factors: Device, pivots: Device) -> None:
        n, count = len(a), 3
        for operation in (PLAIN, TRANSPOSED, CONJUGATED):
            b, info = self.numbers(letter, n, count), self.whole(1)
            on = self.matrix(b)
            self.call(f"Dn{letter}getrs", operation, n, count, factors, n, pivots, on, n, info)
            self.close(f"getrs {operation}", letter, op(exact(a), operation) @ exact(on.now()), exact(b), 10 * n)
            self.succeeded("getrs", info)

    def lu_without_pivots(self, letter: str) -> None:
        n, none = 11, self.ffi.NULL
        a = self.positive(letter, n)
        on, info = self.matrix(a), self.whole(1)
        work, _ = self.work(letter, f"Dn{letter}getrf", n, n, on, n, ...)
        self.call(f"Dn{letter}getrf", n, n, on, n, work, none, info)
        self.close("getrf without pivots", letter, product_of_lu(on.now(), np.arange(n) + 1), exact(a), n)
        self.succeeded("getrf without pivots", info)
        b = self.numbers(letter, n, 2)
        right = self.matrix(b)
        self.call(f"Dn{letter}getrs", PLAIN, n, 2, on, n, none, right, n, info)
        self.close("getrs without pivots", letter, exact(a) @ exact(right.now()), exact(b), 10 * n)

    def lu_of_singular(self) -> None:
        a = np.diag([2.0, 1.0, 0.0, 3.0])
        on, pivots, info = self.matrix(a), self.whole(4), self.whole(1)
        work, _ = self.work("D", "DnDgetrf", 4, 4, on, 4, ...)
        self.call("DnDgetrf", 4, 4, on, 4, work, pivots, info)
        self.same("getrf of a singular matrix: info", info.now(), np.array([3]))

    def cholesky(self, letter: str) -> None:
        n, count = 14, 3
        for uplo in (LOWER, UPPER):
            a, name = self.positive(letter, n), f"Dn{letter}potrf"
            on, info = self.matrix(half(a, uplo)), self.whole(1)
            work, size = self.work(letter, name, uplo, n, on, n, ...)
            self.call(name, uplo, n, on, n, work, size, info)
            factor = np.linalg.cholesky(exact(a))
            expected = factor if uplo == LOWER else factor.conj().T
            self.close(f"potrf {uplo}", letter, half(on.now(), uplo), expected, n)
            self.succeeded("potrf", info)
            self.unharmed("potrf", work)
            b = self.numbers(letter, n, count)
            right = self.matrix(b)
            self.call(f"Dn{letter}potrs", uplo, n, count, on, n, right, n, info)
            self.close(f"potrs {uplo}", letter, exact(a) @ exact(right.now()), exact(b), 10 * n)
            work, size = self.work(letter, f"Dn{letter}potri", uplo, n, on, n, ...)
            self.call(f"Dn{letter}potri", uplo, n, on, n, work, size, info)
            self.close(f"potri {uplo}", letter, half(on.now(), uplo), half(np.linalg.inv(exact(a)), uplo), 10 * n)
            self.succeeded("potri", info)
            self.unharmed("potri", work)

    def cholesky_of_indefinite(self) -> None:
        a = np.diag([1.0, 2.0, -1.0, 4.0])
        on, info = self.matrix(a), self.whole(1)
        work, size = self.work("D", "DnDpotrf", LOWER, 4, on, 4, ...)
        self.call("DnDpotrf", LOWER, 4, on, 4, work, size, info)
        self.same("potrf of an indefinite matrix: info", info.now(), np.array([3]))

    def many_choleskys(self, letter: str) -> None:
        n, count = 9, 4
        all_of_it = [self.positive(letter, n) for _ in range(count)]
        on = [self.matrix(a) for a in all_of_it]
        pointers, info = self.pointers(on), self.whole(count)
        self.call(f"Dn{letter}potrfBatched", LOWER, n, pointers, n, info, count)
        self.succeeded("potrfBatched", info)
        for a, factor in zip(all_of_it, on, strict=True):
            self.close("potrfBatched", letter, np.tril(factor.now()), np.linalg.cholesky(exact(a)), n)
        b = [self.numbers(letter, n, 1) for _ in range(count)]
        right = [self.matrix(one) for one in b]
        self.call(f"Dn{letter}potrsBatched", LOWER, n, 1, pointers, n, self.pointers(right), n, info, count)
        for a, x, one in zip(all_of_it, right, b, strict=True):
            self.close("potrsBatched", letter, exact(a) @ exact(x.now()), exact(one), 10 * n)

    def pointers(self, on: list[Device]) -> Device:
        return self.on(np.array([one.at[0] for one in on], np.uint64))

    def symmetric(self, letter: str) -> None:
        """Of complex numbers it is symmetric too, not Hermitian."""
        n, name = 12, f"Dn{letter}sytrf"
        for uplo in (LOWER, UPPER):
            a = self.numbers(letter, n, n)
            a = (a + a.T - 1.9 * np.diag(np.diag(a))).astype(TYPES[letter])
            on, pivots, info = self.matrix(a), self.whole(n), self.whole(1)
            work, size = self.work(letter, name, n, on, n, ...)
            self.call(name, uplo, n, on, n, pivots, work, size, info)
            self.succeeded("sytrf", info)
            self.unharmed("sytrf", work)
            found = product_of_diagonal_blocks(on.now(), pivots.now(), uplo)
            self.close(f"sytrf {uplo}", letter, found, exact(a), 10 * n)

    def at_once(self, letter: str) -> None:
        """A system, and least squares, with factors of any precision."""
        m, n, count = 15, 10, 2
        for lower in LOWER_PRECISIONS[letter]:
            name, niters, info = f"Dn{letter}{lower}", self.ffi.new("int *", -99), self.whole(1)
            a, b = self.numbers(letter, n, n), self.numbers(letter, n, count)
            on, right, x, pivots = self.matrix(a), self.matrix(b), self.zeros(letter, n, count), self.whole(n)
            given = (n, count, on, n, pivots, right, n, x, n)
            size, none = self.ffi.new("size_t *"), self.ffi.NULL
            self.call(f"{name}gesv_bufferSize", *given, none, size)
            work = self.watched(size[0])
            self.call(f"{name}gesv", *given, work, size[0], niters, info)
            self.close(f"{name}gesv", letter, exact(a) @ exact(x.now()), exact(b), 10 * n)
            self.succeeded(f"{name}gesv", info)
            self.unharmed(f"{name}gesv", work)
            self.client.check(f"{name}gesv: iterations {niters[0]}", niters[0] != -99)
            a, b = self.numbers(letter, m, n), self.numbers(letter, m, count)
            on, right = self.matrix(a), self.matrix(b)
            given = (m, n, count, on, m, right, m, x, n)
            self.call(f"{name}gels_bufferSize", *given, none, size)
            work = self.watched(size[0])
            self.call(f"{name}gels", *given, work, size[0], niters, info)
            expected = np.linalg.lstsq(exact(a), exact(b), rcond=None)[0]
            self.close(f"{name}gels", letter, x.now(), expected, 20 * n)
            self.succeeded(f"{name}gels", info)
            self.unharmed(f"{name}gels", work)

    def by_settings(self, letter: str) -> None:
        """A system and least squares with settings of refinement, none of which takes place."""
        m, n, count, kind = 14, 9, 2, {"S": 1204, "D": 1203, "C": 1214, "Z": 1213}[letter]
        params, infos = (self.new(f"cusolverDnIRS{part}_t", f"DnIRS{part}Create") for part in ("Params", "Infos"))
        size, iterations, info = self.ffi.new("size_t *"), self.ffi.new("int *", -1), self.whole(1)
        self.answers("no precision", 14, "DnIRSXgesv_bufferSize", self.handle, params, n, count, size)
        self.ok("DnIRSParamsSetSolverPrecisions", params, kind, kind)
        self.ok("DnIRSParamsSetSolverMainPrecision", params, kind)
        self.ok("DnIRSParamsSetSolverLowestPrecision", params, kind)
        self.ok("DnIRSParamsSetRefinementSolver", params, 1104)
        for name, value in (("SetMaxIters", 7), ("SetMaxItersInner", 5), ("SetTol", 1e-9), ("SetTolInner", 1e-4)):
            self.ok(f"DnIRSParams{name}", params, value)
        self.ok("DnIRSParamsDisableFallback", params)
        self.ok("DnIRSParamsEnableFallback", params)
        self.answers("an integer type", 14, "DnIRSParamsSetSolverMainPrecision", params, 1201)
        self.answers("no solver", 15, "DnIRSParamsSetRefinementSolver", params, 9)
        self.answers("a negative number", 16, "DnIRSParamsSetMaxIters", params, -1)
        for name, rows, sizes in (("gesv", n, (n, count)), ("gels", m, (m, n, count))):
            a, b = self.numbers(letter, rows, n), self.numbers(letter, rows, count)
            on, right, x = self.matrix(a), self.matrix(b), self.zeros(letter, n, count)
            self.call(f"DnIRSX{name}_bufferSize", params, *sizes, size)
            work = self.watched(size[0])
            given = (params, infos, *sizes, on, rows, right, rows, x, n, work, size[0], iterations, info)
            self.call(f"DnIRSX{name}", *given)
            expected = np.linalg.lstsq(exact(a), exact(b), rcond=None)[0]
            self.close(f"IRSX{name}", letter, x.now(), expected, 50 * n)
            self.succeeded(f"IRSX{name}", info)
            self.unharmed(f"IRSX{name}", work)
        for what, name, of_it in ((0, "Niters", infos), (0, "OuterNiters", infos), (7, "MaxIters", infos)):
            self.ok(f"DnIRSInfosGet{name}", of_it, iterations)
            self.client.check(f"{name}: {iterations[0]}", iterations[0] == what)
        self.ok("DnIRSParamsGetMaxIters", params, iterations)
        self.client.check(f"iterations {iterations[0]}", iterations[0] == 7)
        self.ok("DnIRSParamsDestroy", params)
        self.ok("DnIRSInfosDestroy", infos)
        self.answers("none", 12, "DnIRSParamsDestroy", self.ffi.NULL)
        self.answers("none", 25, "DnIRSInfosDestroy", self.ffi.NULL)

    def check_all(self) -> None:
        self.lu_of_singular()
        self.cholesky_of_indefinite()
        for letter in "SDCZ":
            self.lu(letter)
            self.lu_without_pivots(letter)
            self.cholesky(letter)
            self.many_choleskys(letter)
            self.symmetric(letter)
            self.at_once(letter)
            self.by_settings(letter)
