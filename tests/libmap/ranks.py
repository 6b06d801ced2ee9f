"""Several GPUs of one process as the ranks of NCCL's communicators, and the numbers of its types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.libmap.client import Array, Client, Device

#: ncclDataType_t: numpy's type for the bits; where that is another, mantissa bits and bias of the exponent.
TYPES: list[tuple[str, type[np.generic], tuple[int, int] | None]] = [
    ("int8", np.int8, None), ("uint8", np.uint8, None), ("int32", np.int32, None), ("uint32", np.uint32, None),
    ("int64", np.int64, None), ("uint64", np.uint64, None), ("half", np.float16, None), ("float", np.float32, None),
    ("double", np.float64, None), ("bfloat16", np.uint16, (7, 127)), ("e4m3", np.uint8, (3, 7)),
    ("e5m2", np.uint8, (2, 15)),
]  # fmt: skip
SUM, PROD, MAX, MIN, AVG = range(5)


def narrow(kind: int) -> bool:
    """Whether numpy lacks the type."""
    return TYPES[kind][2] is not None


def decoded(kind: int, bits: Array) -> Array:
    """Elements as numbers."""
    form = TYPES[kind][2]
    if form is None:
        return bits
    mantissa, bias = form
    width = bits.dtype.itemsize * 8
    exponents = (bits.astype(np.int64) >> mantissa) & ((1 << (width - 1 - mantissa)) - 1)
    parts = (bits.astype(np.int64) & ((1 << mantissa) - 1)) / (1 << mantissa)
    size = np.where(exponents == 0, parts * 2.0 ** (1 - bias), (1 + parts) * 2.0 ** (exponents - float(bias)))
    return np.where(bits >> (width - 1), -size, size)


def encoded(kind: int, values: Array) -> Array:
    """Numbers, which the type has exactly, as elements."""
    _, number, form = TYPES[kind]
    if form is None:
        return values.astype(number)
    every = np.arange(1 << (8 * np.dtype(number).itemsize)).astype(number)
    numbers = decoded(kind, every)
    order = np.argsort(numbers, kind="stable")
    found = order[np.searchsorted(numbers[order], values)]
    assert (numbers[found] == values).all()
    return every[found]


class Ranks:
    """GPUs, each with a context, a stream and a communicator."""

    def __init__(self, client: Client) -> None:
        self.client, self.ffi = client, client.ffi
        self.contexts: list[Any] = []
        self.turns: dict[str, bool] = {}
        self.streams: list[Any] = []
        place = self.ffi.new("void **")
        while client.cuda.cuDevicePrimaryCtxRetain(place, len(self.contexts)) == 0:
            self.contexts.append(place[0])
            self.use(len(self.contexts) - 1)
            stream = self.ffi.new("cudaStream_t *")
            assert not client.cuda.cuStreamCreate(stream, 1)
            self.streams.append(stream[0])
        self.count = len(self.contexts)
        self.comms = self.ffi.new("ncclComm_t[]", self.count)

    def use(self, rank: int) -> None:
        assert not self.client.cuda.cuCtxSetCurrent(self.contexts[rank])

    def on(self, rank: int, values: Array) -> Device:
        self.use(rank)
        return self.client.on_device(values)

    def named(self, name: str) -> str:
        """A function by its names in turn: tools call it by the second."""
        self.turns[name] = not self.turns.get(name, True)
        return f"{'p' if self.turns[name] else ''}nccl{name}"

    def call(self, name: str, *arguments: Any) -> None:
        """Of the library; success is checked."""
        status = self.client.call(self.named(name), *arguments)
        self.client.check(f"{name}: status {status}", status == 0)

    def answers(self, what: str, expected: int, name: str, *arguments: Any) -> None:
        status = self.client.call(self.named(name), *arguments)
        self.client.check(f"{name}, {what}: status {status}, not {expected}", status == expected)

    @contextmanager
    def group(self) -> Iterator[None]:
        self.call("GroupStart")
        yield
        self.call("GroupEnd")

    def wait(self) -> None:
        for rank in range(self.count):
            self.use(rank)
            assert not self.client.cuda.cuCtxSynchronize()

    def each(self, name: str, arguments: Callable[[int], tuple[Any, ...]]) -> None:
        """A call of every rank, as one group, with its communicator and stream behind its arguments."""
        with self.group():
            for rank in range(self.count):
                self.call(name, *arguments(rank), self.comms[rank], self.streams[rank])
        self.wait()

    def same(self, what: str, found: Array, expected: Array) -> None:
        shown = f"{found.ravel()[:8]} is not {expected.ravel()[:8]}".replace("\n", " ")
        self.client.check(f"{what}: {shown}", np.array_equal(found, expected))
