"""cuSOLVER as data: libcusolver on AMD's hipSOLVER (which calls rocSOLVER); functions of the same name have the same
parameters. The rows are in text files (texts.py), where `handle` abbreviates that parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api import texts
from ptx2amd.api.cusolver import generic
from ptx2amd.api.cusolver.types import ENUMS, NAMES, STATUSES, TYPES
from ptx2amd.api.mapped import Beside, Mapped
from ptx2amd.api.spec import Api, Check, Found, Function
from ptx2amd.libraries import CUSOLVER
from ptx2amd.records import replace

_FOLDER = Path(__file__).parent
_NOT_INITIALIZED = "CUSOLVER_STATUS_NOT_INITIALIZED"
_HANDLE = "cusolverDnHandle_t handle"

API = Api(
    name="cusolver",
    status="cusolverStatus_t",
    header="generic.h",
    null="CUSOLVER_STATUS_INVALID_VALUE",
    beneath=(r"\bhipsolver(\w+)\(", r"hipsolver.\1("),
    result=f"!libmap_ready() ? {_NOT_INITIALIZED} : cusolver_status({{}})",
    success="CUSOLVER_STATUS_SUCCESS",
    types=TYPES,
    found={
        "cusolverDnHandle_t": Found("cusolver_found", "hipsolverHandle_t ", _NOT_INITIALIZED),
        "cusolverRfHandle_t": Found("cusolver_refactor", "hipsolverRfHandle_t ", _NOT_INITIALIZED),
    },
    enums=ENUMS,
    checks={"cusolverDnHandle_t": Check("!cusolver_found({}, &(hipsolverHandle_t){{0}})", _NOT_INITIALIZED)},
    refusal='libmap_refuse(&said, "{}", CUSOLVER_STATUS_NOT_SUPPORTED)',
)


def _hip(text: str) -> str:
    """Parameters with hipSOLVER's types, without roles."""
    names = "|".join(map(re.escape, NAMES))
    return re.sub(rf"\b({names})\b", lambda found: NAMES[found[1]], Function("", 0, text).args)


def _read(name: str) -> Iterator[Function]:
    """The rows of a text file; each calls hipSOLVER's function of the same name."""
    for one in texts.read(_FOLDER / name):
        text = ", ".join(_HANDLE if part == "handle" else part for part in one.parameters)
        call = f"hipsolver{one.name}"
        unless = _unless(one.name, text)
        if one.name.startswith("DnDestroy"):
            unless = f"!{text.rpartition(' ')[2]}: CUSOLVER_STATUS_SUCCESS"
        yield Function(f"cusolver{one.name}", one.since, text, call=call, until=one.until, unless=unless)


def _changes(name: str, text: str) -> Iterator[str]:
    """Assignments to parameters before the call; true: one has failed."""
    if name.endswith("_bufferSize"):
        yield from _leading(text)
    # hipSOLVER always solves with pivots: where cuSOLVER takes none, pivots of the identity permutation are passed.
    if pivots := re.search(r"const int(?:64_t)? \*((?:dev)?[iI]piv)\b", text):
        yield f"(!{pivots[1]} && !({pivots[1]} = cusolver_pivots(handle, n, sizeof *{pivots[1]})))"
    if "cusolverDnParams_t params" in text and "handle" in text:
        yield "(!params && !(params = cusolver_params()))"


def _leading(text: str) -> Iterator[str]:
    """cuSOLVER answers a workspace's size whatever the lengths of columns are, where hipSOLVER rejects short ones (CuPy
    passes some): these are passed on as long enough."""
    names = re.findall(r"\bint(?:64_t)? (ld\w+)", text)
    sizes = [size for size in ("m", "n", "k") if re.search(rf"\bint(?:64_t)? {size}\b", text)]
    largest = " | ".join(sizes)  # which is at least each of them
    if names and sizes:
        yield f"({', '.join(f'{name} = cusolver_leading({name}, {largest})' for name in names)}, false)"


def _unless(name: str, text: str) -> str:
    changes = " || ".join(_changes(name, text))
    return f"{changes}: CUSOLVER_STATUS_ALLOC_FAILED" if changes else ""


