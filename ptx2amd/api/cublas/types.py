"""The types of cuBLAS and their counterparts in rocBLAS."""

from __future__ import annotations

from typing import Final

from ptx2amd.api.spec import Enum, Types

_INVALID: Final = "CUBLAS_STATUS_INVALID_VALUE"

TYPES = Types(
    handles=("cublasHandle_t", "cublasXtHandle_t", "cudaStream_t"),
    enums=(
        "cublasStatus_t", "cublasOperation_t", "cublasFillMode_t", "cublasDiagType_t", "cublasSideMode_t",
        "cublasPointerMode_t", "cublasAtomicsMode_t", "cublasMath_t", "cublasGemmAlgo_t", "cublasComputeType_t",
        "cudaDataType", "cudaDataType_t", "libraryPropertyType", "cublasXtPinnedMemMode_t", "cublasXtBlasOp_t",
        "cublasXtOpType_t",
    ),
    structs=(
        "typedef struct cuComplex { float x, y; } cuComplex;\n"
        "typedef struct cuDoubleComplex { double x, y; } cuDoubleComplex;\n"
        "typedef struct __half { unsigned short x; } __half;\n"
        "typedef struct __nv_bfloat16 { unsigned short x; } __nv_bfloat16;\n"
    ),
    same={
        "cuComplex": "rocblas_float_complex",
        "cuDoubleComplex": "rocblas_double_complex",
        "__half": "rocblas_half",
        "__nv_bfloat16": "rocblas_bfloat16",
        "cudaStream_t": "CUstream",
    },
)  # fmt: skip

ENUMS = {
    "cublasOperation_t": Enum("rocblas_operation", {
        0: "rocblas_operation_none", 1: "rocblas_operation_transpose", 2: "rocblas_operation_conjugate_transpose",
    }, _INVALID),
    "cublasFillMode_t": Enum("rocblas_fill", {
        0: "rocblas_fill_lower", 1: "rocblas_fill_upper", 2: "rocblas_fill_full",
    }, _INVALID),
    "cublasDiagType_t": Enum("rocblas_diagonal", {
        0: "rocblas_diagonal_non_unit", 1: "rocblas_diagonal_unit",
    }, _INVALID),
    "cublasSideMode_t": Enum("rocblas_side", {0: "rocblas_side_left", 1: "rocblas_side_right"}, _INVALID),
    "cublasPointerMode_t": Enum("rocblas_pointer_mode", {
        0: "rocblas_pointer_mode_host", 1: "rocblas_pointer_mode_device",
    }, _INVALID),
    "cublasAtomicsMode_t": Enum("rocblas_atomics_mode", {
        0: "rocblas_atomics_not_allowed", 1: "rocblas_atomics_allowed",
    }, _INVALID),
    "cudaDataType": Enum("rocblas_datatype", {
        0: "rocblas_datatype_f32_r", 1: "rocblas_datatype_f64_r", 2: "rocblas_datatype_f16_r",
        3: "rocblas_datatype_i8_r", 4: "rocblas_datatype_f32_c", 5: "rocblas_datatype_f64_c",
        6: "rocblas_datatype_f16_c", 10: "rocblas_datatype_i32_r", 14: "rocblas_datatype_bf16_r",
    }, "CUBLAS_STATUS_NOT_SUPPORTED"),
}  # fmt: skip

#: rocBLAS's status to cuBLAS's; any other becomes an internal error.
STATUSES = {
    "rocblas_status_success": "CUBLAS_STATUS_SUCCESS",
    "rocblas_status_invalid_handle": "CUBLAS_STATUS_NOT_INITIALIZED",
    "rocblas_status_not_implemented": "CUBLAS_STATUS_NOT_SUPPORTED",
    "rocblas_status_invalid_pointer": _INVALID,
    "rocblas_status_invalid_size": _INVALID,
    "rocblas_status_memory_error": "CUBLAS_STATUS_ALLOC_FAILED",
    "rocblas_status_perf_degraded": "CUBLAS_STATUS_SUCCESS",
    "rocblas_status_invalid_value": _INVALID,
    "rocblas_status_arch_mismatch": "CUBLAS_STATUS_ARCH_MISMATCH",
    "rocblas_status_excluded_from_build": "CUBLAS_STATUS_NOT_SUPPORTED",
}

#: Parameter types that have a different name in rocBLAS's functions.
NAMES = {
    "cublasHandle_t": "rocblas_handle",
    "cudaStream_t": "hipStream_t",
    "cuComplex": "rocblas_float_complex",
    "cuDoubleComplex": "rocblas_double_complex",
    "__half": "rocblas_half",
    "__nv_bfloat16": "rocblas_bfloat16",
    "long long": "rocblas_stride",
    **{name: enum.type for name, enum in ENUMS.items()},
}
