"""cuBLAS as data: libcublas on AMD's rocBLAS. A function maps to one of rocBLAS's or is written in C in
libmap/cublas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.cublas import first, xt
from ptx2amd.api.cublas.more import CALLED as MORE_CALLED
from ptx2amd.api.cublas.more import ROCSOLVER
from ptx2amd.api.cublas.more import ROWS as MORE
from ptx2amd.api.cublas.products import ROWS as PRODUCTS
from ptx2amd.api.cublas.types import ENUMS, NAMES, STATUSES, TYPES
from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Api, Check, Found, Function
from ptx2amd.libraries import CUBLAS

_HANDLE = "cublasHandle_t handle"
_NOT_INITIALIZED = "CUBLAS_STATUS_NOT_INITIALIZED"

API = Api(
    name="cublas",
    status="cublasStatus_t",
    header="cublas_handle.h",
    null="CUBLAS_STATUS_INVALID_VALUE",
    beneath=(r"\broc(blas|solver)_(\w+)\(", r"roc\1.\2("),
    result="cublas_status({})",
    success="CUBLAS_STATUS_SUCCESS",
    types=TYPES,
    found={"cublasHandle_t": Found("cublas_found", "rocblas_handle ", _NOT_INITIALIZED)},
    enums=ENUMS,
    checks={"cublasHandle_t": Check("!cublas_found({}, &(rocblas_handle){{0}})", _NOT_INITIALIZED)},
    refusal='libmap_refuse(&said, "{}", CUBLAS_STATUS_NOT_SUPPORTED)',
)

_GEMM = "cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, scalar const {0} *alpha"


def _mixed() -> Iterator[Function]:
    """Products of matrices of mixed types."""
    algorithm = ", cublasComputeType_t computeType, cublasGemmAlgo_t algo"
    count, compute = ", int batchCount", "compute_type(computeType, Ctype)"
    yield from _product("GemmEx", "", "void", rest=algorithm, compute=compute)
    yield from _product("GemmBatchedEx", "_batched", "void", array=True, rest=count + algorithm, compute=compute)
    yield from _product(
        "GemmStridedBatchedEx", "_strided_batched", "void", stride=True, rest=count + algorithm, compute=compute
    )
    yield from _product("SgemmEx", "", "float", compute="rocblas_datatype_f32_r")
    for name in ("CgemmEx", "Cgemm3mEx"):
        yield from _product(name, "", "cuComplex", compute="rocblas_datatype_f32_c")


def _product(
    name: str, suffix: str, scalar: str, array: bool = False, stride: bool = False, rest: str = "", compute: str = ""
) -> Iterator[Function]:
    """One function and its variant with 64-bit sizes. suffix: of rocBLAS's function. scalar: the type of alpha and
    beta."""
    pointer = "const void *const *{0}array" if array else "const void *{0}"
    output = "void *const *Carray" if array else "void *C"
    step = ", long long stride{0}" if stride else ""
    matrices = {n: f"{pointer.format(n)}, cudaDataType {n}type, int ld{n.lower()}{step.format(n)}" for n in "AB"}
    text = (
        f"{_HANDLE}, {_GEMM.format(scalar)}, {matrices['A']}, {matrices['B']}, scalar const {scalar} *beta, {output}, "
        f"cudaDataType Ctype, int ldc{step.format('C')}{rest}"
    )
    ending, strides = "array" if array else "", ", stride{0}" if stride else ""
    given = {n: f"{n}{ending}, {n}type, ld{n.lower()}{strides.format(n)}" for n in "ABC"}
    count = "batchCount, " if "batchCount" in rest else ""
    for wide in ("", "_64"):
        call = (
            f"rocblas_gemm{suffix}_ex{wide}(handle, transa, transb, m, n, k, alpha, {given['A']}, {given['B']}, beta, "
            f"{given['C']}, {given['C']}, {count}{compute}, rocblas_gemm_algo_standard, 0, 0)"
        )
        if array:
            call = re.sub(r"\b([ABC])array\b", r"(void *)\1array", call)
        sized = re.sub(r"\bint\b", "int64_t", text) if wide else text
        yield Function(f"cublas{name}{wide}", 12000 if wide else 0, sized, call=call)


def _copies() -> Iterator[Function]:
    """Copies of vectors and matrices between host and device."""
    for action, way in (("Set", "IN"), ("Get", "OUT")):
        for kind in ("Vector", "Matrix"):
            for ending in ("", "Async"):
                for wide in ("", "_64"):
                    number = "int64_t" if wide else "int"
                    if kind == "Vector":
                        source, target = ("hostPtr", "devicePtr") if action == "Set" else ("devicePtr", "hostPtr")
                        text = f"N n, N elemSize, const void *{source}, N incx, void *{target}, N incy"
                        given = f"1, n, elemSize, {source}, incx, {target}, incy"
                    else:
                        text = "N rows, N cols, N elemSize, const void *A, N lda, void *B, N ldb"
                        given = "rows, cols, elemSize, A, lda, B, ldb"
                    how, stream = f"CUBLAS_COPY_{way}", "stream" if ending else "NULL"
                    yield Function(
                        f"cublas{action}{kind}{ending}{wide}", 12000 if wide else 0,
                        re.sub(r"\bN\b", number, text) + (", cudaStream_t stream" if ending else ""),
                        c=f"cublas_copy({how}{' | CUBLAS_COPY_ASYNC' if ending else ''}, {given}, {stream})",
                    )  # fmt: skip


def _grouped() -> Iterator[Function]:
    """Grouped products, written in C."""
    operations = f"{_HANDLE}, const cublasOperation_t *transa_array, const cublasOperation_t *transb_array, "
    sizes = "const int *m_array, const int *n_array, const int *k_array, "
    rest = "int group_count, const int *group_size"
    texts = {
        f"{letter}gemmGroupedBatched": f"{operations}{sizes}const {number} *alpha_array, "
        f"const {number} *const *Aarray, const int *lda_array, const {number} *const *Barray, const int *ldb_array, "
        f"const {number} *beta_array, {number} *const *Carray, const int *ldc_array, {rest}"
        for letter, number in (("S", "float"), ("D", "double"))
    }
    texts["GemmGroupedBatchedEx"] = (
        f"{operations}{sizes}const void *alpha_array, const void *const *Aarray, cudaDataType_t Atype, "
        "const int *lda_array, const void *const *Barray, cudaDataType_t Btype, const int *ldb_array, "
        "const void *beta_array, void *const *Carray, cudaDataType_t Ctype, const int *ldc_array, "
        f"{rest}, cublasComputeType_t computeType"
    )
    for name, text in texts.items():
        yield Function(f"cublas{name}", 12040, text, ours=True)
        yield Function(f"cublas{name}_64", 12040, re.sub(r"\bint\b", "int64_t", text), ours=True)


#: Functions of CUDA 11 to 13 without a counterpart.
_ABSENT = Path(__file__).with_name("absent.txt").read_text().split()

#: The legacy API.
FIRST = (*first.rows(PRODUCTS), *first.OTHERS)

ROWS = (
    *PRODUCTS,
    *FIRST,
    *MORE,
    *xt.ROWS,
    # handles
    Function("cublasCreate_v2", 0, "out cublasHandle_t *handle", ours=True),
    Function("cublasDestroy_v2", 0, _HANDLE, ours=True),
    Function("cublasSetStream_v2", 0, f"{_HANDLE}, cudaStream_t streamId", ours=True),
    Function("cublasGetStream_v2", 0, f"{_HANDLE}, out cudaStream_t *streamId", ours=True),
    Function("cublasSetWorkspace_v2", 0, f"{_HANDLE}, void *workspace, size_t workspaceSizeInBytes",
        call="rocblas_set_workspace"),
    Function("cublasSetPointerMode_v2", 0, f"{_HANDLE}, cublasPointerMode_t mode", call="rocblas_set_pointer_mode"),
    Function("cublasGetPointerMode_v2", 0, f"{_HANDLE}, out cublasPointerMode_t *mode",
        call="rocblas_get_pointer_mode"),
    Function("cublasSetAtomicsMode", 0, f"{_HANDLE}, cublasAtomicsMode_t mode", call="rocblas_set_atomics_mode"),
    Function("cublasGetAtomicsMode", 0, f"{_HANDLE}, out cublasAtomicsMode_t *mode", call="rocblas_get_atomics_mode"),
    Function("cublasSetMathMode", 0, f"{_HANDLE}, cublasMath_t mode", ours=True),
    Function("cublasGetMathMode", 0, f"{_HANDLE}, out cublasMath_t *mode", value="handle->math_mode"),
    Function("cublasGetVersion_v2", 0, f"{_HANDLE}, out int *version", value="libmap_version"),
    Function("cublasGetProperty", 0, "libraryPropertyType type, out int *value", ours=True),
    Function("cublasGetCudartVersion", 0, "void", ours=True, returns="size_t"),
    Function("cublasGetStatusName", 0, "cublasStatus_t status", ours=True, returns="const char *"),
    Function("cublasGetStatusString", 0, "cublasStatus_t status", ours=True, returns="const char *"),
    Function("cublasSetSmCountTarget", 11000, f"{_HANDLE}, int smCountTarget", ours=True),
    Function("cublasGetSmCountTarget", 11000, f"{_HANDLE}, out int *smCountTarget", value="handle->multiprocessors"),
    *_copies(),
    *_grouped(),
    *_mixed(),
    *(Function(name, 0, "void") for name in _ABSENT),
)  # fmt: skip

#: Functions of rocBLAS that are called with parameters that differ from the row's, and those called from C.
_MATRIX_EX = "const {1} {0}, rocblas_datatype {0}_type, rocblas_int ld{0}{2}"


def _gemm_ex(suffix: str, pointer: str = "void *", stride: str = "", count: str = "") -> Iterator[Function]:
    """rocBLAS's product of mixed types, also with 64-bit sizes. stride: of each matrix; count: number of matrices."""
    a, b, c = (_MATRIX_EX.format(name, pointer, stride.format(name)) for name in "abc")
    d = f"{pointer}d, rocblas_datatype d_type, rocblas_int ldd{stride.format('d')}"
    text = (
        "rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, "
        f"rocblas_int k, const void *alpha, {a}, {b}, const void *beta, {c}, {d}{count}, "
        "rocblas_datatype compute_type, rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags"
    )
    yield Function(f"rocblas_gemm{suffix}_ex", 0, text)
    yield Function(f"rocblas_gemm{suffix}_ex_64", 0, text.replace("rocblas_int", "int64_t"))


_CALLED = (
    Function("rocblas_create_handle", 0, "rocblas_handle *handle"),
    Function("rocblas_destroy_handle", 0, "rocblas_handle handle"),
    Function("rocblas_set_stream", 0, "rocblas_handle handle, hipStream_t stream"),
    *MORE_CALLED,
    *_gemm_ex(""),
    *_gemm_ex("_batched", count=", rocblas_int batch_count"),
    *_gemm_ex("_strided_batched", stride=", rocblas_stride stride_{0}", count=", rocblas_int batch_count"),
)

MAPPED = Mapped(
    library=CUBLAS,
    api=API,
    rows=ROWS,
    prefix="rocblas",
    status="rocblas_status",
    statuses=STATUSES,
    otherwise="CUBLAS_STATUS_INTERNAL_ERROR",
    missing="rocblas_status_not_implemented",
    names=NAMES,
    called=_CALLED,
    shares="blas",
    beside=(ROCSOLVER,),
)