#: Precisions of a linear system, and those allowed for its factorisation: a lower one is only a performance hint.
_PRECISIONS = {"D": "DSHBX", "S": "SHBX", "Z": "ZCKEY", "C": "CKEY"}
_MATRICES = "T *dA, int ldda, {}T *dB, int lddb, T *dX, int lddx, void *dWorkspace"


def _refined() -> Iterator[Function]:
    """Mixed-precision linear systems and least squares, which hipSOLVER factorises in the full precision."""
    texts_of = {
        "gesv": f"{_HANDLE}, int n, int nrhs, {_MATRICES.format('int *dipiv, ')}",
        "gels": f"{_HANDLE}, int m, int n, int nrhs, {_MATRICES.format('')}",
    }
    for main, lower in _PRECISIONS.items():
        for name, text in texts_of.items():
            own = re.sub(r"\bT\b", texts.NUMBERS[main], text)
            for letter in lower:
                call, symbol = f"hipsolverDn{main}{main}{name}", f"cusolverDn{main}{letter}{name}"
                yield Function(f"{symbol}_bufferSize", 0, f"{own}, out size_t *lwork_bytes", call=f"{call}_bufferSize")
                row = Function(symbol, 0, f"{own}, size_t lwork_bytes, out int *iter, int *d_info")
                yield replace(row, call=f"(*iter = 0, {call}({row.arguments}))")


def _settings() -> Iterator[Function]:
    """Refinement by settings (refined.c)."""
    params, infos = "cusolverDnIRSParams_t params", "cusolverDnIRSInfos_t infos"
    kind = "cusolverPrecType_t"
    by_hand = {
        "ParamsCreate": "cusolverDnIRSParams_t *params",
        "ParamsDestroy": params,
        "ParamsSetSolverMainPrecision": f"{params}, {kind} type",
        "ParamsSetSolverLowestPrecision": f"{params}, {kind} type",
        "ParamsSetSolverPrecisions": f"{params}, {kind} type, {kind} lowest",
        "ParamsSetRefinementSolver": f"{params}, cusolverIRSRefinement_t solver",
        "ParamsSetMaxIters": f"{params}, int iterations",
        "ParamsSetMaxItersInner": f"{params}, int iterations",
        "ParamsGetMaxIters": f"{params}, int *iterations",
        "InfosCreate": "cusolverDnIRSInfos_t *infos",
        "InfosDestroy": infos,
    }
    rest = "void *dA, int ldda, void *dB, int lddb, void *dX, int lddx, void *dWorkspace, size_t lwork_bytes, "
    rest += "int *niters, int *d_info"
    for name, sizes in (("gesv", "int n, int nrhs"), ("gels", "int m, int n, int nrhs")):
        by_hand[f"X{name}"] = f"{_HANDLE}, {params}, {infos}, {sizes}, {rest}"
        by_hand[f"X{name}_bufferSize"] = f"{_HANDLE}, {params}, {sizes}, size_t *lwork_bytes"
    yield from (Function(f"cusolverDnIRS{name}", 0, text, ours=True) for name, text in by_hand.items())
    for name in ("SetTol", "SetTolInner"):
        yield Function(f"cusolverDnIRSParams{name}", 0, f"{params}, double val", c="cusolver_irs_params(params)")
    for name in ("EnableFallback", "DisableFallback"):
        yield Function(f"cusolverDnIRSParams{name}", 0, params, c="cusolver_irs_params(params)")
    for name, most in (("Niters", "false"), ("OuterNiters", "false"), ("MaxIters", "true")):
        text = f"{infos}, int *count"
        yield Function(f"cusolverDnIRSInfosGet{name}", 0, text, c=f"cusolver_irs_infos(infos, count, {most})")


#: Functions of refactorisations that are written in C (refactor.c, refactor_batch.c), and what these call of hipSOLVER.
_REFACTOR = re.compile("Rf(Batch.*|[SG]et.*|Create|Destroy|ExtractSplitFactorsHost)")
_BENEATH_REFACTOR = ("RfCreate", "RfDestroy", "RfSetupHost", "RfSetupDevice", "RfExtractSplitFactorsHost")


def _refactor() -> Iterator[Function]:
    for row in _read("refactor.txt"):
        yield replace(row, call="", ours=True) if _REFACTOR.fullmatch(row.symbol.removeprefix("cusolver")) else row


