"""cuSOLVER's orders of sparse matrices, against numpy and the methods' definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cusolver_sparse import INVALID, NOT_INITIALIZED, Sparse, rows_of

DEGREE = ("symmdq", "symamd", "metisnd")


def grid(side: int) -> Array:
    """The matrix of a square grid's Laplacian."""
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    return 4.5 * np.eye(side * side) - np.kron(line, np.eye(side)) - np.kron(np.eye(side), line)


def neighbours(a: Array) -> Array:
    linked = (a != 0) | (a.T != 0)
    np.fill_diagonal(linked, False)
    return linked


def fewest_first(a: Array, order: Array) -> bool:
    """Whether each row has the fewest neighbours of those that are left, when rows before it were eliminated."""
    linked, left = neighbours(a), np.ones(len(a), bool)
    for row in order:
        degrees = linked[:, left].sum(1)
        if degrees[row] > degrees[left].min():
            return False
        beside = np.flatnonzero(linked[row] & left)
        linked[np.ix_(beside, beside)] = True
        np.fill_diagonal(linked, False)
        left[row] = False
    return True


def level_by_level(a: Array, order: Array) -> bool:
    """Whether rows, from the last, come in the order in which their first neighbours do; a row without an earlier
    neighbour begins a part, when no row before it has neighbours left."""
    linked, reached = neighbours(a)[np.ix_(order[::-1], order[::-1])], list[int]()
    for at in range(len(a)):
        earlier = np.flatnonzero(linked[at, :at])
        if len(earlier):
            reached.append(int(earlier[0]))
        elif linked[:at, at:].any():
            return False
    return reached == sorted(reached)


def fill(a: Array, order: Array) -> int:
    """How many numbers Cholesky's factor has."""
    return int((abs(np.linalg.cholesky(a[np.ix_(order, order)])) > 1e-14).sum())


