"""cuSOLVER's sparse least squares, eigenvalues and diagonals without zeros, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cusolver_sparse import INVALID, NOT_INITIALIZED, NOT_SUPPORTED, Sparse, rows_of
from tests.libmap.handle import TYPES

TYPE_NOT_SUPPORTED = 8


class Spectrum(Sparse):
    def single(self, letter: str) -> bool:
        return letter in "SC"

    def tall(self, letter: str, m: int, n: int) -> Array:
        there = self.client.draw.uniform(0, 1, (m, n)) < 4 / n
        there[np.arange(n), np.arange(n)] = True
        return np.where(there, self.numbers(letter, m, n), 0).astype(TYPES[letter])

    def least_squares(self, letter: str, m: int, n: int, base: int, dependent: list[int]) -> None:
        """`dependent`: columns that are the sum of the first two."""
        a, b = self.tall(letter, m, n), self.numbers(letter, m)
        for j in dependent:
            a[:, j] = a[:, 0] + a[:, 1]
        rank, norm = self.ffi.new("int *", -7), np.full(1, -1, TYPES["S" if self.single(letter) else "D"])
        x, p = np.zeros(n, TYPES[letter]), np.full(n, -1, np.int32)
        tolerance = 1e-4 if self.single(letter) else 1e-10
        parts = rows_of(a, base, self.client.draw)
        self.call(f"Sp{letter}csrlsqvqrHost", m, n, len(parts[0]), self.descriptor(base), *parts, b, tolerance, rank, x,
                  p, norm)  # fmt: skip
        what = f"least squares {m} x {n}, {len(dependent)} dependent"
        wide = a.astype(np.complex128)
        exact = np.linalg.lstsq(wide, b.astype(np.complex128), rcond=1e-6)[0]
        error = abs(x - exact).max() / abs(exact).max()
        limit = np.finfo(TYPES[letter]).eps * 1e4
        self.client.check(f"{what} {letter}: error {error}, limit {limit}", error < limit)
        self.client.check(f"{what}: rank {rank[0]}", rank[0] == n - len(dependent))
        left = np.linalg.norm(b - wide @ exact)
        self.client.check(f"{what} {letter}: norm {norm[0]}, not {left}", abs(norm[0] - left) < limit * (1 + left))
        self.same(f"{what}: all columns", np.sort(p), np.arange(n))
        self.client.check(f"{what}: independent columns", np.linalg.matrix_rank(wide[:, p[: rank[0]]], 1e-6) == rank[0])
        if not dependent:
            self.same(f"{what}: no exchange", p, np.arange(n))
        elif len(dependent) == 1:  # it changed places with the last
            last = np.arange(n)
            last[[dependent[0], -1]] = last[[-1, dependent[0]]]
            self.same(f"{what}: one exchange", p, last)

    def tall_batch(self, letter: str) -> None:
        """Least squares also where several systems are solved."""
        m, n, count = 12, 5, 3
        a = self.tall(letter, m, n)
        _, pointers, columns = rows_of(a, 0, self.client.draw)
        rows, entries = np.repeat(np.arange(m), np.diff(pointers)), len(columns)
        values, b = self.numbers(letter, count, entries), self.numbers(letter, count, m)
        matrices = np.zeros((count, m, n), np.complex128)
        matrices[:, rows, columns] = values
        info = self.new("csrqrInfo_t", "SpCreateCsrqrInfo")
        x = self.on(np.zeros((count, n), TYPES[letter]))
        on = [self.on(part) for part in (values, pointers, columns, b)]
        self.call("SpXcsrqrAnalysisBatched", m, n, entries, self.descriptor(0), on[1], on[2], info)
        self.call(f"Sp{letter}csrqrsvBatched", m, n, entries, self.descriptor(0), *on, x, count, info, x)
        exact = np.array([np.linalg.lstsq(one, right, rcond=None)[0] for one, right in zip(matrices, b, strict=True)])
        self.near(
            "least squares of a batch",
            letter,
            x.now().reshape(count, n) / abs(exact).max(),
            exact / abs(exact).max(),
            20,
        )
        self.ok("SpDestroyCsrqrInfo", info)

    def nearest(self, letter: str, side: str, n: int, shift: complex, empty: bool = False) -> None:
        """The eigenvalue nearest to a number, of a Hermitian matrix; `empty`: without a diagonal."""
        a = self.tall(letter, n, n)
        a = (a + a.conj().T + (0 if empty else np.diag(np.arange(n) * 2.0))).astype(TYPES[letter])
        if empty:
            np.fill_diagonal(a, 0)
        parts = rows_of(a, 1, self.client.draw)
        start, x, mu = self.numbers(letter, n), np.zeros(n, TYPES[letter]), np.zeros(1, TYPES[letter])
        tolerance = 1e-4 if self.single(letter) else 1e-11
        given = (n, len(parts[0]), self.descriptor(1))
        arrays = [*parts, start, mu, x] if side else [self.on(one) for one in (*parts, start, mu, x)]
        self.call(f"Sp{letter}csreigvsi{side}", *given, *arrays[:3], self.number(letter, shift), arrays[3], 500,
                  tolerance, *arrays[4:])  # fmt: skip
        if not side:
            mu, x = arrays[4].now(), arrays[5].now()
        wide = a.astype(np.complex128)
        values = np.linalg.eigvalsh(wide)
        exact = values[abs(values - shift).argmin()]
        what = f"eigenvalue {letter} {side} {n}"
        self.client.check(f"{what}: {mu[0]}, not {exact}", abs(mu[0] - exact) < 20 * tolerance)
        left = np.linalg.norm(wide @ x - mu[0] * x)
        self.client.check(f"{what}: vector, {left}", abs(np.linalg.norm(x) - 1) < 1e-5 and left < 20 * tolerance)

    def few_steps(self) -> None:
        """The iteration, step by step: the quotient, then a solution."""
        n, shift = 8, 2.3
        a = np.diag(np.arange(1.0, n + 1)) + np.diag(np.full(n - 1, 0.5), 1) + np.diag(np.full(n - 1, 0.5), -1)
        parts, start = rows_of(a, 0, self.client.draw), self.numbers("D", n)
        exact, value = start / np.linalg.norm(start), 0.0
        for steps in range(5):
            x, mu = np.zeros(n), np.zeros(1)
            self.call(
                "SpDcsreigvsiHost", n, len(parts[0]), self.descriptor(0), *parts, shift, start, steps, 1e-13, mu, x
            )
            self.near(f"after {steps} steps", "D", x, exact, 20)
            self.near(f"quotient after {steps} steps", "D", mu, np.array([value]), 20)
            value = exact @ a @ exact
            exact = np.linalg.solve(a - shift * np.eye(n), exact)
            exact /= np.linalg.norm(exact)
        x = np.zeros(n)
        self.call("SpDcsreigvsiHost", n, len(parts[0]), self.descriptor(0), *parts, shift, start, 5, 1e3, mu, x)
        self.near("good enough at once", "D", x, start / np.linalg.norm(start), 20)

    def exactly_there(self) -> None:
        """The shift is an eigenvalue: the solution is its vector."""
        a, parts = np.diag([1.0, 2.0, 4.0]), rows_of(np.diag([1.0, 2.0, 4.0]), 0, self.client.draw)
        x, mu = np.zeros(3), np.zeros(1)
        self.call("SpDcsreigvsiHost", 3, 3, self.descriptor(0), *parts, 2.0, np.ones(3), 10, 1e-12, mu, x)
        self.client.check(f"a singular shift: {mu}, {x}", abs(mu[0] - 2) < 1e-12 and abs(abs(x[1]) - 1) < 1e-12)
        self.client.check("A is not changed", (a == np.diag([1.0, 2.0, 4.0])).all())

    def enclosed(self, letter: str, n: int, base: int) -> None:
        a = (self.tall(letter, n, n) * 2).astype(TYPES[letter])
        parts = rows_of(a, base, self.client.draw)
        values = np.linalg.eigvals(a.astype(np.complex128))
        corner = "cuComplex *" if self.single(letter) else "cuDoubleComplex *"
        for least, most in ((-1 - 1j, 1 + 1j), (0 - 9j, 99 + 9j), (-0.5 + 0.01j, 0.5 + 3j), (-99 - 99j, 99 + 99j)):
            ends, count = [self.ffi.new(corner), self.ffi.new(corner)], self.ffi.new("int *", -1)
            for end, value in zip(ends, (least, most), strict=True):
                end.x, end.y = value.real, value.imag
            self.call(
                f"Sp{letter}csreigsHost", n, len(parts[0]), self.descriptor(base), *parts, ends[0][0], ends[1][0], count
            )
            inside = ((values.real >= least.real) & (values.real <= most.real) & (values.imag >= least.imag)
                      & (values.imag <= most.imag)).sum()  # fmt: skip
            self.client.check(
                f"eigenvalues {letter} {n} in {least}, {most}: {count[0]}, not {inside}", count[0] == inside
            )

    def defective(self) -> None:
        """A Jordan block, a cyclic permutation (no shift helps at first), zeros."""
        for n, a, inside in (
            (6, np.eye(6) * 2 + np.eye(6, k=1), 6),
            (8, np.roll(np.eye(8), 1, 1), 0),
            (3, np.zeros((3, 3)), 0),
        ):
            parts = rows_of(a, 0, self.client.draw)
            ends, count = [self.ffi.new("cuDoubleComplex *") for _ in "ab"], self.ffi.new("int *", -1)
            ends[0].x, ends[0].y, ends[1].x, ends[1].y = 1.5, -0.5, 2.5, 0.5
            self.call("SpDcsreigsHost", n, len(parts[0]), self.descriptor(0), *parts, ends[0][0], ends[1][0], count)
            self.client.check(f"{n}: {count[0]} eigenvalues, not {inside}", count[0] == inside)

    def diagonal(self, letter: str, n: int, base: int, holes: int) -> None:
        """P A has as few zeros on its diagonal as possible; `holes`: how many columns are empty."""
        shuffled = self.client.draw.permutation(n)
        a = np.zeros((n, n), TYPES[letter])
        a[shuffled, np.arange(n)] = self.numbers(letter, n)
        a = np.where(self.client.draw.uniform(0, 1, (n, n)) < 1 / n, self.numbers(letter, n, n), a)
        a[:, self.client.draw.permutation(n)[:holes]] = 0
        values, pointers, columns = rows_of(a, base, self.client.draw)
        p, count = np.full(n, -1, np.int32), self.ffi.new("int *", -1)
        self.call(f"Sp{letter}csrzfdHost", n, len(values), self.descriptor(base), values, pointers, columns, p, count)
        self.same(f"zfd {n}: rows", np.sort(p), np.arange(n))
        there = int((a[p, np.arange(n)] != 0).sum())
        self.client.check(f"zfd {n}: {count[0]} of {there}", count[0] == there == n - holes)

    def known_diagonals(self) -> None:
        """Where only one answer is right, or rows are left over; a stored zero is none."""
        cycle, arrow = np.roll(np.diag(np.arange(1.0, 7)), 1, 1), np.zeros((6, 6))
        arrow[0], arrow[:, 0] = 1, 1
        zero = np.array([[0, 2.0], [3, 0]])
        for a, there, rows in ((cycle, 6, [5, 0, 1, 2, 3, 4]), (arrow, 2, [1, 0, 2, 3, 4, 5]), (zero, 2, [1, 0])):
            values, pointers, columns = rows_of(np.where(a == 0, 0, a), 0, self.client.draw)
            if a is zero:
                values = np.array([0, 2.0, 3, 0])
                pointers, columns = np.array([0, 2, 4], np.int32), np.array([0, 1, 0, 1], np.int32)
            p, count = np.zeros(len(a), np.int32), self.ffi.new("int *")
            self.call("SpDcsrzfdHost", len(a), len(values), self.descriptor(0), values, pointers, columns, p, count)
            self.same("zfd: the only answer", p, np.array(rows, np.int32))
            self.client.check(f"zfd: {count[0]}", count[0] == there)

    def each_wrong(self) -> None:
        """One wrong argument at a time."""
        none, word, x, p = self.ffi.NULL, self.ffi.new("int *"), np.zeros(3), np.zeros(3, np.int32)
        mu, corner = np.zeros(1), self.ffi.new("cuDoubleComplex *")[0]
        symmetric = self.descriptor(0)
        assert not self.cusparse.cusparseSetMatType(self.pointer(symmetric), 1)
        matrix = rows_of(np.eye(3), 0, self.client.draw)
        head = [self.handle, 3, 3, self.descriptor(0), *matrix]
        calls: dict[str, tuple[list[Any], dict[int, Any]]] = {
            "SpDcsrlsqvqrHost": ([head[0], 3, *head[1:], np.ones(3), 0.0, word, x, p, mu],
                                 {8: none, 9: -1.0, 10: none, 11: none, 12: none, 13: none}),
            "SpDcsreigvsiHost": ([*head, 0.5, np.ones(3), 9, 1e-9, mu, x],
                                 {8: none, 9: -1, 10: -1.0, 11: none, 12: none}),
            "SpDcsreigsHost": ([*head, corner, corner, word], {9: none}),
            "SpDcsrzfdHost": ([*head, p, word], {7: none, 8: none}),
        }  # fmt: skip
        for name, (good, more) in calls.items():
            at = 4 if "lsq" in name else 3
            wrong = {0: (none, NOT_INITIALIZED), at - 1: (-1, INVALID)}
            wrong |= {at + i: (none, INVALID) for i in range(4)} | {i: (v, INVALID) for i, v in more.items()}
            if "zfd" not in name:
                wrong[-1] = (symmetric, TYPE_NOT_SUPPORTED)
            for i, (value, status) in wrong.items():
                place = at if i == -1 else i
                given = [value if j == place else one for j, one in enumerate(good)]
                self.answers(f"wrong argument {place}", status, name, *given)
        wide = [self.handle, 2, 3, 2, self.descriptor(0), np.ones(2), np.arange(3, dtype=np.int32),
                np.arange(2, dtype=np.int32), np.ones(2), 0.0, word, x, p, mu]  # fmt: skip
        self.answers("fewer equations", NOT_SUPPORTED, "SpDcsrlsqvqrHost", *wide)
        self.answers("nothing to begin with", INVALID, "SpDcsreigvsiHost", *head, 0.5, np.zeros(3), 9, 1e-9, mu, x)

    def check_all(self) -> None:
        for letter in "SDCZ":
            self.least_squares(letter, 30, 8, 0, [])
            self.least_squares(letter, 30, 8, 1, [5])
            self.least_squares(letter, 20, 12, 0, [4, 7, 11])
            self.tall_batch(letter)
            for side in ("", "Host"):
                self.nearest(letter, side, 25, 7.3)
            self.nearest(letter, "Host", 9, 0.4, empty=True)
            self.enclosed(letter, 20, 1)
            self.diagonal(letter, 40, 1, 0)
            self.diagonal(letter, 15, 0, 3)
        self.least_squares("D", 7, 7, 0, [6])
        self.enclosed("D", 1, 0)
        self.few_steps()
        self.exactly_there()
        self.defective()
        self.known_diagonals()
        self.each_wrong()
        self.ok("SpDestroy", self.handle)
