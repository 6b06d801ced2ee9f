"""cuSOLVER's refactorisation: systems with a matrix of the pattern that the given factors are of, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.handle import Handle

NOT_INITIALIZED, INVALID, NOT_SUPPORTED, ZERO_PIVOT = 1, 3, 9, 10
CSR, STORED_L, ASSUMED_L = 0, 0, 2


def compressed(a: Array, kept: Array) -> tuple[Array, Array, Array]:
    """Row pointers, columns and values of the places that are kept."""
    rows = np.concatenate([[0], np.cumsum(kept.sum(1))]).astype(np.int32)
    return rows, np.nonzero(kept)[1].astype(np.int32), np.ascontiguousarray(a[kept])


def factored(a: Array) -> tuple[Array, Array]:
    """L, with ones on its diagonal, and U; without pivots."""
    u, lower = a.copy(), np.eye(len(a))
    for k in range(len(a)):
        lower[k + 1 :, k] = u[k + 1 :, k] / u[k, k]
        u[k + 1 :] -= np.outer(lower[k + 1 :, k], u[k])
    return lower, np.triu(u)


class Refactor(Handle):
    prefix = "cusolverRf"

    def __init__(self, client: Any, _dense: Any) -> None:
        super().__init__(client, None)

    def matrix(self, n: int) -> tuple[Array, Array]:
        """A matrix, and another with the same pattern."""
        kept = (self.client.draw.uniform(0, 1, (n, n)) < 3 / n) | np.eye(n, dtype=bool)
        return tuple(np.where(kept, self.numbers("D", n, n), 0) + 4 * np.eye(n) for _ in "ab")  # type: ignore[return-value]

    def case(self, n: int, on_host: bool, stored: bool = True) -> None:
        """`stored`: L has its ones."""
        first, second = self.matrix(n)
        p, q = (self.client.draw.permutation(n).astype(np.int32) for _ in "pq")
        # the rows that P chooses and the columns that Q chooses are factored
        lower, upper = factored(first)
        a, other = (np.zeros((n, n)), np.zeros((n, n)))
        a[np.ix_(p, q)], other[np.ix_(p, q)] = first, second
        rows, columns, values = compressed(a, a != 0)
        kept = lower != 0 if stored else np.tril(lower, -1) != 0
        l_parts, u_parts = compressed(lower, kept), compressed(upper, upper != 0)
        handle = self.new("cusolverRfHandle_t", "Create")
        self.handle = handle
        self.call("SetMatrixFormat", CSR, STORED_L if stored else ASSUMED_L)
        parts = [rows, columns, values, *l_parts, *u_parts, p, q]
        given = parts if on_host else [self.on(part) for part in parts]
        counts = (len(values), len(l_parts[2]), len(u_parts[2]))
        self.ok(f"Setup{'Host' if on_host else 'Device'}", n, counts[0], *given[:3], counts[1], *given[3:6], counts[2],
                *given[6:], handle)  # fmt: skip
        self.call("Analyze")
        on = [self.on(part) for part in (rows, columns, compressed(other, a != 0)[2], p, q)]
        b, temp = self.numbers("D", n), self.on(np.zeros(n))
        for what, values_of in (("the first matrix", a), ("the second", other)):
            changed = self.on(compressed(values_of, a != 0)[2])
            self.ok("ResetValues", n, counts[0], *on[:2], changed, *on[3:], handle)
            self.call("Refactor")
            x = self.on(b)
            self.call("Solve", *on[3:], 1, temp, n, x, n)
            exact = np.linalg.solve(values_of, b)
            error = abs(x.now() - exact).max() / abs(exact).max()
            self.client.check(f"{what} of {n}: error {error}", error < 1e-11)
        if stored:
            self.factors(first, second)
        self.call("Destroy")

    def batch(self, n: int, count: int) -> None:
        """Several matrices at once."""
        first, _ = self.matrix(n)
        kept = first != 0
        all_values = [np.where(kept, self.numbers("D", n, n), 0) + 4 * np.eye(n) for _ in range(count)]
        p, q = (self.client.draw.permutation(n).astype(np.int32) for _ in "pq")
        lower, upper = factored(first)
        placed = [np.zeros((n, n)) for _ in range(count + 1)]
        for one, values in zip(placed, [first, *all_values], strict=True):
            one[np.ix_(p, q)] = values
        rows, columns, values = compressed(placed[0], placed[0] != 0)
        l_parts, u_parts = compressed(lower, lower != 0), compressed(upper, upper != 0)
        handle = self.handle = self.new("cusolverRfHandle_t", "Create")
        self.answers("no batch", INVALID, "BatchAnalyze", handle)
        starts = self.ffi.new("double *[]", [self.ffi.cast("double *", values.ctypes.data)] * count)
        sizes = (len(l_parts[2]), len(u_parts[2]))
        given = (n, len(values), rows, columns, starts, sizes[0], *l_parts, sizes[1], *u_parts, p, q, handle)
        self.answers("an empty batch", INVALID, "BatchSetupHost", 0, *given)
        self.ok("BatchSetupHost", count, *given)
        self.call("BatchAnalyze")
        on = [self.on(part) for part in (rows, columns, p, q)]
        numbers = [self.on(compressed(one, placed[0] != 0)[2]) for one in placed[1:]]
        lists = self.on(np.array([int(one.at[0]) for one in numbers], np.uint64))
        reset = (n, len(values), *on[:2], lists, *on[2:], handle)
        self.answers("another batch", INVALID, "BatchResetValues", count + 1, *reset)
        self.ok("BatchResetValues", count, *reset)
        self.call("BatchRefactor")
        positions = self.ffi.new("int[]", [7] * count)
        self.call("BatchZeroPivot", positions)
        self.client.check(f"pivots {list(positions)}", list(positions) == [-1] * count)
        b, temp = self.numbers("D", count, n), self.on(np.zeros(2 * n * count))
        solutions = [self.on(one) for one in b]
        into = self.on(np.array([int(one.at[0]) for one in solutions], np.uint64))
        self.call("BatchSolve", *on[2:], 1, temp, n, into, n)
        for at, x in enumerate(solutions):
            exact = np.linalg.solve(placed[1 + at], b[at])
            error = abs(x.now() - exact).max() / abs(exact).max()
            self.client.check(f"matrix {at} of a batch, {n}: error {error}", error < 1e-11)
        self.vanishing(reset, numbers, count)
        self.answers("no place", INVALID, "BatchZeroPivot", handle, self.ffi.NULL)
        self.answers("no solutions", INVALID, "BatchSolve", handle, *on[2:], 1, temp, n, self.ffi.NULL, n)
        self.call("Destroy")
        self.answers("no handle", NOT_INITIALIZED, "BatchRefactor", self.ffi.NULL)

    def vanishing(self, reset: tuple[Any, ...], numbers: list[Any], count: int) -> None:
        """The last matrix becomes 0."""
        zeros = np.zeros_like(numbers[-1].values)
        assert not self.client.cuda.cuMemcpyHtoD_v2(numbers[-1].at[0], self.client.address(zeros), zeros.nbytes)
        self.ok("BatchResetValues", count, *reset)
        self.call("BatchRefactor")
        positions = self.ffi.new("int[]", [7] * count)
        self.answers("a matrix of zeros", ZERO_PIVOT, "BatchZeroPivot", self.handle, positions)
        self.client.check(f"pivots {list(positions)}", list(positions) == [-1] * (count - 1) + [0])

    def factors(self, first: Array, second: Array) -> None:
        """L - I + U as one matrix, and both apart."""
        n, count = len(first), self.ffi.new("int *")
        lower, upper = factored(second)
        kept = (factored(first)[0] != 0) | (factored(first)[1] != 0)
        places = [self.ffi.new("int **"), self.ffi.new("int **"), self.ffi.new("double **")]
        self.call("ExtractBundledFactorsHost", count, *places)
        self.client.check(f"bundled factors: {count[0]} numbers", count[0] == kept.sum())
        found = np.frombuffer(self.ffi.buffer(places[2][0], 8 * count[0]), np.float64)
        wanted = (lower - np.eye(n) + upper)[kept]
        self.client.check(f"bundled factors: {found[:4]}", found.shape == wanted.shape and np.allclose(found, wanted))
        split = [[self.ffi.new("int *"), self.ffi.new("int **"), self.ffi.new("int **"), self.ffi.new("double **")]
                 for _ in "lu"]  # fmt: skip
        self.call("ExtractSplitFactorsHost", *split[0], *split[1])
        for name, whole, (size, _, _, at) in (("L", lower, split[0]), ("U", upper, split[1])):
            numbers = np.frombuffer(self.ffi.buffer(at[0], 8 * size[0]), np.float64)
            part = np.tril(kept) if name == "L" else np.triu(kept)
            self.client.check(
                f"{name}: {numbers[:4]}", len(numbers) == part.sum() and np.allclose(numbers, whole[part])
            )
        on_device = [self.ffi.new("int **"), self.ffi.new("int **"), self.ffi.new("double **")]
        self.call("AccessBundledFactorsDevice", count, *on_device)
        self.client.check("bundled factors on the device", count[0] == kept.sum() and on_device[2][0])

    def settings(self) -> None:
        self.handle = self.new("cusolverRfHandle_t", "Create")
        one, other = self.ffi.new("int *", 9), self.ffi.new("int *", 9)
        self.call("GetMatrixFormat", one, other)
        self.client.check(f"format {one[0]}, {other[0]}", (one[0], other[0]) == (CSR, STORED_L))
        self.call("SetMatrixFormat", CSR, STORED_L)
        self.call("GetAlgs", one, other)
        self.client.check(f"algorithms {one[0]}, {other[0]}", (one[0], other[0]) == (0, 1))
        self.call("SetAlgs", 0, 1)
        self.call("SetResetValuesFastMode", 1)
        self.call("GetResetValuesFastMode", one)
        self.client.check(f"fast mode {one[0]}", one[0] == 1)
        zero, boost = self.ffi.new("double *"), self.ffi.new("double *")
        self.answers("a boost", NOT_SUPPORTED, "SetNumericProperties", self.handle, 0.25, 0.5)
        self.call("SetNumericProperties", 0.0, 0.0)
        self.call("GetNumericProperties", zero, boost)
        self.client.check(f"properties {zero[0]}, {boost[0]}", (zero[0], boost[0]) == (0, 0))
        self.answers("columns", NOT_SUPPORTED, "SetMatrixFormat", self.handle, 1, STORED_L)
        self.answers("no such diagonal", INVALID, "SetMatrixFormat", self.handle, CSR, 4)
        self.answers("no such algorithm", INVALID, "SetAlgs", self.handle, 0, 0)
        self.call("GetNumericBoostReport", one)
        self.answers("no handle", NOT_INITIALIZED, "Analyze", self.ffi.NULL)
        self.call("Destroy")

    def check_all(self) -> None:
        self.settings()
        for n in (1, 8, 30):
            for on_host in (True, False):
                for stored in (True, False):
                    self.case(n, on_host, stored)
        for n, count in ((1, 2), (12, 1), (25, 4)):
            self.batch(n, count)
