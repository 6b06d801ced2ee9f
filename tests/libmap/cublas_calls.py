"""Calls of libcublas, compared with numpy (client.py)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ptx2amd.api import cublas
from ptx2amd.libraries import CUBLAS
from tests.libmap import cublas_blas, cublas_first, cublas_mixed, cublas_more, cublas_xt
from tests.libmap.client import Array, Client

TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128, "H": np.float16}
ROUNDING = {"S": 1e-5, "D": 1e-13, "C": 1e-5, "Z": 1e-13, "H": 5e-3}
NOT_INITIALIZED, INVALID_VALUE, BAD = 1, 7, 99

client = Client(cublas.MAPPED)
ffi, cuda, blas = client.ffi, client.cuda, client.library
draw, check, call, Device = client.draw, client.check, client.call, client.on_device


def numbers(letter: str, *shape: int) -> Array:
    values = draw.uniform(-1, 1, shape)
    return (values + 1j * draw.uniform(-1, 1, shape) if letter in "CZ" else values).astype(TYPES[letter])


def scalar(letter: str, value: complex) -> Array:
    return np.array([value if letter in "CZ" else value.real], TYPES[letter])


def near(letter: str, found: Array, expected: Array, length: int = 1) -> bool:
    return bool(np.allclose(found, expected, rtol=ROUNDING[letter], atol=ROUNDING[letter] * (1 + length)))


def vectors(handle: Any, letter: str, wide: str) -> None:
    n, alpha = 1000, scalar(letter, 0.75 - 0.5j)
    x, y = numbers(letter, n), numbers(letter, n)
    d, e = Device(x), Device(y)
    status = call(f"cublas{letter}axpy_v2{wide}", handle, n, alpha, d, 1, e, 1)
    check(f"{letter}axpy{wide}", status == 0 and near(letter, e.now(), alpha * x + y))
    status = call(f"cublas{letter}scal_v2{wide}", handle, n // 2, alpha, d, 2)
    x[::2] *= alpha[0]
    check(f"{letter}scal{wide}, every second", status == 0 and near(letter, d.now(), x))
    y, result = e.now(), scalar(letter, 0)
    for name, expected in (("dotu", x @ y), ("dotc", x.conj() @ y)) if letter in "CZ" else (("dot", x @ y),):
        status = call(f"cublas{letter}{name}_v2{wide}", handle, n, d, 1, e, 1, result)
        check(f"{letter}{name}{wide}", status == 0 and near(letter, result, expected, n))
    norm, prefix = np.zeros(1, result.real.dtype), {"C": "Sc", "Z": "Dz"}.get(letter, letter)
    status = call(f"cublas{prefix}nrm2_v2{wide}", handle, n, d, 1, norm)
    check(f"{letter}nrm2{wide}", status == 0 and near(letter, norm, np.linalg.norm(x), n))
    index = np.zeros(1, np.int64 if wide else np.int32)
    status = call(f"cublasI{letter.lower()}amax_v2{wide}", handle, n, d, 1, index)
    check(f"I{letter.lower()}amax{wide}", status == 0 and index == 1 + np.argmax(abs(x.real) + abs(x.imag)))


def products(handle: Any, letter: str, wide: str) -> None:
    m, n, k = 65, 33, 100
    alpha, beta = scalar(letter, 1.5 + 1j), scalar(letter, -0.5)
    version = "" if letter == "H" else "_v2"
    turned = (lambda a: a, lambda a: a.T, lambda a: a.conj().T)
    for ta in range(3):
        for tb in range(3):
            a, b = numbers(letter, *((m, k) if ta == 0 else (k, m))), numbers(letter, *((k, n) if tb == 0 else (n, k)))
            c = numbers(letter, m, n)
            on = Device(c)
            matrices = (alpha, Device(a), len(a), Device(b), len(b), beta, on, m)
            status = call(f"cublas{letter}gemm{version}{wide}", handle, ta, tb, m, n, k, *matrices)
            exact = complex if letter in "CZ" else float
            expected = alpha * (turned[ta](a).astype(exact) @ turned[tb](b).astype(exact)) + beta * c
            check(f"{letter}gemm{wide} {'NTC'[ta]}{'NTC'[tb]}", status == 0 and near(letter, on.now(), expected, k))
    if letter == "H":
        return
    a, x, y = numbers(letter, m, n), numbers(letter, n), numbers(letter, m)
    on = Device(y)
    status = call(f"cublas{letter}gemv_v2{wide}", handle, 0, m, n, alpha, Device(a), m, Device(x), 1, beta, on, 1)
    check(f"{letter}gemv{wide}", status == 0 and near(letter, on.now(), alpha * (a @ x) + beta * y, n))
    lower = np.tril(numbers(letter, m, m)) / m + 2 * np.eye(m, dtype=TYPES[letter])
    on = Device(a)
    status = call(f"cublas{letter}trsm_v2{wide}", handle, 0, 0, 0, 0, m, n, alpha, Device(lower), m, on, m)
    check(f"{letter}trsm{wide}", status == 0 and near(letter, on.now(), np.linalg.solve(lower, alpha * a), m))
    count, many = 3, numbers(letter, 3 * m * k)
    parts, b = many.reshape(count, k, m).transpose(0, 2, 1), numbers(letter, k, n)
    on = Device(np.zeros(count * m * n, TYPES[letter]))
    status = call(f"cublas{letter}gemmStridedBatched{wide}", handle, 0, 0, m, n, k, alpha, Device(many), m, m * k,
                  Device(b), k, 0, scalar(letter, 0), on, m, m * n, count)  # fmt: skip
    found = on.now().reshape(count, n, m).transpose(0, 2, 1)
    check(f"{letter}gemmStridedBatched{wide}", status == 0 and near(letter, found, alpha * (parts @ b), k))


def mixed(handle: Any) -> None:
    """f16 matrices, sums in f32."""
    m, n, k, half, single, sums = 48, 40, 56, 2, 0, 68
    a, b, one, zero = numbers("H", m, k), numbers("H", k, n), np.ones(1, np.float32), np.zeros(1, np.float32)
    on = Device(np.zeros((m, n), np.float32))
    status = call("cublasGemmEx", handle, 0, 0, m, n, k, one, Device(a), half, m, Device(b), half, k, zero, on, single,
                  m, sums, -1)  # fmt: skip
    check("GemmEx, f16 to f32", status == 0 and near("S", on.now(), a.astype(float) @ b.astype(float), k))
    check("GemmEx, unknown type", call("cublasGemmEx", handle, 0, 0, m, n, k, one, on, BAD, m, on, half, k, zero, on,
                                       single, m, sums, -1) == 15)  # fmt: skip


def row_of(a: Array) -> Array:
    return np.ascontiguousarray(a[0])


def state(handle: Any) -> None:
    """Scalars in device memory, streams, modes, versions."""
    mode, stream, found = ffi.new("int *"), ffi.new("cudaStream_t *"), ffi.new("cudaStream_t *")
    x = numbers("S", 100)
    check("mode", call("cublasSetPointerMode_v2", handle, 1) == 0)
    check("mode read", blas.cublasGetPointerMode_v2(handle, mode) == 0 and mode[0] == 1)
    result = Device(np.zeros(1, np.float32))
    status = call("cublasSdot_v2", handle, 100, Device(x), 1, Device(x), 1, result)
    check("Sdot into device memory", status == 0 and near("S", result.now(), x @ x, 100))
    check("mode back", call("cublasSetPointerMode_v2", handle, 0) == 0)
    assert not cuda.cuStreamCreate(stream, 1)
    check("stream", blas.cublasSetStream_v2(handle, stream[0]) == 0)
    check("stream read", blas.cublasGetStream_v2(handle, found) == 0 and found[0] == stream[0])
    on = Device(x)
    status = call("cublasSscal_v2", handle, 100, scalar("S", 2), on, 1)
    check("Sscal in a stream", status == 0 and not cuda.cuStreamSynchronize(stream[0]) and near("S", on.now(), 2 * x))
    check("no stream", blas.cublasSetStream_v2(handle, ffi.cast("cudaStream_t", 4096)) == INVALID_VALUE)
    check("stream back", blas.cublasSetStream_v2(handle, ffi.NULL) == 0)
    for which in (0, 1, 0):
        check("atomics", blas.cublasSetAtomicsMode(handle, which) == 0)
        check("atomics read", blas.cublasGetAtomicsMode(handle, mode) == 0 and mode[0] == which)
    for which in (0, 2, 0):
        check("math", blas.cublasSetMathMode(handle, which) == 0)
        check("math read", blas.cublasGetMathMode(handle, mode) == 0 and mode[0] == which)
    check("no such math", blas.cublasSetMathMode(handle, 1 << 20) == INVALID_VALUE)
    area = Device(np.zeros(1 << 20, np.uint8))
    check("workspace", call("cublasSetWorkspace_v2", handle, area, 1 << 20) == 0)
    major = CUBLAS.sonames[Path(sys.argv[2]).name] // 10000
    check("major", blas.cublasGetProperty(0, mode) == 0 and mode[0] == major)
    check("runtime", blas.cublasGetCudartVersion() // 1000 == major)
    check("version", blas.cublasGetVersion_v2(handle, mode) == 0 and mode[0] == CUBLAS.sonames[Path(sys.argv[2]).name])
    check("name", ffi.string(blas.cublasGetStatusName(7)) == b"CUBLAS_STATUS_INVALID_VALUE")
    a = np.asfortranarray(numbers("S", 8, 5))
    on = Device(np.zeros((8, 5), np.float32))
    check("SetMatrix", call("cublasSetMatrix", 6, 5, 4, a, 8, on, 8) == 0 and np.array_equal(on.now()[:6], a[:6]))
    row = np.zeros(5, np.float32)
    back = np.zeros((8, 5), np.float32, order="F")
    check("GetMatrix", call("cublasGetMatrix", 6, 5, 4, on, 8, back, 8) == 0 and np.array_equal(back[:6], a[:6]))
    vector = Device(np.zeros(10, np.float32))
    check("SetVector", call("cublasSetVector", 5, 4, row_of(a), 1, vector, 2) == 0)
    check("every second", np.array_equal(vector.now()[::2], row_of(a)))
    check("text", ffi.string(blas.cublasGetStatusString(0)) == b"success")
    check("GetVector", call("cublasGetVector", 5, 4, on, 8, row, 1) == 0 and np.array_equal(row, a[0]))


def bad_arguments(handle: Any) -> Iterator[tuple[str, int, int]]:
    """Of each function of the table that takes a handle: a null handle, and a number that no enumeration has."""
    for row in cublas.ROWS:
        kinds = [parameter.type for parameter in row.takes]
        if not row.call or kinds[0] != "cublasHandle_t":
            continue
        zeros = [ffi.NULL if p.is_pointer or p.type == "cublasHandle_t" else 0 for p in row.takes]
        yield f"{row.symbol} without a handle", getattr(blas, row.symbol)(*zeros), NOT_INITIALIZED
        for k, kind in enumerate(kinds):
            if kind in cublas.ENUMS and kind != "cudaDataType":
                arguments = [handle, *zeros[1:]]
                arguments[k] = BAD
                yield f"{row.symbol} with {row.takes[k].name} = {BAD}", getattr(blas, row.symbol)(*arguments), 7


def main() -> None:
    handle = ffi.new("cublasHandle_t *")
    check("no place for the handle", blas.cublasCreate_v2(ffi.NULL) == INVALID_VALUE)
    assert not blas.cublasCreate_v2(handle)
    for what, found, expected in bad_arguments(handle[0]):
        check(f"{what}: {found}", found == expected)
    for wide in ("", "_64"):
        for letter in "SDCZ":
            vectors(handle[0], letter, wide)
        for letter in "SDCZH":
            products(handle[0], letter, wide)
    cublas_blas.check_all(client, handle[0])
    cublas_mixed.Mixed(client, handle[0]).check_all()
    cublas_first.First(client, handle[0]).check_all()
    cublas_more.More(client, handle[0]).check_all()
    cublas_xt.check_all(client)
    mixed(handle[0])
    state(handle[0])
    check("negative size", call("cublasSgemm_v2", handle[0], 0, 0, -1, 1, 1, *[ffi.NULL] * 2, 1, ffi.NULL, 1,
                                *[ffi.NULL] * 2, 1) == INVALID_VALUE)  # fmt: skip
    check("end", blas.cublasDestroy_v2(handle[0]) == 0)
    client.report()


if __name__ == "__main__":
    main()
