"""Functions of cuBLAS that map to a rocBLAS function with the same parameters in the same order.

S, D, C, Z and H stand for the precisions. In parameters, T is the number type of the precision and R its real type.
Each function also exists with 64-bit sizes as NAME_64.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.api.spec import Function

_NUMBERS = {"S": ("float", "float"), "D": ("double", "double"), "C": ("cuComplex", "float"),
            "Z": ("cuDoubleComplex", "double"), "H": ("__half", "__half")}  # fmt: skip
_REAL, _COMPLEX, _ALL = "SD", "CZ", "SDCZ"

_X, _Y, _OUT = "const T *x, int incx", "T *y, int incy", "T *x, int incx"
_A, _B, _C = "const T *A, int lda", "const T *B, int ldb", "T *C, int ldc"
_IN_Y = "const T *y, int incy"
_ALPHA, _BETA = "scalar const T *alpha", "scalar const T *beta"
_UPLO, _TRIANGLE = "cublasFillMode_t uplo", "cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag"
_SIDE = "cublasSideMode_t side, cublasFillMode_t uplo"
_TRANSPOSED = "cublasOperation_t transa, cublasOperation_t transb"

#: Precisions, name, parameters after the handle. The functions' names end in _v2.
_ROWS = (
    # vectors
    (_ALL, "copy", f"int n, {_X}, {_Y}"),
    (_ALL, "swap", f"int n, {_OUT}, {_Y}"),
    (_ALL, "scal", f"int n, {_ALPHA}, {_OUT}"),
    (_ALL, "axpy", f"int n, {_ALPHA}, {_X}, {_Y}"),
    (_REAL, "dot", f"int n, {_X}, {_IN_Y}, scalar T *result"),
    (_COMPLEX, "dotu", f"int n, {_X}, {_IN_Y}, scalar T *result"),
    (_COMPLEX, "dotc", f"int n, {_X}, {_IN_Y}, scalar T *result"),
    (_ALL, "rot", f"int n, {_OUT}, {_Y}, scalar const R *c, scalar const T *s"),
    (_ALL, "rotg", "scalar T *a, scalar T *b, scalar R *c, scalar T *s"),
    (_REAL, "rotm", f"int n, {_OUT}, {_Y}, scalar const T *param"),
    (_REAL, "rotmg", "scalar T *d1, scalar T *d2, scalar T *x1, scalar const T *y1, scalar T *param"),
    # matrix and vector
    (_ALL, "gemv", f"cublasOperation_t trans, int m, int n, {_ALPHA}, {_A}, {_X}, {_BETA}, {_Y}"),
    (_ALL, "gbmv", f"cublasOperation_t trans, int m, int n, int kl, int ku, {_ALPHA}, {_A}, {_X}, {_BETA}, {_Y}"),
    (_REAL, "ger", f"int m, int n, {_ALPHA}, {_X}, {_IN_Y}, T *A, int lda"),
    (_COMPLEX, "geru", f"int m, int n, {_ALPHA}, {_X}, {_IN_Y}, T *A, int lda"),
    (_COMPLEX, "gerc", f"int m, int n, {_ALPHA}, {_X}, {_IN_Y}, T *A, int lda"),
    (_ALL, "symv", f"{_UPLO}, int n, {_ALPHA}, {_A}, {_X}, {_BETA}, {_Y}"),
    (_COMPLEX, "hemv", f"{_UPLO}, int n, {_ALPHA}, {_A}, {_X}, {_BETA}, {_Y}"),
    (_REAL, "sbmv", f"{_UPLO}, int n, int k, {_ALPHA}, {_A}, {_X}, {_BETA}, {_Y}"),
    (_COMPLEX, "hbmv", f"{_UPLO}, int n, int k, {_ALPHA}, {_A}, {_X}, {_BETA}, {_Y}"),
    (_REAL, "spmv", f"{_UPLO}, int n, {_ALPHA}, const T *AP, {_X}, {_BETA}, {_Y}"),
    (_COMPLEX, "hpmv", f"{_UPLO}, int n, {_ALPHA}, const T *AP, {_X}, {_BETA}, {_Y}"),
    (_ALL, "syr", f"{_UPLO}, int n, {_ALPHA}, {_X}, T *A, int lda"),
    (_COMPLEX, "her", f"{_UPLO}, int n, scalar const R *alpha, {_X}, T *A, int lda"),
    (_REAL, "spr", f"{_UPLO}, int n, {_ALPHA}, {_X}, T *AP"),
    (_COMPLEX, "hpr", f"{_UPLO}, int n, scalar const R *alpha, {_X}, T *AP"),
    (_ALL, "syr2", f"{_UPLO}, int n, {_ALPHA}, {_X}, {_IN_Y}, T *A, int lda"),
    (_COMPLEX, "her2", f"{_UPLO}, int n, {_ALPHA}, {_X}, {_IN_Y}, T *A, int lda"),
    (_REAL, "spr2", f"{_UPLO}, int n, {_ALPHA}, {_X}, {_IN_Y}, T *AP"),
    (_COMPLEX, "hpr2", f"{_UPLO}, int n, {_ALPHA}, {_X}, {_IN_Y}, T *AP"),
    (_ALL, "trmv", f"{_TRIANGLE}, int n, {_A}, {_OUT}"),
    (_ALL, "trsv", f"{_TRIANGLE}, int n, {_A}, {_OUT}"),
    (_ALL, "tbmv", f"{_TRIANGLE}, int n, int k, {_A}, {_OUT}"),
    (_ALL, "tbsv", f"{_TRIANGLE}, int n, int k, {_A}, {_OUT}"),
    (_ALL, "tpmv", f"{_TRIANGLE}, int n, const T *AP, {_OUT}"),
    (_ALL, "tpsv", f"{_TRIANGLE}, int n, const T *AP, {_OUT}"),
    # matrices
    (_ALL, "gemm", f"{_TRANSPOSED}, int m, int n, int k, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    (_ALL, "symm", f"{_SIDE}, int m, int n, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    (_COMPLEX, "hemm", f"{_SIDE}, int m, int n, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    (_ALL, "syrk", f"{_UPLO}, cublasOperation_t trans, int n, int k, {_ALPHA}, {_A}, {_BETA}, {_C}"),
    (_COMPLEX, "herk",
     f"{_UPLO}, cublasOperation_t trans, int n, int k, scalar const R *alpha, {_A}, scalar const R *beta, {_C}"),
    (_ALL, "syr2k", f"{_UPLO}, cublasOperation_t trans, int n, int k, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    (_COMPLEX, "her2k",
     f"{_UPLO}, cublasOperation_t trans, int n, int k, {_ALPHA}, {_A}, {_B}, scalar const R *beta, {_C}"),
    (_ALL, "trmm",
     f"{_SIDE}, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, {_ALPHA}, {_A}, {_B}, {_C}"),
    (_ALL, "trsm",
     f"{_SIDE}, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, {_ALPHA}, {_A}, T *B, int ldb"),
)  # fmt: skip

#: The same for functions whose names have no version suffix: those introduced with the current API.
_UNVERSIONED = (
    ("H", "gemm", f"{_TRANSPOSED}, int m, int n, int k, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    (_ALL, "syrkx", f"{_UPLO}, cublasOperation_t trans, int n, int k, {_ALPHA}, {_A}, {_B}, {_BETA}, {_C}"),
    (_COMPLEX, "herkx",
     f"{_UPLO}, cublasOperation_t trans, int n, int k, {_ALPHA}, {_A}, {_B}, scalar const R *beta, {_C}"),
    (_ALL, "geam", f"{_TRANSPOSED}, int m, int n, {_ALPHA}, {_A}, {_BETA}, {_B}, {_C}"),
    (_ALL, "dgmm", f"cublasSideMode_t mode, int m, int n, {_A}, {_X}, {_C}"),
    ("SDCZH", "gemmBatched",
     f"{_TRANSPOSED}, int m, int n, int k, {_ALPHA}, const T *const *Aarray, int lda, const T *const *Barray, int ldb, "
     f"{_BETA}, T *const *Carray, int ldc, int batchCount"),
    ("SDCZH", "gemmStridedBatched",
     f"{_TRANSPOSED}, int m, int n, int k, {_ALPHA}, {_A}, long long strideA, {_B}, long long strideB, {_BETA}, {_C}, "
     "long long strideC, int batchCount"),
    (_ALL, "gemvBatched",
     f"cublasOperation_t trans, int m, int n, {_ALPHA}, const T *const *Aarray, int lda, const T *const *xarray, "
     f"int incx, {_BETA}, T *const *yarray, int incy, int batchCount"),
    (_ALL, "gemvStridedBatched",
     f"cublasOperation_t trans, int m, int n, {_ALPHA}, {_A}, long long strideA, {_X}, long long stridex, {_BETA}, "
     f"{_Y}, long long stridey, int batchCount"),
    (_ALL, "trsmBatched",
     f"{_SIDE}, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, {_ALPHA}, const T *const *A, int lda, "
     "T *const *B, int ldb, int batchCount"),
)  # fmt: skip

_X_EX, _Y_EX = "void *x, cudaDataType xType, int incx", "void *y, cudaDataType yType, int incy"
_EXECUTION = "cudaDataType executiontype"
#: Vectors of mixed types: the name in both libraries, parameters after the handle.
_EX = (
    ("Axpy", f"int n, scalar const void *alpha, cudaDataType alphaType, const {_X_EX}, {_Y_EX}, {_EXECUTION}"),
    ("Dot", f"int n, const {_X_EX}, const {_Y_EX}, scalar void *result, cudaDataType resultType, {_EXECUTION}"),
    ("Dotc", f"int n, const {_X_EX}, const {_Y_EX}, scalar void *result, cudaDataType resultType, {_EXECUTION}"),
    ("Nrm2", f"int n, const {_X_EX}, scalar void *result, cudaDataType resultType, {_EXECUTION}"),
    ("Scal", f"int n, scalar const void *alpha, cudaDataType alphaType, {_X_EX}, {_EXECUTION}"),
    ("Rot", f"int n, {_X_EX}, {_Y_EX}, scalar const void *c, scalar const void *s, cudaDataType csType, {_EXECUTION}"),
)

#: Complex products with three real multiplications (gemm3m): rocBLAS's functions use four.
_THREE = ("gemm", "gemmBatched", "gemmStridedBatched")

#: Functions whose result is real or an index: precision to the letters of both libraries.
_NORMS = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}


def _rows() -> Iterator[Function]:
    for version, rows in (("_v2", _ROWS), ("", _UNVERSIONED)):
        for precisions, name, text in rows:
            for letter in precisions:
                yield _row(f"cublas{letter}{name}{version}", f"rocblas_{letter.lower()}{_snake(name)}", letter, text)
    for name, text in _EX:
        yield Function(f"cublas{name}Ex", 8000, f"cublasHandle_t handle, {text}", call=f"rocblas_{name.lower()}_ex")
    texts = {name: text for _, name, text in (*_ROWS, *_UNVERSIONED)}
    for name in _THREE:
        for letter in _COMPLEX if name == "gemm" else "C":
            symbol = f"cublas{letter}{name.replace('gemm', 'gemm3m')}"
            yield _row(symbol, f"rocblas_{letter.lower()}{_snake(name)}", letter, texts[name])
    for letter, letters in _NORMS.items():
        for name in ("nrm2", "asum"):
            text = f"int n, {_X}, scalar R *result"
            yield _row(f"cublas{letters}{name}_v2", f"rocblas_{letters.lower()}{name}", letter, text)
        for name in ("amax", "amin"):
            text = f"int n, {_X}, scalar int *result"
            yield _row(f"cublasI{letter.lower()}{name}_v2", f"rocblas_i{letter.lower()}{name}", letter, text)
    for letter, name in (("C", "cublasCs"), ("Z", "cublasZd")):
        below = name.lower().replace("cublas", "rocblas_")
        yield _row(f"{name}scal_v2", f"{below}scal", letter, f"int n, scalar const R *alpha, {_OUT}")
        yield _row(f"{name}rot_v2", f"{below}rot", letter, f"int n, {_OUT}, {_Y}, scalar const R *c, scalar const R *s")


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)


def _row(symbol: str, call: str, letter: str, text: str) -> Function:
    number, real = _NUMBERS[letter]
    text = re.sub(r"\bT\b", number, re.sub(r"\bR\b", real, text))
    return Function(symbol, 0, f"cublasHandle_t handle, {text}", call=call)


def _sixty_four(row: Function) -> Function:
    """The variant with 64-bit sizes, strides and indices, since CUDA 12."""
    return Function(f"{row.symbol}_64", 12000, re.sub(r"\bint\b", "int64_t", row.parameters), call=f"{row.call}_64")


_NARROW = tuple(_rows())
ROWS = (*_NARROW, *(_sixty_four(row) for row in _NARROW if "rotg" not in row.symbol and "rotmg" not in row.symbol))
