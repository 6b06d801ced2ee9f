"""Calls of cuBLAS that rocSOLVER serves, of groups of matrices, with f16 and bf16 matrices by vectors, with types as
arguments, and copies in streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.cublas_mixed import COUNT, NUMBER, TYPES, Mixed
from tests.libmap.cublaslt_products import to_bf16

ERROR = {"S": 2e-4, "D": 1e-11, "C": 2e-4, "Z": 1e-11}
INVALID_VALUE, NOT_SUPPORTED = 7, 15


class More(Mixed):
    """`wide`: "" or "_64"."""

    def solid(self, letter: str, n: int) -> tuple[list[Array], list[Device], Device]:
        """Matrices that are easily factored, on the device, and the list of them."""
        hosts = [self.numbers(letter, n, n) + n * np.eye(n, dtype=TYPES[letter]) for _ in range(COUNT)]
        return self.listed(hosts)

    def listed(self, hosts: list[Array]) -> tuple[list[Array], list[Device], Device]:
        devices = [self.client.on_device(host) for host in hosts]
        return hosts, devices, self.client.on_device(np.array([device.at[0] for device in devices], np.uint64))

    def good(self, what: str, letter: str, found: Array, expected: Array) -> None:
        self.client.check(what, abs(found - expected).max() <= ERROR[letter] * max(1, abs(expected).max()))

    def factored(self, letter: str) -> None:
        n, rows, columns = 9, 12, 3
        for pivoted in (True, False):
            a, on, at = self.solid(letter, n)
            pivots = self.client.on_device(np.zeros((n, COUNT), np.int32)) if pivoted else self.client.ffi.NULL
            info = self.client.on_device(np.full(COUNT, 7, np.int32))
            self.call(f"cublas{letter}getrfBatched", n, at, n, pivots, info, COUNT)
            self.client.check(f"{letter}getrfBatched: info", not info.now().any())
            for i in range(COUNT):
                now = on[i].now()
                product = (np.tril(now, -1) + np.eye(n)) @ np.triu(now)
                if isinstance(pivots, Device):
                    for row, other in reversed(list(enumerate(pivots.now()[:, i] - 1))):
                        product[[row, other]] = product[[other, row]]
                self.good(f"{letter}getrfBatched {pivoted}", letter, product, a[i])
            _, inverse, at_inverse = self.listed([np.zeros((n, n), TYPES[letter]) for _ in range(COUNT)])
            self.call(f"cublas{letter}getriBatched", n, at, n, pivots, at_inverse, n, info, COUNT)
            for i in range(COUNT):
                self.good(f"{letter}getriBatched {pivoted}", letter, inverse[i].now() @ a[i], np.eye(n))
            if not isinstance(pivots, Device):
                continue
            for trans in (0, 1, 2):
                b, on_b, at_b = self.listed([self.numbers(letter, n, columns) for _ in range(COUNT)])
                state = np.full(1, 7, np.int32)
                self.call(f"cublas{letter}getrsBatched", trans, n, columns, at, n, pivots, at_b, n, state, COUNT)
                self.client.check(f"{letter}getrsBatched: info", state[0] == 0)
                for i in range(COUNT):
                    turned = (a[i], a[i].T, a[i].conj().T)[trans]
                    self.good(f"{letter}getrsBatched {trans}", letter, turned @ on_b[i].now(), b[i])
        a, on, at = self.solid(letter, n)
        _, inverse, at_inverse = self.listed([np.zeros((n, n), TYPES[letter]) for _ in range(COUNT)])
        info = self.client.on_device(np.full(COUNT, 7, np.int32))
        self.call(f"cublas{letter}matinvBatched", n, at, n, at_inverse, n, info, COUNT)
        for i in range(COUNT):
            self.good(f"{letter}matinvBatched", letter, inverse[i].now() @ a[i], np.eye(n))
            self.client.check(f"{letter}matinvBatched: its input", np.array_equal(on[i].now(), a[i]))
        name = f"cublas{letter}matinvBatched"
        status = self.client.call(name, self.handle, 33, at, 33, at_inverse, 33, info, COUNT)
        self.client.check(f"{name} of 33 rows: {status}", status == INVALID_VALUE)
        for states in (self.client.ffi.NULL, info):
            a, on, at = self.listed([self.numbers(letter, rows, n) for _ in range(COUNT)])
            b, on_b, at_b = self.listed([self.numbers(letter, rows, columns) for _ in range(COUNT)])
            state = np.full(1, 7, np.int32)
            self.call(f"cublas{letter}gelsBatched", 0, rows, n, columns, at, rows, at_b, rows, state, states, COUNT)
            for i in range(COUNT):
                expected = np.linalg.lstsq(a[i], b[i], rcond=None)[0]
                self.good(f"{letter}gelsBatched", letter, on_b[i].now()[:n], expected)
        a, on, at = self.listed([self.numbers(letter, rows, n) for _ in range(COUNT)])
        _, tau, at_tau = self.listed([np.zeros(n, TYPES[letter]) for _ in range(COUNT)])
        self.call(f"cublas{letter}geqrfBatched", rows, n, at, rows, at_tau, state, COUNT)
        for i in range(COUNT):
            now, q = on[i].now(), np.eye(rows, dtype=TYPES[letter])
            for column, factor in enumerate(tau[i].now()):
                v = np.concatenate([np.zeros(column), [1], now[column + 1 :, column]]).astype(TYPES[letter])
                q = q @ (np.eye(rows) - factor * np.outer(v, v.conj()))
            self.good(f"{letter}geqrfBatched", letter, q @ np.triu(now), a[i])

    def groups(self, wide: str) -> None:
        number = np.int64 if wide else np.int32
        m, n, k, many = (np.array(values, number) for values in ((3, 5), (4, 2), (6, 7), (2, 3)))
        for letter, name, extra in (("S", "SgemmGroupedBatched", 0), ("D", "DgemmGroupedBatched", 0),
                                    ("H", "GemmGroupedBatchedEx", 68), ("D", "GemmGroupedBatchedEx", 70)):  # fmt: skip
            pairs = [(g, i) for g in range(2) for i in range(many[g])]
            a, _, at_a = self.listed([self.numbers(letter, m[g], k[g]) for g, _ in pairs])
            b, _, at_b = self.listed([self.numbers(letter, n[g], k[g]) for g, _ in pairs])
            c, on_c, at_c = self.listed([self.numbers(letter, m[g], n[g]) for g, _ in pairs])
            scalars = TYPES["S" if letter == "H" else letter]
            alpha, beta = np.array([1.5, -1], scalars), np.array([0.5, 2], scalars)
            kind = [NUMBER[letter]] if extra else []
            none, turned = np.zeros(2, np.int32), np.ones(2, np.int32)
            self.call(f"cublas{name}{wide}", none, turned, m, n, k, alpha, at_a, *kind, m, at_b, *kind, n, beta, at_c,
                      *kind, m, 2, many, *([extra] if extra else []))  # fmt: skip
            for (g, _), left, right, old, on in zip(pairs, a, b, c, on_c, strict=True):
                expected = alpha[g] * (left.astype(float) @ right.astype(float).T) + beta[g] * old
                self.near(f"{name}{wide}", letter, on.now(), expected)

    def short(self, wide: str) -> None:
        """Matrices of f16 and bf16 by vectors."""
        rows, columns, one, zero = 20, 33, np.ones(1, np.float32), np.zeros(1, np.float32)
        for letters in ("HSH", "HSS", "TST", "TSS"):
            matrices = [self.client.draw.uniform(-1, 1, (rows, columns)).astype(np.float32) for _ in range(COUNT)]
            vectors = [self.client.draw.uniform(-1, 1, columns).astype(np.float32) for _ in range(COUNT)]
            as_stored = to_bf16 if letters[0] == "T" else lambda x: x.astype(np.float16)
            number = lambda x: (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == np.uint16 else x  # noqa: E731
            a, x = [as_stored(one) for one in matrices], [as_stored(one) for one in vectors]
            result = a[0].dtype if letters[2] != "S" else np.dtype(np.float32)
            _, _, at_a = self.listed(a)
            _, _, at_x = self.listed(x)
            _, on_y, at_y = self.listed([np.zeros(rows, result) for _ in range(COUNT)])
            head = (0, rows, columns, one)
            self.call(f"cublas{letters}gemvBatched{wide}", *head, at_a, rows, at_x, 1, zero, at_y, 1, COUNT)
            flat = self.client.on_device(np.stack([one.T for one in a]).ravel())
            flat_x, flat_y = (
                self.client.on_device(np.stack(x).ravel()),
                self.client.on_device(np.zeros(COUNT * rows, result)),
            )
            self.call(f"cublas{letters}gemvStridedBatched{wide}", *head, flat, rows, rows * columns, flat_x, 1, columns,
                      zero, flat_y, 1, rows, COUNT)  # fmt: skip
            for i in range(COUNT):
                expected = number(a[i]).astype(float) @ number(x[i]).astype(float)
                for name, found in (("Batched", on_y[i].now()), ("Strided", flat_y.now()[i * rows : (i + 1) * rows])):
                    good = np.allclose(number(found), expected, rtol=1e-2, atol=3e-2)
                    self.client.check(f"{letters}gemv{name}{wide}", good)

    def typed(self, wide: str) -> None:
        index = np.zeros(1, np.int64 if wide else np.int32)
        for letter in "SDCZ":
            kind, n, real = NUMBER[letter], 50, {"C": "S", "Z": "D"}.get(letter, letter)
            x, y = self.numbers(letter, n), self.numbers(letter, n)
            on_x, on_y = self.client.on_device(x), self.client.on_device(y)
            sizes = abs(x.real) + abs(x.imag)
            for name, expected in (("amax", sizes.argmax()), ("amin", sizes.argmin())):
                self.call(f"cublasI{name}Ex{wide}", n, on_x, kind, 1, index)
                self.client.check(f"I{name}Ex{wide} {letter}", index[0] == expected + 1)
            total = self.scalar(real, 0)
            self.call(f"cublasAsumEx{wide}", n, on_x, kind, 1, total, NUMBER[real], NUMBER[real])
            self.near(f"AsumEx{wide} {letter}", letter, total, sizes.sum())
            self.call(f"cublasSwapEx{wide}", n, on_x, kind, 1, on_y, kind, 1)
            self.client.check(f"SwapEx{wide} {letter}", np.array_equal(on_x.now(), y) and np.array_equal(on_y.now(), x))
            self.call(f"cublasCopyEx{wide}", n, on_x, kind, 1, on_y, kind, 1)
            self.client.check(f"CopyEx{wide} {letter}", np.array_equal(on_y.now(), y))
            status = self.client.call(f"cublasCopyEx{wide}", self.handle, n, on_x, kind, 1, on_y, 3, 1)
            self.client.check(f"CopyEx{wide} between types: {status}", status == NOT_SUPPORTED)
            if letter in "SD":
                param = np.array([-1, 0.5, 0.25, 2, 1.5], TYPES[letter])
                on_x, on_y = self.client.on_device(x), self.client.on_device(y)
                self.call(f"cublasRotmEx{wide}", n, on_x, kind, 1, on_y, kind, 1, param, kind, kind)
                self.near(f"RotmEx{wide} {letter}", letter, on_x.now(), 0.5 * x + 2 * y)
                self.near(f"RotmEx{wide} {letter}", letter, on_y.now(), 0.25 * x + 1.5 * y)
        for name, transposed in (("herk", np.conj), ("syrk", np.array)):
            a, c = self.numbers("C", 6, 8), np.zeros((6, 6), np.complex64)
            for symbol in (f"cublasC{name}Ex{wide}", f"cublasC{name}3mEx{wide}"):
                on, scalar = self.client.on_device(c), "S" if name == "herk" else "C"
                self.call(symbol, 0, 0, 6, 8, self.scalar(scalar, 2), self.client.on_device(a), 4, 6,
                          self.scalar(scalar, 0), on, 4, 6)  # fmt: skip
                self.near(symbol, "C", np.tril(on.now()), np.tril(2 * a @ transposed(a).T))

    def set_up(self) -> None:
        """Rotations with types as arguments, as those without."""
        for letter in "SDCZ":
            kind, real = NUMBER[letter], {"C": "S", "Z": "D"}.get(letter, letter)
            a, b, c, s = self.numbers(letter, 1), self.numbers(letter, 1), self.scalar(real, 0), self.scalar(letter, 0)
            first, second = a.copy(), b.copy()
            self.call("cublasRotgEx", first, second, kind, c, s, kind, kind)
            self.near(f"RotgEx {letter}", letter, c * a + s * b, first)
            if letter in "CZ":
                continue
            values = [self.scalar(letter, value) for value in (0.7, 0.4, 1.5, 2.5)]
            plain, param, other = [one.copy() for one in values], np.zeros(5, TYPES[letter]), np.zeros(5, TYPES[letter])
            self.call(f"cublas{letter}rotmg_v2", *plain, other)
            self.call("cublasRotmgEx", *[part for one in values for part in (one, kind)], param, kind, kind)
            self.client.check(f"RotmgEx {letter}", np.array_equal(param, other))

    def copies(self, stream: Any, wide: str) -> None:
        client, a = self.client, np.asfortranarray(self.numbers("S", 8, 5))
        for ending, last in (("", ()), ("Async", (stream,))):
            on, back = client.on_device(np.zeros((8, 5), np.float32)), np.zeros((8, 5), np.float32, order="F")
            check, name = client.check, f"{ending}{wide}"
            check(f"SetMatrix{name}", client.call(f"cublasSetMatrix{name}", 6, 5, 4, a, 8, on, 8, *last) == 0)
            check(f"GetMatrix{name}", client.call(f"cublasGetMatrix{name}", 6, 5, 4, on, 8, back, 8, *last) == 0)
            assert not client.cuda.cuStreamSynchronize(stream)
            check(f"a matrix and back{name}", np.array_equal(back[:6], a[:6]) and not back[6:].any())
            x, y = np.ascontiguousarray(a[:, 0]), np.zeros(8, np.float32)
            vector = client.on_device(np.zeros(16, np.float32))
            check(f"SetVector{name}", client.call(f"cublasSetVector{name}", 8, 4, x, 1, vector, 2, *last) == 0)
            check(f"GetVector{name}", client.call(f"cublasGetVector{name}", 8, 4, vector, 2, y, 1, *last) == 0)
            assert not client.cuda.cuStreamSynchronize(stream)
            check(f"a vector and back{name}", np.array_equal(x, y) and not vector.now()[1::2].any())
            status = client.call(f"cublasSetMatrix{name}", 6, 5, 4, a, 5, on, 8, *last)
            check(f"SetMatrix{name} of too short columns", status == INVALID_VALUE)

    def check_all(self) -> None:
        client, stream, count = self.client, self.client.ffi.new("cudaStream_t *"), self.client.ffi.new("int *")
        assert not client.cuda.cuStreamCreate(stream, 1)
        for letter in "SDCZ":
            self.factored(letter)
        for wide in ("", "_64"):
            self.groups(wide)
            self.short(wide)
            self.typed(wide)
            self.copies(stream[0], wide)
        self.set_up()
        self.call("cublasSetSmCountTarget", 12)
        self.call("cublasGetSmCountTarget", count)
        client.check("multiprocessors", count[0] == 12)
        status = client.call("cublasSetSmCountTarget", self.handle, -1)
        client.check(f"fewer than none: {status}", status == INVALID_VALUE)