def _dense() -> Iterator[Function]:
    """Those of dense matrices that hipSOLVER lacks (dense_host.c, inverse.c, singular_first.c)."""
    for row in _read("by_hand.txt"):
        yield replace(row, call="", ours=True, unless="")


def _sparse(name: str) -> Iterator[Function]:
    """Sparse systems (sparse.c, sparse_steps.c, sparse_reorder.c)."""
    for one in texts.read(_FOLDER / name):
        yield Function(f"cusolverSp{one.name}", one.since, ", ".join(one.parameters), ours=True)


#: Functions of CUDA 11 to 13 without a counterpart; many are in no header.
_ABSENT = (_FOLDER / "absent.txt").read_text().split()

_OTHERS = (*_read("others.txt"),)
#: Of another header than the rest.
SPARSE = (*_sparse("sparse.txt"),)
STEPS = (*_sparse("sparse_steps.txt"),)
REFACTOR = (*_refactor(),)

ROWS = (
    *_read("dense.txt"),
    *_OTHERS,
    *generic.rows(),
    *generic.first(_OTHERS),
    *_refined(),
    *_settings(),
    *_dense(),
    *SPARSE,
    *STEPS,
    *REFACTOR,
    Function("cusolverDnCreate", 0, "out cusolverDnHandle_t *handle", ours=True),
    Function("cusolverDnDestroy", 0, _HANDLE, ours=True),
    Function("cusolverDnSetStream", 0, f"{_HANDLE}, cudaStream_t streamId", ours=True),
    Function("cusolverDnGetStream", 0, f"{_HANDLE}, out cudaStream_t *streamId", value="handle->stream"),
    # algorithm options; rocSOLVER has one algorithm for each operation
    Function("cusolverDnSetAdvOptions", 0,
        "cusolverDnParams_t params, cusolverDnFunction_t function, cusolverAlgMode_t algo",
        c="params && function >= 0 && function <= 1 && algo >= 0 && algo <= 2 ? CUSOLVER_STATUS_SUCCESS : "
        "CUSOLVER_STATUS_INVALID_VALUE"),
    Function("cusolverGetVersion", 0, "out int *version", value="libmap_version"),
    Function("cusolverGetProperty", 0, "libraryPropertyType type, int *value", ours=True),
    *(Function(name, 0, "void") for name in _ABSENT),
)  # fmt: skip

_HIP = "hipsolverHandle_t handle"
_CALLED = (
    Function("hipsolverDnCreate", 0, "hipsolverHandle_t *handle"),
    Function("hipsolverDnDestroy", 0, _HIP),
    Function("hipsolverDnSetStream", 0, f"{_HIP}, hipStream_t streamId"),
    *(
        Function(row.call, 0, _hip(row.parameters))
        for row in _read("refactor.txt")
        if row.call.removeprefix("hipsolver") in _BENEATH_REFACTOR
    ),
    *(
        Function(found[1], 0, _hip(row.parameters))
        for row in _refined()
        if (found := re.search(r"\b(hipsolver\w+)\(", row.call))
    ),
)

_COMPLEX = {"S": "float", "D": "double", "C": "rocblas_float_complex", "Z": "rocblas_double_complex"}
#: What inverse.c calls.
ROCSOLVER = Beside(
    prefix="rocsolver",
    name="rocSOLVER",
    sonames=("librocsolver.so.0", "librocsolver.so"),
    packages="rocsolver (AMD), librocsolver0 (Debian)",
    functions=tuple(
        Function(
            f"rocsolver_{letter.lower()}trtri", 0,
            f"rocblas_handle handle, rocblas_fill uplo, rocblas_diagonal diag, rocblas_int n, {number} *A, "
            "rocblas_int lda, rocblas_int *info",
        )
        for letter, number in _COMPLEX.items()
    ),
    status="rocblas_status",
    missing="2",
)  # fmt: skip

MAPPED = Mapped(
    library=CUSOLVER,
    api=API,
    rows=ROWS,
    prefix="hipsolver",
    status="hipsolverStatus_t",
    statuses=STATUSES,
    otherwise="CUSOLVER_STATUS_INTERNAL_ERROR",
    missing="HIPSOLVER_STATUS_NOT_SUPPORTED",
    names=NAMES,
    called=_CALLED,
    beside=(ROCSOLVER,),
)
