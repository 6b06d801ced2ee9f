"""The types of cuSOLVER and their counterparts in hipSOLVER."""

from __future__ import annotations

from typing import Final

from ptx2amd.api.spec import Enum, Types

_INVALID: Final = "CUSOLVER_STATUS_INVALID_VALUE"
_NOT_SUPPORTED: Final = "CUSOLVER_STATUS_NOT_SUPPORTED"

ENUMS = {
    "cublasFillMode_t": Enum("hipsolverFillMode_t", {
        0: "HIPSOLVER_FILL_MODE_LOWER", 1: "HIPSOLVER_FILL_MODE_UPPER",
    }, _INVALID),
    "cublasOperation_t": Enum("hipsolverOperation_t", {
        0: "HIPSOLVER_OP_N", 1: "HIPSOLVER_OP_T", 2: "HIPSOLVER_OP_C",
    }, _INVALID),
    "cublasSideMode_t": Enum("hipsolverSideMode_t", {0: "HIPSOLVER_SIDE_LEFT", 1: "HIPSOLVER_SIDE_RIGHT"}, _INVALID),
    "cusolverEigMode_t": Enum("hipsolverEigMode_t", {
        0: "HIPSOLVER_EIG_MODE_NOVECTOR", 1: "HIPSOLVER_EIG_MODE_VECTOR",
    }, _INVALID),
    "cusolverEigType_t": Enum("hipsolverEigType_t", {
        1: "HIPSOLVER_EIG_TYPE_1", 2: "HIPSOLVER_EIG_TYPE_2", 3: "HIPSOLVER_EIG_TYPE_3",
    }, _INVALID),
    "cusolverEigRange_t": Enum("hipsolverEigRange_t", {
        1001: "HIPSOLVER_EIG_RANGE_ALL", 1002: "HIPSOLVER_EIG_RANGE_I", 1003: "HIPSOLVER_EIG_RANGE_V",
    }, _INVALID),
    "cusolverDeterministicMode_t": Enum("hipsolverDeterministicMode_t", {
        1: "HIPSOLVER_DETERMINISTIC_RESULTS", 2: "HIPSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS",
    }, _INVALID),
    "cudaDataType": Enum("hipDataType", {
        0: "HIP_R_32F", 1: "HIP_R_64F", 4: "HIP_C_32F", 5: "HIP_C_64F",
    }, _NOT_SUPPORTED),
}  # fmt: skip

#: Objects that are hipSOLVER's own.
_OBJECTS = {
    "syevjInfo_t": "hipsolverSyevjInfo_t",
    "gesvdjInfo_t": "hipsolverGesvdjInfo_t",
    "cusolverDnParams_t": "hipsolverDnParams_t",
}
#: Settings of refactorisations.
_REFACTOR = [
    f"cusolverRf{name}_t"
    for name in ("MatrixFormat", "UnitDiagonal", "NumericBoostReport", "Factorization", "TriangularSolve",
                 "ResetValuesFastMode")
]  # fmt: skip

TYPES = Types(
    handles=(
        "cusolverDnHandle_t",
        "cusolverSpHandle_t",
        "cusolverRfHandle_t",
        "csrqrInfo_t",
        "csrqrInfoHost_t",
        "csrcholInfo_t",
        "csrcholInfoHost_t",
        "csrluInfoHost_t",
        "cusolverDnIRSParams_t",
        "cusolverDnIRSInfos_t",
        "cudaStream_t",
        *_OBJECTS,
    ),
    enums=(
        "cusolverStatus_t",
        *ENUMS,
        "cusolverDnFunction_t",
        "cusolverAlgMode_t",
        "cusolverPrecType_t",
        "cusolverIRSRefinement_t",
        "cublasDiagType_t",
        *_REFACTOR,
        "libraryPropertyType",
    ),
    scalars={"void *": "cusparseMatDescr_t"},
    structs=(
        "typedef struct cuComplex { float x, y; } cuComplex;\n"
        "typedef struct cuDoubleComplex { double x, y; } cuDoubleComplex;\n"
    ),
    same={
        "cuComplex": "hipFloatComplex",
        "cuDoubleComplex": "hipDoubleComplex",
        "cudaStream_t": "CUstream",
        **_OBJECTS,
    },
)

_CODES = (
    "SUCCESS NOT_INITIALIZED ALLOC_FAILED INVALID_VALUE ARCH_MISMATCH MAPPING_ERROR EXECUTION_FAILED INTERNAL_ERROR "
    "MATRIX_TYPE_NOT_SUPPORTED NOT_SUPPORTED ZERO_PIVOT"
)
#: hipSOLVER's status to cuSOLVER's; any other becomes an internal error.
STATUSES = {f"HIPSOLVER_STATUS_{code}": f"CUSOLVER_STATUS_{code}" for code in _CODES.split()} | {
    "HIPSOLVER_STATUS_HANDLE_IS_NULLPTR": "CUSOLVER_STATUS_NOT_INITIALIZED",
    "HIPSOLVER_STATUS_INVALID_ENUM": _INVALID,
}

#: Parameter types that have a different name in hipSOLVER's functions.
NAMES = {
    "cusolverDnHandle_t": "hipsolverHandle_t",
    "cusolverRfHandle_t": "hipsolverRfHandle_t",
    "cuComplex": "hipFloatComplex",
    "cuDoubleComplex": "hipDoubleComplex",
    **_OBJECTS,
    **{name: enum.type for name, enum in ENUMS.items()},
}
