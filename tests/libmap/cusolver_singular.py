"""cuSOLVER's singular values, against numpy: by QR, by Jacobi's method, of many matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.dense import NO_VECTORS, REAL, VECTORS, Dense, exact


class Singular(Dense):
    def factors(self, what: str, letter: str, a: Array, u: Array, s: Array, rows: Array) -> None:
        """u s rows is the matrix; of u and rows, what belongs to values."""
        k = len(s)
        self.close(f"{what}: values", letter, s, np.linalg.svd(exact(a), compute_uv=False)[:k], len(a))
        self.orthonormal(f"{what}: left", letter, u)
        self.orthonormal(f"{what}: right", letter, rows.conj().T)
        product = (exact(u)[:, :k] * exact(s)) @ exact(rows)[:k]
        self.close(f"{what}: product", letter, product, exact(a), 10 * len(a))

    def by_qr(self, letter: str) -> None:
        real, name = REAL[letter], f"Dn{letter}gesvd"
        for m, n, job in ((12, 12, "A"), (14, 9, "A"), (14, 9, "S"), (13, 10, "N"), (9, 14, "S")):
            k, a = min(m, n), self.numbers(letter, m, n)
            left, right = (m, n) if job == "A" else (k, k)
            on, s, info = self.matrix(a), self.zeros(real, k), self.whole(1)
            u, rows, more = self.zeros(letter, m, left), self.zeros(letter, right, n), self.zeros(real, k)
            work, size = self.work(letter, name, m, n, ...)
            how = ord(job)
            self.call(name, how, how, m, n, on, m, s, u, m, rows, right, work, size, more, info)
            what = f"gesvd {m}x{n} {job}"
            self.succeeded(what, info)
            self.unharmed(what, work)
            if job == "N":
                self.close(what, letter, s.now(), np.linalg.svd(exact(a), compute_uv=False), m)
            else:
                self.factors(what, letter, a, u.now(), s.now(), rows.now())

    def settings(self) -> Any:
        info = self.new("gesvdjInfo_t", "DnCreateGesvdjInfo")
        self.ok("DnXgesvdjSetMaxSweeps", info, 50)
        self.ok("DnXgesvdjSetSortEig", info, 1)
        self.ok("DnXgesvdjSetTolerance", info, 0.0)
        return info

    def by_jacobi(self, letter: str) -> None:
        real, name, about = REAL[letter], f"Dn{letter}gesvdj", self.settings()
        for m, n, few in ((11, 11, 0), (13, 8, 1), (13, 8, 0), (8, 13, 1)):
            for mode in (VECTORS, NO_VECTORS):
                k, a = min(m, n), self.numbers(letter, m, n)
                left, right = (k, k) if few else (m, n)
                on, s, info = self.matrix(a), self.zeros(real, k), self.whole(1)
                u, v = self.zeros(letter, m, left), self.zeros(letter, n, right)
                given = (mode, few, m, n, on, m, s, u, m, v, n)
                work, size = self.work(letter, name, *given, ..., about)
                self.call(name, *given, work, size, info, about)
                what = f"gesvdj {m}x{n} {few} {mode}"
                self.succeeded(what, info)
                self.unharmed(what, work)
                if mode == VECTORS:
                    self.factors(what, letter, a, u.now(), s.now(), v.now().conj().T)
                else:
                    self.close(what, letter, s.now(), np.linalg.svd(exact(a), compute_uv=False), m)

    def what_jacobi_did(self) -> None:
        n, about, sweeps, residual = 9, self.settings(), self.ffi.new("int *", -1), self.ffi.new("double *", -1)
        on, s, info = self.matrix(self.numbers("D", n, n)), self.zeros("D", n), self.whole(1)
        u, v = self.zeros("D", n, n), self.zeros("D", n, n)
        given = (VECTORS, 0, n, n, on, n, s, u, n, v, n)
        work, size = self.work("D", "DnDgesvdj", *given, ..., about)
        self.call("DnDgesvdj", *given, work, size, info, about)
        self.call("DnXgesvdjGetSweeps", about, sweeps)
        self.call("DnXgesvdjGetResidual", about, residual)
        self.client.check(f"gesvdj: sweeps {sweeps[0]}", 1 <= sweeps[0] <= 50)
        self.client.check(f"gesvdj: residual {residual[0]}", 0 <= residual[0] < 1e-10)
        self.ok("DnDestroyGesvdjInfo", about)

    def many(self, letter: str) -> None:
        m, n, count, real = 10, 7, 4, REAL[letter]
        about, name = self.settings(), f"Dn{letter}gesvdjBatched"
        all_of_it = self.numbers(letter, m, n, count)
        on, s, info = self.matrix(all_of_it), self.zeros(real, n, count), self.whole(count)
        u, v = self.zeros(letter, m, m, count), self.zeros(letter, n, n, count)
        given = (VECTORS, m, n, on, m, s, u, m, v, n)
        work, size = self.work(letter, name, *given, ..., about, count)
        self.call(name, *given, work, size, info, about, count)
        self.succeeded("gesvdjBatched", info)
        self.unharmed("gesvdjBatched", work)
        for i in range(count):
            rows = v.now()[:, :, i].conj().T
            self.factors("gesvdjBatched", letter, all_of_it[:, :, i], u.now()[:, :, i], s.now()[:, i], rows)

    def many_in_part(self, letter: str) -> None:
        """The largest values of tall matrices."""
        m, n, count, real, name = 14, 8, 3, REAL[letter], f"Dn{letter}gesvdaStridedBatched"
        for rank in (n, 5):
            all_of_it = self.numbers(letter, m, n, count)
            on, s, info = self.matrix(all_of_it), self.zeros(real, rank, count), self.whole(count)
            u, v = self.zeros(letter, m, rank, count), self.zeros(letter, n, rank, count)
            given = (VECTORS, rank, m, n, on, m, m * n, s, rank, u, m, m * rank, v, n, n * rank)
            work, size = self.work(letter, name, *given, ..., count)
            norms = self.ffi.new("double[]", count)
            self.call(name, *given, work, size, info, norms, count)
            what = f"gesvdaStridedBatched {rank}"
            self.succeeded(what, info)
            self.unharmed(what, work)
            for i in range(count):
                a, ui, si, vi = all_of_it[:, :, i], u.now()[:, :, i], s.now()[:, i], v.now()[:, :, i]
                self.close(what, letter, si, np.linalg.svd(exact(a), compute_uv=False)[:rank], m)
                self.orthonormal(what, letter, ui)
                self.close(f"{what}: right", letter, exact(a) @ exact(vi), exact(ui) * exact(si), 10 * m)
                if rank == n:
                    self.factors(what, letter, a, ui, si, vi.conj().T)

    def check_all(self) -> None:
        self.what_jacobi_did()
        for letter in "SDCZ":
            self.by_qr(letter)
            self.by_jacobi(letter)
            self.many(letter)
            self.many_in_part(letter)
