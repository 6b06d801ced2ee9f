"""What the functions of BLAS compute, with numpy: each takes a `Case`, gives the arrays that it changes, by parameter.

Matrices are the upper left parts of 8 x 8 arrays, vectors the first elements of arrays, with a distance of `inc`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SIDE = 8  # of the arrays of matrices
Changed = dict[str, Array]
LOWER, LEFT, PLAIN, TRANSPOSED = 0, 0, 0, 1


@dataclass(frozen=True)
class Case:
    """Arrays and numbers of a call, by the names of parameters."""

    values: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.values[name]

    def vector(self, name: str, length: int) -> Array:
        return self.values[name][:: self.values[f"inc{name}"]][:length].copy()

    def stored(self, name: str, vector: Array) -> Array:
        """The vector's array with these elements."""
        out = self.values[name].copy()
        out[:: self.values[f"inc{name}"]][: len(vector)] = vector
        return out

    def into(self, name: str, block: Array) -> Array:
        """The matrix's array with this part."""
        out = self.values[name].copy()
        out[: block.shape[0], : block.shape[1]] = block
        return out


def op(a: Array, trans: int) -> Array:
    return a if trans == PLAIN else a.T if trans == TRANSPOSED else a.conj().T


def triangle(a: Array, uplo: int) -> Array:
    return np.tril(a) if uplo == LOWER else np.triu(a)


def full(a: Array, uplo: int, hermitian: bool) -> Array:
    """Of one triangle, the symmetric or Hermitian matrix."""
    part = triangle(a, uplo)
    diagonal = np.diag(np.diag(part).real.astype(a.dtype)) if hermitian else np.diag(np.diag(part))
    strict = part - np.diag(np.diag(part))
    return strict + diagonal + (strict.conj().T if hermitian else strict.T)


def triangular(a: Array, c: Case) -> Array:
    part = triangle(a, c.uplo)
    return part - np.diag(np.diag(part)) + np.eye(len(part), dtype=a.dtype) if c.diag else part


def band(a: Array, rows: int, columns: int, below: int, above: int) -> Array:
    out = np.zeros((rows, columns), a.dtype)
    for j in range(columns):
        for i in range(max(0, j - above), min(rows, j + below + 1)):
            out[i, j] = a[above + i - j, j]
    return out


def banded(c: Case) -> Array:
    """The triangle of a band matrix of k diagonals."""
    return band(c.A, c.n, c.n, c.k, 0) if c.uplo == LOWER else band(c.A, c.n, c.n, 0, c.k)


def places(n: int, uplo: int) -> tuple[Array, Array]:
    """Rows and columns of the elements of a packed triangle, in their order."""
    pairs = [(i, j) for j in range(n) for i in (range(j, n) if uplo == LOWER else range(j + 1))]
    return np.array([i for i, _ in pairs]), np.array([j for _, j in pairs])


def unpacked(c: Case) -> Array:
    out = np.zeros((c.n, c.n), c.AP.dtype)
    rows, columns = places(c.n, c.uplo)
    out[rows, columns] = c.AP[: len(rows)]
    return out


def packed(c: Case, a: Array) -> Array:
    out = c.AP.copy()
    rows, columns = places(c.n, c.uplo)
    out[: len(rows)] = a[rows, columns]
    return out


def multiplied(matrix: Callable[[Case], Array]) -> Callable[[Case], Changed]:
    """y = alpha A x + beta y."""

    def compute(c: Case) -> Changed:
        a = matrix(c)
        product = c.alpha * (a @ c.vector("x", a.shape[1])) + c.beta * c.vector("y", a.shape[0])
        return {"y": c.stored("y", product)}

    return compute


def by_triangle(matrix: Callable[[Case], Array], solve: bool) -> Callable[[Case], Changed]:
    """x = op(A) x, or the x that gives this."""

    def compute(c: Case) -> Changed:
        a, x = op(triangular(matrix(c), c), c.trans), c.vector("x", c.n)
        return {"x": c.stored("x", np.linalg.solve(a, x) if solve else a @ x)}

    return compute


