"""Calls of a library's functions with a handle, their numbers, and checks of their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array, Client, Device

TYPES = {
    "S": np.float32,
    "D": np.float64,
    "C": np.complex64,
    "Z": np.complex128,
    "H": np.float16,
    "I": np.int8,
    "J": np.int32,
}
ROUNDING = {"S": 1e-5, "D": 1e-13, "C": 1e-5, "Z": 1e-13, "H": 5e-3, "J": 0}


class Handle:
    """The library with a handle."""

    prefix = ""  # of its functions

    def __init__(self, client: Client, handle: Any) -> None:
        self.client, self.handle, self.ffi = client, handle, client.ffi

    def numbers(self, letter: str, *shape: int) -> Array:
        values = self.client.draw.uniform(0.1, 1, shape) * self.client.draw.choice([-1, 1], shape)
        turned = self.client.draw.uniform(-1, 1, shape) if letter in "CZ" else 0
        return (values + 1j * turned if letter in "CZ" else values).astype(TYPES[letter])

    def scalar(self, letter: str, value: complex) -> Array:
        return np.array([value if letter in "CZ" else value.real], TYPES[letter])

    def on(self, values: Array) -> Device:
        return self.client.on_device(np.ascontiguousarray(values).ravel())

    def room(self, size: int) -> Device:
        """A buffer of so many bytes."""
        return self.on(np.zeros(max(size, 8), np.uint8))

    def ok(self, name: str, *arguments: Any) -> None:
        status = self.client.call(f"{self.prefix}{name}", *arguments)
        self.client.check(f"{name}: status {status}", status == 0)

    def call(self, name: str, *arguments: Any) -> None:
        """With the handle; success is checked."""
        self.ok(name, self.handle, *arguments)

    def answers(self, what: str, expected: int, name: str, *arguments: Any) -> None:
        """The status of a call that fails."""
        status = self.client.call(f"{self.prefix}{name}", *arguments)
        self.client.check(f"{name}, {what}: status {status}, not {expected}", status == expected)

    def new(self, kind: str, name: str, *arguments: Any) -> Any:
        """What a function creates at its first argument."""
        place = self.ffi.new(f"{kind} *")
        self.ok(name, place, *arguments)
        return place[0]

    def buffer(self, name: str, *arguments: Any, kind: str = "size_t") -> Any:
        """Of the size that a function answers at its last argument; none where that is 0."""
        size = self.ffi.new(f"{kind} *")
        self.call(name, *arguments, size)
        return self.room(size[0]) if size[0] else self.ffi.NULL

    def near(self, what: str, letter: str, found: Array, expected: Array, length: int = 1) -> None:
        exact = expected.astype(np.result_type(expected, np.float64))
        limit = ROUNDING[letter] * (1 + length)
        good = found.shape == expected.shape and np.allclose(found, exact, rtol=ROUNDING[letter], atol=limit)
        error = abs(found - exact).max() if found.shape == expected.shape and found.size else found.shape
        self.client.check(f"{what} {letter}: error {error}", good)

    def same(self, what: str, found: Array, expected: Array) -> None:
        shown = f"{found.tolist()} is not {expected.tolist()}".replace("\n", " ")
        self.client.check(f"{what}: {shown[:200]}", np.array_equal(found, expected))
