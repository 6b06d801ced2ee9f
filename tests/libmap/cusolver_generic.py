"""cuSOLVER's functions with 64-bit sizes and types as arguments, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.cusolver_eigen import ALL, BY_NUMBER, BY_VALUE
from tests.libmap.cusolver_factors import product_of_lu
from tests.libmap.dense import (
    CONJUGATED,
    DATA_TYPE,
    INVALID_VALUE,
    LOWER,
    NOT_SUPPORTED,
    PLAIN,
    REAL,
    TRANSPOSED,
    UPPER,
    VECTORS,
    Dense,
    exact,
    half,
    op,
)
from tests.libmap.handle import TYPES


class Generic(Dense):
    def __init__(self, client: Any, handle: Any) -> None:
        super().__init__(client, handle)
        self.params = self.new("cusolverDnParams_t", "DnCreateParams")

    def rooms(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        """Workspaces of a function on the device and on the host with their sizes, as it takes them."""
        sizes = [self.ffi.new("size_t *"), self.ffi.new("size_t *")]
        self.call(f"{name}_bufferSize", self.params, *arguments, *sizes)
        return self.watched(sizes[0][0]), sizes[0][0], np.zeros(max(sizes[1][0], 1), np.uint8), sizes[1][0]

    def run(self, name: str, before: tuple[Any, ...], kind: int, *, middle: tuple[Any, ...] = ()) -> None:
        """A function whose arguments are those of its question for workspaces, and `middle` before the last of these;
        it succeeds and stays in its workspace."""
        info, rooms = self.whole(1), self.rooms(name, *before, kind)
        self.call(name, self.params, *before, *middle, kind, *rooms, info)
        self.succeeded(name, info)
        self.unharmed(name, rooms[0])

    def lu(self, letter: str) -> None:
        n, count, kind = 12, 3, DATA_TYPE[letter]
        a = self.numbers(letter, n, n)
        on, pivots, info = self.matrix(a), self.matrix(np.zeros(n, np.int64)), self.whole(1)
        self.run("DnXgetrf", (n, n, kind, on, n), kind, middle=(pivots,))
        self.close("Xgetrf", letter, product_of_lu(on.now(), pivots.now()), exact(a), n)
        for operation in (PLAIN, TRANSPOSED, CONJUGATED):
            b = self.numbers(letter, n, count)
            right = self.matrix(b)
            self.call("DnXgetrs", self.params, operation, n, count, kind, on, n, pivots, kind, right, n, info)
            self.close(f"Xgetrs {operation}", letter, op(exact(a), operation) @ exact(right.now()), exact(b), 10 * n)
        self.without_pivots(letter)

    def without_pivots(self, letter: str) -> None:
        n, kind, none, info = 10, DATA_TYPE[letter], self.ffi.NULL, self.whole(1)
        a, b = self.positive(letter, n), self.numbers(letter, n, 2)
        on, right = self.matrix(a), self.matrix(b)
        self.run("DnXgetrf", (n, n, kind, on, n), kind, middle=(none,))
        self.call("DnXgetrs", self.params, PLAIN, n, 2, kind, on, n, none, kind, right, n, info)
        self.close("Xgetrs without pivots", letter, exact(a) @ exact(right.now()), exact(b), 10 * n)

    def cholesky(self, letter: str) -> None:
        n, count, kind, info = 11, 2, DATA_TYPE[letter], self.whole(1)
        for uplo in (LOWER, UPPER):
            a, b = self.positive(letter, n), self.numbers(letter, n, count)
            on, right = self.matrix(half(a, uplo)), self.matrix(b)
            self.run("DnXpotrf", (uplo, n, kind, on, n), kind)
            factor = np.linalg.cholesky(exact(a))
            expected = factor if uplo == LOWER else factor.conj().T
            self.close(f"Xpotrf {uplo}", letter, half(on.now(), uplo), expected, n)
            self.call("DnXpotrs", self.params, uplo, n, count, kind, on, n, kind, right, n, info)
            self.close(f"Xpotrs {uplo}", letter, exact(a) @ exact(right.now()), exact(b), 10 * n)

    def qr(self, letter: str) -> None:
        m, n, kind = 13, 8, DATA_TYPE[letter]
        a = self.numbers(letter, m, n)
        on, tau = self.matrix(a), self.zeros(letter, n)
        self.run("DnXgeqrf", (m, n, kind, on, m, kind, tau), kind)
        upper = np.triu(exact(on.now())[:n])
        self.close("Xgeqrf", letter, upper.conj().T @ upper, exact(a).conj().T @ exact(a), 10 * m)
        self.client.check("Xgeqrf: scalars", self.there(tau))

    def first(self, name: str, before: tuple[Any, ...], kind: int, *, middle: tuple[Any, ...] = ()) -> None:
        """As `run`, for a function of CUDA 11 with one workspace."""
        size, info = self.ffi.new("size_t *"), self.whole(1)
        self.call(f"{name}_bufferSize", self.params, *before, kind, size)
        room = self.watched(size[0])
        self.call(name, self.params, *before, *middle, kind, room, size[0], info)
        self.succeeded(name, info)
        self.unharmed(name, room)

    def factors_of_cuda_11(self, letter: str) -> None:
        n, kind, info = 9, DATA_TYPE[letter], self.whole(1)
        a, b = self.positive(letter, n), self.numbers(letter, n, 2)
        on, pivots, right = self.matrix(a), self.matrix(np.zeros(n, np.int64)), self.matrix(b)
        self.first("DnGetrf", (n, n, kind, on, n), kind, middle=(pivots,))
        self.call("DnGetrs", self.params, PLAIN, n, 2, kind, on, n, pivots, kind, right, n, info)
        self.close("Getrs", letter, exact(a) @ exact(right.now()), exact(b), 10 * n)
        on, right = self.matrix(a), self.matrix(b)
        self.first("DnPotrf", (LOWER, n, kind, on, n), kind)
        self.call("DnPotrs", self.params, LOWER, n, 2, kind, on, n, kind, right, n, info)
        self.close("Potrs", letter, exact(a) @ exact(right.now()), exact(b), 10 * n)
        on, tau = self.matrix(a), self.zeros(letter, n)
        self.first("DnGeqrf", (n, n, kind, on, n, kind, tau), kind)
        upper = np.triu(exact(on.now()))
        self.close("Geqrf", letter, upper.conj().T @ upper, exact(a).conj().T @ exact(a), 10 * n)

    def eigenvalues(self, letter: str) -> None:
        n, kind, real = 12, DATA_TYPE[letter], DATA_TYPE[REAL[letter]]
        for name, run in (("DnXsyevd", self.run), ("DnSyevd", self.first)):
            a = self.hermitian(letter, n)
            on, w = self.matrix(a), self.zeros(REAL[letter], n)
            run(name, (VECTORS, LOWER, n, kind, on, n, real, w), kind)
            expected, x = np.linalg.eigvalsh(exact(a)), exact(on.now())
            self.close(name, letter, w.now(), expected, n)
            self.close(f"{name}: vectors", letter, exact(a) @ x, x * exact(w.now()), 10 * n)
            for way in (ALL, BY_NUMBER, BY_VALUE):
                self.some_eigenvalues(f"{name}x", run, letter, a, way)

    def some_eigenvalues(self, name: str, run: Any, letter: str, a: Array, way: int) -> None:
        n, kind, real, none = len(a), DATA_TYPE[letter], DATA_TYPE[REAL[letter]], self.ffi.NULL
        expected, count = np.linalg.eigvalsh(exact(a)), self.ffi.new("int64_t *", -1)
        kept = {ALL: slice(n), BY_NUMBER: slice(2, 7), BY_VALUE: slice(3, 8)}[way]
        bounds = [np.array([(expected[i - 1] + expected[i]) / 2], TYPES[REAL[letter]]) for i in (3, 8)]
        on, w = self.matrix(a), self.zeros(REAL[letter], n)
        between = bounds if way == BY_VALUE else [none, none]
        run(name, (VECTORS, way, LOWER, n, kind, on, n, *between, 3, 7, count, real, w), kind)
        expected = expected[kept]
        found, x = exact(w.now())[: len(expected)], exact(on.now())[:, : len(expected)]
        self.client.check(f"{name} {way}: {count[0]} values", count[0] == len(expected))
        self.close(f"{name} {way}", letter, found, expected, n)
        self.close(f"{name} {way}: vectors", letter, exact(a) @ x, x * found, 10 * n)

    def singular_values(self, letter: str) -> None:
        m, n, kind, real = 13, 9, DATA_TYPE[letter], DATA_TYPE[REAL[letter]]
        for name, run in (("DnXgesvd", self.run), ("DnGesvd", self.first)):
            a, how = self.numbers(letter, m, n), ord("S")
            on, s = self.matrix(a), self.zeros(REAL[letter], n)
            u, rows = self.zeros(letter, m, n), self.zeros(letter, n, n)
            run(name, (how, how, m, n, kind, on, m, real, s, kind, u, m, kind, rows, n), kind)
            self.close(name, letter, s.now(), np.linalg.svd(exact(a), compute_uv=False), m)
            self.close(f"{name}: product", letter, (exact(u.now()) * s.now()) @ exact(rows.now()), exact(a), 10 * m)
            self.orthonormal(name, letter, u.now())

    def many_eigenvalues(self, letter: str) -> None:
        n, count, kind, real, info = 7, 4, DATA_TYPE[letter], DATA_TYPE[REAL[letter]], self.whole(4)
        all_of_it = np.array([self.hermitian(letter, n) for _ in range(count)])
        on, w = self.matrix(all_of_it.transpose(1, 2, 0)), self.zeros(REAL[letter], n, count)
        sizes = [self.ffi.new("size_t *"), self.ffi.new("size_t *")]
        given = (self.params, VECTORS, LOWER, n, kind, on, n, real, w, kind)
        self.call("DnXsyevBatched_bufferSize", *given, *sizes, count)
        room = self.watched(sizes[0][0])
        self.call("DnXsyevBatched", *given, room, sizes[0][0], self.ffi.NULL, sizes[1][0], info, count)
        self.succeeded("XsyevBatched", info)
        self.unharmed("XsyevBatched", room)
        for i, a in enumerate(all_of_it):
            values, x = exact(w.now()[:, i]), exact(on.now()[:, :, i])
            self.close("XsyevBatched", letter, values, np.linalg.eigvalsh(exact(a)), n)
            self.close("XsyevBatched: vectors", letter, exact(a) @ x, x * values, 10 * n)

    def polar(self, letter: str) -> None:
        """By Jacobi's method."""
        kind, real = DATA_TYPE[letter], DATA_TYPE[REAL[letter]]
        for m, n, few in ((10, 10, 0), (12, 7, 1)):
            a, k, left = self.numbers(letter, m, n), n, n if few else m
            on, s, info = self.matrix(a), self.zeros(REAL[letter], k), self.whole(1)
            u, v, error = self.zeros(letter, m, left), self.zeros(letter, n, n), self.ffi.new("double *", -1)
            given = (VECTORS, few, m, n, kind, on, m, real, s, kind, u, m, kind, v, n)
            rooms = self.rooms("DnXgesvdp", *given, kind)
            self.call("DnXgesvdp", self.params, *given, kind, *rooms, info, error)
            self.succeeded("Xgesvdp", info)
            self.unharmed("Xgesvdp", rooms[0])
            self.client.check(f"Xgesvdp: error {error[0]}", error[0] == 0)
            self.close("Xgesvdp", letter, s.now(), np.linalg.svd(exact(a), compute_uv=False), m)
            product = (exact(u.now())[:, :k] * s.now()) @ exact(v.now()).conj().T
            self.close("Xgesvdp: product", letter, product, exact(a), 10 * m)

    def wrong_types(self) -> None:
        n, sizes = 4, [self.ffi.new("size_t *"), self.ffi.new("size_t *")]
        on, w, single, double = self.zeros("D", n, n), self.zeros("D", n), 0, 1
        for what, size, kind, of_values, computed in (
            ("types of values", n, double, single, double),
            ("types of computation", n, double, double, single),
            ("a size", 1 << 31, double, double, double),
            ("a negative size", -1, double, double, double),
        ):
            given = (self.handle, self.params, VECTORS, LOWER, size, kind, on, n, of_values, w, computed, *sizes)
            self.answers(what, INVALID_VALUE, "DnXsyevd_bufferSize", *given)

    def there(self, on: Device) -> bool:
        return bool(np.any(on.now()))

    def wrong(self) -> None:
        n, sizes = 4, [self.ffi.new("size_t *"), self.ffi.new("size_t *")]
        on, half_precision, no_type = self.zeros("D", n, n), 2, 99
        for kind in (half_precision, no_type):
            given = (self.handle, self.params, n, n, kind, on, n, kind, *sizes)
            self.answers(f"type {kind}", NOT_SUPPORTED, "DnXgetrf_bufferSize", *given)
        given = (self.handle, self.ffi.NULL, n, n, 1, on, n, 1, *sizes)
        self.ok("DnXgetrf_bufferSize", *given)  # without options
        self.answers("no place", INVALID_VALUE, "DnCreateParams", self.ffi.NULL)
        self.ok("DnSetAdvOptions", self.params, 0, 1)
        self.answers("no such function", INVALID_VALUE, "DnSetAdvOptions", self.params, 2, 0)
        self.answers("no parameters", INVALID_VALUE, "DnSetAdvOptions", self.ffi.NULL, 0, 0)

    def check_all(self) -> None:
        self.wrong()
        for letter in "SDCZ":
            self.lu(letter)
            self.cholesky(letter)
            self.qr(letter)
            self.factors_of_cuda_11(letter)
            self.eigenvalues(letter)
            self.singular_values(letter)
            self.many_eigenvalues(letter)
            self.polar(letter)
        self.wrong_types()
        self.ok("DnDestroyParams", self.params)
