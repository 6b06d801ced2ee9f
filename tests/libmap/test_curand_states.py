"""States of cuRAND's generators after offsets. Protects: the first number of every thread is the one that NVIDIA's
library draws on a GPU (nvidia/sequences.json)."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

from ptx2amd.api import curand, hip
from ptx2amd.api.mapped import SOURCES
from tests.libmap.client import Array
from tests.libmap.curand_sequences import GOLDEN

LEGACY, DEFAULT = "103", "101"
WORDS = 6


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("states")
    for name, text in curand.MAPPED.texts().items():
        (folder / name).write_text(text)
    include = [f"-I{path}" for path in (folder, *curand.MAPPED.includes, hip.TYPES)]
    sources = [SOURCES / "curand" / f"{name}.c" for name in ("xorwow", "mrg32k3a")]
    made = folder / "libstates.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", *include, *sources, "-o", made], check=True)
    return ctypes.CDLL(str(made))


def xorwow(state: Array) -> int:
    v = [int(word) for word in state]
    t = v[0] ^ v[0] >> 2
    last = (v[4] ^ v[4] << 4 ^ t ^ t << 1) & 0xFFFFFFFF
    return (last + v[5] + 362437) & 0xFFFFFFFF


def mrg32k3a(state: Array) -> int:
    v = [int(word) for word in state]
    drawn = (1403580 * v[1] - 810728 * v[0]) % 4294967087 - (527612 * v[5] - 1370589 * v[3]) % 4294944443
    return int((drawn if drawn > 0 else drawn + 4294967087) * 1.000000048662)


@pytest.mark.parametrize(
    ("kind", "draw", "threads"),
    [
        ("xorwow", xorwow, {DEFAULT: 4096, LEGACY: 4096}),
        ("mrg32k3a", mrg32k3a, {DEFAULT: 81920, LEGACY: 4096}),
    ],
)
def test_first_numbers_after_offsets(
    library: ctypes.CDLL, kind: str, draw: Callable[[Array], int], threads: dict[str, int]
) -> None:
    for what, numbers in GOLDEN[kind]["far"].items():
        order, _, offset = what.partition(" ")
        count = threads[order]
        states = np.zeros((WORDS, count), np.uint32)
        place = ctypes.c_void_p(states.ctypes.data)
        getattr(library, f"{kind}_states")(ctypes.c_uint64(1234), ctypes.c_uint64(int(offset)), count, place)
        found = [draw(states[:, (int(offset) + i) % count]) for i in range(len(numbers))]
        assert found == numbers, what
