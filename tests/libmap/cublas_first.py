"""Version 1 of cuBLAS's interface, against version 2 on the same numbers, and triangles that are packed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptx2amd.api import cublas
from ptx2amd.api.spec import Function, Parameter
from tests.libmap.client import Client, Device
from tests.libmap.cublas_blas import WITHOUT

NUMBER = {"float": np.float32, "double": np.float64, "cuComplex": np.complex64, "cuDoubleComplex": np.complex128}
LETTERS = {"cublasOperation_t": "nTc", "cublasFillMode_t": "lU", "cublasDiagType_t": "nU", "cublasSideMode_t": "lR"}
SIZES = {"m": 5, "n": 7, "k": 3, "kl": 2, "ku": 1}
ROOM, LEADING, NOT_INITIALIZED, INVALID_VALUE = 400, 12, 1, 7


class First:
    def __init__(self, client: Client, handle: Any) -> None:
        self.client, self.handle, self.ffi = client, handle, client.ffi

    def twin(self, row: Function, choice: int) -> None:
        """A call of both versions, with the choice-th letter of each option."""
        if WITHOUT.get(row.symbol[7:]) == choice and "omplex" in row.parameters:
            return
        second = self.second[f"{row.symbol}_v2"]
        values = {p.name: self.value(p, choice) for p in second.takes[1:]}
        outputs, results = [], []
        for version in (2, 1):
            copies = {name: self.placed(value) for name, value in values.items()}
            if row.symbol.endswith("trmm"):  # in place, whatever B and C are in version 2
                copies["C"] = copies["B"]
            takes = second.takes[1:] if version == 2 else row.takes
            given = [self.given(p, values[p.name], copies[p.name], choice, version) for p in takes]
            function = getattr(self.client.library, f"{row.symbol}{'_v2' if version == 2 else ''}")
            kinds = self.ffi.typeof(getattr(self.client.plain, f"{row.symbol}{'_v2' if version == 2 else ''}")).args
            given = given if version == 1 else [self.handle, *given]
            answer = function(*(self.cast(kind, one) for kind, one in zip(kinds, given, strict=True)))
            self.client.check(f"{row.symbol}, version {version}", version == 1 or answer == 0)
            results.append(copies["result"] if version == 2 and row.returns != "void" else answer)
            outputs.append([one.now() for one in copies.values() if isinstance(one, Device)])
        self.client.check(f"{row.symbol}: no error", self.client.library.cublasGetError() == 0)
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(*outputs, strict=True))
        self.client.check(f"{row.symbol} is its twin", same)
        if row.returns != "void":
            self.client.check(f"{row.symbol} returns the result", results[0][0] == self.number(results[1]))

    def value(self, parameter: Parameter, choice: int) -> Any:
        """A number, or an array for a pointer."""
        if parameter.type in LETTERS:
            return min(choice, len(LETTERS[parameter.type]) - 1)
        if parameter.is_pointer:
            kind = NUMBER.get(parameter.target, np.int32)
            numbers = self.client.draw.uniform(0.5, 1.5, ROOM if parameter.role != "scalar" else 5)
            if parameter.name == "param":
                numbers[0] = -1
            return numbers.astype(kind)
        return SIZES.get(parameter.name, LEADING if parameter.name.startswith("ld") else 1)

    def placed(self, value: Any) -> Any:
        """A copy: long arrays on the device."""
        if not isinstance(value, np.ndarray):
            return value
        return value.copy() if value.size < ROOM else self.client.on_device(value)

    def given(self, parameter: Parameter, value: Any, copy: Any, choice: int, version: int) -> Any:
        if parameter.type == "char":
            letters = next(LETTERS[p.type] for p in self.options[parameter.name])
            return letters[value].encode()
        if isinstance(copy, np.ndarray) and not parameter.is_pointer:
            one = copy[0]
            return [one.real, one.imag] if "omplex" in parameter.type else one
        return copy

    def cast(self, kind: Any, one: Any) -> Any:
        if isinstance(one, Device):
            return self.ffi.cast(kind, one.pointer)
        return self.ffi.cast(kind, one.ctypes.data) if isinstance(one, np.ndarray) else one

    def number(self, answer: Any) -> Any:
        return answer if isinstance(answer, (int, float)) else complex(answer.x, answer.y)

    def packed(self) -> None:
        n, lda = 6, 8
        for letter, kind in zip("SDCZ", NUMBER.values(), strict=True):
            a = self.client.draw.uniform(-1, 1, (lda, n)).astype(kind)
            for uplo in (0, 1):
                rows = [(j, n) if uplo == 0 else (0, j + 1) for j in range(n)]
                expected = np.concatenate([a[i:end, j] for j, (i, end) in enumerate(rows)])
                on = self.client.on_device(np.zeros(len(expected), kind))
                status = self.client.call(
                    f"cublas{letter}trttp", self.handle, uplo, n, self.client.on_device(a), lda, on
                )
                self.client.check(f"{letter}trttp {uplo}", status == 0 and np.array_equal(on.now(), expected))
                back = self.client.on_device(np.zeros_like(a))
                status = self.client.call(f"cublas{letter}tpttr", self.handle, uplo, n, on, back, lda)
                triangle = np.zeros_like(a)
                triangle[:n] = np.tril(a[:n]) if uplo == 0 else np.triu(a[:n])
                self.client.check(f"{letter}tpttr {uplo}", status == 0 and np.array_equal(back.now(), triangle))
            status = self.client.call(f"cublas{letter}trttp", self.handle, 7, n, on, lda, on)
            self.client.check(f"{letter}trttp of no triangle", status == INVALID_VALUE)

    def state(self) -> None:
        library, ffi = self.client.library, self.ffi
        check, version, place = self.client.check, ffi.new("int *"), ffi.new("void **")
        library.cublasSscal(5, 1, ffi.NULL, 1)
        check("before cublasInit", library.cublasGetError() == NOT_INITIALIZED)
        check("end before cublasInit", library.cublasShutdown() == NOT_INITIALIZED)
        check("init", library.cublasInit() == 0 and library.cublasInit() == 0)
        check("version", library.cublasGetVersion(version) == 0 and version[0] > 110000)
        check("alloc", library.cublasAlloc(100, 4, place) == 0)
        library.cublasSscal(100, 0, ffi.cast("float *", place[0]), 1)
        check("free", library.cublasFree(place[0]) == 0 and library.cublasGetError() == 0)
        check("alloc nothing", library.cublasAlloc(0, 4, place) == INVALID_VALUE)
        stream = ffi.new("cudaStream_t *")
        assert not self.client.cuda.cuStreamCreate(stream, 1)
        check("stream", library.cublasSetKernelStream(stream[0]) == 0)
        check("stream back", library.cublasSetKernelStream(ffi.NULL) == 0)
        library.cublasSgemv(b"x", 5, 5, 1, ffi.NULL, 5, ffi.NULL, 1, 1, ffi.NULL, 1)
        check("a letter without meaning", library.cublasGetError() == INVALID_VALUE)
        check("the error is told once", library.cublasGetError() == 0)

    def check_all(self) -> None:
        self.second = {row.symbol: row for row in cublas.PRODUCTS}
        self.options: dict[str, list[Parameter]] = {}
        for row in self.second.values():
            for parameter in row.takes:
                if parameter.type in LETTERS:
                    self.options.setdefault(parameter.name, []).append(parameter)
        self.state()
        for row in cublas.FIRST:
            if not row.ours:
                for choice in range(3):
                    self.twin(row, choice)
        self.packed()
        self.client.check("end", self.client.library.cublasShutdown() == 0)
