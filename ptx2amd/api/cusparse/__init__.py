"""cuSPARSE as data: libcusparse over AMD's hipSPARSE (which is over rocSPARSE), whose functions have the same
parameters. The rows are in text files: `NAME [LETTERS] [SINCE-UNTIL]:`, then the parameters. LETTERS are the precisions
S, D, C and Z, of which T is the number's type in C, R the real one; `handle` and `descr...` stand for such parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.cusparse.types import ENUMS, NAMES, STATUSES, TYPES
from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Api, Check, Found, Function
from ptx2amd.libraries import CUSPARSE

_FOLDER = Path(__file__).parent
_INVALID, _NOT_INITIALIZED = "CUSPARSE_STATUS_INVALID_VALUE", "CUSPARSE_STATUS_NOT_INITIALIZED"
_HANDLE = "cusparseHandle_t handle"
_NUMBERS = {"S": "float", "D": "double", "C": "cuComplex", "Z": "cuDoubleComplex"}
_REAL = {"S": "float", "D": "double", "C": "float", "Z": "double"}

API = Api(
    name="cusparse",
    status="cusparseStatus_t",
    header="cusparse_handle.h",
    null=_INVALID,
    beneath=(r"\bhipsparse(\w+)\(", r"hipsparse.\1("),
    result=f"!libmap_ready() ? {_NOT_INITIALIZED} : cusparse_status({{}})",
    success="CUSPARSE_STATUS_SUCCESS",
    types=TYPES,
    found={
        "cusparseHandle_t": Found("cusparse_found", "hipsparseHandle_t ", _NOT_INITIALIZED),
        "cusparseSpSMDescr_t": Found("cusparse_spsm_found", "struct cusparseSpSMDescr_t_st *", _INVALID),
    },
    enums=ENUMS,
    checks={"cusparseHandle_t": Check("!cusparse_found({}, &(hipsparseHandle_t){{0}})", _NOT_INITIALIZED)},
    refusal='libmap_refuse(&said, "{}", CUSPARSE_STATUS_NOT_SUPPORTED)',
)

_ENTRY = re.compile(r"(\w+)(?: ([SDCZ]+))?(?: (\d*)-(\d*))?:\n((?:  .+\n)+)")


def _read(name: str) -> Iterator[Function]:
    """The rows of a text file. Each calls hipSPARSE's function of that name."""
    for entry in (_FOLDER / name).read_text().split("\n\n"):
        match = _ENTRY.fullmatch(entry.rstrip("\n") + "\n")
        assert match is not None, entry
        function, letters, since, until, text = match.groups()
        parts = (_expanded(" ".join(part.split())) for part in text.split(","))
        yield from _of_letters(function, letters or "", int(since or 0), int(until or 0), ", ".join(parts))


def _expanded(parameter: str) -> str:
    if parameter == "handle":
        return _HANDLE
    return f"const cusparseMatDescr_t {parameter}" if re.fullmatch(r"descr\w*", parameter) else parameter


def _of_letters(name: str, letters: str, since: int, until: int, text: str, ours: bool = False) -> Iterator[Function]:
    for letter in letters or ("",):
        own = re.sub(r"\bT\b", _NUMBERS[letter], re.sub(r"\bR\b", _REAL[letter], text)) if letter else text
        symbol = f"{letter}{name}"
        call = "" if ours else f"hipsparse{symbol}"
        yield Function(f"cusparse{symbol}", since, own, call=call, ours=ours, until=until)


# ---- functions that differ ----

_PRODUCT = (
    f"{_HANDLE}, cusparseOperation_t opA, cusparseOperation_t opB, scalar const void *alpha, "
    "cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, scalar const void *beta, "
    "cusparseSpMatDescr_t matC, cudaDataType computeType"
)
_SPSM = (
    f"{_HANDLE}, cusparseOperation_t opA, cusparseOperation_t opB, scalar const void *alpha, "
    "cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC, "
    "cudaDataType computeType, cusparseSpSMAlg_t alg, cusparseSpSMDescr_t spsmDescr"
)
_SPSM_GIVEN = "handle, opA, opB, alpha, matA, matB, matC, computeType, alg, spsmDescr->hipsparse"


def _constrained() -> Iterator[Function]:
    """CUDA 11's first name of SDDMM."""
    text = _PRODUCT.replace("Const", "")
    given = "handle, opA, opB, alpha, matA, matB, beta, matC, computeType, HIPSPARSE_SDDMM_ALG_DEFAULT"
    for suffix, last in (("", "void *externalBuffer"), ("_bufferSize", "out size_t *bufferSize")):
        yield Function(f"cusparseConstrainedGeMM{suffix}", 0, f"{text}, {last}", until=12000,
                       call=f"hipsparseSDDMM{suffix}({given}, {last.rpartition('*')[2]})")  # fmt: skip


def _properties() -> Iterator[Function]:
    """Of a descriptor of version 1, as a result."""
    for name in ("MatType", "MatFillMode", "MatDiagType", "MatIndexBase"):
        kind = {"MatType": "MatrixType", "MatIndexBase": "IndexBase"}.get(name, name.removeprefix("Mat"))
        yield Function(
            f"cusparseGet{name}", 0, "const cusparseMatDescr_t descrA", returns=f"cusparse{kind}_t",
            c=f"libmap_ready() && descrA ? above_cusparse{kind}_t(hipsparse.Get{name}(descrA)) : 0",
        )  # fmt: skip


