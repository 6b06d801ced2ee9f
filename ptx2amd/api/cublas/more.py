"""Functions of cuBLAS that select one of rocBLAS's by the types of their arguments, and batched factorisations, which
map to rocSOLVER."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.api.mapped import Beside
from ptx2amd.api.spec import Function

_HANDLE = "cublasHandle_t handle"
_NUMBERS = {"S": "float", "D": "double", "C": "cuComplex", "Z": "cuDoubleComplex"}
_BENEATH = {"S": "float", "D": "double", "C": "rocblas_float_complex", "Z": "rocblas_double_complex"}
_REAL = {"S": "S", "D": "D", "C": "S", "Z": "D"}
_TYPE = {letter: f"rocblas_datatype_f{bits}_{kind}"
         for letter, bits, kind in (("S", 32, "r"), ("D", 64, "r"), ("C", 32, "c"), ("Z", 64, "c"))}  # fmt: skip


def _wide(row: Function) -> Iterator[Function]:
    """The row, and its variant with 64-bit sizes, strides and indices."""
    yield row
    call = re.sub(r"\b(rocblas_\w+)\(", r"\1_64(", row.call) if "(" in row.call else f"{row.call}_64"
    yield Function(f"{row.symbol}_64", 12000, re.sub(r"\bint\b", "int64_t", row.parameters), call=call)


# ---- f16 and bf16 matrix-vector products with f32 accumulation ----


def _mixed_vectors() -> Iterator[Function]:
    for letters, matrix, vector in (
        ("HSH", "__half", "__half"),
        ("HSS", "__half", "float"),
        ("TST", "__nv_bfloat16", "__nv_bfloat16"),
        ("TSS", "__nv_bfloat16", "float"),
    ):
        head, below = f"{_HANDLE}, cublasOperation_t trans, int m, int n, scalar const float *alpha", letters.lower()
        listed = (
            f"{head}, const {matrix} *const *Aarray, int lda, const {matrix} *const *xarray, int incx, "
            f"scalar const float *beta, {vector} *const *yarray, int incy, int batchCount"
        )
        strided = (
            f"{head}, const {matrix} *A, int lda, long long strideA, const {matrix} *x, int incx, long long stridex, "
            f"scalar const float *beta, {vector} *y, int incy, long long stridey, int batchCount"
        )
        yield from _wide(Function(f"cublas{letters}gemvBatched", 11061, listed, call=f"rocblas_{below}gemv_batched"))
        yield from _wide(
            Function(f"cublas{letters}gemvStridedBatched", 11061, strided, call=f"rocblas_{below}gemv_strided_batched")
        )


# ---- functions with types as arguments ----

_X, _Y = "void *x, cudaDataType xType, int incx", "void *y, cudaDataType yType, int incy"
_EXECUTION = "cudaDataType executiontype"


def _by_type(name: str, since: int, parameters: str, calls: str, letters: str, conditions: str) -> Function:
    """calls: rocBLAS functions, with T for the precision's letter; conditions: which types T stands for, R being the
    real type of T."""
    chain = ""
    for letter in letters:
        condition = re.sub(r"\bT\b", _TYPE[letter], re.sub(r"\bR\b", _TYPE[_REAL[letter]], conditions))
        prefix = {"C": "sc", "Z": "dz"}.get(letter, letter.lower())
        below = calls.replace("{P}", prefix).replace("{T}", letter.lower())
        chain += f"{condition} ? {below} : "
    return Function(name, since, f"{_HANDLE}, {parameters}", call=f"{chain}rocblas_status_not_implemented")


def _typed() -> Iterator[Function]:
    for name in ("amax", "amin"):
        yield from _wide(
            _by_type(f"cublasI{name}Ex", 10010, f"int n, const {_X}, scalar int *result",
                     f"rocblas_i{{T}}{name}(handle, n, x, incx, result)", "SDCZ", "xType == T")
        )  # fmt: skip
    yield from _wide(
        _by_type("cublasAsumEx", 10010,
                 f"int n, const {_X}, scalar void *result, cudaDataType resultType, {_EXECUTION}",
                 "rocblas_{P}asum(handle, n, x, incx, result)", "SDCZ",
                 "xType == T && resultType == R && (executiontype == R || executiontype == T)")
    )  # fmt: skip
    same = "xType == T && yType == T"
    for name, const in (("Copy", "const "), ("Swap", "")):
        yield from _wide(
            _by_type(f"cublas{name}Ex", 10010, f"int n, {const}{_X}, {_Y}",
                     f"rocblas_{{T}}{name.lower()}(handle, n, x, incx, y, incy)", "SDCZ", same)
        )  # fmt: skip
    yield from _wide(
        _by_type("cublasRotmEx", 10010,
                 f"int n, {_X}, {_Y}, scalar const void *param, cudaDataType paramType, {_EXECUTION}",
                 "rocblas_{T}rotm(handle, n, x, incx, y, incy, param)", "SD",
                 f"{same} && paramType == T && executiontype == T")
    )  # fmt: skip
    yield _by_type(
        "cublasRotgEx", 10010,
        "scalar void *a, scalar void *b, cudaDataType abType, scalar void *c, scalar void *s, cudaDataType csType, "
        f"{_EXECUTION}", "rocblas_{T}rotg(handle, a, b, c, s)", "SDCZ",
        "abType == T && (csType == T || csType == R) && executiontype == T",
    )  # fmt: skip
    pointers = {"d1": "void *", "d2": "void *", "x1": "void *", "y1": "const void *", "param": "void *"}
    given = ", ".join(f"scalar {pointer}{name}, cudaDataType {name}Type" for name, pointer in pointers.items())
    yield _by_type(
        "cublasRotmgEx", 10010, f"{given}, {_EXECUTION}",
        "rocblas_{T}rotmg(handle, d1, d2, x1, y1, param)", "SD",
        "d1Type == T && d2Type == T && x1Type == T && y1Type == T && paramType == T && executiontype == T",
    )  # fmt: skip


def _ranks() -> Iterator[Function]:
    """Products of a matrix with its own transpose, of complex f32 numbers; 8-bit ones are rejected."""
    for name, scalar in (("herk", "float"), ("syrk", "cuComplex")):
        text = (
            f"{_HANDLE}, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, scalar const {scalar} *alpha, "
            f"const void *A, cudaDataType Atype, int lda, scalar const {scalar} *beta, void *C, cudaDataType Ctype, "
            "int ldc"
        )
        call = (
            f"Atype == {_TYPE['C']} && Ctype == {_TYPE['C']} ? "
            f"rocblas_c{name}(handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc) : rocblas_status_not_implemented"
        )
        for symbol in (f"cublasC{name}Ex", f"cublasC{name}3mEx"):
            yield from _wide(Function(symbol, 8000, text, call=call))


# ---- batched factorisations ----

_SOLVER = "!cublas_solver() ? rocblas_status_not_implemented : "


def _factored() -> Iterator[Function]:
    for letter, number in _NUMBERS.items():
        below = f"rocsolver_{letter.lower()}"
        yield Function(
            f"cublas{letter}getrfBatched", 0,
            f"{_HANDLE}, int n, {number} *const *A, int lda, int *P, int *info, int batchSize",
            call=f"{_SOLVER}P ? {below}getrf_batched(handle, n, n, A, lda, P, n, info, batchSize) : "
                 f"{below}getrf_npvt_batched(handle, n, n, A, lda, info, batchSize)",
        )  # fmt: skip
        yield Function(
            f"cublas{letter}getriBatched", 0,
            f"{_HANDLE}, int n, const {number} *const *A, int lda, const int *P, {number} *const *C, int ldc, "
            "int *info, int batchSize",
            call=f"{_SOLVER}P ? {below}getri_outofplace_batched(handle, n, (void *)A, lda, (int *)P, n, C, ldc, info, "
                 f"batchSize) : {below}getri_npvt_outofplace_batched(handle, n, (void *)A, lda, C, ldc, info, "
                 "batchSize)",
        )  # fmt: skip
        yield Function(
            f"cublas{letter}getrsBatched", 0,
            f"{_HANDLE}, cublasOperation_t trans, int n, int nrhs, const {number} *const *Aarray, int lda, "
            f"const int *devIpiv, {number} *const *Barray, int ldb, out int *info, int batchSize",
            call=f"{_SOLVER}(*info = 0, {below}getrs_batched(handle, trans, n, nrhs, (void *)Aarray, lda, devIpiv, n, "
                 "Barray, ldb, batchSize))",
        )  # fmt: skip
        yield Function(
            f"cublas{letter}geqrfBatched", 0,
            f"{_HANDLE}, int m, int n, {number} *const *Aarray, int lda, {number} *const *TauArray, out int *info, "
            "int batchSize",
            call=f"{_SOLVER}(*info = 0, {below}geqrf_ptr_batched(handle, m, n, Aarray, lda, TauArray, batchSize))",
        )  # fmt: skip
        yield Function(
            f"cublas{letter}gelsBatched", 0,
            f"{_HANDLE}, cublasOperation_t trans, int m, int n, int nrhs, {number} *const *Aarray, int lda, "
            f"{number} *const *Carray, int ldc, out int *info, int *devInfoArray, int batchSize", ours=True,
        )  # fmt: skip
        yield Function(
            f"cublas{letter}matinvBatched", 0,
            f"{_HANDLE}, int n, const {number} *const *A, int lda, {number} *const *Ainv, int lda_inv, int *info, "
            "int batchSize", ours=True,
        )  # fmt: skip


def _packed() -> Iterator[Function]:
    """Triangles, packed and back."""
    for letter, number in _NUMBERS.items():
        head = f"{_HANDLE}, cublasFillMode_t uplo, int n"
        yield Function(f"cublas{letter}tpttr", 0, f"{head}, const {number} *AP, {number} *A, int lda", ours=True)
        yield Function(f"cublas{letter}trttp", 0, f"{head}, const {number} *A, int lda, {number} *AP", ours=True)


ROWS = (*_mixed_vectors(), *_packed(), *_typed(), *_ranks(), *_factored())

_ORDER, _PIVOTS = "rocblas_handle handle, rocblas_int n", "rocblas_int *ipiv, rocblas_stride strideP"


def _solver() -> Iterator[Function]:
    for letter, number in _BENEATH.items():
        name = f"rocsolver_{letter.lower()}"
        matrix, other = f"{number} *const *A, rocblas_int lda", f"{number} *const *C, rocblas_int ldc"
        end, info = "rocblas_int batch_count", "rocblas_int *info"
        shape = "rocblas_handle handle, rocblas_int m, rocblas_int n"
        yield Function(f"{name}getrf_batched", 0, f"{shape}, {matrix}, {_PIVOTS}, {info}, {end}")
        yield Function(f"{name}getrf_npvt_batched", 0, f"{shape}, {matrix}, {info}, {end}")
        yield Function(f"{name}getri_outofplace_batched", 0, f"{_ORDER}, {matrix}, {_PIVOTS}, {other}, {info}, {end}")
        yield Function(f"{name}getri_npvt_outofplace_batched", 0, f"{_ORDER}, {matrix}, {other}, {info}, {end}")
        yield Function(f"{name}getri_batched", 0, f"{_ORDER}, {matrix}, {_PIVOTS}, {info}, {end}")
        solved = f"rocblas_int nrhs, {matrix}, const {_PIVOTS}, {number} *const *B, rocblas_int ldb"
        yield Function(
            f"{name}getrs_batched", 0, f"rocblas_handle handle, rocblas_operation trans, rocblas_int n, {solved}, {end}"
        )
        yield Function(f"{name}geqrf_ptr_batched", 0, f"{shape}, {matrix}, {number} *const *ipiv, {end}")
        least = f"rocblas_int m, rocblas_int n, rocblas_int nrhs, {matrix}, {number} *const *B, rocblas_int ldb"
        yield Function(
            f"{name}gels_batched", 0, f"rocblas_handle handle, rocblas_operation trans, {least}, {info}, {end}"
        )


ROCSOLVER = Beside(
    prefix="rocsolver",
    name="rocSOLVER",
    sonames=("librocsolver.so.0", "librocsolver.so"),
    packages="rocsolver (AMD), librocsolver0 (Debian)",
    functions=tuple(_solver()),
)

#: rocBLAS functions that the C code calls for these.
CALLED = tuple(
    Function(
        f"rocblas_{letter.lower()}geam_batched", 0,
        f"rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, "
        f"const {number} *alpha, const {number} *const *A, rocblas_int lda, const {number} *beta, "
        f"const {number} *const *B, rocblas_int ldb, {number} *const *C, rocblas_int ldc, rocblas_int batch_count",
    )
    for letter, number in _BENEATH.items()
)  # fmt: skip
