"""The types of cuSPARSE and their counterparts in hipSPARSE: most have the same values under a different name."""

from __future__ import annotations

from typing import Final

from ptx2amd.api.spec import Enum, Types

_INVALID: Final = "CUSPARSE_STATUS_INVALID_VALUE"
_NOT_SUPPORTED: Final = "CUSPARSE_STATUS_NOT_SUPPORTED"

#: Objects that are hipSPARSE's own.
_OBJECTS = (
    "MatDescr", "ColorInfo", "SpVecDescr", "DnVecDescr", "SpMatDescr", "DnMatDescr", "ConstSpVecDescr",
    "ConstDnVecDescr", "ConstSpMatDescr", "ConstDnMatDescr", "SpGEMMDescr",
)  # fmt: skip
#: Types with the same name in both libraries.
_INFOS = tuple(f"{name}Info_t" for name in (
    "bsrsv2", "bsrsm2", "bsrilu02", "bsric02", "csrsv2", "csrsm2", "csrilu02", "csric02", "csrgemm2", "prune",
    "csru2csr",
))  # fmt: skip


def _enum(kind: str, names: str, answer: str = _INVALID) -> tuple[str, Enum]:
    """names: "NAME=number" of each value, without hipSPARSE's prefix."""
    pairs = (part.split("=") for part in names.split())
    numbers = {int(number): f"HIPSPARSE_{name}" for name, number in pairs}
    return f"cusparse{kind}_t", Enum(f"hipsparse{kind}_t", numbers, answer)


ENUMS = dict([
    _enum("PointerMode", "POINTER_MODE_HOST=0 POINTER_MODE_DEVICE=1"),
    _enum("Action", "ACTION_SYMBOLIC=0 ACTION_NUMERIC=1"),
    _enum("MatrixType", "MATRIX_TYPE_GENERAL=0 MATRIX_TYPE_SYMMETRIC=1 MATRIX_TYPE_HERMITIAN=2 "
          "MATRIX_TYPE_TRIANGULAR=3"),
    _enum("FillMode", "FILL_MODE_LOWER=0 FILL_MODE_UPPER=1"),
    _enum("DiagType", "DIAG_TYPE_NON_UNIT=0 DIAG_TYPE_UNIT=1"),
    _enum("IndexBase", "INDEX_BASE_ZERO=0 INDEX_BASE_ONE=1"),
    _enum("Operation", "OPERATION_NON_TRANSPOSE=0 OPERATION_TRANSPOSE=1 OPERATION_CONJUGATE_TRANSPOSE=2"),
    _enum("Direction", "DIRECTION_ROW=0 DIRECTION_COLUMN=1"),
    _enum("SolvePolicy", "SOLVE_POLICY_NO_LEVEL=0 SOLVE_POLICY_USE_LEVEL=1"),
    _enum("Csr2CscAlg", "CSR2CSC_ALG1=1 CSR2CSC_ALG2=2"),
    _enum("Format", "FORMAT_CSR=1 FORMAT_CSC=2 FORMAT_COO=3 FORMAT_COO_AOS=4 FORMAT_BLOCKED_ELL=5"),
    _enum("Order", "ORDER_COL=1 ORDER_ROW=2"),
    _enum("IndexType", "INDEX_16U=1 INDEX_32I=2 INDEX_64I=3"),
    _enum("SpMatAttribute", "SPMAT_FILL_MODE=0 SPMAT_DIAG_TYPE=1", _NOT_SUPPORTED),
    _enum("SparseToDenseAlg", "SPARSETODENSE_ALG_DEFAULT=0"),
    _enum("DenseToSparseAlg", "DENSETOSPARSE_ALG_DEFAULT=0"),
    _enum("SpMMAlg", "SPMM_ALG_DEFAULT=0 SPMM_COO_ALG1=1 SPMM_COO_ALG2=2 SPMM_COO_ALG3=3 SPMM_CSR_ALG1=4 "
          "SPMM_COO_ALG4=5 SPMM_CSR_ALG2=6 SPMM_CSR_ALG3=12 SPMM_BLOCKED_ELL_ALG1=13", _NOT_SUPPORTED),
    _enum("SpGEMMAlg", "SPGEMM_DEFAULT=0 SPGEMM_CSR_ALG_DETERMINISTIC=1 SPGEMM_CSR_ALG_NONDETERMINISTIC=2 "
          "SPGEMM_ALG1=3 SPGEMM_ALG2=4 SPGEMM_ALG3=5", _NOT_SUPPORTED),
    _enum("SDDMMAlg", "SDDMM_ALG_DEFAULT=0", _NOT_SUPPORTED),
    ("cudaDataType", Enum("hipDataType", {
        0: "HIP_R_32F", 1: "HIP_R_64F", 2: "HIP_R_16F", 3: "HIP_R_8I", 4: "HIP_C_32F", 5: "HIP_C_64F", 6: "HIP_C_16F",
        7: "HIP_C_8I", 8: "HIP_R_8U", 9: "HIP_C_8U", 10: "HIP_R_32I", 11: "HIP_C_32I", 12: "HIP_R_32U",
        13: "HIP_C_32U", 14: "HIP_R_16BF", 15: "HIP_C_16BF",
    }, _NOT_SUPPORTED)),
])  # fmt: skip

TYPES = Types(
    handles=("cusparseHandle_t", "cudaStream_t", "cusparseSpSVDescr_t", "cusparseSpSMDescr_t", *_INFOS,
             *(f"cusparse{name}_t" for name in _OBJECTS)),
    enums=("cusparseStatus_t", *ENUMS, "cusparseSpMVAlg_t", "cusparseSpSVAlg_t", "cusparseSpSMAlg_t",
           "cusparseSpSVUpdate_t", "cusparseSpSMUpdate_t",
           "libraryPropertyType"),
    structs=(
        "typedef struct cuComplex { float x, y; } cuComplex;\n"
        "typedef struct cuDoubleComplex { double x, y; } cuDoubleComplex;\n"
    ),
    same={
        "cuComplex": "hipComplex",
        "cuDoubleComplex": "hipDoubleComplex",
        "cudaStream_t": "CUstream",
        **{f"cusparse{name}_t": f"hipsparse{name}_t" for name in _OBJECTS},
        **{name: f"struct {name.removesuffix('_t')} *" for name in _INFOS},
    },
)  # fmt: skip

_CODES = (
    "SUCCESS NOT_INITIALIZED ALLOC_FAILED INVALID_VALUE ARCH_MISMATCH MAPPING_ERROR EXECUTION_FAILED INTERNAL_ERROR "
    "MATRIX_TYPE_NOT_SUPPORTED ZERO_PIVOT NOT_SUPPORTED INSUFFICIENT_RESOURCES"
)
#: hipSPARSE's status to cuSPARSE's; any other becomes an internal error.
STATUSES = {f"HIPSPARSE_STATUS_{code}": f"CUSPARSE_STATUS_{code}" for code in _CODES.split()}

#: Parameter types that have a different name in hipSPARSE's functions.
NAMES = {
    "cusparseHandle_t": "hipsparseHandle_t",
    "cuComplex": "hipComplex",
    "cuDoubleComplex": "hipDoubleComplex",
    **{f"cusparse{name}_t": f"hipsparse{name}_t" for name in _OBJECTS},
    **{name: enum.type for name, enum in ENUMS.items()},
}
