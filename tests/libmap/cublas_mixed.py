"""Calls of cuBLAS with lists of matrices, with matrices and vectors of any types, and rotations that it sets up."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array, Client, Device

TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128, "H": np.float16}
ERROR = {"S": 1e-5, "D": 1e-13, "C": 1e-5, "Z": 1e-13, "H": 5e-3}
#: cudaDataType, cublasComputeType_t.
NUMBER = {"S": 0, "D": 1, "H": 2, "C": 4, "Z": 5, "I8": 3, "I32": 10}
COMPUTE = {"S": 68, "D": 70, "H": 64, "I32": 72}
M, N, K, COUNT = 9, 7, 5, 3


class Mixed:
    def __init__(self, client: Client, handle: Any) -> None:
        self.client, self.handle = client, handle

    def numbers(self, letter: str, *shape: int) -> Array:
        values = self.client.draw.uniform(-1, 1, shape)
        if letter in "CZ":
            values = values + 1j * self.client.draw.uniform(-1, 1, shape)
        return values.astype(TYPES[letter])

    def matrices(self, letter: str, *shape: int) -> tuple[list[Array], list[Device], Device]:
        """COUNT matrices, on the device, and the list of their addresses there."""
        hosts = [self.numbers(letter, *shape) for _ in range(COUNT)]
        devices = [self.client.on_device(host) for host in hosts]
        return hosts, devices, self.client.on_device(np.array([device.at[0] for device in devices], np.uint64))

    def call(self, name: str, *arguments: Any) -> None:
        status = self.client.call(name, self.handle, *arguments)
        self.client.check(f"{name}: status {status}", status == 0)

    def near(self, what: str, letter: str, found: Array, expected: Array) -> None:
        self.client.check(what, abs(found - expected).max() <= ERROR[letter] * 10 * max(1, abs(expected).max()))

    def scalar(self, letter: str, value: complex) -> Array:
        return np.array([value if letter in "CZ" else value.real], TYPES[letter])

    def lists(self, letter: str, wide: str) -> None:
        alpha, beta = self.scalar(letter, 1.5 + 1j), self.scalar(letter, -0.5)
        a, _, at_a = self.matrices(letter, M, K)
        b, _, at_b = self.matrices(letter, K, N)
        for name in (f"{letter}gemmBatched", *(["Cgemm3mBatched"] if letter == "C" else [])):
            c, on_c, at_c = self.matrices(letter, M, N)
            self.call(f"cublas{name}{wide}", 0, 0, M, N, K, alpha, at_a, M, at_b, K, beta, at_c, M, COUNT)
            for i in range(COUNT):
                self.near(f"{name}{wide}", letter, on_c[i].now(), alpha * (a[i] @ b[i]) + beta * c[i])
        if letter == "H":
            flat = [self.client.on_device(np.stack([one.T for one in many]).ravel()) for many in (a, b)]
            c = self.client.on_device(np.zeros(COUNT * M * N, np.float16))
            self.call(f"cublasHgemmStridedBatched{wide}", 0, 0, M, N, K, alpha, flat[0], M, M * K, flat[1], K, K * N,
                      self.scalar("H", 0), c, M, M * N, COUNT)  # fmt: skip
            found = c.now().reshape(COUNT, N, M).transpose(0, 2, 1)
            self.near(f"HgemmStridedBatched{wide}", "H", found, alpha * (np.stack(a) @ np.stack(b)))
            return
        x, _, at_x = self.matrices(letter, K)
        y, on_y, at_y = self.matrices(letter, M)
        self.call(f"cublas{letter}gemvBatched{wide}", 0, M, K, alpha, at_a, M, at_x, 1, beta, at_y, 1, COUNT)
        for i in range(COUNT):
            self.near(f"{letter}gemvBatched{wide}", letter, on_y[i].now(), alpha * (a[i] @ x[i]) + beta * y[i])
        self.strided(letter, wide, alpha, beta)
        lower = [np.tril(self.numbers(letter, M, M)) / M + 2 * np.eye(M, dtype=TYPES[letter]) for _ in range(COUNT)]
        kept = [self.client.on_device(one) for one in lower]
        at = self.client.on_device(np.array([one.at[0] for one in kept], np.uint64))
        b, on_b, at_b = self.matrices(letter, M, N)
        self.call(f"cublas{letter}trsmBatched{wide}", 0, 0, 0, 0, M, N, alpha, at, M, at_b, M, COUNT)
        for i in range(COUNT):
            expected = np.linalg.solve(lower[i], alpha * b[i])
            self.near(f"{letter}trsmBatched{wide}", letter, on_b[i].now(), expected)

    def strided(self, letter: str, wide: str, alpha: Array, beta: Array) -> None:
        a, x, y = self.numbers(letter, COUNT, K, M), self.numbers(letter, COUNT, K), self.numbers(letter, COUNT, M)
        on = self.client.on_device(y.ravel())
        flat = [self.client.on_device(one.ravel()) for one in (a, x)]
        name = f"{letter}gemvStridedBatched{wide}"
        self.call(f"cublas{name}", 0, M, K, alpha, flat[0], M, M * K, flat[1], 1, K, beta, on, 1, M, COUNT)
        expected = alpha * np.einsum("ikm,ik->im", a, x) + beta * y
        self.near(name, letter, on.now().reshape(COUNT, M), expected)
        if letter == "C":
            b, c = self.numbers(letter, COUNT, N, K), self.client.on_device(np.zeros(COUNT * N * M, TYPES[letter]))
            on_b = self.client.on_device(b.ravel())
            self.call(f"cublasCgemm3mStridedBatched{wide}", 0, 0, M, N, K, alpha, flat[0], M, M * K, on_b, K, K * N,
                      self.scalar(letter, 0), c, M, M * N, COUNT)  # fmt: skip
            expected = alpha * np.einsum("ikm,ink->inm", a, b)
            self.near("Cgemm3mStridedBatched", letter, c.now().reshape(COUNT, N, M), expected)

    def products(self, wide: str) -> None:
        """f16 and f32 matrices, sums in f32; complex ones."""
        for source, target in (("H", "S"), ("H", "H"), ("S", "S"), ("D", "D")):
            sums = "S" if source == "H" else source
            one, zero, kinds = self.scalar(sums, 1), self.scalar(sums, 0), (NUMBER[source], NUMBER[target])
            worst = target if target == "H" else source if source != "H" else "S"
            a, _, at_a = self.matrices(source, M, K)
            b, _, at_b = self.matrices(source, K, N)
            on = [self.client.on_device(np.zeros((M, N), TYPES[target])) for _ in range(COUNT)]
            at_c = self.client.on_device(np.array([c.at[0] for c in on], np.uint64))
            operands = (0, 0, M, N, K, one, at_a, kinds[0], M, at_b, kinds[0], K, zero, at_c, kinds[1], M)
            self.call(f"cublasGemmBatchedEx{wide}", *operands, COUNT, COMPUTE[sums], -1)
            wanted = [x.astype(np.float64) @ y.astype(np.float64) for x, y in zip(a, b, strict=True)]
            for c, expected in zip(on, wanted, strict=True):
                self.near(f"GemmBatchedEx{wide} {source} to {target}", worst, c.now(), expected)
            flat = [self.client.on_device(np.stack([one.T for one in many]).ravel()) for many in (a, b)]
            c = self.client.on_device(np.zeros(COUNT * M * N, TYPES[target]))
            given = ((flat[0], kinds[0], M, M * K), (flat[1], kinds[0], K, K * N), (c, kinds[1], M, M * N))
            self.call(f"cublasGemmStridedBatchedEx{wide}", 0, 0, M, N, K, one, *given[0], *given[1], zero, *given[2],
                      COUNT, COMPUTE[sums], -1)  # fmt: skip
            found = c.now().reshape(COUNT, N, M).transpose(0, 2, 1)
            self.near(f"GemmStridedBatchedEx{wide} {source} to {target}", worst, found, np.stack(wanted))
            if target != "S":
                continue
            c = self.client.on_device(np.zeros((M, N), TYPES[target]))
            first, second = self.client.on_device(a[0]), self.client.on_device(b[0])
            operands = (0, 0, M, N, K, one, first, kinds[0], M, second, kinds[0], K, zero, c, kinds[1], M)
            self.call(f"cublasSgemmEx{wide}", *operands)
            self.near(f"SgemmEx{wide} {source}", worst, c.now(), wanted[0])
            self.call(f"cublasGemmEx{wide}", *operands, COMPUTE[sums], -1)
            self.near(f"GemmEx{wide} {source}", worst, c.now(), wanted[0])
        a, b = self.numbers("C", M, K), self.numbers("C", K, N)
        c = self.client.on_device(np.zeros((M, N), np.complex64))
        for name in (f"CgemmEx{wide}", f"Cgemm3mEx{wide}"):
            self.call(f"cublas{name}", 0, 0, M, N, K, self.scalar("C", 1j), self.client.on_device(a), NUMBER["C"], M,
                      self.client.on_device(b), NUMBER["C"], K, self.scalar("C", 0), c, NUMBER["C"], M)  # fmt: skip
            self.near(name, "C", c.now(), 1j * (a @ b))
            c = self.client.on_device(np.zeros((M, N), np.complex64))

    def vectors(self, wide: str) -> None:
        for letter in "SDCZ":
            kind, n, alpha = NUMBER[letter], 100, self.scalar(letter, 0.5 - 0.25j)
            x, y = self.numbers(letter, n), self.numbers(letter, n)
            on_x, on_y, result = self.client.on_device(x), self.client.on_device(y), self.scalar(letter, 0)
            self.call(f"cublasAxpyEx{wide}", n, alpha, kind, on_x, kind, 1, on_y, kind, 1, kind)
            y = alpha * x + y
            self.near(f"AxpyEx{wide} {letter}", letter, on_y.now(), y)
            for name, expected in (("Dot", x @ y), ("Dotc", x.conj() @ y)):
                self.call(f"cublas{name}Ex{wide}", n, on_x, kind, 1, on_y, kind, 1, result, kind, kind)
                self.near(f"{name}Ex{wide} {letter}", letter, result, expected)
            self.call(f"cublasScalEx{wide}", n, alpha, kind, on_x, kind, 1, kind)
            self.near(f"ScalEx{wide} {letter}", letter, on_x.now(), alpha * x)
            real = {"C": "S", "Z": "D"}.get(letter, letter)
            norm = self.scalar(real, 0)
            self.call(f"cublasNrm2Ex{wide}", n, on_y, kind, 1, norm, NUMBER[real], NUMBER[real])
            self.near(f"Nrm2Ex{wide} {letter}", letter, norm, np.linalg.norm(y))
            x, c, s = on_x.now(), self.scalar(real, 0.6), self.scalar(real, 0.8)
            self.call(f"cublasRotEx{wide}", n, on_x, kind, 1, on_y, kind, 1, c, s, NUMBER[real], kind)
            self.near(f"RotEx{wide} {letter}", letter, on_x.now(), c * x + s * y)
            self.near(f"RotEx{wide} {letter}", letter, on_y.now(), c * y - s * x)

    def rotations(self) -> None:
        """What a rotation does to the numbers that it was set up for."""
        for letter in "SDCZ":
            real = {"C": "S", "Z": "D"}.get(letter, letter)
            a, b, c, s = self.numbers(letter, 1), self.numbers(letter, 1), self.scalar(real, 0), self.scalar(letter, 0)
            first, second = a.copy(), b.copy()
            self.call(f"cublas{letter}rotg_v2", first, second, c, s)
            self.near(f"{letter}rotg", letter, c * a + s * b, first)
            self.near(f"{letter}rotg", letter, c * b - np.conj(s) * a, 0 * b)
            if letter in "CZ":
                continue
            d1, d2, x, y = (self.scalar(letter, value) for value in (0.7, 0.4, 1.5, 2.5))
            param, old = np.zeros(5, TYPES[letter]), np.array([x[0], y[0]])
            self.call(f"cublas{letter}rotmg_v2", d1, d2, x, y, param)
            flag, h11, h21, h12, h22 = param
            matrix = {-1: [[h11, h12], [h21, h22]], 0: [[1, h12], [h21, 1]], 1: [[h11, 1], [-1, h22]]}[int(flag)]
            self.near(f"{letter}rotmg", letter, np.array(matrix) @ old, np.array([x[0], 0]))

    def check_all(self) -> None:
        for wide in ("", "_64"):
            for letter in "SDCZH":
                self.lists(letter, wide)
            self.products(wide)
            self.vectors(wide)
        self.rotations()