def rank_one(conjugate: bool, hermitian: bool = False) -> Callable[[Case], Changed]:
    def compute(c: Case) -> Changed:
        x = c.vector("x", c.m)
        y = c.vector("y", c.n)
        return {"A": c.into("A", c.A[: c.m, : c.n] + c.alpha * np.outer(x, y.conj() if conjugate else y))}

    return compute


def updated(c: Case, name: str, n: int, change: Array, hermitian: bool, beta: complex = 1) -> Changed:
    """A symmetric matrix's triangle with a sum."""
    old, keep = c.values[name][:n, :n], triangle(np.ones((n, n)), c.uplo) > 0
    new = beta * old + change
    if hermitian:
        np.fill_diagonal(new, (beta * np.diag(old).real + np.diag(change).real).astype(new.dtype))
    return {name: c.into(name, np.where(keep, new, old))}


def rank(two: bool, hermitian: bool, in_packed: bool) -> Callable[[Case], Changed]:
    def compute(c: Case) -> Changed:
        x, flip = c.vector("x", c.n), np.conj if hermitian else lambda v: v
        if two:
            y = c.vector("y", c.n)
            change = c.alpha * np.outer(x, flip(y))
            change = change + flip(change).T
        else:
            change = c.alpha * np.outer(x, flip(x))
        if not in_packed:
            return updated(c, "A", c.n, change, hermitian)
        a = unpacked(c)
        if hermitian:
            np.fill_diagonal(a, np.diag(a).real)
        return {"AP": packed(c, a + change)}

    return compute


def rank_k(kind: str, hermitian: bool) -> Callable[[Case], Changed]:
    """kind: "k" of one matrix, "2k" of two, "kx" of two whose product is taken for symmetric."""

    def compute(c: Case) -> Changed:
        shape = (c.n, c.k) if c.trans == PLAIN else (c.k, c.n)
        a = op(c.A[: shape[0], : shape[1]], c.trans)
        b = a if kind == "k" else op(c.B[: shape[0], : shape[1]], c.trans)
        change = c.alpha * (a @ (b.conj().T if hermitian else b.T))
        if kind == "2k":
            change = change + (change.conj().T if hermitian else change.T)
        return updated(c, "C", c.n, change, hermitian, c.beta)

    return compute


def sided(hermitian: bool, in_packed: bool = False) -> Callable[[Case], Changed]:
    def compute(c: Case) -> Changed:
        size, b = c.m if c.side == LEFT else c.n, c.B[: c.m, : c.n]
        a = unpacked(Case({**c.values, "n": size})) if in_packed else c.A[:size, :size]
        a = full(a, c.uplo, hermitian)
        product = a @ b if c.side == LEFT else b @ a
        return {"C": c.into("C", c.alpha * product + c.beta * c.C[: c.m, : c.n])}

    return compute


def side_triangle(solve: bool) -> Callable[[Case], Changed]:
    def compute(c: Case) -> Changed:
        size, b = c.m if c.side == LEFT else c.n, c.B[: c.m, : c.n]
        a = op(triangular(c.A[:size, :size], c), c.trans)
        if solve:
            x = np.linalg.solve(a, c.alpha * b) if c.side == LEFT else np.linalg.solve(a.T, c.alpha * b.T).T
            return {"B": c.into("B", x)}
        return {"C": c.into("C", c.alpha * (a @ b if c.side == LEFT else b @ a))}

    return compute


def gemm(c: Case) -> Changed:
    a = op(c.A[: c.m, : c.k] if c.transa == PLAIN else c.A[: c.k, : c.m], c.transa)
    b = op(c.B[: c.k, : c.n] if c.transb == PLAIN else c.B[: c.n, : c.k], c.transb)
    return {"C": c.into("C", c.alpha * (a @ b) + c.beta * c.C[: c.m, : c.n])}


def geam(c: Case) -> Changed:
    a = op(c.A[: c.m, : c.n] if c.transa == PLAIN else c.A[: c.n, : c.m], c.transa)
    b = op(c.B[: c.m, : c.n] if c.transb == PLAIN else c.B[: c.n, : c.m], c.transb)
    return {"C": c.into("C", c.alpha * a + c.beta * b)}


