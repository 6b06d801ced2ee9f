"""Dense matrices for calls of libcusolver: workspaces whose end is watched, matrices of each kind, checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.handle import ROUNDING, TYPES, Handle

REAL = {"S": "S", "D": "D", "C": "S", "Z": "D"}
DATA_TYPE = {"S": 0, "D": 1, "C": 4, "Z": 5}
LOWER, UPPER = 0, 1
PLAIN, TRANSPOSED, CONJUGATED = range(3)
LEFT, RIGHT = 0, 1
NO_VECTORS, VECTORS = 0, 1
NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 1, 3, 9
_GUARD = 0x5A


def op(a: Array, operation: int) -> Array:
    return a if operation == PLAIN else a.T if operation == TRANSPOSED else a.conj().T


def exact(a: Array) -> Array:
    return a.astype(np.result_type(a, np.float64))


def half(a: Array, uplo: int) -> Array:
    return np.tril(a) if uplo == LOWER else np.triu(a)


def spelled(letter: str, name: str) -> str:
    """The name of a function whose complex twin is called otherwise: Dsyevd, Zheevd; Dorgqr, Zungqr."""
    if letter in "CZ" and not name.startswith("sytrf"):
        name = name.replace("sy", "he", 1) if name.startswith("sy") else name.replace("or", "un", 1)
    return f"Dn{letter}{name}"


class Dense(Handle):
    prefix = "cusolver"

    def matrix(self, values: Array) -> Device:
        """Of one or two dimensions, by columns."""
        return self.client.on_device(values)

    def zeros(self, letter: str, *shape: int) -> Device:
        return self.matrix(np.zeros(shape, TYPES[letter]))

    def whole(self, *shape: int) -> Device:
        return self.matrix(np.full(shape, -7, np.int32))

    def hermitian(self, letter: str, n: int) -> Array:
        a = self.numbers(letter, n, n)
        return ((a + a.conj().T) / 2).astype(TYPES[letter])

    def positive(self, letter: str, n: int) -> Array:
        a = self.numbers(letter, n, n)
        return (a @ a.conj().T / n + np.eye(n)).astype(TYPES[letter])

    def watched(self, size: int) -> Device:
        """Device memory of so many bytes, behind which `unharmed` looks."""
        return self.on(np.concatenate([np.zeros(size, np.uint8), np.full(256, _GUARD, np.uint8)]))

    def unharmed(self, what: str, room: Device) -> None:
        self.client.check(f"{what}: writes behind its workspace", (room.now()[-256:] == _GUARD).all())

    def size(self, name: str, *arguments: Any) -> int:
        """What NAME_bufferSize answers where `...` stands among its arguments."""
        place = self.ffi.new("int *", -1)
        self.call(f"{name}_bufferSize", *(place if one is ... else one for one in arguments))
        self.client.check(f"{name}: workspace {place[0]}", place[0] >= 0)
        return int(place[0])

    def work(self, letter: str, name: str, *arguments: Any) -> tuple[Device, int]:
        """A workspace of that size in elements."""
        size = self.size(name, *arguments)
        return self.watched(size * np.dtype(TYPES[letter]).itemsize), size

    def succeeded(self, what: str, info: Device) -> None:
        self.client.check(f"{what}: info {info.now().tolist()}", (info.now() == 0).all())

    def close(self, what: str, letter: str, found: Array, expected: Array, length: int = 1) -> None:
        """Within rounding of sums of that length, relative to the largest number."""
        largest = abs(expected).max() if expected.size else 0
        limit = 20 * ROUNDING[letter] * length * max(1.0, largest)
        same = found.shape == expected.shape
        error = abs(exact(found) - expected).max(initial=0) if same else (found.shape, expected.shape)
        self.client.check(f"{what} {letter}: error {error}", same and error <= limit)

    def orthonormal(self, what: str, letter: str, q: Array) -> None:
        """Its columns."""
        self.close(f"{what}, orthonormal", letter, exact(q).conj().T @ exact(q), np.eye(q.shape[1]), len(q))