class Reorder(Sparse):
    def head(self, a: Array, base: int) -> tuple[Array, tuple[Any, ...], tuple[Array, Array]]:
        values, pointers, columns = rows_of(a, base, self.client.draw)
        return values, (len(columns), self.descriptor(base)), (pointers, columns)

    def order(self, name: str, a: Array, base: int) -> Array:
        _, head, pattern = self.head(a, base)
        found = np.full(len(a), -1, np.int32)
        options = (self.ffi.NULL,) if name == "metisnd" else ()
        self.call(f"SpXcsr{name}Host", len(a), *head, *pattern, *options, found)
        self.same(f"{name} {len(a)}: rows", np.sort(found), np.arange(len(a)))
        return found

    def orders(self, a: Array, base: int) -> None:
        for name in DEGREE:
            self.client.check(f"{name} {len(a)}: degrees", fewest_first(a, self.order(name, a, base)))
        self.client.check(f"symrcm {len(a)}: levels", level_by_level(a, self.order("symrcm", a, base)))

    def fills(self) -> None:
        """Of a grid whose points are in no order."""
        mixed = self.client.draw.permutation(144)
        a = grid(12)[np.ix_(mixed, mixed)]
        before, by_rows = fill(a, np.arange(144)), fill(grid(12), np.arange(144))
        for name in DEGREE:
            now = fill(a, self.order(name, a, 0))
            self.client.check(f"{name}: {now} numbers, {by_rows} by rows, {before}", now < 0.8 * by_rows < before)
        order = self.order("symrcm", a, 0)
        rows, columns = np.nonzero(a[np.ix_(order, order)])
        self.client.check("symrcm: width of the band", abs(rows - columns).max() <= 18)

    def permuted(self, m: int, n: int, base: int) -> None:
        a = self.numbers("D", m, n) * (self.client.draw.uniform(0, 1, (m, n)) < 0.3)
        values, head, (pointers, columns) = self.head(a, base)
        p, q = (self.client.draw.permutation(size).astype(np.int32) for size in (m, n))
        place = np.arange(len(values), dtype=np.int32)
        size = self.ffi.new("size_t *")
        self.call("SpXcsrperm_bufferSizeHost", m, n, *head, pointers, columns, p, q, size)
        self.call("SpXcsrpermHost", m, n, *head, pointers, columns, p, q, place, np.zeros(size[0], np.uint8))
        found, rows = np.zeros_like(a), np.repeat(np.arange(m), np.diff(pointers))
        found[rows, columns - base] = values[place]
        self.same(f"permuted {m} {n} {base}", found, a[np.ix_(p, q)])
        self.client.check("begins at the base", pointers[0] == base)
        upwards = all((np.diff(columns[rows == i]) > 0).all() for i in range(m))
        self.client.check("columns upwards", upwards)

    def solved(self) -> None:
        """As programs do: an order, the matrix in it, its solution, whose numbers go back to their places."""
        a, b = self.matrix("D", 60, True), self.numbers("D", 60)
        order = self.order("symamd", a, 1)
        values, head, (pointers, columns) = self.head(a, 1)
        place, x, at = np.arange(len(values), dtype=np.int32), np.zeros(60), self.ffi.new("int *")
        self.call("SpXcsrpermHost", 60, 60, *head, pointers, columns, order, order, place, self.ffi.NULL)
        self.call("SpDcsrlsvcholHost", 60, *head, values[place], pointers, columns, b[order], 0.0, 0, x, at)
        found = np.zeros(60)
        found[order] = x
        self.client.check("solved in an order", np.allclose(found, np.linalg.solve(a, b)))

    def symmetric(self, base: int) -> None:
        a = self.numbers("D", 30, 30) * (self.client.draw.uniform(0, 1, (30, 30)) < 0.1)
        alike, found = a + a.T + np.eye(30), self.ffi.new("int *", 7)
        other = alike.copy()
        other[tuple(np.argwhere((alike != 0) & (np.eye(30) == 0))[0])] = 0
        ring = np.roll(np.eye(30), 1, 1)  # whose rows and columns have the same counts
        for matrix, expected in ((alike, 1), (other, 0), (np.triu(alike), 0), (ring, 0)):
            _, head, (pointers, columns) = self.head(matrix, base)
            self.call("SpXcsrissymHost", 30, *head, pointers, pointers[1:].copy(), columns, found)
            self.client.check(f"symmetric: {found[0]}, not {expected}", found[0] == expected)
        # rows that do not follow each other: of [[1, 2], [3, 4]], without and with the last number of each
        begin, columns = np.array([3, 0], np.int32) + base, np.array([0, 1, 0, 0, 1], np.int32) + base
        for end, expected in (([5, 2], 1), ([4, 1], 0)):
            ends = np.array(end, np.int32) + base
            self.call("SpXcsrissymHost", 2, 5, self.descriptor(base), begin, ends, columns, found)
            self.client.check(f"rows in pieces: {found[0]}, not {expected}", found[0] == expected)

    def wrong_orders(self) -> None:
        none, p, place = self.ffi.NULL, np.arange(3, dtype=np.int32), self.ffi.new("int *")
        _, pointers, columns = rows_of(np.eye(3), 0, self.client.draw)
        far = np.array([0, 1, 3], np.int32)
        good = [self.handle, 3, 3, self.descriptor(0), pointers, columns, p]
        wrong = ((0, none, NOT_INITIALIZED), (1, 0, INVALID), (2, 4, INVALID), (3, none, INVALID),
                 (3, self.descriptor(1), INVALID), (4, none, INVALID), (5, none, INVALID), (5, far, INVALID),
                 (6, none, INVALID))  # fmt: skip
        for name in ("symrcm", *DEGREE):
            for at, value, status in wrong:
                given = [value if i == at else one for i, one in enumerate(good)]
                options = [none] if name == "metisnd" else []
                self.answers(f"argument {at}", status, f"SpXcsr{name}Host", *given[:6], *options, given[6])
        twice, outside = np.array([0, 1, 1], np.int32), np.array([0, 1, 3], np.int32)
        apply = [self.handle, 3, *good[1:6], p, p, p.copy(), none]
        for at, value in ((1, 0), (2, 0), (3, 2), (4, none), (5, none), (6, far), (7, twice), (7, outside), (7, none),
                          (8, twice), (8, none), (9, none)):  # fmt: skip
            given = [value if i == at else one for i, one in enumerate(apply)]
            self.answers(f"argument {at}", INVALID, "SpXcsrpermHost", *given)
        self.answers("no handle", NOT_INITIALIZED, "SpXcsrpermHost", none, *apply[1:])
        self.same("nothing has changed", np.concatenate([pointers, columns]), np.array([0, 1, 2, 3, 0, 1, 2]))
        self.answers("no place", INVALID, "SpXcsrperm_bufferSizeHost", *apply[:9], none)
        ends = pointers[1:].copy()
        check = [*good[:5], ends, columns, place]
        for at, value, status in ((0, none, NOT_INITIALIZED), (1, 0, INVALID), (2, 2, INVALID), (3, none, INVALID),
                                  (5, ends[::-1].copy(), INVALID), (6, far, INVALID), (7, none, INVALID)):  # fmt: skip
            given = [value if i == at else one for i, one in enumerate(check)]
            self.answers(f"argument {at}", status, "SpXcsrissymHost", *given)

    def check_all(self) -> None:
        for n in (1, 2, 40, 90):
            self.orders(self.matrix("D", n, False), n % 4 // 2)
        self.orders(np.ones((6, 6)), 0)
        self.orders(np.diag([1.0, 0, 2]), 1)  # no neighbours, and a row without numbers
        self.orders(grid(7), 1)
        self.fills()
        for base in (0, 1):
            self.permuted(20, 20, base)
            self.permuted(7, 19, base)
            self.permuted(19, 7, base)
            self.symmetric(base)
        self.solved()
        self.wrong_orders()
        self.ok("SpDestroy", self.handle)
