"""cuBLASLt as data: libcublasLt on AMD's hipBLASLt.

Descriptors are structures, allocated by the program (`...Init`) or by us, that hold CUDA's attributes; the C code in
libmap/cublaslt builds hipBLASLt's descriptors from them at each call. Therefore no function is a single call of
hipBLASLt. Where that has no code for the chip, products are rocBLAS's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.rocblas import ROCBLAS
from ptx2amd.api.spec import Api, Function, Types
from ptx2amd.libraries import CUBLASLT

#: Structures that programs may allocate themselves, with their size in 64-bit words in CUDA 13; older versions are
#: smaller.
OPAQUE = {"MatrixLayout": 14, "MatmulDesc": 32, "MatrixTransformDesc": 8, "MatmulPreference": 12, "EmulationDesc": 8}

TYPES = Types(
    handles=("cudaStream_t",),
    enums=(
        "cublasStatus_t", "cublasComputeType_t", "cudaDataType", "cudaDataType_t", "libraryPropertyType",
        *(f"cublasLt{name}Attribute{many}_t" for name, many in (
            ("MatrixLayout", ""), ("MatmulDesc", "s"), ("MatrixTransformDesc", "s"), ("MatmulPreference", "s"),
            ("EmulationDesc", "s"), ("MatmulAlgoCap", "s"), ("MatmulAlgoConfig", "s"))),
    ),
    structs="".join(
        f"typedef struct {{ uint64_t data[{words}]; }} cublasLt{name}Opaque_t;\n"
        f"typedef cublasLt{name}Opaque_t *cublasLt{name}_t;\n"
        for name, words in OPAQUE.items()
    )
    + "typedef struct cublasLtContext *cublasLtHandle_t;\n"
    "typedef struct { uint64_t data[8]; } cublasLtMatmulAlgo_t;\n"
    "typedef struct { cublasLtMatmulAlgo_t algo; size_t workspaceSize; cublasStatus_t state; float wavesCount; "
    "int reserved[4]; } cublasLtMatmulHeuristicResult_t;\n"
    "typedef void (*cublasLtLoggerCallback_t)(int logLevel, const char *functionName, const char *message);\n",
    same={"cudaStream_t": "CUstream"},
)  # fmt: skip

API = Api(
    name="cublasLt",
    status="cublasStatus_t",
    header="cublaslt_objects.h",
    null="CUBLAS_STATUS_INVALID_VALUE",
    beneath=(r"\bhipblasLt(\w+)\(", r"hipblasLt.\1("),
    result="cublaslt_status({})",
    success="CUBLAS_STATUS_SUCCESS",
    types=TYPES,
    refusal='libmap_refuse(&said, "{}", CUBLAS_STATUS_NOT_SUPPORTED)',
)

_HANDLE = "cublasLtHandle_t lightHandle"
_BUFFER = "const void *buf, size_t sizeInBytes"
_ANSWER = "void *buf, size_t sizeInBytes, size_t *sizeWritten"
#: Descriptors: their parameter, the arguments of their creation, and the suffix of their attribute type.
_DESCRIBED = {
    "MatrixLayout": ("matLayout", "cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld", ""),
    "MatmulDesc": ("matmulDesc", "cublasComputeType_t computeType, cudaDataType_t scaleType", "s"),
    "MatrixTransformDesc": ("transformDesc", "cudaDataType scaleType", "s"),
    "MatmulPreference": ("pref", "", "s"),
}


def _descriptors() -> Iterator[Function]:
    for name, (parameter, made_of, many) in _DESCRIBED.items():
        own, rest = f"cublasLt{name}_t", f", {made_of}" if made_of else ""
        attribute = f"{own} {parameter}, cublasLt{name}Attribute{many}_t attr"
        yield Function(f"cublasLt{name}Init_internal", 11000, f"{own} {parameter}, size_t size{rest}", ours=True)
        yield Function(f"cublasLt{name}Create", 10010, f"out {own} *{parameter}{rest}", ours=True)
        yield Function(f"cublasLt{name}Destroy", 10010, f"{own} {parameter}", ours=True)
        yield Function(f"cublasLt{name}SetAttribute", 10010, f"{attribute}, {_BUFFER}", ours=True)
        yield Function(f"cublasLt{name}GetAttribute", 10010, f"{attribute}, {_ANSWER}", ours=True)


_LAYOUTS = ", ".join(f"cublasLtMatrixLayout_t {name}desc" for name in "ABCD")
_PROBLEM = f"{_HANDLE}, cublasLtMatmulDesc_t operationDesc, {_LAYOUTS}"
_TYPES = ", ".join(f"cudaDataType_t {name}type" for name in "ABCD")
_KIND = f"{_HANDLE}, cublasComputeType_t computeType, cudaDataType_t scaleType, {_TYPES}"
_HEURISTIC = (
    f"{_PROBLEM}, cublasLtMatmulPreference_t preference, int requestedAlgoCount, "
    "out(requestedAlgoCount) cublasLtMatmulHeuristicResult_t *heuristicResultsArray, out int *returnAlgoCount"
)
_CHECK = f"{_PROBLEM}, in const cublasLtMatmulAlgo_t *algo, out cublasLtMatmulHeuristicResult_t *result"
_STREAM = "cudaStream_t stream"


def _matrix(name: str, const: str = "const ") -> str:
    return f"{const}void *{name}, cublasLtMatrixLayout_t {name}desc"


ROWS = (
    Function("cublasLtCreate", 10010, "out cublasLtHandle_t *lightHandle", ours=True),
    Function("cublasLtDestroy", 10010, _HANDLE, ours=True),
    Function("cublasLtGetVersion", 10010, "void", ours=True, returns="size_t"),
    Function("cublasLtGetCudartVersion", 10010, "void", ours=True, returns="size_t"),
    Function("cublasLtGetProperty", 10010, "libraryPropertyType type, out int *value", ours=True),
    Function("cublasLtGetStatusName", 11040, "cublasStatus_t status", ours=True, returns="const char *"),
    Function("cublasLtGetStatusString", 11040, "cublasStatus_t status", ours=True, returns="const char *"),
    Function("cublasLtHeuristicsCacheGetCapacity", 11080, "out size_t *capacity", ours=True),
    Function("cublasLtHeuristicsCacheSetCapacity", 11080, "size_t capacity", ours=True),
    Function("cublasLtDisableCpuInstructionsSetMask", 12000, "unsigned mask", ours=True, returns="unsigned"),
    *_descriptors(),
    # products
    Function("cublasLtMatmul", 10010,
        f"{_HANDLE}, cublasLtMatmulDesc_t computeDesc, scalar const void *alpha, {_matrix('A')}, {_matrix('B')}, "
        f"scalar const void *beta, {_matrix('C')}, {_matrix('D', '')}, optional in const cublasLtMatmulAlgo_t *algo, "
        f"void *workspace, size_t workspaceSizeInBytes, {_STREAM}", ours=True),
    Function("cublasLtMatmulAlgoGetHeuristic", 10010, _HEURISTIC, ours=True),
    Function("cublasLtMatmulAlgoGetHeuristicForStream", 13010, f"{_HEURISTIC}, {_STREAM}", ours=True),
    Function("cublasLtMatmulAlgoGetIds", 10010,
        f"{_KIND}, int requestedAlgoCount, out(requestedAlgoCount) int *algoIdsArray, out int *returnAlgoCount",
        ours=True),
    Function("cublasLtMatmulAlgoInit", 10010, f"{_KIND}, int algoId, out cublasLtMatmulAlgo_t *algo", ours=True),
    Function("cublasLtMatmulAlgoCheck", 10010, _CHECK, ours=True),
    Function("cublasLtMatmulAlgoCheckForStream", 13010, f"{_CHECK}, {_STREAM}", ours=True),
    Function("cublasLtMatmulAlgoCapGetAttribute", 10010,
        f"in const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoCapAttributes_t attr, {_ANSWER}", ours=True),
    Function("cublasLtMatmulAlgoConfigSetAttribute", 10010,
        f"inout cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, {_BUFFER}", ours=True),
    Function("cublasLtMatmulAlgoConfigGetAttribute", 10010,
        f"in const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, {_ANSWER}", ours=True),
    # copies into another order or type
    Function("cublasLtMatrixTransform", 10010,
        f"{_HANDLE}, cublasLtMatrixTransformDesc_t transformDesc, scalar const void *alpha, {_matrix('A')}, "
        f"scalar const void *beta, {_matrix('B')}, {_matrix('C', '')}, {_STREAM}", ours=True),
    # the log
    Function("cublasLtLoggerSetCallback", 11000, "cublasLtLoggerCallback_t callback", ours=True),
    Function("cublasLtLoggerSetFile", 11000, "FILE *file", ours=True),
    Function("cublasLtLoggerOpenFile", 11000, "in const char *logFile", ours=True),
    Function("cublasLtLoggerSetLevel", 11000, "int level", ours=True),
    Function("cublasLtLoggerSetMask", 11000, "int mask", ours=True),
    Function("cublasLtLoggerForceDisable", 11000, "void", ours=True),
    # of CUDA 13, without counterpart: grouped matrices of different sizes, emulated f64 products
    Function("cublasLtGroupedMatrixLayoutCreate", 13010,
        "out cublasLtMatrixLayout_t *matLayout, cudaDataType type, int groupCount, const void *rows_array, "
        "const void *cols_array, const void *ld_array"),
    Function("cublasLtGroupedMatrixLayoutInit_internal", 13010,
        "cublasLtMatrixLayout_t matLayout, size_t size, cudaDataType type, int groupCount, const void *rows_array, "
        "const void *cols_array, const void *ld_array"),
    Function("cublasLtEmulationDescInit_internal", 13000, "cublasLtEmulationDesc_t emulationDesc, size_t size"),
    Function("cublasLtEmulationDescCreate", 13000, "out cublasLtEmulationDesc_t *emulationDesc"),
    Function("cublasLtEmulationDescDestroy", 13000, "cublasLtEmulationDesc_t emulationDesc"),
    Function("cublasLtEmulationDescSetAttribute", 13000,
        f"cublasLtEmulationDesc_t emulationDesc, cublasLtEmulationDescAttributes_t attr, {_BUFFER}"),
    Function("cublasLtEmulationDescGetAttribute", 13000,
        f"cublasLtEmulationDesc_t emulationDesc, cublasLtEmulationDescAttributes_t attr, {_ANSWER}"),
    # In no header.
    *(Function(name, 0, "void") for name in Path(__file__).with_name("absent.txt").read_text().split()),
)  # fmt: skip

_LT_HANDLE, _LT_DESC, _LT_TRANSFORM = (
    "hipblasLtHandle_t handle",
    "hipblasLtMatmulDesc_t",
    "hipblasLtMatrixTransformDesc_t",
)
_SET = "const void *buf, size_t sizeInBytes"


def _beneath() -> Iterator[Function]:
    """hipBLASLt functions that the C code calls."""
    yield Function("hipblasLtCreate", 0, "hipblasLtHandle_t *handle")
    yield Function("hipblasLtDestroy", 0, _LT_HANDLE)
    for name, made_of, many in (
        ("MatrixLayout", ", hipDataType type, uint64_t rows, uint64_t cols, int64_t ld", ""),
        ("MatmulDesc", ", hipblasComputeType_t computeType, hipDataType scaleType", "s"),
        ("MatmulPreference", "", "s"),
        ("MatrixTransformDesc", ", hipDataType scaleType", "s"),
    ):
        own = f"hipblasLt{name}_t"
        yield Function(f"hipblasLt{name}Create", 0, f"{own} *made{made_of}")
        yield Function(f"hipblasLt{name}Destroy", 0, f"{own} made")
        attribute = f"hipblasLt{name}Attribute{many}_t attr"
        yield Function(f"hipblasLt{name}SetAttribute", 0, f"{own} made, {attribute}, {_SET}")
    layouts = {name: f"hipblasLtMatrixLayout_t {name}desc" for name in "ABCD"}
    yield Function(
        "hipblasLtMatmulAlgoGetHeuristic", 0,
        f"{_LT_HANDLE}, {_LT_DESC} matmulDesc, {', '.join(layouts.values())}, hipblasLtMatmulPreference_t pref, "
        "int requestedAlgoCount, hipblasLtMatmulHeuristicResult_t *heuristicResultsArray, int *returnAlgoCount",
    )  # fmt: skip
    matrices = {name: f"{'' if name == 'D' else 'const '}void *{name}, {layout}" for name, layout in layouts.items()}
    yield Function(
        "hipblasLtMatmul", 0,
        f"{_LT_HANDLE}, {_LT_DESC} matmulDesc, const void *alpha, {matrices['A']}, {matrices['B']}, const void *beta, "
        f"{matrices['C']}, {matrices['D']}, const hipblasLtMatmulAlgo_t *algo, void *workspace, "
        "size_t workspaceSizeInBytes, hipStream_t stream",
    )  # fmt: skip
    yield Function(
        "hipblasLtMatrixTransform", 0,
        f"{_LT_HANDLE}, {_LT_TRANSFORM} transformDesc, const void *alpha, {matrices['A']}, const void *beta, "
        f"{matrices['B']}, void *C, {layouts['C']}, hipStream_t stream",
    )  # fmt: skip


_INVALID = "CUBLAS_STATUS_INVALID_VALUE"
MAPPED = Mapped(
    library=CUBLASLT,
    api=API,
    rows=ROWS,
    prefix="hipblasLt",
    status="hipblasStatus_t",
    statuses={
        "HIPBLAS_STATUS_SUCCESS": "CUBLAS_STATUS_SUCCESS",
        "HIPBLAS_STATUS_NOT_INITIALIZED": "CUBLAS_STATUS_NOT_INITIALIZED",
        "HIPBLAS_STATUS_ALLOC_FAILED": "CUBLAS_STATUS_ALLOC_FAILED",
        "HIPBLAS_STATUS_INVALID_VALUE": _INVALID,
        "HIPBLAS_STATUS_MAPPING_ERROR": "CUBLAS_STATUS_MAPPING_ERROR",
        "HIPBLAS_STATUS_EXECUTION_FAILED": "CUBLAS_STATUS_EXECUTION_FAILED",
        "HIPBLAS_STATUS_NOT_SUPPORTED": "CUBLAS_STATUS_NOT_SUPPORTED",
        "HIPBLAS_STATUS_ARCH_MISMATCH": "CUBLAS_STATUS_ARCH_MISMATCH",
        "HIPBLAS_STATUS_HANDLE_IS_NULLPTR": "CUBLAS_STATUS_NOT_INITIALIZED",
        "HIPBLAS_STATUS_INVALID_ENUM": _INVALID,
    },
    otherwise="CUBLAS_STATUS_INTERNAL_ERROR",
    missing="HIPBLAS_STATUS_NOT_SUPPORTED",
    names={"cudaStream_t": "hipStream_t"},
    called=tuple(_beneath()),
    shares="blas",
    beside=(ROCBLAS,),
)
