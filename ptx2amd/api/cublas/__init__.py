"""cuBLAS as data: libcublas over AMD's rocBLAS. A function is one of rocBLAS's, or C of libmap/cublas."""

from __future__ import annotations

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
    beneath=(r"\brocblas_(\w+)\(", r"rocblas.\1("),
    result="cublas_status({})",
    success="CUBLAS_STATUS_SUCCESS",
    types=TYPES,
    found={"cublasHandle_t": Found("cublas_found", "rocblas_handle ", _NOT_INITIALIZED)},
    enums=ENUMS,
    checks={"cublasHandle_t": Check("!cublas_found({}, &(rocblas_handle){{0}})", _NOT_INITIALIZED)},
    refusal='libmap_refuse(&said, "{}", CUBLAS_STATUS_NOT_SUPPORTED)',
)

_GEMM = "cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, scalar const void *alpha"
_MATRIX = "const void *{0}, cudaDataType {0}type, int ld{1}"
_ALGORITHM = "compute_type(computeType, Ctype), rocblas_gemm_algo_standard, 0, 0"

ROWS = (
    *PRODUCTS,
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
    # between host and device
    Function("cublasSetVector", 0,
        "int n, int elemSize, const void *x, int incx, void *devicePtr, int incy", ours=True),
    Function("cublasGetVector", 0, "int n, int elemSize, const void *x, int incx, void *y, int incy", ours=True),
    Function("cublasSetMatrix", 0,
        "int rows, int cols, int elemSize, const void *A, int lda, void *B, int ldb", ours=True),
    Function("cublasGetMatrix", 0,
        "int rows, int cols, int elemSize, const void *A, int lda, void *B, int ldb", ours=True),
    # matrices of any types
    Function("cublasGemmEx", 0,
        f"{_HANDLE}, {_GEMM}, {_MATRIX.format('A', 'a')}, {_MATRIX.format('B', 'b')}, scalar const void *beta, "
        "void *C, cudaDataType Ctype, int ldc, cublasComputeType_t computeType, cublasGemmAlgo_t algo",
        call="rocblas_gemm_ex(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, "
             f"ldc, C, Ctype, ldc, {_ALGORITHM})"),
)  # fmt: skip

#: Functions of rocBLAS that are called otherwise than with the parameters of one row, and those that C calls.
_MATRIX_EX = "const void *{0}, rocblas_datatype {0}_type, rocblas_int ld{0}"
_CALLED = (
    Function("rocblas_create_handle", 0, "rocblas_handle *handle"),
    Function("rocblas_destroy_handle", 0, "rocblas_handle handle"),
    Function("rocblas_set_stream", 0, "rocblas_handle handle, hipStream_t stream"),
    Function("rocblas_gemm_ex", 0,
        "rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, "
        f"rocblas_int k, const void *alpha, {_MATRIX_EX.format('a')}, {_MATRIX_EX.format('b')}, const void *beta, "
        f"{_MATRIX_EX.format('c')}, void *d, rocblas_datatype d_type, rocblas_int ldd, rocblas_datatype compute_type, "
        "rocblas_gemm_algo algo, int32_t solution_index, uint32_t flags"),
)  # fmt: skip

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
)
