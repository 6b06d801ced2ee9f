"""cuSOLVER's sparse systems, against numpy."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.handle import TYPES, Handle

DEVICE, HOST = True, False
METHODS = {"csrlsvqr": DEVICE, "csrlsvqrHost": HOST, "csrlsvluHost": HOST, "csrlsvchol": DEVICE, "csrlsvcholHost": HOST}
INVALID, NOT_INITIALIZED, NOT_SUPPORTED = 3, 1, 9


def rows_of(a: Array, base: int, draw: Any) -> tuple[Array, Array, Array]:
    """Values, row pointers and column numbers; columns of a row in any order."""
    pointers, columns, values = [base], list[int](), list[Any]()
    for row in a:
        here = draw.permutation(np.flatnonzero(row))
        columns += [int(c) + base for c in here]
        values += list(row[here])
        pointers.append(len(columns) + base)
    return np.array(values, a.dtype), np.array(pointers, np.int32), np.array(columns, np.int32)


class Sparse(Handle):
    prefix = "cusolver"

    def __init__(self, client: Any, _dense: Any) -> None:
        super().__init__(client, None)
        self.handle = self.new("cusolverSpHandle_t", "SpCreate")
        self.cusparse = ctypes.CDLL(str(Path(sys.argv[2]).with_name("libcusparse.so.12")))

    def descriptor(self, base: int) -> Any:
        made = ctypes.c_void_p()
        assert not self.cusparse.cusparseCreateMatDescr(ctypes.byref(made))
        assert not self.cusparse.cusparseSetMatIndexBase(made, base)
        return self.ffi.cast("void *", made.value)

    def pointer(self, descriptor: Any) -> ctypes.c_void_p:
        """For calls through ctypes."""
        return ctypes.c_void_p(int(self.ffi.cast("uintptr_t", descriptor)))

    def number(self, letter: str, value: complex) -> Any:
        """As an argument."""
        if letter not in "CZ":
            return value.real
        made = self.ffi.new("cuComplex *" if letter == "C" else "cuDoubleComplex *")
        made.x, made.y = value.real, value.imag
        return made[0]

    def matrix(self, letter: str, n: int, positive: bool) -> Array:
        """With four numbers in a row on average, and a large diagonal where it has to be positive definite."""
        a = self.numbers(letter, n, n) * (self.client.draw.uniform(0, 1, (n, n)) < 4 / n)
        if positive:
            return (a @ a.conj().T + np.eye(n)).astype(TYPES[letter])
        return (a + np.roll(np.eye(n), 1, 1) * 3).astype(TYPES[letter])  # whose diagonal is empty in places

    def case(self, name: str, letter: str, n: int, base: int, reorder: int) -> None:
        on_device, positive = METHODS[name], "chol" in name
        a, b = self.matrix(letter, n, positive), self.numbers(letter, n)
        given = np.tril(a) if positive else a  # the rest is not read
        parts = [*rows_of(given, base, self.client.draw), b]
        count = len(parts[0])
        values, pointers, columns, right = [self.on(part) for part in parts] if on_device else parts
        x, place = np.zeros(n, TYPES[letter]), self.ffi.new("int *", 7)
        out = self.on(x) if on_device else x
        self.call(f"Sp{letter}{name}", n, count, self.descriptor(base), values, pointers, columns, right, 1e-12,
                  reorder, out, place)  # fmt: skip
        found = out.now() if on_device else x
        exact = np.linalg.solve(a.astype(np.result_type(a, np.float64)), b.astype(np.result_type(b, np.float64)))
        what = f"{name} n {n}, base {base}, reorder {reorder}"
        self.client.check(f"{what}: singularity {place[0]}", place[0] == -1)
        limit = np.finfo(TYPES[letter]).eps * 50 * np.linalg.cond(a.astype(np.complex128))
        error = abs(found - exact).max() / abs(exact).max()
        self.client.check(f"{what} {letter}: error {error}, limit {limit}", error < limit)

    def singular(self, name: str) -> None:
        """The first number of the factor's diagonal that is 0."""
        a, on_device = np.diag([2.0, 3.0, 0.0, 1.0]), METHODS[name]
        a[0, 3] = a[3, 0] = 1
        parts = [*rows_of(a, 0, self.client.draw), np.ones(4)]
        place, x = self.ffi.new("int *", 7), np.zeros(4)
        given = [self.on(part) for part in (*parts, x)] if on_device else [*parts, x]
        self.call(f"SpD{name}", 4, len(parts[0]), self.descriptor(0), *given[:4], 1e-9, 0, given[4], place)
        self.client.check(f"{name}: singular at {place[0]}", place[0] == 2)

    def batch(self, letter: str, n: int, count: int) -> None:
        a = self.matrix(letter, n, False)
        _, pointers, columns = rows_of(a, 1, self.client.draw)
        rows = np.repeat(np.arange(n), np.diff(pointers))
        entries = len(columns)
        values = self.numbers(letter, count, entries)
        b = self.numbers(letter, count, n)
        matrices = np.zeros((count, n, n), TYPES[letter])
        for i in range(count):
            values[i] += a[rows, columns - 1] * 4
            matrices[i, rows, columns - 1] = values[i]
        info, descr = self.new("csrqrInfo_t", "SpCreateCsrqrInfo"), self.descriptor(1)
        on_values, on_pointers, on_columns, on_b = (self.on(part) for part in (values, pointers, columns, b))
        x, sizes = self.on(np.zeros_like(b)), [self.ffi.new("size_t *") for _ in "ab"]
        self.call("SpXcsrqrAnalysisBatched", n, n, entries, descr, on_pointers, on_columns, info)
        head = (n, n, entries, descr, on_values, on_pointers, on_columns)
        self.call(f"Sp{letter}csrqrBufferInfoBatched", *head, count, info, *sizes)
        self.call(f"Sp{letter}csrqrsvBatched", *head, on_b, x, count, info, self.room(sizes[1][0]))
        wide = np.complex128 if letter in "CZ" else np.float64
        exact = np.linalg.solve(matrices.astype(wide), b.astype(wide)[..., None])[..., 0]
        worst = max(np.linalg.cond(one.astype(wide)) for one in matrices)
        error = abs(x.now().reshape(b.shape) - exact).max() / abs(exact).max()
        self.client.check(f"batch {letter}: error {error}", error < np.finfo(TYPES[letter]).eps * 50 * worst)
        self.answers("fewer rows", NOT_SUPPORTED, f"Sp{letter}csrqrsvBatched", self.handle, n - 1, *head[1:], on_b, x,
                     count, info, x)  # fmt: skip
        self.ok("SpDestroyCsrqrInfo", info)

    def wrong(self) -> None:
        none, place, x = self.ffi.NULL, self.ffi.new("int *"), np.zeros(3)
        values, pointers, columns = rows_of(np.eye(3), 0, self.client.draw)
        good = [self.handle, 3, 3, self.descriptor(0), values, pointers, columns, np.ones(3), 0.0, 0, x, place]
        for at, value, status in ((0, none, NOT_INITIALIZED), (1, 0, INVALID), (2, 4, INVALID), (3, none, INVALID),
                                  (3, self.descriptor(1), INVALID), (4, none, INVALID), (5, none, INVALID),
                                  (6, np.array([0, 1, 3], np.int32), INVALID), (7, none, INVALID), (8, -1.0, INVALID),
                                  (9, 4, INVALID), (10, none, INVALID), (11, none, INVALID)):  # fmt: skip
            given = [value if i == at else one for i, one in enumerate(good)]
            self.answers(f"wrong argument {at}", status, "SpDcsrlsvqrHost", *given)
        stream, found = self.ffi.new("cudaStream_t *"), self.ffi.new("cudaStream_t *")
        assert not self.client.cuda.cuStreamCreate(stream, 1)
        self.call("SpSetStream", stream[0])
        self.call("SpGetStream", found)
        self.client.check("the stream", found[0] == stream[0])
        self.answers("no handle", NOT_INITIALIZED, "SpSetStream", none, none)
        self.answers("no place", INVALID, "SpGetStream", self.handle, none)
        self.answers("no place", INVALID, "SpCreate", none)

    def check_all(self) -> None:
        for name in METHODS:
            for letter in "SDCZ":
                self.case(name, letter, 40, 0, 0)
            self.case(name, "D", 120, 1, 1)
            self.case(name, "Z", 7, 1, 3)
            self.case(name, "D", 1, 0, 2)
            self.singular(name)
        for letter in "SDCZ":
            self.batch(letter, 9, 5)
        self.wrong()
        self.ok("SpDestroy", self.handle)
        self.answers("destroyed", NOT_INITIALIZED, "SpDestroy", self.ffi.NULL)
