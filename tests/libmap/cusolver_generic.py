"""cuSOLVER's functions with 64-bit sizes and types as arguments, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Device
from tests.libmap.cusolver_factors import product_of_lu
from tests.libmap.dense import (
    CONJUGATED,
    DATA_TYPE,
    INVALID_VALUE,
    LOWER,
    NOT_SUPPORTED,
    PLAIN,
    TRANSPOSED,
    UPPER,
    Dense,
    exact,
    half,
    op,
)


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

    def there(self, on: Device) -> bool:
        return bool(np.any(on.now()))

    def wrong(self) -> None:
        n, sizes = 4, [self.ffi.new("size_t *"), self.ffi.new("size_t *")]
        on, half_precision, no_type = self.zeros("D", n, n), 2, 99
        for kind in (half_precision, no_type):
            given = (self.handle, self.params, n, n, kind, on, n, kind, *sizes)
            self.answers(f"type {kind}", NOT_SUPPORTED, "DnXgetrf_bufferSize", *given)
        given = (self.handle, self.ffi.NULL, n, n, 1, on, n, 1, *sizes)
        self.answers("no parameters", INVALID_VALUE, "DnXgetrf_bufferSize", *given)
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
        self.ok("DnDestroyParams", self.params)
