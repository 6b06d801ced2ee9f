"""cuSOLVER's sparse LU factors in steps, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cusolver_sparse import INVALID, NOT_INITIALIZED, Sparse, rows_of
from tests.libmap.handle import TYPES


def pivots(a: Array, threshold: float) -> list[int]:
    """Rows in the order of elimination: the diagonal's, where it is large enough, else the largest number's."""
    left, order = a.astype(np.complex128), list[int]()
    for k in range(len(a)):
        sizes = abs(left[:, k])
        sizes[order] = -1
        keep = k not in order and sizes[k] >= threshold * sizes.max()
        order.append(k if keep else int(sizes.argmax()))
        below = [i for i in range(len(a)) if i not in order]
        left[below] -= np.outer(left[below, k] / left[order[k], k], left[order[k]])
    return order


class Factored(Sparse):
    def passed(self, letter: str, a: Array, base: int, threshold: float) -> tuple[Any, Array]:
        """An object with the factors, and its memory."""
        values, pointers, columns = rows_of(a, base, self.client.draw)
        info = self.new("csrluInfoHost_t", "SpCreateCsrluInfoHost")
        head = (len(a), len(values), self.descriptor(base))
        matrix = (*head, values, pointers, columns, info)
        early = (self.handle, *matrix, threshold, self.ffi.NULL)
        self.answers("nothing analysed", INVALID, f"Sp{letter}csrluFactorHost", *early)
        self.call("SpXcsrluAnalysisHost", *head, pointers, columns, info)
        self.answers("no memory", INVALID, f"Sp{letter}csrluFactorHost", *early)
        sizes = [self.ffi.new("size_t *") for _ in "ab"]
        self.call(f"Sp{letter}csrluBufferInfoHost", *matrix, *sizes)
        memory = np.zeros(sizes[1][0], np.uint8)
        self.call(f"Sp{letter}csrluFactorHost", *matrix, threshold, memory)
        return info, memory

    def factors(self, letter: str, info: Any, memory: Array, n: int, base: int) -> list[Array]:
        """P, Q, L and U; L gets its ones."""
        counts = [self.ffi.new("int *") for _ in "lu"]
        self.call("SpXcsrluNnzHost", *counts, info)
        p, q = (np.full(n, -1, np.int32) for _ in "pq")
        parts = [(np.zeros(c[0], TYPES[letter]), np.zeros(n + 1, np.int32), np.zeros(c[0], np.int32)) for c in counts]
        made = self.descriptor(base)
        self.call(f"Sp{letter}csrluExtractHost", p, q, made, *parts[0], made, *parts[1], info, memory)
        dense = [np.eye(n, dtype=TYPES[letter]), np.zeros((n, n), TYPES[letter])]
        for (values, pointers, columns), out in zip(parts, dense, strict=True):
            for i in range(n):
                here = slice(pointers[i] - base, pointers[i + 1] - base)
                self.client.check(f"row {i}: columns go up", (np.diff(columns[here]) > 0).all())
                out[i, columns[here] - base] = values[here]
            self.client.check("all numbers", pointers[0] == base and pointers[n] - base == len(values))
        return [p, q, *dense]

    def case(self, letter: str, n: int, base: int, threshold: float) -> None:  # type: ignore[override]
        a = (self.matrix(letter, n, False) + (0 if threshold else 3 * np.eye(n))).astype(TYPES[letter])
        info, memory = self.passed(letter, a, base, threshold)
        what = f"LU {letter} {n}, threshold {threshold}"
        position = self.ffi.new("int *", 7)
        self.call(f"Sp{letter}csrluZeroPivotHost", info, 0.0, position)
        self.client.check(f"{what}: pivot {position[0]}", position[0] == -1)
        p, q, lower, upper = self.factors(letter, info, memory, n, base)
        self.same(f"{what}: rows", p, np.array(pivots(a, threshold), np.int32))
        self.same(f"{what}: columns", q, np.arange(n, dtype=np.int32))
        self.client.check(f"{what}: triangles", (np.tril(lower) == lower).all() and (np.triu(upper) == upper).all())
        if threshold == 1:
            self.client.check(f"{what}: multipliers", abs(lower).max() <= 1)
        self.near(f"{what}: P A = L U", letter, lower @ upper, a[p], n)
        b, x = self.numbers(letter, n), np.zeros(n, TYPES[letter])
        self.call(f"Sp{letter}csrluSolveHost", n, b, x, info, memory)
        wide = a.astype(np.result_type(a, np.float64))
        exact = np.linalg.solve(wide, b.astype(wide.dtype))
        error, limit = abs(x - exact).max() / abs(exact).max(), np.finfo(TYPES[letter]).eps * 1e3 * np.linalg.cond(wide)
        self.client.check(f"{what}: error {error}, limit {limit}", error < limit)
        self.ok("SpDestroyCsrluInfoHost", info)

    def singular_matrix(self) -> None:
        a = np.array([[2.0, 1, 0, 0], [0, 3, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1]])
        for place, dependent in ((3, a), (2, a.T.copy()), (1, np.array([[1.0, 1], [1, 1]]))):
            info, _ = self.passed("D", dependent, 0, 1.0)
            position = self.ffi.new("int *", 7)
            self.call("SpDcsrluZeroPivotHost", info, 1e-9, position)
            self.client.check(f"singular at {position[0]}, not {place}", position[0] == place)
            self.call("SpDcsrluZeroPivotHost", info, 0.0, position)
            self.client.check(f"exactly 0 at {position[0]}, not {place}", position[0] == place)
            self.ok("SpDestroyCsrluInfoHost", info)

    def wrong_factors(self) -> None:
        none, position, x = self.ffi.NULL, self.ffi.new("int *"), np.zeros(3)
        info = self.new("csrluInfoHost_t", "SpCreateCsrluInfoHost")
        self.answers("no factors", INVALID, "SpDcsrluSolveHost", self.handle, 3, x, x, info, none)
        self.answers("no factors", INVALID, "SpDcsrluZeroPivotHost", self.handle, info, 0.0, position)
        self.answers("no factors", INVALID, "SpXcsrluNnzHost", self.handle, position, position, info)
        self.ok("SpDestroyCsrluInfoHost", info)
        info, memory = self.passed("D", np.diag([1.0, 2, 3]), 0, 1.0)
        self.answers("no handle", NOT_INITIALIZED, "SpDcsrluSolveHost", none, 3, x, x, info, memory)
        self.answers("another size", INVALID, "SpDcsrluSolveHost", self.handle, 2, x, x, info, memory)
        self.answers("another type", INVALID, "SpScsrluSolveHost", self.handle, 3, x, x, info, memory)
        self.answers("no right side", INVALID, "SpDcsrluSolveHost", self.handle, 3, none, x, info, memory)
        self.answers("no place", INVALID, "SpDcsrluZeroPivotHost", self.handle, info, 0.0, none)
        self.answers("no tolerance", INVALID, "SpDcsrluZeroPivotHost", self.handle, info, -1.0, position)
        symmetric = self.descriptor(0)
        assert not self.cusparse.cusparseSetMatType(self.pointer(symmetric), 1)
        rows, columns = np.arange(4, dtype=np.int32), np.arange(3, dtype=np.int32)
        self.answers("symmetric", INVALID, "SpXcsrluAnalysisHost", self.handle, 3, 3, symmetric, rows, columns, info)
        self.answers("no matrix", INVALID, "SpXcsrluAnalysisHost", self.handle, 3, 2, self.descriptor(0), rows, columns,
                     info)  # fmt: skip
        self.ok("SpDestroyCsrluInfoHost", info)
        self.ok("SpDestroyCsrluInfoHost", none)
        self.answers("no place", INVALID, "SpCreateCsrluInfoHost", none)

    def check_all(self) -> None:
        for letter in "SDCZ":
            for n, base, threshold in ((30, 0, 1.0), (12, 1, 0.5), (9, 0, 0.0)):
                self.case(letter, n, base, threshold)
        self.case("D", 80, 1, 1.0)
        self.case("D", 1, 0, 1.0)
        self.singular_matrix()
        self.wrong_factors()
        self.ok("SpDestroy", self.handle)