#: Names of the functions that have no counterpart here, of CUDA 11 to 13.
_ABSENT = (_FOLDER / "absent.txt").read_text().split()

ROWS = (
    *_read("vectors_and_solvers.txt"),
    *_read("conversions.txt"),
    *_read("generic.txt"),
    # what hipSPARSE answers as size_t (narrow.c)
    *_of_letters(
        "csr2gebsr_bufferSize", "SDCZ", 0, 0,
        f"{_HANDLE}, cusparseDirection_t dirA, int m, int n, const cusparseMatDescr_t descrA, const T *csrSortedValA, "
        "const int *csrSortedRowPtrA, const int *csrSortedColIndA, int rowBlockDim, int colBlockDim, "
        "out int *pBufferSizeInBytes", ours=True,
    ),
    *_of_letters(
        "gebsr2gebsc_bufferSize", "SDCZ", 0, 0,
        f"{_HANDLE}, int mb, int nb, int nnzb, const T *bsrSortedVal, const int *bsrSortedRowPtr, "
        "const int *bsrSortedColInd, int rowBlockDim, int colBlockDim, out int *pBufferSizeInBytes", ours=True,
    ),
    # solutions with many right-hand sides: hipSPARSE wants the analysis' buffer again
    Function("cusparseSpSM_createDescr", 0, "out cusparseSpSMDescr_t *descr", ours=True),
    Function("cusparseSpSM_destroyDescr", 0, "cusparseSpSMDescr_t descr", ours=True),
    Function("cusparseSpSM_bufferSize", 0, f"{_SPSM}, out size_t *bufferSize",
        call=f"hipsparseSpSM_bufferSize({_SPSM_GIVEN}, bufferSize)"),
    Function("cusparseSpSM_analysis", 0, f"{_SPSM}, void *externalBuffer",
        call=f"(spsmDescr->buffer = externalBuffer, hipsparseSpSM_analysis({_SPSM_GIVEN}, externalBuffer))"),
    Function("cusparseSpSM_solve", 0, _SPSM, call=f"hipsparseSpSM_solve({_SPSM_GIVEN}, spsmDescr->buffer)"),
    *_constrained(),
    *_properties(),
    # the handle
    Function("cusparseCreate", 0, "out cusparseHandle_t *handle", ours=True),
    Function("cusparseDestroy", 0, _HANDLE, ours=True),
    Function("cusparseSetStream", 0, f"{_HANDLE}, cudaStream_t streamId", ours=True),
    Function("cusparseGetStream", 0, f"{_HANDLE}, out cudaStream_t *streamId", value="handle->stream"),
    Function("cusparseGetVersion", 0, f"{_HANDLE}, out int *version", value="libmap_version"),
    Function("cusparseGetProperty", 0, "libraryPropertyType type, int *value", ours=True),
    Function("cusparseGetErrorName", 0, "cusparseStatus_t status", ours=True, returns="const char *"),
    Function("cusparseGetErrorString", 0, "cusparseStatus_t status", ours=True, returns="const char *"),
    *(Function(name, 0, "void") for name in _ABSENT),
)  # fmt: skip

# ---- hipSPARSE's functions that are called otherwise than with the parameters of one row ----

_HIP = "hipsparseHandle_t handle"


def _hip(text: str) -> str:
    """Parameters with hipSPARSE's types, without roles."""
    names = "|".join(map(re.escape, NAMES))
    return re.sub(rf"\b({names})\b", lambda found: NAMES[found[1]], Function("", 0, text).args)


def _narrowed() -> Iterator[Function]:
    rows = {row.symbol: row for row in ROWS}
    for letter in _NUMBERS:
        for name in ("csr2gebsr_bufferSize", "gebsr2gebsc_bufferSize"):
            text = rows[f"cusparse{letter}{name}"].parameters.replace("out int *pB", "size_t *pB")
            yield Function(f"hipsparse{letter}{name}", 0, _hip(text))


_CALLED = (
    Function("hipsparseCreate", 0, "hipsparseHandle_t *handle"),
    Function("hipsparseDestroy", 0, _HIP),
    Function("hipsparseSetStream", 0, f"{_HIP}, hipStream_t streamId"),
    *(
        Function(row.symbol.replace("cusparse", "hipsparse"), 0, "const hipsparseMatDescr_t descrA",
                 returns=NAMES[row.returns])
        for row in _properties()
    ),
    *_narrowed(),
    *(
        Function(f"hipsparseSpSM_{step}", 0, _hip(_SPSM.replace("SpSMDescr_t spsm", "SpSMDescr spsm"))
                 .replace("cusparseSpSMDescr", "hipsparseSpSMDescr_t") + last)
        for step, last in (("bufferSize", ", size_t *bufferSize"), ("analysis", ", void *buffer"),
                           ("solve", ", void *buffer"))
    ),
    Function("hipsparseSpSM_createDescr", 0, "hipsparseSpSMDescr_t *descr"),
    Function("hipsparseSpSM_destroyDescr", 0, "hipsparseSpSMDescr_t descr"),
)  # fmt: skip

MAPPED = Mapped(
    library=CUSPARSE,
    api=API,
    rows=ROWS,
    prefix="hipsparse",
    status="hipsparseStatus_t",
    statuses=STATUSES,
    otherwise="CUSPARSE_STATUS_INTERNAL_ERROR",
    missing="HIPSPARSE_STATUS_NOT_SUPPORTED",
    names=NAMES,
    called=_CALLED,
)