def dgmm(c: Case) -> Changed:
    a = c.A[: c.m, : c.n]
    scaled = c.vector("x", c.m)[:, None] * a if c.mode == LEFT else a * c.vector("x", c.n)
    return {"C": c.into("C", scaled)}


def rot(c: Case) -> Changed:
    x, y = c.vector("x", c.n), c.vector("y", c.n)
    return {"x": c.stored("x", c.c * x + c.s * y), "y": c.stored("y", c.c * y - np.conj(c.s) * x)}


def rotm(c: Case) -> Changed:
    _, h11, h21, h12, h22 = c.param
    x, y = c.vector("x", c.n), c.vector("y", c.n)
    return {"x": c.stored("x", h11 * x + h12 * y), "y": c.stored("y", h21 * x + h22 * y)}


def size(x: Array) -> Array:
    return np.abs(x.real) + np.abs(x.imag)


def both(name: str) -> Callable[[Case], Array]:
    """The matrix of a symmetric or Hermitian product with a vector: of an array, a band or packed."""
    matrix = {"y": lambda c: c.A[: c.n, : c.n], "b": banded, "p": unpacked}[name[1]]
    return lambda c: full(matrix(c), c.uplo, name[0] == "h")


def _vectors() -> dict[str, Callable[[Case], Changed]]:
    return {
        "copy": lambda c: {"y": c.stored("y", c.vector("x", c.n))},
        "swap": lambda c: {"x": c.stored("x", c.vector("y", c.n)), "y": c.stored("y", c.vector("x", c.n))},
        "scal": lambda c: {"x": c.stored("x", c.alpha * c.vector("x", c.n))},
        "axpy": lambda c: {"y": c.stored("y", c.alpha * c.vector("x", c.n) + c.vector("y", c.n))},
        "dot": lambda c: {"result": c.vector("x", c.n) @ c.vector("y", c.n)},
        "dotu": lambda c: {"result": c.vector("x", c.n) @ c.vector("y", c.n)},
        "dotc": lambda c: {"result": c.vector("x", c.n).conj() @ c.vector("y", c.n)},
        "nrm2": lambda c: {"result": np.linalg.norm(c.vector("x", c.n))},
        "asum": lambda c: {"result": size(c.vector("x", c.n)).sum()},
        "amax": lambda c: {"result": 1 + size(c.vector("x", c.n)).argmax()},
        "amin": lambda c: {"result": 1 + size(c.vector("x", c.n)).argmin()},
        "rot": rot,
        "rotm": rotm,
    }


def _general(c: Case) -> Array:
    return op(c.A[: c.m, : c.n], c.trans)


#: Name without precision to what it computes.
FUNCTIONS: dict[str, Callable[[Case], Changed]] = {
    **_vectors(),
    "gemv": multiplied(_general),
    "gbmv": multiplied(lambda c: op(band(c.A, c.m, c.n, c.kl, c.ku), c.trans)),
    **{name: multiplied(both(name)) for name in ("symv", "sbmv", "spmv")},
    **{name: multiplied(both(kind)) for name, kind in (("hemv", "hy"), ("hbmv", "hb"), ("hpmv", "hp"))},
    **{name: rank_one(name == "gerc") for name in ("ger", "geru", "gerc")},
    **{
        f"{start}{middle}{end}": rank(end == "2", start == "h", middle.startswith("p"))
        for start, middles in (("s", ("yr", "pr")), ("h", ("er", "pr")))
        for middle in middles
        for end in ("", "2")
    },
    **{
        f"t{kind}{end}": by_triangle(matrix, end == "sv")
        for kind, matrix in (("r", lambda c: c.A[: c.n, : c.n]), ("b", banded), ("p", unpacked))
        for end in ("mv", "sv")
    },
    "gemm": gemm,
    "symm": sided(False),
    "hemm": sided(True),
    "spmm": sided(False, in_packed=True),
    **{f"syr{kind}": rank_k(kind, False) for kind in ("k", "2k", "kx")},
    **{f"her{kind}": rank_k(kind, True) for kind in ("k", "2k", "kx")},
    "trmm": side_triangle(False),
    "trsm": side_triangle(True),
    "geam": geam,
    "dgmm": dgmm,
}
