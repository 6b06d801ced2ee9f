"""Run by suites.py under `ptx2amd run`: quantum circuits on PyQrack's GPU engine against its CPU engine."""

from collections.abc import Callable
from functools import partial

import cases
from pyqrack import QrackSimulator

PLAIN = {
    "isStabilizerHybrid": False, "isTensorNetwork": False, "isSchmidtDecompose": False, "isPaged": False,
    "isCpuGpuHybrid": False,
}  # fmt: skip


def rotations(q: QrackSimulator, n: int) -> None:
    for i in range(n):
        q.h(i)
        q.r(1, 0.3 * i, i)
        q.r(3, 0.1 * i, i)


def entangled(q: QrackSimulator, n: int) -> None:
    rotations(q, n)
    for i in range(n - 1):
        q.mcx([i], i + 1)
        if (i + 3) % n != i:
            q.mcr(2, 0.2 * i, [i], (i + 3) % n)


def fourier(q: QrackSimulator, n: int) -> None:
    entangled(q, n)
    q.qft(list(range(n)))


def agrees(circuit: Callable[[QrackSimulator, int], None]) -> None:
    states = []
    for gpu in (False, True):
        simulator = QrackSimulator(8, isOpenCL=gpu, **PLAIN)
        circuit(simulator, 8)
        states.append(simulator.out_ket())
    assert len(states[0]) == 256
    overlap = abs(sum(complex(a).conjugate() * complex(b) for a, b in zip(*states, strict=True)))
    assert abs(overlap - 1) < 1e-3, overlap


cases.run({circuit.__name__: partial(agrees, circuit) for circuit in (rotations, entangled, fourier)})
