"""Functions of cublasXt: products of matrices in host memory, tile by tile (libmap/cublas/xt*.c)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.api.spec import Function
from ptx2amd.api.texts import NUMBERS, REAL

_HANDLE = "cublasXtHandle_t handle"
_A, _B, _C = "const T *A, size_t lda", "const T *B, size_t ldb", "T *C, size_t ldc"
_ALPHA, _BETA = "scalar const T *alpha", "scalar const T *beta"
_SIDE = "cublasSideMode_t side, cublasFillMode_t uplo"
_RANK = "cublasFillMode_t uplo, cublasOperation_t trans, size_t n, size_t k"
_TRIANGLE = f"{_SIDE}, cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n"
_SIZES = "size_t m, size_t n"

#: Precisions, name, parameters after the handle; T is the number type, R its real type.
_PRODUCTS = (
    ("SDCZ", "gemm",
     f"cublasOperation_t transa, cublasOperation_t transb, {_SIZES}, size_t k, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    ("SDCZ", "syrk", f"{_RANK}, {_ALPHA}, {_A}, {_BETA}, {_C}"),
    ("CZ", "herk", f"{_RANK}, scalar const R *alpha, {_A}, scalar const R *beta, {_C}"),
    ("SDCZ", "syr2k", f"{_RANK}, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    ("CZ", "her2k", f"{_RANK}, {_ALPHA}, {_A}, {_B}, scalar const R *beta, {_C}"),
    ("SDCZ", "syrkx", f"{_RANK}, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    ("CZ", "herkx", f"{_RANK}, {_ALPHA}, {_A}, {_B}, scalar const R *beta, {_C}"),
    ("SDCZ", "symm", f"{_SIDE}, {_SIZES}, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    ("CZ", "hemm", f"{_SIDE}, {_SIZES}, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    ("SDCZ", "spmm", f"{_SIDE}, {_SIZES}, {_ALPHA}, const T *AP, {_B}, {_BETA}, {_C}"),
    ("SDCZ", "trmm", f"{_TRIANGLE}, {_ALPHA}, {_A}, {_B}, {_C}"),
    ("SDCZ", "trsm", f"{_TRIANGLE}, {_ALPHA}, {_A}, T *B, size_t ldb"),
)  # fmt: skip

_SETTINGS = {
    "Create": "cublasXtHandle_t *handle",
    "Destroy": _HANDLE,
    "GetNumBoards": "int nbDevices, int *deviceId, int *nbBoards",
    "MaxBoards": "int *nbGpuBoards",
    "DeviceSelect": f"{_HANDLE}, int nbDevices, int *deviceId",
    "SetBlockDim": f"{_HANDLE}, int blockDim",
    "GetBlockDim": f"{_HANDLE}, int *blockDim",
    "GetPinningMemMode": f"{_HANDLE}, cublasXtPinnedMemMode_t *mode",
    "SetPinningMemMode": f"{_HANDLE}, cublasXtPinnedMemMode_t mode",
    "SetCpuRoutine": f"{_HANDLE}, cublasXtBlasOp_t blasOp, cublasXtOpType_t type, void *blasFunctor",
    "SetCpuRatio": f"{_HANDLE}, cublasXtBlasOp_t blasOp, cublasXtOpType_t type, float ratio",
}


def _rows() -> Iterator[Function]:
    for name, text in _SETTINGS.items():
        yield Function(f"cublasXt{name}", 0, text, ours=True)
    for precisions, name, text in _PRODUCTS:
        for letter in precisions:
            own = re.sub(r"\bT\b", NUMBERS[letter], re.sub(r"\bR\b", REAL[letter], text))
            yield Function(f"cublasXt{letter}{name}", 0, f"{_HANDLE}, {own}", ours=True)


ROWS = tuple(_rows())
