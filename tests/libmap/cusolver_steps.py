"""cuSOLVER's sparse systems in steps (analysis, factor, pivots, solutions), against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.cusolver_sparse import INVALID, NOT_INITIALIZED, NOT_SUPPORTED, Sparse, rows_of
from tests.libmap.handle import TYPES

ZERO_PIVOT = 10


class Steps(Sparse):
    def put(self, side: str, *parts: Any) -> list[Any]:
        return list(parts) if side else [self.on(part) for part in parts]

    def passed(self, side: str, method: str, letter: str, a: Any, base: int, mu: complex = 0) -> tuple[Any, Any, int]:
        """An object that has the matrix, its memory, and its size."""
        n, positive = len(a), method == "chol"
        parts = rows_of(np.tril(a) if positive else a, base, self.client.draw)
        values, pointers, columns = self.put(side, *parts)
        info = self.new(f"csr{method}Info{side}_t", f"SpCreateCsr{method}Info{side}")
        sizes = (n, len(parts[0])) if positive else (n, n, len(parts[0]))
        head = (*sizes, self.descriptor(base))
        self.call(f"SpXcsr{method}Analysis{side}", *head, pointers, columns, info)
        room = [self.ffi.new("size_t *") for _ in "ab"]
        matrix = (*head, values, pointers, columns)
        self.call(f"Sp{letter}csr{method}BufferInfo{side}", *matrix, info, *room)
        memory = np.zeros(room[1][0], np.uint8) if side else self.room(room[1][0])
        if positive:
            self.call(f"Sp{letter}csrcholFactor{side}", *matrix, info, memory)
        else:
            self.call(f"Sp{letter}csrqrSetup{side}", *matrix, self.number(letter, mu), info)
            self.call(f"Sp{letter}csrqrFactor{side}", *sizes, self.ffi.NULL, self.ffi.NULL, info, memory)
        return info, memory, len(parts[0])

    def stepwise(self, side: str, method: str, letter: str, n: int, base: int, mu: complex = 0) -> None:
        a = self.matrix(letter, n, method == "chol")
        if mu:
            a = (a + 2 * np.eye(n)).astype(a.dtype)  # no number of the diagonal is missing
        info, memory, count = self.passed(side, method, letter, a, base, mu)
        position = self.ffi.new("int *", 7)
        self.call(f"Sp{letter}csr{method}ZeroPivot{side}", info, 1e-12, position)
        self.client.check(f"{method}{side} {letter}: pivot {position[0]}", position[0] == -1)
        wide = a.astype(np.result_type(a, np.float64)) - (mu if letter in "CZ" else mu.real) * np.eye(n)
        sizes = (n,) if method == "chol" else (n, n)
        for turn in range(3):
            b = self.numbers(letter, n)
            right, x = self.put(side, b, np.zeros_like(b))
            if turn == 2 and method == "qr":  # both at once
                self.call(f"Sp{letter}csrqrFactor{side}", n, n, count, right, x, info, memory)
            else:
                self.call(f"Sp{letter}csr{method}Solve{side}", *sizes, right, x, info, memory)
            found, exact = x if side else x.now(), np.linalg.solve(wide, b.astype(wide.dtype))
            limit = np.finfo(TYPES[letter]).eps * 50 * np.linalg.cond(wide)
            error = abs(found - exact).max() / abs(exact).max()
            self.client.check(f"{method}{side} {letter} {n}: error {error}, limit {limit}", error < limit)
        if method == "chol" and not side:
            diagonal = self.on(np.zeros(n, TYPES[letter]).real)
            self.call(f"Sp{letter}csrcholDiag", info, diagonal)
            exact = np.diag(np.linalg.cholesky(wide)).real
            self.near(f"the factor's diagonal {n}", letter, diagonal.now(), exact, n)
        self.ok(f"SpDestroyCsr{method}Info{side}", info)

    def singular_matrix(self, side: str, method: str) -> None:
        a = np.diag([2.0, 3.0, 0.0, 1.0])
        a[0, 3] = a[3, 0] = 1
        info, _, _ = self.passed(side, method, "D", a, 0)
        position = self.ffi.new("int *", 7)
        self.call(f"SpDcsr{method}ZeroPivot{side}", info, 1e-9, position)
        self.client.check(f"{method}{side}: singular at {position[0]}", position[0] == 2)
        if method == "chol" and not side:
            untouched = self.on(np.full(4, 7.0))
            self.answers("singular", ZERO_PIVOT, "SpDcsrcholDiag", self.handle, info, untouched)
            self.same("no diagonal", untouched.now(), np.full(4, 7.0))
            self.answers("no place", INVALID, "SpDcsrcholDiag", self.handle, info, self.ffi.NULL)
            self.answers("another type", INVALID, "SpScsrcholDiag", self.handle, info, untouched)
            self.answers("no handle", NOT_INITIALIZED, "SpDcsrcholDiag", self.ffi.NULL, info, untouched)
        self.ok(f"SpDestroyCsr{method}Info{side}", info)

    def wrong_steps(self) -> None:
        none, position = self.ffi.NULL, self.ffi.new("int *")
        info = self.new("csrqrInfoHost_t", "SpCreateCsrqrInfoHost")
        b, x = np.ones(3), np.zeros(3)
        self.answers("no matrix", INVALID, "SpDcsrqrSolveHost", self.handle, 3, 3, b, x, info, none)
        self.answers("no matrix", INVALID, "SpDcsrqrZeroPivotHost", self.handle, info, 0.0, position)
        values, pointers, columns = rows_of(np.eye(3), 0, self.client.draw)
        given = [self.handle, 3, 3, 3, self.descriptor(0), values, pointers, columns, 0.0, info]
        self.answers("no handle", NOT_INITIALIZED, "SpDcsrqrSetupHost", none, *given[1:])
        self.answers("fewer rows", NOT_SUPPORTED, "SpDcsrqrSetupHost", self.handle, 2, *given[2:])
        self.answers("no values", INVALID, "SpDcsrqrSetupHost", *given[:5], none, *given[6:])
        self.ok("SpDcsrqrSetupHost", *given)
        self.answers("no right side", INVALID, "SpDcsrqrSolveHost", self.handle, 3, 3, none, x, info, none)
        self.answers("another size", INVALID, "SpDcsrqrSolveHost", self.handle, 2, 2, b, x, info, none)
        self.answers("another type", INVALID, "SpScsrqrSolveHost", self.handle, 3, 3, b, x, info, none)
        self.ok("SpDestroyCsrqrInfoHost", info)
        info = self.new("csrcholInfo_t", "SpCreateCsrcholInfo")
        self.answers("no matrix", INVALID, "SpDcsrcholDiag", self.handle, info, self.on(x))
        self.ok("SpDestroyCsrcholInfo", info)
        for name in ("CsrqrInfoHost", "CsrcholInfo", "CsrcholInfoHost"):
            self.ok(f"SpDestroy{name}", none)
            self.answers("no place", INVALID, f"SpCreate{name}", none)

    def check_all(self) -> None:
        for side in ("", "Host"):
            for method in ("qr", "chol"):
                for letter in "SDCZ":
                    self.stepwise(side, method, letter, 30, 0)
                self.stepwise(side, method, "D", 80, 1)
                self.singular_matrix(side, method)
            for letter in "SDCZ":
                self.stepwise(side, "qr", letter, 20, 1, 0.5 + 0.25j)
        self.wrong_steps()
        self.ok("SpDestroy", self.handle)
