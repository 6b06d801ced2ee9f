"""Kernels of PTX text, run on the software GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeVar

import pytest

from ptx2amd import hip
from ptx2amd.plan.kernel import FEW
from ptx2amd.translate import translate

ARCHS = ("gfx942", "gfx1100")  # paired warps, native warps
MAPPINGS = (*ARCHS, "gfx942:padded")
EVERY = (*ARCHS, pytest.param("gfx942:padded", marks=pytest.mark.slow))  # the same, the last in the slow tier
THIRDS = (0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2)))  # parts of long lists, see `third`

T = TypeVar("T")
Dim = int | tuple[int, ...]


class Program:
    """A translated module, loaded; `arch` may name a mapping too, "gfx942:padded", and the way of matrix products,
    "gfx942::software".

    Raises AssertionError when a kernel cannot be translated."""

    def __init__(self, text: str, arch: str) -> None:
        arch, mapping, matrix = (*arch.split(":"), "", "")[:3]
        [result] = translate(text, "test.ptx", [arch], mode="module", mapping=mapping, matrix=matrix, grid=FEW)
        self.spread = {name: 2 if k.mapping == "padded" else 1 for name, k in result.kernels.items()}  # lanes a thread
        refused = {name: k.reason for name, k in result.kernels.items() if not k.ok}
        assert not refused, refused
        self.gpu = hip.open(f"vgpu:{arch}")
        self.module = self.gpu.load(result.code)

    def launch(self, kernel: str, grid: Dim, block: Dim, args: Sequence, shared: int = 0) -> None:
        """Launch blocks of `block` threads."""
        x, *rest = (block,) if isinstance(block, int) else block
        self.module.kernel(kernel).launch(grid, (self.spread[kernel] * x, *rest), args, shared)

    def run(
        self,
        kernel: str,
        block: int,
        buffers: Sequence[bytes | int],
        more: Sequence[bytes] = (),
        grid: int = 1,
    ) -> list[bytes]:
        """Launch and wait. Each buffer is a parameter: device memory with that content, or that many zero
        bytes; `more` are further parameters. Returns the buffers' contents afterwards."""
        memory = [self.gpu.buffer(bytes(b) if isinstance(b, int) else b) for b in buffers]
        self.launch(kernel, grid, block, [*memory, *more])
        return [buffer.bytes() for buffer in memory]


@cache
def program(text: str, arch: str) -> Program:
    """Translate and load once for all tests that use the same text."""
    return Program(text, arch)


def chunks(items: list, size: int) -> list[list]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def third(items: Iterable[T], part: int, kind: Callable[[T], object]) -> list[T]:
    """A part of a list, where the first has items of every kind: its n-th item of a kind belongs to part n modulo 3."""
    seen: Counter[object] = Counter()
    chosen = []
    for item in items:
        if seen[kind(item)] % 3 == part:
            chosen.append(item)
        seen[kind(item)] += 1
    return chosen
